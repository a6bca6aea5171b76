/* debug-observe.c - errors of each layer, what its quantizers do to its values, how large its sums become
 *
 * The model runs beside the float model that has every quantized layer beside its own (debug-edit.c): accumulated and
 * isolated errors come from one run of each over a sample.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "executor/runtime/lpt-parallel.h"
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

/* @wanted: what they should be, (nullable): a quantizer that does the work of a Relu clips nothing that is wanted. */
static void
count_values (LptDebugGrid *grid, guint64 *codes, const LptQuantizeDetails *details, const float *x,
              const float *wanted, gint64 n, gint64 inner)
{
  guint64 beyond = 0;
  for (gint64 i = 0; i < n; i++)
    {
      guint k = details->n_in > 1 ? (guint) (i / inner % details->n_in) : 0;
      double low = details->in_low[k], width = (double) details->in_high[k] - low,
             value = wanted != NULL ? wanted[i] : x[i], at = width > 0.0 ? (value - low) / width : 0.0;
      if (isnan (x[i]) || isnan (value))
        continue;
      grid->seen_low = fmin (grid->seen_low, value);
      grid->seen_high = fmax (grid->seen_high, value);
      /* Half a step beyond still rounds to the last code. */
      beyond += at < -0.5 / (double) (details->levels - 1) || at > 1.0 + 0.5 / (double) (details->levels - 1);
      grid->bars[(guint) CLAMP (floor ((0.25 + 0.5 * at) * LPT_DEBUG_BARS), 0.0, LPT_DEBUG_BARS - 1.0)]++;
      if (codes != NULL)
        codes[(guint) rint (CLAMP (width > 0.0 ? (x[i] - low) / width : 0.0, 0.0, 1.0) *
                            (double) (details->levels - 1))]++;
    }
  grid->clipped += (double) beyond;       /* becomes a share at the end */
  grid->n += (guint64) n;
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

static void
cut_values (float *x, gint64 n, double least, double greatest)
{
  for (gint64 i = 0; i < n; i++)
    x[i] = isnan (x[i]) ? x[i] : (float) fmin (fmax (x[i], least), greatest);
}

static gboolean
watch_quantizer (Observer *o, LptNode *fq, LptDebugGrid *grid, LptHistogram *seen, guint64 *codes, GError **error)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  LptValue *in = lpt_node_in (fq, 0), *real = lpt_debugger_real_of (o->d, &fq->out[0]);
  gint64 n, inner, m = 0;
  double least, greatest, folded;
  g_autofree float *x = lpt_value_run_real (&o->model, in, &n, error);
  if (x == NULL || !lpt_quantize_details_read (fq, &details))
    return *error == NULL;
  g_autofree float *wanted = real != NULL ? lpt_value_run_real (&o->alone, real, &m, error) : NULL;
  find_cut (fq, &least, &greatest);
  if (wanted == NULL && lpt_debug_may_cut (fq, &folded))
    {
      least = fmax (least, 0.0);
      greatest = fmin (greatest, folded);
    }
  cut_values (x, n, least, greatest);
  cut_values (wanted, m, least, greatest);
  if (find_axis (&details, &in->shape, &inner))
    count_values (grid, codes, &details, x, wanted != NULL && m == n ? wanted : NULL, n, inner);
  lpt_histogram_add (seen, wanted != NULL ? wanted : x, wanted != NULL ? m : n);
  return *error == NULL;
}

/* --- layers --------------------------------------------------------------------- */

static gboolean
watch_errors (Observer *o, guint i, GError **error)
{
  const LptDebugged *layer = o->d->layers->pdata[i];
  const LptValue *end = layer->ends->pdata[0], *real = lpt_debugger_real_of (o->d, end),
                 *own = *o->names[i] != '\0' ? lpt_graph_find_value (o->alone.graph, o->names[i]) : NULL;
  gint64 na, nb, nc;
  g_autofree float *a = real != NULL ? lpt_value_run_real (&o->alone, real, &na, error) : NULL;
  g_autofree float *b = a != NULL ? lpt_value_run_real (&o->model, end, &nb, error) : NULL;
  g_autofree float *c = a != NULL && *error == NULL && own != NULL ? lpt_value_run_real (&o->alone, own, &nc, error)
                                                                   : NULL;
  if (a != NULL && b != NULL && na == nb)
    lpt_distance_add (&o->accumulated[i], a, b, na);
  if (a != NULL && c != NULL && na == nc)
    lpt_distance_add (&o->isolated[i], a, c, na);
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
  gint64 n, inner = 1;
  if (steps == NULL || (n_steps > 1 && (shape->rank <= axis || axis < 0 || shape->dims[axis] != (gint64) n_steps)))
    return TRUE;
  for (gint k = axis + 1; k < shape->rank; k++)
    inner *= shape->dims[k];
  g_autofree float *x = lpt_value_run_real (&o->model, layer->root, &n, error);
  for (gint64 k = 0; x != NULL && k < n; k++)
    {
      double unit = step * steps[n_steps > 1 ? k / inner % n_steps : 0], sum = unit > 0.0 ? fabs (x[k]) / unit : 0.0;
      layer->row->accumulator = isnan (layer->row->accumulator) || sum > layer->row->accumulator
                                    ? sum
                                    : layer->row->accumulator;
      o->beyond[i] += sum > 2147483647.0;
    }
  o->sums[i] += x != NULL ? (guint64) n : 0;
  return *error == NULL;
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
