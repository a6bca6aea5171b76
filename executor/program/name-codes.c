/* name-codes.c - bare 4- and 8-bit integers that are only moved and then called codes: so from the start
 *
 *     Reinterpret (Gather (table, i))  =  Gather (Reinterpret (table), i)
 *     Convert (Gather (table, i))      =  Convert (Gather (Reinterpret (table), i)), codes that stand for themselves
 *
 * Integers without quantization are held as reals. A table of codes that is looked up before somebody says what its
 * integers mean would be copied four bytes an element, and then converted. So where all that becomes of a constant are
 * movements and, in the end, Reinterprets to one scale each, the constant and what lies between have the quantization
 * of the first of these, and where real numbers are made of it steps of 1. What the codes are called in between is of
 * no matter: a Reinterpret takes the integers. So it is with what is moved from codes and bare until then, and with
 * the outputs of the graph, which are integers either way. The graph is the program's own.
 *
 * Movements are renames and what moves, chooses or repeats elements of one input: Transpose, Gather, GatherElements,
 * Broadcast, Slice, SpaceToDepth. They add nothing to the data, as Pad, SpaceToBatch and patches do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"

/* More than this between a constant and a Reinterpret is not looked through. */
#define MAX_VALUES 64

typedef struct
{
  LptValue *values[MAX_VALUES];
  guint     n;
  LptQuant *quant;           /* NULL: none is known */
  gboolean  numbers;         /* somebody makes real numbers of the integers */
  gboolean  coded;           /* they come from codes, whose integers an output of the graph may be */
  gboolean  plain;           /* and those stand for themselves */
} Found;

static gboolean
is_bare (const LptValue *value)
{
  return value->quant == NULL && lpt_dtype_is_integer (value->dtype) &&
         (lpt_dtype_bits (value->dtype) == 8 || lpt_dtype_bits (value->dtype) == 4);
}

/* Beside input 0 the node reads places and lengths; @or_constants: and what is constant. */
static gboolean
reads_places (LptNode  *node,
              gboolean  or_constants)
{
  guint i;

  for (i = 1; i < node->n_in; i++)
    {
      const LptValue *x = lpt_node_in (node, i);

      if (x != NULL && x->dtype != LPT_DTYPE_I64 && x->dtype != LPT_DTYPE_I32 &&
          !(or_constants && x->producer->op == LPT_OP_CONST))
        return FALSE;
    }

  return TRUE;
}

/* Output 0 is elements of input 0 alone. */
static gboolean
only_moves (LptNode *node)
{
  const guint flags = lpt_exec_op (node->op)->flags;

  return node->n_out == 1 && reads_places (node, FALSE) &&
         (flags & (LPT_EXEC_MOVES | LPT_EXEC_FILLS)) == LPT_EXEC_MOVES;
}

/* Its outputs are elements of input 0, or of constants beside them, which mean the same where codes stand for
 * themselves. */
static gboolean
only_chooses (LptNode *node)
{
  return (node->info->flags & LPT_OP_F_PRESERVES) != 0 && reads_places (node, TRUE) &&
         (node->op != LPT_OP_INTERPOLATE ||
          LPT_ATTRS (node, LptInterpolateAttrs)->mode == LPT_INTERPOLATE_NEAREST);
}

static gboolean follow (LptValue *value,
                        Found    *found);

/* All that becomes of the outputs of @node, bare integers like its input 0 or places; FALSE: something else. */
static gboolean
follow_outputs (LptNode *node,
                Found   *found)
{
  const LptDType type = lpt_node_in (node, 0)->dtype;
  guint k;

  for (k = 0; k < node->n_out; k++)
    if (lpt_value_n_uses (&node->out[k]) > 0)
      {
        if (node->out[k].dtype != type || !follow (&node->out[k], found))
          return FALSE;
      }
    else if (is_bare (&node->out[k]) && node->out[k].dtype == type && found->n < MAX_VALUES)
      found->values[found->n++] = &node->out[k];

  return TRUE;
}

