/* float-conv.c - convolutions and transposed ones that stay real
 *
 * Channels last: rows of the product are pixels, columns output channels. The inputs of a row are named by a pointer
 * for each tap, those outside of the image by one to zeros. Where neighbouring pixels would share few sets of the cache
 * what a task reads is copied. A transposed convolution is one for each phase of its output (phases.h), whose pixels
 * are made apart and then put where they belong; the taps of a phase stay in their order, so sums do. Depthwise ones
 * are windows (float-window.c), those of 3x3 taps and many channels go through transforms (float-winograd.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>

#include "executor/operators/float.h"
#include "executor/operators/phases.h"
#include "eval/lpt-window.h"

/* Pointers of a task, which share the first cache with what they point to. */
#define MAX_POINTERS 4096

typedef enum { COPY_NONE, COPY_ROWS, COPY_LINES } Copy;

typedef struct
{
  const LptFgemmKernel *kernel;
  const LptFloatEpilogue *end;
  LptWindow window;
  gsize     groups, rows, channels;        /* output and input channels of one group */
  gsize     taps, in_pixels, out_pixels, images;
  gint64   *range;                         /* by kx: output columns from, to, whose input lies inside */
  LptFloatSplit split;
  const float *w;
  gsize     group_size;                    /* packed weights of a group */
  gsize     table;                         /* bytes of the pointers in the workspace */
  Copy      copy;                          /* what is copied behind them */
  gint64    pitch;                         /* from pixel to pixel where the pointers go */
  const float *zeros;
  gboolean  placed;                        /* its pixels are some of the output's: */
  LptConvPlace place;
  gsize     apart;                         /* bytes of a task's pixels, and of their residuals, behind the copies */
  gsize     first;                         /* of its tasks */
  gsize     workspace;
} Conv;

/* One, or one for each phase. */
typedef struct
{
  LptFloatEpilogue end;
  guint     n_parts;
  Conv     *parts;
  float    *zeros;
} ConvForm;

/* Pointers of @n output pixels of one line from column @x on, for one tap; @line: the line of the input, NULL:
 * outside. */
static void
name_line (const Conv   *c,
           const float  *line,
           gint64        kx,
           gint64        x,
           gint64        n,
           const float **to)
{
  const LptWindow *v = &c->window;
  gint64 from = line != NULL ? CLAMP (c->range[2 * kx] - x, 0, n) : n,
         end = line != NULL ? CLAMP (c->range[2 * kx + 1] - x, from, n) : n;
  gint64 first = (x * v->stride[2] + kx * v->dilation[2] - v->pad[2]) * c->pitch, step = v->stride[2] * c->pitch, j = 0;

  for (; j < from; j++)
    to[j] = c->zeros;
  for (; j < end; j++)
    to[j] = line + (first + j * step);
  for (; j < n; j++)
    to[j] = c->zeros;
}

/* The table of @n output pixels from @pixel on; @x: what begins with input line @line. */
static void
name_pixels (const Conv   *c,
             const float  *x,
             gint64        line,
             gsize         pixel,
             gsize         n,
             const float **table)
{
  const LptWindow *v = &c->window;

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

            for (kx = 0; kx < v->kernel[2]; kx++, to += c->split.rows)
              name_line (c, inside ? x + (iz * v->in[1] + iy - line) * v->in[2] * c->pitch : NULL, kx, col, run, to);
          }
      table += run;
      pixel += (gsize) run;
      n -= (gsize) run;
    }
}

/* The input lines from *line on that output lines [@y0, @y1] read, both of one plane; returns how many. */
static gint64
lines_of (const LptWindow *v,
          gint64           y0,
          gint64           y1,
          gint64          *line)
{
  gint64 end = CLAMP (y1 * v->stride[1] - v->pad[1] + (v->kernel[1] - 1) * v->dilation[1] + 1, 0, v->in[1]);

  *line = CLAMP (y0 * v->stride[1] - v->pad[1], 0, end);

  return end - *line;
}

