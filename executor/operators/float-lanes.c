/* float-lanes.c - depthwise convolutions of few channels: neighbours in lanes, as channels of one pixel
 *
 *     y[jG + g][c] = sum over taps t of x[jG + g + t][c] w[t][c]  =  channel (g, c) of pixel j, stride G
 *
 * Kernels hold channels in their lanes: of one channel fifteen of sixteen are idle. Pixels of a line that step by one
 * lie side by side, so do their taps; weights and what is by channel are repeated for each neighbour. The order of the
 * taps stays, and so do the bits. Pixels with taps outside of the image, and a few that are left over, are done as they
 * are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"

/* Channels that leave lanes idle, lanes at most, pixels that kernels take together. */
#define FEW_CHANNELS 4
#define MOST_LANES 32
#define PIXELS 8

/* What neighbours in lanes have each of, @to [neighbours][channels]; NULL where it is NULL. */
static const float *
repeat (const LptFloatLanes *l,
        const float         *from,
        float               *to)
{
  gsize k;

  for (k = 0; k < l->neighbours && from != NULL; k++)
    memcpy (to + k * l->channels, from, l->channels * sizeof *to);

  return from != NULL ? to : NULL;
}

/* Groups as wide as leave few pixels over, eight at a time. */
void
lpt_float_lanes_init (LptFloatLanes *l,
                      const float   *w,
                      gsize          taps,
                      gsize          channels,
                      gsize          from,
                      gsize          end)
{
  const gsize inside = end - from, room = PIXELS * MOST_LANES;
  gsize k;

  if (channels > FEW_CHANNELS || inside * channels < MOST_LANES)
    return;
  l->channels = channels;
  l->from = from;
  l->groups = PIXELS * ((inside * channels + room - 1) / room);
  l->neighbours = inside / l->groups;
  l->own = w;
  l->w = lpt_program_array (taps * l->neighbours * channels, sizeof (float));
  for (k = 0; k < taps && l->w != NULL; k++)
    repeat (l, w + k * channels, l->w + k * l->neighbours * channels);
}

/* @n pixels of a line from @from on, as they are. */
static void
run_pixels (const LptFwindowKernel *kernel,
            const LptFwindowLine   *line,
            const LptFgemmEnd      *end,
            gsize                   from,
            gsize                   n)
{
  LptFwindowLine t = *line;
  LptFgemmEnd e = *end;

  t.n = n;
  t.first += (ptrdiff_t) from;
  t.y += from * t.ldy;
  e.residual = e.residual != NULL ? e.residual + from * e.ldr : NULL;
  kernel->dwconv (&t, &e);
}

void
lpt_float_lanes_run (const LptFloatLanes    *l,
                     const LptFwindowKernel *kernel,
                     const LptFwindowLine   *line,
                     const LptFgemmEnd      *end,
                     const float           **weights)
{
  const gsize lanes = l->neighbours * l->channels, last = l->from + l->groups * l->neighbours;
  float bias[MOST_LANES], factor[MOST_LANES];
  LptFwindowLine t = *line;
  LptFgemmEnd e = *end;
  gsize row;

  run_pixels (kernel, line, end, 0, l->from);
  for (row = 0; row < t.rows; row++)
    weights[row] = l->w + (gsize) (t.w[row] - l->own) * l->neighbours;
  e.bias = repeat (l, e.bias, bias);
  e.factor = repeat (l, e.factor, factor);
  e.residual = e.residual != NULL ? e.residual + l->from * e.ldr : NULL;
  e.ldr = lanes;
  t.n = l->groups;
  t.channels = t.ldw = lanes;
  t.width -= l->neighbours - 1;
  t.first += (ptrdiff_t) l->from;
  t.stride = l->neighbours;
  t.w = weights;
  t.y += l->from * t.ldy;
  t.ldy = lanes;
  kernel->dwconv (&t, &e);
  run_pixels (kernel, line, end, last, line->n - last);
}
