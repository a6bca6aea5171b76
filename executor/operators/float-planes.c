/* float-planes.c - real convolutions of planes to a few channels
 *
 *     y[p][o] = sum over channels i, taps t of x[i][p + t] w[o][i][t]
 *
 * Of results with less channels than a vector has lanes a product of matrices leaves lanes idle; here they hold
 * neighbours of a line (LptFwindowKernel.planes). Each line of the data, in its plane, is a row of the kernel's sums,
 * in the order of the weights. Pixels with taps left or right of the image take their columns from a copy with zeros
 * there; rows above and below are passed over: the chains of multiply-adds are those of a product, and so are the bits.
 *
 * Groups of few channels that no product fills lanes with (float-conv.c) are made one after the other.
 *
 * Of few planes, as first layers have them, results of many channels are made in the same way with channels in lanes
 * (LptFwindowKernel.channels): a product would want the planes side by side, and a pointer for each tap.
 *
 * Not: computed weights, narrow lines; neighbours in lanes with steps along the line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-window.h"
#include "executor/operators/float.h"
#include "executor/operators/indexed.h"

#define TASK_WORK (1 << 17)
#define MANY_TASKS 16
/* Planes whose weights stay in the first caches, and as many where the work on a line of each is more than naming it:
 * with many taps along it, or columns for all registers. Of so many channels of the result a product leaves half of the
 * lanes idle, which turning few planes is worth. Of more channels a product names a tap for each pixel as often as it
 * has vectors of them to multiply: with more taps than that, 5 / 4 of them for each plane as measured, lanes of pixels
 * are up to three times as fast. Columns that fill lanes, and products of a line that are worth its pointers. */
#define MOST_PLANES 128
#define MOST_LONG_PLANES 1024
#define MANY_TAPS 5
#define MANY_COLUMNS 80
#define MOST_OUTS 8
#define FEW_PLANES 8
#define LEAST_COLUMNS 16
#define LEAST_PRODUCTS 96
/* Planes that are read where they lie; channels that lanes are worth, and not more than go through a line together;
 * weights that stay in the first cache. */
#define MOST_READ_PLANES 4
#define LEAST_READ_OUTS 9
#define MOST_READ_WEIGHTS 8192
/* A pixel beside the image costs a vector of them: with fewer columns for each tap lines had better be copied whole,
 * where copies stay in the second cache. */
#define FEW_COLUMNS 64
#define MOST_COPIES (1 << 18)
/* Of groups: columns that are worth naming their lines, and how far taps may reach. */
#define LEAST_COLUMNS_OF_GROUPS 12
#define MOST_REACH 256

typedef struct
{
  const LptFwindowKernel *kernel;
  LptWindow window;
  gsize     groups, planes, outs;            /* planes of a group, channels of the result in all */
  gsize     lines, per_task;                 /* of the output, in all */
  gint64    from, end;                       /* output columns whose taps along the line all lie inside */
  gsize     at_columns, side;                /* of the copies in the workspace; columns of one */
  gboolean  copies;                          /* of all columns */
  gsize     together;                        /* channels of the result that are added up together */
  gboolean  channels;                        /* in lanes: all of them */
  gsize    *at;                              /* [tap along the line]: columns behind the first one's */
  float    *w;                               /* [outs / together][plane][tap][together] */
  LptFloatEpilogue fused;
} Planes;

/* A line of the output. */
typedef struct
{
  const LptOpData *data;
  gsize  pixel, first, rows; /* its first pixel and channel; lines of the input inside of the image */
  const float **x, **w;      /* [row]: column 0, weights */
  gsize *at;                 /* [row]: its first tap */
} Line;

