/* matmul.c - MatMul: the last two axes are matrices, the others broadcast
 *
 * A vector counts as one row (first operand) or one column (second); that axis is missing in the result.
 * Integers: products and sums keep the bits of the result's type. Else
 * sums are float32 chains of fused multiply-adds along k, exact for integers, as in conv.c. An optional third input is a bias along the last axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-fused.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  const float *a, *b, *bias;
  float       *y;
  gint64       m, n, k;
  gint64       a_row, a_step;        /* strides of A in rows and along k */
  gboolean     b_transposed;         /* B is [n,k] */
  gboolean     exact;                /* sums stay f64: integers */
  double      *rows;                 /* one row of sums per thread */
  const gint64 *ia, *ib;             /* whole numbers, in place of a and b */
  gint64       *iy;
} MatMul;

/* @n <= 4 columns of a transposed B at a time, so that their chains overlap. */
static void
dots (const float *a,
      gint64       a_step,
      const float *b,
      gint64       k,
      gint64       n,
      double      *sum,
      gboolean     exact)
{
  gint64 i, j;

  if (!exact)
    {
      lpt_fused_dots (a, a_step, b, k, n, sum);
      return;
    }
  for (j = 0; j < n; j++)
    sum[j] = 0;
  for (i = 0; i < k; i++)
    for (j = 0; j < n; j++)
      sum[j] += (double) a[i * a_step] * b[j * k + i];
}

static void
run_row (void    *data,
         size_t   task,
         unsigned thread)
{
  const MatMul *p = data;
  const float *a = p->a + (gint64) task * p->a_row;
  float *y = p->y + (gint64) task * p->n;
  double *sum = p->rows + thread * p->n;
  gint64 i, j;

  for (j = 0; j < p->n; j++)
    sum[j] = 0;
  if (p->b_transposed)
    for (j = 0; j < p->n; j += 4)
      dots (a, p->a_step, p->b + j * p->k, p->k, MIN (4, p->n - j), sum + j, p->exact);
  else
    for (i = 0; i < p->k; i++)
      {
        const float x = a[i * p->a_step];
        const float *b = p->b + i * p->n;

        if (!p->exact)
          lpt_fused_row (sum, 1, b, 1, p->n, x);
        else
          for (j = 0; j < p->n; j++)
            sum[j] += (double) x * b[j];
      }
  for (j = 0; j < p->n; j++)
    y[j] = (float) sum[j] + (p->bias != NULL ? p->bias[j] : 0);
}

/* Modulo 2^64; the type of the result keeps its bits of that. */
static void
run_whole_row (void    *data,
               size_t   task,
               unsigned thread)
{
  const MatMul *p = data;
  const gint64 *a = p->ia + (gint64) task * p->a_row;
  gint64 *y = p->iy + (gint64) task * p->n;
  gint64 i, j;

  for (j = 0; j < p->n; j++)
    y[j] = 0;
  for (i = 0; i < p->k; i++)
    for (j = 0; j < p->n; j++)
      y[j] = (gint64) ((guint64) y[j] + (guint64) a[i * p->a_step] *
                                          (guint64) p->ib[p->b_transposed ? j * p->k + i : i * p->n + j]);
}

/* Where operands and the result begin. */
typedef struct
{
  const float  *a, *b;
  const gint64 *ia, *ib;
} Base;

static gboolean
take_operands (LptCall  *call,
               gboolean  whole,
               MatMul   *p,
               Base     *base,
               GError  **error)
{
  if (whole)
    {
      base->ia = lpt_call_whole (call, 0, error);
      base->ib = base->ia != NULL ? lpt_call_whole (call, 1, error) : NULL;
      p->iy = base->ib != NULL ? lpt_call_out_i64 (call, 0, error) : NULL;
      return p->iy != NULL;
    }
  base->a = lpt_call_f32 (call, 0, error);
  base->b = base->a != NULL ? lpt_call_f32 (call, 1, error) : NULL;
  p->y = base->b != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (p->y != NULL)
    p->rows = lpt_call_scratch (call, (gsize) p->n * lpt_pool_n_threads (call->pool), sizeof (double), error);

  return p->rows != NULL;
}

