/* float-deconv-taps.c - real transposed convolutions to a few channels: all taps of a pixel at once
 *
 *     p[i][t][o] = sum over channels c of x[i][c] w[c][t][o]
 *     y[q][o]    = end (sum over pixels i and taps t with i stride - pad + t dilation = q of p[i][t][o])
 *
 * A phase (float-deconv.c) of one to eight output channels is a product whose lanes are mostly idle; with its taps as
 * further columns they are full. What the taps of a pixel add up to is stored and added where it belongs, pixel after
 * pixel in their order: another one than the chain over channels and taps of a phase. A task is a band of output lines,
 * which makes the products of all pixels that reach it, a block of them at a time.
 *
 * Not: groups, computed weights, volumes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float-conv.h"

#define PANEL LPT_FGEMM_PANEL
/* Rows of a product, floats of a block of them, floats of a band, its pixels at least, products that are worth a task. */
#define MAX_ROWS (2 * LPT_FGEMM_ROWS)
#define BLOCK 16384
#define MOST_SUMS 65536
#define LEAST_PIXELS 64
#define TASK_WORK (1 << 19)
#define MANY_TASKS 16
/* Output channels that leave half of the lanes idle; columns that two vectors of taps fill well enough. */
#define MOST_OUTS 8
#define LEAST_CHANNELS 2
#define LEAST_SHARE 0.25
/* Pixels whose channels are a row of what follows the sums. */
#define TOGETHER 16

typedef struct
{
  const LptFgemmKernel *kernel;
  const LptDynamicKernel *dynamic;
  LptFloatEpilogue end;
  LptWindow window;                          /* in: the data, out: the result */
  gsize     channels, outs, cols;            /* cols: of all taps, as the kernel has them */
  gsize     lines, bands;                    /* output lines of a band */
  const float *w;
  gsize     products, sums;                  /* where they lie in the workspace */
} DeconvTaps;

static inline void
add_run (gsize                 n,
         const float *restrict from,
         float       *restrict to)
{
  typedef float Four __attribute__ ((vector_size (16)));

  for (; n >= 4; n -= 4, from += 4, to += 4)
    {
      Four a, b;

      memcpy (&a, from, sizeof a);
      memcpy (&b, to, sizeof b);
      b += a;
      memcpy (to, &b, sizeof b);
    }
  for (; n > 0; n--)
    *to++ += *from++;
}

/* The taps of one line of the kernel of the pixels of an input line, to a line of sums. */
static void
add_line (const DeconvTaps *c,
          const float      *products,
          float            *sums)
{
  const LptWindow *v = &c->window;
  const gsize run = (gsize) v->kernel[2] * c->outs;
  const gint64 reach = (v->kernel[2] - 1) * v->dilation[2];
  gint64 i, k;

  for (i = 0; i < v->in[2]; i++, products += c->cols)
    {
      const gint64 x = i * v->stride[2] - v->pad[2];

      if (x >= 0 && x + reach < v->out[2] && v->dilation[2] == 1)
        {
          add_run (run, products, sums + (gsize) x * c->outs);
          continue;
        }
      for (k = 0; k < v->kernel[2]; k++)
        {
          const gint64 at = x + k * v->dilation[2];

          if (at >= 0 && at < v->out[2])
            add_run (c->outs, products + (gsize) k * c->outs, sums + (gsize) at * c->outs);
        }
    }
}

/* The products of @n pixels. */
static void
multiply (const DeconvTaps *c,
          const LptOpData  *data,
          const float      *x,
          gsize             n)
{
  const float **rows = (const float **) (gpointer) data->workspace;
  float *y = (float *) (gpointer) (data->workspace + c->products);
  LptFgemmTile t = { .n = c->cols, .channels = c->channels, .taps = 1, .a = rows, .a_rows = MAX_ROWS, .a_step = 1,
                     .b = c->w, .ldy = c->cols };

  for (; n > 0; n -= t.m, y += t.m * c->cols)
    {
      for (t.m = 0; t.m < MAX_ROWS && t.m < n; t.m++, x += c->channels)
        rows[t.m] = x;
      t.y = y;
      c->kernel->run (&t);
    }
}

