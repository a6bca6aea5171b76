/* float-far-taps.c - convolutions that stay real, most of whose taps lie outside of the image
 *
 * Wide dilations leave the middle tap inside, others for a few pixels. So each tap is a product of its own, of the
 * pixels that have it inside, and sums of taps are added in their order:
 *
 *   y = end (sum over taps t inside of (sum over channels i of a[t][i] * b[t][i]))
 *
 * Rounds in another order than the chain over channels and taps. A task is a band of output lines and some columns; its
 * sums lie in its own memory until all taps have passed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"

#define PANEL LPT_FGEMM_PANEL
#define BLOCK (2 * PANEL)
/* Rows of a product, pixels of a band at least, products that are worth a task. */
#define MAX_ROWS (2 * LPT_FGEMM_ROWS)
#define LEAST_PIXELS 64
#define TASK_WORK (1 << 19)
#define MANY_TASKS 16
/* A tap's sums are stored and read once for so many channels at least. */
#define LEAST_CHANNELS 32
/* Of the products, what is left at most: transforms (float-winograd.c) and blocks of fewer rows cost the rest. */
#define MOST 0.65
/* Products that are left out at least: a few microseconds, as the passes over the sums take. */
#define LEAST_SAVED (1 << 20)

typedef struct
{
  const LptFgemmKernel *kernel;
  const LptDynamicKernel *dynamic;
  LptFloatEpilogue end;
  LptWindow window;
  gsize     images, groups, channels, rows;      /* input and output channels of a group */
  gsize     lines, bands, cols, col_tasks;       /* of a task; tasks */
  const float *w;                                /* [group][tap] in panels */
  gsize     tap_size;
  gsize     sums, copies;                        /* bytes of pointers; of sums behind them, where copied rows follow */
  gboolean  copied;
} FarTaps;

/* A tap for some columns. */
typedef struct
{
  const float *w, *x;
  gint64 at;                 /* where it lies for the first output pixel, from x on, inside or not */
  gsize  cols;
} Tap;

/* Adds to the sums of @n pixels of output line @y from column @x on, and of the lines behind it. */
static void
run_rows (const FarTaps   *c,
          const LptOpData *data,
          const Tap       *tap,
          gint64           y,
          gint64           x,
          gint64           n,
          float           *sums)
{
  const LptWindow *v = &c->window;
  const gint64 pixel = (gint64) (c->groups * c->channels);
  const float **rows = (const float **) (gpointer) data->workspace;
  LptFgemmTile t = { .n = tap->cols, .channels = c->channels, .taps = 1, .a = rows, .a_rows = MAX_ROWS, .a_step = 1,
                     .b = tap->w, .ldy = c->cols };

  for (; n > 0; n -= (gint64) t.m, sums += t.m * c->cols)
    {
      for (t.m = 0; t.m < MAX_ROWS && (gint64) t.m < n; t.m++)
        {
          rows[t.m] = tap->x + (tap->at + y * v->stride[1] * v->in[2] + x * v->stride[2]) * pixel;
          if (++x == v->out[2])
            {
              x = 0;
              y++;
            }
        }
      if (c->copied)
        lpt_float_copy_rows (rows, t.m, c->channels, (float *) (gpointer) (data->workspace + c->copies));
      t.y = sums;
      t.end = (LptFgemmEnd) { .residual = sums, .ldr = c->cols };
      c->kernel->run (&t);
    }
}

/* Adds tap (@ky, @kx) to the sums of output lines [@first, @last). */
static void
run_tap (const FarTaps   *c,
         const LptOpData *data,
         const Tap       *tap,
         const gint64    *k,
         gint64           first,
         gint64           last,
         float           *sums)
{
  const gint64 width = c->window.out[2];
  gint64 y, end, x, to;

  lpt_window_range (&c->window, 1, k[0], &y, &end);
  lpt_window_range (&c->window, 2, k[1], &x, &to);
  y = MAX (y, first);
  end = MIN (end, last);
  if (x == 0 && to == width && y < end)
    run_rows (c, data, tap, y, 0, (end - y) * width, sums + (gsize) ((y - first) * width) * c->cols);
  else
    for (; y < end && x < to; y++)
      run_rows (c, data, tap, y, x, to - x, sums + (gsize) ((y - first) * width + x) * c->cols);
}

