/* float-runs.c - what convolutions of one channel along a line read, copied with its padding
 *
 * Of one channel the taps of a pixel lie one behind the other: one pointer names them all, and they are the channels of
 * a product of one tap. Their order, and so the sums' bits, stay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float-conv.h"

/* Fewer are named as fast as they are copied. */
#define LEAST_TAPS 3

/* Columns [@from, @from + @n) of a line of one channel, zeros outside. */
static void
copy_columns (const LptWindow *v,
              const float     *line,
              gint64           from,
              gint64           n,
              float           *to)
{
  const gint64 left = CLAMP (-from, 0, n), end = CLAMP (v->in[2] - from, left, n);

  memset (to, 0, (gsize) left * sizeof *to);
  if (end > left)
    memcpy (to + left, line + from + left, (gsize) (end - left) * sizeof *to);
  memset (to + end, 0, (gsize) (n - end) * sizeof *to);
}

gboolean
lpt_float_runs_pay (const LptWindow *v)
{
  return v->kernel[0] * v->kernel[1] == 1 && v->kernel[2] >= LEAST_TAPS && v->dilation[2] == 1;
}

void
lpt_float_runs_copy (const LptWindow *v,
                     const float     *x,
                     gsize            pixel,
                     gsize            n,
                     const float    **table,
                     float           *to)
{
  while (n > 0)
    {
      const gint64 col = (gint64) pixel % v->out[2], y = (gint64) pixel / v->out[2] % v->out[1],
                   z = (gint64) pixel / v->out[2] / v->out[1], run = MIN ((gint64) n, v->out[2] - col),
                   iz = z * v->stride[0] - v->pad[0], iy = y * v->stride[1] - v->pad[1],
                   width = (run - 1) * v->stride[2] + v->kernel[2];
      gint64 j;

      if (iz >= 0 && iz < v->in[0] && iy >= 0 && iy < v->in[1])
        copy_columns (v, x + (iz * v->in[1] + iy) * v->in[2], col * v->stride[2] - v->pad[2], width, to);
      else
        memset (to, 0, (gsize) width * sizeof *to);
      for (j = 0; j < run; j++)
        *table++ = to + j * v->stride[2];
      to += width;
      pixel += (gsize) run;
      n -= (gsize) run;
    }
}

gsize
lpt_float_runs_size (const LptWindow *v,
                     gsize            rows)
{
  const gsize lines = rows / (gsize) v->out[2] + 2;

  return ((rows * (gsize) v->stride[2] + lines * (gsize) v->kernel[2]) * sizeof (float) + 63) & ~(gsize) 63;
}
