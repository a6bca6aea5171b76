/* tflite-sparse.c - sparse tensors as dense ones
 *
 * Levels are walked in traversal order with a position p, 0 at the root: child i of a dense level of s has position
 * p s + i; those of a CSR level are indices[segments[p] .. segments[p + 1]), their position is their place in that
 * list. The last position is that of the value. A level is an axis, or the inner part of one that is cut in blocks.
 *
 * A line of a matrix is stored as a segment at least, so that a dense tensor is larger by as much as a line is long.
 * One of more than 2^16 elements for each number that is stored is refused: a few bytes would fill the memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#define MAX_LEVELS (2 * LPT_MAX_RANK)
#define MAX_FACTOR (1 << 16)

typedef struct
{
  gint         axis;
  gboolean     is_sparse;
  gint64       size, stride;     /* of the level; of one step in elements of the tensor */
  LptTflVector segments, indices;
} Level;

typedef struct
{
  guint         n;
  Level         level[MAX_LEVELS];
  gsize         item;
  const guint8 *from;
  guint8       *to;
  gint64        n_values;
} Sparse;

static gboolean
bad (GError **error, const char *what)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "its sparsity is broken: %s", what);
  return FALSE;
}

/* The values of one of the three index vectors. */
static LptTflVector
index_vector (const LptTflFlat *flat, LptTflTable dim, LptTflField field)
{
  static const struct { LptTflTableId id; LptTflField values;
  } kinds[] = {
    { TFLT_Int32Vector, TFL_Int32Vector_values },
    { TFLT_Uint16Vector, TFL_Uint16Vector_values },
    { TFLT_Uint8Vector, TFL_Uint8Vector_values },
  };
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (lpt_tfl_union (flat, dim, field) == kinds[i].id)
      return lpt_tfl_vector (flat, lpt_tfl_table (flat, dim, field), kinds[i].values);
  return (LptTflVector) { .flat = flat };
}

/* Lengths and strides: an axis with a block has an outer level of dims / block steps of block. */
static gboolean
read_levels (const LptTflFlat *flat, LptTflTable sparsity, const LptShape *shape, Sparse *s, GError **error)
{
  LptTflVector order = lpt_tfl_vector (flat, sparsity, TFL_SparsityParameters_traversal_order);
  LptTflVector map = lpt_tfl_vector (flat, sparsity, TFL_SparsityParameters_block_map);
  LptTflVector dims = lpt_tfl_vector (flat, sparsity, TFL_SparsityParameters_dim_metadata);
  guint rank = (guint) shape->rank;
  gint64 strides[LPT_MAX_RANK], block[LPT_MAX_RANK];
  gboolean seen[MAX_LEVELS] = { FALSE };
  if (!lpt_shape_is_static (shape) || map.n > rank || order.n != rank + map.n || dims.n != order.n)
    return bad (error, "the numbers of levels differ");
  lpt_shape_strides (shape, strides);
  for (guint i = 0; i < rank; i++)
    block[i] = 1;
  for (guint i = 0; i < order.n; i++)
    {
      gint64 of = lpt_tfl_item_int (&order, i);
      if (of < 0 || of >= order.n || seen[of] || (i < rank) != (of < rank))
        return bad (error, "the order of its levels");
      seen[of] = TRUE;
      gint64 axis = of < rank ? of : lpt_tfl_item_int (&map, (guint) (of - rank));
      if (axis < 0 || axis >= rank)
        return bad (error, "its blocks");
      s->level[i] = (Level) { .axis = (gint) axis, .stride = strides[axis] };
      if (of >= rank)
        {
          s->level[i].size = lpt_tfl_int (flat, lpt_tfl_item (&dims, i), TFL_DimensionMetadata_dense_size);
          if (s->level[i].size < 1 || block[axis] != 1 || shape->dims[axis] % s->level[i].size != 0)
            return bad (error, "the size of a block");
          block[axis] = s->level[i].size;
        }
    }
  for (guint i = 0; i < rank; i++)
    {
      s->level[i].size = shape->dims[s->level[i].axis] / block[s->level[i].axis];
      s->level[i].stride *= block[s->level[i].axis];
    }
  s->n = order.n;
  return TRUE;
}

