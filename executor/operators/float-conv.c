/* float-conv.c - convolutions and transposed ones that stay real
 *
 * Channels last: rows of the product are pixels, columns output channels. The inputs of a row are named by a pointer
 * for each tap, those outside of the image by one to zeros. Where neighbouring pixels would share few sets of the cache
 * what a task reads is copied, and lines of one channel with their padding (float-runs.c). A transposed convolution is one for each phase of its output (phases.h), whose pixels
 * are made apart and then put where they belong; the taps of a phase stay in their order, so sums do. Depthwise ones
 * are windows (float-window.c), those of 3x3 taps and many channels go through transforms (float-winograd.c), those of
 * wide dilations tap by tap (float-far-taps.c). Weights that somebody computes are packed by the tasks that need them
 * (float-taps.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>

#include "executor/operators/float-conv.h"
#include "eval/lpt-window.h"

/* Pointers of a task, which share the first cache with what they point to. */
#define MAX_POINTERS 4096
/* Of a task that packs its weights: bytes of panels, how many, tiles of rows that are worth it, tasks of the same. */
#define COMPUTED_BYTES (256 * 1024)
#define MAX_PANELS 8
#define LEAST_TILES 8
#define MAX_ROW_TASKS 4

/* Tables that runs keep: products for each pointer, in panels, below which naming takes a good part of a task; bytes of
 * all tables of an op at most. */
#define KEPT_PRODUCTS 64
#define KEPT_BYTES (32 * 1024)

/* What counts where taps share sets of the first cache: rows of a tile, floats from line to line of a set, lines of a
 * set that are too many, output channels that one line of them serves. */
#define TILE_ROWS 14
#define SET_FLOATS 1024
#define CROWDED_WAYS 12
#define FEW_COLUMNS 32

typedef enum { COPY_NONE, COPY_ROWS, COPY_LINES, COPY_RUNS } Copy;

typedef struct
{
  const LptFgemmKernel *kernel;
  const LptFloatEpilogue *end;
  LptWindow window;
  gsize     groups, rows, channels;        /* output and input channels of one group */
  gsize     pixel;                         /* input channels */
  gsize     bundled;                       /* 0, or output channels of groups of `channels` that are made together */
  gsize     taps, in_pixels, out_pixels, images;
  LptFloatSplit split;
  const float *w;
  gsize     group_size;                    /* packed weights of a group */
  LptFloatTaps *computed;                  /* weights that each task packs for its columns, behind all else; or NULL */
  gsize     chunk;                         /* rows of a task: of a tile, or, where weights are computed, of several */
  gsize     table;                         /* bytes of the pointers, in the workspace or kept */
  gsize     kept;                          /* of a task: 0, or what begins with the input that its table is of */
  Copy      copy;                          /* what is copied behind them */
  LptFloatNames names;                     /* of its pixels */
  gboolean  placed;                        /* its pixels are some of the output's: */
  LptConvPlace place;
  gsize     apart;                         /* bytes of a task's pixels, and of their residuals, behind the copies */
  gsize     first;                         /* of its tasks */
  gsize     workspace;
} Conv;

/* One, or one for each phase. */
struct _LptFloatConvForm
{
  LptFloatEpilogue end;
  guint     n_parts;
  Conv     *parts;
  float    *zeros;
};

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

/* Copies what @rows output pixels from @pixel on read; returns the first line. */
static gint64
copy_lines (const Conv  *c,
            const float *x,
            gsize        pixel,
            gsize        rows,
            float       *to)
{
  const LptWindow *v = &c->window;
  gint64 line,
      pixels = lines_of (v, (gint64) pixel / v->out[2], (gint64) (pixel + rows - 1) / v->out[2], &line) * v->in[2];
  const gsize n = c->bundled > 0 ? c->pixel : c->channels;

  for (x += (gsize) (line * v->in[2]) * c->pixel; pixels > 0; pixels--, x += c->pixel, to += c->names.pitch)
    memcpy (to, x, n * sizeof *to);

  return line;
}

/* Computed weights of a group that are not finite: its own, and the room for what is made again. */
typedef struct
{
  const float *w;
  gsize        column;
  float       *room;
} Redo;

static void
run_kernel (const Conv         *c,
            const LptFgemmTile *t,
            const Redo         *redo)
{
  c->kernel->run (t);
  if (redo != NULL)
    lpt_float_taps_redo (c->computed, c->kernel, t, c->names.zeros, redo->w, redo->column, redo->room);
}

