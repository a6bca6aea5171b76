/* lower.c - the LPT graph becomes integer ops
 *
 *     FakeQuantize  =>  Quantize (input interval), read as the output interval
 *     op (Dequantize (q))  =>  op on q, its output quantized by who consumes it
 *
 * One walk in topological order gives every value a form (lower.h) where its
 * producer has a rule; a value without a form stays real, and reads the
 * integers through Dequantize. New nodes are added beside the old ones, which
 * the sweep removes. What no integer op runs goes back to real values (refused.c).
 *
 * The codes are those of FakeQuantize on the exact real numbers: integer sums have
 * no rounding, the fraction of a bias is kept beside it, and each op rounds
 * once, to the step of its output. They differ from a float32 evaluation where its
 * own rounding decides a tie, and at borders that a padded window shares with a
 * fractional zero point (rules-weighted.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>

#include "eval/integer/lpt-int.h"
#include "passes/lower/lower.h"
#include "passes/lower/raise-rounded.h"
#include "passes/lower/unlower.h"
#include "passes/support/lpt-restricted.h"
#include "passes/core/lpt-rewriter.h"

/* --- the walk --- */

static const struct
{
  LptOp        op;
  LptLowerRule rule;
} rules[] =
{
#define LPT_LOWER(OP, rule) { LPT_OP_##OP, lpt_lower_##rule },
#include "passes/lower/lower-rules.def"
};

LptLowerRule
lpt_lower_rule (LptOp op)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].op == op)
      return rules[i].rule;

  return NULL;
}

/* What explain says of a node whose values have forms, where nothing stands for it when all is emitted: its arithmetic
 * is in the quantization, the bias or the bounds of others. */
static void
note_absorbed (LptLower *lw,
               LptNode  *node)
{
  LptForm *form = g_hash_table_lookup (lw->forms, &node->out[0]);
  LptNode *into;

  if (form == NULL)
    return;
  into = form->op != NULL ? form->op->node : form->q->producer;
  if (g_strcmp0 (into->origin, node->origin) == 0)
    return;
  if (form->op != NULL && form->op->value == NULL && g_hash_table_contains (lw->reals, &into->out[0]))
    lpt_rewriter_absorbed (lw->rw, node, lpt_node_known_as (into), "part of the real arithmetic behind \"%s\"",
                           lpt_node_known_as (into));
  else if (form->op != NULL)
    lpt_rewriter_absorbed (lw->rw, node, lpt_node_known_as (into), "part of how \"%s\" writes its integers",
                           lpt_node_known_as (into));
  else
    lpt_rewriter_absorbed (lw->rw, node, lpt_node_known_as (into), "part of the scale of \"%s\"",
                           lpt_node_known_as (into));
}

/* Does it add or multiply what falls on one place? */
static gboolean
scatters_sums (const LptNode *node)
{
  return (node->op == LPT_OP_SCATTER_ELEMENTS_UPDATE || node->op == LPT_OP_SCATTER_ND_UPDATE) &&
         LPT_ATTRS (node, LptScatterAttrs)->reduction != LPT_REDUCTION_NONE;
}

/* Is it an integer as it is, for which no number stands? */
static gboolean
is_plain (const LptLower *lw,
          const LptValue *value)
{
  const LptForm *form = g_hash_table_lookup (lw->forms, value);

  return value->quant == NULL &&
         (form == NULL || (form->q == value && form->n == 1 && form->a[0] == 1 && form->b[0] == 0));
}

/* Does it make sums or products of small integers that are plain? They wrap, but in the graph of an OpenVINO IR. */
static gboolean
sums_small (const LptLower *lw,
            const LptNode  *node)
{
  const LptDType dtype = node->n_out > 0 ? node->out[0].dtype : LPT_DTYPE_UNDEFINED;
  gboolean reads = FALSE;
  guint k;

  if (node->graph->ir_version != 0 || (node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_MONOTONE)) != 0 ||
      !lpt_dtype_is_integer (dtype) || lpt_dtype_bits (dtype) > 16)
    return FALSE;
  for (k = 0; k < node->n_in && !reads; k++)
    reads = node->in[k].value != NULL && node->in[k].value->dtype == dtype && is_plain (lw, node->in[k].value);

  return reads;
}

/* Arithmetic on integers as they are, which wraps: no real numbers stand for them. What selects gives one of its
 * operands; the passes let it select codes. */