/* At most so many for a task. */
static gint64
max_lines (const LptWindow *v,
           gsize            rows)
{
  gint64 lines = ((gint64) rows + v->out[2] - 2) / v->out[2] + 1;

  return MIN ((lines - 1) * v->stride[1] + (v->kernel[1] - 1) * v->dilation[1] + 1, v->in[1]);
}

/* Copies what @n output pixels from @pixel on read; returns the first line. */
static gint64
copy_lines (const Conv  *c,
            const float *x,
            gsize        pixel,
            gsize        n,
            float       *to)
{
  const LptWindow *v = &c->window;
  gint64 line,
      pixels = lines_of (v, (gint64) pixel / v->out[2], (gint64) (pixel + n - 1) / v->out[2], &line) * v->in[2];
  gsize all = c->groups * c->channels;

  for (x += (gsize) (line * v->in[2]) * all; pixels > 0; pixels--, x += all, to += c->pitch)
    memcpy (to, x, c->channels * sizeof *to);

  return line;
}

/* Where pixel @pixel of an image of @c lies in the output, in pixels. */
static gsize
place_pixel (const Conv *c,
             gsize       image,
             gsize       pixel)
{
  const gint64 *out = c->window.out;
  gint64 x = (gint64) pixel % out[2], y = (gint64) pixel / out[2] % out[1], z = (gint64) pixel / out[2] / out[1];

  return image * c->place.image + c->place.first + (gsize) z * c->place.z + (gsize) y * c->place.y +
         (gsize) x * c->place.x;
}

/* A tile whose rows are not neighbours in the output. */
static void
run_placed (const Conv      *c,
            const LptOpData *data,
            LptFgemmTile    *t,
            gsize            image,
            gsize            row,
            gsize            channel)
{
  const gsize all = c->groups * c->rows, size = t->n * sizeof (float);
  float *own = (float *) (gpointer) (data->workspace + c->workspace - c->apart),
        *residual = own + c->split.rows * c->split.cols;
  float *y = (float *) (gpointer) data->out;
  guint8 *in[] = { NULL, (guint8 *) residual };
  gsize i;

  for (i = 0; i < t->m && c->end->residual != NULL; i++)
    memcpy (residual + i * t->n,
            (const float *) (gconstpointer) data->in[1] + place_pixel (c, image, row + i) * all + channel, size);
  t->end = lpt_float_epilogue_at (c->end, data->in, 0, t->n, channel);
  if (t->end.residual != NULL)
    t->end.residual = residual;
  t->y = own;
  t->ldy = t->n;
  c->kernel->run (t);
  lpt_float_epilogue_finish (c->end, in, &(LptFloatBlock) { 0, 0, t->m, t->n, own, t->n });
  for (i = 0; i < t->m; i++)
    memcpy (y + place_pixel (c, image, row + i) * all + channel, own + i * t->n, size);
}

static void
conv_task (const Conv      *c,
           const LptOpData *data,
           gsize            task)
{
  const LptFloatSplit *s = &c->split;
  const float **table = (const float **) (gpointer) data->workspace;
  gsize column = task / s->row_tasks % s->col_tasks * s->cols, row = task % s->row_tasks * s->rows;
  gsize image_group = task / s->col_tasks / s->row_tasks, image = image_group / c->groups, g = image_group % c->groups;
  gsize all = c->groups * c->rows, first = image * c->out_pixels + row, channel = g * c->rows + column;
  const float *x = (const float *) (gconstpointer) data->in[0] + (image * c->groups * c->in_pixels + g) * c->channels;
  float *copies = (float *) (gpointer) ((guint8 *) table + c->table);
  LptFgemmTile t = { .m = MIN (s->rows, c->out_pixels - row), .n = MIN (s->cols, c->rows - column), .channels = c->channels,
                     .taps = c->taps, .a = table, .a_rows = s->rows, .a_step = 1,
                     .b = c->w + g * c->group_size + column * c->channels * c->taps, .by_rows = s->by_rows };

  if (c->copy == COPY_LINES)
    {
      gint64 line = copy_lines (c, x, row, t.m, copies);

      name_pixels (c, copies, line, row, t.m, table);
    }
  else
    name_pixels (c, x, 0, row, t.m, table);
  if (c->copy == COPY_ROWS)
    lpt_float_copy_rows (table, t.m, c->channels, copies);
  if (c->placed)
    {
      run_placed (c, data, &t, image, row, channel);
      return;
    }
  t.end = lpt_float_epilogue_at (c->end, data->in, first, all, channel);
  t.y = (float *) (gpointer) data->out + first * all + channel;
  t.ldy = all;
  c->kernel->run (&t);
  lpt_float_epilogue_finish (c->end, data->in, &(LptFloatBlock) { first, channel, t.m, t.n, t.y, all });
}

