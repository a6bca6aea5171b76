/* float-window.c - depthwise convolutions and transposed ones, pools and spatial means that stay real
 *
 * Channels last. Pools name taps inside of the image; between the borders pixels of a line have the same ones. A
 * depthwise convolution names lines, and its kernel does one of the output with its borders; of few channels neighbours
 * lie in lanes side by side (float-lanes.c). A transposed one is one for each phase of its output (phases.h). Depthwise
 * weights that somebody computes are turned by every task in its workspace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"
#include "executor/operators/rows.h"
#include "eval/lpt-window.h"

#define TASK_WORK (1 << 17)
#define MANY_TASKS 16
#define LARGE_IMAGE (1 << 19)

typedef enum { WINDOW_DWCONV, WINDOW_MAX, WINDOW_MEAN } Form;

typedef struct
{
  const LptFwindowKernel *kernel;
  Form      form;
  LptWindow window;
  gsize     images, channels, taps, lines;   /* lines: of the output, in all */
  gsize     per_task;
  gint64    from, end;                       /* output columns whose taps along the line all lie inside */
  gboolean  exclude_pad;
  float    *w;                               /* [tap][channels] */
  LptFloatLanes lanes;
  const LptFloatEpilogue *fused;
  gboolean  placed;                          /* its pixels are some of the output's: */
  LptConvPlace place;
  gsize     first;                           /* of its tasks */
} Window;

/* One, or one for each phase. */
typedef struct
{
  LptFloatEpilogue fused;
  guint     n_parts;
  Window   *parts;
  gsize     at_weights;                      /* where weights that are computed go in the workspace; 0: they are not */
} WindowForm;

/* Taps along @axis from padded position @start on inside of image and padding. */
static gint64
with_padding (const LptWindow *v,
              guint            axis,
              gint64           start)
{
  gint64 room = v->in[axis] + v->pad_end[axis] - start;

  return room <= 0 ? 0 : MIN (v->kernel[axis], (room - 1) / v->dilation[axis] + 1);
}

/* Where pixel (@z, @y, @x) of an image lies in the output, in pixels. */
static gsize
place_pixel (const Window *p,
             gsize         image,
             gint64        z,
             gint64        y,
             gint64        x)
{
  const gint64 *out = p->window.out;

  if (p->placed)
    return image * p->place.image + p->place.first + (gsize) z * p->place.z + (gsize) y * p->place.y +
           (gsize) x * p->place.x;

  return ((image * (gsize) out[0] + (gsize) z) * (gsize) out[1] + (gsize) y) * (gsize) out[2] + (gsize) x;
}

/* @n pixels of a line from (@z, @y, @x) of the output on, which have the same taps. */
static void
pool_pixels (const Window    *p,
             const LptOpData *data,
             gsize            image,
             gint64           z,
             gint64           y,
             gint64           x,
             gint64           n)
{
  const LptWindow *v = &p->window;
  const float **taps = (const float **) (gpointer) data->workspace, *from;
  gsize count = 0;
  gint64 z0 = z * v->stride[0] - v->pad[0], y0 = y * v->stride[1] - v->pad[1], x0 = x * v->stride[2] - v->pad[2];
  gint64 c = (gint64) p->channels, kz, ky, kx;
  LptFwindowTile t;

  from = (const float *) (gconstpointer) data->in[0] + image * (gsize) lpt_window_size (v->in) * p->channels;
  for (kz = 0; kz < v->kernel[0]; kz++)
    for (ky = 0; ky < v->kernel[1]; ky++)
      {
        gint64 iz = z0 + kz * v->dilation[0], iy = y0 + ky * v->dilation[1];

        if (iz < 0 || iz >= v->in[0] || iy < 0 || iy >= v->in[1])
          continue;
        for (kx = 0; kx < v->kernel[2]; kx++)
          {
            gint64 ix = x0 + kx * v->dilation[2];

            if (ix >= 0 && ix < v->in[2])
              taps[count++] = from + ((iz * v->in[1] + iy) * v->in[2] + ix) * c;
          }
      }
  t = (LptFwindowTile) { (gsize) n, (gsize) (v->stride[2] * c), count, p->channels, taps,
                          (float *) (gpointer) data->out + place_pixel (p, image, z, y, x) * p->channels, p->channels };
  /* Neighbours whose data lies without a gap, too, are one pixel of more channels. */
  if (v->stride[2] == 1)
    {
      t.channels *= t.n;
      t.n = 1;
    }
  if (p->form == WINDOW_MAX)
    p->kernel->max (&t);
  else
    p->kernel->mean (&t, p->exclude_pad ? (double) count
                     : (double) (with_padding (v, 0, z0) * with_padding (v, 1, y0) * with_padding (v, 2, x0)));
}

