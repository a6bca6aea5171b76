/* repair-gptq.c - weights rounded one after another, each error pushed into those that are not yet
 *
 * With H = E[x x'] + 0.01 mean (diag H) I (hessian.c), the columns in the order of falling H_kk, and U the upper
 * Cholesky factor of H^-1: for k in turn
 *
 *     q_k = round (w_k)      w_j <- w_j - (w_k - q_k) U_kj / U_kk      for j > k
 *
 * which is what the remaining weights must become for the least e' H e. Inputs that are always 0 are rounded to
 * nearest. Cost: d^3 once per group, d^2 per output channel. Groups with d > 2048 are left to nearest rounding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/hessian.h"

#include <math.h>
#include <stdlib.h>

#define MAX_FACTOR 2048

/* In place: the lower Cholesky factor of a symmetric matrix. */
static gboolean
factor (double *a, gint64 d)
{
  for (gint64 i = 0; i < d; i++)
    for (gint64 j = 0; j <= i; j++)
      {
        double sum = a[i * d + j];
        const double *x = a + i * d, *y = a + j * d;
        for (gint64 k = 0; k < j; k++)
          sum -= x[k] * y[k];
        if (i == j && !(sum > 0.0))
          return FALSE;
        a[i * d + j] = i == j ? sqrt (sum) : sum / a[j * d + j];
      }
  return TRUE;
}

/* The inverse of L L' into @out; @l is lost. */
static void
invert (double *l, double *out, gint64 d)
{
  /* L^-1 by rows, lower. */
  for (gint64 i = 0; i < d; i++)
    {
      double *row = out + i * d;
      for (gint64 j = 0; j < d; j++)
        row[j] = i == j ? 1.0 : 0.0;
      for (gint64 k = 0; k < i; k++)
        {
          double x = l[i * d + k];
          for (gint64 j = 0; x != 0.0 && j <= k; j++)
            row[j] -= x * out[k * d + j];
        }
      for (gint64 j = 0; j <= i; j++)
        row[j] /= l[i * d + i];
    }
  /* (L^-1)' L^-1 into l. */
  for (gint64 i = 0; i < d * d; i++)
    l[i] = 0.0;
  for (gint64 k = 0; k < d; k++)
    for (gint64 i = 0; i <= k; i++)
      {
        double x = out[k * d + i];
        for (gint64 j = 0; x != 0.0 && j <= k; j++)
          l[i * d + j] += x * out[k * d + j];
      }
}

/* The workspace: order as doubles, then U row by row in that order. */
typedef struct { double diagonal; gint64 index; } Column;

static int
compare (const void *a, const void *b)
{
  const Column *x = a, *y = b;
  return x->diagonal != y->diagonal ? (x->diagonal < y->diagonal) - (x->diagonal > y->diagonal)
                                    : (x->index > y->index) - (x->index < y->index);
}

static gboolean
prepare (gint64 d, const double *h, gpointer *workspace)
{
  double mean = 0.0;
  if (d > MAX_FACTOR)
    return FALSE;
  for (gint64 k = 0; k < d; k++)
    mean += h[k * d + k] / (double) d;
  if (!(mean > 0.0))
    return FALSE;
  g_autofree Column *order = g_new (Column, d);
  g_autofree double *a = g_new (double, d * d);
  for (gint64 k = 0; k < d; k++)
    order[k] = (Column) { h[k * d + k], k };
  qsort (order, (size_t) d, sizeof *order, compare);
  double *result = g_new (double, d + d * d), *inverse = result + d;
  for (gint64 i = 0; i < d; i++)
    {
      result[i] = (double) order[i].index;
      for (gint64 j = 0; j < d; j++)
        a[i * d + j] = h[order[i].index * d + order[j].index] + (i == j ? 0.01 * mean : 0.0);
    }
  if (!factor (a, d))
    {
      g_free (result);
      return FALSE;
    }
  invert (a, inverse, d);                         /* a is H^-1 now */
  /* Upper factor of a = U' U: the transposed lower one. */
  if (!factor (a, d))
    {
      g_free (result);
      return FALSE;
    }
  for (gint64 i = 0; i < d; i++)
    for (gint64 j = 0; j < d; j++)
      inverse[i * d + j] = j >= i ? a[j * d + i] : 0.0;
  *workspace = result;
  return TRUE;
}

static void
round_row (gint64 d, const double *h, const double *w, double *codes, double low, double high, gpointer workspace)
{
  const double *order = workspace, *u = order + d;
  g_autofree double *left = g_new (double, d);
  for (gint64 i = 0; i < d; i++)
    left[i] = w[(gint64) order[i]];
  for (gint64 i = 0; i < d; i++)
    {
      double q = CLAMP (rint (left[i]), low, high), e = (left[i] - q) / u[i * d + i];
      codes[(gint64) order[i]] = q;
      for (gint64 j = i + 1; j < d; j++)
        left[j] -= e * u[i * d + j];
    }
}

gboolean
lpt_repair_gptq (LptQuantizer *q, GError **error)
{
  return lpt_quantize_round_rows (q, prepare, round_row, error);
}