static gboolean
computes_integers (const LptLower *lw,
                   const LptNode  *node)
{
  guint k;

  if (((node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 && !scatters_sums (node) && !sums_small (lw, node)) ||
      (node->info->flags & LPT_OP_F_LOWERED) ||
      ((node->info->flags & LPT_OP_F_PRESERVES) && !lw->integers) ||
      node->op == LPT_OP_CONVERT || (node->flags & LPT_NODE_RELAXED) || node->n_out == 0 ||
      node->out[0].quant != NULL || !lpt_dtype_is_integer (node->out[0].dtype))
    return FALSE;
  for (k = 0; k < node->n_in; k++)
    if (node->in[k].value != NULL && lpt_dtype_is_real (node->in[k].value->dtype))
      return FALSE;

  return TRUE;
}

/* Does its input keep the type that it has in the source? Outputs of the model and arithmetic on integers do; bodies
 * are lowered for the types that their parameters have. */
static gboolean
keeps_types (const LptLower *lw,
             LptNode        *node)
{
  return node->op == LPT_OP_RESULT || lpt_node_n_bodies (node) > 0 || computes_integers (lw, node);
}

/* Element types of the source: what stays real changes its own from f16 to f32 on the way. */
static void
note_types (LptLower  *lw,
            GPtrArray *order)
{
  guint i, k;

  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      for (k = 0; k < node->n_in; k++)
        if (node->in[k].value != NULL)
          g_hash_table_insert (lw->types, &node->in[k], GINT_TO_POINTER (node->in[k].value->dtype));
    }
}

/* What @node reads for the integers @value. Arithmetic takes them bare: codes with a scale stand for numbers. */
static LptValue *
value_of_type (LptLower *lw,
               LptNode  *node,
               LptValue *value,
               LptValue *real,
               LptDType  dtype)
{
  LptForm *form = g_hash_table_lookup (lw->forms, value);

  if (form == NULL && value->dtype == dtype)
    return value;
  if (form != NULL && form->q != NULL && form->q->dtype == dtype && form->n == 1 && form->a[0] == 1 &&
      form->b[0] == 0 && !lpt_form_is_clamped (form) && (form->q->quant == NULL || !computes_integers (lw, node)))
    return form->q;

  return lpt_lower_emit_convert (lw, real, dtype);
}

/* Does @node join plain integers, for which no numbers stand, into integers? */
static gboolean
joins_integers (LptLower *lw,
                LptNode  *node)
{
  guint i;

  if ((node->info->flags & LPT_OP_F_PRESERVES) == 0 || node->n_out == 0 || !lpt_dtype_is_integer (node->out[0].dtype))
    return FALSE;
  for (i = 0; i < node->n_in; i++)
    if (node->in[i].value != NULL && node->in[i].value->dtype == node->out[0].dtype &&
        g_hash_table_lookup (lw->forms, node->in[i].value) == NULL)
      return TRUE;

  return FALSE;
}

/* An op that stays real reads real values. */
static void
keep_real (LptLower *lw,
           LptNode  *node)
{
  const gboolean keeps = keeps_types (lw, node) || joins_integers (lw, node);
  gboolean changed = FALSE;
  guint i;

  lpt_rewriter_fate (lw->rw, node, "stays real: there is no integer rule for %s here", node->info->name);
  for (i = 0; i < node->n_in; i++)
    {
      LptValue *value = node->in[i].value;
      LptDType dtype = (LptDType) GPOINTER_TO_INT (g_hash_table_lookup (lw->types, &node->in[i]));
      LptValue *real;

      if (value == NULL || (node->op == LPT_OP_CONVERT && g_hash_table_lookup (lw->forms, value) == NULL))
        continue;
      real = lpt_lower_real_in (lw, &node->in[i]);
      if (keeps && real->dtype != dtype)
        real = value_of_type (lw, node, value, real, dtype);
      if (real == value)
        continue;
      lpt_node_set_input (node, i, real);
      changed = TRUE;
    }
  /* A source without inputs, a ReadValue, has its type from the file alone. */
  if (node->op == LPT_OP_OPAQUE || node->op == LPT_OP_CUSTOM || node->n_in == 0)
    return;
  /* What LPT typed low for its own integer arithmetic is real again. */
  if (changed)
    {
      node->flags &= ~(guint32) LPT_NODE_RELAXED;
      for (i = 0; i < node->n_in; i++)
        node->in[i].compute = LPT_DTYPE_UNDEFINED;
    }
  /* What it reads may be f32 now, and was f16. */
  lpt_node_infer (node, NULL);
}

