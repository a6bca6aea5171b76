/* onnx-write-index.c - gathering, scattering and generated numbers in ONNX
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

/* Indices in a type that Gather takes: int32 as it is, others as int64. */
static const char *
indices_of (LptOnnxWriter *w,
            LptNode       *node)
{
  return lpt_node_in (node, 1)->dtype == LPT_DTYPE_I32 ? IN (1) : I64 (1);
}

/* An index [B.., n] of each batch for all that lies between the batch and @axis: it is the same for all of it. */
static void
gather_across (LptOnnxWriter *w,
               LptNode       *node,
               gint           axis,
               gint           batch)
{
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  const char *shape = lpt_onnx_w_step (w, "Shape", 1, IN (0)), *parts[3], *index;
  gint64 one = 1, axes[LPT_MAX_RANK];
  guint n = 0, k = 0;

  if (rank < 0 || axis < 0 || axis >= rank || lpt_node_in (node, 1)->shape.rank != batch + 1)
    {
      lpt_onnx_w_fail (w, "batch dimensions of Gather before others and several of indices");
      return;
    }
  for (gint d = batch; d < rank; d++)
    if (d != axis)
      axes[n++] = d;
  parts[k++] = lpt_onnx_w_sliced (w, shape, 0, 0, axis, 1);
  parts[k++] = lpt_onnx_w_i64s (w, "one", 1, &one);
  if (axis < rank - 1)
    parts[k++] = lpt_onnx_w_sliced (w, shape, 0, axis + 1, rank, 1);
  index = lpt_onnx_w_step (w, "Unsqueeze", 2, I64 (1), lpt_onnx_w_i64s (w, "axes", n, axes));
  index = lpt_onnx_w_step (w, "Expand", 2, index, lpt_onnx_w_joined (w, 0, k, parts));
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "GatherElements", OUT (0), 2, IN (0), index), "axis", axis);
}

void
lpt_onnx_write_gather (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  const gint rank = lpt_node_in (node, 0)->shape.rank;
  gint64 axis = lpt_onnx_w_const_int (w, node, 2, "an axis"), batch = LPT_ATTRS (node, LptGatherAttrs)->batch_dims;

  if (batch < 0)
    batch += lpt_node_in (node, 1)->shape.rank;
  if (batch != 0 && (axis < 0 ? axis + rank : axis) == batch)
    {
      gint64 last[] = { -1 };
      const char *single = lpt_onnx_w_temp (w, "Unsqueeze");

      lpt_onnx_w_node (w, "Unsqueeze", single, 2, I64 (1), lpt_onnx_w_i64s (w, "last", 1, last));
      lpt_onnx_w_int (w, lpt_onnx_w_node (w, "GatherND", OUT (0), 2, IN (0), single), "batch_dims", batch);
      return;
    }
  if (batch != 0)
    {
      gather_across (w, node, (gint) (axis < 0 ? axis + rank : axis), (gint) batch);
      return;
    }
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Gather", OUT (0), 2, IN (0), indices_of (w, node)), "axis", axis);
}

void
lpt_onnx_write_gather_elements (LptOnnxWriter *w,
                                LptNode       *node,
                                const char    *onnx)
{
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "GatherElements", OUT (0), 2, IN (0), indices_of (w, node)), "axis",
                  LPT_ATTRS (node, LptAxisAttrs)->axis);
}

void
lpt_onnx_write_gather_nd (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  gint64 batch = LPT_ATTRS (node, LptGatherNDAttrs)->batch_dims;
  gboolean joined = batch > 1 && lpt_op_version (node->info, node->opset) < 8;
  const LptShape *shape = &node->out[0].shape;
  const char *y = joined ? lpt_onnx_w_temp (w, "GatherND") : OUT (0);
  gint unknown = 0;

  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "GatherND", y, 2, IN (0), I64 (1)), "batch_dims", batch);
  if (!joined)
    return;
  /* The first meaning makes one axis of the batch. */
  for (gint i = 0; i < shape->rank; i++)
    unknown += shape->dims[i] < 0;
  if (shape->rank < 0 || unknown > 1)
    lpt_onnx_w_fail (w, "a joined batch of unknown shape");
  else
    lpt_onnx_w_reshape (w, OUT (0), y, (guint) shape->rank, shape->dims);
}

