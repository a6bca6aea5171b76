/* lpt-print.h - printing with notes at the lines
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PRINT_H
#define LPT_PRINT_H

#include <lpt/lpt-text.h>

G_BEGIN_DECLS

/* @notes: (nullable): LptNode * (or LptGraph *) -> GString * with lines that follow the node as comments; then also
 *   dead nodes
 * are printed, and nothing is assumed of the links between nodes. */
char *lpt_graph_print (LptGraph *graph, LptTextFlags flags, GHashTable *notes);

/* One of LptTextFlags: scales as their bits, which take a fiftieth of the time. For digests, does not parse. */
#define LPT_TEXT_BITS ((LptTextFlags) (1 << 8))

/* One graph on its way to text; bodies have their own. */
typedef struct
{
  GString     *out;
  LptTextFlags flags;
  guint        indent;
  LptGraph    *graph;
  GHashTable  *holders;      /* root of a box -> how many marks hold it */
  GHashTable  *numbers;      /* root of a shared box -> its number */
  GHashTable  *notes;
  GHashTable  *values;       /* with notes: the values that exist */
} LptPrinter;

void lpt_print_string     (GString *out, const char *text);          /* in quotes */
void lpt_print_name       (GString *out, const char *name);          /* with %, in quotes where needed */
void lpt_print_value      (LptPrinter *p, LptValue *value);
void lpt_print_type       (LptPrinter *p, LptValue *value);
void lpt_print_quant      (GString *out, const LptQuant *quant, LptTextFlags flags);   /* " q{...}" */
void lpt_print_data       (LptPrinter *p, LptTensor *tensor);
void lpt_print_node_mark  (LptPrinter *p, LptNode *node);
void lpt_print_mark       (LptPrinter *p, const LptMark *mark);
void lpt_print_count_mark (LptPrinter *p, const LptMark *mark);      /* before printing: who shares what */

/* Names of node flags in their order, NULL-terminated: bit i is name i. */
extern const char *const lpt_node_flag_names[];

/* Longest constant that is printed element by element. */
#define LPT_TEXT_MAX_ELEMENTS 64

G_END_DECLS

#endif
