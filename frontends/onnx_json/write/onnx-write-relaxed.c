/* onnx-write-relaxed.c - the types in which ONNX computes a relaxed node
 *
 * A relaxed node mixes element types, says what its inputs count as, and keeps the types of its outputs whatever it
 * reads.
 * In ONNX inputs have the type that the operator wants, and outputs what follows from it. Numbers do not change when
 * their type is wider, so
 *
 *   - an input is of the type that it counts as, where that holds all of its own numbers;
 *   - integers and booleans that are computed with are float32, as relaxed arithmetic is of real numbers;
 *   - where types do not go together, what does not go with the others is the widest real one.
 *
 * What follows from these is asked of inference; where an output is of another type, a Cast comes behind, of real
 * numbers a Round before it. So is an op of plain integers and of codes that computes on elements or moves them:
 * numbers of codes are read as float32; an operator of real numbers, of plain integers; and in a lowered graph, where
 * every node may mix types, one whose types do not go together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"

#include "frontends/mixed-types.h"
#include "ir/scalar/lpt-dtype-holds.h"

#include <lpt/lpt-body.h>

/* The widest real type among what is read; float32 where there is none. */
static LptDType
widest (LptNode *node)
{
  LptDType wide = LPT_DTYPE_UNDEFINED;

  for (guint i = 0; i < node->n_in; i++)
    {
      LptDType dtype = lpt_node_in (node, i) != NULL ? lpt_onnx_w_real_type (node, i) : LPT_DTYPE_UNDEFINED;

      if (lpt_dtype_is_real (dtype) && (wide == LPT_DTYPE_UNDEFINED || lpt_dtype_bits (dtype) > lpt_dtype_bits (wide)))
        wide = dtype;
    }
  return wide != LPT_DTYPE_UNDEFINED ? wide : LPT_DTYPE_F32;
}

/* Types of the outputs as they follow from the inputs: FALSE when they do not go together. */
static gboolean
infer (LptNode        *node,
       LptOnnxRelaxed *relaxed)
{
  g_autofree LptValue *have = g_memdup2 (node->out, node->n_out * sizeof *node->out);
  guint32 flags = node->flags;
  gboolean ok;

  for (guint o = 0; o < node->n_out; o++)
    node->out[o].quant = NULL;
  ok = lpt_mixed_infer (node, FALSE, NULL);
  for (guint o = 0; o < node->n_out; o++)
    {
      relaxed->made[o] = ok ? node->out[o].dtype : have[o].dtype;
      node->out[o] = have[o];
    }
  node->flags = flags;
  return ok;
}

static void
unify (LptNode  *node,
       LptDType  wide)
{
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL)
      node->in[i].compute = wide;
}

/* An operator of real numbers, of plain integers? */
static gboolean
makes_real (LptNode *node)
{
  const LptOnnxWriteRow *row = lpt_onnx_w_row (node->op);
  const LptValue *x = lpt_node_in (node, 0);

  return ((row != NULL && row->real) || lpt_mixed_is_real_function (node->op)) && x != NULL && x->quant == NULL &&
         lpt_dtype_is_integer (x->dtype);
}

void
lpt_onnx_w_relax (LptNode        *node,
                  LptOnnxRelaxed *relaxed)
{
  const LptOpFlags arithmetic = LPT_OP_F_ELEMENTWISE | LPT_OP_F_COMPUTE;
  gboolean integers = FALSE, differs;

  *relaxed = (LptOnnxRelaxed) { 0 };
  differs = (node->flags & LPT_NODE_RELAXED) != 0 || lpt_mixed_makes_numbers (node) || makes_real (node);
  if ((!differs && !lpt_mixed_may (node)) || lpt_node_n_bodies (node) > 0)
    return;
  relaxed->counted = g_new (LptDType, node->n_in + 1);
  relaxed->made = g_new (LptDType, node->n_out + 1);
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptValue *value = lpt_node_in (node, i);
      LptDType *compute = &node->in[i].compute;

      relaxed->counted[i] = *compute;
      if (value == NULL)
        continue;
      if (*compute != LPT_DTYPE_UNDEFINED && !lpt_dtype_holds (*compute, value->dtype))
        *compute = LPT_DTYPE_UNDEFINED;
      *compute = lpt_onnx_w_real_type (node, i);
      integers = integers || !lpt_dtype_is_real (*compute);
    }
  if (differs && integers && (node->info->flags & arithmetic) == arithmetic)
    unify (node, widest (node));
  else if (makes_real (node))
    node->in[0].compute = widest (node);
  if (infer (node, relaxed))
    {
      if (!differs)
        lpt_onnx_w_unrelax (node, relaxed);
      return;
    }
  lpt_mixed_unify (node, widest (node));
  infer (node, relaxed);
}

void
lpt_onnx_w_unrelax (LptNode        *node,
                    LptOnnxRelaxed *relaxed)
{
  for (guint i = 0; relaxed->counted != NULL && i < node->n_in; i++)
    node->in[i].compute = relaxed->counted[i];
  g_clear_pointer (&relaxed->counted, g_free);
  g_clear_pointer (&relaxed->made, g_free);
}
