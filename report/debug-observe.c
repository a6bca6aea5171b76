/* debug-observe.c - errors of each layer, what its quantizers do to its values, how large its sums become
 *
 * The model runs beside the float model that has every quantized layer beside its own (debug-edit.c): accumulated and
 * isolated errors come from one run of each over a sample.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "executor/runtime/lpt-parallel.h"
#include "ir/lpt-memory.h"
#include "ir/lpt-quantize-details.h"
#include "report/distance.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

typedef struct
{
  LptDebugger  *d;
  LptValueRun   model, alone;
  char        **names;                      /* values of `alone`: the layers by themselves */
  LptDistance  *accumulated, *isolated;     /* of each layer */
  guint64     **codes;                      /* of all quantizers one after the other; NULL: more than 256 */
  guint64      *sums, *beyond;              /* of each layer: sums of products, those that 32 bits do not hold */
  LptPool      *pool;
} Observer;

/* --- quantizers ----------------------------------------------------------------- */

/* Element i has interval i / inner % n; FALSE: it varies along more than one axis. */
static gboolean
find_axis (const LptQuantizeDetails *details, const LptShape *shape, gint64 *inner)
{
  *inner = 1;
  if (details->n_in == 1)
    return TRUE;
  for (gint i = 0; i < details->in_shape.rank; i++)
    {
      gint at = shape->rank - details->in_shape.rank + i;
      if (details->in_shape.dims[i] != (gint64) details->n_in || at < 0)
        continue;
      for (gint k = at + 1; k < shape->rank; k++)
        *inner *= shape->dims[k];
      return shape->dims[at] == (gint64) details->n_in;
    }
  return FALSE;
}

/* Whole numbers are those of a double when this is added, halves to even ones. */
#define TO_WHOLE 6755399441055744.0

/* The values of one interval. @wanted: what they should be, (nullable): a quantizer that does the work of a Relu clips
 * nothing that is wanted. */
static void
count_values (LptDebugGrid *grid, guint64 *codes, double low, double width, const float *x, const float *wanted,
              gint64 n)
{
  double last = (double) (grid->levels - 1), margin = 0.5 / last;
  double seen_low = grid->seen_low, seen_high = grid->seen_high;
  guint64 beyond = 0;
  for (gint64 i = 0; i < n; i++)
    {
      double value = wanted != NULL ? wanted[i] : x[i], at = width > 0.0 ? (value - low) / width : 0.0;
      if (isnan (x[i]) || isnan (value))
        continue;
      seen_low = value < seen_low ? value : seen_low;
      seen_high = value > seen_high ? value : seen_high;
      /* Half a step beyond still rounds to the last code. */
      beyond += at < -margin || at > 1.0 + margin;
      grid->bars[(guint) CLAMP ((0.25 + 0.5 * at) * LPT_DEBUG_BARS, 0.0, LPT_DEBUG_BARS - 1.0)]++;
      if (codes == NULL)
        continue;
      at = wanted != NULL && width > 0.0 ? (x[i] - low) / width : at;
      codes[(guint) (CLAMP (at, 0.0, 1.0) * last + TO_WHOLE - TO_WHOLE)]++;
    }
  grid->seen_low = seen_low;
  grid->seen_high = seen_high;
  grid->clipped += (double) beyond;       /* becomes a share at the end */
  grid->n += (guint64) n;
}

/* Elements of a value from @first on. */
typedef struct
{
  gint64       first, n;
  const float *x, *wanted;
} Block;

/* A run of one interval, of @inner elements, at a time. */
static void
count_block (LptDebugGrid *grid, guint64 *codes, const LptQuantizeDetails *details, gint64 inner, const Block *block)
{
  gint64 run = details->n_in > 1 ? inner : G_MAXINT64, last = block->first + block->n;
  for (gint64 i = block->first, end; i < last; i = end)
    {
      guint k = (guint) (i / run % MAX (details->n_in, 1));
      double low = details->in_low[k];
      const float *x = block->x + (i - block->first), *wanted = block->wanted;
      end = details->n_in > 1 ? MIN ((i / run + 1) * run, last) : last;
      count_values (grid, codes, low, (double) details->in_high[k] - low, x,
                    wanted != NULL ? wanted + (i - block->first) : NULL, end - i);
    }
}

