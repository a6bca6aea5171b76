/* tflite-map-hlo-gather.c - StableHLO: GATHER and SCATTER
 *
 * The operand is taken as a flat list; the place of an element is the sum of its coordinates times the strides, each a
 * start that the indices give plus where it lies inside of the slice, [batch .., slice ..].
 *
 *   GATHER     Gather from the flat list; starts are moved so that the slice lies inside
 *   SCATTER    ScatterElementsUpdate on it; what lies outside goes to an element behind, which is cut off
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-hlo.h"

/* The operand, and which of its axes the slices have and the indices start. */
typedef struct
{
  LptShape shape;
  gint64   strides[LPT_MAX_RANK], sizes[LPT_MAX_RANK];
  gint64   map[LPT_MAX_RANK];      /* axis of index k */
  gint64   inside[LPT_MAX_RANK];   /* axes of the slice */
  guint    n_map, n_inside;
  gint64   count;
} Slices;

static Slices
read_slices (LptTflOp *op, LptValue *x, LptTflField map, LptTflField without)
{
  Slices s = { .shape = lpt_tfl_hlo_shape_of (op, x), .count = 1 };
  gint64 gone[LPT_MAX_RANK];
  for (gint i = s.shape.rank - 1; i >= 0; i--)
    {
      s.strides[i] = s.count;
      s.count *= s.shape.dims[i];
    }
  s.n_map = lpt_tfl_hlo_axes (op, map, s.shape.rank, s.map);
  s.n_inside = lpt_tfl_hlo_others (s.shape.rank, lpt_tfl_hlo_axes (op, without, s.shape.rank, gone), gone, s.inside);
  return s;
}

/* [batch .., k]: indices with their vectors last. */
static LptValue *
read_indices (LptTflOp *op, LptTflField field, guint n_map)
{
  LptValue *indices = lpt_tfl_whole_in (op, 1);
  gint rank = lpt_tfl_rank (op, indices);
  gint64 at = lpt_tfl_opt_int (op, field), order[LPT_MAX_RANK];
  if (at < 0 || at > rank || rank >= LPT_MAX_RANK)
    {
      lpt_tfl_invalid (op, "vectors of indices along axis %" G_GINT64_FORMAT " of rank %d", at, rank);
      return indices;
    }
  if (at == rank)
    indices = lpt_tfl_unsqueeze (op, indices, rank);
  else if (at < rank - 1)
    {
      guint n = lpt_tfl_hlo_others (rank, 1, &at, order);
      order[n] = at;
      indices = lpt_tfl_transpose (op, indices, n + 1, order);
    }
  gint64 k = indices->shape.rank > 0 ? indices->shape.dims[indices->shape.rank - 1] : 0;
  if (k != n_map)
    lpt_tfl_invalid (op, "vectors of %" G_GINT64_FORMAT " indices for %u axes", k, n_map);
  return indices;
}

/* 0, step, 2 step, ... along the slice's axis @along of as many axes as the slice has. */
static LptValue *
steps (LptTflOp *op, const Slices *s, guint along, gint64 step)
{
  gint64 n = s->sizes[s->inside[along]], dims[LPT_MAX_RANK];
  for (guint i = 0; i < s->n_inside; i++)
    dims[i] = i == along ? n : 1;
  LptShape shape = lpt_shape_make ((gint) s->n_inside, dims);
  LptTensor *list = op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
  for (gint64 i = 0; list != NULL && i < n; i++)
    ((gint64 *) lpt_tensor_writable (list))[i] = i * step;
  return lpt_tfl_tensor_value (op, list, NULL);
}

static LptValue *
sum (LptTflOp *op, LptValue *a, LptValue *b)
{
  return a != NULL ? lpt_tfl_emit (op, LPT_OP_ADD, 2, a, b) : b;
}

/* Is axis @axis of the operand in the slice? Where; -1: it is not. */
static gint
place_inside (const Slices *s, gint64 axis)
{
  for (guint i = 0; i < s->n_inside; i++)
    if (s->inside[i] == axis)
      return (gint) i;
  return -1;
}

