/* debug.c - which layer of a quantized model does the damage, and what would help
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/debugger.h"

#include "ir/lpt-quantize-details.h"
#include "quantize/samples.h"

#include <lpt/lpt-work.h>

#include <math.h>

#define JUDGED 32
/* So many layers are meant to be kept float together; they are looked for among so many, and among so few for each in
 * the place of each. */
#define TOGETHER 3
#define NEXT     12
#define NEAR     8

/* --- what is handed out --------------------------------------------------------- */

static void
grid_free (gpointer data)
{
  g_free (((LptDebugGrid *) data)->name);
  g_free (data);
}

static void
remedy_free (gpointer data)
{
  g_free (((LptDebugRemedy *) data)->text);
  g_free (data);
}

LptDebugGrid *
lpt_debug_grid_new (LptNode *fq)
{
  LptDebugGrid *grid = g_new0 (LptDebugGrid, 1);
  g_auto (LptQuantizeDetails) details = { 0 };
  float low = 0.0f, high = 0.0f;
  *grid = (LptDebugGrid) { .name = g_strdup (fq->name), .seen_low = HUGE_VAL, .seen_high = -HUGE_VAL, .bits = -1.0, .unused = -1 };
  if (lpt_quantize_details_read (fq, &details))
    grid->levels = details.levels;
  if (lpt_debug_interval (fq, &low, &high))
    {
      grid->low = low;
      grid->high = high;
    }
  return grid;
}

LptDebugLayer *
lpt_debug_layer_new (LptNode *node)
{
  LptDebugLayer *layer = g_new0 (LptDebugLayer, 1);
  *layer = (LptDebugLayer) { .name = g_strdup (node->name), .op = node->info->name, .gain = NAN, .accumulated = NAN, .isolated = NAN, .weights = NAN, .accumulator = NAN };
  if (node->n_in >= 2 && lpt_node_in (node, 1) != NULL)
    layer->macs = MAX (lpt_node_macs_for (node, &lpt_node_in (node, 0)->shape, &lpt_node_in (node, 1)->shape,
                                          &node->out[0].shape),
                       0);
  layer->grids = g_ptr_array_new_with_free_func (grid_free);
  layer->remedies = g_ptr_array_new_with_free_func (remedy_free);
  return layer;
}

void
lpt_debug_layer_free (LptDebugLayer *layer)
{
  g_free (layer->name);
  g_clear_pointer (&layer->channels, g_array_unref);
  g_ptr_array_unref (layer->grids);
  g_ptr_array_unref (layer->remedies);
  g_free (layer);
}

static LptDebug *
debug_new (void)
{
  LptDebug *debug = g_new0 (LptDebug, 1);
  debug->layers = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_debug_layer_free);
  debug->remarks = g_ptr_array_new_with_free_func (g_free);
  return debug;
}

void
lpt_debug_free (LptDebug *debug)
{
  if (debug == NULL)
    return;
  g_ptr_array_unref (debug->layers);
  g_ptr_array_unref (debug->remarks);
  g_free (debug);
}

/* --- steps ---------------------------------------------------------------------- */

static gboolean
rank_layers (LptDebugger *d, GError **error)
{
  d->result->sqnr = lpt_debug_judge (d, d->model, error);
  for (guint i = 0; !isnan (d->result->sqnr) && i < d->layers->len; i++)
    {
      LptDebugged *layer = d->layers->pdata[i];
      lpt_debugger_step (d, "ranking layers", i, d->layers->len);
      g_autoptr (LptGraph) copy = lpt_debug_layer_real (d, layer, error);
      double sqnr = copy != NULL ? lpt_debug_judge (d, copy, error) : NAN;
      if (isnan (sqnr))
        {
          g_prefix_error (error, "with \"%s\" real: ", layer->row->name);
          return FALSE;
        }
      layer->row->gain = sqnr == d->result->sqnr ? 0.0 : sqnr - d->result->sqnr;
    }
  return !isnan (d->result->sqnr);
}

