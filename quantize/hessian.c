/* hessian.c - second moments of what layers read, and rounding by them
 *
 * The error of output channel o, whose weights are off by e, is e' H e with H = E[x x'] over the places that the kernel
 * looks at. x is what the layer will read, rounded to its lattice, so H is the step squared times a matrix of whole
 * numbers: exact, and the same in any order and on any processor. About 8192 places are taken, as many from each
 * sample, at equal distances in the sample. Each group of a grouped convolution has its own H.
 *
 * Layers are left at nearest rounding when their data is not quantized, when they are transposed convolutions, or when
 * d > 4608.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/hessian.h"
#include "quantize/window.h"

#include <lpt/lpt-attrs.h>

#include "executor/runtime/lpt-parallel.h"

#include <math.h>
#include <string.h>

#define PLACES        8192
#define MAX_COLUMNS   4608
#define BYTES_AT_ONCE ((gsize) 40 << 20)

/* One layer whose moments are being summed. */
typedef struct
{
  LptLayer  *layer;
  LptPoint  *point;
  LptHessian h;
  gint64     rows;         /* places per sample, at most */
} Gather;

typedef struct
{
  LptQuantizer *q;
  GArray       *gathers;   /* Gather, one per watched value */
  LptPool      *pool;
  gint16       *codes;     /* places * groups * d of a sample */
  gsize         n_codes;
} Turn;

static gint64
columns (const LptLayer *layer)
{
  return layer->inputs * layer->places;
}

/* --- places ------------------------------------------------------------------------------- */

static gint16
code_of (const LptLattice *lattice, float x)
{
  double q = rint (x / lattice->step), low = rint (lattice->low / lattice->step),
         high = rint (lattice->high / lattice->step);
  return (gint16) CLAMP (q, low, high);
}

/* The columns of place @at of the result into @to, [inputs][places] per group, groups behind each other by @pitch. */
static void
gather_window (const Gather *g, const LptWindow *w, const float *x, gint64 at, gint64 channels, gint16 *to, gsize pitch)
{
  const LptLayer *layer = g->layer;
  gint64 place[3] = { 0 }, plane = 1, pixels = 1, batch;
  for (gint i = 2; i >= 0; i--)
    {
      place[i] = at % w->out[i];
      at /= w->out[i];
      plane *= w->in[i];
    }
  batch = at;
  for (gint i = 0; i < 3; i++)
    pixels *= w->kernel[i];
  for (gint64 k = 0; k < pixels; k++)
    {
      gint64 rest = k, offset = 0, run = 1;
      gboolean inside = TRUE;
      for (gint i = 2; i >= 0; i--)
        {
          gint64 y = place[i] * w->stride[i] - w->pad[i] + rest % w->kernel[i] * w->dilation[i];
          rest /= w->kernel[i];
          inside = inside && y >= 0 && y < w->in[i];
          offset += y * run;
          run *= w->in[i];
        }
      for (gint64 c = 0; c < channels; c++)
        to[(gsize) (c / layer->inputs) * pitch + (gsize) (c % layer->inputs * layer->places + k)]
          = inside ? code_of (&g->point->lattice, x[(batch * channels + c) * plane + offset]) : 0;
    }
}

/* Codes of up to g->rows places of a sample; how many. */
static gint64
gather_codes (Turn *turn, const Gather *g, const LptShape *shape, const float *x, gint64 count)
{
  const LptLayer *layer = g->layer;
  gint64 d = columns (layer), channels = layer->groups * layer->inputs, total;
  LptWindow w = { 0 };
  gboolean product = layer->node->op == LPT_OP_MATMUL;
  if (!product && !lpt_layer_window (layer, shape, &layer->node->out[0].shape, &w))
    return 0;
  total = product ? count / channels : shape->dims[0];
  for (gint i = 0; !product && i < 3; i++)
    total *= w.out[i];
  gint64 n = MIN (total, g->rows), inner = 1;
  for (gint i = layer->in_axis + 1; product && i < shape->rank; i++)
    inner *= shape->dims[i];
  gsize pitch = (gsize) (g->rows * d), need = (gsize) layer->groups * pitch;
  if (need > turn->n_codes)
    {
      g_free (turn->codes);
      turn->codes = g_new (gint16, turn->n_codes = need);
    }
  for (gint64 r = 0; r < n; r++)
    {
      gint64 at = (2 * r + 1) * total / (2 * n);
      gint16 *to = turn->codes + (gsize) (r * d);
      if (product)
        for (gint64 c = 0; c < channels; c++)
          to[c] = code_of (&g->point->lattice, x[(at / inner * channels + c) * inner + at % inner]);
      else
        gather_window (g, &w, x, at, channels, to, pitch);
    }
  return n;
}