/* Coordinates along the axis of index @k: [batch .., 1 ..] + [slice ..]. */
static LptValue *
coordinates (LptTflOp *op, const Slices *s, LptValue *indices, guint k)
{
  gint last = indices->shape.rank - 1, at = place_inside (s, s->map[k]);
  LptValue *start = lpt_tfl_squeeze (op, lpt_tfl_slice (op, indices, last, k, k + 1), last);
  for (guint i = 0; i < s->n_inside; i++)
    start = lpt_tfl_unsqueeze (op, start, last + (gint64) i);
  return at < 0 ? start : sum (op, start, steps (op, s, (guint) at, 1));
}

/* Places in the flat operand, [batch .., slice ..] or what broadcasts to it; *outside: where they are none (NULL:
 * starts are moved instead). */
static LptValue *
places (LptTflOp *op, const Slices *s, LptValue *indices, LptValue **outside)
{
  LptValue *place = NULL;
  guint mapped = 0;
  for (guint k = 0; k < s->n_map; k++)
    {
      gint64 axis = s->map[k];
      LptValue *at = coordinates (op, s, indices, k);
      mapped |= 1u << axis;
      if (outside != NULL)
        {
          LptValue *wrong = lpt_tfl_emit (op, LPT_OP_LOGICAL_OR, 2,
                                          lpt_tfl_emit (op, LPT_OP_LESS, 2, at, lpt_tfl_i64_scalar (op, 0)),
                                          lpt_tfl_emit (op, LPT_OP_GREATER_EQUAL, 2, at,
                                                        lpt_tfl_i64_scalar (op, s->shape.dims[axis])));
          *outside = *outside != NULL ? lpt_tfl_emit (op, LPT_OP_LOGICAL_OR, 2, *outside, wrong) : wrong;
        }
      place = sum (op, place, lpt_tfl_emit (op, LPT_OP_MULTIPLY, 2, at, lpt_tfl_i64_scalar (op, s->strides[axis])));
    }
  for (guint i = 0; i < s->n_inside; i++)
    if ((mapped >> s->inside[i] & 1) == 0)
      place = sum (op, place, steps (op, s, i, s->strides[s->inside[i]]));
  return place != NULL ? place : lpt_tfl_i64_scalar (op, 0);
}

static LptValue *
flat (LptTflOp *op, LptValue *x)
{
  return lpt_tfl_reshape (op, x, 1, (gint64[]) { -1 });
}

void
lpt_tfl_map_hlo_gather (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0);
  Slices s = read_slices (op, x, TFL_StablehloGatherOptions_start_index_map,
                          TFL_StablehloGatherOptions_collapsed_slice_dims);
  LptValue *indices = read_indices (op, TFL_StablehloGatherOptions_index_vector_dim, s.n_map);
  gint64 offsets[LPT_MAX_RANK], others[LPT_MAX_RANK], order[LPT_MAX_RANK], last[LPT_MAX_RANK];
  guint batch = (guint) MAX (indices->shape.rank - 1, 0), rank = batch + s.n_inside;
  lpt_tfl_hlo_list (op, TFL_StablehloGatherOptions_slice_sizes, (guint) s.shape.rank, 0, 0, s.sizes);
  for (gint i = 0; i < s.shape.rank && op->error == NULL; i++)
    if (s.sizes[i] > s.shape.dims[i] || (place_inside (&s, i) < 0 && s.sizes[i] != 1))
      lpt_tfl_invalid (op, "slices of %" G_GINT64_FORMAT " along axis %d", s.sizes[i], i);
  if (rank > LPT_MAX_RANK)
    lpt_tfl_unsupported (op, "more than %d axes", LPT_MAX_RANK);
  if (op->error != NULL)
    return;
  if (lpt_tfl_hlo_axes (op, TFL_StablehloGatherOptions_offset_dims, (gint) rank, offsets) != s.n_inside)
    lpt_tfl_invalid (op, "another number of axes than the slices have");
  if (op->error != NULL)
    return;
  for (guint k = 0; k < s.n_map; k++)
    last[k] = s.shape.dims[s.map[k]] - s.sizes[s.map[k]];
  indices = lpt_tfl_emit (op, LPT_OP_MINIMUM, 2,
                          lpt_tfl_emit (op, LPT_OP_MAXIMUM, 2, indices, lpt_tfl_i64_scalar (op, 0)),
                          lpt_tfl_i64 (op, s.n_map, last));
  LptNode *node = lpt_tfl_add (op, LPT_OP_GATHER, 3, flat (op, x), places (op, &s, indices, NULL),
                               lpt_tfl_i64_scalar (op, 0));
  node->opset = 8;
  LptValue *y = lpt_tfl_done (op, node);
  lpt_tfl_hlo_others ((gint) rank, s.n_inside, offsets, others);
  for (guint i = 0; i < batch; i++)
    order[others[i]] = i;
  for (guint i = 0; i < s.n_inside; i++)
    order[offsets[i]] = batch + i;
  if (op->error == NULL)
    lpt_tfl_set (op, 0, lpt_tfl_transpose (op, y, rank, order));
}

