/* ov-spell-linear.c - LinearAttention, which OpenVINO does not have, as a TensorIterator over the tokens
 *
 *     S = decay S     r = k S     d = beta (v - r), or v     S = S + k' d     y = q S
 *
 * with an axis that says which of the states share a head of keys, or of queries. Exact but for the order of sums.
 * Heads and lengths must be known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-spell.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-text.h>

#include "ir/lpt-linear.h"

static const char letters[LPT_LINEAR_INPUTS] = { 'q', 'k', 'v', 's', 'g', 'b' };

/* %@name = @from as [B, @dims] */
static void
reshape (GString *text, const char *name, const char *from, guint n, const gint64 *dims)
{
  g_string_append_printf (text, "%%%s/shape = Const {0", name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, ",%" G_GINT64_FORMAT, dims[i]);
  g_string_append_printf (text, "} : i64[%u]\n%%%s = Reshape(%%%s, %%%s/shape) {special_zero=true}\n", n + 1, name,
                          from, name);
}

#define RESHAPE(name, from, ...) \
  reshape (text, name, from, sizeof ((gint64[]) { __VA_ARGS__ }) / sizeof (gint64), (gint64[]) { __VA_ARGS__ })

/* One token of each input: the text of the body. */
static char *
one_token (LptNode *node)
{
  GString *text = g_string_new (NULL);
  const LptShape *s = &lpt_node_in (node, LPT_LINEAR_STATE)->shape;
  const gint64 states = s->dims[1], key = s->dims[2], value = s->dims[3],
               queries = lpt_node_in (node, LPT_LINEAR_QUERY)->shape.dims[2],
               keys = lpt_node_in (node, LPT_LINEAR_KEY)->shape.dims[2], shared = MIN (queries, states);
  const LptValue *decay = lpt_node_in (node, LPT_LINEAR_DECAY), *beta = lpt_node_in (node, LPT_LINEAR_BETA);
  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    if (lpt_node_in (node, i) != NULL)
      {
        LptShape shape = lpt_node_in (node, i)->shape;
        if (i != LPT_LINEAR_STATE)
          shape.dims[1] = 1;
        g_autofree char *dims = lpt_shape_to_string (&shape);
        g_string_append_printf (text, "%%%c = Parameter : %s[%s]\n", letters[i],
                                lpt_dtype_name (lpt_node_in (node, i)->dtype), dims);
      }
  const char *state = "s", *d = "d0";
  if (decay != NULL)
    {
      RESHAPE ("g0", "g", decay->shape.dims[2], decay->shape.dims[3], 1);
      g_string_append (text, "%kept = Multiply(%s, %g0)\n");
      state = "kept";
    }
  RESHAPE ("d0", "v", states, 1, value);
  if (beta != NULL)
    {
      RESHAPE ("s5", state, keys, states / keys, key, value);
      RESHAPE ("k5", "k", keys, 1, 1, key);
      RESHAPE ("b0", "b", beta->shape.dims[2], 1, 1);
      g_string_append (text, "%r5 = MatMul(%k5, %s5)\n");
      RESHAPE ("r", "r5", states, 1, value);
      g_string_append (text, "%d1 = Subtract(%d0, %r)\n%d2 = Multiply(%b0, %d1)\n");
      d = "d2";
    }
  RESHAPE ("kt", "k", keys, 1, key, 1);
  RESHAPE ("d5", d, keys, states / keys, 1, value);
  g_string_append (text, "%more5 = Multiply(%kt, %d5)\n");
  RESHAPE ("more", "more5", states, key, value);
  g_string_append_printf (text, "%%next = Add(%%%s, %%more)\n", state);
  RESHAPE ("next5", "next", shared, states / shared, key, value);
  RESHAPE ("q5", "q", shared, 1, queries / shared, key);
  g_string_append (text, "%y5 = MatMul(%q5, %next5)\n");
  RESHAPE ("y", "y5", 1, MAX (queries, states), value);
  g_string_append (text, "Result(%y)\nResult(%next)\n");
  return g_string_free (text, FALSE);
}

/* Input @external, or output, is parameter or result @internal; cut along the axis of tokens, or not. */
static void
connect (GArray *ports, guint external, guint internal, gboolean sliced)
{
  LptBodyPort port = { .external = (gint) external, .internal = internal, .sliced = sliced, .axis = 1, .end = -1,
                       .stride = 1, .part_size = 1 };
  g_array_append_val (ports, port);
}

gboolean
ov_spell_linear_attention (LptNode *node, GError **error)
{
  const LptShape *s = &lpt_node_in (node, LPT_LINEAR_STATE)->shape;
  LptValue *in[LPT_LINEAR_INPUTS];
  guint n = 0;
  if (s->dims[1] < 1 || s->dims[2] < 0 || s->dims[3] < 0 || lpt_node_in (node, LPT_LINEAR_QUERY)->shape.dims[2] < 1
      || lpt_node_in (node, LPT_LINEAR_KEY)->shape.dims[2] < 1)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "heads whose number is not known");
      return FALSE;
    }
  g_autofree char *text = one_token (node), *name = g_strconcat (node->name, "/tokens", NULL);
  g_autoptr (LptGraph) body = lpt_graph_from_text (text, -1, name, error);
  if (body == NULL)
    return FALSE;
  LptBodyMap *map = lpt_body_map_new ();
  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    if (lpt_node_in (node, i) != NULL)
      {
        if (i == LPT_LINEAR_STATE)
          g_array_append_vals (map->back_edges, &(LptBackEdge) { .result = 1, .parameter = n }, 1);
        connect (map->inputs, n, n, i != LPT_LINEAR_STATE);
        in[n++] = lpt_node_in (node, i);
      }
  connect (map->outputs, 0, 0, TRUE);
  connect (map->outputs, 1, 1, FALSE);
  LptNode *loop = lpt_graph_add_full (node->graph, lpt_op_info (LPT_OP_TENSOR_ITERATOR), 1, name, n, in, 2);
  lpt_node_add_body (loop, g_steal_pointer (&body), map);
  if (!lpt_node_infer (loop, error))
    return FALSE;
  lpt_node_take_name (loop, node, "/spelled");
  for (guint o = 0; o < 2; o++)
    lpt_value_replace (&node->out[o], &loop->out[o], NULL);
  return TRUE;
}
