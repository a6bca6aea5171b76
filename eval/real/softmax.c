/* softmax.c - Softmax, LogSoftmax
 *
 *   y = e^(x - max) / sum e^(x - max),   ln y = x - max - ln sum e^(x - max)
 *
 * Both are made from the kernel family's scalar row (executor/kernels/float), by columns where the axis is not the last
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/kernels/float/float.h"
#include "eval/lpt-exec-ops.h"
#include "eval/lpt-softmax.h"
#include "ir/scalar/lpt-loop.h"

/* Rows shorter than this are done so many at once: calls of kernels would take longer than what they do. */
#define SHORT_ROW 64
#define ROWS 64

static void
long_row (const LptFloatKernel *floats,
          gsize                 n,
          const float          *x,
          float                *y)
{
  double max = -INFINITY, sum = 0;
  float single;

  floats->reduce_lines (LPT_REDUCE_MAXIMUM, 1, n, x, n, &max);
  single = (float) max;
  floats->binary (LPT_BINARY_SUBTRACT, n, x, 1, &single, 0, y);
  floats->map (LPT_MAP_EXP, n, y, y);
  floats->reduce_lines (LPT_REDUCE_SUM, 1, n, y, n, &sum);
  floats->shift (n, x, max, 1, -log (sum), y);
}

static void
short_rows (const LptFloatKernel *floats,
            gsize                 rows,
            gsize                 n,
            const float          *x,
            float                *y)
{
  double max[ROWS], sum[ROWS];
  gsize r, i;

  floats->reduce_lines (LPT_REDUCE_MAXIMUM, rows, n, x, n, max);
  for (r = 0; r < rows; r++)
    {
      const float most = (float) max[r];

      for (i = 0; i < n; i++)
        y[r * n + i] = x[r * n + i] - most;
    }
  floats->map (LPT_MAP_EXP, rows * n, y, y);
  floats->reduce_lines (LPT_REDUCE_SUM, rows, n, y, n, sum);
  for (r = 0; r < rows; r++)
    {
      const double most = max[r], plus = -log (sum[r]);

      for (i = 0; i < n; i++)
        y[r * n + i] = (float) ((double) x[r * n + i] - most + plus);
    }
}

void
lpt_log_softmax_rows (const LptFloatKernel *floats,
                      gsize                 rows,
                      gsize                 n,
                      const float          *x,
                      float                *y)
{
  gsize row;

  for (row = 0; row < rows && n >= SHORT_ROW; row++)
    long_row (floats, n, x + row * n, y + row * n);
  for (; row < rows; row += ROWS)
    short_rows (floats, MIN (ROWS, rows - row), n, x + row * n, y + row * n);
}

void
lpt_log_softmax_columns (const LptFloatKernel *floats,
                         gsize                 n,
                         gsize                 columns,
                         gsize                 ld,
                         const float          *x,
                         float                *y)
{
  double max[LPT_LOG_SOFTMAX_COLUMNS], sum[LPT_LOG_SOFTMAX_COLUMNS] = { 0 };
  float single[LPT_LOG_SOFTMAX_COLUMNS];
  gsize i, c;

  for (c = 0; c < columns; c++)
    max[c] = -INFINITY;
  floats->reduce_columns (LPT_REDUCE_MAXIMUM, n, columns, x, ld, max);
  for (c = 0; c < columns; c++)
    single[c] = (float) max[c];
  for (i = 0; i < n; i++)
    {
      float *row = y + i * ld;

      floats->binary (LPT_BINARY_SUBTRACT, columns, x + i * ld, 1, single, 1, row);
      floats->map (LPT_MAP_EXP, columns, row, row);
      floats->reduce_columns (LPT_REDUCE_SUM, 1, columns, row, 0, sum);
    }
  for (c = 0; c < columns; c++)
    sum[c] = -log (sum[c]);
  for (i = 0; i < n; i++)
    for (c = 0; c < columns; c++)
      y[i * ld + c] = (float) ((double) x[i * ld + c] - max[c] + sum[c]);
}

gboolean
lpt_run_softmax (LptCall *call,
                 GError **error)
{
  gboolean logarithm = call->node->op == LPT_OP_LOG_SOFTMAX;
  gint64 wish = logarithm ? LPT_ATTRS (call->node, LptLogSoftmaxAttrs)->axis
                          : LPT_ATTRS (call->node, LptSoftMaxAttrs)->axis;
  const LptShape *shape = &call->in[0].shape;
  const float *x = lpt_call_f32 (call, 0, error);
  float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;
  const LptFloatKernel *floats = lpt_float_scalar ();
  gint64 outer, length, inner, o, i;
  gint axis;

  if (y == NULL)
    return FALSE;
  if (shape->rank == 0)
    {
      y[0] = logarithm ? 0 : 1;
      return TRUE;
    }
  if (!lpt_call_axis (call, wish, shape->rank, &axis, error))
    return FALSE;
  outer = lpt_dims_product (shape, 0, axis);
  length = shape->dims[axis];
  inner = lpt_dims_product (shape, axis + 1, shape->rank);
  if (inner == 1 && !logarithm)
    {
      floats->softmax ((gsize) outer, (gsize) length, x, (gsize) length, y, (gsize) length);
      return TRUE;
    }
  for (o = 0; o < outer; o++, x += length * inner, y += length * inner)
    if (!logarithm)
      floats->softmax_columns ((gsize) length, (gsize) inner, x, (gsize) inner, y);
    else if (inner == 1)
      lpt_log_softmax_rows (floats, 1, (gsize) length, x, y);
    else
      for (i = 0; i < inner; i += LPT_LOG_SOFTMAX_COLUMNS)
        lpt_log_softmax_columns (floats, (gsize) length, (gsize) MIN (inner - i, LPT_LOG_SOFTMAX_COLUMNS),
                                 (gsize) inner, x + i, y + i);

  return TRUE;
}
