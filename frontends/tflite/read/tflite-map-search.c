/* tflite-map-search.c - operators that look for something: equal numbers, keys, the best boxes
 *
 *   UNIQUE                     the numbers in the order in which they come first, and which one each element is
 *   HASHTABLE_LOOKUP           rows of a table by key; a key that is not there gives zeros and no hit
 *   EMBEDDING_LOOKUP_SPARSE    weighted rows of a table, added up at the places that indices say
 *   NON_MAX_SUPPRESSION_V4, 5  the best boxes; unused places are 0. V5 lets the scores of overlapping boxes shrink
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include <math.h>

static LptValue *
range_of (LptTflOp *op, LptValue *count)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_RANGE, 3, lpt_tfl_i64_scalar (op, 0), lpt_tfl_squeeze (op, count, 0),
                               lpt_tfl_i64_scalar (op, 1));
  LPT_ATTRS (node, LptRangeAttrs)->output_type = LPT_DTYPE_I64;
  return lpt_tfl_done (op, node);
}

static LptValue *
gather (LptTflOp *op, LptValue *x, LptValue *indices)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_GATHER, 3, x, indices, lpt_tfl_i64_scalar (op, 0));
  node->opset = 8;
  return lpt_tfl_done (op, node);
}

/* Where a vector of booleans is true: a vector. */
static LptValue *
places (LptTflOp *op, LptValue *flags)
{
  return lpt_tfl_squeeze (op, lpt_tfl_emit (op, LPT_OP_NON_ZERO, 1, flags), 0);
}

/* How many are true up to each place, less one. */
static LptValue *
numbers (LptTflOp *op, LptValue *flags)
{
  LptValue *count = lpt_tfl_emit (op, LPT_OP_CUM_SUM, 2, lpt_tfl_convert (op, flags, LPT_DTYPE_I64),
                                  lpt_tfl_i64_scalar (op, 0));
  return lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, count, lpt_tfl_i64_scalar (op, 1));
}

/* x sorted, equal numbers in the order of their places; the places. */
static LptNode *
sorted (LptTflOp *op, LptValue *x, LptValue *count)
{
  LptValue *in[] = { x, lpt_tfl_squeeze (op, count, 0) };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_TOP_K, 2, 2, in);
  LptTopKAttrs *attrs = LPT_ATTRS (node, LptTopKAttrs);
  node->opset = 11;
  attrs->mode = LPT_TOPK_MAX;
  attrs->sort = LPT_TOPK_SORT_VALUE;
  attrs->index_element_type = LPT_DTYPE_I64;
  attrs->stable = TRUE;
  lpt_tfl_done (op, node);
  return node;
}

/* Sorted, equal numbers are neighbours: a run for each number, which begins with the first of its places. Each element
 * learns the first place of its number; the places that are their own first ones are those of the result, in order. */
void
lpt_tfl_map_unique (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  if (lpt_tfl_rank (op, x) != 1)
    lpt_tfl_invalid (op, "input of rank %d, not 1", x->shape.rank);
  if (op->error != NULL)
    return;
  LptValue *codes = lpt_tfl_codes (op, x), *count = lpt_tfl_shape_of (op, x), *all = range_of (op, count);
  LptNode *sort = sorted (op, codes, count);
  LptValue *ahead = lpt_tfl_slice (op, &sort->out[0], 0, 1, G_MAXINT32);
  LptValue *behind = lpt_tfl_slice (op, &sort->out[0], 0, 0, -1);
  LptValue *first = lpt_tfl_slice (op, lpt_tfl_emit (op, LPT_OP_EQUAL, 2, all, all), 0, 0, 1);
  LptValue *starts[] = { first, lpt_tfl_emit (op, LPT_OP_NOT_EQUAL, 2, ahead, behind) };
  LptValue *runs = lpt_tfl_concat (op, 0, 2, starts);
  LptValue *heads = gather (op, gather (op, &sort->out[1], places (op, runs)), numbers (op, runs));
  LptNode *back = lpt_tfl_add (op, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, all, &sort->out[1], heads,
                               lpt_tfl_i64_scalar (op, 0));
  back->opset = 12;
  heads = lpt_tfl_done (op, back);
  LptValue *own = lpt_tfl_emit (op, LPT_OP_EQUAL, 2, heads, all);
  lpt_tfl_set (op, 0, gather (op, x, places (op, own)));
  lpt_tfl_set (op, 1, gather (op, numbers (op, own), heads));
}

