/* fit-restrictions.c - a lowered graph keeps what its target demands of quantization
 *
 *     u8 values                     =>  i8: q - 128, zero point - 128 (bytes of the models' own u8 inputs and
 *                                       outputs stay, behind Requantize)
 *     equal parameters in and out   =>  op writes its input's; Requantize to what its readers expect
 *                                       (several inputs: each is requantized to the output's)
 *     fixed output parameters       =>  op writes those; Requantize likewise; where the output has steps of less than
 *                                       half of them (more than a bit would be lost), see accumulators
 *     weights with a zero point     =>  q - Z where that fits the range
 *     weights with the code -128    =>  the channel's step grows by 128 / 127 and its codes and bias are rounded anew
 *     one scale for all channels    =>  the largest; codes and bias likewise
 *     remainders of biases          =>  left out: the int32 bias is the nearest one
 *     int32 accumulators as values, sums with a real constant or an operand of several scales, activations with a scale
 *     per channel, codes whose scale is computed, weights whose zero point takes their codes out of the range, or that
 *     are computed and have one
 *                                   =>  the op and what reads them compute on real values, with FakeQuantize in place
 *                                       of the codes; but where only the scales of constant weights and of a
 *                                       depthwise product meet in a value, they take over the channels' factors and
 *                                       the codes stay
 *
 * The first is exact. A Requantize rounds once more to the step that its readers had; weights are rounded by half
 * a step at most; an accumulator has no 8-bit interval of its own. What cannot be had this way is an error that names
 * the node. Runs when the target has a table (LptConfig.quant_rules); the target's requant mode becomes the graph's
 * default.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "passes/core/lpt-rewriter.h"
#include "passes/lower/fit.h"
#include "passes/lower/unlower.h"

/* --- adding ----------------------------------------------------------------------- */

LptValue *
lpt_fit_convert (LptGraph *graph,
                 LptOp     op,
                 LptValue *value,
                 LptDType  dtype,
                 LptQuant *quant)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", value->producer->name, lpt_op_info (op)->name);
  LptNode *node = lpt_graph_add (graph, op, 0, name, 1, &value);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  lpt_node_out (node)->dtype = dtype;
  lpt_node_out (node)->shape = value->shape;
  lpt_value_set_quant (lpt_node_out (node), quant);

  return lpt_node_out (node);
}

/* Readers of @value go on to read (dtype, quant); @value itself becomes something else. */
void
lpt_fit_shield_readers (LptGraph *graph,
                        LptValue *value,
                        LptDType  dtype,
                        LptQuant *quant)
{
  if (lpt_value_n_uses (value) > 0)
    {
      LptValue *as_before = lpt_fit_convert (graph, LPT_OP_REQUANTIZE, value, dtype, quant);

      lpt_value_replace (value, as_before, as_before->producer);
    }
}

static gboolean
same_parameters (const LptQuant *a,
                 const LptQuant *b)
{
  return a->n == 1 && b->n == 1 && a->scale[0] == b->scale[0] && a->zero_point[0] == b->zero_point[0];
}

/* --- parameters ------------------------------------------------------------------------ */

static void
write_as (LptGraph *graph,
          LptValue *value,
          LptQuant *quant)
{
  g_autoptr (LptQuant) before = lpt_quant_ref (value->quant);

  lpt_value_set_quant (value, quant);
  lpt_fit_shield_readers (graph, value, value->dtype, before);
}

static void
make_same (LptGraph *graph,
           LptNode  *node)
{
  g_autoptr (LptQuant) common = NULL;
  guint n_data = 0;

  for (guint k = 0; k < node->n_in; k++)
    n_data += lpt_node_in (node, k) != NULL && lpt_node_in (node, k)->quant != NULL;
  if (n_data == 0 || node->n_out == 0 || node->out[0].quant == NULL)
    return;

  common = lpt_quant_ref (n_data > 1 ? node->out[0].quant : lpt_node_in (node, 0)->quant);
  if (common == NULL)
    return;
  for (guint k = 0; k < node->n_in; k++)
    {
      LptValue *x = lpt_node_in (node, k);

      if (x != NULL && x->quant != NULL && !same_parameters (x->quant, common))
        lpt_node_set_input (node, k, lpt_fit_convert (graph, LPT_OP_REQUANTIZE, x, x->dtype, common));
    }
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].quant != NULL && !same_parameters (node->out[o].quant, common))
      write_as (graph, &node->out[o], common);
}