/* All that becomes of @value; FALSE: something else. */
static gboolean
follow (LptValue *value,
        Found    *found)
{
  guint i;

  if (!is_bare (value) || found->n == MAX_VALUES)
    return FALSE;
  found->values[found->n++] = value;
  for (i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);
      LptValue *out = use->node->n_out == 1 ? lpt_node_out (use->node) : NULL;

      if (use->node->op == LPT_OP_RESULT && found->coded)
        continue;
      if (found->plain && use->index == 0 && only_chooses (use->node))
        {
          if (!follow_outputs (use->node, found))
            return FALSE;
          continue;
        }
      if (out == NULL || use->index != 0)
        return FALSE;
      if (use->node->op == LPT_OP_CONVERT && out->dtype == LPT_DTYPE_F32 && out->quant == NULL)
        {
          found->numbers = TRUE;
          continue;
        }
      if (use->node->op != LPT_OP_REINTERPRET)
        {
          if (!only_moves (use->node) || !follow (out, found))
            return FALSE;
          continue;
        }
      if (out->quant == NULL || out->quant->n != 1 || out->dtype != value->dtype)
        return FALSE;
      found->quant = found->quant != NULL ? found->quant : out->quant;
    }

  return lpt_value_n_uses (value) > 0;
}

/* Does @node make bare integers of codes of 8 bits and one scale, and what becomes of all of them? */
static gboolean
moves_codes (LptNode        *node,
             const LptQuant *unit,
             Found          *found)
{
  const LptValue *x = node->n_in > 0 ? lpt_node_in (node, 0) : NULL;

  if (x == NULL || x->quant == NULL || x->quant->n != 1 || !lpt_dtype_is_integer (x->dtype) ||
      lpt_dtype_bits (x->dtype) != 8 || node->op == LPT_OP_REINTERPRET)
    return FALSE;
  found->coded = TRUE;
  found->plain = lpt_quant_equal (x->quant, unit);
  if ((!only_moves (node) && !(found->plain && only_chooses (node))) || !follow_outputs (node, found))
    return FALSE;
  found->quant = x->quant;

  return found->n > 0 && (!found->numbers || found->plain);
}

/* The constant behind @found with 8 bits, for which there are kernels. FALSE: no memory. */
static gboolean
widen (LptNode  *constant,
       Found    *found,
       GError  **error)
{
  const LptDType wide = lpt_dtype_min (constant->out[0].dtype) < 0 ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  LptTensor *data = lpt_tensor_convert (constant->data, wide, error);
  guint k;

  if (data == NULL)
    return FALSE;
  lpt_tensor_unref (constant->data);
  constant->data = data;
  for (k = 0; k < found->n; k++)
    found->values[k]->dtype = wide;

  return TRUE;
}

/* Converts of the codes @value to real numbers are what they are of codes. */
static void
dequantize (LptGraph *graph,
            LptValue *value)
{
  for (guint i = lpt_value_n_uses (value); i-- > 0;)
    {
      LptNode *convert = lpt_value_use (value, i)->node, *node;

      if (convert->op != LPT_OP_CONVERT)
        continue;
      node = lpt_graph_add (graph, LPT_OP_DEQUANTIZE, 0, NULL, 1, &value);
      LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_F32;
      node->out[0].dtype = LPT_DTYPE_F32;
      node->out[0].shape = convert->out[0].shape;
      lpt_value_replace (lpt_node_out (convert), lpt_node_out (node), NULL);
      lpt_node_take_name (node, convert, "/integers");
    }
}

gboolean
lpt_program_name_codes (LptProgram *program,
                        GError    **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (program->graph, error);
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  gboolean numbers = FALSE;
  guint i, k;

  if (order == NULL)
    return FALSE;
  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);
      Found found = { .n = 0 };

      if (node->op == LPT_OP_CONST
          ? !follow (lpt_node_out (node), &found) || (found.quant == NULL && found.n == 1)
          : !moves_codes (node, unit, &found))
        continue;
      if (node->op == LPT_OP_CONST && found.quant == NULL && !widen (node, &found, error))
        return FALSE;
      for (k = 0; k < found.n; k++)
        lpt_value_set_quant (found.values[k], found.numbers ? unit : found.quant);
      for (k = 0; k < found.n && found.numbers; k++)
        dequantize (program->graph, found.values[k]);
      numbers |= found.numbers;
    }
  if (numbers)
    lpt_graph_sweep (program->graph);

  return TRUE;
}
