/* float-winograd.c - real convolutions of 3x3 taps and stride 1 by Winograd's transforms
 *
 * A task takes some tiles of 2x2 outputs, which lie as far apart as the taps do, and some columns. Its tiles are
 * transformed once; then a few columns at a time go through the products of all points and back, so that neither side
 * of them leaves the second cache. Who is to do a convolution is decided by what both ways cost, in vectors of
 * products. The sums are rounded otherwise than the plain op's (winograd.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/float.h"

#define POINTS LPT_WINOGRAD_POINTS
#define SIDE   LPT_WINOGRAD_SIDE
#define OUT    LPT_WINOGRAD_OUT
#define PANEL  LPT_FGEMM_PANEL
/* Columns at a time. */
#define BLOCK  (2 * PANEL)
/* Bytes of a task's transformed tiles, and how many tiles at most. */
#define TILE_BYTES (512 * 1024)
#define MAX_TILES  (2 * LPT_FGEMM_ROWS)
/* Rows of a block of the product. */
#define STEP (LPT_FGEMM_ROWS / 3)
/* Products of a task, and columns that are worth transforming tiles for. */
#define TASK_WORK  (1 << 19)
#define MANY_TASKS 16
#define LEAST_COLS 128

/* The first outputs of the tiles along an axis. */
typedef struct
{
  gint64 *first;
  gsize   n;
} Starts;

typedef struct
{
  const LptWinogradKernel *kernel;
  const LptFgemmKernel *fgemm;
  LptFloatEpilogue end;
  LptWindow window;
  gsize     images, groups, rows, channels;    /* output and input channels of one group */
  Starts    lines, columns;
  gsize     tiles, tile_tasks;       /* of an image; of a task */
  gsize     cols, col_tasks;
  gsize     n_tile_tasks;
  const float *w;
  gsize     point_size;              /* packed weights of a point */
  gsize     ldv, v_point, m_point;
  gsize     pixels, v, m;            /* where they lie in the workspace, behind the pointers */
  float    *zeros;
} Winograd;

/* Where the tiles [@tile, @tile + @n) read, and which pixels they write. */
static void
name_tiles (const Winograd *c,
            const float    *x,
            gsize           tile,
            gsize           n,
            const float   **from,
            gsize          *pixels)
{
  const LptWindow *v = &c->window;
  const gint64 *dilation = v->dilation, pitch = (gint64) (c->groups * c->channels);
  gint64 i, j;

  for (; n > 0; n--, tile++)
    {
      gint64 y0 = c->lines.first[tile / c->columns.n], x0 = c->columns.first[tile % c->columns.n];

      for (i = 0; i < SIDE; i++)
        {
          gint64 iy = y0 + i * dilation[1] - v->pad[1];
          const float *line = iy >= 0 && iy < v->in[1] ? x + iy * v->in[2] * pitch : NULL;

          for (j = 0; j < SIDE; j++)
            {
              gint64 ix = x0 + j * dilation[2] - v->pad[2];

              *from++ = line != NULL && ix >= 0 && ix < v->in[2] ? line + ix * pitch : c->zeros;
            }
        }
      for (i = 0; i < OUT; i++)
        for (j = 0; j < OUT; j++)
          {
            gint64 oy = y0 + i * dilation[1], ox = x0 + j * dilation[2];

            *pixels++ = oy < v->out[1] && ox < v->out[2] ? (gsize) (oy * v->out[2] + ox) : LPT_WINOGRAD_NONE;
          }
    }
}

/* The products of @n columns from @column of group @g on, for @tiles tiles. */
static void
run_points (const Winograd *c,
            guint8         *workspace,
            gsize           tiles,
            gsize           g,
            gsize           column,
            gsize           n)
{
  const float **rows = (const float **) (gpointer) workspace, *v = (const float *) (gpointer) (workspace + c->v);
  LptFgemmTile t = { .m = tiles, .n = n, .channels = c->channels, .taps = 1, .a = rows, .a_rows = tiles, .a_step = 1,
                     .y = (float *) (gpointer) (workspace + c->m), .ldy = BLOCK };
  gsize point, i;

  for (point = 0; point < POINTS; point++, v += c->v_point, t.y += c->m_point)
    {
      for (i = 0; i < tiles; i++)
        rows[i] = v + i * c->ldv;
      t.b = c->w + (g * POINTS + point) * c->point_size + column * c->channels;
      c->fgemm->run (&t);
    }
}