/* What it cuts off the Relu or Clamp behind it would, too, or what may have been folded into it where nobody knows
 * what is wanted: the bounds of these. */
static void
find_cut (const LptNode *fq, double *least, double *greatest)
{
  gboolean read = lpt_value_n_uses (&fq->out[0]) > 0;
  *least = read ? HUGE_VAL : -HUGE_VAL;
  *greatest = -*least;
  for (guint i = 0; i < lpt_value_n_uses (&fq->out[0]); i++)
    {
      const LptNode *reader = lpt_value_use (&fq->out[0], i)->node;
      const LptClampAttrs *clamp = reader->op == LPT_OP_CLAMP ? LPT_ATTRS (reader, LptClampAttrs) : NULL;
      *least = fmin (*least, clamp != NULL ? clamp->min : reader->op == LPT_OP_RELU ? 0.0 : -HUGE_VAL);
      *greatest = fmax (*greatest, clamp != NULL ? clamp->max : HUGE_VAL);
    }
}

/* @n <= LPT_VIEW_BLOCK elements of @view from @first on, cut, in @to. */
static void
read_cut (const LptValueView *view, gint64 first, gint64 n, double least, double greatest, float *to)
{
  const float *x = lpt_value_view_read (view, first, n, to);
  float low = (float) least, high = (float) greatest;
  for (gint64 i = 0; i < n; i++)
    to[i] = x[i] < low ? low : x[i] > high ? high : x[i];
}

/* All of @view, cut, are seen. */
static gboolean
see_values (LptHistogram *seen, const LptValueView *view, double least, double greatest, GError **error)
{
  g_autofree float *x = lpt_memory_try ((gsize) MAX (view->n, 1), sizeof *x, error);
  for (gint64 first = 0; x != NULL && first < view->n; first += LPT_VIEW_BLOCK)
    read_cut (view, first, MIN (view->n - first, LPT_VIEW_BLOCK), least, greatest, x + first);
  if (x != NULL)
    lpt_histogram_add (seen, x, view->n);
  return x != NULL;
}

static gboolean
watch_quantizer (Observer *o, LptNode *fq, LptDebugGrid *grid, LptHistogram *seen, guint64 *codes, GError **error)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  g_auto (LptValueView) values = { NULL }, wanted = { NULL };
  LptValue *in = lpt_node_in (fq, 0), *real = lpt_debugger_real_of (o->d, &fq->out[0]);
  gint64 inner;
  double least, greatest, folded;
  if (!lpt_value_run_view (&o->model, in, &values, error) || !lpt_quantize_details_read (fq, &details) ||
      (real != NULL && !lpt_value_run_view (&o->alone, real, &wanted, error) && *error != NULL))
    return *error == NULL;
  find_cut (fq, &least, &greatest);
  if (wanted.held == NULL && lpt_debug_may_cut (fq, &folded))
    {
      least = fmax (least, 0.0);
      greatest = fmin (greatest, folded);
    }
  gboolean known = wanted.held != NULL && wanted.n == values.n;
  gint64 total = find_axis (&details, &in->shape, &inner) ? values.n : 0;
  for (gint64 first = 0; first < total; first += LPT_VIEW_BLOCK)
    {
      float x[LPT_VIEW_BLOCK], y[LPT_VIEW_BLOCK];
      gint64 n = MIN (total - first, LPT_VIEW_BLOCK);
      read_cut (&values, first, n, least, greatest, x);
      if (known)
        read_cut (&wanted, first, n, least, greatest, y);
      count_block (grid, codes, &details, inner, &(Block) { first, n, x, known ? y : NULL });
    }
  return o->d->options->unranked ||
         see_values (seen, wanted.held != NULL ? &wanted : &values, least, greatest, error);
}

