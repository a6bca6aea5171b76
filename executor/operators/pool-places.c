/* pool-places.c - MaxPool whose second output, the places of the maxima, is read
 *
 * Of reals, or of codes that keep their quantization, plane by plane as they lie in memory. A line of results goes
 * along each tap of the window in the order of the op, so that the first of equal elements is the one, and bits are
 * those of the op.
 *
 * Not: another quantization or type of the result, planes of 2^31 elements, shapes that depend on data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>

#include <lpt/lpt-attrs.h>

#include "eval/lpt-window.h"
#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Results of a line that go together; elements that are worth a task. */
#define BLOCK 64
#define TASK 16384

typedef struct
{
  LptWindow v;
  LptDType  dtype;
  gint64    planes, period, per_task;      /* places count from 0 in each period */
} Places;

/* The taps along @axis of the results at @at that hit the data: their numbers are [*from, *to). */
static void
taps_inside (const LptWindow *v,
             guint            axis,
             gint64           at,
             gint64          *from,
             gint64          *to)
{
  const gint64 start = at * v->stride[axis] - v->pad[axis], d = v->dilation[axis];

  *from = start >= 0 ? 0 : (-start + d - 1) / d;
  *to = start >= v->in[axis] ? 0 : MIN (v->kernel[axis], (v->in[axis] - 1 - start) / d + 1);
}

/* The results [*first, *end) of [x, x + n) that have element @offset from their first place inside the line. */
static void
results_inside (const LptWindow *v,
                gint64           offset,
                gint64           x,
                gint64           n,
                gint64          *first,
                gint64          *end)
{
  const gint64 s = v->stride[2], room = v->in[2] - offset;

  *first = MAX (x, offset >= 0 ? 0 : (-offset + s - 1) / s);
  *end = MIN (x + n, room <= 0 ? 0 : (room + s - 1) / s);
}

#define DEFINE_BLOCK(type, wide)                                                                                     \
/* The elements @step apart from place @at on, where they are greater or the first. */                               \
static inline void                                                                                                   \
take_ ## type (const type *plane, gint32 at, gint32 step, gint64 n, wide *most, gint32 *best)                        \
{                                                                                                                    \
  wide x[BLOCK];                                                                                                     \
  gint64 i;                                                                                                          \
                                                                                                                     \
  for (i = 0; i < n; i++)                                                                                            \
    x[i] = plane[at + i * step];                                                                                     \
  for (i = 0; i < n; i++)                                                                                            \
    {                                                                                                                \
      const gboolean more = (best[i] < 0) | (x[i] > most[i]);                                                        \
                                                                                                                     \
      most[i] = more ? x[i] : most[i];                                                                               \
      best[i] = more ? at + (gint32) i * step : best[i];                                                             \
    }                                                                                                                \
}                                                                                                                    \
                                                                                                                     \
static void                                                                                                          \
block_ ## type (const LptWindow *v, const type *plane, gint64 z, gint64 y, gint64 x, gint64 n, wide *most,           \
                gint32 *best)                                                                                        \
{                                                                                                                    \
  gint64 kz, ky, kx, z0, z1, y0, y1, first, end;                                                                     \
                                                                                                                     \
  taps_inside (v, 0, z, &z0, &z1);                                                                                   \
  taps_inside (v, 1, y, &y0, &y1);                                                                                   \
  for (kz = z0; kz < z1; kz++)                                                                                       \
    for (ky = y0; ky < y1; ky++)                                                                                     \
      {                                                                                                              \
        const gint64 line = ((z * v->stride[0] - v->pad[0] + kz * v->dilation[0]) * v->in[1] +                       \
                             y * v->stride[1] - v->pad[1] + ky * v->dilation[1]) * v->in[2];                         \
                                                                                                                     \
        for (kx = 0; kx < v->kernel[2]; kx++)                                                                        \
          {                                                                                                          \
            const gint64 offset = kx * v->dilation[2] - v->pad[2];                                                   \
                                                                                                                     \
            results_inside (v, offset, x, n, &first, &end);                                                          \
            if (first < end)                                                                                         \
              take_ ## type (plane, (gint32) (line + first * v->stride[2] + offset), (gint32) v->stride[2],          \
                             end - first, most + (first - x), best + (first - x));                                   \
          }                                                                                                          \
      }                                                                                                              \
}

DEFINE_BLOCK (float, float)
DEFINE_BLOCK (guint8, gint32)
DEFINE_BLOCK (gint8, gint32)