static void
run_task (const FarTaps   *c,
          const LptOpData *data,
          gsize            task)
{
  const LptWindow *v = &c->window;
  const gsize column = task % c->col_tasks * c->cols, band = task / c->col_tasks % c->bands,
              g = task / c->col_tasks / c->bands % c->groups, image = task / c->col_tasks / c->bands / c->groups;
  const gint64 first = (gint64) (band * c->lines), last = MIN (first + (gint64) c->lines, v->out[1]);
  const gsize pixels = (gsize) ((last - first) * v->out[2]), all = c->groups * c->rows, channel = g * c->rows + column,
              row = image * (gsize) (v->out[1] * v->out[2]) + (gsize) (first * v->out[2]),
              n = MIN (c->cols, c->rows - column);
  const gint64 pixel = (gint64) (c->groups * c->channels);
  float *sums = (float *) (gpointer) (data->workspace + c->sums),
        *y = (float *) (gpointer) data->out + row * all + channel;
  Tap tap = { .w = c->w + g * (gsize) lpt_window_size (v->kernel) * c->tap_size + column * c->channels,
              .x = (const float *) (gconstpointer) data->in[0] + image * (gsize) (v->in[1] * v->in[2] * pixel) +
                   g * c->channels,
              .cols = (n + PANEL - 1) / PANEL * PANEL };
  LptFgemmEnd end = lpt_float_epilogue_at (&c->end, data->in, row, all, channel);
  gint64 k[2];

  memset (sums, 0, pixels * c->cols * sizeof *sums);
  for (k[0] = 0; k[0] < v->kernel[1]; k[0]++)
    for (k[1] = 0; k[1] < v->kernel[2]; k[1]++, tap.w += c->tap_size)
      {
        tap.at = (k[0] * v->dilation[1] - v->pad[1]) * v->in[2] + k[1] * v->dilation[2] - v->pad[2];
        run_tap (c, data, &tap, k, first, last, sums);
      }
  c->dynamic->finish (pixels, n, sums, c->cols, &end, y, all);
  lpt_float_epilogue_finish (&c->end, data->in, &(LptFloatBlock) { row, channel, pixels, n, y, all });
}

static void
far_taps_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  for (; task < end; task++)
    run_task (op->form.params, data, task);
}

static void
far_taps_follow (LptProgram   *program,
                 LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((FarTaps *) op->form.params)->end, program, op);
}

static void
far_taps_clear (gpointer params)
{
  lpt_float_epilogue_clear (&((FarTaps *) params)->end);
}

/* Of output positions and taps along @axis, the share that is inside. */
static double
share_inside (const LptWindow *v,
              guint            axis)
{
  gint64 k, from, to, inside = 0;

  for (k = 0; k < v->kernel[axis]; k++)
    {
      lpt_window_range (v, axis, k, &from, &to);
      inside += MAX (to - from, 0);
    }

  return (double) inside / (double) (v->kernel[axis] * v->out[axis]);
}

gboolean
lpt_float_far_taps_pay (const LptWindow *v,
                        gsize            rows,
                        gsize            channels)
{
  const double share = share_inside (v, 1) * share_inside (v, 2),
               all = (double) (lpt_window_size (v->out) * lpt_window_size (v->kernel)) * (double) (rows * channels);

  return v->kernel[0] == 1 && v->in[0] == 1 && v->out[0] == 1 && channels >= LEAST_CHANNELS && share <= MOST &&
         all * (1 - share) >= LEAST_SAVED;
}

