/* onnx-map-index.c - ONNX operators that select, scatter and generate
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <string.h>

static LptValue *
scalar_of (LptOnnxNode *on,
           LptValue    *value)
{
  return value->shape.rank == 1 ? lpt_onnx_squeeze (on, value, 0) : value;
}

void
lpt_onnx_map_gather (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  gint axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", 0));

  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, lpt_onnx_in (on, 1), lpt_onnx_i64_scalar (on, axis)));
}

void
lpt_onnx_map_gather_elements (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *index = lpt_onnx_in (on, 1);
  const gint axis = (gint) lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", 0));
  LptNode *node;

  /* Along other axes the indices may be fewer than the data: its first elements are those they count. */
  for (gint i = 0; on->error == NULL && i < x->shape.rank && index->shape.rank == x->shape.rank; i++)
    if (i != axis && index->shape.dims[i] >= 0 && index->shape.dims[i] < x->shape.dims[i])
      x = lpt_onnx_slice (on, x, i, 0, index->shape.dims[i]);
  node = lpt_onnx_add (on, LPT_OP_GATHER_ELEMENTS, 2, x, index);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_gather_nd (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_GATHER_ND, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));

  LPT_ATTRS (node, LptGatherNDAttrs)->batch_dims = lpt_onnx_int (on, "batch_dims", 0);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

static int
reduction_of (LptOnnxNode *on)
{
  static const struct { const char *name; int reduction; } reductions[] = {
    { "none", LPT_REDUCTION_NONE }, { "add", LPT_REDUCTION_SUM }, { "mul", LPT_REDUCTION_PROD },
    { "min", LPT_REDUCTION_MIN }, { "max", LPT_REDUCTION_MAX },
  };
  const char *name = lpt_onnx_string (on, "reduction", "none");

  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (strcmp (name, reductions[i].name) == 0)
      return reductions[i].reduction;
  lpt_onnx_unsupported (on, "reduction \"%s\"", name);
  return LPT_REDUCTION_NONE;
}

void
lpt_onnx_map_scatter_elements (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  gint axis = lpt_onnx_axis_of (on, x, lpt_onnx_int (on, "axis", 0));
  LptNode *node = lpt_onnx_add (on, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, x, lpt_onnx_in (on, 1), lpt_onnx_in (on, 2),
                                lpt_onnx_i64_scalar (on, axis));

  LPT_ATTRS (node, LptScatterAttrs)->reduction = reduction_of (on);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_scatter_nd (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_SCATTER_ND_UPDATE, 3, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1),
                                lpt_onnx_in (on, 2));

  LPT_ATTRS (node, LptScatterAttrs)->reduction = reduction_of (on);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_reverse_sequence (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_REVERSE_SEQUENCE, 2, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1));

  LPT_ATTRS (node, LptReverseSequenceAttrs)->batch_axis = lpt_onnx_int (on, "batch_axis", 1);
  LPT_ATTRS (node, LptReverseSequenceAttrs)->seq_axis = lpt_onnx_int (on, "time_axis", 0);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

static void
map_blocks (LptOnnxNode *on,
            LptOp        op,
            int          mode)
{
  LptNode *node = lpt_onnx_add (on, op, 1, lpt_onnx_in (on, 0));
  gint64 size = lpt_onnx_int (on, "blocksize", 0);

  if (size < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "blocksize is %" G_GINT64_FORMAT, size);
  LPT_ATTRS (node, LptDepthToSpaceAttrs)->block_size = size;
  LPT_ATTRS (node, LptDepthToSpaceAttrs)->mode = mode;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_depth_to_space (LptOnnxNode *on)
{
  const char *mode = lpt_onnx_string (on, "mode", "DCR");

  if (strcmp (mode, "DCR") != 0 && strcmp (mode, "CRD") != 0)
    lpt_onnx_unsupported (on, "mode \"%s\"", mode);
  map_blocks (on, LPT_OP_DEPTH_TO_SPACE, strcmp (mode, "CRD") == 0 ? LPT_DEPTH_DEPTH_FIRST : LPT_DEPTH_BLOCKS_FIRST);
}

void
lpt_onnx_map_space_to_depth (LptOnnxNode *on)
{
  map_blocks (on, LPT_OP_SPACE_TO_DEPTH, LPT_DEPTH_BLOCKS_FIRST);
}

/* --- generated ------------------------------------------------------------------------- */

LptValue *
lpt_onnx_range (LptOnnxNode *on,
                LptValue    *start,
       LptValue    *stop,
       LptValue    *step)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RANGE, 3, start, stop, step);

  LPT_ATTRS (node, LptRangeAttrs)->output_type = start->dtype;
  return lpt_onnx_done (on, node);
}

void
lpt_onnx_map_range (LptOnnxNode *on)
{
  lpt_onnx_ignore (on, "stash_type");
  lpt_onnx_set (on, 0,
                lpt_onnx_range (on, scalar_of (on, lpt_onnx_in (on, 0)), scalar_of (on, lpt_onnx_in (on, 1)),
                                scalar_of (on, lpt_onnx_in (on, 2))));
}