static void
run_pixels (const Planes *p,
            const Line   *line,
            const float **x,
            gint64        first,
            gint64        n)
{
  const gsize pixel = line->pixel + (gsize) first, taps = p->planes * (gsize) lpt_window_size (p->window.kernel);
  gsize o, row;

  if (p->channels)
    {
      const LptFgemmEnd end = lpt_float_epilogue_at (&p->fused, line->data->in, pixel, p->outs, 0);

      for (row = 0; row < line->rows; row++)
        line->w[row] = p->w + line->at[row] * p->together;
      p->kernel->channels (&(LptFwindowChannels) { (gsize) n, p->outs, (gsize) p->window.stride[2], line->rows,
                                                   (gsize) p->window.kernel[2], x, p->at, line->w, p->together,
                                                   (float *) (gpointer) line->data->out + pixel * p->outs, p->outs },
                           &end);
      return;
    }
  for (o = line->first; o < line->first + p->outs / p->groups; o += p->together)
    {
      const LptFgemmEnd end = lpt_float_epilogue_at (&p->fused, line->data->in, pixel, p->outs, o);
      const LptFwindowPlanes t = { (gsize) n, p->together, line->rows, (gsize) p->window.kernel[2], x,
                                   p->at, line->w,
                                   (float *) (gpointer) line->data->out + pixel * p->outs + o, p->outs };

      for (row = 0; row < line->rows; row++)
        line->w[row] = p->w + o * taps + line->at[row] * p->together;
      p->kernel->planes (&t, &end);
    }
}

/* Pixels [@first, @first + @n), with zeros where their columns lie outside. @x: room for a pointer for each row. */
static void
run_side (const Planes *p,
          const Line   *line,
          const float **x,
          gint64        first,
          gint64        n)
{
  const LptWindow *v = &p->window;
  const gint64 column = first * v->stride[2] - v->pad[2],
               wide = (n - 1) * v->stride[2] + 1 + (v->kernel[2] - 1) * v->dilation[2];
  const gint64 from = CLAMP (column, 0, v->in[2]), to = CLAMP (column + wide, from, v->in[2]);
  float *copy = (float *) (gpointer) (line->data->workspace + p->at_columns);
  gint64 k;
  gsize row;

  if (n <= 0)
    return;
  for (row = 0; row < line->rows; row++, copy += wide)
    {
      for (k = 0; k < from - column; k++)
        copy[k] = 0;
      lpt_copy_few ((guint8 *) (copy + k), (const guint8 *) (line->x[row] + from), (gsize) (to - from) * sizeof *copy);
      for (k += to - from; k < wide; k++)
        copy[k] = 0;
      x[row] = copy;
    }
  run_pixels (p, line, x, first, n);
}

/* Of a line the channels of group @group. */
static void
run_group (const Planes    *p,
           const LptOpData *data,
           gint64           number,
           gsize            group)
{
  const LptWindow *v = &p->window;
  const gint64 across = v->kernel[0] * v->kernel[1], rows = (gint64) p->planes * across;
  const gint64 y = number % v->out[1], z = number / v->out[1] % v->out[0], image = number / v->out[1] / v->out[0];
  const float **lines = (const float **) (gpointer) data->workspace, **inside = lines + rows;
  const float *from = (const float *) (gconstpointer) data->in[0] +
                      (image * (gint64) p->groups + (gint64) group) * lpt_window_size (v->in) * (gint64) p->planes;
  Line line = { data, (gsize) (number * v->out[2]), group * (p->outs / p->groups), 0, lines, inside + rows,
                (gsize *) (gpointer) (inside + 2 * rows) };
  gint64 row;

  for (row = 0; row < rows; row++)
    {
      const gint64 kz = row / v->kernel[1] % v->kernel[0], ky = row % v->kernel[1], plane = row / across;
      const gint64 iz = z * v->stride[0] - v->pad[0] + kz * v->dilation[0],
                   iy = y * v->stride[1] - v->pad[1] + ky * v->dilation[1];

      if (iz < 0 || iz >= v->in[0] || iy < 0 || iy >= v->in[1])
        continue;
      line.x[line.rows] = from + ((plane * v->in[0] + iz) * v->in[1] + iy) * v->in[2];
      line.at[line.rows] = (gsize) (row * v->kernel[2]);
      inside[line.rows] = line.x[line.rows] + p->from * v->stride[2] - v->pad[2];
      line.rows++;
    }
  if (!p->copies)
    run_pixels (p, &line, inside, p->from, p->end - p->from);
  run_side (p, &line, inside, 0, p->copies ? v->out[2] : p->from);
  if (!p->copies)
    run_side (p, &line, inside, p->end, v->out[2] - p->end);
}

