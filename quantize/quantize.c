/* quantize.c - lpt_quantize(): what the samples are, the graph prepared, what has to be searched for, the steps, the
 * verdict
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/samples.h"
#include "quantize/search.h"
#include "quantize/steps.h"
#include "quantize/trial.h"

#include <lpt/lpt-pass.h>

#include <math.h>
#include <string.h>

static guint
repair_bit (const char *name)
{
  gint i = lpt_repair_find (name);
  return i >= 0 ? 1u << i : 0;
}

gboolean
lpt_quantize_options_init (LptQuantizeOptions *options, const char *preset, GError **error)
{
  gboolean accurate = preset != NULL && g_str_equal (preset, "accurate");
  *options = (LptQuantizeOptions) { .ranges = LPT_RANGES_MSE,
                                    .io_type = LPT_DTYPE_F32,
                                    .percentile = 99.99,
                                    .weights_mse = TRUE,
                                    .max_drop = -1.0,
                                    .threads = 1,
                                    .eval = { .threads = 1 } };
  options->repairs = repair_bit ("bias-correction");
  if (accurate)
    options->repairs |=
      repair_bit ("equalization") | repair_bit ("smoothing") | repair_bit ("gptq") | repair_bit ("rounding");
  if (preset == NULL || g_str_equal (preset, "fast"))
    return TRUE;
  if (!accurate)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the presets are fast and accurate", preset);
  return accurate;
}

/* --- reports ----------------------------------------------------------------------------- */

static void
free_row (gpointer data)
{
  LptQuantizedLayer *row = data;
  g_free (row->name);
  g_free (row->reason);
  g_free (row);
}

LptQuantizeReport *
lpt_quantize_report_new (void)
{
  LptQuantizeReport *report = g_new0 (LptQuantizeReport, 1);
  report->layers = g_ptr_array_new_with_free_func (free_row);
  report->remarks = g_ptr_array_new_with_free_func (g_free);
  report->inputs = g_ptr_array_new_with_free_func (g_free);
  report->kept = g_ptr_array_new_with_free_func (g_free);
  report->wide = g_ptr_array_new_with_free_func (g_free);
  return report;
}

void
lpt_quantize_report_free (LptQuantizeReport *report)
{
  if (report == NULL)
    return;
  g_ptr_array_unref (report->layers);
  g_ptr_array_unref (report->remarks);
  g_ptr_array_unref (report->kept);
  g_ptr_array_unref (report->wide);
  g_ptr_array_unref (report->inputs);
  g_free (report->digest);
  g_free (report);
}

/* --- steps --------------------------------------------------------------------------------- */

typedef struct { double low, high; LptDType dtype; } Ends;

static void
widen_ends (Ends *ends, LptTensor *tensor)
{
  gint64 n = lpt_tensor_count (tensor);
  ends->dtype = lpt_tensor_dtype (tensor);
  for (gint64 i = 0; i < n; i++)
    {
      double x = lpt_tensor_get_f64 (tensor, i);
      ends->low = MIN (ends->low, x);
      ends->high = MAX (ends->high, x);
    }
}

static void
hash_tensor (GChecksum *sum, LptTensor *tensor)
{
  g_autofree char *shape = lpt_shape_to_string (lpt_tensor_shape (tensor));
  g_autofree char *head = g_strdup_printf ("%s[%s]", lpt_dtype_name (lpt_tensor_dtype (tensor)), shape);
  g_checksum_update (sum, (const guchar *) head, -1);
  g_checksum_update (sum, lpt_tensor_data (tensor), (gssize) lpt_tensor_size (tensor));
}

/* What the samples are, so that a result says what it came from: their digest and ends. */
static gboolean
look_at_data (LptQuantizer *q, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  guint n = q->graph->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n + 1);
  g_autofree Ends *ends = g_new0 (Ends, n + 1);
  for (guint k = 0; k < n; k++)
    ends[k] = (Ends) { HUGE_VAL, -HUGE_VAL, LPT_DTYPE_UNDEFINED };
  for (guint i = 0; i < q->data->n; i++)
    {
      lpt_quantizer_step (q, "reading samples", i, q->data->n);
      if (!lpt_data_get (q->data, i, tensors, error))
        return FALSE;
      for (guint k = 0; k < n; k++)
        {
          hash_tensor (sum, tensors[k]);
          widen_ends (&ends[k], tensors[k]);
          g_clear_pointer (&tensors[k], lpt_tensor_unref);
        }
    }
  for (guint k = 0; k < n; k++)
    g_ptr_array_add (q->report->inputs,
                     g_strdup_printf ("input \"%s\": %s %g .. %g%s",
                                      ((LptNode *) g_ptr_array_index (q->graph->parameters, k))->name,
                                      lpt_dtype_name (ends[k].dtype), ends[k].low, ends[k].high,
                                      ends[k].low == ends[k].high ? ": all samples are this value" : ""));
  g_free (q->report->digest);
  q->report->digest = g_strdup (g_checksum_get_string (sum));
  return TRUE;
}

#define JUDGED 64