/* Updates as [batch .., slice ..]. */
static LptValue *
read_updates (LptTflOp *op, Slices *s, guint batch)
{
  LptValue *updates = lpt_tfl_in (op, 2);
  LptShape shape = lpt_tfl_hlo_shape_of (op, updates);
  gint64 order[2 * LPT_MAX_RANK], inside[LPT_MAX_RANK];
  guint n = lpt_tfl_hlo_axes (op, TFL_StablehloScatterOptions_update_window_dims, shape.rank, inside);
  guint outer = lpt_tfl_hlo_others (shape.rank, n, inside, order);
  if (n != s->n_inside || outer != batch)
    lpt_tfl_invalid (op, "updates of %u and %u axes, not %u and %u", outer, n, batch, s->n_inside);
  for (guint i = 0; i < n && op->error == NULL; i++)
    {
      order[outer + i] = inside[i];
      s->sizes[s->inside[i]] = shape.dims[inside[i]];
      if (shape.dims[inside[i]] > s->shape.dims[s->inside[i]])
        lpt_tfl_invalid (op, "updates that are longer than axis %" G_GINT64_FORMAT, s->inside[i]);
    }
  return op->error == NULL ? lpt_tfl_transpose (op, updates, outer + n, order) : updates;
}

void
lpt_tfl_map_hlo_scatter (LptTflOp *op)
{
  LptValue *x = lpt_tfl_in (op, 0), *outside = NULL;
  Slices s = read_slices (op, x, TFL_StablehloScatterOptions_scatter_dims_to_operand_dims,
                          TFL_StablehloScatterOptions_inserted_window_dims);
  LptValue *indices = read_indices (op, TFL_StablehloScatterOptions_index_vector_dim, s.n_map);
  LptValue *updates = read_updates (op, &s, (guint) MAX (indices->shape.rank - 1, 0));
  const LptTflHloJoin *join = lpt_tfl_hlo_join (
      op, lpt_tfl_opt_int (op, TFL_StablehloScatterOptions_update_computation_subgraph_index), TRUE);
  if (op->n_in != 3)
    lpt_tfl_unsupported (op, "several operands at once");
  if (join != NULL && join->scatter == LPT_REDUCTION_NONE)
    lpt_tfl_unsupported (op, "updates that are joined by and or or");
  if (op->error != NULL)
    return;
  LptValue *place = places (op, &s, indices, &outside);
  if (outside != NULL)
    place = lpt_tfl_emit (op, LPT_OP_SELECT, 3, outside, lpt_tfl_i64_scalar (op, s.count), place);
  place = flat (op, lpt_tfl_broadcast (op, place, lpt_tfl_shape_of (op, updates)));
  LptValue *parts[] = { flat (op, x), lpt_tfl_reshape (op, lpt_tfl_like (op, x, 0), 1, (gint64[]) { 1 }) };
  LptNode *node = lpt_tfl_add (op, LPT_OP_SCATTER_ELEMENTS_UPDATE, 4, lpt_tfl_concat (op, 0, 2, parts), place,
                               flat (op, updates), lpt_tfl_i64_scalar (op, 0));
  node->opset = 12;
  LPT_ATTRS (node, LptScatterAttrs)->reduction = (int) (join != NULL ? join->scatter : LPT_REDUCTION_NONE);
  LptValue *y = lpt_tfl_slice (op, lpt_tfl_done (op, node), 0, 0, s.count);
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, y, (guint) s.shape.rank, s.shape.dims));
}