/* --- layers --------------------------------------------------------------------- */

static const LptValue *
value_alone (const Observer *o, guint i)
{
  return *o->names[i] != '\0' ? lpt_graph_find_value (o->alone.graph, o->names[i]) : NULL;
}

static void
add_distance (LptDistance *d, const LptValueView *a, const LptValueView *b)
{
  float x[LPT_VIEW_BLOCK], y[LPT_VIEW_BLOCK];
  for (gint64 first = 0; a->n == b->n && first < a->n; first += LPT_VIEW_BLOCK)
    {
      gint64 n = MIN (a->n - first, LPT_VIEW_BLOCK);
      lpt_distance_add (d, lpt_value_view_read (a, first, n, x), lpt_value_view_read (b, first, n, y), n);
    }
}

static gboolean
watch_errors (Observer *o, guint i, GError **error)
{
  const LptDebugged *layer = o->d->layers->pdata[i];
  const LptValue *end = layer->ends->pdata[0], *real = lpt_debugger_real_of (o->d, end), *own = value_alone (o, i);
  g_auto (LptValueView) a = { NULL }, b = { NULL }, c = { NULL };
  if (real == NULL || !lpt_value_run_view (&o->alone, real, &a, error))
    return *error == NULL;
  if (lpt_value_run_view (&o->model, end, &b, error))
    add_distance (&o->accumulated[i], &a, &b);
  if (*error == NULL && own != NULL && lpt_value_run_view (&o->alone, own, &c, error))
    add_distance (&o->isolated[i], &a, &c);
  return *error == NULL;
}

/* One step of the data of the layer, 0 = not known. */
static double
data_step (const LptDebugged *layer)
{
  LptNode *node = layer->root->producer, *fq = layer->weights_port >= 0 && node->n_in >= 2 ? lpt_node_src (node, layer->weights_port == 0 ? 1 : 0) : NULL;
  g_auto (LptQuantizeDetails) details = { 0 };
  if (fq == NULL || fq->op != LPT_OP_FAKE_QUANTIZE || !lpt_quantize_details_read (fq, &details) || details.n_out != 1 ||
      details.levels < 2)
    return 0.0;
  return ((double) details.out_high[0] - details.out_low[0]) / (double) (details.levels - 1);
}

/* @n sums of products, of one unit. */
static void
count_sums (LptDebugLayer *row, guint64 *beyond, const float *x, gint64 n, double unit)
{
  float most = 0.0f;
  for (gint64 i = 0; i < n; i++)
    {
      float size = fabsf (x[i]);
      most = size > most ? size : most;
      *beyond += unit > 0.0 && size / unit > 2147483647.0;
    }
  row->accumulator = isnan (row->accumulator) ? 0.0 : row->accumulator;
  if (unit > 0.0 && most / unit > row->accumulator)
    row->accumulator = most / unit;
}

/* The sums of products in steps of data and weights. */
static gboolean
watch_sums (Observer *o, guint i, GError **error)
{
  const LptDebugged *layer = o->d->layers->pdata[i];
  guint n_steps;
  double step = data_step (layer);
  g_autofree double *steps = step > 0.0 ? lpt_debug_weight_steps (layer, &n_steps) : NULL;
  const LptShape *shape = &layer->root->shape;
  gint axis = layer->root->producer->op == LPT_OP_MATMUL ? shape->rank - 1 : 1;
  gint64 inner = 1;
  g_auto (LptValueView) view = { NULL };
  if (steps == NULL || (n_steps > 1 && (shape->rank <= axis || axis < 0 || shape->dims[axis] != (gint64) n_steps)))
    return TRUE;
  for (gint k = axis + 1; k < shape->rank; k++)
    inner *= shape->dims[k];
  if (inner == 0 || !lpt_value_run_view (&o->model, layer->root, &view, error))
    return *error == NULL;
  for (gint64 first = 0, end; first < view.n; first = end)
    {
      float buffer[LPT_VIEW_BLOCK];
      end = MIN (MIN (first + LPT_VIEW_BLOCK, view.n), n_steps > 1 ? (first / inner + 1) * inner : view.n);
      const float *x = lpt_value_view_read (&view, first, end - first, buffer);
      count_sums (layer->row, &o->beyond[i], x, end - first, step * steps[n_steps > 1 ? first / inner % n_steps : 0]);
    }
  o->sums[i] += (guint64) view.n;
  return TRUE;
}

