/* indexed.c - see indexed.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/indexed.h"
#include "ir/scalar/lpt-loop.h"

gboolean
lpt_indices_are_plain (const LptProgramValue *value)
{
  return value != NULL && (value->array.dtype == LPT_DTYPE_I64 || value->array.dtype == LPT_DTYPE_I32) &&
         value->array.quant == NULL && lpt_shape_is_static (&value->array.shape) && lpt_program_count (value) > 0;
}

/* What makes the indices of @op alone by repeating others along axes of one element; NULL: nothing. One that others read,
 * too, may be joined with a movement before it, and what it repeats is not made then. */
static LptProgramOp *
expand_of (const LptProgramOp *op)
{
  LptProgramOp *def = op->in[1]->def;

  if (def == NULL || lpt_program_reader (op->in[1]) != op || def->folded || !lpt_program_is_free (def) ||
      def->integer != NULL || def->n_in != 2 || (def->node->op != LPT_OP_BROADCAST && def->node->op != LPT_OP_TILE) ||
      !lpt_indices_are_plain (def->in[0]) || def->in[0]->array.dtype != op->in[1]->array.dtype)
    return NULL;

  return def;
}

/* Those of axes [@from, @to) of @x, all of one element or all those of @y: *one. FALSE: some are, some not. */
static gboolean
is_one_or_same (const LptShape *x,
                const LptShape *y,
                gint            from,
                gint            to,
                gboolean       *one)
{
  const gint64 have = lpt_dims_product (x, from, to), all = lpt_dims_product (y, from, to);

  *one = have == 1 && all != 1;

  return have == 1 || have == all;
}

gboolean
lpt_expand_repeats_rows (const LptShape *x,
                         const LptShape *y,
                         gint            axis,
                         LptElements    *elements)
{
  gint d;

  if (x->rank != y->rank || axis >= x->rank || x->dims[axis] != y->dims[axis])
    return FALSE;
  for (d = 0; d < x->rank; d++)
    if (x->dims[d] != 1 && x->dims[d] != y->dims[d])
      return FALSE;

  return is_one_or_same (x, y, 0, axis, &elements->one_prefix) &&
         is_one_or_same (x, y, axis + 1, y->rank, &elements->one_inner) &&
         (elements->one_inner || lpt_dims_product (y, axis + 1, y->rank) == 1);
}

gboolean
lpt_elements_init (LptElements        *elements,
                   const LptProgramOp *op,
                   const LptShape     *data,
                   gint                axis)
{
  const LptShape *shape = &op->in[1]->array.shape;
  const LptProgramOp *expand;
  LptElements through;
  gint d;

  if (!lpt_indices_are_plain (op->in[1]) || shape->rank != data->rank)
    return FALSE;
  for (d = 0; d < data->rank; d++)
    if (d != axis && shape->dims[d] != data->dims[d])
      return FALSE;

  *elements = (LptElements) { .indices = op->in[1], .prefix = (gsize) lpt_dims_product (shape, 0, axis),
                              .n = (gsize) shape->dims[axis],
                              .inner = (gsize) lpt_dims_product (shape, axis + 1, shape->rank) };
  expand = expand_of (op);
  through = *elements;
  if (expand != NULL && lpt_expand_repeats_rows (&expand->in[0]->array.shape, shape, axis, &through))
    {
      *elements = through;
      elements->indices = expand->in[0];
    }
  elements->places = (LptPlaces) { .dtype = elements->indices->array.dtype, .tuple = 1, .length = { data->dims[axis] },
                                   .n = lpt_program_count (elements->indices) };

  return TRUE;
}

/* Below 0: one of @n numbers is none of [-@length, @length). */
#define DEFINE_OUTSIDE(type)                                                                                         \
static gint64                                                                                                        \
outside_ ## type (const type *p, gsize n, gint64 length)                                                             \
{                                                                                                                    \
  guint64 signs = 0;                                                                                                 \
  gsize i;                                                                                                           \
                                                                                                                     \
  for (i = 0; i < n; i++)                                                                                            \
    signs |= ((guint64) (gint64) p[i] + (guint64) length) | ((guint64) length - 1 - (guint64) (gint64) p[i]);        \
                                                                                                                     \
  return (gint64) signs;                                                                                             \
}

DEFINE_OUTSIDE (gint32)
DEFINE_OUTSIDE (gint64)

gboolean
lpt_places_check (const LptProgramOp *op,
                  const LptOpData    *data,
                  GError            **error)
{
  const LptPlaces *p = op->form.params;
  gconstpointer indices = data->in[p->operand];
  gint64 at;
  gsize i;
  guint k;

  if (p->tuple == 1 && (p->dtype == LPT_DTYPE_I32 ? outside_gint32 (indices, p->n, p->length[0])
                                                  : outside_gint64 (indices, p->n, p->length[0])) >= 0)
    return TRUE;
  for (i = 0; i < p->n; i++)
    for (k = 0; k < p->tuple; k++)
      {
        const gint64 index = lpt_index_at (p->dtype, indices, i * p->tuple + k);

        if (G_UNLIKELY (index >= p->length[k] || index < -p->length[k]))
          return lpt_index_wrap (index, p->length[k], &at, error);
      }

  return TRUE;
}
