/* attention.c - ScaledDotProductAttention
 *
 * softmax (Q K^T scale + mask) V, scale 1 / sqrt (E) unless given; sums in f64. A boolean mask keeps what is true. The
 * causal mask keeps key j for query i where j <= i and takes the place of the mask that is given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  gint64        queries, keys, width, values;
  gboolean      causal, keeps;        /* the mask is boolean */
  double        scale;
  gconstpointer mask;
  gint64        mask_row, mask_column;      /* strides */
  double       *scores;
} Attention;

static double
masked (const Attention *a,
        gint64           at,
        double           score)
{
  if (a->mask == NULL)
    return score;
  if (a->keeps)
    return ((const gint64 *) a->mask)[at] != 0 ? score : -INFINITY;

  return score + (double) ((const float *) a->mask)[at];
}

/* One head; @mask is where its mask begins. */
static void
attend (const Attention *a,
        const float     *q,
        const float     *k,
        const float     *v,
        gint64           mask,
        float           *y)
{
  for (gint64 i = 0; i < a->queries; i++)
    {
      gint64 n = a->causal ? MIN (i + 1, a->keys) : a->keys;
      double most = -INFINITY, sum = 0;

      for (gint64 j = 0; j < n; j++)
        {
          double dot = 0;

          for (gint64 e = 0; e < a->width; e++)
            dot += (double) q[i * a->width + e] * (double) k[j * a->width + e];
          a->scores[j] = masked (a, mask + i * a->mask_row + j * a->mask_column, dot * a->scale);
          most = MAX (most, a->scores[j]);
        }
      for (gint64 j = 0; j < n; j++)
        {
          a->scores[j] = exp (a->scores[j] - most);
          sum += a->scores[j];
        }
      for (gint64 e = 0; e < a->values; e++)
        {
          double total = 0;

          for (gint64 j = 0; j < n; j++)
            total += a->scores[j] * (double) v[j * a->values + e];
          y[i * a->values + e] = (float) (total / sum);
        }
    }
}

gboolean
lpt_run_scaled_dot_product_attention (LptCall *call,
                                      GError **error)
{
  const float *in[3];
  const LptShape *shapes[3];
  LptShape out = call->out[0].shape, batch = out, scores = out;
  gint64 strides[4][LPT_MAX_RANK] = { { 0 } }, index[LPT_MAX_RANK] = { 0 }, sizes[3], head = 0;
  Attention a = { .causal = LPT_ATTRS (call->node, LptAttentionAttrs)->causal };
  float *y;

  for (guint i = 0; i < 3; i++)
    {
      LptShape outer;

      in[i] = lpt_call_f32 (call, i, error);
      if (in[i] == NULL)
        return FALSE;
      shapes[i] = &call->in[i].shape;
      sizes[i] = lpt_dims_product (shapes[i], shapes[i]->rank - 2, shapes[i]->rank);
      outer = *shapes[i];
      outer.rank -= 2;
      batch.rank = out.rank - 2;
      if (!lpt_broadcast_check (&outer, &batch, strides[i], error))
        return FALSE;
    }
  a.queries = shapes[0]->dims[shapes[0]->rank - 2];
  a.width = shapes[0]->dims[shapes[0]->rank - 1];
  a.keys = shapes[1]->dims[shapes[1]->rank - 2];
  a.values = shapes[2]->dims[shapes[2]->rank - 1];
  a.scale = a.width > 0 ? 1 / sqrt ((double) a.width) : 1;
  if (shapes[1]->dims[shapes[1]->rank - 1] != a.width || shapes[2]->dims[shapes[2]->rank - 2] != a.keys)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "query, key and value do not fit");
      return FALSE;
    }
  if (lpt_call_has (call, 4))
    {
      const float *scale = lpt_call_f32 (call, 4, error);

      if (scale == NULL)
        return FALSE;
      if (lpt_array_count (&call->in[4]) != 1)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the scale is not one number");
          return FALSE;
        }
      a.scale = (double) scale[0];
    }
  if (lpt_call_has (call, 3) && !a.causal)
    {
      scores.dims[out.rank - 2] = a.queries;
      scores.dims[out.rank - 1] = a.keys;
      a.keeps = call->in[3].declared == LPT_DTYPE_BOOL;
      a.mask = a.keeps ? (gconstpointer) lpt_call_i64 (call, 3, error) : lpt_call_f32 (call, 3, error);
      if (a.mask == NULL || !lpt_broadcast_check (&call->in[3].shape, &scores, strides[3], error))
        return FALSE;
      a.mask_row = strides[3][out.rank - 2];
      a.mask_column = strides[3][out.rank - 1];
    }
  a.scores = lpt_call_scratch (call, (gsize) a.keys, sizeof (double), error);
  y = a.scores != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  if (y == NULL)
    return FALSE;

  if (lpt_dims_product (&batch, 0, batch.rank) == 0)
    return TRUE;
  do
    {
      gint64 at[4] = { 0 };

      for (gint d = 0; d < batch.rank; d++)
        for (guint i = 0; i < 4; i++)
          at[i] += index[d] * strides[i][d];
      attend (&a, in[0] + at[0] * sizes[0], in[1] + at[1] * sizes[1], in[2] + at[2] * sizes[2], at[3],
              y + head * a.queries * a.values);
      head++;
    }
  while (lpt_index_next (batch.rank, batch.dims, index));

  return TRUE;
}