static void
pool_line (const Window    *p,
           const LptOpData *data,
           gsize            image,
           gint64           z,
           gint64           y)
{
  gint64 x;

  for (x = 0; x < p->from; x++)
    pool_pixels (p, data, image, z, y, x, 1);
  if (p->from < p->end)
    pool_pixels (p, data, image, z, y, p->from, p->end - p->from);
  for (x = p->end; x < p->window.out[2]; x++)
    pool_pixels (p, data, image, z, y, x, 1);
}

/* An image that does not stay in the second cache from one line of the output to the next. */
static gboolean
is_large (const Window *p)
{
  return (gsize) lpt_window_size (p->window.in) * p->channels * sizeof (float) >= LARGE_IMAGE;
}

static void
conv_line (const Window    *p,
           const LptOpData *data,
           gsize            image,
           gint64           z,
           gint64           y)
{
  const LptWindow *v = &p->window;
  const gint64 across = v->kernel[0] * v->kernel[1];
  const float **lines = (const float **) (gpointer) data->workspace, **weights = lines + across,
              *from = (const float *) (gconstpointer) data->in[0] +
                      image * (gsize) lpt_window_size (v->in) * p->channels;
  gsize pixel = place_pixel (p, image, z, y, 0), apart = p->placed ? p->place.x * p->channels : p->channels, rows = 0;
  LptFgemmEnd end = lpt_float_epilogue_at (p->fused, data->in, pixel, p->channels, 0);
  gint64 row;
  LptFwindowLine t;

  for (row = 0; row < across; row++)
    {
      gint64 kz = row / v->kernel[1], ky = row % v->kernel[1];
      gint64 iz = z * v->stride[0] - v->pad[0] + kz * v->dilation[0],
             iy = y * v->stride[1] - v->pad[1] + ky * v->dilation[1];

      if (iz < 0 || iz >= v->in[0] || iy < 0 || iy >= v->in[1])
        continue;
      weights[rows] = p->w + (gsize) (row * v->kernel[2]) * p->channels;
      lines[rows++] = from + (gsize) ((iz * v->in[1] + iy) * v->in[2]) * p->channels;
    }
  t = (LptFwindowLine) { (gsize) v->out[2], p->channels, rows, (gsize) v->kernel[2], lines, (gsize) v->in[2],
                         p->channels, -v->pad[2], (gsize) v->stride[2], v->dilation[2], weights, p->channels,
                         (float *) (gpointer) data->out + pixel * p->channels, apart,
                         is_large (p) ? (gsize) v->stride[1] : 0 };
  end.ldr = apart;
  if (p->lanes.w != NULL)
    lpt_float_lanes_run (&p->lanes, p->kernel, &t, &end, weights + rows);
  else
    p->kernel->dwconv (&t, &end);
  lpt_float_epilogue_finish (p->fused, data->in,
                             &(LptFloatBlock) { 0, pixel * p->channels, t.n, p->channels, t.y, apart });
}

/* Tasks [@task, @end) of a part. */
static void
run_part (const Window    *p,
          const LptOpData *data,
          gsize            task,
          gsize            end)
{
  const LptWindow *v = &p->window;
  gsize line, last = MIN (end * p->per_task, p->lines);

  for (line = task * p->per_task; line < last; line++)
    {
      gint64 y = (gint64) line % v->out[1], z = (gint64) line / v->out[1] % v->out[0];
      gsize image = line / (gsize) v->out[1] / (gsize) v->out[0];

      if (p->form == WINDOW_DWCONV)
        conv_line (p, data, image, z, y);
      else
        pool_line (p, data, image, z, y);
    }
}

static gsize
n_tasks (const Window *p)
{
  return (p->lines + p->per_task - 1) / p->per_task;
}

/* [channels][tap] as [tap][channels]. */
static void
turn_weights (const Window *p,
              const float  *w,
              float        *to)
{
  gsize c, tap;

  for (c = 0; c < p->channels; c++)
    for (tap = 0; tap < p->taps; tap++)
      to[tap * p->channels + c] = w[c * p->taps + tap];
}

static void
window_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const WindowForm *form = op->form.params;
  const Window *p = form->parts, *last = form->parts + form->n_parts - 1;

  if (form->at_weights > 0)
    {
      Window own = *p;

      own.w = (float *) (gpointer) (data->workspace + form->at_weights);
      turn_weights (p, (const float *) (gconstpointer) data->in[1], own.w);
      run_part (&own, data, task, end);
      return;
    }

  while (task < end)
    {
      gsize to;

      while (p < last && task >= p[1].first)
        p++;
      to = MIN (end, p->first + n_tasks (p));
      run_part (p, data, task - p->first, to - p->first);
      task = to;
    }
}

