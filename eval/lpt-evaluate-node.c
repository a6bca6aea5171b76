/* lpt-evaluate-node.c - the value of one node with constant inputs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-call.h"
#include "eval/lpt-evaluate-node.h"
#include "eval/integer/lpt-int.h"

static gboolean
set_arrays (LptNode          *node,
            LptTensor *const *tensors,
            LptArray         *in,
            LptArray         *out,
            GError          **error)
{
  guint i;

  for (i = 0; i < node->n_in; i++)
    if (tensors[i] != NULL && lpt_tensor_dtype (tensors[i]) == LPT_DTYPE_STRING)
      {
        g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                     "node \"%s\": unsupported: strings are kept, not computed", node->name);
        return FALSE;
      }
  for (i = 0; i < node->n_in; i++)
    if (tensors[i] != NULL)
      {
        const LptValue *value = node->in[i].value;

        if (!lpt_array_from_tensor (&in[i], tensors[i], lpt_tensor_dtype (tensors[i]),
                                    value != NULL ? value->quant : NULL, error))
          {
            in[i] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
            return FALSE;
          }
      }
  for (i = 0; i < node->n_out; i++)
    out[i] = (LptArray) { .declared = node->out[i].dtype, .shape = LPT_SHAPE_ANY, .quant = node->out[i].quant,
                          .dtype = lpt_storage_dtype (node->out[i].dtype, node->out[i].quant) };

  return TRUE;
}

gboolean
lpt_node_evaluate (LptNode          *node,
                   LptTensor *const *tensors,
                   LptTensor       **results,
                   GError          **error)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = g_new0 (LptArray, node->n_in + 1);
  g_autofree LptArray *out = g_new0 (LptArray, node->n_out + 1);
  g_autoptr (LptIntOp) integer = NULL;
  LptCall call = { .node = node, .in = in, .n_in = node->n_in, .out = out, .n_out = node->n_out, .scratch = scratch };
  gboolean ok;
  guint i;

  for (i = 0; i < node->n_out; i++)
    results[i] = NULL;
  if (!lpt_int_op_of (node, &integer, error))
    return FALSE;
  call.integer = integer;
  ok = set_arrays (node, tensors, in, out, error) && lpt_call_run (&call, error);
  for (i = 0; i < node->n_out && ok; i++)
    {
      results[i] = lpt_array_to_tensor (&out[i], node->out[i].dtype, error);
      ok = results[i] != NULL;
    }

  for (i = 0; i < node->n_in; i++)
    lpt_array_clear (&in[i]);
  for (i = 0; i < node->n_out; i++)
    {
      lpt_array_clear (&out[i]);
      if (!ok)
        g_clear_pointer (&results[i], lpt_tensor_unref);
    }

  return ok;
}

/* Bytes of a constant that is made of however few. */
#define ALWAYS_ALLOWED ((gsize) 1 << 20)

gboolean
lpt_node_const_grows (LptNode          *node,
                      LptTensor *const *in)
{
  const LptValue *out = &node->out[0];
  gsize from = 0, to;
  gint64 count;
  guint i;

  for (i = 0; i < node->n_in; i++)
    {
      LptTensor *tensor = in != NULL ? in[i] : lpt_node_const_in (node, i);

      if (tensor != NULL)
        from += lpt_tensor_size (tensor);
    }

  return lpt_shape_is_static (&out->shape) &&
         (!lpt_shape_count (&out->shape, &count) || !lpt_tensor_byte_size (out->dtype, count, &to) ||
          (to > ALWAYS_ALLOWED && to / LPT_CONST_MAX_GROWTH > from));
}

LptTensor *
lpt_node_evaluate_const (LptNode *node,
                         GError **error)
{
  g_autofree LptTensor **in = g_new0 (LptTensor *, node->n_in + 1);
  g_autofree LptTensor **out = g_new0 (LptTensor *, node->n_out + 1);
  guint i;

  if (node->n_out == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": has no output", node->name);
      return NULL;
    }
  for (i = 0; i < node->n_in; i++)
    {
      in[i] = lpt_node_const_in (node, i);
      if (in[i] == NULL && lpt_node_in (node, i) != NULL)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": input %u is not constant", node->name, i);
          return NULL;
        }
    }
  if (!lpt_node_evaluate (node, in, out, error))
    return NULL;
  for (i = 1; i < node->n_out; i++)
    lpt_tensor_unref (out[i]);

  return out[0];
}
