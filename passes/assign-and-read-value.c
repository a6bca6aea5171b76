/* passes/assign-and-read-value.c - keep the state of a variable in integers
 *
 *     Assign (x s)   paired with   ReadValue (0)
 *  => Assign (x)     paired with   ReadValue (0 : type of x) -> Convert -> Multiply s
 *
 * The state starts at zero, which is zero in integers too as there is no zero point. Exact. What else reads the Assign
 * reads it dequantized.
 *
 * Refused when
 *   - there is no quantization on the Assign, or it starts from a real type (unless updatePrecisions is off);
 *   - there is a zero point, or scales vary along another axis than the channel axis;
 *   - no ReadValue of the same variable is found, or it has no constant initial value of zeros.
 *
 * Golden tests: tests/golden/assign-and-read-value/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/lpt-fold.h"
#include "passes/support/lpt-layer.h"
#include "passes/core/lpt-rewriter.h"

/* The ReadValue that the Assign waits for. */
static LptNode *
paired_read (LptNode *assign)
{
  const char *variable = LPT_ATTRS (assign, LptVariableAttrs)->variable_id;
  guint i;

  for (i = 0; assign->controls != NULL && i < assign->controls->len; i++)
    {
      LptNode *node = g_ptr_array_index (assign->controls, i);

      if (node->op == LPT_OP_READ_VALUE && strcmp (LPT_ATTRS (node, LptVariableAttrs)->variable_id, variable) == 0)
        return node;
    }

  return NULL;
}

/* The type of the variable in newer opsets is an attribute. */
static void
set_type (LptNode  *node,
          LptDType  dtype)
{
  LptVariableAttrs *attrs = node->attrs;

  if (attrs->variable_type != LPT_DTYPE_UNDEFINED)
    attrs->variable_type = dtype;
}

/* What reads the value that is stored reads real numbers still. */
static void
dequantize_readers (LptRewriter      *rw,
                    LptNode          *assign,
                    const LptDequant *dq)
{
  LptValue *out = &assign->out[0], *tail;
  const guint n = lpt_value_n_uses (out);

  if (n == 0)
    return;
  tail = lpt_dequant_append (rw, out, dq, NULL, lpt_dequant_scale (dq), assign->name);
  lpt_rewriter_replace (rw, out, tail, lpt_value_use (out, n)->node);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *assign)
{
  LptNode *read = paired_read (assign), *old, *fresh;
  g_autofree char *name = NULL;
  LptTensor *init, *typed;
  LptValue *value, *tail;
  LptDequant dq;
  const char *problem;
  guint i;

  if (!lpt_layer_find (rw, assign, 0, &dq) || dq.multiply == NULL)
    return lpt_rewriter_decline (rw, assign, "no quantization on input 0");
  problem = lpt_layer_static_problem (assign, &dq);
  if (problem == NULL && !lpt_layer_is_low (rw, &dq))
    problem = "its data is dequantized from a real type";
  if (problem == NULL && dq.subtract != NULL)
    problem = "there is a zero point";
  if (problem == NULL && read == NULL)
    problem = "no ReadValue of the variable stands before it";
  if (problem != NULL)
    return lpt_rewriter_decline (rw, assign, "%s", problem);
  init = read->n_in > 0 ? lpt_node_const_in (read, 0) : NULL;
  if (init == NULL || !lpt_tensor_all_equal_to (init, 0))
    return lpt_rewriter_decline (rw, assign, "the variable does not start with zeros");
  typed = lpt_tensor_convert (init, dq.data->dtype, NULL);
  if (typed == NULL)
    return FALSE;

  name = g_strdup (read->name);
  value = lpt_rewriter_const (rw, lpt_node_src (read, 0)->name, typed);
  fresh = lpt_node_clone (read, name, 1, &value);
  set_type (fresh, dq.data->dtype);
  lpt_rewriter_infer (rw, fresh);
  tail = lpt_dequant_append (rw, &fresh->out[0], &dq, NULL, lpt_dequant_scale (&dq), name);
  for (i = 0; i < assign->controls->len; i++)
    if (g_ptr_array_index (assign->controls, i) == read)
      assign->controls->pdata[i] = fresh;
  lpt_dequant_rewire (rw, &read->out[0], &fresh->out[0], tail);

  old = lpt_node_src (assign, 0);
  lpt_node_set_input (assign, 0, dq.data);
  set_type (assign, dq.data->dtype);
  lpt_rewriter_infer (rw, assign);
  dequantize_readers (rw, assign, &dq);
  lpt_rewriter_drop_unused (rw, old);

  return TRUE;
}

const LptPass lpt_pass_assign_and_read_value = {
  .name      = "assign-and-read-value",
  .doc       = "Keep the state of a variable in integers",
  .stage     = LPT_STAGE_PROPAGATE,
  .roots     = LPT_ROOTS (LPT_OP_ASSIGN),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
