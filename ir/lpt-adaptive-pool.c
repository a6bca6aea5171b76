/* lpt-adaptive-pool.c - adaptive pools as pools, or as products
 *
 * Output i of n over an axis of length m is of elements floor (i m / n) to ceil ((i + 1) m / n). Where n divides m on
 * all axes these are windows of m / n elements in such steps:
 *
 *     AdaptiveAvgPool (x)  =>  AvgPool (x)      AdaptiveMaxPool (x)  =>  MaxPool (x), whose places nobody reads
 *
 * Otherwise a mean over one or two axes is a product with a constant for each,
 *
 *     AdaptiveAvgPool (x)  =>  MatMul (A, MatMul (x, B'))      A [n, m], B of the last axis: shares of the elements
 *
 * which is not for rules of quantization, that does not come through it.
 *
 * Left alone: lengths that are not known; what is not real; other parts of three axes, or of a maximum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"

#include <lpt/lpt-attrs.h>

#define FIRST 2      /* of the pooled axes */

static gboolean
is_known (LptNode *node)
{
  const LptShape *x = &lpt_node_in (node, 0)->shape, *y = &node->out[0].shape;

  if (x->rank <= FIRST || x->rank != y->rank || !lpt_dtype_is_real (lpt_node_in (node, 0)->dtype))
    return FALSE;
  for (gint i = FIRST; i < x->rank; i++)
    if (x->dims[i] < 1 || y->dims[i] < 1)
      return FALSE;

  return node->n_out < 2 || lpt_value_n_uses (&node->out[1]) == 0;
}

LptValue *
lpt_adaptive_pool_spell (LptSpeller *s)
{
  const LptShape *x = &lpt_node_in (s->from, 0)->shape, *y = &s->from->out[0].shape;
  const gboolean max = s->from->op == LPT_OP_ADAPTIVE_MAX_POOL;
  const guint n = (guint) MAX (x->rank - FIRST, 0);
  gint64 steps[LPT_MAX_RANK], none[LPT_MAX_RANK] = { 0 };
  LptValue *in = lpt_node_in (s->from, 0);
  LptMaxPoolAttrs *m;
  LptAvgPoolAttrs *a;
  LptNode *pool;

  if (!is_known (s->from))
    return NULL;
  for (guint i = 0; i < n; i++)
    {
      if (x->dims[FIRST + i] % y->dims[FIRST + i] != 0)
        return NULL;
      steps[i] = x->dims[FIRST + i] / y->dims[FIRST + i];
    }
  pool = lpt_speller_start (s, max ? LPT_OP_MAX_POOL : LPT_OP_AVG_POOL, max ? "MaxPool" : "AvgPool", 1, &in);
  m = LPT_ATTRS (pool, LptMaxPoolAttrs);
  a = LPT_ATTRS (pool, LptAvgPoolAttrs);
  lpt_ints_set (max ? &m->kernel : &a->kernel, n, steps);
  lpt_ints_set (max ? &m->strides : &a->strides, n, steps);
  lpt_ints_set (max ? &m->pads_begin : &a->pads_begin, n, none);
  lpt_ints_set (max ? &m->pads_end : &a->pads_end, n, none);

  return lpt_speller_done (s, pool);
}

/* What each of @m elements gives to each of @n means, [@n, @m] or @turned. */
static LptTensor *
shares (gint64   m,
        gint64   n,
        gboolean turned,
        LptDType dtype)
{
  const LptShape shape = lpt_shape_make (2, turned ? (gint64[]) { m, n } : (gint64[]) { n, m });
  g_autoptr (LptTensor) tensor = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);
  float *to;

  if (tensor == NULL)
    return NULL;
  to = lpt_tensor_writable (tensor);
  for (gint64 i = 0; i < n; i++)
    {
      const gint64 from = i * m / n, end = ((i + 1) * m + n - 1) / n;

      for (gint64 k = 0; k < m; k++)
        to[turned ? k * n + i : i * m + k] = k >= from && k < end ? 1.0f / (float) (end - from) : 0.0f;
    }

  return lpt_tensor_convert (tensor, dtype, NULL);
}

LptValue *
lpt_adaptive_mean_spell (LptSpeller *s)
{
  LptValue *x = lpt_node_in (s->from, 0);
  const LptShape in = x->shape, *out = &s->from->out[0].shape;
  const gint last = in.rank - 1;

  if (!is_known (s->from) || last - FIRST > 1 || in.dims[last] > G_MAXINT16 || in.dims[last - 1] > G_MAXINT16)
    return NULL;
  x = lpt_speller_product (s, "columns", x,
                           lpt_speller_constant (s, "shares", shares (in.dims[last], out->dims[last], TRUE, x->dtype)),
                           FALSE);
  if (last > FIRST)
    x = lpt_speller_product (s, "rows",
                             lpt_speller_constant (s, "shares",
                                                   shares (in.dims[FIRST], out->dims[FIRST], FALSE, x->dtype)),
                             x, FALSE);

  return x;
}
