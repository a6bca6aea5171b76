/* pool16.c - pools of 16-bit codes, by planes
 *
 * A line of the result is made of the input's lines in its windows: these become one line of sums or extremes, between
 * borders that change nothing, and its windows the line of the result. How many elements of a window are data decides
 * what an average divides by, for a run of columns at a time.
 *
 * Exact. Not: windows in padding alone, averages of real numbers (modes of float32), which are summed one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/codes16.h"
#include "eval/lpt-window.h"

/* Elements of a window, whose sum fits 32 bits. */
#define MAX_WINDOW 8192

typedef struct
{
  const LptCodes16Kernel *kernel;
  LptTake16  take;
  LptWindow  window;
  gsize      rows, per_task;         /* lines of the result in all */
  gsize      span;                   /* elements of a line with its borders */
  LptCodes16 from, to;
  LptScale16 scale;                  /* of extremes */
  LptScale16 *scales;                /* of averages, by the elements of a window; NULL: they are divided */
  gboolean   exclude;                /* what is padding does not count */
} Pool;

/* Elements of the window at output @o that lie in the data of @axis, from tap @first on, and in its padding, too. */
static void
count_taps (const LptWindow *v,
            guint            axis,
            gint64           o,
            gint64          *first,
            gint64          *valid,
            gint64          *padded)
{
  gint64 k;

  *first = *valid = *padded = 0;
  for (k = 0; k < v->kernel[axis]; k++)
    {
      const gint64 i = o * v->stride[axis] - v->pad[axis] + k * v->dilation[axis];

      if (i >= 0 && i < v->in[axis] && (*valid)++ == 0)
        *first = k;
      *padded += i < v->in[axis] + v->pad_end[axis];
    }
}

/* The lines that line @at of the result reads of @plane as one. Elements of a column: in the data, with the padding. */
static void
gather_lines (const Pool   *p,
              const gint16 *plane,
              gint64        at,
              gint64        elements[2],
              gint32       *line,
              gint32       *other)
{
  const LptWindow *v = &p->window;
  const gsize width = (gsize) v->in[2];
  const gint64 oz = at / v->out[1], oy = at % v->out[1];
  gint64 first[2], valid[2], padded[2], z, y;

  count_taps (v, 0, oz, &first[0], &valid[0], &padded[0]);
  count_taps (v, 1, oy, &first[1], &valid[1], &padded[1]);
  elements[0] = valid[0] * valid[1];
  elements[1] = padded[0] * padded[1];
  for (z = 0; z < valid[0]; z++)
    for (y = 0; y < valid[1]; y++)
      {
        const gint64 iz = oz * v->stride[0] - v->pad[0] + (first[0] + z) * v->dilation[0],
                     iy = oy * v->stride[1] - v->pad[1] + (first[1] + y) * v->dilation[1];

        p->kernel->load (&p->from, width, plane + (iz * v->in[1] + iy) * v->in[2], z + y == 0 ? line : other);
        if (z + y > 0)
          p->kernel->take (p->take, width, line, other);
      }
}

/* @n sums of @valid elements each of a window of @padded, as codes. */
static void
end_averages (const Pool *p,
              gint64      valid,
              gint64      padded,
              gsize       n,
              gint32     *x,
              gint16     *out)
{
  const gint32 count = (gint32) MAX (p->exclude ? valid : padded, 1);
  LptCodes16 to = p->to;
  gsize i;

  if (p->scales != NULL)
    p->kernel->rescale (&p->scales[count], n, x);
  else
    {
      for (i = 0; i < n && to.zero != 0; i++)
        x[i] += count * to.zero;
      p->kernel->average (count, n, x);
      to.zero = 0;
    }
  p->kernel->store (&to, n, x, out);
}

static void
end_line (const Pool *p,
          gint64      valid,
          gint64      padded,
          gint32     *x,
          gint16     *out)
{
  const gint64 width = p->window.out[2];
  gint64 o, from = 0, counts[2] = { -1, -1 };

  if (p->take == LPT_TAKE16_MOST)
    {
      p->kernel->rescale (&p->scale, (gsize) width, x);
      p->kernel->store (&p->to, (gsize) width, x, out);
      return;
    }
  for (o = 0; o <= width; o++)
    {
      gint64 first, own[2] = { -1, -1 };

      if (o < width)
        count_taps (&p->window, 2, o, &first, &own[0], &own[1]);
      if (own[0] == counts[0] && own[1] == counts[1])
        continue;
      if (o > from)
        end_averages (p, valid * counts[0], padded * counts[1], (gsize) (o - from), x + from, out + from);
      from = o;
      counts[0] = own[0];
      counts[1] = own[1];
    }
}