/* @shapes: batch axes of both operands and of the result */
static void
run_batches (LptCall        *call,
             MatMul         *p,
             const Base     *base,
             const LptShape *shapes[3])
{
  const gboolean whole = p->iy != NULL;
  gint64 strides[2][LPT_MAX_RANK], index[LPT_MAX_RANK] = { 0 };

  lpt_broadcast_strides (shapes[0], shapes[2], strides[0]);
  lpt_broadcast_strides (shapes[1], shapes[2], strides[1]);
  do
    {
      gint64 at = 0, bt = 0;

      for (gint i = 0; i < shapes[2]->rank; i++)
        {
          at += index[i] * strides[0][i];
          bt += index[i] * strides[1][i];
        }
      if (whole)
        {
          p->ia = base->ia + at * p->m * p->k;
          p->ib = base->ib + bt * p->k * p->n;
        }
      else
        {
          p->a = base->a + at * p->m * p->k;
          p->b = base->b + bt * p->k * p->n;
        }
      lpt_parallel_for (call->pool, (gsize) p->m, whole ? run_whole_row : run_row, p);
      p->y = whole ? NULL : p->y + p->m * p->n;
      p->iy = whole ? p->iy + p->m * p->n : NULL;
    }
  while (lpt_index_next (shapes[2]->rank, shapes[2]->dims, index));
}

gboolean
lpt_run_matmul (LptCall *call,
                GError **error)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (call->node, LptMatMulAttrs);
  gboolean ta = attrs->transpose_a, tb = attrs->transpose_b;
  LptShape a = call->in[0].shape, b = call->in[1].shape, batch, batch_a, batch_b;
  const gboolean whole = lpt_call_wraps (call) && !lpt_call_has (call, 2);
  gint64 *first;
  Base base = { NULL };
  MatMul p = { 0 };

  if (!lpt_call_refuse_zero (call, error))
    return FALSE;
  lpt_shape_to_matrix (&a, &ta, FALSE);
  lpt_shape_to_matrix (&b, &tb, TRUE);

  p.m = a.dims[a.rank - (ta ? 1 : 2)];
  p.k = a.dims[a.rank - (ta ? 2 : 1)];
  p.n = b.dims[b.rank - (tb ? 2 : 1)];
  p.a_row = ta ? 1 : p.k;
  p.a_step = ta ? p.m : 1;
  p.b_transposed = tb;
  batch_a = lpt_shape_make (a.rank - 2, a.dims);
  batch_b = lpt_shape_make (b.rank - 2, b.dims);
  if (p.k != b.dims[b.rank - (tb ? 1 : 2)] || !lpt_shape_broadcast (&batch_a, &batch_b, &batch))
    {
      g_autofree char *sa = lpt_shape_to_string (&call->in[0].shape), *sb = lpt_shape_to_string (&call->in[1].shape);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "[%s] and [%s] cannot be multiplied", sa, sb);
      return FALSE;
    }

  p.exact = lpt_dtype_is_integer (call->in[0].declared);
  if (!take_operands (call, whole, &p, &base, error))
    return FALSE;
  first = p.iy;
  if (lpt_call_has (call, 2))
    {
      p.bias = lpt_call_bias (call, 2, error);
      if (p.bias == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[2]) != p.n)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the bias does not have %" G_GINT64_FORMAT " elements", p.n);
          return FALSE;
        }
    }
  if (lpt_dims_product (&batch, 0, batch.rank) == 0)
    return TRUE;

  run_batches (call, &p, &base, (const LptShape *[]) { &batch_a, &batch_b, &batch });
  if (whole)
    lpt_call_wrap (call, first, lpt_array_count (&call->out[0]));

  return TRUE;
}