/* Real numbers have at least 32 bits in ONNX's Range. */
void
lpt_onnx_write_range (LptOnnxWriter *w,
                      LptNode       *node,
                      const char    *onnx)
{
  LptDType dtype = node->out[0].dtype;
  gboolean half = dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16;
  const char *in[3];

  for (guint i = 0; i < 3; i++)
    {
      LptDType wanted = half ? LPT_DTYPE_F32 : dtype;

      in[i] = lpt_onnx_w_real_type (node, i) == wanted ? IN (i) : lpt_onnx_w_cast (w, IN (i), wanted);
    }
  lpt_onnx_w_cast_out (w, node, lpt_onnx_w_step (w, "Range", 3, in[0], in[1], in[2]), half ? LPT_DTYPE_F32 : dtype);
}

/* ONNX counts in 64 bits, and its axis is an attribute. */
void
lpt_onnx_write_unique (LptOnnxWriter *w,
                       LptNode       *node,
                       const char    *onnx)
{
  const char *outputs[4], *x = IN (0);
  LptTensor *axis = lpt_node_in (node, 1) != NULL ? lpt_node_const_in (node, 1) : NULL;
  Onnx__NodeProto *y;

  if (lpt_node_in (node, 1) != NULL && axis == NULL)
    lpt_onnx_w_fail (w, "a computed axis");
  for (guint k = 0; k < G_N_ELEMENTS (outputs); k++)
    outputs[k] = k == 0 || node->out[k].dtype == LPT_DTYPE_I64 ? OUT (k) : lpt_onnx_w_temp (w, "places");
  y = lpt_onnx_w_list (w, "Unique", G_N_ELEMENTS (outputs), outputs, 1, &x);
  if (axis != NULL)
    lpt_onnx_w_int (w, y, "axis", lpt_tensor_get_i64 (axis, 0));
  lpt_onnx_w_int (w, y, "sorted", LPT_ATTRS (node, LptUniqueAttrs)->sorted);
  for (guint k = 1; k < G_N_ELEMENTS (outputs); k++)
    if (node->out[k].dtype != LPT_DTYPE_I64)
      lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (k), 1, outputs[k]), "to",
                      lpt_onnx_type_from_dtype (node->out[k].dtype));
}

void
lpt_onnx_write_non_zero (LptOnnxWriter *w,
                         LptNode       *node,
                         const char    *onnx)
{
  if (node->out[0].dtype == LPT_DTYPE_I64)
    lpt_onnx_w_node (w, "NonZero", OUT (0), 1, IN (0));
  else
    lpt_onnx_w_int (w, lpt_onnx_w_node (w, "Cast", OUT (0), 1, lpt_onnx_w_step (w, "NonZero", 1, IN (0))), "to",
                    lpt_onnx_type_from_dtype (node->out[0].dtype));
}

/* Indices below 0 are off here and count from the end there: @depth stands for them, which is off. Constants and types
 * without them are as they are. */
static const char *
not_below_zero (LptOnnxWriter *w,
                LptNode       *node,
                const char    *depth)
{
  LptTensor *tensor = lpt_node_const_in (node, 0);
  gboolean below = tensor == NULL && lpt_dtype_min (lpt_onnx_w_real_type (node, 0)) < 0;
  const char *indices = I64 (0), *zero;

  for (gint64 i = 0; tensor != NULL && !below && i < lpt_tensor_count (tensor); i++)
    below = lpt_tensor_get_i64 (tensor, i) < 0;
  if (!below)
    return indices;
  zero = lpt_onnx_w_scalar (w, "zero", LPT_DTYPE_I64, 0);

  return lpt_onnx_w_step (w, "Where", 3, lpt_onnx_w_step (w, "Less", 2, indices, zero), depth, indices);
}