static void
pool_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Pool *p = op->form.params;
  const LptWindow *v = &p->window;
  const gsize lines = (gsize) (v->out[0] * v->out[1]), size = (gsize) lpt_window_size (v->in);
  gint32 *line = (gint32 *) (gpointer) data->workspace, *other = line + p->span;
  gsize row = task * p->per_task, last = MIN (end * p->per_task, p->rows), i;

  for (i = 0; i < p->span; i++)
    line[i] = p->take == LPT_TAKE16_SUM ? 0 : G_MININT32;
  for (; row < last; row++)
    {
      const gint16 *plane = (const gint16 *) (gconstpointer) data->in[0] + row / lines * size;
      gint64 elements[2];

      gather_lines (p, plane, (gint64) (row % lines), elements, line + v->pad[2], other);
      p->kernel->windows (p->take, (gsize) v->out[2], (gsize) v->kernel[2], (gsize) v->stride[2],
                          (gsize) v->dilation[2], line, other);
      end_line (p, elements[0], elements[1], other,
                (gint16 *) (gpointer) data->out + row * (gsize) v->out[2]);
    }
}

static void
pool_clear (gpointer params)
{
  g_free (((Pool *) params)->scales);
}

/* --- preparing --- */

static gboolean
set_geometry (LptProgramOp *op,
              Pool         *p)
{
  const LptShape *x = &op->in[0]->array.shape, *y = &op->out[0]->array.shape;
  LptWindow *v = &p->window;
  guint k;

  if (!lpt_window_init_pool (v, op->node, x, y, NULL) || lpt_window_is_vast (v))
    return FALSE;
  for (k = 0; k < 3; k++)
    if (v->pad[k] < 0 || v->pad_end[k] < 0)
      return FALSE;
  lpt_window_line_up (v);
  p->rows = (gsize) (x->dims[0] * x->dims[1] * v->out[0] * v->out[1]);
  p->per_task = MAX (LPT_CODES16_TASK / (gsize) (v->in[2] * v->kernel[1]), 1);
  p->span = (gsize) MAX (v->pad[2] + v->in[2],
                         (v->out[2] - 1) * v->stride[2] + (v->kernel[2] - 1) * v->dilation[2] + 1);
  p->span = (MAX (p->span, (gsize) v->out[2]) + 15) & ~(gsize) 15;

  return !lpt_window_misses (v);
}

/* From codes of 16 bits to such. */
static gboolean
match (LptProgramOp *op,
       Pool         *p)
{
  if (!lpt_codes16_match (op, op->in[0], op->out[0], &p->from, &p->to))
    return FALSE;
  if (op->in[0]->array.dtype != op->out[0]->array.dtype)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[0]->kind == LPT_STORAGE_CONST)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (!set_geometry (op, p))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);

  return TRUE;
}

static void
set_form (LptProgramOp *op,
          const Pool   *p)
{
  lpt_program_set_form (op, &(LptOpForm) {
    .run = pool_run, .clear = pool_clear, .params = g_memdup2 (p, sizeof *p), .kernel = p->kernel->name,
    .tasks = (p->rows + p->per_task - 1) / p->per_task, .workspace = 2 * p->span * sizeof (gint32), .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }), .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });
}

gboolean
lpt_prepare_max_pool16 (LptProgram   *program,
                        LptProgramOp *op)
{
  Pool p = { .kernel = program->kernels.codes16, .take = LPT_TAKE16_MOST };

  if (!match (op, &p))
    return FALSE;
  if (!lpt_scale16_of (lpt_int_max_pool_rescale (op->integer), &p.to, &p.scale))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  set_form (op, &p);

  return TRUE;
}

gboolean
lpt_prepare_avg_pool16 (LptProgram   *program,
                        LptProgramOp *op)
{
  Pool p = { .kernel = program->kernels.codes16, .take = LPT_TAKE16_SUM };
  const gint64 *kernel = p.window.kernel;
  LptIntSums sums;
  gint64 n, size;

  if (!match (op, &p))
    return FALSE;
  size = lpt_window_size (kernel);
  if (size > MAX_WINDOW)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  if (!lpt_int_avg_pool_sums (op->integer, &sums) || !(sums.divides || sums.rescales))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  p.exclude = LPT_ATTRS (op->node, LptAvgPoolAttrs)->exclude_pad;
  if (sums.rescales)
    p.scales = g_new0 (LptScale16, size + 1);
  for (n = 1; n <= size && sums.rescales; n++)
    {
      const LptMultiplier m = sums.multiplier (op->integer, n);

      if (!lpt_scale16_make (&m, &p.to, &p.scales[n]))
        {
          g_free (p.scales);
          return lpt_refuse (op, LPT_REMARK_ROUNDING);
        }
    }
  set_form (op, &p);

  return TRUE;
}
