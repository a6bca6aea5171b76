/* inverse.c - Inverse: of square matrices
 *
 * [A | I] becomes [I | A^-1], column after column, with the row as pivot whose element has the largest magnitude, in
 * double. adjoint: that of A's transpose. A matrix that has none gives infinities and what is not a number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-exec-ops.h"

/* @rows: n of 2 n numbers; their order is that of @at. */
static void
eliminate (gint64   n,
           double  *rows,
           double **at)
{
  for (gint64 i = 0; i < n; i++)
    at[i] = rows + i * 2 * n;
  for (gint64 k = 0; k < n; k++)
    {
      gint64 pivot = k;
      double *row;

      for (gint64 i = k + 1; i < n; i++)
        if (fabs (at[i][k]) > fabs (at[pivot][k]))
          pivot = i;
      row = at[pivot];
      at[pivot] = at[k];
      at[k] = row;
      for (gint64 j = 2 * n; j-- > k;)
        row[j] /= row[k];
      for (gint64 i = 0; i < n; i++)
        {
          const double times = at[i][k];

          for (gint64 j = k; j < 2 * n && at[i] != row; j++)
            at[i][j] -= times * row[j];
        }
    }
}

gboolean
lpt_run_inverse (LptCall *call,
                 GError **error)
{
  const LptShape *shape = &call->in[0].shape;
  const gboolean turned = LPT_ATTRS (call->node, LptInverseAttrs)->adjoint;
  const gint64 n = shape->rank < 2 ? 0 : shape->dims[shape->rank - 1];
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  double *rows, **at;

  if (y == NULL)
    return FALSE;
  if (shape->rank < 2 || shape->dims[shape->rank - 2] != n || !lpt_shape_equal (shape, &call->out[0].shape))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the matrices are not square");
      return FALSE;
    }
  if (lpt_array_count (&call->in[0]) == 0)
    return TRUE;
  rows = lpt_call_scratch (call, (gsize) n * 2, (gsize) n * sizeof *rows, error);
  at = rows != NULL ? lpt_call_scratch (call, (gsize) n, sizeof *at, error) : NULL;
  if (at == NULL)
    return FALSE;

  for (gint64 m = lpt_array_count (&call->in[0]) / (n * n); m > 0; m--, x += n * n, y += n * n)
    {
      for (gint64 i = 0; i < n; i++)
        for (gint64 j = 0; j < n; j++)
          {
            rows[i * 2 * n + j] = turned ? x[j * n + i] : x[i * n + j];
            rows[i * 2 * n + n + j] = i == j;
          }
      eliminate (n, rows, at);
      for (gint64 i = 0; i < n; i++)
        for (gint64 j = 0; j < n; j++)
          y[i * n + j] = (float) at[i][n + j];
    }

  return TRUE;
}
