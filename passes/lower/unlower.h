/* unlower.h - single nodes of a lowered graph go back to real values (unlower.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef UNLOWER_H
#define UNLOWER_H

#include <lpt/lpt-pass.h>

typedef struct
{
  LptRewriter *rw;
  LptGraph    *graph;
  GHashTable  *real;                            /* LptValue * -> LptValue *: real values in place of integer ones */
  gboolean   (*goes) (const LptValue *value);   /* what is not made again behind a real op: its readers must follow */
  const char  *why;                             /* the op is real; NULL: its target has no such integers */
  gboolean     restricted;                      /* Dequantize and Reinterpret may be so themselves: codes are read as numbers there */
} LptUnlower;

/* The node on real values; outputs that do not go are quantized as they were. */
void lpt_unlower (LptUnlower *u, LptNode *node);

/* Does an op read sums of @node as integers, which real numbers would not hold? Restrictions of it are errors then. */
gboolean lpt_unlower_loses_bits (LptNode *node);

/* All nodes of the graph and of its bodies for which @why has a reason (transfer full; NULL: none), remarked with it,
 * and the readers of their accumulators, which are not made again. FALSE + error: the graph has a circle, or its shapes
 * do not fit. */
typedef char *(*LptUnlowerWhy) (LptRewriter *rw, LptNode *node);
gboolean lpt_unlower_where (LptRewriter *rw, LptGraph *graph, LptUnlowerWhy why, GError **error);

/* Of all nodes that no integer op runs (refused.c); the second without a report, for readers of files on integers. */
gboolean lpt_unlower_refused       (LptRewriter *rw, LptGraph *graph, GError **error);
gboolean lpt_graph_unlower_refused (LptGraph *graph, GError **error);

/* a @op b in f32, of the shape of @a. */
LptValue *lpt_unlower_binary   (LptGraph *graph, LptOp op, LptValue *a, LptValue *b);
LptValue *lpt_unlower_convert  (LptGraph *graph, LptValue *value, LptDType dtype);
/* A constant with one value per channel of @like; weights of groups [G, O, ...] have them along both axes. */
LptValue *lpt_unlower_constant (LptGraph *graph, const LptValue *like, gint axis, guint n, const double *values, LptDType dtype);

#endif