void
lpt_onnx_write_one_hot (LptOnnxWriter *w,
                        LptNode       *node,
                        const char    *onnx)
{
  gint64 one = 1, all = -1;
  const char *shape = lpt_onnx_w_i64s (w, "shape", 1, &one), *values = lpt_onnx_w_temp (w, "values");
  const char *parts[2] = { lpt_onnx_w_step (w, "Reshape", 2, IN (3), shape),
                           lpt_onnx_w_step (w, "Reshape", 2, IN (2), shape) };

  const gboolean single = lpt_node_in (node, 0)->shape.rank == 0;
  /* A depth of one element, whatever its rank, has none or one there. */
  const gboolean scalar = lpt_node_in (node, 1)->shape.rank == 0;
  const char *depth = scalar ? I64 (1) : lpt_onnx_w_step (w, "Reshape", 2, I64 (1), shape);
  const char *indices = not_below_zero (w, node, depth);
  const char *y = single ? lpt_onnx_w_temp (w, "OneHot") : OUT (0);

  /* ONNX Runtime's kernels with int32 values want a real depth. */
  if (node->out[0].dtype == LPT_DTYPE_I32)
    depth = lpt_onnx_w_cast (w, depth, LPT_DTYPE_F32);
  lpt_onnx_w_int (w, lpt_onnx_w_list (w, "Concat", 1, &values, 2, parts), "axis", 0);
  if (single)      /* ONNX has no index without axes. */
    indices = lpt_onnx_w_step (w, "Reshape", 2, indices, shape);
  lpt_onnx_w_int (w, lpt_onnx_w_node (w, "OneHot", y, 3, indices, depth, values), "axis",
                  single ? 0 : LPT_ATTRS (node, LptOneHotAttrs)->axis);
  if (single)
    lpt_onnx_w_reshape (w, OUT (0), y, 1, &all);
}

/* --- scattering --------------------------------------------------------------------------- */

static void
write_reduction (LptOnnxWriter   *w,
                 LptNode         *node,
                 Onnx__NodeProto *y)
{
  const LptScatterAttrs *attrs = LPT_ATTRS (node, LptScatterAttrs);
  const char *name = NULL;

  switch (attrs->reduction)
    {
    case LPT_REDUCTION_NONE: return;
    case LPT_REDUCTION_SUM: name = "add"; break;
    case LPT_REDUCTION_PROD: name = "mul"; break;
    case LPT_REDUCTION_MIN: name = "min"; break;
    case LPT_REDUCTION_MAX: name = "max"; break;
    default: break;
    }
  if (name == NULL || !attrs->use_init_val)
    lpt_onnx_w_fail (w, "this reduction of updates");
  else
    lpt_onnx_w_string (w, y, "reduction", name);
}

/* Input 2, which is written in its data's place: both are codes or neither. */
static const char *
updates_in (LptOnnxWriter *w,
            LptNode       *node)
{
  if ((lpt_node_in (node, 0)->quant == NULL) != (lpt_node_in (node, 2)->quant == NULL))
    lpt_onnx_w_fail (w, "plain updates beside codes");
  return IN (2);
}

void
lpt_onnx_write_scatter_elements (LptOnnxWriter *w,
                                 LptNode       *node,
                                 const char    *onnx)
{
  gint64 axis = lpt_onnx_w_const_int (w, node, 3, "an axis");
  Onnx__NodeProto *y = lpt_onnx_w_node (w, "ScatterElements", OUT (0), 3, IN (0), I64 (1), updates_in (w, node));

  lpt_onnx_w_int (w, y, "axis", axis);
  write_reduction (w, node, y);
}

void
lpt_onnx_write_scatter_nd (LptOnnxWriter *w,
                           LptNode       *node,
                           const char    *onnx)
{
  write_reduction (w, node, lpt_onnx_w_node (w, "ScatterND", OUT (0), 3, IN (0), I64 (1), updates_in (w, node)));
}

/* data[..., i, ...] = updates[..., k..., ...] for i = indices[k...]: the axis of the data and those of the indices go
 * to the front, where ScatterND wants them, and the result back. */