/* A tile whose rows are not neighbours in the output. */
static void
run_placed (const Conv      *c,
            const LptOpData *data,
            LptFgemmTile    *t,
            const Redo      *redo,
            gsize            image,
            gsize            row,
            gsize            channel)
{
  float *own = (float *) (gpointer) (data->workspace + c->workspace - c->apart),
        *residual = own + c->split.rows * c->split.cols;
  guint8 *in[] = { NULL, (guint8 *) residual, (guint8 *) residual };
  LptFloatPlaced placed = { &c->window, &c->place, image, row, t->m, t->n, c->groups * c->rows };

  if (c->end->residual != NULL)
    lpt_float_placed_gather (&placed, (const float *) (gconstpointer) data->in[c->end->port] + channel, residual);
  t->end = lpt_float_epilogue_at (c->end, data->in, 0, t->n, channel);
  if (t->end.residual != NULL)
    t->end.residual = residual;
  t->y = own;
  t->ldy = t->n;
  run_kernel (c, t, redo);
  lpt_float_epilogue_finish (c->end, in, &(LptFloatBlock) { 0, 0, t->m, t->n, own, t->n });
  lpt_float_placed_scatter (&placed, own, (float *) (gpointer) data->out + channel);
}

/* Where a tile is, and what its task keeps, or NULL. */
typedef struct
{
  gsize   image_group, row, column;
  guint8 *kept;
} TileAt;

/* The tile of rows from @at->row on; @t: its columns and weights. */
static void
conv_tile (const Conv      *c,
           const LptOpData *data,
           LptFgemmTile    *t,
           const Redo      *redo,
           const TileAt    *at)
{
  const gsize row = at->row, column = at->column, all = c->groups * c->rows,
              image = c->groups == 1 ? at->image_group : at->image_group / c->groups,
              g = at->image_group - image * c->groups;
  const gsize first = image * c->out_pixels + row, channel = g * c->rows + column;
  const float *x = (const float *) (gconstpointer) data->in[0] + image * c->in_pixels * c->pixel + g * c->channels;
  const gsize own = c->bundled > 0 ? column / c->bundled * c->channels : 0;
  const float **table = (const float **) (gpointer) data->workspace;
  float *copies = (float *) (gpointer) ((guint8 *) table + c->table);

  if (at->kept != NULL)
    table = lpt_float_names_keep (&c->names, at->kept, x + own, row, t->m);
  else if (c->copy == COPY_RUNS)
    lpt_float_runs_copy (&c->window, x, row, t->m, table, copies);
  else if (c->copy == COPY_LINES)
    {
      gint64 line = copy_lines (c, x, row, t->m, copies);

      lpt_float_names_set (&c->names, copies + own, line, row, t->m, table);
    }
  else
    lpt_float_names_set (&c->names, x + own, 0, row, t->m, table);
  if (c->copy == COPY_ROWS)
    lpt_float_copy_rows (table, t->m, c->channels, copies);
  t->a = table;
  if (c->placed)
    {
      run_placed (c, data, t, redo, image, row, channel);
      return;
    }
  t->end = lpt_float_epilogue_at (c->end, data->in, first, all, channel);
  t->y = (float *) (gpointer) data->out + first * all + channel;
  t->ldy = all;
  run_kernel (c, t, redo);
  lpt_float_epilogue_finish (c->end, data->in, &(LptFloatBlock) { first, channel, t->m, t->n, t->y, all });
}

static void
conv_task (const Conv      *c,
           const LptOpData *data,
           gsize            task)
{
  const LptFloatSplit *s = &c->split;
  /* Most small convolutions are one image and all columns: no divisions. */
  const gsize rest = s->row_tasks == 1 ? task : task < s->row_tasks ? 0 : task / s->row_tasks,
              image_group = rest < s->col_tasks ? 0 : rest / s->col_tasks;
  TileAt at = { image_group, (task - rest * s->row_tasks) * c->chunk, (rest - image_group * s->col_tasks) * s->cols,
                c->kept > 0 ? data->kept + task * c->kept : NULL };
  const gsize column = at.column, end = MIN (at.row + c->chunk, c->out_pixels);
  const gboolean runs = c->copy == COPY_RUNS;
  LptFgemmTile t = { .n = MIN (s->cols, c->rows - column), .channels = runs ? c->taps : c->channels,
                     .taps = runs ? 1 : c->taps, .a_rows = s->rows, .a_step = 1, .by_rows = s->by_rows,
                     .group = c->bundled };
  float *own = (float *) (gpointer) (data->workspace + c->workspace);
  const gsize g = c->groups == 1 ? 0 : at.image_group % c->groups;
  Redo redo;
  gboolean finite = TRUE;

  if (c->computed != NULL)
    {
      redo = (Redo) { (const float *) (gconstpointer) data->in[1] + g * c->computed->group_stride, column,
                      own + lpt_float_taps_panels (c->computed, s->cols) / sizeof *own };
      finite = lpt_float_taps_pack (c->computed, redo.w, column, t.n, own);
      t.b = own;
    }
  else
    t.b = c->w + g * c->group_size + column * c->channels * c->taps;
  for (; at.row < end; at.row += s->rows)
    {
      t.m = MIN (s->rows, end - at.row);
      conv_tile (c, data, &t, finite ? NULL : &redo, &at);
    }
}

