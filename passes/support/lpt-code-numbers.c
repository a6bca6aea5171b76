/* lpt-code-numbers.c - scales and zero points of codes that come again and again
 *
 * A matrix of codes has a scale for each row, column or block, written as constants that broadcast: in the order in
 * which codes lie the same number stands for a run of them, and all numbers come again after a period. Both are kept
 * as they are; a number for each code would be eight times a weight of 4 bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-evaluate-node.h"
#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"
#include "passes/support/lpt-code-numbers.h"

/* Steps of what makes a number. */
#define MAX_STEPS 16

float
lpt_code_numbers_at (const LptCodeNumbers *a,
           gint64         code)
{
  return a->v[code / a->run % a->n];
}

gboolean
lpt_code_numbers_differ (const LptCodeNumbers *all,
                         gint64                n,
                         gint64                stride,
                         gint64                a,
                         gint64                b)
{
  const gboolean plain = all->run == 1 && MAX (a, b) + (n - 1) * stride < all->n;
  gint64 i = 0;

  if (plain && stride == 1)
    while (i < n && all->v[a + i] == all->v[b + i])
      i++;
  else
    while (i < n && lpt_code_numbers_at (all, a + i * stride) == lpt_code_numbers_at (all, b + i * stride))
      i++;

  return i < n;
}

gint64
lpt_code_numbers_period (const LptCodeNumbers *a,
               const LptCodeNumbers *b)
{
  const gint64 first = a->n * a->run, second = b->v != NULL ? b->n * b->run : first;

  return first / lpt_common_divisor (first, second) * second;
}

gint64
lpt_code_numbers_run (const LptCodeNumbers *a,
            const LptCodeNumbers *b)
{
  return b->v != NULL ? lpt_common_divisor (a->run, b->run) : a->run;
}

gboolean
lpt_code_numbers_refine (LptCodeNumbers *a,
        gint64   n,
        gint64   run)
{
  float *v;

  if (a->n == n && a->run == run)
    return TRUE;
  v = lpt_memory_try ((gsize) n, sizeof (float), NULL);
  for (gint64 i = 0; v != NULL && i < n; i++)
    v[i] = lpt_code_numbers_at (a, i * run);
  g_free (a->v);
  *a = (LptCodeNumbers) { v, n, run };

  return v != NULL;
}

/* The value where it is computed from constants alone (transfer full), or NULL. */
static LptTensor *
constant_of (LptValue *value,
             guint     depth)
{
  LptNode *node = value->producer;
  g_autofree LptTensor **in = NULL, **out = NULL;
  LptTensor *result = NULL;
  gboolean ok = depth > 0 && node->n_in > 0;

  if (node->data != NULL)
    return value->quant == NULL ? lpt_tensor_ref (node->data) : NULL;
  in = g_new0 (LptTensor *, node->n_in + 1);
  out = g_new0 (LptTensor *, node->n_out + 1);
  for (guint i = 0; i < node->n_in && ok; i++)
    if (lpt_node_in (node, i) != NULL)
      ok = (in[i] = constant_of (lpt_node_in (node, i), depth - 1)) != NULL;
  if (ok && lpt_node_evaluate (node, in, out, NULL))
    result = lpt_tensor_ref (out[value->index]);
  for (guint i = 0; i < node->n_in; i++)
    g_clear_pointer (&in[i], lpt_tensor_unref);
  for (guint i = 0; i < node->n_out; i++)
    g_clear_pointer (&out[i], lpt_tensor_unref);

  return result;
}

gboolean
lpt_code_numbers_spread (LptTensor      *tensor,
                         const LptShape *shape,
                         LptCodeNumbers *all)
{
  g_autoptr (LptTensor) real = lpt_tensor_convert (tensor, LPT_DTYPE_F32, NULL);
  LptShape own = *shape;
  gint64 strides[LPT_MAX_RANK];
  gint first = 0, last = shape->rank;
  const float *from;
  LptWalk walk;

  if (real == NULL || !lpt_broadcast_check (lpt_tensor_shape (real), shape, strides, NULL) ||
      lpt_dims_product (shape, 0, shape->rank) == 0)
    return FALSE;
  while (last > 0 && strides[last - 1] == 0)
    own.dims[--last] = 1;
  while (first < last && strides[first] == 0)
    own.dims[first++] = 1;
  *all = (LptCodeNumbers) { NULL, lpt_dims_product (&own, 0, own.rank), lpt_dims_product (shape, last, shape->rank) };
  all->v = lpt_memory_try ((gsize) all->n, sizeof (float), NULL);
  if (all->v == NULL)
    return FALSE;
  from = lpt_tensor_data (real);
  if (lpt_tensor_count (real) == all->n)
    memcpy (all->v, from, (gsize) all->n * sizeof *from);
  else
    {
      lpt_walk_broadcast (&walk, &own, 1, (const LptShape *const[]) { lpt_tensor_shape (real) });
      for (gint64 i = 0; i < all->n; i++, lpt_walk_next (&walk))
        all->v[i] = from[walk.at[0]];
    }

  return TRUE;
}

gboolean
lpt_code_numbers_of (LptValue       *value,
                     const LptShape *shape,
                     LptCodeNumbers *all)
{
  g_autoptr (LptTensor) tensor = constant_of (value, MAX_STEPS);

  return tensor != NULL && lpt_code_numbers_spread (tensor, shape, all);
}

gboolean
lpt_code_numbers_are (const LptCodeNumbers *all,
         float          number)
{
  gint64 i = 0;

  while (all->v != NULL && i < all->n && all->v[i] == number)
    i++;

  return all->v == NULL ? number == 0 : i == all->n;
}