static void
make_fixed (LptGraph               *graph,
            LptNode                *node,
            const LptOpRestriction *row)
{
  LptValue *y = lpt_node_out (node);
  g_autoptr (LptQuant) fixed = lpt_quant_new_one (row->scale, row->zero);

  if (y->quant != NULL && y->dtype == row->dtype && !same_parameters (y->quant, fixed))
    write_as (graph, y, fixed);
}

/* --- the pass ----------------------------------------------------------------------------- */

static gboolean
fit_node (LptGraph       *graph,
          LptNode        *node,
          LptQuantRules   target,
          GError        **error)
{
  guint n;
  const LptOpRestriction *rows = lpt_node_restrictions (node, target, &n);
  gboolean same = FALSE;
  gint bias_port = -1;

  if (n > 0 && lpt_node_bias_rest (node) != NULL)
    lpt_floats_clear (lpt_node_bias_rest (node));
  for (guint i = 0; i < n; i++)
    if (rows[i].rule == LPT_PARAMETERS_BIAS)
      bias_port = rows[i].port;
  for (guint i = 0; i < n; i++)
    switch (rows[i].rule)
      {
      case LPT_PARAMETERS_SAME:
        same = TRUE;
        break;
      case LPT_PARAMETERS_FIXED:
        make_fixed (graph, node, &rows[i]);
        break;
      case LPT_PARAMETERS_ZERO:
        if (!lpt_fit_weights (graph, node, &rows[i], bias_port, error))
          return FALSE;
        break;
      default:
        break;
      }
  if (same)
    make_same (graph, node);

  return TRUE;
}

static gboolean
fit_graph (LptRewriter  *rw,
           LptGraph     *graph,
           GError      **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_autoptr (GPtrArray) order = NULL;

  if (!lpt_raise_dynamic_codes (rw, graph, error) || !lpt_fit_signed (graph, error))
    return FALSE;
  order = lpt_graph_order (graph, error);
  if (order == NULL)
    return FALSE;
  lpt_fit_accumulators (rw, graph, order, config->quant_rules);
  lpt_graph_sweep (graph);
  g_clear_pointer (&order, g_ptr_array_unref);
  order = lpt_graph_order (graph, error);
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    if (!fit_node (graph, order->pdata[i], config->quant_rules, error))
      return FALSE;
  lpt_graph_sweep (graph);

  return lpt_graph_infer (graph, error);
}

/* The bodies within @graph, each for itself: codes enter and leave them as the numbers that they are. */
static gboolean
fit_bodies (LptRewriter  *rw,
            LptGraph     *graph,
            GError      **error)
{
  gboolean ok = TRUE;

  for (guint i = 0; i < graph->nodes->len && ok; i++)
    {
      LptNode *node = graph->nodes->pdata[i];

      for (guint k = 0; k < lpt_node_n_bodies (node) && ok; k++)
        {
          rw->graph = lpt_node_body (node, k);
          ok = fit_bodies (rw, rw->graph, error) && fit_graph (rw, lpt_node_body (node, k), error);
          rw->graph = graph;
        }
    }

  return ok;
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_autoptr (GPtrArray) left = NULL;

  if (config->requant != NULL && graph->requant == NULL && !lpt_graph_set_requant (graph, config->requant, error))
    return FALSE;
  if (config->quant_rules == LPT_QUANT_RULES_NONE)
    return TRUE;
  if (!fit_bodies (rw, graph, error) || !fit_graph (rw, graph, error) || !lpt_unlower_refused (rw, graph, error))
    return FALSE;
  lpt_rewriter_changed (rw, NULL);

  left = lpt_graph_check (graph, config->quant_rules);
  if (left->len > 0)
    {
      const LptViolation *first = left->pdata[0];

      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported by the target: %s: %s",
                   first->node->name, first->node->info->name, first->what);
      return FALSE;
    }

  return TRUE;
}

const LptPass lpt_pass_fit_restrictions = {
  .name = "fit-restrictions",
  .doc = "Integer ops keep the target's demands on quantization: i8, equal or fixed parameters, symmetric weights",
  .stage = LPT_STAGE_LOWER,
  .run = run,
  .exactness = LPT_COARSENS,
};