/* Inputs: keys to find, keys of the table, its rows. Outputs: rows, which were found. */
void
lpt_tfl_map_hashtable_lookup (LptTflOp *op)
{
  LptValue *wanted = lpt_tfl_in (op, 0), *keys = lpt_tfl_in (op, 1), *rows = lpt_tfl_in (op, 2);
  if (lpt_tfl_rank (op, wanted) != 1 || lpt_tfl_rank (op, keys) != 1 || lpt_tfl_rank (op, rows) < 1)
    lpt_tfl_invalid (op, "keys of rank %d and %d, not 1, for rows of rank %d", wanted->shape.rank, keys->shape.rank,
                     rows->shape.rank);
  if (op->error != NULL)
    return;
  LptValue *equal = lpt_tfl_emit (op, LPT_OP_EQUAL, 2, lpt_tfl_unsqueeze (op, wanted, 1),
                                  lpt_tfl_unsqueeze (op, keys, 0));
  LptValue *hit = lpt_tfl_reduce (op, LPT_OP_REDUCE_LOGICAL_OR, equal, lpt_tfl_i64_one (op, 1), FALSE);
  LptNode *where = lpt_tfl_add (op, LPT_OP_ARG_MAX, 1, lpt_tfl_convert (op, equal, LPT_DTYPE_U8));
  LPT_ATTRS (where, LptArgReduceAttrs)->axis = 1;
  LPT_ATTRS (where, LptArgReduceAttrs)->keep_dims = FALSE;
  LptValue *found = gather (op, rows, lpt_tfl_done (op, where)), *wide = hit;
  for (gint i = 1; i < rows->shape.rank; i++)
    wide = lpt_tfl_unsqueeze (op, wide, i);
  lpt_tfl_set (op, 0, lpt_tfl_done_as (op, lpt_tfl_add (op, LPT_OP_SELECT, 3, wide, found, lpt_tfl_like (op, rows, 0)),
                                       0));
  lpt_tfl_set (op, 1, lpt_tfl_convert (op, hit, LPT_DTYPE_U8));
}

/* What the sums of weighted rows are divided by: their weights' sum, or the root of the sum of their squares. */
static LptValue *
norm (LptTflOp *op, LptValue *sums, gint64 combiner)
{
  LptValue *divisor = combiner == 2 ? lpt_tfl_emit (op, LPT_OP_SQRT, 1, sums) : sums;
  LptValue *none = lpt_tfl_emit (op, LPT_OP_EQUAL, 2, divisor, lpt_tfl_like (op, divisor, 0));
  return lpt_tfl_emit (op, LPT_OP_SELECT, 3, none, lpt_tfl_like (op, divisor, 1), divisor);
}

static LptValue *
add_up (LptTflOp *op, LptValue *places_of, LptValue *values, LptValue *shape)
{
  LptValue *zeros = lpt_tfl_broadcast (op, lpt_tfl_like (op, values, 0), shape);
  LptNode *node = lpt_tfl_add (op, LPT_OP_SCATTER_ND_UPDATE, 3, zeros, places_of, values);
  node->opset = 15;
  LPT_ATTRS (node, LptScatterAttrs)->reduction = LPT_REDUCTION_SUM;
  return lpt_tfl_done (op, node);
}

/* Inputs: rows' numbers [n], indices [n, k], dense shape [k], weights [n], table. The last index counts the rows that
 * meet at a place. */
void
lpt_tfl_map_embedding_lookup_sparse (LptTflOp *op)
{
  LptValue *ids = lpt_tfl_in (op, 0), *indices = lpt_tfl_in (op, 1), *weights = lpt_tfl_in (op, 3);
  LptValue *table = lpt_tfl_in (op, 4), *shape = lpt_tfl_whole_in (op, 2);
  gint64 combiner = lpt_tfl_opt_int (op, TFL_EmbeddingLookupSparseOptions_combiner);
  if (lpt_tfl_rank (op, ids) != 1 || lpt_tfl_rank (op, indices) != 2 || lpt_tfl_rank (op, weights) != 1
      || lpt_tfl_rank (op, table) < 2 || indices->shape.dims[1] < 2)
    lpt_tfl_invalid (op, "ranks %d, %d, %d, %d, not 1, 2, 1 and 2 or more", ids->shape.rank, indices->shape.rank,
                     weights->shape.rank, table->shape.rank);
  if (combiner < 0 || combiner > 2)
    lpt_tfl_unsupported (op, "combiner %" G_GINT64_FORMAT, combiner);
  if (op->error != NULL)
    return;
  LptValue *at = lpt_tfl_slice (op, lpt_tfl_convert (op, indices, LPT_DTYPE_I64), 1, 0, -1);
  LptValue *outer = lpt_tfl_slice (op, shape, 0, 0, -1), *wide = weights, *sums;
  LptValue *whole[] = { outer, lpt_tfl_slice (op, lpt_tfl_shape_of (op, table), 0, 1, G_MAXINT32) };
  for (gint i = 1; i < table->shape.rank; i++)
    wide = lpt_tfl_unsqueeze (op, wide, i);
  LptValue *rows = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, gather (op, lpt_tfl_real_of (op, table), ids), wide);
  LptValue *y = add_up (op, at, rows, lpt_tfl_concat (op, 0, 2, whole));
  if (combiner != 0)
    {
      sums = combiner == 2 ? lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, weights, weights) : weights;
      sums = norm (op, add_up (op, at, sums, outer), combiner);
      for (gint i = 1; i < table->shape.rank; i++)
        sums = lpt_tfl_unsqueeze (op, sums, -1);
      y = lpt_tfl_emit (op, LPT_OP_DIVIDE, 2, y, sums);
    }
  lpt_tfl_set (op, 0, y);
}

