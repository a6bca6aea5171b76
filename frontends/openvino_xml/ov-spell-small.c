/* ov-spell-small.c - small integers that wrap, which those of OpenVINO IRs do not
 *
 *     y = op (a, b) : u8   =>  y = Convert (BitwiseAnd (op (Convert (a), Convert (b)) : i32, 255)) : u8
 *     y = op (a, b) : i8   =>  y = Convert (BitwiseXor (BitwiseAnd (op (...) : i32, 255), 128) - 128) : i8
 *
 * Integers of 16 bits and fewer without quantization keep the lowest bits of their type, but in the graph of an IR,
 * where they saturate (docs/integer-semantics.md). Exact: 32 bits hold what is made of 16, or its lowest bits, and
 * those of sums and products follow from those of the terms. Left alone: ops that take no i32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-spell.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-work.h>

static LptValue *
add (LptNode *node, LptOp op, guint32 opset, const char *what, guint n_in, LptValue *const *in)
{
  g_autofree char *name = g_strconcat (node->name, "/", what, NULL);
  return lpt_node_out (lpt_graph_add (node->graph, op, opset, name, n_in, in));
}

static LptValue *
add_convert (LptNode *node, LptValue *x, LptDType dtype)
{
  LptValue *y = add (node, LPT_OP_CONVERT, 1, "Convert", 1, &x);
  LPT_ATTRS (y->producer, LptConvertAttrs)->destination_type = dtype;
  y->dtype = dtype;
  y->shape = x->shape;
  return y;
}

/* op (x, number) of i32; NULL = no memory. */
static LptValue *
add_with (LptNode *node, LptOp op, guint32 opset, LptValue *x, gint64 number)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_scalar (LPT_DTYPE_I32, (double) number);
  g_autofree char *name = g_strdup_printf ("%s/%" G_GINT64_FORMAT, node->name, number);
  if (tensor == NULL)
    return NULL;
  LptValue *in[] = { x, lpt_node_out (lpt_graph_add_const (node->graph, name, tensor)) };
  LptValue *y = add (node, op, opset, lpt_op_info (op)->name, 2, in);
  y->dtype = LPT_DTYPE_I32;
  y->shape = x->shape;
  return y;
}

/* Inputs of the type of the output become i32; FALSE: the op takes none, and is as it was. */
static gboolean
widen (LptNode *node)
{
  const LptDType dtype = lpt_node_out (node)->dtype;
  g_autofree LptValue **had = g_new0 (LptValue *, node->n_in + 1);
  for (guint k = 0; k < node->n_in; k++)
    {
      had[k] = lpt_node_in (node, k);
      if (had[k] != NULL && had[k]->dtype == dtype)
        lpt_node_set_input (node, k, k > 0 && had[k] == had[0] ? lpt_node_in (node, 0)
                                                               : add_convert (node, had[k], LPT_DTYPE_I32));
    }
  if (lpt_node_infer (node, NULL) && lpt_node_out (node)->dtype == LPT_DTYPE_I32)
    return TRUE;
  for (guint k = 0; k < node->n_in; k++)
    lpt_node_set_input (node, k, had[k]);
  (void) lpt_node_infer (node, NULL);
  return FALSE;
}

gboolean
ov_spell_small (LptNode *node, GError **error)
{
  const LptDType dtype = lpt_node_out (node)->dtype;
  const gint64 low = lpt_dtype_min (dtype), all = lpt_dtype_max (dtype) - low;
  if (!widen (node))
    return TRUE;
  LptValue *y = lpt_node_out (node), *bits = add_with (node, LPT_OP_BITWISE_AND, 13, y, all), *last = bits;
  if (low < 0 && bits != NULL)
    {
      last = add_with (node, LPT_OP_BITWISE_XOR, 13, bits, -low);
      last = last != NULL ? add_with (node, LPT_OP_SUBTRACT, 1, last, -low) : NULL;
    }
  if (last == NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_MEMORY, "no memory");
      return FALSE;
    }
  last = add_convert (node, last, dtype);
  lpt_node_take_name (last->producer, node, "/i32");
  lpt_value_take_names (last, y);
  lpt_value_replace (y, last, bits->producer);
  return TRUE;
}