static void
conv_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const ConvForm *v = op->form.params;
  const Conv *part = v->parts, *last = v->parts + v->n_parts - 1;

  for (; task < end; task++)
    {
      while (part < last && task >= part[1].first)
        part++;
      conv_task (part, data, task - part->first);
    }
}

static void
conv_clear (gpointer params)
{
  ConvForm *v = params;
  guint i;

  for (i = 0; i < v->n_parts; i++)
    g_free (v->parts[i].range);
  lpt_float_epilogue_clear (&v->end);
  g_free (v->zeros);
  g_free (v->parts);
}

/* --- what the op has --- */

typedef struct
{
  LptProgram     *program;
  LptProgramOp   *op;
  LptWeightedView view;
  LptWindow       window;
  gsize           images, groups, in, out;    /* channels of a group */
} Shape;

/* Depthwise weights that somebody computes: windows take them, as only taps inside of the image are named. */
static gboolean
has_computed_depthwise (const LptProgramOp    *op,
                        const LptWeightedView *view)
{
  const LptProgramValue *w = op->in[1];

  return view->grouped && !view->transposed && w != NULL && w->kind != LPT_STORAGE_CONST && lpt_program_is_real (w) &&
         lpt_shape_is_static (&w->array.shape) && w->array.shape.rank > 2 && w->array.shape.dims[view->in] == 1 &&
         w->array.shape.dims[view->out] == 1;
}

static gboolean
read_shape (LptProgram   *program,
            LptProgramOp *op,
            Shape        *s)
{
  const LptProgramValue *bias;
  const LptShape *x, *w, *y;

  *s = (Shape) { program, op };
  if (!lpt_weighted_view (op->node, &s->view))
    return FALSE;
  bias = op->n_in > s->view.bias ? op->in[s->view.bias] : NULL;
  if (program->kernels.fgemm->needs == LPT_CPU_SCALAR)
    return lpt_refuse (op, LPT_REMARK_LEVEL);
  if (!lpt_program_is_real (op->in[0]) || !lpt_program_is_real (op->out[0]))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if ((bias != NULL && !lpt_is_real_constant (bias)) || lpt_has_zero (op))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!lpt_is_real_constant (op->in[1]) && !has_computed_depthwise (op, &s->view))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (lpt_is_real_constant (op->in[1]) && !lpt_is_finite (op->in[1]))
    return lpt_refuse (op, LPT_REMARK_VALUES);
  x = &op->in[0]->array.shape;
  w = &op->in[1]->array.shape;
  y = &op->out[0]->array.shape;
  if (x->rank < 3 || x->rank > 5 || w->rank != x->rank + s->view.kernel - 2 || y->rank != x->rank)
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  s->images = (gsize) x->dims[0];
  s->groups = (gsize) lpt_weighted_groups (&s->view, w);
  s->in = (gsize) w->dims[s->view.in];
  s->out = (gsize) w->dims[s->view.out];
  if (s->groups * s->in != (gsize) x->dims[1])
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (bias != NULL && lpt_program_count (bias) != (gsize) y->dims[1])
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if (!lpt_window_init_weighted (&s->window, &s->view, x, w, y, NULL))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  lpt_window_line_up (&s->window);

  return TRUE;
}

/* Part @i, in order, of window @v with @weights as [groups][out][in][kernel]; @place: NULL where it is the whole
 * output. */