/* Segments and indices against the number of positions before the level. */
static gboolean
read_indices (const LptTflFlat *flat, LptTflTable sparsity, Sparse *s, GError **error)
{
  LptTflVector dims = lpt_tfl_vector (flat, sparsity, TFL_SparsityParameters_dim_metadata);
  gint64 positions = 1;
  for (guint i = 0; i < s->n; i++)
    {
      Level *level = &s->level[i];
      LptTflTable dim = lpt_tfl_item (&dims, i);
      level->is_sparse = lpt_tfl_int (flat, dim, TFL_DimensionMetadata_format) == 1;
      if (!level->is_sparse)
        {
          if (level->size > 0 && positions > G_MAXINT32 / level->size)
            return bad (error, "too many elements");
          positions *= level->size;
          continue;
        }
      level->segments = index_vector (flat, dim, TFL_DimensionMetadata_array_segments);
      level->indices = index_vector (flat, dim, TFL_DimensionMetadata_array_indices);
      if (level->segments.n != positions + 1 || lpt_tfl_item_int (&level->segments, 0) != 0
          || lpt_tfl_item_int (&level->segments, level->segments.n - 1) != level->indices.n)
        return bad (error, "the ends of its segments");
      for (guint k = 1; k < level->segments.n; k++)
        if (lpt_tfl_item_int (&level->segments, k) < lpt_tfl_item_int (&level->segments, k - 1))
          return bad (error, "the order of its segments");
      for (guint k = 0; k < level->indices.n; k++)
        if (lpt_tfl_item_int (&level->indices, k) < 0 || lpt_tfl_item_int (&level->indices, k) >= level->size)
          return bad (error, "an index");
      positions = level->indices.n;
    }
  return positions == s->n_values || bad (error, "the number of its values");
}

static void
scatter (const Sparse *s, guint depth, gint64 position, gint64 at)
{
  if (depth == s->n)
    {
      memcpy (s->to + (gsize) at * s->item, s->from + (gsize) position * s->item, s->item);
      return;
    }
  const Level *level = &s->level[depth];
  gint64 begin = level->is_sparse ? lpt_tfl_item_int (&level->segments, (guint) position) : 0;
  gint64 end = level->is_sparse ? lpt_tfl_item_int (&level->segments, (guint) position + 1) : level->size;
  for (gint64 i = begin; i < end; i++)
    scatter (s, depth + 1, level->is_sparse ? i : position * level->size + i,
             at + level->stride * (level->is_sparse ? lpt_tfl_item_int (&level->indices, (guint) i) : i));
}

static gboolean
may_be_as_large (const Sparse *s, const LptShape *shape, GError **error)
{
  gint64 count = 0, stored = s->n_values + 1;
  for (guint i = 0; i < s->n; i++)
    stored += (gint64) s->level[i].segments.n + s->level[i].indices.n;
  return (lpt_shape_count (shape, &count) && count / MAX_FACTOR <= stored)
         || bad (error, "the tensor is more than 65536 times as large");
}

LptTensor *
lpt_tfl_densify (const LptTflFlat *flat, LptTflTable sparsity, LptTensor *values, const LptShape *shape, GError **error)
{
  Sparse s = { .item = lpt_dtype_bits (lpt_tensor_dtype (values)) / 8,
               .from = lpt_tensor_data (values),
               .n_values = lpt_tensor_count (values) };
  if (!read_levels (flat, sparsity, shape, &s, error) || !read_indices (flat, sparsity, &s, error)
      || !may_be_as_large (&s, shape, error))
    return NULL;
  LptTensor *dense = lpt_tensor_new (lpt_tensor_dtype (values), shape, error);
  if (dense == NULL)
    return NULL;
  s.to = lpt_tensor_writable (dense);
  scatter (&s, 0, 0, 0);
  return dense;
}
