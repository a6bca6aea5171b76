/* lpt-validate.c - everything that must hold in a graph, checked at once
 *
 * Nothing is assumed: pointers are looked up among the nodes and values of the
 * graph before they are followed. Each error is kept with its node; the message
 * is the printed graph with the errors below their lines.
 *
 *   links      inputs are values of this graph, each with exactly one matching use; no use is left over
 *   names      unique, in the table; ids unique; lists of parameters and results complete
 *   ops        number of inputs and outputs, data of constants, bodies and their maps
 *   order      no cycle
 *   types      what inference gives from the inputs agrees with what is stored
 *   marks      boxes exist and are of the right kind; quantization fits its value
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-check.h"
#include "ir/text/lpt-print.h"

#define MAX_NESTING 64

typedef struct
{
  GHashTable *notes;       /* LptNode * or LptGraph * -> GString */
  guint       n_errors;
  char       *first;
  guint       depth;
} Report;

typedef struct
{
  Report     *report;
  LptGraph   *graph;
  GHashTable *nodes;       /* set of LptNode * */
  GHashTable *values;      /* set of LptValue * */
  gboolean    linked;      /* all links may be followed */
} Check;

/* --- errors --- */

static void G_GNUC_PRINTF (3, 4)
complain (Check      *check,
          LptNode    *node,
          const char *format,
          ...)
{
  gpointer key = node != NULL ? (gpointer) node : (gpointer) check->graph;
  GString *text = g_hash_table_lookup (check->report->notes, key);
  g_autofree char *line = NULL;
  va_list args;

  va_start (args, format);
  line = g_strdup_vprintf (format, args);
  va_end (args);
  if (text == NULL)
    g_hash_table_insert (check->report->notes, key, text = g_string_new (NULL));
  g_string_append_printf (text, "%s\n", line);
  if (check->report->n_errors++ == 0)
    check->report->first = node != NULL && node->name != NULL ? g_strdup_printf ("node \"%s\": %s", node->name, line)
                                                              : g_strdup (line);
}

static void
free_note (gpointer text)
{
  g_string_free (text, TRUE);
}

/* --- names, ids, lists --- */

static void
check_names (Check *check)
{
  LptGraph *graph = check->graph;
  g_autoptr (GHashTable) ids = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  GHashTableIter iter;
  gpointer key, value;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (!g_hash_table_add (ids, GUINT_TO_POINTER (node->id)))
        complain (check, node, "id %u is another node's too", node->id);
      else if (node->id >= graph->next_id)
        complain (check, node, "id %u is not below the next free one, %u", node->id, graph->next_id);
      if (node->graph != graph)
        complain (check, node, "belongs to another graph");
      if (node->name == NULL || *node->name == '\0')
        complain (check, node, "has no name");
      else if (!g_hash_table_add (names, (gpointer) node->name))
        complain (check, node, "name \"%s\" is another node's too", node->name);
      else if (g_hash_table_lookup (graph->names, node->name) != node)
        complain (check, node, "name \"%s\" is not in the table of names", node->name);
    }
  g_hash_table_iter_init (&iter, graph->names);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (*(const char *) key != '\x01' && !g_hash_table_contains (check->nodes, value))
      complain (check, NULL, "the table of names has \"%s\" for a node that does not exist", (const char *) key);
}

static void
check_list (Check      *check,
            GPtrArray  *list,
            LptOp       op,
            const char *what)
{
  g_autoptr (GHashTable) listed = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < list->len; i++)
    {
      LptNode *node = g_ptr_array_index (list, i);

      if (!g_hash_table_contains (check->nodes, node))
        complain (check, NULL, "%s %u does not exist", what, i);
      else if (node->op != op)
        complain (check, node, "stands in the list of %ss", what);
      else if (!g_hash_table_add (listed, node))
        complain (check, node, "stands twice in the list of %ss", what);
    }
  for (guint i = 0; i < check->graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (check->graph->nodes, i);

      if (node->op == op && (node->flags & LPT_NODE_DEAD) == 0 && !g_hash_table_contains (listed, node))
        complain (check, node, "is missing in the list of %ss", what);
    }
}

static void
check_output_names (Check *check)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < check->graph->results->len; i++)
    {
      LptNode *node = g_ptr_array_index (check->graph->results, i);
      const char *name;

      if (!g_hash_table_contains (check->nodes, node) || node->op != LPT_OP_RESULT)
        continue;
      name = LPT_ATTRS (node, LptResultAttrs)->output;
      if (name != NULL && *name != '\0' && !g_hash_table_add (seen, (gpointer) name))
        complain (check, node, "another output is named \"%s\" too", name);
    }
}

/* --- links --- */

