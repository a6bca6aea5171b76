/* onnx-order.c - an order of ONNX nodes in which each stands behind those that it reads
 *
 * ONNX wants files to be in such an order; runtimes sort, so there are files that are not.
 * A node reads its inputs, and what its subgraphs take from outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-scope.h"

/* --- what a node reads --------------------------------------------------------- */

typedef struct
{
  const LptOnnxScope *scope;
  GHashTable *producers;   /* name -> index of the node + 1 */
  guint       reader;      /* index of the node that is walked */
  GArray     *reads;       /* guint: indices of nodes, one list behind the other */
  GHashTable *hidden;      /* names -> how many subgraphs around define them, while these are walked */
} Reader;

static gboolean
is_defined (const LptOnnxScope *scope,
            const char         *name)
{
  return g_hash_table_contains (scope->values, name) || g_hash_table_contains (scope->initializers, name);
}

static gboolean
is_outside (const LptOnnxScope *scope,
            const char         *name)
{
  for (scope = scope->outer; scope != NULL; scope = scope->outer)
    if (is_defined (scope, name))
      return TRUE;
  return FALSE;
}

static void
read_name (Reader     *r,
           const char *name)
{
  guint i;

  if (name == NULL || *name == '\0' || GPOINTER_TO_UINT (g_hash_table_lookup (r->hidden, name)) > 0)
    return;
  i = GPOINTER_TO_UINT (g_hash_table_lookup (r->producers, name));
  if (i == 0)
    return;
  i--;
  /* A node that writes over a name from outside; mapping refuses it. */
  if (i == r->reader && is_outside (r->scope, name))
    return;
  g_array_append_val (r->reads, i);
}

static void
hide (Reader     *r,
      const char *name,
      gboolean    on)
{
  guint n;

  if (name == NULL)
    return;
  n = GPOINTER_TO_UINT (g_hash_table_lookup (r->hidden, name));
  g_hash_table_insert (r->hidden, (gpointer) name, GUINT_TO_POINTER (on ? n + 1 : n - 1));
}

/* Names that a subgraph defines itself are not taken from outside. */
static void
hide_own (Reader                 *r,
          const Onnx__GraphProto *graph,
          gboolean                on)
{
  for (gsize i = 0; i < graph->n_input; i++)
    hide (r, graph->input[i]->name, on);
  for (gsize i = 0; i < graph->n_initializer; i++)
    hide (r, graph->initializer[i]->name, on);
  for (gsize i = 0; i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL)
      hide (r, graph->sparse_initializer[i]->values->name, on);
  for (gsize i = 0; i < graph->n_node; i++)
    for (gsize k = 0; k < graph->node[i]->n_output; k++)
      hide (r, graph->node[i]->output[k], on);
}

static void read_node (Reader *r, const Onnx__NodeProto *node);

static void
read_graph (Reader                 *r,
            const Onnx__GraphProto *graph)
{
  hide_own (r, graph, TRUE);
  for (gsize i = 0; i < graph->n_node; i++)
    read_node (r, graph->node[i]);
  for (gsize i = 0; i < graph->n_output; i++)
    read_name (r, graph->output[i]->name);
  hide_own (r, graph, FALSE);
}

/* Messages nest no deeper than LPT_ONNX_MAX_DEPTH. */
static void
read_node (Reader                *r,
           const Onnx__NodeProto *node)
{
  for (gsize i = 0; i < node->n_input; i++)
    read_name (r, node->input[i]);
  for (gsize i = 0; i < node->n_attribute; i++)
    if (node->attribute[i]->g != NULL)
      read_graph (r, node->attribute[i]->g);
}

/* --- the order ------------------------------------------------------------------ */

static const char *
node_name (const Onnx__NodeProto *node)
{
  if (node->name != NULL && *node->name != '\0')
    return node->name;
  return node->n_output > 0 ? lpt_onnx_text (node->output[0]) : "";
}

/* The nodes of @stack from the one that is read again on. */
static void
fail_cycle (Onnx__NodeProto *const *nodes,
            const GArray           *stack,
            guint                   again,
            GError                **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint first = 0, shown = 0;

  while (g_array_index (stack, guint, first) != again)
    first++;
  if (first + 1 == stack->len)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\" reads its own output", node_name (nodes[again]));
      return;
    }
  /* The stack goes from a reader to what it reads; data flow the other way. */
  for (guint i = stack->len; i-- > first && shown < 8; shown++)
    {
      const Onnx__NodeProto *node = nodes[g_array_index (stack, guint, i)];

      g_string_append_printf (text, "%s\"%s\"", shown > 0 ? ", " : "", node_name (node));
    }
  if (stack->len - first > shown)
    g_string_append_printf (text, " and %u more", stack->len - first - shown);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the nodes %s are a cycle", text->str);
}

/* Depth first, each node behind what it reads, else as in the file. */
static gboolean
sort (Onnx__NodeProto *const *nodes,
      guint                   n,
      const guint            *starts,
      const guint            *reads,
      guint                  *order,
      GError                **error)
{
  enum { NEW, OPEN, DONE };
  g_autofree guint8 *state = g_new0 (guint8, n);
  g_autofree guint *next = g_memdup2 (starts, n * sizeof *starts);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));
  guint done = 0;

  for (guint root = 0; root < n; root++)
    {
      if (state[root] == NEW)
        {
          g_array_append_val (stack, root);
          state[root] = OPEN;
        }
      while (stack->len > 0)
        {
          guint i = g_array_index (stack, guint, stack->len - 1), read;

          if (next[i] == starts[i + 1])
            {
              state[i] = DONE;
              order[done++] = i;
              g_array_set_size (stack, stack->len - 1);
              continue;
            }
          read = reads[next[i]++];
          if (state[read] == OPEN)
            {
              fail_cycle (nodes, stack, read, error);
              return FALSE;
            }
          if (state[read] == NEW)
            {
              g_array_append_val (stack, read);
              state[read] = OPEN;
            }
        }
    }
  return TRUE;
}

gboolean
lpt_onnx_order (const LptOnnxScope  *scope,
                Onnx__NodeProto    **nodes,
                guint                n,
                guint              **order,
                GError             **error)
{
  g_autoptr (GHashTable) producers = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) hidden = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) reads = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree guint *starts = g_new (guint, (gsize) n + 1);
  Reader r = { .scope = scope, .producers = producers, .reads = reads, .hidden = hidden };
  gboolean sorted = TRUE;

  *order = NULL;
  for (guint i = 0; i < n; i++)
    for (gsize k = 0; k < nodes[i]->n_output; k++)
      {
        const char *name = nodes[i]->output[k];

        /* The first one that defines it; mapping refuses the second. */
        if (name != NULL && *name != '\0' && !is_defined (scope, name) && !g_hash_table_contains (producers, name))
          g_hash_table_insert (producers, (gpointer) name, GUINT_TO_POINTER (i + 1));
      }
  for (guint i = 0; i < n; i++)
    {
      starts[i] = reads->len;
      r.reader = i;
      read_node (&r, nodes[i]);
      for (guint k = starts[i]; k < reads->len; k++)
        sorted = sorted && g_array_index (reads, guint, k) < i;
    }
  starts[n] = reads->len;
  if (sorted)
    return TRUE;
  *order = g_new (guint, n);
  if (sort (nodes, n, starts, (const guint *) (gpointer) reads->data, *order, error))
    return TRUE;
  g_clear_pointer (order, g_free);
  return FALSE;
}