/* Negative indices count from the end; what is out of range is off everywhere. */
void
lpt_onnx_map_one_hot (LptOnnxNode *on)
{
  LptValue *index = lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_I64);
  LptValue *depth = scalar_of (on, lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I64));
  LptValue *values = lpt_onnx_in (on, 2);
  LptValue *off = lpt_onnx_squeeze (on, lpt_onnx_slice (on, values, 0, 0, 1), 0);
  LptValue *on_value = lpt_onnx_squeeze (on, lpt_onnx_slice (on, values, 0, 1, 2), 0);
  LptValue *negative = lpt_onnx_emit (on, LPT_OP_LESS, 2, index, lpt_onnx_i64_scalar (on, 0));
  gint rank = lpt_onnx_rank (on, index);
  LptNode *node;

  index = lpt_onnx_emit (on, LPT_OP_SELECT, 3, negative, lpt_onnx_emit (on, LPT_OP_ADD, 2, index, depth), index);
  /* Still negative: out of range, as @depth is. */
  negative = lpt_onnx_emit (on, LPT_OP_LESS, 2, index, lpt_onnx_i64_scalar (on, 0));
  index = lpt_onnx_emit (on, LPT_OP_SELECT, 3, negative, depth, index);
  node = lpt_onnx_add (on, LPT_OP_ONE_HOT, 4, index, depth, on_value, off);
  LPT_ATTRS (node, LptOneHotAttrs)->axis = lpt_onnx_axis (on, lpt_onnx_int (on, "axis", -1), rank + 1);
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_eye_like (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  LptDType dtype = lpt_onnx_dtype (on, "dtype");
  LptValue *rows = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, 0), 0);
  LptValue *columns = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, 1), 0);
  LptNode *node = lpt_onnx_add (on, LPT_OP_EYE, 3, rows, columns, lpt_onnx_i64_scalar (on, lpt_onnx_int (on, "k", 0)));

  LPT_ATTRS (node, LptEyeAttrs)->output_type = dtype != LPT_DTYPE_UNDEFINED ? dtype : x->dtype;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

void
lpt_onnx_map_non_zero (LptOnnxNode *on)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_NON_ZERO, 1, lpt_onnx_in (on, 0));

  LPT_ATTRS (node, LptOutputTypeAttrs)->output_type = LPT_DTYPE_I64;
  lpt_onnx_set (on, 0, lpt_onnx_done (on, node));
}

/* Keeps x[i, j] where j - i >= k (upper) or j - i <= k (lower). */
void
lpt_onnx_map_trilu (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *k = lpt_onnx_optional (on, 1);
  LptValue *zero = lpt_onnx_i64_scalar (on, 0), *one = lpt_onnx_i64_scalar (on, 1);
  LptOp op = lpt_onnx_int (on, "upper", 1) != 0 ? LPT_OP_GREATER_EQUAL : LPT_OP_LESS_EQUAL;
  LptValue *rows, *columns, *keep;

  if (lpt_onnx_rank (on, x) < 2)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "input of rank %d", x->shape.rank);
      return;
    }
  rows = lpt_onnx_range (on, zero, lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, -2), 0), one);
  columns = lpt_onnx_range (on, zero, lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, -1), 0), one);
  keep = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, columns, lpt_onnx_unsqueeze (on, rows, 1));
  keep = lpt_onnx_emit (on, op, 2, keep, k != NULL ? scalar_of (on, k) : zero);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SELECT, 3, keep, x, lpt_onnx_like (on, x, 0)));
}

void
lpt_onnx_map_non_max_suppression (LptOnnxNode *on)
{
  LptValue *limit = lpt_onnx_optional (on, 2), *overlap = lpt_onnx_optional (on, 3), *least = lpt_onnx_optional (on, 4);
  LptNonMaxSuppressionAttrs *attrs;
  LptNode *node;

  limit = limit != NULL ? scalar_of (on, limit) : lpt_onnx_i64_scalar (on, 0);
  overlap = overlap != NULL ? scalar_of (on, overlap) : lpt_onnx_scalar (on, LPT_DTYPE_F32, 0);
  least = least != NULL ? scalar_of (on, least) : lpt_onnx_scalar (on, LPT_DTYPE_F32, -G_MAXFLOAT);
  node = lpt_onnx_add_outs (on, LPT_OP_NON_MAX_SUPPRESSION, 3, 5, lpt_onnx_in (on, 0), lpt_onnx_in (on, 1), limit,
                            overlap, least);
  attrs = LPT_ATTRS (node, LptNonMaxSuppressionAttrs);
  attrs->box_encoding = lpt_onnx_int (on, "center_point_box", 0) != 0 ? LPT_BOX_CENTER : LPT_BOX_CORNER;
  attrs->sort_result_descending = FALSE;
  attrs->output_type = LPT_DTYPE_I64;
  lpt_onnx_done (on, node);
  lpt_onnx_set (on, 0, &node->out[0]);
}