/* The weights [groups][out][in][taps], packed for each tap of each group. */
static const float *
pack_weights (const FarTaps      *c,
              LptProgram         *program,
              const LptProgramOp *op)
{
  const gsize taps = (gsize) lpt_window_size (c->window.kernel), size = c->channels * c->rows;
  const char key[] = "far taps";
  LptFloatPacks packs = { NULL, key, sizeof key, c->groups * taps, c->channels, c->rows, 1, (ptrdiff_t) c->channels };
  float *by_tap = lpt_program_array (c->groups * taps * size, sizeof *by_tap);
  const float *from = op->in[1]->array.data, *packed;
  gsize g, i, t;

  packs.data = by_tap;
  for (g = 0; g < c->groups && by_tap != NULL; g++)
    for (i = 0; i < size; i++)
      for (t = 0; t < taps; t++)
        by_tap[(g * taps + t) * size + i] = *from++;
  packed = lpt_float_pack (program, op, &packs);
  lpt_aligned_free (by_tap);

  return packed;
}

/* Returns the bytes of the workspace. */
static gsize
split (FarTaps *c)
{
  const LptWindow *v = &c->window;
  const gsize pixels = (gsize) (v->out[1] * v->out[2]), blocks = (c->rows + BLOCK - 1) / BLOCK;
  const double work = (double) (c->images * c->groups * pixels) * (double) c->rows * (double) c->channels / TASK_WORK;
  const gsize want = work < 1 ? 1 : (gsize) MIN (work, MANY_TASKS);
  gsize size;

  c->bands = CLAMP (want / (c->images * c->groups), 1, MAX (pixels / LEAST_PIXELS, 1));
  c->lines = ((gsize) v->out[1] + c->bands - 1) / c->bands;
  c->bands = ((gsize) v->out[1] + c->lines - 1) / c->lines;
  c->col_tasks = CLAMP (want / (c->images * c->groups * c->bands), 1, blocks);
  c->cols = (blocks + c->col_tasks - 1) / c->col_tasks * BLOCK;
  c->col_tasks = (c->rows + c->cols - 1) / c->cols;
  c->copied = lpt_float_rows_collide (c->groups * c->channels * (gsize) v->stride[2]);
  c->sums = (MAX_ROWS * sizeof (float *) + 63) & ~(gsize) 63;
  size = c->copies = c->sums + c->lines * (gsize) v->out[2] * c->cols * sizeof (float);
  if (c->copied)
    size += lpt_float_copied_size (MAX_ROWS, c->channels);

  return size;
}

void
lpt_prepare_float_far_taps (LptProgram      *program,
                            LptProgramOp    *op,
                            const LptWindow *window,
                            gsize            groups)
{
  FarTaps *c = g_new0 (FarTaps, 1);
  LptOpForm form = { .run = far_taps_run, .follow = far_taps_follow, .clear = far_taps_clear, .params = c, .n_in = 1,
                     .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_WORDS_LAST }), .out = op->out[0],
                     .out_layout = LPT_LAYOUT_WORDS_LAST };

  c->kernel = program->kernels.fgemm;
  c->dynamic = program->kernels.dynamic;
  c->window = *window;
  c->images = (gsize) op->in[0]->array.shape.dims[0];
  c->groups = groups;
  c->channels = (gsize) op->in[0]->array.shape.dims[1] / groups;
  c->rows = (gsize) op->out[0]->array.shape.dims[1] / groups;
  c->tap_size = (c->rows + PANEL - 1) / PANEL * PANEL * c->channels;
  c->w = pack_weights (c, program, op);
  lpt_float_epilogue_init (&c->end, op, 2, 1, groups * c->rows);
  form.workspace = split (c);
  form.kernel = c->kernel->name;
  form.reorders = TRUE;
  form.tasks = c->images * groups * c->bands * c->col_tasks;
  lpt_program_set_form (op, &form);
}