/* The result beside the float graph, on samples of calibration. */
static gboolean
judge (LptQuantizer *q, LptGraph *real, GError **error)
{
  g_autoptr (LptData) head = lpt_data_spread (q->data, JUDGED, FALSE);
  const LptEvalOptions eval = { .threads = q->options->threads };
  lpt_quantizer_step (q, "comparing", 0, 0);
  g_autoptr (LptEvaluation) e = lpt_quantize_measure (real, q->graph, head, q->options->config, &eval, error);
  if (e == NULL)
    return FALSE;
  q->report->sqnr = e->sqnr;
  q->report->agree = e->agree;
  q->report->n_judged = e->n_samples;
  q->report->top_share = e->n_agree == (gint64) e->n_samples ? e->top_share[0] : 0.0;
  q->report->top_class = e->top_class[0];
  return TRUE;
}

/* Is anything but constants quantized? Weights alone count as real: they are folded. */
static gboolean
has_codes (LptGraph *graph)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      gboolean quantizes = (node->info->flags & LPT_OP_F_QUANTIZES) != 0;
      LptNode *source = node->n_in > 0 ? lpt_node_src (node, 0) : NULL;
      while (source != NULL && !lpt_node_is_const (source) && source->n_in > 0
             && (source->op == LPT_OP_CONVERT || source->op == LPT_OP_RESHAPE))
        source = lpt_node_src (source, 0);
      if (quantizes && !(node->flags & LPT_NODE_DEAD) && !lpt_node_is_const (source))
        return TRUE;
      for (guint k = 0; k < node->n_out; k++)
        if (node->out[k].quant != NULL && !lpt_node_is_const (node) && !lpt_node_is_const (source))
          return TRUE;
    }
  return FALSE;
}

static gboolean
check_graph (LptGraph *graph, LptData *data, GError **error)
{
  if (has_codes (graph))
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the model is quantized already");
  else if (data->n == 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there are no samples");
  else
    return TRUE;
  return FALSE;
}

static void
add_meta (LptQuantizer *q)
{
  const LptQuantizeOptions *o = q->options;
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (text, "lptc %s; ranges %s; weights %s; repairs", LPT_VERSION,
                          lpt_range_method_name (o->ranges), o->weights_mse ? "mse" : "min-max");
  for (guint i = 0; i < lpt_repair_count (); i++)
    if (o->repairs >> i & 1)
      g_string_append_printf (text, " %s", lpt_repair_name (i));
  g_string_append_printf (text, "; %u samples sha256 %s", q->data->n, q->report->digest);
  if (q->graph->meta != NULL)
    g_hash_table_replace (q->graph->meta, g_strdup (LPT_META_QUANTIZED_BY),
                          g_string_free (g_steal_pointer (&text), FALSE));
}

/* Are there weights with one scale, for which alone equalization is? */
static gboolean
wants_equalization (LptGraph *graph, LptData *data, const LptQuantizeOptions *options, GError **error)
{
  g_autoptr (LptQuantizeReport) report = lpt_quantize_report_new ();
  g_auto (LptQuantizer) q = { .graph = graph, .data = data, .options = options, .report = report };
  gboolean any = FALSE;
  lpt_quantizer_init (&q);
  if ((options->repairs & repair_bit ("equalization")) == 0 || !lpt_quantize_place (&q, error))
    return FALSE;
  for (guint i = 0; i < q.layers->len; i++)
    any = any
          || (((LptLayer *) g_ptr_array_index (q.layers, i))->n_scale == 1
              && lpt_layer_channels (g_ptr_array_index (q.layers, i)) > 1);
  return any;
}

/* What has to be searched for before the steps are run: repairs of the float graph, layers that stay real or get data
 * of 16 bits; all names of
   these into @wide. */
static gboolean
search_for (LptQuantizer *q, LptQuantizeOptions *options, GPtrArray *wide, GError **error)
{
  GError *local = NULL;
  gboolean equalize = wants_equalization (q->graph, q->data, options, &local);
  if (local != NULL)
    {
      g_propagate_error (error, local);
      return FALSE;
    }
  LptSearch s = { q->graph, q->data, options, q->report, 1.0 };
  if (!lpt_quantize_choose_float (&s, equalize, error))
    return FALSE;
  q->bound = s.bound;
  if (options->max_drop >= 0.0 && !lpt_quantize_choose_layers (&s, error))
    return FALSE;
  for (guint i = 0; options->wide != NULL && options->wide[i] != NULL; i++)
    g_ptr_array_add (wide, (gpointer) options->wide[i]);
  g_ptr_array_extend (wide, q->report->wide, NULL, NULL);
  g_ptr_array_add (wide, NULL);
  options->wide = (const char *const *) wide->pdata;
  return TRUE;
}

gboolean
lpt_quantize (LptGraph *graph, LptData *data, const LptQuantizeOptions *options, LptQuantizeReport *report,
              GError **error)
{
  g_autoptr (LptQuantizeReport) own = report == NULL ? lpt_quantize_report_new () : NULL;
  LptQuantizeOptions chosen = *options;
  LptQuantizer q = {
    .graph = graph, .data = data, .options = options, .report = report != NULL ? report : own, .bound = 1.0
  };
  if (!check_graph (graph, data, error) || !look_at_data (&q, error) || !lpt_quantize_prepare (graph, error)
      || !lpt_quantize_free_pools (graph, options->config, error))
    return FALSE;
  g_autoptr (LptGraph) real = lpt_graph_copy (graph);
  g_autoptr (GPtrArray) wide = g_ptr_array_new ();
  if (!search_for (&q, &chosen, wide, error) ||
      !lpt_quantize_run (graph, data, &chosen, q.report->kept, q.bound, q.report, error))
    return FALSE;
  add_meta (&q);
  return judge (&q, real, error);
}