static gint
compare_layers (const LptDebugLayer *x, const LptDebugLayer *y)
{
  return x->gain != y->gain ? (x->gain < y->gain) - (x->gain > y->gain) : (x->place > y->place) - (x->place < y->place);
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const LptDebugged *x = *(const LptDebugged *const *) a, *y = *(const LptDebugged *const *) b;
  return (x->row->place > y->row->place) - (x->row->place < y->row->place);
}

static gint
compare_debugged (gconstpointer a, gconstpointer b)
{
  const LptDebugged *x = *(const LptDebugged *const *) a, *y = *(const LptDebugged *const *) b;
  return compare_layers (x->row, y->row);
}

static void
swap (GPtrArray *list, guint i, guint k)
{
  gpointer kept = list->pdata[i];
  list->pdata[i] = list->pdata[k];
  list->pdata[k] = kept;
}

/* Those from @first to @end by what each gains alone. */
static void
sort_part (GPtrArray *list, guint first, guint end)
{
  for (guint i = first + 1; i < end; i++)
    for (guint k = i; k > first && compare_debugged (&list->pdata[k - 1], &list->pdata[k]) > 0; k--)
      swap (list, k - 1, k);
}

/* SQNR with the first @n of the list and @more real; NaN + error. */
static double
judge_together (LptDebugger *d, guint n, guint more, GError **error)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (layers, d->layers->pdata[i]);
  g_ptr_array_add (layers, d->layers->pdata[more]);
  g_ptr_array_sort (layers, compare_places);
  g_autoptr (LptGraph) copy = lpt_debug_layers_real (d, layers, error);
  return copy != NULL ? lpt_debug_judge (d, copy, error) : NAN;
}

/* The first of the list, then each of those behind it in the place of each of them, as long as that gains. */
static gboolean
exchange_companions (LptDebugger *d, GError **error)
{
  guint n = MIN (TOGETHER, d->layers->len), best_at = 0, best_other = 0;
  double most = n < 2 ? NAN : judge_together (d, n - 1, n - 1, error);
  for (guint round = 0; n >= 2 && round < TOGETHER; round++)
    {
      double before = most;
      for (guint at = 0; at < n; at++)
        for (guint other = n; other < MIN (NEAR, d->layers->len); other++)
          {
            swap (d->layers, at, other);
            double sqnr = judge_together (d, n - 1, n - 1, error);
            swap (d->layers, at, other);
            if (isnan (sqnr))
              return FALSE;
            best_at = sqnr > most ? at : best_at;
            best_other = sqnr > most ? other : best_other;
            most = fmax (sqnr, most);
          }
      if (isnan (most) || most <= before)
        break;
      swap (d->layers, best_at, best_other);
      sort_part (d->layers, 0, n);
      sort_part (d->layers, n, MIN (NEXT, d->layers->len));
    }
  return n < 2 || !isnan (most);
}

/* Errors of layers may undo each other: the second and the third of the list are those of the next ones that gain most
 * together with what is in front of them. */
static gboolean
choose_companions (LptDebugger *d, GError **error)
{
  for (guint at = 1; at < MIN (TOGETHER, d->layers->len); at++)
    {
      double most = -HUGE_VAL;
      guint best = at;
      for (guint i = at; i < MIN (NEXT, d->layers->len); i++)
        {
          double sqnr = judge_together (d, at, i, error);
          if (isnan (sqnr))
            return FALSE;
          best = sqnr > most ? i : best;
          most = fmax (sqnr, most);
        }
      g_ptr_array_insert (d->layers, (gint) at, g_ptr_array_steal_index (d->layers, best));
    }
  if (!exchange_companions (d, error))
    return FALSE;
  for (guint i = 0; i < d->layers->len; i++)
    d->result->layers->pdata[i] = ((LptDebugged *) d->layers->pdata[i])->row;
  return TRUE;
}

