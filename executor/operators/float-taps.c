/* float-taps.c - weights of real convolutions that somebody computes: packed by the tasks that need them
 *
 * The same panels as those of constants, so sums have the same terms in the same order. Weights that are not finite are
 * met while packing: rows with taps outside of the image, where the kernels multiply by zeros, are then made again from
 * the taps inside, since the op leaves the others out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float-taps.h"

#define PANEL LPT_FGEMM_PANEL

LptFloatTaps *
lpt_float_taps_new (const LptWeightedView *view,
                    const LptShape        *w,
                    const gint64          *kernel,
                    const LptPhase *const *of)
{
  gint64 first[3] = { 0, 0, 0 }, every[3] = { 1, 1, 1 }, n[3], z, y, x;
  const gsize size = (gsize) lpt_window_size (kernel);
  const gsize out = (gsize) w->dims[view->out], in = (gsize) w->dims[view->in];
  LptFloatTaps *taps;
  gssize *at;
  guint k;

  for (k = 0; k < 3; k++)
    {
      n[k] = of != NULL ? MAX (of[k]->n_taps, 1) : kernel[k];
      first[k] = of != NULL ? of[k]->tap : 0;
      every[k] = of != NULL ? of[k]->every : 1;
    }
  taps = g_malloc0 (sizeof *taps + (gsize) lpt_window_size (n) * sizeof *taps->at);
  taps->channels = in;
  taps->taps = (gsize) lpt_window_size (n);
  taps->n_stride = view->transposed ? size : in * size;
  taps->c_stride = view->transposed ? out * size : size;
  taps->group_stride = in * out * size;
  at = taps->at;
  for (z = 0; z < n[0]; z++)
    for (y = 0; y < n[1]; y++)
      for (x = 0; x < n[2]; x++)
        {
          const gint64 kz = first[0] + z * every[0], ky = first[1] + y * every[1], kx = first[2] + x * every[2];

          *at++ = kz < kernel[0] && ky < kernel[1] && kx < kernel[2]
                      ? (gssize) ((kz * kernel[1] + ky) * kernel[2] + kx)
                      : -1;
        }

  return taps;
}

/* One element of each column of a panel. */
static guint32
pack_row (const float *from,
          gsize        stride,
          gsize        columns,
          float       *to)
{
  guint32 bits[PANEL], any = 0;
  gsize j;

  for (j = 0; j < PANEL; j++)
    to[j] = j < columns ? from[j * stride] : 0;
  memcpy (bits, to, sizeof bits);
  for (j = 0; j < PANEL; j++)
    any |= (bits[j] & 0x7f800000) == 0x7f800000;

  return any;
}

/* The taps of @n_which, in panels of columns; not 0: one is not finite. */
static guint32
pack (const LptFloatTaps *taps,
      const float        *w,
      gsize               column,
      gsize               n,
      const gsize        *which,
      gsize               n_which,
      float              *to)
{
  guint32 any = 0;
  gsize p, c, i;

  for (p = 0; p < n; p += PANEL)
    for (c = 0; c < taps->channels; c++)
      for (i = 0; i < n_which; i++, to += PANEL)
        {
          const gssize at = taps->at[which != NULL ? which[i] : i];
          const float *from = w + (column + p) * taps->n_stride + c * taps->c_stride;

          if (at < 0)
            memset (to, 0, PANEL * sizeof *to);
          else
            any |= pack_row (from + at, taps->n_stride, MIN (n - p, PANEL), to);
        }

  return any;
}

gboolean
lpt_float_taps_pack (const LptFloatTaps *taps,
                     const float        *w,
                     gsize               column,
                     gsize               n,
                     float              *panels)
{
  return pack (taps, w, column, n, NULL, taps->taps, panels) == 0;
}

gsize
lpt_float_taps_panels (const LptFloatTaps *taps,
                       gsize               n)
{
  return (n + PANEL - 1) / PANEL * PANEL * taps->channels * taps->taps * sizeof (float);
}

gsize
lpt_float_taps_room (const LptFloatTaps *taps,
                     gsize               n)
{
  return 2 * lpt_float_taps_panels (taps, n) + taps->taps * (sizeof (float *) + sizeof (gsize));
}

void
lpt_float_taps_redo (const LptFloatTaps   *taps,
                     const LptFgemmKernel *kernel,
                     const LptFgemmTile   *tile,
                     const float          *zeros,
                     const float          *w,
                     gsize                 column,
                     float                *room)
{
  const float **a = (const float **) (gpointer) ((guint8 *) room + lpt_float_taps_panels (taps, tile->n));
  gsize *which = (gsize *) (gpointer) (a + taps->taps);
  gsize r, t, n;

  for (r = 0; r < tile->m; r++)
    {
      LptFgemmTile row = *tile;

      for (t = 0, n = 0; t < taps->taps; t++)
        if (tile->a[t * tile->a_rows + r] != zeros)
          {
            a[n] = tile->a[t * tile->a_rows + r];
            which[n++] = t;
          }
      if (n == taps->taps)
        continue;
      if (n > 0)
        pack (taps, w, column, tile->n, which, n, room);
      else
        {
          a[0] = zeros;
          memset (room, 0, lpt_float_taps_panels (taps, tile->n) / taps->taps);
        }
      row.m = 1;
      row.a = a;
      row.a_rows = 1;
      row.taps = MAX (n, 1);
      row.b = room;
      row.y += r * tile->ldy;
      if (row.end.residual != NULL)
        row.end.residual += r * tile->end.ldr;
      kernel->run (&row);
    }
}
