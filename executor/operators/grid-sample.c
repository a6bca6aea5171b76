/* grid-sample.c - GridSample of real images, nearest and bilinear
 *
 * Where a place reads, and with which weights, is the same for all channels: it is computed once for a block of places.
 * Formula and order are those of eval/real/grid-sample.c, in double and rounded once. Bits are those of the op.
 *
 * Not: cubic; padding by reflection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-grid.h"
#include "executor/operators/lpt-operators.h"

/* Places of a task. */
#define PLACES 256

typedef struct
{
  gint64   h, w;
  gsize    channels, places, blocks;   /* of an image */
  gboolean nearest, corners, zeros;
} Sample;

/* Taps of a block: from where, -1 for a zero beside the image; four or one for each place. */
typedef struct
{
  gint64 from[4][PLACES];
  double dy[PLACES], dx[PLACES];
} Taps;

static gint64
tap (const Sample *p,
     gint64        y,
     gint64        x)
{
  if (p->zeros && (y < 0 || y >= p->h || x < 0 || x >= p->w))
    return -1;

  return CLAMP (y, 0, p->h - 1) * p->w + CLAMP (x, 0, p->w - 1);
}

static void
find_taps (const Sample *p,
           const float  *grid,
           gsize         n,
           Taps         *taps)
{
  gsize i;

  for (i = 0; i < n; i++, grid += 2)
    {
      double y = lpt_grid_place (grid[1], p->h, p->corners), x = lpt_grid_place (grid[0], p->w, p->corners);
      gint64 y0 = (gint64) floor (y), x0 = (gint64) floor (x);

      if (p->nearest)
        {
          taps->from[0][i] = tap (p, (gint64) nearbyint (y), (gint64) nearbyint (x));
          continue;
        }
      taps->dy[i] = y - (double) y0;
      taps->dx[i] = x - (double) x0;
      taps->from[0][i] = tap (p, y0, x0);
      taps->from[1][i] = tap (p, y0, x0 + 1);
      taps->from[2][i] = tap (p, y0 + 1, x0);
      taps->from[3][i] = tap (p, y0 + 1, x0 + 1);
    }
}

static inline double
get (const float *plane,
     gint64       from)
{
  return from < 0 ? 0 : plane[from];
}

static void
read_plane (const Sample *p,
            const Taps   *t,
            gsize         n,
            const float  *plane,
            float        *out)
{
  gsize i;

  for (i = 0; i < n && p->nearest; i++)
    out[i] = (float) get (plane, t->from[0][i]);
  for (i = 0; i < n && !p->nearest; i++)
    {
      const double dy = t->dy[i], dx = t->dx[i];

      out[i] = (float) ((1 - dy) * ((1 - dx) * get (plane, t->from[0][i]) + dx * get (plane, t->from[1][i])) +
                        dy * ((1 - dx) * get (plane, t->from[2][i]) + dx * get (plane, t->from[3][i])));
    }
}

static void
sample_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Sample *p = op->form.params;
  const float *x = (const float *) (gconstpointer) data->in[0], *grid = (const float *) (gconstpointer) data->in[1];
  const gsize plane = (gsize) (p->h * p->w);
  Taps taps;

  for (; task < end; task++)
    {
      const gsize image = task / p->blocks, first = task % p->blocks * PLACES, n = MIN (PLACES, p->places - first);
      gsize c;

      find_taps (p, grid + (image * p->places + first) * 2, n, &taps);
      for (c = image * p->channels; c < (image + 1) * p->channels; c++)
        read_plane (p, &taps, n, x + c * plane, (float *) (gpointer) data->out + c * p->places + first);
    }
}

gboolean
lpt_prepare_grid_sample (LptProgram   *program,
                         LptProgramOp *op)
{
  const LptGridSampleAttrs *attrs = LPT_ATTRS (op->node, LptGridSampleAttrs);
  const LptShape *x = &op->in[0]->array.shape, *grid = &op->in[1]->array.shape;
  Sample *p;

  if (!lpt_program_is_real (op->in[1]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST && op->in[1]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (attrs->mode == LPT_GRID_BICUBIC || attrs->padding_mode == LPT_GRID_REFLECTION)
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  if (x->rank != 4 || grid->rank != 4 || grid->dims[0] != x->dims[0] || grid->dims[3] != 2)
    return lpt_refuse (op, LPT_REMARK_SHAPES);

  p = g_new (Sample, 1);
  *p = (Sample) { .h = x->dims[2], .w = x->dims[3], .channels = (gsize) x->dims[1],
                  .places = (gsize) (grid->dims[1] * grid->dims[2]), .nearest = attrs->mode == LPT_GRID_NEAREST,
                  .corners = attrs->align_corners, .zeros = attrs->padding_mode == LPT_GRID_ZEROS };
  p->blocks = (p->places + PLACES - 1) / PLACES;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = sample_run, .params = p, .kernel = "grid_sample", .tasks = (gsize) x->dims[0] * p->blocks, .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }, { op->in[1], LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