static void
run_line (const Planes    *p,
          const LptOpData *data,
          gint64           number)
{
  const gsize columns = (gsize) p->window.out[2], pixel = (gsize) number * columns;
  float *y = (float *) (gpointer) data->out + pixel * p->outs;
  gsize group;

  for (group = 0; group < p->groups; group++)
    run_group (p, data, number, group);
  lpt_float_epilogue_finish (&p->fused, data->in, &(LptFloatBlock) { pixel, 0, columns, p->outs, y, p->outs });
}

static void
planes_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Planes *p = op->form.params;
  const gsize last = MIN (end * p->per_task, p->lines);
  gsize line;

  for (line = task * p->per_task; line < last; line++)
    run_line (p, data, (gint64) line);
}

static void
planes_follow (LptProgram   *program,
               LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((Planes *) op->form.params)->fused, program, op);
}

static void
planes_clear (gpointer params)
{
  Planes *p = params;

  lpt_aligned_free (p->w);
  lpt_aligned_free (p->at);
  lpt_float_epilogue_clear (&p->fused);
}

/* The most channels that the kernel takes and that all are made of. */
static gsize
group_of (gsize outs)
{
  gsize group = MIN (outs, LPT_FWINDOW_OUTS);

  while (outs % group != 0)
    group--;

  return group;
}

/* The most planes whose results of @outs channels are worth it. */
static gsize
most_planes (const LptWindow *v,
             gsize            outs)
{
  if (outs <= LPT_FWINDOW_OUTS)
    return v->kernel[2] >= MANY_TAPS || v->out[2] >= MANY_COLUMNS ? MOST_LONG_PLANES : MOST_PLANES;
  if (group_of (outs) <= 2)
    return 0;

  return outs <= MOST_OUTS ? FEW_PLANES : (gsize) lpt_window_size (v->kernel) * 4 / (5 * outs);
}

gboolean
lpt_float_planes_pay (const LptWindow *v,
                      gsize            outs,
                      gsize            channels)
{
  const gint64 wide = (v->kernel[2] - 1) * v->dilation[2] + MAX (v->pad[2], v->pad_end[2]);

  return outs > 0 && channels > 0 && channels <= most_planes (v, outs) && lpt_window_size (v->kernel) > 1 &&
         v->stride[2] == 1 && v->dilation[2] > 0 && v->out[2] >= LEAST_COLUMNS &&
         v->out[2] * v->kernel[2] >= LEAST_PRODUCTS &&
         wide * v->kernel[0] * v->kernel[1] <= (gint64) (MOST_COPIES / sizeof (float) / channels);
}

gboolean
lpt_float_planes_fill (const LptProgram *program,
                       const LptWindow  *v,
                       gsize             outs,
                       gsize             channels)
{
  const gint64 wide = (v->kernel[2] - 1) * v->dilation[2] + MAX (v->pad[2], v->pad_end[2]);

  return channels > 0 && channels <= MOST_READ_PLANES && outs >= LEAST_READ_OUTS &&
         outs <= program->kernels.fwindow->lanes &&
         lpt_window_size (v->kernel) > 1 && v->stride[2] > 0 && v->dilation[2] > 0 && v->out[2] >= LEAST_COLUMNS &&
         lpt_window_size (v->kernel) * (gint64) (channels * outs) <= MOST_READ_WEIGHTS &&
         wide * v->kernel[0] * v->kernel[1] <= (gint64) (MOST_COPIES / sizeof (float) / channels);
}