static void
add_part (const Shape         *s,
          ConvForm            *form,
          guint                i,
          const LptWindow     *v,
          const LptFloatPacks *weights,
          const LptConvPlace *place)
{
  Conv *c = &form->parts[i], *before = c - 1;
  gsize k;
  gint64 kx;

  c->kernel = s->program->kernels.fgemm;
  c->end = &form->end;
  c->zeros = form->zeros;
  c->window = *v;
  c->images = s->images;
  c->groups = s->groups;
  c->rows = s->out;
  c->channels = s->in;
  c->taps = (gsize) lpt_window_size (v->kernel);
  c->in_pixels = (gsize) lpt_window_size (v->in);
  c->out_pixels = (gsize) lpt_window_size (v->out);
  c->range = g_new (gint64, 2 * v->kernel[2]);
  for (kx = 0; kx < v->kernel[2]; kx++)
    lpt_window_range (v, 2, kx, &c->range[2 * kx], &c->range[2 * kx + 1]);
  k = c->channels * c->taps;
  c->pitch = (gint64) (c->groups * c->channels);
  if (c->taps == 1 && lpt_float_rows_collide ((gsize) (c->pitch * v->stride[2])))
    c->copy = COPY_ROWS;
  else if (c->taps > 1 && place == NULL && v->in[0] == 1 && v->out[0] == 1 &&
           lpt_float_rows_collide (2 * (gsize) (c->pitch * v->stride[2])))
    {
      c->copy = COPY_LINES;
      c->pitch = (gint64) (c->channels + LPT_FLOAT_GAP);
    }
  c->split = lpt_float_split (c->images * c->groups, c->out_pixels, c->rows, k,
                             c->copy == COPY_ROWS ? lpt_float_copied_rows (k) : MAX_POINTERS / c->taps);
  c->w = lpt_float_pack (s->program, s->op, weights);
  c->group_size = (c->rows + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL * LPT_FGEMM_PANEL * k;
  c->first = i > 0 ? before->first + before->images * before->groups * before->split.row_tasks * before->split.col_tasks
                   : 0;
  c->workspace = c->table = (c->taps * c->split.rows * sizeof (float *) + 63) & ~(gsize) 63;
  if (c->copy == COPY_ROWS)
    c->workspace += lpt_float_copied_size (c->split.rows, k);
  else if (c->copy == COPY_LINES)
    c->workspace += lpt_float_copied_size ((gsize) (max_lines (v, c->split.rows) * v->in[2]), c->channels);
  if (place == NULL)
    return;
  c->placed = TRUE;
  c->place = *place;
  c->apart = (2 * c->split.rows * c->split.cols * sizeof (float) + 63) & ~(gsize) 63;
  c->workspace += c->apart;
}

static ConvForm *
form_new (const Shape *s,
          guint        n_parts)
{
  ConvForm *form = g_new0 (ConvForm, 1);

  form->n_parts = n_parts;
  form->parts = g_new0 (Conv, n_parts);
  form->zeros = g_new0 (float, s->in);
  lpt_float_epilogue_init (&form->end, s->op, s->view.bias, 1, s->groups * s->out);

  return form;
}

static void
conv_follow (LptProgram   *program,
             LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((ConvForm *) op->form.params)->end, program, op);
}

static void
set_form (const Shape *s,
          ConvForm    *v)
{
  const Conv *last = &v->parts[v->n_parts - 1];
  LptOpForm form = { .run = conv_run, .follow = conv_follow, .clear = conv_clear, .params = v, .kernel = last->kernel->name,
                     .tasks = last->first + last->images * last->groups * last->split.row_tasks * last->split.col_tasks, .n_in = 1,
                     .in = LPT_OPERANDS ({ s->op->in[0], LPT_LAYOUT_WORDS_LAST }), .out = s->op->out[0],
                     .out_layout = LPT_LAYOUT_WORDS_LAST };
  guint i;

  for (i = 0; i < v->n_parts; i++)
    form.workspace = MAX (form.workspace, v->parts[i].workspace);
  lpt_program_set_form (s->op, &form);
}

/* --- Convolution, GroupConvolution --- */

