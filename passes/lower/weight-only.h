/* weight-only.h - what the products that quantize their data at run time share (weight-only.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef WEIGHT_ONLY_H
#define WEIGHT_ONLY_H

#include "passes/core/lpt-rewriter.h"
#include "passes/lower/weight-codes.h"

typedef struct
{
  LptRewriter *rw;
  GHashTable  *codes;     /* "address of a value, block" -> DynamicQuantize of it */
  gboolean     rounded;   /* only products of data that is rounded already (rounded-products.c) */
  gboolean     raised;    /* what was integers is so again by now: other codes are read as real numbers on purpose */
} LptWeightOnly;

/* Is @x something whose data a product may quantize: f32, computed, and no codes behind it? Codes that are read as real
 * numbers have another reason, and another quantization would round twice. */
gboolean  lpt_weight_only_takes   (const LptValue *x);
/* The DynamicQuantize of @x to codes of @dtype, once for each @block: of its rows; 0 = one interval for all of it. u8:
 * from its least to its largest number; i8, i16: around 0. */
LptNode  *lpt_weight_only_codes   (LptWeightOnly *u, LptValue *x, gint64 block, LptDType dtype);
/* A constant named after @node; takes *@tensor; NULL where there is none. */
LptValue *lpt_weight_only_const   (LptWeightOnly *u, LptNode *node, const char *what, LptTensor **tensor);

/* The codes that are read as @x, of one scale, or NULL. */
LptValue *lpt_weight_only_given   (const LptValue *x);
/* Inputs 0, 2 and 5 of a BlockMatMul of the codes @q with @w, in place of @node. FALSE: no memory. */
gboolean  lpt_weight_only_read_given (LptWeightOnly *u, LptNode *node, LptValue *q, const LptWeightCodes *w,
                                      gint64 block, LptValue **in);

/* Codes, their scales and zero points where @x is spelled out as such, as inputs 0, 2 and 6 of a BlockMatMul
 * (weight-only-spelled.c). FALSE: it has another form. */
gboolean  lpt_weight_only_spelled (LptWeightOnly *u, LptValue *x, LptValue **in);

/* Convolutions and their transposes (weight-only-window.c). */
void      lpt_weight_only_window  (LptWeightOnly *u, LptNode *node);
/* Does @made, in place of @node, keep the restrictions? Else it goes again, and @node says why it stays. */
gboolean   lpt_weight_only_keeps (LptWeightOnly *u, LptNode *node, LptNode *made);

/* --- data that is rounded at run time (rounded-products.c) --- */

/* The DynamicFakeQuantize that @x is read from, of f32 data, or NULL. */
LptNode *lpt_rounded_source (const LptValue *x);
/* Its codes, once for each: DynamicQuantize. */
LptNode *lpt_rounded_codes  (LptWeightOnly *u, LptNode *source);
/* The name of the constant behind @real, weights that nobody else reads, for @codes. */
void     lpt_rounded_name_weights (LptValue *codes, LptValue *real);
/* The product of the data of @source, of rows of the last axis, with the matrix @w: inputs of a BlockMatMul in @in, and
 * its block in *@block, where that is of blocks that kernels take, or 0. FALSE: it has another form. */
gboolean lpt_rounded_matmul (LptWeightOnly *u, LptNode *source, const LptWeightCodes *w, LptValue **in, gint64 *block);
/* All such products of a graph and of its bodies, and nothing else: for readers of files. */
gboolean lpt_graph_lower_rounded (LptGraph *graph, GError **error);

#endif