/* Windows of one pixel each, all pixels of the data in their order: along one line. */
static LptWindow
lengthen (const LptWindow *v)
{
  const gint64 pixels = lpt_window_size (v->in);
  LptWindow line = *v;
  guint axis;

  if (lpt_window_size (v->kernel) != 1 || lpt_window_size (v->out) != pixels || lpt_window_size (v->stride) != 1)
    return line;
  for (axis = 0; axis < 3; axis++)
    {
      if (v->pad[axis] != 0 || v->pad_end[axis] != 0)
        return *v;
      line.in[axis] = line.out[axis] = axis == 2 ? pixels : 1;
    }

  return line;
}

gboolean
lpt_float_planes_pay_groups (const LptWindow *window,
                             gsize            outs)
{
  const LptWindow line = lengthen (window), *v = &line;

  return outs <= LPT_FWINDOW_OUTS && v->stride[2] == 1 && v->dilation[2] > 0 && v->out[2] >= LEAST_COLUMNS_OF_GROUPS &&
         (v->kernel[2] - 1) * v->dilation[2] <= MOST_REACH;
}

gboolean
lpt_prepare_float_planes (LptProgram      *program,
                          LptProgramOp    *op,
                          const LptWindow *window,
                          gsize            groups,
                          gboolean         channels)
{
  const LptWindow whole = lengthen (window), *v = &whole;
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  const gsize planes = (gsize) x->dims[1] / groups, taps = planes * (gsize) lpt_window_size (v->kernel),
              rows = planes * (gsize) (v->kernel[0] * v->kernel[1]);
  const gint64 reach = (v->kernel[2] - 1) * v->dilation[2];
  Planes *p = g_new0 (Planes, 1);
  const float *w = op->in[1]->array.data;
  gsize o, k, want, tasks;
  double work;

  p->kernel = program->kernels.fwindow;
  p->window = *v;
  p->groups = groups;
  p->planes = planes;
  p->outs = (gsize) y->dims[1];
  p->lines = (gsize) (x->dims[0] * v->out[0] * v->out[1]);
  lpt_window_inside (v, 2, &p->from, &p->end);
  p->channels = channels;
  p->copies = !channels && p->end - p->from < v->out[2] && v->out[2] + reach < FEW_COLUMNS * v->kernel[2] &&
              rows * (gsize) (v->out[2] + reach) * sizeof (float) <= MOST_COPIES;
  p->side = (gsize) (reach + (p->copies ? v->out[2] : MAX (p->from, v->out[2] - p->end)) * v->stride[2]);
  p->at_columns = (4 * rows * sizeof (float *) + 63) & ~(gsize) 63;
  work = (double) p->lines * (double) v->out[2] * (double) p->outs * (double) taps / TASK_WORK;
  want = work < 1 ? 1 : work > MANY_TASKS ? MANY_TASKS : (gsize) work;
  p->per_task = (p->lines + want - 1) / want;
  tasks = (p->lines + p->per_task - 1) / p->per_task;
  p->together = channels ? (p->outs + LPT_FWINDOW_LANES - 1) / LPT_FWINDOW_LANES * LPT_FWINDOW_LANES
                         : group_of (p->outs / groups);
  p->at = lpt_program_array ((gsize) v->kernel[2], sizeof *p->at);
  for (k = 0; k < (gsize) v->kernel[2] && p->at != NULL; k++)
    p->at[k] = k * (gsize) v->dilation[2];
  p->w = lpt_program_array (taps * MAX (p->outs, p->together), sizeof (float));
  if (p->w != NULL)
    memset (p->w, 0, taps * MAX (p->outs, p->together) * sizeof *p->w);
  for (o = 0; o < p->outs && p->w != NULL; o++)
    for (k = 0; k < taps; k++)
      p->w[(o / p->together * taps + k) * p->together + o % p->together] = w[o * taps + k];
  lpt_float_epilogue_init (&p->fused, op, 2, 1, p->outs);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = planes_run, .follow = planes_follow, .clear = planes_clear, .params = p, .kernel = p->kernel->name,
    .tasks = tasks, .workspace = p->at_columns + ((rows * p->side * sizeof (float) + 63) & ~(gsize) 63),
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_WORDS_LAST });

  return TRUE;
}
