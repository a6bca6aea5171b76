/* debug-remedy.c - what would help a layer most, measured
 *
 *   keep float     the layer of the float model in its place
 *   other range    other intervals for its values: all that the float model has, or those of the least mean square error
 *   weight scales  the float weights rounded anew, one scale per output channel ("per channel" where there was one for
 *   all)
 *   16-bit         its values with 65,536 levels over all that the float model has
 *
 * Each is judged by the SQNR of the model's output on the samples that gains are measured on. A rounding wins over none
 * where its errors undo those of other layers on these samples, which they do not on others (measured:
 * tests/debug/debug-faults.c): of what lies within 0.5 dB of the best the one that rounds least is named first, in the
 * order above (16-bit behind float).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "passes/support/lpt-product.h"
#include "quantize/range.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

/* Takes @text. */
static gboolean
remedy_add (LptDebugger *d, LptDebugged *layer, const char *kind, char *text, double sqnr, LptGraph *graph,
            GError **error)
{
  GError *problem = NULL;
  LptDebugRemedy *remedy = g_new0 (LptDebugRemedy, 1);
  *remedy = (LptDebugRemedy) { .kind = kind, .text = text, .sqnr = sqnr, .held = lpt_debug_judge_held (d, graph, &problem), .time = NAN };
  g_ptr_array_add (layer->row->remedies, remedy);
  if (problem == NULL && d->options->timed)
    remedy->time = lpt_debug_time (d, d->model, graph);
  if (problem != NULL)
    g_propagate_error (error, problem);
  return problem == NULL;
}

static gboolean
keep_float (LptDebugger *d, LptDebugged *layer, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_debug_layer_real (d, layer, error);
  if (copy == NULL)
    return FALSE;
  return remedy_add (d, layer, "keep float", g_strdup ("keep it float"), d->result->sqnr + layer->row->gain, copy,
                     error);
}

/* All quantizers of the layer with intervals by @method, told in @text, which stays empty where there are none. NULL +
 * error. */
static LptGraph *
with_ranges (LptDebugger *d, LptDebugged *layer, LptRangeMethod method, guint levels, GString *text, GError **error)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (d->model);
  for (guint i = 0; i < layer->quantizers->len; i++)
    {
      LptNode *fq = layer->quantizers->pdata[i];
      const LptDebugGrid *grid = layer->row->grids->pdata[i];
      const LptHistogram *seen = layer->seen->pdata[i];
      if (!lpt_debug_keeps_unit (fq) || seen->n == 0)
        continue;
      guint n = levels > 0 ? levels : (guint) grid->levels;
      gboolean symmetric = grid->low < 0.0 && fabs (grid->low + grid->high) <=
                                                  1.5 * (grid->high - grid->low) / (double) (grid->levels - 1);
      LptLattice lattice = lpt_range_find (seen, method, 99.99, n, symmetric && grid->levels <= 256 && levels == 0);
      double half = 0.5 * (grid->high - grid->low) / (double) (grid->levels - 1);
      /* The same interval, as far as its codes tell. */
      if (levels == 0 && fabs (lattice.low - grid->low) <= half && fabs (lattice.high - grid->high) <= half)
        continue;
      if (!lpt_debug_set_grid (copy, fq->name, lattice.low, lattice.high, lattice.levels, error))
        return NULL;
      g_string_append_printf (text, "%s[%.4g, %.4g] in place of [%.4g, %.4g]", text->len > 0 ? ", " : "range ",
                              lattice.low, lattice.high, grid->low, grid->high);
    }
  lpt_graph_sweep (copy);
  return lpt_graph_infer (copy, error) ? g_steal_pointer (&copy) : NULL;
}

static gboolean
try_ranges (LptDebugger *d, LptDebugged *layer, GError **error)
{
  static const LptRangeMethod methods[] = { LPT_RANGES_MIN_MAX, LPT_RANGES_MSE };
  g_autoptr (LptGraph) best = NULL;
  g_autofree char *best_text = NULL;
  double most = -HUGE_VAL;
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (LptGraph) copy = with_ranges (d, layer, methods[i], 0, text, error);
      double sqnr = copy != NULL && text->len > 0 ? lpt_debug_judge (d, copy, error) : NAN;
      if (copy == NULL || (isnan (sqnr) && text->len > 0))
        return FALSE;
      if (text->len == 0 || sqnr <= most)
        continue;
      most = sqnr;
      lpt_graph_free (best);
      best = g_steal_pointer (&copy);
      g_free (best_text);
      best_text = g_strdup (text->str);
    }
  return best == NULL || remedy_add (d, layer, "other range", g_steal_pointer (&best_text), most, best, error);
}

static gboolean
try_16_bit (LptDebugger *d, LptDebugged *layer, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (LptGraph) copy = with_ranges (d, layer, LPT_RANGES_MIN_MAX, 65536, text, error);
  if (copy == NULL || text->len == 0)
    return copy != NULL;
  double sqnr = lpt_debug_judge (d, copy, error);
  if (isnan (sqnr))
    return FALSE;
  return remedy_add (d, layer, "16-bit", g_strdup ("its values in 16 bits"), sqnr, copy, error);
}

