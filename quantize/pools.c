/* pools.c - means over all places, where the target ties an AvgPool's scale to its input's
 *
 *     AvgPool (x), its window all of x  =>  ReduceMean (x, spatial axes), axes kept
 *
 * A pool whose codes have the scale of its input rounds a mean to steps that are made for the widest single element: of
 * 64 elements in ic_resnet8 it cost 6 to 9 dB of the answer's SQNR. A ReduceMean has a scale of its own in such
 * targets.
 * The same real numbers but for the order of a sum. Left alone: windows that are smaller or reach into padding, unknown
 * sizes, pools whose output may have any scale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-restrictions.h>

/* Does the target want equal parameters in and out of @op? */
static gboolean
ties_scales (LptOp op, const LptConfig *config)
{
  guint n = 0;
  const LptOpRestriction *rows = lpt_op_restrictions (op, config->quant_rules, &n);
  for (guint i = 0; rows != NULL && i < n; i++)
    if (rows[i].rule == LPT_PARAMETERS_SAME)
      return TRUE;
  return FALSE;
}

static gboolean
sees_all (LptNode *node)
{
  if (node->op != LPT_OP_AVG_POOL || (node->flags & LPT_NODE_DEAD) != 0)
    return FALSE;

  const LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
  const LptShape *in = &lpt_node_in (node, 0)->shape, *out = &node->out[0].shape;
  gboolean all = in->rank > 2 && out->rank == in->rank && (gint) attrs->kernel.n == in->rank - 2;
  for (gint i = 0; all && i < in->rank - 2; i++)
    {
      gboolean padded = (attrs->auto_pad == LPT_AUTO_PAD_EXPLICIT || attrs->auto_pad == LPT_AUTO_PAD_NOTSET)
                        && (((guint) i < attrs->pads_begin.n && attrs->pads_begin.v[i] != 0)
                            || ((guint) i < attrs->pads_end.n && attrs->pads_end.v[i] != 0));
      all = in->dims[i + 2] > 0 && attrs->kernel.v[i] == in->dims[i + 2] && out->dims[i + 2] == 1 && !padded;
    }
  return all;
}

static gboolean
replace (LptNode *node, GError **error)
{
  LptGraph *graph = node->graph;
  gint64 axes[LPT_MAX_RANK];
  guint n = (guint) node->out[0].shape.rank - 2;
  for (guint i = 0; i < n; i++)
    axes[i] = (gint64) i + 2;
  g_autofree char *axes_name = g_strconcat (node->name, "/axes", NULL);
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 (n, axes);
  LptNode *constant = lpt_graph_add_const (graph, axes_name, tensor);
  LptNode *mean = lpt_graph_add (graph, LPT_OP_REDUCE_MEAN, 0, NULL, 2,
                                 (LptValue *const[]) { lpt_node_in (node, 0), lpt_node_out (constant) });
  LPT_ATTRS (mean, LptReduceAttrs)->keep_dims = TRUE;
  if (!lpt_node_infer (mean, error))
    return FALSE;
  lpt_value_replace (&node->out[0], lpt_node_out (mean), NULL);
  lpt_node_take_name (mean, node, "/pool");
  return TRUE;
}

guint
lpt_quantize_count_pools (LptGraph *graph)
{
  guint n = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    n += sees_all (g_ptr_array_index (graph->nodes, i));
  return n;
}

gboolean
lpt_quantize_replace_pools (LptGraph *graph, GError **error)
{
  for (guint i = 0, n = graph->nodes->len; i < n; i++)
    if (sees_all (g_ptr_array_index (graph->nodes, i)) && !replace (g_ptr_array_index (graph->nodes, i), error))
      return FALSE;
  lpt_graph_sweep (graph);
  return lpt_graph_infer (graph, error);
}

gboolean
lpt_quantize_free_pools (LptGraph *graph, const LptConfig *config, GError **error)
{
  return !ties_scales (LPT_OP_AVG_POOL, config) || ties_scales (LPT_OP_REDUCE_MEAN, config) ||
         lpt_quantize_replace_pools (graph, error);
}