/* --- sums ---------------------------------------------------------------------------------- */

typedef struct { const Gather *g; const gint16 *codes; gint64 n; } Sum;

#define STRIPE 32

/* Some rows of the matrix of one group: a task. */
static void
sum_stripe (void *data, size_t task, unsigned thread)
{
  const Sum *s = data;
  gint64 d = s->g->h.d, stripes = (d + STRIPE - 1) / STRIPE, group = (gint64) task / stripes,
         from = (gint64) task % stripes * STRIPE;
  const gint16 *codes = s->codes + group * s->g->rows * d;
  for (gint64 r = 0; r < s->n; r++)
    {
      const gint16 *x = codes + r * d;
      for (gint64 a = from; a < MIN (from + STRIPE, d); a++)
        {
          gint32 q = x[a], *to = s->g->h.sums + (group * d + a) * d;
          for (gint64 b = a; q != 0 && b < d; b++)
            to[b] += q * x[b];
        }
    }
}

static gboolean
look (LptQuantizer *q, guint i, LptTensor *tensor, guint sample, gpointer data, GError **error)
{
  Turn *turn = data;
  const Gather *g = &g_array_index (turn->gathers, Gather, i);
  g_autofree float *x = lpt_tensor_to_f32 (tensor, error);
  if (x == NULL)
    return FALSE;
  gint64 n = gather_codes (turn, g, lpt_tensor_shape (tensor), x, lpt_tensor_count (tensor));
  Sum sum = { g, turn->codes, n };
  lpt_parallel_for (turn->pool, (size_t) (g->layer->groups * ((g->h.d + STRIPE - 1) / STRIPE)), sum_stripe, &sum);
  return TRUE;
}

/* --- rounding --------------------------------------------------------------------------------- */

typedef struct
{
  LptLayer *layer;
  const Gather *g;
  const double *h;
  float *w;
  gint64 group;
  LptRoundRow row;
  gpointer workspace;
} Rows;

static void
round_row (void *data, size_t task, unsigned thread)
{
  const Rows *r = data;
  const LptLayer *layer = r->layer;
  gint64 d = r->g->h.d, c = r->group * layer->outputs + (gint64) task;
  guint s = layer->n_scale > 1 ? (guint) c : 0;
  double zero = layer->zero != NULL ? layer->zero[s] : 0.0;
  g_autofree double *w = g_new (double, d), *codes = g_new (double, d);
  for (gint64 k = 0; k < d; k++)
    {
      w[k] = layer->original[lpt_layer_at (layer, c, k / layer->places, k % layer->places)] / layer->scale[s];
      codes[k] = rint (lpt_layer_round (layer, c, r->w[lpt_layer_at (layer, c, k / layer->places, k % layer->places)])
                       / layer->scale[s]);
    }
  r->row (d, r->h, w, codes, layer->low - zero, layer->high - zero, r->workspace);
  for (gint64 k = 0; k < d; k++)
    r->w[lpt_layer_at (layer, c, k / layer->places, k % layer->places)] = (float) (codes[k] * layer->scale[s]);
}