/* The restriction of @node leaves no integer op. */
static gboolean
is_kept_real (LptRewriter *rw,
              LptNode     *node)
{
  const LptRestriction *restriction = lpt_config_restriction (lpt_rewriter_config (rw), node);
  g_autofree char *reason = NULL;

  if (restriction == NULL || !lpt_restriction_is_never (restriction) || node->n_in == 0 ||
      lpt_node_is_dequantization (node))
    return FALSE;
  reason = lpt_restriction_never_reason (restriction, node);
  lpt_rewriter_decline (rw, node, "%s", reason);

  return TRUE;
}

/* Accumulators that are read as real numbers only. */
static gboolean
is_converted (const LptValue *value)
{
  guint i;

  for (i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);

      if (!lpt_dtype_is_real (use->node->in[use->index].compute) &&
          (use->node->op != LPT_OP_CONVERT || !lpt_dtype_is_real (use->node->out[0].dtype)))
        return FALSE;
    }

  return TRUE;
}

/* What reads codes of the file reads the bare integers: their scale stands in the graph behind them. */
static void
set_bare (LptLower *lw,
          LptValue *value)
{
  const double one = 1;
  const double zero = 0;

  if (value->quant != NULL && (value->dtype == LPT_DTYPE_U8 || value->dtype == LPT_DTYPE_I8 ||
                               (value->dtype == LPT_DTYPE_I32 && is_converted (value))))
    lpt_lower_set_form (lw, value, lpt_form_new_value (value, LPT_QUANT_PER_TENSOR, 1, &one, &zero));
}

/* A Quantize of the file asks for codes as a FakeQuantize does. NULL: only the real value gives them. */
static LptValue *
codes_of_quantize (LptLower *lw,
                   LptNode  *node,
                   LptForm  *form)
{
  const LptQuant *quant = node->out[0].quant;
  g_autofree double *offset = g_new (double, quant->n);
  LptCodes codes = { .dtype = node->out[0].dtype, .axis = quant->axis, .n = quant->n, .step = quant->scale, .offset = offset };
  guint c;

  codes.qmin = (gint32) lpt_dtype_min (codes.dtype);
  codes.qmax = (gint32) lpt_dtype_max (codes.dtype);
  for (c = 0; c < quant->n; c++)
    offset[c] = quant->zero_point[c];

  return lpt_lower_codes (lw, form, &codes);
}

/* Codes without parameters before and behind it: they were no real numbers. */
static gboolean
moves_bare_codes (const LptNode *node)
{
  const LptValue *x = node->n_in > 0 ? node->in[0].value : NULL;

  return (node->info->flags & LPT_OP_F_PRESERVES) != 0 && x != NULL && x->quant == NULL &&
         lpt_int_is_code (x->dtype) && node->n_out > 0 && node->out[0].dtype == x->dtype;
}

/* Of a raised graph: what was real before stays so. */
static gboolean
is_left_real (const LptLower *lw,
              const LptNode  *node)
{
  return lw->raised && (node->flags & LPT_NODE_RAISED) == 0 && node->op != LPT_OP_CONST &&
         node->op != LPT_OP_PARAMETER && node->op != LPT_OP_DEQUANTIZE && !moves_bare_codes (node);
}

/* Quantize and Reinterpret of the file whose codes lowering has in another value. */
static gboolean
give_codes (LptLower *lw,
            LptNode  *node)
{
  LptForm *form = node->op == LPT_OP_QUANTIZE || node->op == LPT_OP_REINTERPRET ? lpt_lower_form (lw, node, 0) : NULL;
  LptValue *value = NULL;

  if (form == NULL || (node->op == LPT_OP_QUANTIZE && is_left_real (lw, node)) || node->out[0].quant == NULL ||
      (node->out[0].dtype != LPT_DTYPE_U8 && node->out[0].dtype != LPT_DTYPE_I8))
    return FALSE;
  if (node->op == LPT_OP_QUANTIZE)
    value = codes_of_quantize (lw, node, form);
  else if (form->q != NULL && form->q->dtype == node->out[0].dtype && form->n == 1 && form->a[0] == 1 &&
           form->b[0] == 0 && !lpt_form_is_clamped (form))
    value = lpt_lower_with_quant (lw, form->q, node->out[0].quant);
  if (value == NULL)
    return FALSE;
  /* What hands the codes on has the file's own scale: an interval in float32 comes near it. */
  if (!lpt_quant_equal (value->quant, node->out[0].quant) && lpt_lower_same_quant (value->quant, node->out[0].quant))
    value = lpt_lower_convert (lw, LPT_OP_REINTERPRET, value, node->name, value->dtype, node->out[0].quant);
  lpt_value_replace (&node->out[0], value, NULL);
  set_bare (lw, value);

  return TRUE;
}