void
lpt_onnx_write_scatter_update (LptOnnxWriter *w,
                               LptNode       *node,
                               const char    *onnx)
{
  gint rank = lpt_node_in (node, 0)->shape.rank, k = lpt_node_in (node, 1)->shape.rank, axis = 0;
  gint64 order[2 * LPT_MAX_RANK], back[LPT_MAX_RANK], last = -1;
  const char *data = IN (0), *updates = updates_in (w, node), *indices, *y;

  if (rank < 1 || k < 0 || rank - 1 + k > LPT_MAX_RANK)
    {
      lpt_onnx_w_fail (w, "an unknown rank");
      return;
    }
  if (!lpt_axis_normalize (lpt_onnx_w_const_int (w, node, 3, "an axis"), rank, &axis))
    lpt_onnx_w_fail (w, "this axis");
  indices = lpt_onnx_w_step (w, "Unsqueeze", 2, I64 (1), lpt_onnx_w_i64s (w, "axis", 1, &last));
  for (gint i = 0; i < rank; i++)
    {
      order[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
      back[order[i]] = i;
    }
  if (axis > 0)
    data = lpt_onnx_w_transposed (w, data, (guint) rank, order);
  for (gint i = 0; i < rank - 1 + k; i++)
    order[i] = i < k ? axis + i : i - k < axis ? i - k : i;
  if (axis > 0)
    updates = lpt_onnx_w_transposed (w, updates, (guint) (rank - 1 + k), order);
  y = lpt_onnx_w_step (w, "ScatterND", 3, data, indices, updates);
  if (axis > 0)
    y = lpt_onnx_w_transposed (w, y, (guint) rank, back);
  lpt_onnx_w_node (w, "Identity", OUT (0), 1, y);
}

/* --- comparing ------------------------------------------------------------------------------ */

/* How many bounds are below x; with_right_bound false: or equal */
void
lpt_onnx_write_bucketize (LptOnnxWriter *w,
                          LptNode       *node,
                          const char    *onnx)
{
  const LptBucketizeAttrs *attrs = LPT_ATTRS (node, LptBucketizeAttrs);
  gint64 last = -1;
  const char *x = lpt_onnx_w_step (w, "Unsqueeze", 2, IN (0), lpt_onnx_w_i64s (w, "axis", 1, &last)), *bounds = IN (1),
             *sum;
  LptDType x_type = lpt_onnx_w_real_type (node, 0), b_type = lpt_onnx_w_real_type (node, 1);

  if (b_type != x_type && lpt_dtype_is_real (x_type))
    bounds = lpt_onnx_w_cast (w, bounds, x_type);
  else if (b_type != x_type)
    x = lpt_onnx_w_cast (w, x, b_type);
  x = lpt_onnx_w_step (w, attrs->with_right_bound ? "Less" : "LessOrEqual", 2, bounds, x);
  sum = lpt_onnx_w_temp (w, "ReduceSum");
  lpt_onnx_w_int (w,
                  lpt_onnx_w_node (w, "ReduceSum", sum, 2, lpt_onnx_w_cast (w, x, LPT_DTYPE_I64),
                                   lpt_onnx_w_i64s (w, "axis", 1, &last)),
                  "keepdims", 0);
  lpt_onnx_w_cast_out (w, node, sum, LPT_DTYPE_I64);
}

/* EyeLike a tensor of that shape */
void
lpt_onnx_write_eye (LptOnnxWriter *w,
                    LptNode       *node,
                    const char    *onnx)
{
  gint64 one = 1;
  gint64 diagonal = lpt_onnx_w_const_int (w, node, 2, "a diagonal");
  const char *parts[2] = { lpt_onnx_w_reshaped (w, I64 (0), 1, &one), lpt_onnx_w_reshaped (w, I64 (1), 1, &one) };
  Onnx__NodeProto *y;

  if (node->n_in > 3)
    lpt_onnx_w_fail (w, "a batch of matrices");
  y = lpt_onnx_w_node (w, "EyeLike", OUT (0), 1,
                       lpt_onnx_w_step (w, "ConstantOfShape", 1, lpt_onnx_w_joined (w, 0, 2, parts)));
  lpt_onnx_w_int (w, y, "k", diagonal);
  lpt_onnx_w_int (w, y, "dtype", lpt_onnx_type_from_dtype (node->out[0].dtype));
}