static guint
count_uses (const LptValue *value,
            const LptNode  *node,
            guint           index)
{
  guint n = 0;

  for (guint i = 0; i < value->uses->len; i++)
    if (lpt_value_use (value, i)->node == node && lpt_value_use (value, i)->index == index)
      n++;

  return n;
}

static void
check_inputs (Check   *check,
              LptNode *node)
{
  for (guint i = 0; i < node->n_in; i++)
    {
      LptValue *value = node->in[i].value;

      if (value == NULL)
        {
          if (i < node->info->min_in && (node->flags & LPT_NODE_DEAD) == 0)      /* dead ones are detached */
            complain (check, node, "input %u is missing", i);
          continue;
        }
      if (!g_hash_table_contains (check->values, value))
        {
          complain (check, node, "input %u is a value that does not exist in this graph", i);
          check->linked = FALSE;
          continue;
        }
      if (value->producer->flags & LPT_NODE_DEAD && (node->flags & LPT_NODE_DEAD) == 0)
        complain (check, node, "input %u is of the dead node \"%s\"", i, value->producer->name);
    }
  for (guint i = 0; node->controls != NULL && i < node->controls->len; i++)
    if (!g_hash_table_contains (check->nodes, g_ptr_array_index (node->controls, i)))
      {
        complain (check, node, "control dependency %u is a node that does not exist", i);
        check->linked = FALSE;
      }
}

typedef struct { const LptNode *node; const LptValue *value; guint index; } Link;

static guint
link_hash (gconstpointer data)
{
  const Link *link = data;

  return g_direct_hash (link->node) * 31 + g_direct_hash (link->value) + link->index;
}

static gboolean
link_equal (gconstpointer a,
            gconstpointer b)
{
  const Link *x = a, *y = b;

  return x->node == y->node && x->value == y->value && x->index == y->index;
}

/* Every input has one use, every use one input. */
static void
check_uses (Check *check)
{
  g_autoptr (GHashTable) links = g_hash_table_new_full (link_hash, link_equal, g_free, NULL);

  for (guint i = 0; i < check->graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (check->graph->nodes, i);

      for (guint k = 0; k < node->n_out; k++)
        for (guint u = 0; u < node->out[k].uses->len; u++)
          {
            const LptUse *use = lpt_value_use (&node->out[k], u);
            const Link link = { use->node, &node->out[k], use->index };

            if (!g_hash_table_contains (check->nodes, use->node))
              complain (check, node, "output %u has a use by a node that does not exist", k);
            else if (use->index >= use->node->n_in || use->node->in[use->index].value != &node->out[k])
              complain (check, node, "output %u has a use by input %u of \"%s\", which reads something else", k,
                        use->index, use->node->name);
            else if (!g_hash_table_add (links, g_memdup2 (&link, sizeof link)))
              complain (check, node, "output %u has %u uses by input %u of \"%s\"", k,
                        count_uses (&node->out[k], use->node, use->index), use->index, use->node->name);
          }
    }
  for (guint i = 0; i < check->graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (check->graph->nodes, i);

      for (guint k = 0; k < node->n_in; k++)
        {
          const Link link = { node, node->in[k].value, k };

          if (link.value != NULL && g_hash_table_contains (check->values, (gpointer) link.value) &&
              !g_hash_table_contains (links, &link))
            complain (check, node, "input %u is not among the uses of its value", k);
        }
    }
}

/* --- marks and quantization --- */

static void
check_box (Check      *check,
           LptNode    *node,
           LptBox      box,
           LptBoxKind  kind,
           const char *what)
{
  GArray *boxes = check->graph->boxes;
  LptBox root = box;

  if (box == 0)
    return;
  for (guint steps = 0; steps <= boxes->len; steps++)
    {
      LptBox parent;

      if (root == 0 || root >= boxes->len)
        break;
      parent = g_array_index (boxes, LptBoxValue, root).parent;
      if (parent == root)
        {
          if (g_array_index (boxes, LptBoxValue, root).kind != kind)
            complain (check, node, "%s: box %u is of another kind", what, box);
          return;
        }
      root = parent;
    }
  complain (check, node, "%s: box %u does not exist", what, box);
}

static void
check_mark (Check         *check,
            LptNode       *node,
            const LptMark *mark)
{
  check_box (check, node, mark->precisions, LPT_BOX_PRECISIONS, "precisions");
  check_box (check, node, mark->preserved, LPT_BOX_PRESERVED, "preserved");
  check_box (check, node, mark->avg_pool, LPT_BOX_PRESERVED, "avg_pool");
  check_box (check, node, mark->interval, LPT_BOX_INTERVAL, "interval");
  check_box (check, node, mark->alignment, LPT_BOX_ALIGNMENT, "alignment");
}