static void
window_clear (gpointer params)
{
  WindowForm *form = params;
  guint i;

  for (i = 0; i < form->n_parts; i++)
    {
      lpt_aligned_free (form->parts[i].w);
      lpt_aligned_free (form->parts[i].lanes.w);
    }
  lpt_float_epilogue_clear (&form->fused);
  g_free (form->parts);
}

static WindowForm *
form_new (guint n_parts)
{
  WindowForm *form = g_new0 (WindowForm, 1);

  form->n_parts = n_parts;
  form->parts = g_new0 (Window, n_parts);

  return form;
}

/* Part @i, in order. */
static Window *
add_window (WindowForm      *form,
            guint            i,
            LptProgram      *program,
            LptProgramOp    *op,
            Form             kind,
            const LptWindow *v)
{
  const LptShape *x = &op->in[0]->array.shape;
  Window *p = &form->parts[i];
  gsize want;
  double work;

  p->kernel = program->kernels.fwindow;
  p->form = kind;
  p->window = *v;
  p->images = (gsize) x->dims[0];
  p->channels = (gsize) x->dims[1];
  p->taps = (gsize) lpt_window_size (v->kernel);
  p->lines = p->images * (gsize) (v->out[0] * v->out[1]);
  p->fused = &form->fused;
  p->first = i > 0 ? p[-1].first + n_tasks (p - 1) : 0;
  lpt_window_inside (v, 2, &p->from, &p->end);
  work = (double) p->lines * (double) v->out[2] * (double) p->channels * (double) p->taps / TASK_WORK;
  want = work < 1 ? 1 : work > MANY_TASKS ? MANY_TASKS : (gsize) work;
  p->per_task = (p->lines + want - 1) / want;

  return p;
}

static void
window_follow (LptProgram   *program,
               LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((WindowForm *) op->form.params)->fused, program, op);
}

/* @weights: that are computed, or NULL. */
static void
set_form (LptProgramOp    *op,
          WindowForm      *v,
          LptProgramValue *weights,
          LptValueLayout   layout)
{
  const Window *last = &v->parts[v->n_parts - 1];
  const gboolean follows = v->parts->form == WINDOW_DWCONV && weights == NULL;
  LptOpForm form = { .run = window_run, .follow = follows ? window_follow : NULL, .clear = window_clear, .params = v,
                     .kernel = last->kernel->name, .tasks = last->first + n_tasks (last), .n_in = weights != NULL ? 2 : 1,
                     .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_WORDS_LAST }, { weights, LPT_LAYOUT_TYPED }),
                     .out = op->out[0], .out_layout = layout };
  guint i;

  for (i = 0; i < v->n_parts; i++)
    {
      const gsize pointers = (v->parts[i].lanes.w != NULL ? 3 : 2) * v->parts[i].taps;

      form.workspace = MAX (form.workspace, (pointers * sizeof (float *) + 63) & ~(gsize) 63);
    }
  if (weights != NULL)
    {
      v->at_weights = form.workspace;
      form.workspace += (last->taps * last->channels * sizeof (float) + 63) & ~(gsize) 63;
    }
  lpt_program_set_form (op, &form);
}

gboolean
lpt_prepare_float_dwconv (LptProgram      *program,
                          LptProgramOp    *op,
                          const LptWindow *v)
{
  const gboolean computed = op->in[1]->kind != LPT_STORAGE_CONST;
  WindowForm *form = form_new (1);
  Window *p = add_window (form, 0, program, op, WINDOW_DWCONV, v);

  if (!computed)
    p->w = lpt_program_array (p->taps * p->channels, sizeof (float));
  if (p->w != NULL)
    turn_weights (p, op->in[1]->array.data, p->w);
  if (v->stride[2] == 1 && p->w != NULL)
    lpt_float_lanes_init (&p->lanes, p->w, p->taps, p->channels, (gsize) p->from, (gsize) p->end);
  lpt_float_epilogue_init (&form->fused, op, 2, 1, p->channels);
  set_form (op, form, computed ? op->in[1] : NULL, LPT_LAYOUT_WORDS_LAST);

  return TRUE;
}

/* The weights of one phase, [channels][kernel], as [its taps][channels]. */
static void
gather_weights (const LptWindow       *window,
                const LptPhase *const  of[3],
                const float           *from,
                Window                *p)
{
  const gint64 *kernel = window->kernel, *n = p->window.kernel;
  const gsize size = (gsize) lpt_window_size (kernel);
  float *to = p->w;
  gint64 z, y, x;
  gsize c;

  for (z = 0; z < n[0]; z++)
    for (y = 0; y < n[1]; y++)
      for (x = 0; x < n[2]; x++)
        {
          gint64 kz = of[0]->tap + z * of[0]->every, ky = of[1]->tap + y * of[1]->every,
                 kx = of[2]->tap + x * of[2]->every;

          for (c = 0; c < p->channels; c++)
            *to++ = kz < kernel[0] && ky < kernel[1] && kx < kernel[2]
                    ? from[c * size + (gsize) ((kz * kernel[1] + ky) * kernel[2] + kx)] : 0;
        }
}

