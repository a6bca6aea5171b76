/* lpt-print.h - printing with notes at the lines
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PRINT_H
#define LPT_PRINT_H

#include <lpt/lpt-text.h>

G_BEGIN_DECLS

/* @notes: (nullable): LptNode * (or LptGraph *) -> GString * with lines that follow the node as comments; then also dead nodes
 * are printed, and nothing is assumed of the links between nodes. */
char *lpt_graph_print (LptGraph *graph, LptTextFlags flags, GHashTable *notes);

/* Names of node flags in their order, NULL-terminated: bit i is name i. */
extern const char *const lpt_node_flag_names[];

/* Longest constant that is printed element by element. */
#define LPT_TEXT_MAX_ELEMENTS 64

G_END_DECLS

#endif