/* What follows the sums of @pixels from @row on: TOGETHER of them are a row, whose columns are its channels again and
 * again. */
static void
finish (const DeconvTaps *c,
        const LptOpData  *data,
        gsize             row,
        gsize             pixels,
        const float      *sums)
{
  const gsize n = TOGETHER * c->outs, whole = pixels / TOGETHER, rest = pixels % TOGETHER * c->outs;
  float *y = (float *) (gpointer) data->out + row * c->outs, bias[TOGETHER * MOST_OUTS], factor[TOGETHER * MOST_OUTS];
  LptFgemmEnd end = lpt_float_epilogue_at (&c->end, data->in, row, c->outs, 0);
  gsize i;

  for (i = 0; i < n; i++)
    {
      bias[i] = end.bias != NULL ? end.bias[i % c->outs] : 0;
      factor[i] = end.factor != NULL ? end.factor[i % c->outs] : 1;
    }
  end.bias = end.bias != NULL ? bias : NULL;
  end.factor = end.factor != NULL ? factor : NULL;
  end.ldr = n;
  c->dynamic->finish (whole, n, sums, n, &end, y, n);
  if (rest > 0)
    {
      end.residual = end.residual != NULL ? end.residual + whole * n : NULL;
      c->dynamic->finish (1, rest, sums + whole * n, n, &end, y + whole * n, n);
    }
  lpt_float_epilogue_finish (&c->end, data->in, &(LptFloatBlock) { row, 0, pixels, c->outs, y, c->outs });
}

static void
run_task (const DeconvTaps *c,
          const LptOpData  *data,
          gsize             task)
{
  const LptWindow *v = &c->window;
  const gsize image = task / c->bands, wide = (gsize) v->out[2] * c->outs, width = (gsize) v->in[2];
  const gint64 first = (gint64) (task % c->bands * c->lines), last = MIN (first + (gint64) c->lines, v->out[1]);
  const gint64 reach = (v->kernel[1] - 1) * v->dilation[1], at_once = MAX (BLOCK / (gint64) (width * c->cols), 1);
  /* Lines of the input that reach the band. */
  const gint64 begin = MAX ((first + v->pad[1] - reach + v->stride[1] - 1) / v->stride[1], 0),
               end = MIN ((last - 1 + v->pad[1]) / v->stride[1] + 1, v->in[1]);
  const float *x = (const float *) (gconstpointer) data->in[0] + image * (gsize) v->in[1] * width * c->channels;
  const float *products = (const float *) (gconstpointer) (data->workspace + c->products);
  float *sums = (float *) (gpointer) (data->workspace + c->sums);
  gint64 line, i, k, n;

  memset (sums, 0, (gsize) (last - first) * wide * sizeof *sums);
  for (line = begin; line < end; line += n)
    {
      n = MIN (at_once, end - line);
      multiply (c, data, x + (gsize) line * width * c->channels, (gsize) n * width);
      for (i = 0; i < n; i++)
        for (k = 0; k < v->kernel[1]; k++)
          {
            const gint64 y = (line + i) * v->stride[1] - v->pad[1] + k * v->dilation[1];

            if (y >= first && y < last)
              add_line (c, products + (gsize) i * width * c->cols + (gsize) (k * v->kernel[2]) * c->outs,
                        sums + (gsize) (y - first) * wide);
          }
    }
  finish (c, data, (image * (gsize) v->out[1] + (gsize) first) * (gsize) v->out[2],
          (gsize) ((last - first) * v->out[2]), sums);
}

static void
taps_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  for (; task < end; task++)
    run_task (op->form.params, data, task);
}

static void
taps_follow (LptProgram   *program,
             LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((DeconvTaps *) op->form.params)->end, program, op);
}

static void
taps_clear (gpointer params)
{
  lpt_float_epilogue_clear (&((DeconvTaps *) params)->end);
}

/* --- making --- */

