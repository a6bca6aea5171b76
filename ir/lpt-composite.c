/* lpt-composite.c - ops that are made of others, spelled out
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "ir/lpt-memory.h"

static const struct
{
  LptOp op;
  LptValue *(*spell) (LptSpeller *s);
  LptSpellPurpose first;
} rules[] = {
#define LPT_COMPOSITE(OP, rule, first) { LPT_OP_##OP, lpt_##rule##_spell, LPT_SPELL_FOR_##first },
#include "ir/lpt-composites.def"
#undef LPT_COMPOSITE
};

/* --- for the rules ---------------------------------------------------------------------- */

LptNode *
lpt_speller_start (LptSpeller  *s,
                   LptOp        op,
                   const char  *name,
                   guint        n_in,
                   LptValue   **in)
{
  g_autofree char *full = g_strconcat (s->from->name, "/", name, NULL);
  LptNode *node = lpt_graph_add (s->graph, op, 0, full, n_in, in);

  lpt_node_set_origin (node, s->from->origin);

  return node;
}

LptValue *
lpt_speller_done (LptSpeller *s,
                  LptNode    *node)
{
  return lpt_node_out (s->finish (s->data, node));
}

LptValue *
lpt_speller_emit (LptSpeller  *s,
                  LptOp        op,
                  const char  *name,
                  guint        n_in,
                  LptValue   **in)
{
  return lpt_speller_done (s, lpt_speller_start (s, op, name, n_in, in));
}

LptValue *
lpt_speller_constant (LptSpeller *s,
                      const char *name,
                      LptTensor  *tensor)
{
  g_autofree char *full = g_strconcat (s->from->name, "/", name, NULL);
  LptNode *node;

  /* No memory: the rule goes on to its end, and whoever asked for it checks (lpt_memory_check()). */
  if (tensor == NULL)
    tensor = lpt_tensor_scalar (LPT_DTYPE_F32, 0);
  node = lpt_graph_add_const (s->graph, full, tensor);
  lpt_tensor_unref (tensor);

  return lpt_speller_done (s, node);
}

LptValue *
lpt_speller_product (LptSpeller *s,
                     const char *name,
                     LptValue   *a,
                     LptValue   *b,
                     gboolean    transpose_b)
{
  LptNode *node = lpt_speller_start (s, LPT_OP_MATMUL, name, 2, (LptValue *[]) { a, b });

  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = transpose_b;

  return lpt_speller_done (s, node);
}

/* --- graphs ----------------------------------------------------------------------------- */

gboolean
lpt_op_is_composite (LptOp op)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].op == op)
      return TRUE;

  return FALSE;
}

LptNode *
lpt_composite_spell (LptGraph       *graph,
                     LptNode        *node,
                     LptSpellPurpose purpose,
                     LptFinishNode   finish,
                     gpointer        data)
{
  LptSpeller s = { graph, node, purpose, finish, data };
  LptValue *y = NULL;

  /* The ops that it is made of make real numbers, which become codes at its end. */
  if (node->n_out > 0 && lpt_node_out (node)->quant != NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (rules) && y == NULL; i++)
    if (rules[i].op == node->op && (node->flags & LPT_NODE_RELAXED) == 0 && purpose >= rules[i].first)
      y = rules[i].spell (&s);

  return y != NULL ? y->producer : NULL;
}

static LptNode *
infer (gpointer data,
       LptNode *node)
{
  GError **problem = data;

  if (*problem == NULL)
    lpt_node_infer (node, problem);

  return node;
}

gboolean
lpt_graph_spell (LptGraph       *graph,
                 LptOp           op,
                 LptSpellPurpose purpose,
                 GError        **error)
{
  const guint n = graph->nodes->len, mark = lpt_memory_mark ();
  g_autoptr (GError) problem = NULL;

  for (guint i = 0; i < n && problem == NULL; i++)
    {
      LptNode *node = graph->nodes->pdata[i], *last;

      for (guint b = 0; b < lpt_node_n_bodies (node) && problem == NULL; b++)
        lpt_graph_spell (lpt_node_body (node, b), op, purpose, &problem);
      if (problem != NULL || (op != LPT_N_OPS && node->op != op))
        continue;
      last = lpt_composite_spell (graph, node, purpose, infer, &problem);
      if (last == NULL)
        continue;
      lpt_value_replace (lpt_node_out (node), lpt_node_out (last), NULL);
      lpt_node_take_over (last, node, "/replaced");
      node->flags |= LPT_NODE_DEAD;
    }
  lpt_graph_sweep (graph);
  if (!lpt_memory_check (mark, error))
    return FALSE;
  if (problem == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));

  return FALSE;
}

gboolean
lpt_graph_has_op (LptGraph *graph,
                  LptOp     op)
{
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = graph->nodes->pdata[i];

      if (node->op == op)
        return TRUE;
      for (guint b = 0; b < lpt_node_n_bodies (node); b++)
        if (lpt_graph_has_op (lpt_node_body (node, b), op))
          return TRUE;
    }

  return FALSE;
}