/* --- boxes --------------------------------------------------------------------------- */

static LptValue *
number_in (LptTflOp *op, guint i, LptDType dtype)
{
  return lpt_tfl_reshape (op, lpt_tfl_convert (op, lpt_tfl_in (op, i), dtype), 0, NULL);
}

/* A column of rows that were chosen, and zeros up to @most (a vector of one). */
static LptValue *
filled (LptTflOp *op, LptValue *rows, LptValue *most)
{
  LptValue *column = lpt_tfl_squeeze (op, lpt_tfl_slice (op, rows, 1, 2, 3), 1);
  LptValue *parts[] = { column, lpt_tfl_broadcast (op, lpt_tfl_like (op, column, 0), most) };
  return lpt_tfl_emit (op, LPT_OP_SLICE, 5, lpt_tfl_concat (op, 0, 2, parts), lpt_tfl_i64_one (op, 0), most,
                       lpt_tfl_i64_one (op, 1), lpt_tfl_i64_one (op, 0));
}

/* Boxes that overlap as much as the threshold go here, those above it in the IR's operator: the number below it. */
static LptValue *
just_below (LptTflOp *op, LptValue *threshold)
{
  LptTensor *known = threshold->producer->data;
  if (known != NULL)
    return lpt_tfl_scalar (op, LPT_DTYPE_F32, nextafterf ((float) lpt_tensor_get_f64 (known, 0), -INFINITY));
  LptValue *scaled = lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, threshold,
                                   lpt_tfl_scalar (op, LPT_DTYPE_F32, 1 - 1.0 / (1 << 24)));
  return lpt_tfl_emit (op, LPT_OP_MINIMUM, 2, scaled,
                       lpt_tfl_emit (op, LPT_OP_SUBTRACT, 2, threshold, lpt_tfl_scalar (op, LPT_DTYPE_F32, 1e-38)));
}

/* Inputs: boxes [n, 4], scores [n], most, overlap, least score, of V5 sigma. Outputs: boxes, of V5 scores, how many. */
void
lpt_tfl_map_non_max_suppression (LptTflOp *op)
{
  LptValue *boxes = lpt_tfl_in (op, 0), *scores = lpt_tfl_in (op, 1), *most = number_in (op, 2, LPT_DTYPE_I64);
  gboolean soft = op->argument == 5;
  if (lpt_tfl_rank (op, boxes) != 2 || lpt_tfl_rank (op, scores) != 1)
    lpt_tfl_invalid (op, "boxes of rank %d, not 2, with scores of rank %d, not 1", boxes->shape.rank,
                     scores->shape.rank);
  LptTensor *known = most->producer->data;
  if (known != NULL && (lpt_tensor_get_i64 (known, 0) < 0 || lpt_tensor_get_i64 (known, 0) > G_MAXINT32))
    lpt_tfl_invalid (op, "%" G_GINT64_FORMAT " boxes", lpt_tensor_get_i64 (known, 0));
  if (op->error != NULL)
    return;
  LptValue *in[] = { lpt_tfl_unsqueeze (op, boxes, 0),
                     lpt_tfl_unsqueeze (op, lpt_tfl_unsqueeze (op, scores, 0), 0),
                     most,
                     just_below (op, number_in (op, 3, LPT_DTYPE_F32)),
                     number_in (op, 4, LPT_DTYPE_F32),
                     soft ? number_in (op, 5, LPT_DTYPE_F32) : NULL };
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_NON_MAX_SUPPRESSION, 3, soft ? 6 : 5, in);
  LptNonMaxSuppressionAttrs *attrs = LPT_ATTRS (node, LptNonMaxSuppressionAttrs);
  attrs->box_encoding = LPT_BOX_CORNER;
  attrs->sort_result_descending = FALSE;
  attrs->output_type = LPT_DTYPE_I32;
  lpt_tfl_done (op, node);
  LptValue *length = lpt_tfl_reshape (op, most, 1, (gint64[]) { 1 });
  lpt_tfl_set (op, 0, filled (op, &node->out[0], length));
  if (soft)
    lpt_tfl_set (op, 1, filled (op, &node->out[1], length));
  lpt_tfl_set (op, soft ? 2 : 1, lpt_tfl_squeeze (op, &node->out[2], 0));
}