gboolean
lpt_float_deconv_taps_pay (const LptFloatConvShape *s)
{
  const LptWindow *v = &s->window;
  const gsize columns = (gsize) lpt_window_size (v->kernel) * s->out;

  return s->op->in[1]->kind == LPT_STORAGE_CONST && s->groups == 1 && v->kernel[0] == 1 && v->in[0] == 1 &&
         v->out[0] == 1 && v->dilation[1] > 0 && v->dilation[2] > 0 && s->out <= MOST_OUTS &&
         s->in >= LEAST_CHANNELS &&
         (double) columns >= LEAST_SHARE * (double) ((columns + PANEL - 1) / PANEL * PANEL) &&
         (gsize) v->out[2] * columns <= 2 * BLOCK;      /* the window's result is the data here */
}

/* The weights [in][out][taps] as [in][taps][out], packed. */
static const float *
pack_weights (const LptFloatConvShape *s,
              gsize                    taps)
{
  const char key[] = "taps of all";
  LptFloatPacks packs = { NULL, key, sizeof key, 1, s->in, taps * s->out, (ptrdiff_t) (taps * s->out), 1 };
  float *by_tap = lpt_program_array (s->in * taps * s->out, sizeof *by_tap);
  const float *from = s->op->in[1]->array.data, *packed;
  gsize i, o, t;

  packs.data = by_tap;
  for (i = 0; i < s->in && by_tap != NULL; i++)
    for (o = 0; o < s->out; o++)
      for (t = 0; t < taps; t++)
        by_tap[(i * taps + t) * s->out + o] = *from++;
  packed = lpt_float_pack (s->program, s->op, &packs);
  lpt_aligned_free (by_tap);

  return packed;
}

/* Returns the bytes of the workspace. */
static gsize
split (DeconvTaps *c,
       gsize       images)
{
  const LptWindow *v = &c->window;
  const gsize pixels = (gsize) lpt_window_size (v->out), rows = MAX (BLOCK / ((gsize) v->in[2] * c->cols), 1);
  const double work = (double) images * (double) lpt_window_size (v->in) * (double) (c->cols * c->channels) / TASK_WORK;
  const gsize want = work < 1 ? 1 : (gsize) MIN (work, MANY_TASKS);

  /* Sums stay in the second cache; neighbours make the products of the lines that reach both. */
  c->bands = CLAMP (want / images, 1, MAX (pixels / LEAST_PIXELS, 1));
  c->lines = MIN (((gsize) v->out[1] + c->bands - 1) / c->bands, MOST_SUMS / ((gsize) v->out[2] * c->outs));
  c->lines = MIN (MAX (c->lines, 4 * (gsize) v->kernel[1]), (gsize) v->out[1]);
  c->bands = ((gsize) v->out[1] + c->lines - 1) / c->lines;
  c->products = (MAX_ROWS * sizeof (float *) + 63) & ~(gsize) 63;
  c->sums = c->products + ((rows * (gsize) v->in[2] * c->cols * sizeof (float) + 63) & ~(gsize) 63);

  return c->sums + ((c->lines * (gsize) v->out[2] * c->outs * sizeof (float) + 63) & ~(gsize) 63);
}

void
lpt_prepare_float_deconv_taps (const LptFloatConvShape *s)
{
  LptProgram *program = s->program;
  DeconvTaps *c = g_new0 (DeconvTaps, 1);
  const gsize taps = (gsize) lpt_window_size (s->window.kernel);
  LptOpForm form = { .run = taps_run, .follow = taps_follow, .clear = taps_clear, .params = c, .reorders = TRUE,
                     .n_in = 1, .in = LPT_OPERANDS ({ s->op->in[0], LPT_LAYOUT_WORDS_LAST }), .out = s->op->out[0],
                     .out_layout = LPT_LAYOUT_WORDS_LAST };

  c->kernel = program->kernels.fgemm;
  c->dynamic = program->kernels.dynamic;
  c->window = s->window;
  memcpy (c->window.in, s->window.out, sizeof c->window.in);
  memcpy (c->window.out, s->window.in, sizeof c->window.out);
  c->channels = s->in;
  c->outs = s->out;
  c->cols = (taps * s->out + PANEL - 1) / PANEL * PANEL;
  c->w = pack_weights (s, taps);
  lpt_float_epilogue_init (&c->end, s->op, s->view.bias, 1, s->out);
  form.workspace = split (c, s->images);
  form.kernel = c->kernel->name;
  form.tasks = s->images * c->bands;
  lpt_program_set_form (s->op, &form);
}