static void
conv_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const LptFloatConvForm *v = op->form.params;
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
  LptFloatConvForm *v = params;
  guint i;

  for (i = 0; i < v->n_parts; i++)
    {
      lpt_float_names_clear (&v->parts[i].names);
      g_free (v->parts[i].computed);
    }
  lpt_float_epilogue_clear (&v->end);
  g_free (v->zeros);
  g_free (v->parts);
}

/* --- what the op has --- */

/* Weights that somebody computes, of a shape that is known. */
static gboolean
has_computed (const LptProgramOp *op)
{
  const LptProgramValue *w = op->in[1];

  return w != NULL && w->kind != LPT_STORAGE_CONST && lpt_program_is_real (w) &&
         lpt_shape_is_static (&w->array.shape) && lpt_program_count (w) > 0;
}

gboolean
lpt_float_conv_shape (LptProgram        *program,
                      LptProgramOp      *op,
                      LptFloatConvShape *s)
{
  const LptProgramValue *bias;
  const LptShape *x, *w, *y;

  *s = (LptFloatConvShape) { program, op };
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
  if (!lpt_is_real_constant (op->in[1]) && !has_computed (op))
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
  s->pixel = s->groups * s->in;
  if (s->groups * s->in != (gsize) x->dims[1])
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (bias != NULL && lpt_program_count (bias) != (gsize) y->dims[1])
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if (!lpt_window_init_weighted (&s->window, &s->view, x, w, y, NULL))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  lpt_window_line_up (&s->window);

  return TRUE;
}

