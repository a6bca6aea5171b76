/* float-placed.c - tiles of a transposed convolution's phase, from and to their places in the output
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float-conv.h"

/* Where pixel @pixel of the image lies in the output, in elements. */
static gsize
place_pixel (const LptFloatPlaced *p,
             gsize                 pixel)
{
  const gint64 *out = p->window->out;
  gint64 x = (gint64) pixel % out[2], y = (gint64) pixel / out[2] % out[1], z = (gint64) pixel / out[2] / out[1];

  return (p->image * p->place->image + p->place->first + (gsize) z * p->place->z + (gsize) y * p->place->y +
          (gsize) x * p->place->x) * p->all;
}

/* Pixels of a line from the @i-th one on. */
static gsize
line_of (const LptFloatPlaced *p,
         gsize                 i)
{
  const gsize length = (gsize) p->window->out[2];

  return MIN (length - (p->pixel + i) % length, p->n - i);
}

/* @n rows of @columns, so far apart. */
static void
copy_rows (gsize        n,
           gsize        columns,
           const float *from,
           gsize        from_step,
           float       *to,
           gsize        to_step)
{
  for (; n > 0; n--, from += from_step, to += to_step)
    if (columns == 1)
      *to = *from;
    else
      memcpy (to, from, columns * sizeof *to);
}

void
lpt_float_placed_gather (const LptFloatPlaced *p,
                         const float          *whole,
                         float                *tile)
{
  gsize i, n;

  for (i = 0; i < p->n; i += n)
    {
      n = line_of (p, i);
      copy_rows (n, p->columns, whole + place_pixel (p, p->pixel + i), p->place->x * p->all, tile + i * p->columns,
                 p->columns);
    }
}

void
lpt_float_placed_scatter (const LptFloatPlaced *p,
                          const float          *tile,
                          float                *whole)
{
  gsize i, n;

  for (i = 0; i < p->n; i += n)
    {
      n = line_of (p, i);
      copy_rows (n, p->columns, tile + i * p->columns, p->columns, whole + place_pixel (p, p->pixel + i),
                 p->place->x * p->all);
    }
}