/* What a sample says of all layers, each a task. */
typedef struct
{
  Observer *o;
  guint    *first;        /* place of the layer's first quantizer among all */
  GError  **problems;
} Watch;

static void
watch_layer (void *data, size_t i, unsigned thread)
{
  const Watch *w = data;
  const LptDebugged *layer = w->o->d->layers->pdata[i];
  gboolean ok = watch_errors (w->o, (guint) i, &w->problems[i]) && watch_sums (w->o, (guint) i, &w->problems[i]);
  for (guint k = 0; k < layer->quantizers->len && ok; k++)
    ok = watch_quantizer (w->o, layer->quantizers->pdata[k], layer->row->grids->pdata[k], layer->seen->pdata[k],
                          w->o->codes[w->first[i] + k], &w->problems[i]);
}

static gboolean
watch_layers (Observer *o, GError **error)
{
  guint n = o->d->layers->len;
  g_autofree guint *first = g_new0 (guint, n + 1);
  g_autofree GError **problems = g_new0 (GError *, n + 1);
  Watch watch = { o, first, problems };
  for (guint i = 0; i < n; i++)
    first[i + 1] = first[i] + ((LptDebugged *) o->d->layers->pdata[i])->quantizers->len;
  lpt_parallel_for (o->pool, n, watch_layer, &watch);
  return lpt_take_problems (problems, n, error);
}

static gboolean
watch_sample (Observer *o, guint sample, GError **error)
{
  LptDebugger *d = o->d;
  guint n_in = d->samples_of->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1),
                       **others = g_new0 (LptTensor *, d->real->parameters->len + 1);
  g_autofree LptTensor **own = g_new0 (LptTensor *, d->model->parameters->len + 1);
  gboolean ok = lpt_data_get (d->data, sample, tensors, error) &&
                lpt_samples_inputs_for (d->samples_of, tensors, d->real, others, error) &&
                lpt_samples_inputs_for (d->samples_of, tensors, d->model, own, error) &&
                lpt_value_run_sample (&o->model, own, error) && lpt_value_run_sample (&o->alone, others, error);
  lpt_samples_clear (tensors, n_in);
  lpt_samples_clear (others, d->real->parameters->len);
  lpt_samples_clear (own, d->model->parameters->len);
  return ok && watch_layers (o, error);
}

/* --- results -------------------------------------------------------------------- */

static void
finish_grid (LptDebugGrid *grid, const guint64 *codes)
{
  grid->clipped = grid->n > 0 ? grid->clipped / (double) grid->n : 0.0;
  if (codes == NULL || grid->n == 0)
    return;
  grid->unused = 0;
  grid->bits = 0.0;
  for (guint i = 0; i < grid->levels; i++)
    {
      double p = (double) codes[i] / (double) grid->n;
      grid->unused += codes[i] == 0;
      grid->bits -= p > 0.0 ? p * log2 (p) : 0.0;
    }
}

static void
finish (Observer *o)
{
  for (guint i = 0, at = 0; i < o->d->layers->len; i++)
    {
      const LptDebugged *layer = o->d->layers->pdata[i];
      LptDebugLayer *row = layer->row;
      row->accumulated = o->accumulated[i].n > 0 ? lpt_distance_sqnr (&o->accumulated[i]) : NAN;
      row->isolated = o->isolated[i].n > 0 ? lpt_distance_sqnr (&o->isolated[i]) : NAN;
      row->accumulator = row->accumulator > 0.0 ? log2 (row->accumulator) : row->accumulator;
      row->saturated = o->sums[i] > 0 ? (double) o->beyond[i] / (double) o->sums[i] : 0.0;
      for (guint k = 0; k < layer->quantizers->len; k++, at++)
        finish_grid (row->grids->pdata[k], o->codes[at]);
    }
}