#define DEFINE_PLANE(type, wide, lowest)                                                                             \
static void                                                                                                          \
plane_ ## type (const Places *p, const type *in, gint64 base, type *out, gint64 *places)                             \
{                                                                                                                    \
  const LptWindow *v = &p->v;                                                                                        \
  gint32 best[BLOCK];                                                                                                \
  wide most[BLOCK];                                                                                                  \
  gint64 line, x, n, i;                                                                                              \
                                                                                                                     \
  for (line = 0; line < v->out[0] * v->out[1]; line++)                                                               \
    for (x = 0; x < v->out[2]; x += n, out += n, places += n)                                                        \
      {                                                                                                              \
        n = MIN (BLOCK, v->out[2] - x);                                                                              \
        for (i = 0; i < n; i++)                                                                                      \
          {                                                                                                          \
            most[i] = lowest;                                                                                        \
            best[i] = -1;                                                                                            \
          }                                                                                                          \
        block_ ## type (v, in, line / v->out[1], line % v->out[1], x, n, most, best);                                \
        for (i = 0; i < n; i++)                                                                                      \
          out[i] = (type) most[i];                                                                                   \
        for (i = 0; i < n; i++)                                                                                      \
          places[i] = base + MAX (best[i], 0);                                                                       \
        for (i = 0; i < n && base + lpt_window_size (v->in) > p->period; i++)                                        \
          places[i] %= p->period;                                                                                    \
      }                                                                                                              \
}

DEFINE_PLANE (float, float, -FLT_MAX)
DEFINE_PLANE (guint8, gint32, 0)
DEFINE_PLANE (gint8, gint32, G_MININT8)

static void
places_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Places *p = op->form.params;
  const gint64 size = lpt_window_size (p->v.in), results = lpt_window_size (p->v.out);
  gint64 c, last = MIN ((gint64) end * p->per_task, p->planes);

  for (c = (gint64) task * p->per_task; c < last; c++)
    {
      const gint64 base = c * size % p->period;
      gint64 *places = (gint64 *) (gpointer) data->more[0] + c * results;
      gconstpointer in = data->in[0] + c * size * (gint64) lpt_storage_size (p->dtype);
      gpointer out = data->out + c * results * (gint64) lpt_storage_size (p->dtype);

      if (p->dtype == LPT_DTYPE_F32)
        plane_float (p, in, base, out, places);
      else if (p->dtype == LPT_DTYPE_U8)
        plane_guint8 (p, in, base, out, places);
      else
        plane_gint8 (p, in, base, out, places);
    }
}

/* Reals, or codes of one quantization. */
static gboolean
has_types (const LptProgramOp *op)
{
  const LptProgramValue *x = op->in[0], *y = op->out[0];

  if (op->out[1]->array.dtype != LPT_DTYPE_I64)
    return FALSE;
  if (lpt_program_is_real (x))
    return lpt_program_is_real (y);

  return lpt_program_is_codes (x) && lpt_program_is_codes (y) && lpt_array_keeps_codes (&y->array, &x->array);
}

gboolean
lpt_prepare_pool_places (LptProgram   *program G_GNUC_UNUSED,
                         LptProgramOp *op)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  Places p = { .dtype = op->in[0]->array.dtype };
  gint axis;

  if (op->n_out != 2 || lpt_program_n_uses (op->out[1]) == 0)
    return FALSE;
  if (!has_types (op))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!lpt_shape_is_static (x) || !lpt_shape_is_static (y) || lpt_program_count (op->out[0]) == 0 ||
      lpt_program_count (op->in[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (!lpt_window_init_pool (&p.v, op->node, x, y, NULL) || lpt_window_is_vast (&p.v) ||
      lpt_window_size (p.v.in) > G_MAXINT32)
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (!lpt_axis_normalize (LPT_ATTRS (op->node, LptMaxPoolAttrs)->axis, x->rank, &axis))
    return lpt_refuse (op, LPT_REMARK_AXES);

  p.planes = x->dims[0] * x->dims[1];
  p.period = MAX (lpt_dims_product (x, axis, x->rank), 1);
  p.per_task = MAX (TASK / lpt_window_size (p.v.in), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = places_run, .params = g_memdup2 (&p, sizeof p), .kernel = "pool_places",
    .tasks = (gsize) ((p.planes + p.per_task - 1) / p.per_task), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED,
    .n_more = 1, .more = { op->out[1] } });

  return TRUE;
}
