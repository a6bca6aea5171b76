/* page-model.c - the ops of a model, joined with what became of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "report/values.h"

#include <math.h>
#include <string.h>

static void
node_free (LptPageNode *node)
{
  g_free (node->codes);
  g_free (node->kernel);
  g_free (node);
}

void
lpt_page_free (LptPage *page)
{
  if (page == NULL)
    return;
  lpt_graph_free (page->source);
  lpt_graph_free (page->lowered);
  lpt_report_free (page->report);
  g_clear_pointer (&page->rows, g_ptr_array_unref);
  g_clear_pointer (&page->nodes, g_ptr_array_unref);
  g_clear_pointer (&page->blocks, g_ptr_array_unref);
  g_clear_pointer (&page->by_name, g_hash_table_unref);
  g_clear_pointer (&page->by_now, g_hash_table_unref);
  g_free (page->macs);
  g_free (page);
}

LptPageNode *
lpt_page_find (const LptPage *page, const char *name)
{
  LptPageNode *node = g_hash_table_lookup (page->by_now, name);
  return node != NULL ? node : g_hash_table_lookup (page->by_name, name);
}

/* Nodes that something else than constants goes through. */
static gboolean
add_nodes (LptPage *page, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (page->source, error);
  g_autoptr (GHashTable) shown = g_hash_table_new (NULL, NULL);
  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      gboolean varies = node->data == NULL && (node->n_in == 0 || node->op == LPT_OP_PARAMETER || node->bodies != NULL);
      for (guint k = 0; k < node->n_in && !varies; k++)
        varies = lpt_node_src (node, k) != NULL && g_hash_table_contains (shown, lpt_node_src (node, k));
      if (!varies || (node->flags & LPT_NODE_DEAD))
        continue;
      LptPageNode *own = g_new0 (LptPageNode, 1);
      *own = (LptPageNode) { .node = node, .index = page->nodes->len, .row = lpt_explain_find (page->rows, node->name), .sqnr = NAN, .cosine = NAN, .alone = NAN, .clipped = NAN, .ms = -1.0,
                             .original_ms = -1.0 };
      g_ptr_array_add (page->nodes, own);
      g_hash_table_add (shown, node);
      g_hash_table_insert (page->by_name, (gpointer) node->name, own);
    }
  return order != NULL;
}

static gint64
value_bytes (const LptValue *value)
{
  gint64 n;
  return value != NULL && lpt_shape_count (&value->shape, &n) ? n * (gint64) MAX (lpt_dtype_bits (value->dtype), 8) / 8
                                                              : 0;
}

/* Which op of the source each node of the lowered graph stands for. */
static void
join (LptPage *page)
{
  for (guint i = 0; i < page->lowered->nodes->len; i++)
    {
      LptNode *now = page->lowered->nodes->pdata[i];
      g_autofree char *plain = g_str_has_suffix (now->name, "_original")
                                   ? g_strndup (now->name, strlen (now->name) - strlen ("_original"))
                                   : NULL;
      LptPageNode *node = now->origin != NULL ? g_hash_table_lookup (page->by_name, now->origin) : NULL;
      if (node == NULL)
        node = g_hash_table_lookup (page->by_name, plain != NULL ? plain : now->name);
      /* What lowering puts between ops is the value of the op in front: codes in another unit. */
      gboolean between = node == NULL && (now->info->flags & LPT_OP_F_QUANTIZES) != 0 && lpt_node_src (now, 0) != NULL;
      if (between)
        node = g_hash_table_lookup (page->by_now, lpt_node_src (now, 0)->name);
      if (node == NULL || now->data != NULL || now->n_out == 0)
        continue;
      g_hash_table_insert (page->by_now, (gpointer) now->name, node);
      /* Of several the one with codes, else the first. */
      if (node->now == NULL || (node->now->quant == NULL && now->out[0].quant != NULL))
        node->now = &now->out[0];
      for (guint k = 0; k < now->n_in && !between; k++)
        node->bytes += value_bytes (now->in[k].value);
      node->bytes += between ? 0 : value_bytes (&now->out[0]);
    }
}

/* Samples that are looked at for whether they are all of one size. */
#define FEW 8

static gboolean
have_one_size (LptData *data, guint n_in)
{
  g_autofree LptShape *first = g_new0 (LptShape, n_in + 1);
  gboolean same = TRUE;
  for (guint i = 0; same && i < MIN (data->n, FEW); i++)
    {
      g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1);
      same = lpt_data_get (data, i, tensors, NULL);
      for (guint k = 0; same && k < n_in; k++)
        {
          same = i == 0 || lpt_shape_equal (&first[k], lpt_tensor_shape (tensors[k]));
          first[k] = *lpt_tensor_shape (tensors[k]);
        }
      lpt_samples_clear (tensors, n_in);
    }
  return same;
}

/* Sizes of the inputs of @graph: those of samples made for @of; FALSE: they do not fit, or are not all the same. */
static gboolean
fix_by_samples (LptGraph *graph, LptGraph *of, LptData *data)
{
  guint n_in = of->parameters->len;
  g_autofree LptTensor **tensors = g_new0 (LptTensor *, n_in + 1);
  gboolean ok = data->n > 0 && have_one_size (data, n_in) && lpt_data_get (data, 0, tensors, NULL) &&
                lpt_samples_fix_shapes (graph, of, tensors, NULL);
  lpt_samples_clear (tensors, n_in);
  return ok;
}

/* 1 for each size that is open. */
static gboolean
fix_by_ones (LptGraph *graph)
{
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < graph->parameters->len; i++)
    {
      LptNode *parameter = graph->parameters->pdata[i];
      LptShape shape = parameter->out[0].shape;
      for (gint k = 0; k < shape.rank; k++)
        shape.dims[k] = shape.dims[k] == LPT_DYNAMIC ? 1 : shape.dims[k];
      ok = lpt_graph_set_input_shape (graph, parameter->name, &shape, NULL);
    }
  return ok && lpt_graph_infer (graph, NULL);
}

/* A copy with sizes, for work and memory to be known; as it is where that cannot be. */
static LptGraph *
copy_with_sizes (LptGraph *graph, LptGraph *of, LptData *data)
{
  gboolean is_open = FALSE;
  for (guint i = 0; i < graph->parameters->len; i++)
    is_open |= !lpt_shape_is_static (&lpt_node_out (graph->parameters->pdata[i])->shape);
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  return !is_open || (data != NULL ? fix_by_samples (copy, of, data) : fix_by_ones (copy)) ? g_steal_pointer (&copy)
                                                                                           : lpt_graph_copy (graph);
}

LptPage *
lpt_page_new (LptGraph *given, const LptConfig *config, LptGraph *of, LptData *data, GError **error)
{
  g_autoptr (LptPage) page = g_new0 (LptPage, 1);
  LptGraph *graph = copy_with_sizes (given, of != NULL ? of : given, data);
  page->source = graph;
  page->report = lpt_report_new ();
  page->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) node_free);
  page->blocks = g_ptr_array_new_with_free_func (g_free);
  page->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  page->by_now = g_hash_table_new (g_str_hash, g_str_equal);
  page->lowered = lpt_graph_copy (graph);
  if (lpt_graph_is_quantized (graph) &&
      !lpt_pipeline_run (page->lowered, config, page->report, NULL, error))
    return NULL;
  page->rows = lpt_explain_full (graph, config, &page->macs, error);
  if (page->rows == NULL || !add_nodes (page, error))
    return NULL;
  join (page);
  lpt_page_blocks (page);
  return g_steal_pointer (&page);
}