gboolean
lpt_prepare_float_conv (LptProgram   *program,
                        LptProgramOp *op)
{
  LptFloatPacks weights;
  ConvForm *form;
  Shape s;

  if (!read_shape (program, op, &s))
    return FALSE;
  if (s.view.grouped && s.in == 1 && s.out == 1)
    return lpt_prepare_float_dwconv (program, op, &s.window);
  if ((program->flags & LPT_PLAN_ORDERED) == 0 && lpt_float_winograd_pays (&s.window, s.out, s.in))
    {
      lpt_prepare_float_winograd (program, op, &s.window, s.groups);
      return TRUE;
    }

  form = form_new (&s, 1);
  weights = (LptFloatPacks) { op->in[1]->array.data, NULL, 0, s.groups,
                              s.in * (gsize) lpt_window_size (s.window.kernel), s.out, 1, 0 };
  weights.n_stride = (ptrdiff_t) weights.k;
  add_part (&s, form, 0, &s.window, &weights, NULL);
  set_form (&s, form);

  return TRUE;
}

/* --- ConvolutionBackpropData, GroupConvolutionBackpropData --- */

/* The weights [groups][in][out][kernel] of one phase as [groups][out][in][its taps]. */
static void
gather_weights (const Shape           *s,
                const LptPhase *const  of[3],
                const LptWindow       *phase,
                float                 *to)
{
  const float *from = s->op->in[1]->array.data;
  const gint64 *kernel = s->window.kernel, *n = phase->kernel;
  const gsize size = (gsize) lpt_window_size (kernel);
  gsize g, o, i;
  gint64 z, y, x;

  for (g = 0; g < s->groups; g++)
    for (o = 0; o < s->out; o++)
      for (i = 0; i < s->in; i++)
        for (z = 0; z < n[0]; z++)
          for (y = 0; y < n[1]; y++)
            for (x = 0; x < n[2]; x++)
              {
                gint64 kz = of[0]->tap + z * of[0]->every, ky = of[1]->tap + y * of[1]->every,
                       kx = of[2]->tap + x * of[2]->every;

                *to++ = kz < kernel[0] && ky < kernel[1] && kx < kernel[2]
                            ? from[((g * s->in + i) * s->out + o) * size +
                                   (gsize) ((kz * kernel[1] + ky) * kernel[2] + kx)]
                            : 0;
              }
}

static void
add_phase (const Shape     *s,
           ConvForm        *form,
           guint            i,
           const LptPhase  *of[3])
{
  struct { gint64 tap[3], every[3], n[3]; } key;
  LptFloatPacks weights;
  LptConvPlace place = lpt_phase_place (&s->window, of);
  LptWindow phase;
  float *data;
  guint axis;

  lpt_phase_window (&s->window, of, FALSE, &phase);
  for (axis = 0; axis < 3; axis++)
    {
      key.tap[axis] = of[axis]->tap;
      key.every[axis] = of[axis]->every;
      key.n[axis] = of[axis]->n_taps;
    }
  weights = (LptFloatPacks) { NULL,   &key, sizeof key, s->groups, s->in * (gsize) lpt_window_size (phase.kernel),
                              s->out, 1,    0 };
  weights.n_stride = (ptrdiff_t) weights.k;
  weights.data = data = lpt_program_array (weights.groups * weights.k * weights.n, sizeof *data);
  if (data != NULL)
    gather_weights (s, of, &phase, data);
  add_part (s, form, i, &phase, &weights, form->n_parts > 1 ? &place : NULL);
  lpt_aligned_free (data);
}

gboolean
lpt_prepare_float_deconv (LptProgram   *program,
                          LptProgramOp *op)
{
  LptPhases phases;
  ConvForm *form;
  Shape s;
  guint i;

  if (!read_shape (program, op, &s))
    return FALSE;
  if (!lpt_phases_init (&phases, &s.window))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (s.view.grouped && s.in == 1 && s.out == 1)
    lpt_prepare_float_dwdeconv (program, op, &s.window, &phases);
  else
    {
      form = form_new (&s, phases.n);
      for (i = 0; i < phases.n; i++)
        {
          const LptPhase *of[3];

          lpt_phases_at (&phases, i, of);
          add_phase (&s, form, i, of);
        }
      set_form (&s, form);
    }
  lpt_phases_clear (&phases);

  return TRUE;
}
