/* passes/scale-weight-codes.c - weights that are codes without a scale of their own get one
 *
 *     P (x, moves (c))                =>  P (x, moves (c * 1))         c = Convert (codes), or Convert (codes) - z
 *     MatMul (x, c) * s               =>  MatMul (x, c * s)
 *     c / s                           =>  c * (1 / s)
 *
 * where P is a product, codes are constant integers of 8 bits or less, and s is one number, or one for each column of
 * the product that nothing else reads; so may c be transposed. Exporters write linear layers with int8 weights as
 * linear (x, w.to (float)) * s. The rules and weight-only know dequantization by its Multiply. Exact in real numbers.
 *
 * Left alone: codes that another Multiply scales already, a matrix of more than two axes whose product is scaled, and
 * scales that are computed.
 *
 * Golden tests: tests/golden/scale-weight-codes/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-layer.h"

/* Moves between codes and their product. */
#define MAX_MOVES 8

/* Is @value Convert (codes), or that less a constant zero point? */
static gboolean
is_bare (LptValue *value)
{
  LptNode *node = value->producer;

  if (node->op == LPT_OP_SUBTRACT && lpt_node_const_in (node, 1) != NULL)
    node = lpt_node_src (node, 0);
  if (node->op != LPT_OP_CONVERT || !lpt_dtype_is_real (node->out[0].dtype) || lpt_node_const_in (node, 0) == NULL)
    return FALSE;

  return lpt_value_is_coded (lpt_node_in (node, 0)) && lpt_node_in (node, 0)->quant == NULL;
}

/* Does it turn a matrix? */
static gboolean
turns (LptNode *node)
{
  LptTensor *order = node->op == LPT_OP_TRANSPOSE ? lpt_node_const_in (node, 1) : NULL;

  return order != NULL && node->out[0].shape.rank == 2 && lpt_tensor_count (order) == 2 &&
         lpt_tensor_get_f64 (order, 0) == 1;
}

/* The bare codes behind the moves in front of @value; *@turned: 1 = as a matrix transposed, -1 = otherwise moved, or
 * something else reads them on the way. NULL: there are none. */
static LptValue *
find_bare (LptValue *value,
           gint     *turned)
{
  *turned = 0;
  for (guint k = 0; k < MAX_MOVES && !is_bare (value); k++)
    {
      LptNode *node = value->producer;

      if ((node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_UNARY | LPT_OP_F_COMPUTE)) != LPT_OP_F_PRESERVES ||
          node->n_out != 1 || node->n_in == 0 || node->op == LPT_OP_CONCAT)
        return NULL;
      *turned = turns (node) && *turned >= 0 && lpt_value_n_uses (value) == 1 ? !*turned : -1;
      value = lpt_node_in (node, 0);
    }

  return is_bare (value) ? value : NULL;
}

/* The Multiply that alone reads the product @y and scales its columns, with its constant, or NULL. */
static LptNode *
find_scale (LptValue   *y,
            LptTensor **scale)
{
  LptNode *multiply = lpt_value_n_uses (y) == 1 ? lpt_value_use (y, 0)->node : NULL;
  const gint64 columns = y->shape.rank > 0 ? y->shape.dims[y->shape.rank - 1] : -1;
  const LptShape *shape;

  if (multiply == NULL || multiply->op != LPT_OP_MULTIPLY || multiply->out[0].dtype != y->dtype)
    return NULL;
  *scale = lpt_node_const_in (multiply, lpt_node_in (multiply, 0) == y ? 1 : 0);
  if (*scale == NULL || lpt_tensor_dtype (*scale) != y->dtype)
    return NULL;
  shape = lpt_tensor_shape (*scale);

  return shape->rank <= y->shape.rank && lpt_shape_equal (&multiply->out[0].shape, &y->shape) &&
                 (lpt_tensor_count (*scale) == 1 ||
                  (lpt_tensor_count (*scale) == columns && shape->dims[shape->rank - 1] == columns))
             ? multiply : NULL;
}