static void
check_quant (Check          *check,
             LptNode        *node,
             guint           k)
{
  const LptValue *value = &node->out[k];
  const LptQuant *quant = value->quant;

  g_autoptr (GError) error = NULL;

  if (!lpt_value_check_codes (value, &error))
    complain (check, node, "output %u: %s", k, error->message);
  /* Zero points may lie outside of the type: intervals need not contain 0. Channels of a constant that are 0 may have
   * the scale 0. */
  for (guint i = 0; i < quant->n; i++)
    if (!(quant->scale[i] > 0 || (quant->scale[i] == 0 && node->data != NULL)) || !isfinite (quant->scale[i]))
      {
        complain (check, node, "quantization of output %u has the scale %g", k, quant->scale[i]);
        break;
      }
}

/* --- ops --- */

static void
check_outputs (Check   *check,
               LptNode *node)
{
  for (guint k = 0; k < node->n_out; k++)
    {
      LptValue *value = &node->out[k];
      gboolean known = value->shape.rank >= LPT_DYNAMIC && value->shape.rank <= LPT_MAX_RANK;

      if (value->producer != node || value->index != k)
        complain (check, node, "output %u says that it is output %u of another node", k, value->index);
      if ((guint) value->dtype >= LPT_N_DTYPES)
        complain (check, node, "output %u has no element type", k);
      else if (value->dtype == LPT_DTYPE_UNDEFINED && (node->flags & LPT_NODE_DEAD) == 0)
        complain (check, node, "output %u has no element type: it is not inferred", k);
      if (!known)
        complain (check, node, "output %u has rank %d", k, value->shape.rank);
      for (gint i = 0; known && i < value->shape.rank; i++)
        if (value->shape.dims[i] < LPT_DYNAMIC)
          complain (check, node, "output %u has an axis of length %" G_GINT64_FORMAT, k, value->shape.dims[i]);
      if (value->quant != NULL && known)
        check_quant (check, node, k);
      check_mark (check, node, &value->mark);
    }
}

static void
check_op (Check   *check,
          LptNode *node)
{
  const LptOpInfo *info = node->info;

  if (info->op != node->op)
    complain (check, node, "is a %s by its table row, but its op is number %d", info->name, node->op);
  if (node->n_in < info->min_in || (info->max_in != LPT_ANY_INPUTS && node->n_in > info->max_in))
    complain (check, node, "has %u inputs, takes %u to %u", node->n_in, info->min_in, info->max_in);
  if (info->n_out >= 0 && node->n_out != (guint) info->n_out)
    complain (check, node, "has %u outputs, not %d", node->n_out, info->n_out);
  if ((node->data != NULL) != (node->op == LPT_OP_CONST))
    complain (check, node, node->data != NULL ? "has constant data" : "has no data");
  if (node->data != NULL && node->n_out == 1 &&
      (lpt_tensor_dtype (node->data) != node->out[0].dtype ||
       !lpt_shape_equal (lpt_tensor_shape (node->data), &node->out[0].shape)))
    {
      g_autofree char *shape = lpt_shape_to_string (lpt_tensor_shape (node->data));

      complain (check, node, "holds %s[%s], which is not its type", lpt_dtype_name (lpt_tensor_dtype (node->data)),
                shape);
    }
  check_mark (check, node, &node->mark);
  for (guint i = 0; i < node->n_in; i++)
    check_mark (check, node, &node->in[i].mark);
}

static void check_graph (Report *report, LptGraph *graph);

static void
check_bodies (Check   *check,
              LptNode *node)
{
  guint n = lpt_op_n_bodies (node->info);

  if (lpt_node_n_bodies (node) != n && node->op != LPT_OP_CUSTOM)
    complain (check, node, "has %u bodies, not %u", lpt_node_n_bodies (node), n);
  if (lpt_node_n_bodies (node) == 0)
    return;
  if (node->body_maps == NULL || node->body_maps->len != node->bodies->len)
    {
      complain (check, node, "has %u bodies and %u maps", node->bodies->len,
                node->body_maps != NULL ? node->body_maps->len : 0);
      return;
    }
  for (guint b = 0; b < node->bodies->len; b++)
    {
      LptGraph *body = lpt_node_body (node, b);
      LptBodyMap *map = lpt_node_body_map (node, b);

      for (guint i = 0; i < map->inputs->len; i++)
        {
          const LptBodyPort *port = &g_array_index (map->inputs, LptBodyPort, i);

          if (port->external < -1 || port->external >= (gint) node->n_in || port->internal >= body->parameters->len)
            complain (check, node, "body %u: input %d is mapped to parameter %u of %u", b, port->external,
                      port->internal, body->parameters->len);
        }
      for (guint i = 0; i < map->outputs->len; i++)
        {
          const LptBodyPort *port = &g_array_index (map->outputs, LptBodyPort, i);

          if (port->external < -1 || port->external >= (gint) node->n_out || port->internal >= body->results->len)
            complain (check, node, "body %u: output %d is mapped to result %u of %u", b, port->external, port->internal,
                      body->results->len);
        }
      for (guint i = 0; i < map->back_edges->len; i++)
        {
          const LptBackEdge *edge = &g_array_index (map->back_edges, LptBackEdge, i);

          if (edge->result >= body->results->len || edge->parameter >= body->parameters->len)
            complain (check, node, "body %u: back edge from result %u of %u to parameter %u of %u", b, edge->result,
                      body->results->len, edge->parameter, body->parameters->len);
        }
      if (check->report->depth >= MAX_NESTING)
        complain (check, node, "bodies are nested deeper than %d", MAX_NESTING);
      else
        {
          check->report->depth++;
          check_graph (check->report, body);
          check->report->depth--;
        }
    }
}