/* An op that the file has on integers, or what hands their codes on, stays as it is. */
static gboolean
keep_integers (LptLower *lw,
               LptNode  *node)
{
  guint i;

  if (give_codes (lw, node))
    return TRUE;
  if (node->op == LPT_OP_QUANTIZE && node->out[0].quant != NULL)
    lpt_node_set_input (node, 0, lpt_lower_real (lw, node->in[0].value));
  else if (!lpt_node_keeps_codes (node) && !lpt_node_is_integer_op (node))
    return FALSE;
  for (i = 0; i < node->n_out; i++)
    set_bare (lw, &node->out[i]);
  lpt_rewriter_fate (lw->rw, node, "runs on integers");

  return TRUE;
}

static gboolean
lower_graph (LptRewriter  *rw,
             LptGraph     *graph,
             gboolean      raised,
             GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  LptLower lw = { .rw = rw, .graph = graph, .raised = raised, .integers = raised || lpt_graph_has_integer_ops (graph) };
  g_autoptr (GPtrArray) formed = g_ptr_array_new ();
  guint i, k;

  if (order == NULL)
    return FALSE;
  lw.forms = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lpt_form_free);
  lw.reals = g_hash_table_new (NULL, NULL);
  lw.types = g_hash_table_new (NULL, NULL);
  note_types (&lw, order);
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      LptLowerRule rule = lpt_lower_rule (node->op);

      for (k = 0; k < lpt_node_n_bodies (node); k++)
        {
          gboolean ok;

          rw->graph = lpt_node_body (node, k);
          ok = lower_graph (rw, rw->graph, raised, error);
          rw->graph = graph;
          if (!ok)
            {
              g_hash_table_unref (lw.forms);
              g_hash_table_unref (lw.reals);
              g_hash_table_unref (lw.types);
              return FALSE;
            }
        }
      /* A Reinterpret reads codes in every graph: no numbers stand for them. */
      if ((lw.integers || node->op == LPT_OP_REINTERPRET) && keep_integers (&lw, node))
        continue;
      if (lw.integers && computes_integers (&lw, node))
        continue;
      if (!is_kept_real (rw, node) && lpt_lower_computed_zero (&lw, node))
        continue;
      if (rule == NULL)
        rule = raised ? lpt_lower_raised : lpt_lower_fixed;
      if (is_kept_real (rw, node) || is_left_real (&lw, node) || computes_integers (&lw, node) ||
          joins_integers (&lw, node) || !rule (&lw, node))
        keep_real (&lw, node);
      else
        g_ptr_array_add (formed, node);
    }
  for (i = 0; i < formed->len; i++)
    note_absorbed (&lw, g_ptr_array_index (formed, i));
  g_hash_table_unref (lw.forms);
  g_hash_table_unref (lw.reals);
  g_hash_table_unref (lw.types);
  graph->lowered = TRUE;
  lpt_graph_sweep (graph);
  for (i = 0; i < graph->nodes->len; i++)
    ((LptNode *) g_ptr_array_index (graph->nodes, i))->flags &= ~(guint32) LPT_NODE_RAISED;

  return lpt_graph_infer (graph, error);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);

  if (!graph->lowered)
    {
      lpt_rewriter_changed (rw, NULL);
      if (!lower_graph (rw, graph, lpt_graph_is_raised (graph), error))
        return FALSE;
    }
  else if (!lpt_graph_raise_rounded (graph, error))   /* weight-only makes them again, as the configuration allows */
    return FALSE;

  /* Under a target's table fit-restrictions changes what integer ops read and asks behind that. */
  if (config->quant_rules != LPT_QUANT_RULES_NONE && !g_hash_table_contains (config->disabled, "fit-restrictions"))
    return TRUE;

  return lpt_unlower_refused (rw, graph, error);
}

const LptPass lpt_pass_lower =
{
  .name      = "lower",
  .doc       = "FakeQuantize and dequantization become integer ops with quantization on values",
  .stage     = LPT_STAGE_LOWER,
  .run       = run,
  .exactness = LPT_ROUNDS,
};