/* What the kernel leaves of the end, pixels that lie side by side at once. */
static void
finish_pixels (const Winograd       *c,
               const LptOpData      *data,
               const LptWinogradOut *out,
               gsize                 first,
               gsize                 channel)
{
  const gsize *pixels = out->pixels, n = c->end.maps != NULL || c->end.rounds != NULL ? out->n * OUT * OUT : 0;
  gsize i, run;

  for (i = 0; i < n; i += run)
    {
      run = 1;
      if (pixels[i] == LPT_WINOGRAD_NONE)
        continue;
      while (i + run < n && pixels[i + run] == pixels[i] + run)
        run++;
      lpt_float_epilogue_finish (&c->end, data->in,
                                 &(LptFloatBlock) { first + pixels[i], channel, run, out->columns,
                                                    out->y + pixels[i] * out->ldy, out->ldy });
    }
}

static void
winograd_task (const Winograd  *c,
               const LptOpData *data,
               gsize            task)
{
  gsize tile = task % c->n_tile_tasks * c->tile_tasks, column = task / c->n_tile_tasks % c->col_tasks * c->cols;
  gsize image_group = task / c->n_tile_tasks / c->col_tasks, g = image_group % c->groups;
  gsize image = image_group / c->groups, first = image * (gsize) lpt_window_size (c->window.out);
  gsize n = MIN (c->tile_tasks, c->tiles - tile), end = MIN (column + c->cols, c->rows), all = c->groups * c->rows;
  gsize *pixels = (gsize *) (gpointer) (data->workspace + c->pixels);
  const float **from = (const float **) (gpointer) data->workspace;
  float *v = (float *) (gpointer) (data->workspace + c->v), *m = (float *) (gpointer) (data->workspace + c->m);
  const float *x = (const float *) (gconstpointer) data->in[0] +
                   (image * c->groups * (gsize) lpt_window_size (c->window.in) + g) * c->channels;

  name_tiles (c, x, tile, n, from, pixels);
  c->kernel->in (&(LptWinogradIn) { n, c->channels, from, v, c->ldv, c->v_point });
  for (; column < end; column += BLOCK)
    {
      gsize channel = g * c->rows + column;
      LptWinogradOut out = { .n = n, .columns = MIN (BLOCK, end - column), .m = m, .ldm = BLOCK,
                             .point = c->m_point, .pixels = pixels,
                             .end = lpt_float_epilogue_at (&c->end, data->in, first, all, channel),
                             .y = (float *) (gpointer) data->out + first * all + channel, .ldy = all };

      run_points (c, data->workspace, n, g, column, out.columns);
      c->kernel->out (&out);
      finish_pixels (c, data, &out, first, channel);
    }
}

static void
winograd_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  for (; task < end; task++)
    winograd_task (op->form.params, data, task);
}

static void
winograd_follow (LptProgram   *program,
                 LptProgramOp *op)
{
  lpt_float_epilogue_follow (&((Winograd *) op->form.params)->end, program, op);
}

static void
winograd_clear (gpointer params)
{
  Winograd *c = params;

  g_free (c->lines.first);
  g_free (c->columns.first);
  g_free (c->zeros);
  lpt_float_epilogue_clear (&c->end);
}

/* --- which convolutions --- */

/* Tiles along an axis of @n outputs, @dilation from tap to tap. */
static gsize
count_tiles (gint64 n,
             gint64 dilation)
{
  const gint64 all = n / dilation, longer = n % dilation;   /* so many outputs of each sequence, one more of some */

  return (gsize) (longer * ((all + 1 + OUT - 1) / OUT) + (dilation - longer) * ((all + OUT - 1) / OUT));
}

static gboolean
pays (const LptWindow *v,
      gsize            rows,
      gsize            channels)
{
  const double panels = (double) ((rows + PANEL - 1) / PANEL), k = (double) channels,
               pixels = (double) lpt_window_size (v->out),
               tiles = (double) (count_tiles (v->out[1], v->dilation[1]) * count_tiles (v->out[2], v->dilation[2]));
  /* What takes as long as so many vectors of products: to begin and store a sum, a vector of transforms, to read one of
   * weights from memory. */
  const double sum = 6, in = 56, out = 44, tile = 40, weight = 20, most = 0.9;
  const double points = POINTS, taps = LPT_WINOGRAD_TAPS * LPT_WINOGRAD_TAPS;

  return tiles * (panels * (points * (k + sum) + out) + k / PANEL * in + tile) + points * k * panels * weight <=
         most * (pixels * panels * (taps * k + sum) + taps * k * panels * weight);
}

gboolean
lpt_float_winograd_pays (const LptWindow *v,
                         gsize            rows,
                         gsize            channels)
{
  gint axis;

  for (axis = 1; axis < 3; axis++)
    if (v->kernel[axis] != LPT_WINOGRAD_TAPS || v->stride[axis] != 1)
      return FALSE;

  return v->kernel[0] == 1 && v->in[0] == 1 && v->out[0] == 1 && pays (v, rows, channels);
}

/* --- the form --- */

static Starts
starts_new (gint64 n,
            gint64 dilation)
{
  Starts s = { g_new (gint64, count_tiles (n, dilation)), 0 };
  gint64 sequence, at;

  for (sequence = 0; sequence < MIN (dilation, n); sequence++)
    for (at = sequence; at < n; at += OUT * dilation)
      s.first[s.n++] = at;

  return s;
}

