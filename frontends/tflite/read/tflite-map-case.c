/* tflite-map-case.c - STABLEHLO_CASE: one of several subgraphs
 *
 *     index 0 -> branch 0, 1 -> branch 1, ..; any other -> the last branch
 *
 * An If for each branch but the last, whose "else" body holds the If of the next: one branch runs. A constant index
 * leaves its branch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-body.h"

#define MAX_BRANCHES 16          /* bodies inside of bodies */

typedef struct
{
  LptInts branches;
  guint   n_in, n_out;          /* n_in: the index and what the branches get */
} Case;

static void choose (LptTflOp *op, const Case *c, guint from, LptValue *const *in, LptValue **out);

/* Branch @from as a body; what it gets are parameters. */
static LptGraph *
branch_body (LptTflOp *op, const Case *c, guint from, LptValue *const *in)
{
  g_autoptr (LptTflScope) scope = NULL;
  LptGraph *body = lpt_tfl_body_new (op, c->branches.v[from], &(LptTflBodyInputs) { c->n_in - 1, in + 1, NULL },
                                     NULL, c->n_out, &scope);
  if (body != NULL && scope->locals->len > 0)
    lpt_tfl_unsupported (op, "state inside of a branch of CASE");
  for (guint o = 0; body != NULL && o < c->n_out; o++)
    lpt_tfl_body_result (op, body, lpt_tfl_body_output (op, scope, o));
  return body;
}

/* The branches from @from on as a body, which gets the index as well. */
static LptGraph *
others_body (LptTflOp *op, const Case *c, guint from, LptValue *const *in)
{
  LptGraph *body = lpt_graph_new ("body");
  LptTflScope scope = *op->scope;
  LptTflOp inner = *op;
  g_autofree LptValue **parameters = g_new0 (LptValue *, c->n_in);
  g_autofree LptValue **out = g_new0 (LptValue *, c->n_out + 1);
  scope.graph = body;
  scope.is_body = TRUE;
  scope.locals = NULL;
  inner.scope = &scope;
  for (guint k = 0; k < c->n_in; k++)
    parameters[k] = lpt_tfl_body_parameter (&inner, body, k == 0 ? "index" : "input", in[k], &in[k]->shape);
  choose (&inner, c, from, parameters, out);
  for (guint o = 0; o < c->n_out && inner.error == NULL; o++)
    lpt_tfl_body_result (&inner, body, out[o]);
  op->error = inner.error;
  return body;
}

static void
choose_by_if (LptTflOp *op, const Case *c, guint from, LptValue *const *in, LptValue **out)
{
  g_autofree LptValue **given = g_new0 (LptValue *, c->n_in + 1);
  LptValue *index = in[0]->shape.rank == 0 ? in[0] : lpt_tfl_reshape (op, in[0], 0, NULL);
  given[0] = lpt_tfl_emit (op, LPT_OP_EQUAL, 2, index, lpt_tfl_like (op, index, from));
  for (guint k = 0; k < c->n_in; k++)
    given[k + 1] = in[k];
  LptNode *node = lpt_tfl_add_list (op, LPT_OP_IF, c->n_out, c->n_in + 1, given);
  for (guint b = 0; b < 2 && op->error == NULL; b++)
    {
      LptGraph *body = b == 0 ? branch_body (op, c, from, in) : others_body (op, c, from + 1, in);
      LptBodyMap *map = lpt_body_map_new ();
      for (guint o = 0; o < c->n_out; o++)
        lpt_tfl_body_connect (map->outputs, (gint) o, o, LPT_PORT_PLAIN);
      for (guint k = b == 0 ? 1 : 0; k < c->n_in; k++)
        lpt_tfl_body_connect (map->inputs, (gint) k + 1, k - (b == 0 ? 1 : 0), LPT_PORT_PLAIN);
      if (body != NULL)
        lpt_node_add_body (node, body, map);
      else
        lpt_body_map_free (map);
    }
  if (op->error == NULL)
    lpt_tfl_body_outputs (op, node, lpt_node_body (node, 0), 0, c->n_out, out);
}

static void
choose (LptTflOp *op, const Case *c, guint from, LptValue *const *in, LptValue **out)
{
  if (from + 1 == c->branches.n)
    lpt_tfl_inline (op, c->branches.v[from], &(LptTflBodyInputs) { c->n_in - 1, in + 1, NULL }, c->n_out, out);
  else
    choose_by_if (op, c, from, in, out);
}

void
lpt_tfl_map_hlo_case (LptTflOp *op)
{
  Case c = { .n_in = op->n_in, .n_out = op->n_out };
  LptTensor *known = lpt_tfl_const_in (op, 0);
  g_autofree LptValue **in = g_new0 (LptValue *, op->n_in + 1), **out = g_new0 (LptValue *, op->n_out + 1);
  for (guint i = 0; i < op->n_in; i++)
    in[i] = lpt_tfl_in (op, i);
  lpt_tfl_opt_ints (op, TFL_StablehloCaseOptions_branch_subgraph_indices, &c.branches);
  if (op->n_in == 0 || !lpt_dtype_is_integer (in[0]->dtype) || in[0]->quant != NULL)
    lpt_tfl_invalid (op, "the index is not one integer");
  if (c.branches.n == 0 || c.branches.n > MAX_BRANCHES)
    lpt_tfl_unsupported (op, "%u branches", c.branches.n);
  if (op->error == NULL && known != NULL)
    {
      gint64 index = lpt_tensor_count (known) == 1 ? lpt_tensor_get_i64 (known, 0) : -1;
      guint taken = index >= 0 && index < c.branches.n ? (guint) index : c.branches.n - 1;
      lpt_tfl_inline (op, c.branches.v[taken], &(LptTflBodyInputs) { c.n_in - 1, in + 1, NULL }, c.n_out, out);
    }
  else if (op->error == NULL)
    choose (op, &c, 0, in, out);
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    lpt_tfl_set (op, o, out[o]);
  lpt_ints_clear (&c.branches);
}