/* --- types --- */

typedef struct { LptDType dtype; LptShape shape; } Type;

/* Infers the node from its inputs, compares, and puts everything back. */
static void
check_types (Check   *check,
             LptNode *node)
{
  g_autofree Type *have = g_new (Type, node->n_out + 1);
  g_autoptr (GError) error = NULL;
  gboolean ok;

  for (guint k = 0; k < node->n_out; k++)
    have[k] = (Type) { node->out[k].dtype, node->out[k].shape };
  ok = lpt_node_infer (node, &error);
  for (guint k = 0; k < node->n_out; k++)
    {
      Type want = { node->out[k].dtype, node->out[k].shape };

      node->out[k].dtype = have[k].dtype;
      node->out[k].shape = have[k].shape;
      if (!ok || have[k].dtype == LPT_DTYPE_UNDEFINED)
        continue;
      if ((want.dtype != have[k].dtype && want.dtype != LPT_DTYPE_UNDEFINED && want.dtype != LPT_DTYPE_DYNAMIC &&
           have[k].dtype != LPT_DTYPE_DYNAMIC) || !lpt_shape_compatible (&want.shape, &have[k].shape))
        {
          g_autofree char *a = lpt_shape_to_string (&have[k].shape);
          g_autofree char *b = lpt_shape_to_string (&want.shape);

          complain (check, node, "output %u is %s[%s], but %s makes %s[%s] of its inputs", k,
                    lpt_dtype_name (have[k].dtype), a, node->info->name, lpt_dtype_name (want.dtype), b);
        }
    }
  if (!ok)
    {
      const char *text = strstr (error->message, "\": ");      /* behind 'FILE:LINE: node "NAME": ' */

      complain (check, node, "%s", text != NULL ? text + 3 : error->message);
    }
}

/* --- a graph --- */

static void
check_graph (Report   *report,
             LptGraph *graph)
{
  Check check = { report, graph, g_hash_table_new (NULL, NULL), g_hash_table_new (NULL, NULL), TRUE };
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (GError) error = NULL;
  guint before = report->n_errors;

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (!g_hash_table_add (check.nodes, node))
        complain (&check, node, "stands twice in the list of nodes");
      for (guint k = 0; k < node->n_out; k++)
        g_hash_table_add (check.values, &node->out[k]);
    }
  check_names (&check);
  check_list (&check, graph->parameters, LPT_OP_PARAMETER, "parameter");
  check_list (&check, graph->results, LPT_OP_RESULT, "result");
  check_output_names (&check);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      check_op (&check, node);
      check_inputs (&check, node);
      check_outputs (&check, node);
      check_bodies (&check, node);
    }
  check_uses (&check);

  /* What follows walks the links and counts by id: only in graphs that hold so far. */
  if (check.linked && report->n_errors == before && (order = lpt_graph_order (graph, &error)) == NULL)
    complain (&check, NULL, "%s", error->message);
  for (guint i = 0; order != NULL && report->n_errors == before && i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if ((node->flags & LPT_NODE_DEAD) == 0)
        check_types (&check, node);
      before = report->n_errors;      /* a wrong type does not hide the others */
    }
  g_hash_table_unref (check.nodes);
  g_hash_table_unref (check.values);
}

gboolean
lpt_graph_validate (LptGraph  *graph,
                    GError   **error)
{
  Report report = { g_hash_table_new_full (NULL, NULL, NULL, free_note) };

  g_return_val_if_fail (graph != NULL, FALSE);

  check_graph (&report, graph);
  if (report.n_errors > 0)
    {
      g_autofree char *text = lpt_graph_print (graph, LPT_TEXT_ELIDE, report.notes);

      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the graph has %u error%s, first %s\n%s", report.n_errors,
                   report.n_errors > 1 ? "s" : "", report.first, text);
    }
  g_hash_table_unref (report.notes);
  g_free (report.first);

  return report.n_errors == 0;
}