static gboolean
round_layer (Turn *turn, const Gather *g, LptRoundPrepare prepare, LptRoundRow row, GError **error)
{
  gint64 d = g->h.d;
  g_autofree double *h = g_try_new (double, d * d);
  g_autofree float *w = lpt_layer_weights (g->layer, error);
  if (w == NULL || h == NULL)
    {
      if (h == NULL)
        g_set_error (error, LPT_ERROR, LPT_ERROR_MEMORY,
                     "no memory for %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " moments", d, d);
      return FALSE;
    }
  for (gint64 group = 0; group < g->layer->groups; group++)
    {
      g_autofree gpointer workspace = NULL;
      for (gint64 a = 0; a < d; a++)
        for (gint64 b = a; b < d; b++)
          h[a * d + b] = h[b * d + a] = g->h.sums[(group * d + a) * d + b];
      if (prepare != NULL && !prepare (d, h, &workspace))
        continue;
      Rows rows = { g->layer, g, h, w, group, row, workspace };
      lpt_parallel_for (turn->pool, (size_t) g->layer->outputs, round_row, &rows);
    }
  return lpt_layer_set_weights (g->layer, w, error);
}

static gboolean
run_turn (Turn *turn, LptRoundPrepare prepare, LptRoundRow row, GError **error)
{
  LptQuantizer *q = turn->q;
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  gboolean ok;
  for (guint i = 0; i < turn->gathers->len; i++)
    {
      const LptLayer *layer = g_array_index (turn->gathers, Gather, i).layer;
      g_ptr_array_add (values, lpt_node_in (layer->node, layer->data_port));
    }
  ok = lpt_quantize_watch (q, values, q->fit, look, turn, error);
  for (guint i = 0; i < turn->gathers->len; i++)
    {
      lpt_quantizer_step (q, "rounding", i, turn->gathers->len);
      ok = ok && round_layer (turn, &g_array_index (turn->gathers, Gather, i), prepare, row, error);
      g_free (g_array_index (turn->gathers, Gather, i).h.sums);
    }
  g_array_set_size (turn->gathers, 0);
  return ok;
}

static gboolean
start_gather (LptQuantizer *q, LptLayer *layer, Gather *g)
{
  *g = (Gather) { .layer = layer, .point = lpt_quantizer_point (q, layer->node, layer->data_port) };
  if (g->point == NULL || (layer->node->info->flags & LPT_OP_F_TRANSPOSED) || columns (layer) > MAX_COLUMNS)
    return FALSE;
  g->h.d = columns (layer);
  g->h.groups = layer->groups;
  g->rows = MAX (1, PLACES / (gint64) q->fit->n);
  return TRUE;
}

gboolean
lpt_quantize_round_rows (LptQuantizer *q, LptRoundPrepare prepare, LptRoundRow row, GError **error)
{
  Turn turn = { .q = q,
                .gathers = g_array_new (FALSE, FALSE, sizeof (Gather)),
                .pool = lpt_pool_new (q->options->threads) };
  gsize bytes = 0;
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < q->layers->len; i++)
    {
      Gather g;
      LptLayer *layer = g_ptr_array_index (q->layers, i);
      if (!start_gather (q, layer, &g))
        continue;
      gsize need = (gsize) g.h.groups * (gsize) g.h.d * (gsize) g.h.d * sizeof (gint32);
      if (turn.gathers->len > 0 && bytes + need > BYTES_AT_ONCE)
        {
          ok = run_turn (&turn, prepare, row, error);
          bytes = 0;
        }
      g.h.sums = g_try_malloc0 (need);
      if (g.h.sums == NULL)
        {
          lpt_quantizer_remark (q, "%s: no memory for its moments; nearest rounding", layer->node->name);
          continue;
        }
      bytes += need;
      g_array_append_val (turn.gathers, g);
    }
  ok = ok && (turn.gathers->len == 0 || run_turn (&turn, prepare, row, error));
  for (guint i = 0; i < turn.gathers->len; i++)
    g_free (g_array_index (turn.gathers, Gather, i).h.sums);
  g_array_unref (turn.gathers);
  g_free (turn.codes);
  lpt_pool_free (turn.pool);
  return ok;
}