static guint64 **
new_codes (const LptDebugger *d)
{
  GPtrArray *list = g_ptr_array_new ();
  for (guint i = 0; i < d->layers->len; i++)
    {
      const GPtrArray *grids = ((LptDebugged *) d->layers->pdata[i])->row->grids;
      for (guint k = 0; k < grids->len; k++)
        g_ptr_array_add (list, ((LptDebugGrid *) grids->pdata[k])->levels <= 256 ? g_new0 (guint64, 256) : NULL);
    }
  g_ptr_array_add (list, NULL);
  d->result->n_samples = MIN (d->data->n, d->options->limit > 0 ? d->options->limit : 32);
  return (guint64 **) g_ptr_array_free (list, FALSE);
}

static void
observer_clear (Observer *o)
{
  guint n = 0;
  for (guint i = 0; i < o->d->layers->len; i++)
    n += ((LptDebugged *) o->d->layers->pdata[i])->quantizers->len;
  for (guint i = 0; i < n; i++)
    g_free (o->codes[i]);
  g_free (o->codes);
  g_free (o->accumulated);
  g_free (o->isolated);
  g_free (o->sums);
  g_free (o->beyond);
  g_strfreev (o->names);
  lpt_value_run_clear (&o->model);
  lpt_value_run_clear (&o->alone);
  lpt_pool_free (o->pool);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Observer, observer_clear)

/* Everything that watch_layers() reads. */
static void
choose_values (Observer *o)
{
  for (guint i = 0; i < o->d->layers->len; i++)
    {
      const LptDebugged *layer = o->d->layers->pdata[i];
      const LptValue *end = layer->ends->pdata[0];
      lpt_value_run_watch (&o->model, end);
      lpt_value_run_watch (&o->model, layer->weights_port >= 0 ? layer->root : NULL);
      lpt_value_run_watch (&o->alone, lpt_debugger_real_of (o->d, end));
      lpt_value_run_watch (&o->alone, value_alone (o, i));
      for (guint k = 0; k < layer->quantizers->len; k++)
        {
          LptNode *fq = layer->quantizers->pdata[k];
          lpt_value_run_watch (&o->model, lpt_node_in (fq, 0));
          lpt_value_run_watch (&o->alone, lpt_debugger_real_of (o->d, &fq->out[0]));
        }
    }
}

gboolean
lpt_debug_observe (LptDebugger *d, GError **error)
{
  guint n = d->layers->len;
  g_auto (Observer) o = { .d = d, .codes = new_codes (d), .accumulated = g_new0 (LptDistance, n + 1), .isolated = g_new0 (LptDistance, n + 1),
                          .sums = g_new0 (guint64, n + 1), .beyond = g_new0 (guint64, n + 1), .pool = lpt_pool_new (d->options->threads) };
  g_autoptr (LptGraph) alone = lpt_debug_all_alone (d, &o.names, error);
  if (alone == NULL)
    return FALSE;
  o.model = (LptValueRun) { .graph = d->model, .runner = { .threads = d->options->threads } };
  o.alone = (LptValueRun) { .graph = alone, .runner = { .threads = d->options->threads } };
  choose_values (&o);
  for (guint i = 0; i < d->result->n_samples; i++)
    {
      lpt_debugger_step (d, "observing", i, d->result->n_samples);
      if (!watch_sample (&o, i, error))
        {
          lpt_value_run_clear (&o.alone);
          return FALSE;
        }
    }
  finish (&o);
  lpt_value_run_clear (&o.alone);
  return TRUE;
}