/* The weights [groups][out][in][3][3], packed for each point of each group. */
static const float *
pack_weights (const Winograd     *c,
              LptProgram         *program,
              const LptProgramOp *op)
{
  const gsize size = c->channels * c->rows, taps = LPT_WINOGRAD_TAPS * LPT_WINOGRAD_TAPS;
  const char key[] = "winograd";
  LptFloatPacks packs = { NULL, key, sizeof key, c->groups * POINTS, c->channels, c->rows, 1, (ptrdiff_t) c->channels };
  float *points = lpt_program_array (c->groups * POINTS * size, sizeof *points);
  const float *from = op->in[1]->array.data, *packed;
  gsize g, i;

  packs.data = points;
  for (g = 0; g < c->groups && points != NULL; g++)
    for (i = 0; i < size; i++, from += taps)
      lpt_winograd_weights (from, points + g * POINTS * size + i, size);
  packed = lpt_float_pack (program, op, &packs);
  lpt_aligned_free (points);

  return packed;
}

static gsize
aligned (gsize size)
{
  return (size + 63) & ~(gsize) 63;
}

/* Elements between points of @n: another line of each set of the cache. */
static gsize
point_step (gsize n)
{
  return (n / PANEL | 1) * PANEL;
}

/* Returns the bytes of the workspace. */
static gsize
split (Winograd *c)
{
  const double sums = (double) (c->images * c->groups * c->tiles * POINTS) * (double) c->rows,
               products = sums * (double) c->channels;
  gsize want = products < TASK_WORK ? 1 : (gsize) MIN (products / TASK_WORK, MANY_TASKS), tasks;

  c->ldv = ((c->channels + PANEL - 1) / PANEL | 1) * PANEL;
  c->tile_tasks = CLAMP (TILE_BYTES / (POINTS * c->ldv * sizeof (float)) / STEP * STEP, STEP, MAX_TILES);
  c->n_tile_tasks = (c->tiles + c->tile_tasks - 1) / c->tile_tasks;
  c->tile_tasks = ((c->tiles + c->n_tile_tasks - 1) / c->n_tile_tasks + STEP - 1) / STEP * STEP;
  c->n_tile_tasks = (c->tiles + c->tile_tasks - 1) / c->tile_tasks;
  tasks = c->images * c->groups * c->n_tile_tasks;
  c->col_tasks = CLAMP (want / tasks, 1, (c->rows + LEAST_COLS - 1) / LEAST_COLS);
  c->cols = ((c->rows + c->col_tasks - 1) / c->col_tasks + BLOCK - 1) / BLOCK * BLOCK;
  c->col_tasks = (c->rows + c->cols - 1) / c->cols;

  c->v_point = point_step (c->tile_tasks * c->ldv);
  c->m_point = point_step (c->tile_tasks * BLOCK);
  c->pixels = aligned (c->tile_tasks * POINTS * sizeof (float *));
  c->v = c->pixels + aligned (c->tile_tasks * OUT * OUT * sizeof (gsize));
  c->m = c->v + POINTS * c->v_point * sizeof (float);

  return c->m + POINTS * c->m_point * sizeof (float);
}

void
lpt_prepare_float_winograd (LptProgram      *program,
                            LptProgramOp    *op,
                            const LptWindow *window,
                            gsize            groups)
{
  Winograd *c = g_new0 (Winograd, 1);
  LptOpForm form = { .run = winograd_run, .follow = winograd_follow, .clear = winograd_clear, .params = c, .n_in = 1,
                     .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_WORDS_LAST }), .out = op->out[0],
                     .out_layout = LPT_LAYOUT_WORDS_LAST };

  c->kernel = program->kernels.winograd;
  c->fgemm = program->kernels.fgemm;
  c->window = *window;
  c->images = (gsize) op->in[0]->array.shape.dims[0];
  c->groups = groups;
  c->channels = (gsize) op->in[0]->array.shape.dims[1] / groups;
  c->rows = (gsize) op->out[0]->array.shape.dims[1] / groups;
  c->lines = starts_new (window->out[1], window->dilation[1]);
  c->columns = starts_new (window->out[2], window->dilation[2]);
  c->tiles = c->lines.n * c->columns.n;
  c->zeros = g_new0 (float, c->channels);
  c->point_size = (c->rows + PANEL - 1) / PANEL * PANEL * c->channels;
  c->w = pack_weights (c, program, op);
  lpt_float_epilogue_init (&c->end, op, 2, 1, groups * c->rows);
  form.workspace = split (c);
  form.kernel = c->kernel->name;
  form.reorders = TRUE;
  form.tasks = c->images * groups * c->n_tile_tasks * c->col_tasks;
  lpt_program_set_form (op, &form);
}