/* Behind the ranking: layers are in the order of their gains from here on. */
static gboolean
try_remedies (LptDebugger *d, GError **error)
{
  g_ptr_array_sort (d->layers, compare_debugged);
  if (!choose_companions (d, error))
    return FALSE;
  for (guint i = 0; i < MIN (d->options->remedies, d->layers->len); i++)
    {
      lpt_debugger_step (d, "trying remedies", i, MIN (d->options->remedies, d->layers->len));
      if (!lpt_debug_remedies (d, d->layers->pdata[i], error))
        return FALSE;
    }
  return TRUE;
}

static void
make_remarks (LptDebugger *d)
{
  guint n = 0;
  const char *first = NULL;
  if (!d->given)
    g_ptr_array_add (d->result->remarks,
                     g_strdup ("without the float model the model with its quantizers left out stands in: what was "
                               "lost when weights and biases became integers in the file "
                               "cannot be seen"));
  for (guint i = 0; i < d->layers->len; i++)
    {
      const LptDebugLayer *row = ((LptDebugged *) d->layers->pdata[i])->row;
      if (row->replaced)
        continue;
      first = n++ == 0 ? row->name : first;
    }
  if (n > 0)
    g_ptr_array_add (d->result->remarks,
                     g_strdup_printf ("%u of %u layers, \"%s\" the first, have no counterpart in the float model: "
                                      "their quantizers were left out instead, damage in their weights does not show",
                                      n, d->layers->len, first));
}

LptDebug *
lpt_debug_run (LptGraph *model, LptGraph *real, LptData *data, const LptDebugOptions *options, GError **error)
{
  g_autoptr (LptDebug) result = debug_new ();
  g_auto (LptDebugger) d = { .options = options, .result = result, .samples_of = real != NULL ? real : model };
  d.data = lpt_data_spread (data, data->n, FALSE);
  d.judges[0].data = lpt_data_spread (d.data, MIN (data->n, options->judged > 0 ? options->judged : JUDGED), FALSE);
  d.judges[1].data = options->held != NULL ? lpt_data_spread (options->held, options->held->n, FALSE) : NULL;
  result->n_judged = d.judges[0].data->n;
  if (!lpt_debugger_init (&d, model, real, error) || !lpt_debug_observe (&d, error) || !lpt_debug_weights (&d, error) ||
      (!options->unranked &&
       (!lpt_debug_judge_real (&d, error) || !rank_layers (&d, error) || !try_remedies (&d, error))))
    return NULL;
  make_remarks (&d);
  return g_steal_pointer (&result);
}

/* --- several layers ------------------------------------------------------------- */

static gboolean
is_among (const char *name, const char *const *names)
{
  return names != NULL && g_strv_contains (names, name);
}

double
lpt_debug_kept (LptGraph *model, LptGraph *real, LptData *data, const char *const *names,
                const LptDebugOptions *options, GError **error)
{
  g_autoptr (LptDebug) result = debug_new ();
  g_auto (LptDebugger) d = { .options = options, .result = result, .samples_of = real != NULL ? real : model };
  g_autoptr (GPtrArray) kept = g_ptr_array_new ();
  d.data = lpt_data_spread (data, data->n, FALSE);
  d.judges[0].data = lpt_data_spread (d.data, MIN (data->n, options->judged > 0 ? options->judged : JUDGED), FALSE);
  if (!lpt_debugger_init (&d, model, real, error) || !lpt_debug_judge_real (&d, error))
    return NAN;
  for (guint i = 0; i < d.layers->len; i++)
    if (is_among (((LptDebugged *) d.layers->pdata[i])->row->name, names))
      g_ptr_array_add (kept, d.layers->pdata[i]);
  g_autoptr (LptGraph) copy = lpt_debug_layers_real (&d, kept, error);
  return copy != NULL ? lpt_debug_judge (&d, copy, error) : NAN;
}