/* A task packs some panels, and its rows are so many that this is little beside them. */
static void
split_computed (Conv         *c,
                LptFloatTaps *computed)
{
  LptFloatSplit *s = &c->split;
  const gsize panel = lpt_float_taps_panels (computed, LPT_FGEMM_PANEL),
              panels = CLAMP (COMPUTED_BYTES / panel, 1, MAX_PANELS), tiles = (c->out_pixels + s->rows - 1) / s->rows;

  s->cols = MIN (panels, (c->rows + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL) * LPT_FGEMM_PANEL;
  s->col_tasks = (c->rows + s->cols - 1) / s->cols;
  s->row_tasks = CLAMP (tiles / LEAST_TILES, 1, MAX_ROW_TASKS);
  c->chunk = (tiles + s->row_tasks - 1) / s->row_tasks * s->rows;
  s->row_tasks = (c->out_pixels + c->chunk - 1) / c->chunk;
  c->computed = computed;
}

/* Do the taps of a pixel along a line share their sets of the cache, and with those of a tile's other pixels push each
 * other out of it? A copy costs more beside many output channels, but where they lie farther apart. */
static gboolean
taps_collide (const Conv *c)
{
  const LptWindow *v = &c->window;
  const gint64 pitch = c->names.pitch * v->stride[2], apart = c->names.pitch * v->dilation[2];

  return lpt_float_rows_collide ((gsize) apart) && v->kernel[2] * pitch * TILE_ROWS >= CROWDED_WAYS * SET_FLOATS &&
         (c->rows <= FEW_COLUMNS || apart % (4 * SET_FLOATS) == 0);
}

void
lpt_float_conv_add_part (const LptFloatConvShape *s,
                         LptFloatConvForm        *form,
                         guint                    i,
                         const LptWindow         *v,
                         const LptFloatPacks     *weights,
                         LptFloatTaps            *computed,
                         const LptConvPlace      *place)
{
  Conv *c = &form->parts[i], *before = c - 1;
  gsize k, pointers;

  c->kernel = s->program->kernels.fgemm;
  c->end = &form->end;
  c->window = *v;
  c->images = s->images;
  c->groups = s->groups;
  c->rows = s->out;
  c->channels = s->in;
  c->pixel = s->pixel;
  c->bundled = s->bundled;
  c->taps = (gsize) lpt_window_size (v->kernel);
  c->in_pixels = (gsize) lpt_window_size (v->in);
  c->out_pixels = (gsize) lpt_window_size (v->out);
  k = c->channels * c->taps;
  lpt_float_names_init (&c->names, v, (gint64) c->pixel, form->zeros);
  if (computed != NULL)
    c->copy = COPY_NONE;
  else if (c->pixel == 1 && lpt_float_runs_pay (v))
    c->copy = COPY_RUNS;
  else if (c->taps == 1 && c->bundled == 0 && lpt_float_rows_collide ((gsize) (c->names.pitch * v->stride[2])))
    c->copy = COPY_ROWS;
  else if (c->taps > 1 && place == NULL && v->in[0] == 1 && v->out[0] == 1 &&
           (lpt_float_rows_collide (2 * (gsize) (c->names.pitch * v->stride[2])) || taps_collide (c)))
    {
      c->copy = COPY_LINES;
      c->names.pitch = (gint64) ((c->bundled > 0 ? c->pixel : c->channels) + LPT_FLOAT_GAP);
    }
  pointers = c->copy == COPY_RUNS ? 1 : c->taps;
  c->split = lpt_float_split (c->images * c->groups, c->out_pixels, c->rows, k,
                              c->copy == COPY_ROWS ? lpt_float_copied_rows (k) : MAX_POINTERS / pointers);
  c->chunk = c->names.rows = c->split.rows;
  if (computed != NULL)
    split_computed (c, computed);
  else
    c->w = lpt_float_pack (s->program, s->op, weights);
  c->group_size = (c->rows + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL * LPT_FGEMM_PANEL * k;
  c->first = i > 0 ? before->first + before->images * before->groups * before->split.row_tasks * before->split.col_tasks
                   : 0;
  c->workspace = c->table = (pointers * c->split.rows * sizeof (float *) + 63) & ~(gsize) 63;
  if (c->copy == COPY_ROWS)
    c->workspace += lpt_float_copied_size (c->split.rows, k);
  else if (c->copy == COPY_RUNS)
    c->workspace += lpt_float_runs_size (v, c->split.rows);
  else if (c->copy == COPY_LINES)
    c->workspace += lpt_float_copied_size ((gsize) (max_lines (v, c->split.rows) * v->in[2]),
                                           (gsize) c->names.pitch - LPT_FLOAT_GAP);
  if (place == NULL)
    return;
  c->placed = TRUE;
  c->place = *place;
  c->apart = (2 * c->split.rows * c->split.cols * sizeof (float) + 63) & ~(gsize) 63;
  c->workspace += c->apart;
}

LptFloatConvForm *
lpt_float_conv_form_new (const LptFloatConvShape *s,
                         guint                    n_parts)
{
  LptFloatConvForm *form = g_new0 (LptFloatConvForm, 1);

  form->n_parts = n_parts;
  form->parts = g_new0 (Conv, n_parts);
  form->zeros = g_new0 (float, s->bundled > 0 ? s->pixel : s->in);
  lpt_float_epilogue_init (&form->end, s->op, s->view.bias, 1, s->groups * s->out);

  return form;
}

/* Bytes of the tables that a convolution of one part keeps. */
static gsize
keep_tables (Conv *c,
             gsize tasks)
{
  const gsize panels = (MIN (c->split.cols, c->rows) + LPT_FGEMM_PANEL - 1) / LPT_FGEMM_PANEL, one = LPT_FLOAT_NAMES_HEAD + c->table;

  if (c->copy != COPY_NONE || c->computed != NULL || c->channels * panels > KEPT_PRODUCTS || tasks > KEPT_BYTES / one)
    return 0;
  c->kept = one;

  return tasks * one;
}

static void
conv_follow (LptProgram   *program,
             LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((LptFloatConvForm *) op->form.params)->end, program, op);
}

void
lpt_float_conv_set_form (const LptFloatConvShape *s,
                         LptFloatConvForm        *v)
{
  const Conv *last = &v->parts[v->n_parts - 1];
  const gsize tasks = last->images * last->groups * last->split.row_tasks * last->split.col_tasks;
  LptOpForm form = { .run = conv_run, .follow = conv_follow, .clear = conv_clear, .params = v,
                     .kernel = last->kernel->name, .tasks = last->first + tasks, .n_in = 1,
                     .in = LPT_OPERANDS ({ s->op->in[0], LPT_LAYOUT_WORDS_LAST }, { s->op->in[1], LPT_LAYOUT_TYPED }),
                     .out = s->op->out[0], .out_layout = LPT_LAYOUT_WORDS_LAST };
  guint i;

  if (last->computed != NULL)
    form.n_in++;
  if (v->n_parts == 1)
    form.kept = keep_tables (v->parts, tasks);
  for (i = 0; i < v->n_parts; i++)
    {
      const Conv *c = &v->parts[i];

      form.workspace = MAX (form.workspace, c->workspace);
      if (c->computed != NULL)
        form.workspace = MAX (form.workspace, c->workspace + lpt_float_taps_room (c->computed, c->split.cols));
    }
  lpt_program_set_form (s->op, &form);
}

/* --- Convolution, GroupConvolution --- */

/* Groups that leave half of a panel or more empty are made together: the same sums, each lane with its own channels. */
static void
bundle (LptFloatConvShape *s)
{
  if (s->groups == 1 || s->out >= LPT_FGEMM_PANEL || LPT_FGEMM_PANEL % s->out != 0 || s->in > s->out)
    return;
  s->bundled = s->out;
  s->out *= s->groups;
  s->groups = 1;
}

/* Forms whose sums have another order. */
static gboolean
prepare_unordered (LptProgram              *program,
                   LptProgramOp            *op,
                   const LptFloatConvShape *s)
{
  if (lpt_float_far_taps_pay (&s->window, s->groups * s->out, s->in))
    lpt_prepare_float_far_taps (program, op, &s->window, s->groups);
  else if (lpt_float_winograd_pays (&s->window, s->out, s->in))
    lpt_prepare_float_winograd (program, op, &s->window, s->groups);
  else
    return FALSE;

  return TRUE;
}

gboolean
lpt_prepare_float_conv (LptProgram   *program,
                        LptProgramOp *op)
{
  LptFloatPacks weights;
  LptFloatConvForm *form;
  LptFloatConvShape s;

  if (!lpt_float_conv_shape (program, op, &s))
    return FALSE;
  if (s.pixel == 1 && op->in[1]->kind == LPT_STORAGE_CONST)
    lpt_window_flatten (&s.window);
  if (s.in == 1 && s.out == 1)
    return lpt_prepare_float_dwconv (program, op, &s.window);
  if (op->in[1]->kind == LPT_STORAGE_CONST && s.groups == 1 && lpt_float_planes_pay (&s.window, s.out, s.in))
    return lpt_prepare_float_planes (program, op, &s.window, 1, FALSE);
  if (op->in[1]->kind == LPT_STORAGE_CONST && s.groups == 1 && lpt_float_planes_fill (program, &s.window, s.out, s.in))
    return lpt_prepare_float_planes (program, op, &s.window, 1, TRUE);
  if (op->in[1]->kind == LPT_STORAGE_CONST && (program->flags & LPT_PLAN_ORDERED) == 0 &&
      prepare_unordered (program, op, &s))
    return TRUE;

  if (op->in[1]->kind == LPT_STORAGE_CONST)
    bundle (&s);
  if (op->in[1]->kind == LPT_STORAGE_CONST && s.groups > 1 && lpt_float_planes_pay_groups (&s.window, s.out))
    return lpt_prepare_float_planes (program, op, &s.window, s.groups, FALSE);
  form = lpt_float_conv_form_new (&s, 1);
  if (op->in[1]->kind != LPT_STORAGE_CONST)
    {
      LptFloatTaps *computed = lpt_float_taps_new (&s.view, &op->in[1]->array.shape, s.window.kernel, NULL);

      lpt_float_conv_add_part (&s, form, 0, &s.window, NULL, computed, NULL);
      lpt_float_conv_set_form (&s, form);
      return TRUE;
    }
  weights = (LptFloatPacks) { op->in[1]->array.data, NULL, 0, s.groups,
                              s.in * (gsize) lpt_window_size (s.window.kernel), s.out, 1, 0 };
  weights.n_stride = (ptrdiff_t) weights.k;
  lpt_float_conv_add_part (&s, form, 0, &s.window, &weights, NULL, NULL);
  lpt_float_conv_set_form (&s, form);

  return TRUE;
}
