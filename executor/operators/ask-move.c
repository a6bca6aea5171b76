/* ask-move.c - what a movement does, asked of the op itself
 *
 * It runs once on numbered elements when the plan is made; where its results are, every output element came from. No
 * movement is described twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-box.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/lpt-memory.h"

/* Numbers of elements begin here; constants are codes. There are 2^23 at most (move.c), so that all are exact in single
 * precision: a Concat with a constant of another type than theirs goes through that. */
#define FIRST (1 << 23)

LptArray *
lpt_copy_inputs (const LptProgramOp *op)
{
  LptArray *in = g_new0 (LptArray, op->n_in + 1);
  guint k;

  for (k = 0; k < op->n_in; k++)
    {
      in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
      if (op->in[k] != NULL)
        in[k] = op->in[k]->array;
      in[k].owned = FALSE;
    }

  return in;
}

/* A constant operand has an element that might be taken for a number. */
static gboolean
looks_like_number (const LptProgramOp *op)
{
  const gint64 end = FIRST + (gint64) lpt_program_count (op->in[0]);
  gint64 i, n;
  guint k;

  for (k = 1; k < op->n_in; k++)
    {
      const LptArray *array = op->in[k] != NULL ? &op->in[k]->array : NULL;
      const gboolean real = array != NULL && array->dtype == LPT_DTYPE_F32;

      n = real || (array != NULL && array->dtype == LPT_DTYPE_I64) ? lpt_array_count (array) : 0;
      for (i = 0; i < n; i++)
        if (real ? ((const float *) array->data)[i] >= (float) FIRST && ((const float *) array->data)[i] <= (float) end
                 : ((const gint64 *) array->data)[i] >= FIRST && ((const gint64 *) array->data)[i] < end)
          return TRUE;
    }

  return FALSE;
}

/* The outputs of @op for the numbers @in; i64, full (transfer full). FALSE: it does not run on them. */
gboolean
lpt_copy_ask (const LptProgramOp *op,
              gint64             *numbers,
              gint64            **results)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (op), *out = g_new0 (LptArray, op->n_out + 1);
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = out, .n_out = op->n_out, .scratch = scratch };
  guint k;

  if (numbers == NULL || looks_like_number (op))
    return FALSE;
  in[0] = (LptArray) { .declared = LPT_DTYPE_I64, .dtype = LPT_DTYPE_I64, .shape = in[0].shape, .data = numbers };
  for (k = 0; k < op->n_out; k++)
    {
      gsize n = lpt_program_count (op->out[k]);

      results[k] = lpt_memory_try (n, sizeof *results[k], NULL);
      if (results[k] == NULL)
        return FALSE;
      memset (results[k], 0, n * sizeof *results[k]);
      out[k] = (LptArray) { .declared = LPT_DTYPE_I64, .dtype = LPT_DTYPE_I64, .data = results[k],
                            .shape = op->out[k]->array.shape };
    }

  return lpt_call_run (&call, NULL);
}

gboolean
lpt_copy_ask_fill (const LptProgramOp *op,
                   const gint64       *numbers,
                   guint8             *fill)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (op);
  LptArray out = op->out[0]->array;
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  gsize n_in = lpt_program_count (op->in[0]), n = lpt_program_count (op->out[0]), size = lpt_storage_size (out.dtype),
        i = 0;
  g_autofree guint8 *zeros = lpt_memory_try (n_in, size, NULL), *elements = lpt_memory_try (n, size, NULL);

  if (zeros == NULL || elements == NULL)
    return FALSE;
  memset (zeros, 0, n_in * size);
  memset (elements, 0, n * size);
  in[0].data = zeros;
  out.data = elements;
  out.owned = FALSE;
  if (!lpt_call_run (&call, NULL))
    return FALSE;
  while (numbers[i] >= FIRST)
    i++;
  memcpy (fill, elements + i * size, size);
  for (; i < n; i++)
    if (numbers[i] < FIRST && memcmp (elements + i * size, fill, size) != 0)
      return FALSE;

  return TRUE;
}

gboolean
lpt_copy_has_fill (const gint64 *numbers,
                   gsize         n)
{
  gsize i = 0;

  while (i < n && numbers[i] >= FIRST)
    i++;

  return i < n;
}

/* Finds the maps whose sums are @numbers, places among @n_in elements; FALSE: there are none. */
gboolean
lpt_copy_find_maps (const LptShape *shape,
                    gint64          n_in,
                    const gint64   *numbers,
                    gssize        **maps,
                    gssize         *start,
                    gboolean       *fills)
{
  gint64 strides[LPT_MAX_RANK], count = lpt_dims_product (shape, 0, shape->rank), first = 0, i;
  gint64 index[LPT_MAX_RANK] = { 0 };
  gint axis;

  while (first < count && numbers[first] < FIRST)
    first++;
  if (first == count)
    return FALSE;
  lpt_shape_strides (shape, strides);
  *start = (gssize) (numbers[first] - FIRST);
  for (axis = 0; axis < shape->rank; axis++)
    {
      gint64 line = first - first / strides[axis] % shape->dims[axis] * strides[axis];

      maps[axis] = g_new (gssize, shape->dims[axis]);
      for (i = 0; i < shape->dims[axis]; i++)
        {
          gint64 number = numbers[line + i * strides[axis]];

          maps[axis][i] = number < FIRST ? LPT_COPY_FILL : (gssize) (number - numbers[first]);
        }
    }

  *fills = FALSE;
  for (i = 0; i < count; i++)
    {
      gint64 sum = numbers[first];
      gboolean filled = FALSE;

      for (axis = 0; axis < shape->rank; axis++)
        {
          gssize step = maps[axis][index[axis]];

          filled |= step == LPT_COPY_FILL;
          sum += step != LPT_COPY_FILL ? step : 0;
        }
      if (filled ? numbers[i] >= FIRST : numbers[i] != sum || sum >= FIRST + n_in)
        return FALSE;
      *fills |= filled;
      for (axis = shape->rank; axis-- > 0 && ++index[axis] == shape->dims[axis]; )
        index[axis] = 0;
    }

  return TRUE;
}

/* Elements of @value in row-major order, numbered as they lie in @layout. */
gint64 *
lpt_copy_number (const LptProgramValue *value,
                 LptValueLayout         layout)
{
  const LptShape *shape = &value->array.shape;
  gint64 *numbers = lpt_memory_try (lpt_program_count (value), sizeof *numbers, NULL), index[LPT_MAX_RANK] = { 0 }, i;
  gsize strides[LPT_MAX_RANK], at = 0;
  gint axis;

  lpt_copy_strides (shape, layout, strides);
  for (i = 0; numbers != NULL && i < (gint64) lpt_program_count (value); i++)
    {
      numbers[i] = FIRST + (gint64) at;
      for (axis = shape->rank; axis-- > 0; )
        {
          at += strides[axis];
          if (++index[axis] < shape->dims[axis])
            break;
          at -= strides[axis] * (gsize) index[axis];
          index[axis] = 0;
        }
    }

  return numbers;
}
