/* lpt-stateless.c - variables as inputs and outputs
 *
 *     y = ReadValue (first), Assign (x) of one variable   =>   y = Parameter, Result (x)
 *
 * What the variable holds before a run is an input, what it holds behind the run an output: whoever runs the model
 * keeps the state. The first values go with it; all ReadValues of a variable read one input. A variable that nothing
 * assigns always has its first value, and one that nothing reads is only an output.
 *
 * An identifier that joins the names of an input and an output, as exporters of language models make it
 * ("past_key_values.0.keypresent.0.key"), is cut in front of "present"; of another one, "v", the input is "v" and the
 * output "v/next".
 *
 * Variables in bodies of loops and conditions are refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-graph.h>

#include <string.h>

#define JOINT "present"

static gboolean
bodies_have_state (LptGraph *graph,
                   gboolean  is_body,
                   GError  **error)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = graph->nodes->pdata[i];

      if (is_body && (node->info->flags & LPT_OP_F_STATE) != 0)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                       "node \"%s\": unsupported: a variable in a body cannot become an input", node->name);
          return TRUE;
        }
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (bodies_have_state (lpt_node_body (node, b), TRUE, error))
          return TRUE;
    }

  return FALSE;
}

static const char *
variable_of (const LptNode *node)
{
  return LPT_ATTRS (node, LptVariableAttrs)->variable_id;
}

/* The names that the two halves have. */
static void
split_name (const char *id,
            char      **input,
            char      **output)
{
  const char *joint = strstr (id, JOINT);

  if (joint != NULL && joint != id)
    {
      *input = g_strndup (id, (gsize) (joint - id));
      *output = g_strdup (joint);
      return;
    }
  *input = g_strdup (id);
  *output = g_strconcat (id, "/next", NULL);
}

static LptValue *
add_input (LptGraph   *graph,
           LptNode    *read,
           const char *name)
{
  LptNode *node = lpt_graph_find (graph, name);
  LptParameterAttrs *attrs;

  if (node != NULL && (node->info->flags & LPT_OP_F_STATE) != 0)
    {
      g_autofree char *other = g_strconcat (name, "/state", NULL);

      lpt_node_rename (node, other);
    }
  node = lpt_graph_add (graph, LPT_OP_PARAMETER, 1, name, 0, NULL);
  attrs = LPT_ATTRS (node, LptParameterAttrs);
  attrs->shape = lpt_node_out (read)->shape;
  attrs->element_type = lpt_node_out (read)->dtype;
  lpt_value_set_quant (lpt_node_out (node), lpt_node_out (read)->quant);

  return lpt_node_out (node);
}

static void
add_output (LptGraph   *graph,
            LptValue   *value,
            const char *name)
{
  g_autofree char *node_name = g_strconcat (name, "/result", NULL);
  LptNode *node = lpt_graph_add (graph, LPT_OP_RESULT, 1, node_name, 1, &value);
  LptResultAttrs *attrs = LPT_ATTRS (node, LptResultAttrs);

  g_free (attrs->output);
  attrs->output = g_strdup (name);
}

gboolean
lpt_graph_make_stateless (LptGraph *graph,
                          GError  **error)
{
  g_autoptr (GHashTable) inputs = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) assigned = g_hash_table_new (g_str_hash, g_str_equal);
  const guint n = graph->nodes->len;

  if (bodies_have_state (graph, FALSE, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      LptNode *node = graph->nodes->pdata[i];

      if (node->op != LPT_OP_ASSIGN)
        continue;
      if (!g_hash_table_add (assigned, (gpointer) variable_of (node)))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                       "node \"%s\": unsupported: variable \"%s\" is assigned a second time", node->name,
                       variable_of (node));
          return FALSE;
        }
    }

  for (guint i = 0; i < n; i++)
    {
      LptNode *node = graph->nodes->pdata[i];
      g_autofree char *input = NULL, *output = NULL;
      LptValue *value;

      if (node->op != LPT_OP_READ_VALUE && node->op != LPT_OP_ASSIGN)
        continue;
      split_name (variable_of (node), &input, &output);
      if (node->op == LPT_OP_ASSIGN)
        {
          value = lpt_node_in (node, 0);
          add_output (graph, value, output);
        }
      else if (!g_hash_table_contains (assigned, variable_of (node)) && lpt_node_in (node, 0) != NULL)
        value = lpt_node_in (node, 0);
      else
        {
          value = g_hash_table_lookup (inputs, variable_of (node));
          if (value == NULL)
            value = add_input (graph, node, input);
          g_hash_table_insert (inputs, (gpointer) variable_of (node), value);
        }
      lpt_value_replace (lpt_node_out (node), value, NULL);
      node->flags |= LPT_NODE_DEAD;
    }
  lpt_graph_sweep (graph);

  return lpt_graph_infer (graph, error);
}