/* All that read @codes read @codes * @scale, which it takes. */
static void
multiply (LptRewriter *rw,
          LptValue    *codes,
          LptTensor   *scale)
{
  g_autofree char *name = g_strconcat (codes->producer->name, "/scaled", NULL);
  g_autofree char *constant = g_strconcat (name, "/scale", NULL);
  LptValue *in[] = { codes, lpt_rewriter_const (rw, constant, scale) };
  LptNode *scaled = lpt_rewriter_add (rw, LPT_OP_MULTIPLY, name, 2, in);

  lpt_value_replace (codes, &scaled->out[0], NULL);
  lpt_node_set_input (scaled, 0, codes);
}

/* Takes what scales the columns of @matmul into its weights @codes, which nothing else reads. */
static gboolean
take_scale (LptRewriter *rw,
            LptNode     *matmul,
            LptValue    *codes,
            gint         turned)
{
  LptTensor *scale, *column;
  LptNode *last = turned >= 0 && codes->shape.rank == 2 && lpt_value_n_uses (codes) == 1
                      ? find_scale (&matmul->out[0], &scale) : NULL;
  const gboolean rows = LPT_ATTRS (matmul, LptMatMulAttrs)->transpose_b != (turned == 1);

  if (last == NULL)
    return FALSE;
  column = lpt_tensor_count (scale) == 1
               ? lpt_fold_reshape (scale, 0, NULL)
               : lpt_fold_reshape (scale, 2, rows ? (gint64[]) { lpt_tensor_count (scale), 1 }
                                                  : (gint64[]) { 1, lpt_tensor_count (scale) });
  multiply (rw, codes, column);
  lpt_rewriter_replace (rw, &last->out[0], &matmul->out[0], matmul);

  return TRUE;
}

static gboolean
rewrite_product (LptRewriter *rw,
                 LptNode     *node)
{
  gint turned;
  LptValue *codes = node->n_in > 1 ? find_bare (lpt_node_in (node, 1), &turned) : NULL;

  if (codes == NULL)
    return FALSE;
  if (node->op != LPT_OP_MATMUL || !take_scale (rw, node, codes, turned))
    multiply (rw, codes, lpt_tensor_scalar (codes->dtype, 1));

  return TRUE;
}

static gboolean
rewrite_divide (LptRewriter *rw,
                LptNode     *divide)
{
  LptTensor *by = lpt_node_const_in (divide, 1);
  g_autoptr (LptTensor) one = by != NULL ? lpt_tensor_scalar (lpt_tensor_dtype (by), 1) : NULL;
  LptTensor *scale;

  if (by == NULL || !is_bare (lpt_node_in (divide, 0)) || !lpt_dtype_is_real (divide->out[0].dtype))
    return FALSE;
  scale = lpt_fold_binary (LPT_OP_DIVIDE, one, by, lpt_tensor_dtype (by));
  if (scale == NULL || !lpt_tensor_is_finite (scale))
    {
      g_clear_pointer (&scale, lpt_tensor_unref);
      return FALSE;
    }
  lpt_rewriter_replace (rw, &divide->out[0],
                        lpt_node_out (lpt_rewriter_add (rw, LPT_OP_MULTIPLY, divide->name, 2, (LptValue *[]) {
                          lpt_node_in (divide, 0), lpt_rewriter_const (rw, "scale", scale) })), NULL);

  return TRUE;
}

static gboolean
run_graph (LptRewriter  *rw,
           LptGraph     *graph,
           GError      **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);

  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      LptNode *node = order->pdata[i];

      if ((node->flags & LPT_NODE_DEAD) != 0)
        continue;
      if (node->op == LPT_OP_DIVIDE ? rewrite_divide (rw, node)
                                    : (node->info->flags & LPT_OP_F_WEIGHTED) != 0 && rewrite_product (rw, node))
        lpt_rewriter_changed (rw, node);
    }

  return order != NULL;
}

const LptPass lpt_pass_scale_weight_codes = {
  .name      = "scale-weight-codes",
  .doc       = "Weights that are codes without a scale of their own get one",
  .stage     = LPT_STAGE_PREPARE,
  .run       = run_graph,
  .exactness = LPT_EXACT_REAL,
};
