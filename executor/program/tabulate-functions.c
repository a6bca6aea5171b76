/* tabulate-functions.c - functions of what is looked up in a table are done with the table, when the plan is made
 *
 *     f (shape (Gather (c, i)))  =>  shape (Gather (f (c), i))
 *
 * f is elementwise and its other inputs are single constants; shape leaves the elements as they lie; c is computed from
 * constants and small. Embeddings that are rounded, scaled and rounded again for a Concat are looked up as they leave.
 * The same numbers.
 *
 * Left alone: what others read, too; constants with more axes than the table; tables from LEAST elements on, which
 * gather-constants looks up first. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-call.h"
#include "executor/program/lpt-program-passes.h"

/* Elements of a table that is too large. */
#define LEAST (1 << 18)
/* Ops between the function and the Gather, and between a constant and the table. */
#define MAX_DEPTH 12

static gboolean
is_constant (LptValue *value,
             guint     depth)
{
  LptNode *node = value->producer;

  if (node->data != NULL)
    return TRUE;
  if (depth == 0 || node->n_in == 0 || node->n_out != 1 ||
      (node->info->flags & (LPT_OP_F_ELEMENTWISE | LPT_OP_F_PRESERVES)) == 0)
    return FALSE;
  for (guint i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && !is_constant (lpt_node_in (node, i), depth - 1))
      return FALSE;

  return TRUE;
}

/* Whose quantization is nothing or one step for all. */
static gboolean
is_plain (const LptValue *value)
{
  return value->quant == NULL || value->quant->n == 1;
}

/* The input of an elementwise function of one value and single constants; G_MAXUINT: @node is none. */
static guint
argument (LptNode *node)
{
  guint at = G_MAXUINT;
  gint64 count;

  if ((node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 || (node->info->flags & LPT_OP_F_RANDOM) != 0 ||
      node->n_out != 1 || !is_plain (&node->out[0]))
    return G_MAXUINT;
  for (guint i = 0; i < node->n_in; i++)
    {
      LptValue *in = lpt_node_in (node, i);

      if (in == NULL || !is_plain (in))
        return G_MAXUINT;
      if (lpt_shape_count (&in->shape, &count) && count == 1 && is_constant (in, MAX_DEPTH))
        continue;
      if (at != G_MAXUINT)
        return G_MAXUINT;
      at = i;
    }

  return at;
}

/* The Gather in a table of constants behind which the elements of @value have only got another shape; NULL: there is
 * none. */
static LptNode *
gather_behind (LptValue *value)
{
  for (guint depth = 0; depth < MAX_DEPTH; depth++)
    {
      LptNode *node = value->producer;
      LptValue *table = lpt_node_in (node, 0);
      gint64 count;

      if (lpt_value_n_uses (value) != 1 || node->n_out != 1 || table == NULL || !is_plain (value) || !is_plain (table))
        return NULL;
      if (node->op == LPT_OP_GATHER)
        return is_constant (table, MAX_DEPTH) && lpt_shape_count (&table->shape, &count) && count < LEAST &&
               lpt_node_const_in (node, 1) == NULL ? node : NULL;
      if ((lpt_exec_node (node)->flags & LPT_EXEC_ALIAS) == 0 || (node->info->flags & LPT_OP_F_ELEMENTWISE) != 0)
        return NULL;
      value = table;
    }

  return NULL;
}

/* Does @node have the shape of @table when it reads that as input @at? Not with a constant of more axes. */
static gboolean
keeps_shape (LptNode        *node,
             guint           at,
             const LptValue *table)
{
  for (guint i = 0; i < node->n_in; i++)
    if (i != at && lpt_node_in (node, i) != NULL && lpt_node_in (node, i)->shape.rank > table->shape.rank)
      return FALSE;

  return TRUE;
}

static void
visit (LptNode *node)
{
  const guint at = argument (node);
  LptValue *from = at != G_MAXUINT ? lpt_node_in (node, at) : NULL, *value, *table;
  LptNode *gather = from != NULL && from->dtype != LPT_DTYPE_STRING ? gather_behind (from) : NULL, *copy;
  g_autofree LptValue **in = NULL;

  table = gather != NULL ? lpt_node_in (gather, 0) : NULL;
  if (table == NULL || !keeps_shape (node, at, table))
    return;
  in = g_new (LptValue *, node->n_in);
  for (guint i = 0; i < node->n_in; i++)
    in[i] = i == at ? table : lpt_node_in (node, i);
  copy = lpt_node_clone (node, node->name, node->n_in, in);
  copy->out[0].dtype = node->out[0].dtype;
  copy->out[0].shape = table->shape;
  lpt_value_set_quant (&copy->out[0], node->out[0].quant);
  for (value = from; ; value = lpt_node_in (value->producer, 0))
    {
      value->dtype = node->out[0].dtype;
      lpt_value_set_quant (value, node->out[0].quant);
      if (value->producer == gather)
        break;
    }
  /* Nobody reads the old node any more, which goes with the sweep; nor may it count as a reader. */
  lpt_node_set_input (node, at, table);
  lpt_node_set_input (gather, 0, lpt_node_out (copy));
  lpt_value_replace (lpt_node_out (node), from, NULL);
}

gboolean
lpt_program_tabulate_functions (LptProgram *program,
                                GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
