/* float-conv.c - convolutions that stay real
 *
 * Channels last: rows of the product are pixels, columns output channels. The inputs of a row are named by a pointer for each
 * tap, those outside of the image by one to zeros. Where neighbouring pixels would share few sets of the cache what a task
 * reads is copied. Depthwise convolutions are windows (float-window.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"
#include "eval/lpt-window.h"

/* Pointers of a task, which share the first cache with what they point to. */
#define MAX_POINTERS 4096

typedef enum { COPY_NONE, COPY_ROWS, COPY_LINES } Copy;

typedef struct
{
  const LptFgemmKernel *kernel;
  LptFloatEpilogue end;
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
  float    *zeros;
} Conv;

/* Pointers of @n output pixels of one line from column @x on, for one tap; @line: the line of the input, NULL: outside. */
static void
name_line (const Conv   *c,
           const float  *line,
           gint64        kx,
           gint64        x,
           gint64        n,
           const float **to)
{
  const LptWindow *v = &c->window;
  gint64 from = line != NULL ? CLAMP (c->range[2 * kx] - x, 0, n) : n, end = line != NULL ? CLAMP (c->range[2 * kx + 1] - x, from, n) : n;
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
      gint64 col = (gint64) pixel % v->out[2], y = (gint64) pixel / v->out[2] % v->out[1], z = (gint64) pixel / v->out[2] / v->out[1];
      gint64 run = MIN ((gint64) n, v->out[2] - col), kz, ky, kx;
      const float **to = table;

      for (kz = 0; kz < v->kernel[0]; kz++)
        for (ky = 0; ky < v->kernel[1]; ky++)
          {
            gint64 iz = z * v->stride[0] + kz * v->dilation[0] - v->pad[0], iy = y * v->stride[1] + ky * v->dilation[1] - v->pad[1];
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
  gint64 line, pixels = lines_of (v, (gint64) pixel / v->out[2], (gint64) (pixel + n - 1) / v->out[2], &line) * v->in[2];
  gsize all = c->groups * c->channels;

  for (x += (gsize) (line * v->in[2]) * all; pixels > 0; pixels--, x += all, to += c->pitch)
    memcpy (to, x, c->channels * sizeof *to);

  return line;
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
                     .b = c->w + g * c->group_size + column * c->channels * c->taps,
                     .end = lpt_float_epilogue_at (&c->end, data->in, first, all, channel),
                     .y = (float *) (gpointer) data->out + first * all + channel, .ldy = all, .by_rows = s->by_rows };

  if (c->copy == COPY_LINES)
    {
      gint64 line = copy_lines (c, x, row, t.m, copies);

      name_pixels (c, copies, line, row, t.m, table);
    }
  else
    name_pixels (c, x, 0, row, t.m, table);
  if (c->copy == COPY_ROWS)
    lpt_float_copy_rows (table, t.m, c->channels, copies);
  c->kernel->run (&t);
  lpt_float_epilogue_finish (&c->end, data->in, first, all, channel, t.m, t.n, t.y);
}

static void
conv_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  for (; task < end; task++)
    conv_task (op->form.params, data, task);
}

static void
conv_clear (gpointer params)
{
  Conv *c = params;

  lpt_float_epilogue_clear (&c->end);
  g_free (c->zeros);
  g_free (c->range);
}