void
lpt_prepare_float_dwdeconv (LptProgram      *program,
                            LptProgramOp    *op,
                            const LptWindow *window,
                            const LptPhases *phases)
{
  WindowForm *form = form_new (phases->n);
  guint i;

  for (i = 0; i < phases->n; i++)
    {
      const LptPhase *of[3];
      LptWindow v;
      Window *p;

      lpt_phases_at (phases, i, of);
      lpt_phase_window (window, of, FALSE, &v);
      p = add_window (form, i, program, op, WINDOW_DWCONV, &v);
      p->placed = phases->n > 1;
      p->place = lpt_phase_place (window, of);
      p->w = lpt_program_array (p->taps * p->channels, sizeof (float));
      if (p->w != NULL)
        gather_weights (window, of, op->in[1]->array.data, p);
    }
  lpt_float_epilogue_init (&form->fused, op, 3, 1, form->parts->channels);
  set_form (op, form, NULL, LPT_LAYOUT_WORDS_LAST);
}

/* From reals that are no constant to reals, or to integers that are held so; else a remark says what is not. */
static gboolean
is_pooled (LptProgramOp *op)
{
  if (op->n_in == 0 || !lpt_program_is_f32 (op->in[0]) || !lpt_program_is_f32 (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);

  return TRUE;
}

static gboolean
pool_window (const LptProgramOp *op,
             LptWindow          *v)
{
  if (!lpt_window_init_pool (v, op->node, &op->in[0]->array.shape, &op->out[0]->array.shape, NULL) ||
      lpt_window_is_vast (v))
    return FALSE;
  lpt_window_line_up (v);

  return TRUE;
}

gboolean
lpt_prepare_float_max_pool (LptProgram   *program,
                            LptProgramOp *op)
{
  WindowForm *form;
  LptWindow v;

  /* The second output is indices. */
  if (!is_pooled (op))
    return FALSE;
  if (op->n_out > 1 && lpt_program_n_uses (op->out[1]) > 0)
    return lpt_refuse (op, LPT_REMARK_OUTPUTS);
  if (!pool_window (op, &v))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);

  form = form_new (1);
  add_window (form, 0, program, op, WINDOW_MAX, &v);
  set_form (op, form, NULL, LPT_LAYOUT_WORDS_LAST);

  return TRUE;
}

gboolean
lpt_prepare_float_avg_pool (LptProgram   *program,
                            LptProgramOp *op)
{
  WindowForm *form;
  LptWindow v;

  if (!is_pooled (op))
    return FALSE;
  if (!pool_window (op, &v))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  form = form_new (1);
  add_window (form, 0, program, op, WINDOW_MEAN, &v)->exclude_pad = LPT_ATTRS (op->node, LptAvgPoolAttrs)->exclude_pad;
  set_form (op, form, NULL, LPT_LAYOUT_WORDS_LAST);

  return TRUE;
}

/* The axes are all spatial ones. */
static gboolean
is_spatial (const LptProgramValue *value,
            gint                   rank)
{
  gboolean set[LPT_MAX_RANK];
  gint axis;

  if (!lpt_program_axis_set (value, rank, set))
    return FALSE;
  for (axis = 0; axis < rank; axis++)
    if (set[axis] != (axis >= 2))
      return FALSE;

  return TRUE;
}

/* ReduceMean over the whole image: a window of its size. Planes are reduced as they lie. */
gboolean
lpt_prepare_float_mean (LptProgram   *program,
                        LptProgramOp *op)
{
  const LptShape *x;
  WindowForm *form;
  LptWindow v;
  guint k;

  if (!is_pooled (op) || op->n_in < 2)
    return FALSE;
  x = &op->in[0]->array.shape;
  if (x->rank < 3 || x->rank > 5 || !is_spatial (op->in[1], x->rank))
    return lpt_refuse (op, LPT_REMARK_AXES);
  if (!lpt_rows_comes_last (op->in[0]) && lpt_prepare_float_reduce (program, op))
    return TRUE;
  for (k = 0; k < 3; k++)
    {
      gint axis = x->rank - 3 + (gint) k;

      v.in[k] = v.kernel[k] = axis >= 2 ? x->dims[axis] : 1;
      v.out[k] = v.stride[k] = v.dilation[k] = 1;
      v.pad[k] = v.pad_end[k] = 0;
    }
  form = form_new (1);
  add_window (form, 0, program, op, WINDOW_MEAN, &v)->exclude_pad = TRUE;
  set_form (op, form, NULL, LPT_LAYOUT_TYPED);      /* one pixel, or without its axes */

  return TRUE;
}
