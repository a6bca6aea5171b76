/* float-names.c - where the inputs of output pixels of a real convolution are: a pointer for each tap and pixel
 *
 * A table is [tap][rows]. Of few channels to make it takes longer than the products, so that small tables are kept by
 * their op: they name the same places in each run, relative to the input, and only move with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/float-conv.h"
#include "eval/lpt-window.h"

void
lpt_float_names_init (LptFloatNames   *names,
                      const LptWindow *v,
                      gint64           pitch,
                      const float     *zeros)
{
  gint64 kx;

  *names = (LptFloatNames) { .window = *v, .range = g_new (gint64, 2 * v->kernel[2]), .pitch = pitch, .zeros = zeros };
  for (kx = 0; kx < v->kernel[2]; kx++)
    lpt_window_range (v, 2, kx, &names->range[2 * kx], &names->range[2 * kx + 1]);
}

void
lpt_float_names_clear (LptFloatNames *names)
{
  g_free (names->range);
}

/* Pointers of @n output pixels of one line from column @x on, for one tap; @line: the line of the input, NULL:
 * outside. */
static void
name_line (const LptFloatNames *names,
           const float         *line,
           gint64               kx,
           gint64               x,
           gint64               n,
           const float        **to)
{
  const LptWindow *v = &names->window;
  gint64 from = line != NULL ? CLAMP (names->range[2 * kx] - x, 0, n) : n,
         end = line != NULL ? CLAMP (names->range[2 * kx + 1] - x, from, n) : n;
  gint64 first = (x * v->stride[2] + kx * v->dilation[2] - v->pad[2]) * names->pitch,
         step = v->stride[2] * names->pitch, j = 0;

  for (; j < from; j++)
    to[j] = names->zeros;
  /* Four at a time: of few channels this takes as long as their products. */
  for (first += j * step; j + 4 <= end; j += 4, first += 4 * step)
    {
      to[j] = line + first;
      to[j + 1] = line + (first + step);
      to[j + 2] = line + (first + 2 * step);
      to[j + 3] = line + (first + 3 * step);
    }
  for (; j < end; j++, first += step)
    to[j] = line + first;
  for (; j < n; j++)
    to[j] = names->zeros;
}

void
lpt_float_names_set (const LptFloatNames *names,
                     const float         *x,
                     gint64               line,
                     gsize                pixel,
                     gsize                n,
                     const float        **table)
{
  const LptWindow *v = &names->window;

  while (n > 0)
    {
      gint64 col = (gint64) pixel % v->out[2], y = (gint64) pixel / v->out[2] % v->out[1],
             z = (gint64) pixel / v->out[2] / v->out[1];
      gint64 run = MIN ((gint64) n, v->out[2] - col), kz, ky, kx;
      const float **to = table;

      for (kz = 0; kz < v->kernel[0]; kz++)
        for (ky = 0; ky < v->kernel[1]; ky++)
          {
            gint64 iz = z * v->stride[0] + kz * v->dilation[0] - v->pad[0],
                   iy = y * v->stride[1] + ky * v->dilation[1] - v->pad[1];
            gboolean inside = iz >= 0 && iz < v->in[0] && iy >= 0 && iy < v->in[1];
            const float *from = inside ? x + (iz * v->in[1] + iy - line) * v->in[2] * names->pitch : NULL;

            for (kx = 0; kx < v->kernel[2]; kx++, to += names->rows)
              name_line (names, from, kx, col, run, to);
          }
      table += run;
      pixel += (gsize) run;
      n -= (gsize) run;
    }
}

/* All pointers of a table but those to zeros move by as much as the input did. */
static void
move (const LptFloatNames *names,
      gsize                distance,
      const float        **table)
{
  const gsize zeros = GPOINTER_TO_SIZE (names->zeros), n = (gsize) lpt_window_size (names->window.kernel) * names->rows;
  gsize *at = (gsize *) (gpointer) table, i;

  for (i = 0; i < n; i++)
    at[i] += at[i] != zeros ? distance : 0;
}

const float **
lpt_float_names_keep (const LptFloatNames *names,
                      guint8              *kept,
                      const float         *x,
                      gsize                pixel,
                      gsize                n)
{
  const float **of = (const float **) (gpointer) kept,
              **table = (const float **) (gpointer) (kept + LPT_FLOAT_NAMES_HEAD);

  if (*of == NULL)
    lpt_float_names_set (names, x, 0, pixel, n, table);
  else if (*of != x)
    move (names, GPOINTER_TO_SIZE (x) - GPOINTER_TO_SIZE (*of), table);
  *of = x;

  return table;
}