gboolean
lpt_prepare_float_conv (LptProgram   *program,
                        LptProgramOp *step)
{
  const LptConvAttrs *a = LPT_ATTRS (step->node, LptConvAttrs);
  LptWindowAttrs attrs = { &a->strides, &a->dilations, &a->pads_begin, &a->pads_end, a->auto_pad };
  gint lead = step->node->op == LPT_OP_GROUP_CONVOLUTION ? 3 : 2;
  gboolean biased = step->n_in > 2 && step->in[2] != NULL;
  const LptShape *x, *w, *y;
  gsize k;
  gint64 kx;
  LptOpForm form;
  LptWindow v;
  Conv *c;

  if (program->kernels.fgemm->needs == LPT_CPU_SCALAR || !lpt_program_is_real (step->in[0]) ||
      step->in[0]->kind == LPT_STORAGE_CONST || !lpt_is_real_constant (step->in[1]) ||
      !lpt_program_is_real (step->out[0]) || (biased && !lpt_is_real_constant (step->in[2])) ||
      !lpt_is_finite (step->in[1]))
    return FALSE;
  x = &step->in[0]->array.shape;
  w = &step->in[1]->array.shape;
  y = &step->out[0]->array.shape;
  if (x->rank < 3 || x->rank > 5 || w->rank != x->rank + lead - 2 || y->rank != x->rank ||
      !lpt_window_init (&v, x->rank - 2, x->dims + 2, y->dims + 2, w->dims + lead, &attrs, NULL) ||
      (lead == 3 ? w->dims[0] * w->dims[2] : w->dims[1]) != x->dims[1] ||
      (biased && lpt_program_count (step->in[2]) != (gsize) y->dims[1]))
    return FALSE;
  if (lead == 3 && w->dims[1] == 1 && w->dims[2] == 1)
    return lpt_prepare_float_dwconv (program, step, &v);

  c = g_new0 (Conv, 1);
  c->kernel = program->kernels.fgemm;
  c->window = v;
  c->images = (gsize) x->dims[0];
  c->groups = lead == 3 ? (gsize) w->dims[0] : 1;
  c->rows = (gsize) w->dims[lead - 2];
  c->channels = (gsize) w->dims[lead - 1];
  c->taps = (gsize) lpt_window_size (v.kernel);
  c->in_pixels = (gsize) lpt_window_size (v.in);
  c->out_pixels = (gsize) lpt_window_size (v.out);
  c->range = g_new (gint64, 2 * v.kernel[2]);
  for (kx = 0; kx < v.kernel[2]; kx++)
    lpt_window_range (&v, 2, kx, &c->range[2 * kx], &c->range[2 * kx + 1]);
  k = c->channels * c->taps;
  c->pitch = (gint64) (c->groups * c->channels);
  if (c->taps == 1 && lpt_float_rows_collide ((gsize) (c->pitch * v.stride[2])))
    c->copy = COPY_ROWS;
  else if (c->taps > 1 && v.in[0] == 1 && v.out[0] == 1 && lpt_float_rows_collide (2 * (gsize) (c->pitch * v.stride[2])))
    {
      c->copy = COPY_LINES;
      c->pitch = (gint64) (c->channels + LPT_FLOAT_GAP);
    }
  c->split = lpt_float_split (c->images * c->groups, c->out_pixels, c->rows, k,
                             c->copy == COPY_ROWS ? lpt_float_copied_rows (k) : MAX_POINTERS / c->taps);
  c->w = lpt_float_pack (program, step, c->groups, k, c->rows, 1, (ptrdiff_t) k);
  c->group_size = (c->rows + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL * LPT_FGEMM_PANEL * k;
  c->zeros = g_new0 (float, c->channels);
  lpt_float_epilogue_init (&c->end, program, step, 1, c->groups * c->rows);
  form = (LptOpForm) { .run = conv_run, .clear = conv_clear, .params = c, .kernel = c->kernel->name,
                       .tasks = c->images * c->groups * c->split.row_tasks * c->split.col_tasks, .n_in = 1,
                       .in = LPT_OPERANDS ({ step->in[0], LPT_LAYOUT_WORDS_LAST }, { NULL }) };
  c->table = (c->taps * c->split.rows * sizeof (float *) + 63) & ~(gsize) 63;
  if (c->copy == COPY_ROWS)
    form.workspace = c->table + lpt_float_copied_size (c->split.rows, k);
  else
    form.workspace = c->table + (c->copy == COPY_LINES ? lpt_float_copied_size ((gsize) (max_lines (&v, c->split.rows) * v.in[2]), c->channels) : 0);
  lpt_float_epilogue_apply (&c->end, &form, LPT_LAYOUT_WORDS_LAST);
  lpt_program_set_form (step, &form);

  return TRUE;
}
