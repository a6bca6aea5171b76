/* couple.c - PairCoupling: chances of classes from chances of pairs
 *
 * Row by row, r[i][j] is the chance of class i against j, r[j][i] = 1 - r[i][j]; pairs i < j in their order. The
 * chances p are the least of
 *
 *     sum over i, j != i of (r[j][i] p[i] - r[i][j] p[j])^2,  sum of p = 1
 *
 * (Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling"), found by their
 * second algorithm as LIBSVM and ONNX Runtime have it: from equal chances, in f32, until Q p differs from p Q p by
 * less than 0.005 / C everywhere, or 100 times. So the numbers are those of that stop, up to some 1e-3 beside the
 * least.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"

#define MAX_STEPS 100

/* Q[i][i] = sum of r[j][i]^2, Q[i][j] = -r[j][i] r[i][j] */
static void
fill (gint64       n,
      const float *r,
      float       *q)
{
  for (gint64 i = 0; i < n; i++)
    q[i * n + i] = 0;
  for (gint64 i = 0; i < n; i++)
    for (gint64 j = i + 1; j < n; j++, r++)
      {
        const float won = *r, lost = 1 - won;

        q[i * n + j] = q[j * n + i] = -lost * won;
        q[i * n + i] += lost * lost;
        q[j * n + j] += won * won;
      }
}

/* Q p, and p Q p */
static float
product (gint64       n,
         const float *q,
         const float *p,
         float       *qp)
{
  float sum = 0;

  for (gint64 i = 0; i < n; i++)
    {
      qp[i] = 0;
      for (gint64 j = 0; j < n; j++)
        qp[i] += q[i * n + j] * p[j];
      sum += p[i] * qp[i];
    }

  return sum;
}

static void
couple (gint64       n,
        const float *q,
        float       *p,
        float       *qp)
{
  for (gint64 i = 0; i < n; i++)
    p[i] = 1 / (float) n;
  for (guint step = 0; step < MAX_STEPS; step++)
    {
      float pqp = product (n, q, p, qp), worst = 0;

      for (gint64 i = 0; i < n; i++)
        worst = MAX (worst, fabsf (qp[i] - pqp));
      if (worst < 0.005f / (float) n)
        return;
      for (gint64 i = 0; i < n; i++)
        {
          const float own = q[i * n + i], change = (pqp - qp[i]) / own, all = 1 + change;

          p[i] += change;
          pqp = (pqp + change * (change * own + 2 * qp[i])) / all / all;
          for (gint64 j = 0; j < n; j++)
            {
              qp[j] = (qp[j] + change * q[i * n + j]) / all;
              p[j] /= all;
            }
        }
    }
}

gboolean
lpt_run_pair_coupling (LptCall *call,
                       GError **error)
{
  const LptShape *shape = &call->out[0].shape;
  const gint64 n = shape->dims[1], pairs = n * (n - 1) / 2;
  const float *r = lpt_call_f32 (call, 0, error);
  float *p = r != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  float *work = p != NULL ? lpt_call_scratch (call, (gsize) (n * n + n), sizeof *work, error) : NULL;

  if (work == NULL)
    return FALSE;
  for (gint64 row = 0; row < shape->dims[0]; row++)
    {
      fill (n, r + row * pairs, work);
      couple (n, work, p + row * n, work + n * n);
    }

  return TRUE;
}