/* FakeQuantize with one interval per output channel on the float weights of @real, in @copy. */
static LptNode *
round_weights (LptGraph *copy, const LptLayer *real, GError **error)
{
  g_autofree float *w = lpt_layer_weights (real, error);
  gint64 n = lpt_layer_channels (real);
  g_autofree float *low = g_new0 (float, n + 1), *high = g_new0 (float, n + 1);
  for (gint64 c = 0; w != NULL && c < n; c++)
    {
      for (gint64 i = 0; i < real->inputs; i++)
        for (gint64 k = 0; k < real->places; k++)
          high[c] = fmaxf (high[c], fabsf (w[lpt_layer_at (real, c, i, k)]));
      high[c] = high[c] > 0.0f ? high[c] : 1.0f;
      low[c] = -high[c];
    }
  LptNode *weights = w != NULL ? lpt_graph_add_const (copy, NULL, lpt_node_const_in (real->node, real->weights_port))
                               : NULL;
  LptNode *a = weights != NULL ? lpt_product_add_const (copy, NULL, &real->scale_shape, low, error) : NULL;
  LptNode *b = a != NULL ? lpt_product_add_const (copy, NULL, &real->scale_shape, high, error) : NULL;
  if (b == NULL)
    return NULL;
  LptValue *const in[] = { &weights->out[0], &a->out[0], &b->out[0], &a->out[0], &b->out[0] };
  LptNode *fq = lpt_graph_add (copy, LPT_OP_FAKE_QUANTIZE, 0, NULL, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = 255;
  return lpt_node_infer (fq, error) ? fq : NULL;
}

static gboolean
try_scales (LptDebugger *d, LptDebugged *layer, GError **error)
{
  LptLayer real;
  guint n_steps = 0;
  g_free (lpt_debug_weight_steps (layer, &n_steps));
  if (layer->row->channels == NULL || !lpt_layer_view (layer->real_root->producer, &real))
    return TRUE;
  g_autoptr (LptGraph) copy = lpt_graph_copy (d->model);
  LptNode *fq = round_weights (copy, &real, error), *node = lpt_graph_find (copy, layer->root->producer->name);
  gboolean same = fq != NULL &&
                  lpt_shape_equal (&lpt_node_in (node, (guint) layer->weights_port)->shape, &fq->out[0].shape),
           one = n_steps == 1 && lpt_layer_channels (&real) > 1;
  lpt_layer_clear (&real);
  if (fq == NULL || !same)
    return fq != NULL;
  lpt_node_set_input (node, (guint) layer->weights_port, &fq->out[0]);
  lpt_graph_sweep (copy);
  double sqnr = lpt_graph_infer (copy, error) ? lpt_debug_judge (d, copy, error) : NAN;
  if (isnan (sqnr))
    return FALSE;
  return remedy_add (d, layer, one ? "per channel" : "weight scales",
                     g_strdup (one ? "one scale per channel for its weights"
                                   : "its weights rounded anew, one scale per channel"),
                     sqnr, copy, error);
}

static gint
compare_remedies (gconstpointer a, gconstpointer b)
{
  const LptDebugRemedy *x = *(const LptDebugRemedy *const *) a, *y = *(const LptDebugRemedy *const *) b;
  return (x->sqnr < y->sqnr) - (x->sqnr > y->sqnr);
}

/* What more rounding may win by chance, dB. */
#define NOTHING 0.5

static guint
rank_of (const LptDebugRemedy *remedy)
{
  static const char *const kinds[] = { "keep float", "16-bit", "weight scales", "per channel", "other range" };
  guint i = 0;
  while (i < G_N_ELEMENTS (kinds) && !g_str_equal (kinds[i], remedy->kind))
    i++;
  return i;
}

/* The best first; then what rounds least of those that are nearly as good. */
static void
sort_remedies (GPtrArray *remedies)
{
  guint first = 0;
  g_ptr_array_sort (remedies, compare_remedies);
  const LptDebugRemedy *best = remedies->pdata[0];
  for (guint i = 1; i < remedies->len; i++)
    {
      const LptDebugRemedy *other = remedies->pdata[i];
      if (other->sqnr >= best->sqnr - NOTHING && rank_of (other) < rank_of (remedies->pdata[first]))
        first = i;
    }
  g_ptr_array_insert (remedies, 0, g_ptr_array_steal_index (remedies, first));
}

gboolean
lpt_debug_remedies (LptDebugger *d, LptDebugged *layer, GError **error)
{
  if (!try_ranges (d, layer, error) || !try_scales (d, layer, error) || !try_16_bit (d, layer, error) ||
      !keep_float (d, layer, error))
    return FALSE;
  sort_remedies (layer->row->remedies);
  return TRUE;
}
