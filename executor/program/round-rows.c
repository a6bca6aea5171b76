/* round-rows.c - in mode litert2 hybrid operators round and scale as LiteRT 2.5 does
 *
 *     DynamicQuantize (x) of TensorFlow Lite, around 0  =>  codes from the least to the largest number of a row, with
 *                                                           its zero point at the product
 *     BlockMatMul (codes, w, s, S)                      =>  BlockMatMul (codes, w, 1, 1) * s * S
 *     Dequantize (Convolution (codes, w)) * (s * S)     =>  Dequantize (Convolution (codes, w)) * s * S
 *     Convolution of one pixel and step 1               =>  BlockMatMul of the channels last: each pixel is a row
 *
 * s: the scales of rows or images, S: those of the weights. In real numbers both sides of the last two are equal; in
 * float32 the order of the products is seen in the last bit. Sums are exact to 2^24. Which codes an interval gives says
 * eval/real/dynamic-quantize.c; data of convolutions of one channel each has those of TensorFlow Lite 2.9, since the
 * builtin kernel runs them.
 *
 * Left alone: weights with a scale for each block of a row, but for the codes of their data; a bias inside the product.
 * The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "eval/requant/lpt-requant-modes.h"
#include "executor/program/lpt-program-passes.h"
#include "ir/lpt-weighted.h"

enum { B = 1, SCALE_A, SCALE_B, ZERO_B, BIAS, ZERO_A };    /* of BlockMatMul */

static LptValue *
add_constant (LptGraph       *graph,
              const LptShape *shape,
              const float    *data)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_new (LPT_DTYPE_F32, shape, NULL);
  const gint64 n = tensor != NULL ? lpt_tensor_count (tensor) : 0;
  float *to = tensor != NULL ? lpt_tensor_writable (tensor) : NULL;

  for (gint64 i = 0; i < n; i++)
    to[i] = data != NULL ? data[i] : 1.0f;

  return tensor != NULL ? lpt_node_out (lpt_graph_add_const (graph, NULL, tensor)) : NULL;
}

/* @x times @factor, of the shape and type of @like. */
static LptValue *
multiplied (LptNode  *like,
            LptValue *x,
            LptValue *factor)
{
  LptNode *node = lpt_graph_add (like->graph, LPT_OP_MULTIPLY, 0, NULL, 2, (LptValue *[]) { x, factor });

  lpt_node_set_origin (node, like->origin);
  node->out[0].dtype = LPT_DTYPE_F32;
  node->out[0].shape = like->out[0].shape;

  return lpt_node_out (node);
}

static void
scale_matmul (LptNode *node)
{
  LptValue *rows = lpt_node_in (node, SCALE_A), *columns = lpt_node_in (node, SCALE_B), *y = lpt_node_out (node);
  const LptTensor *scales = lpt_node_const_in (node, SCALE_B);
  const gboolean whole = lpt_node_in (node, B)->shape.dims[1] <= LPT_ATTRS (node, LptBlockMatMulAttrs)->block;
  LptValue *ones = NULL, *one = NULL, *factor = NULL, *result;

  if (scales == NULL || columns->shape.dims[1] != 1 || !lpt_shape_is_static (&rows->shape) ||
      rows->shape.dims[rows->shape.rank - 1] != 1 || (node->n_in > BIAS && lpt_node_in (node, BIAS) != NULL))
    return;
  /* The sum of one block is multiplied once. */
  ones = whole ? rows : add_constant (node->graph, &rows->shape, NULL);
  one = add_constant (node->graph, &columns->shape, NULL);
  factor = add_constant (node->graph, &(LptShape) { .rank = 1, .dims = { columns->shape.dims[0] } },
                         lpt_tensor_data (scales));
  if (ones == NULL || one == NULL || factor == NULL)
    return;
  lpt_node_set_input (node, SCALE_A, ones);
  lpt_node_set_input (node, SCALE_B, one);
  result = whole ? y : multiplied (node, y, rows);
  result = multiplied (node, result, factor);
  lpt_node_take_name (result->producer, node, "/sum");
  lpt_value_replace (y, result, whole ? result->producer : lpt_node_src (result->producer, 0));
}

/* The one product that reads the sums of @node as real numbers, times @scale times *@scales; NULL: there is none. */
static LptNode *
product_of (LptNode   *node,
            LptValue  *scale,
            LptValue **scales)
{
  LptNode *real, *product, *factor;

  if (lpt_value_n_uses (lpt_node_out (node)) != 1)
    return NULL;
  real = lpt_value_use (lpt_node_out (node), 0)->node;
  if (real->op != LPT_OP_DEQUANTIZE || lpt_value_n_uses (lpt_node_out (real)) != 1)
    return NULL;
  product = lpt_value_use (lpt_node_out (real), 0)->node;
  if (product->op != LPT_OP_MULTIPLY || lpt_node_src (product, 0) != real)
    return NULL;
  factor = lpt_node_src (product, 1);
  if (factor->op != LPT_OP_MULTIPLY || lpt_node_in (factor, 0) != scale || lpt_node_const_in (factor, 1) == NULL)
    return NULL;
  *scales = lpt_node_in (factor, 1);

  return product;
}

static void
scale_window (LptNode  *node,
              LptValue *scale)
{
  LptValue *scales;
  LptNode *product = product_of (node, scale, &scales);

  if (product == NULL)
    return;
  lpt_node_set_input (product, 0, multiplied (product, lpt_node_in (product, 0), scale));
  lpt_node_set_input (product, 1, scales);
}

/* --- pixels as rows --- */

/* A window of one pixel that meets each pixel of the data once. */
static gboolean
is_pointwise (LptNode *node)
{
  const LptShape *w = &lpt_node_in (node, 1)->shape, *x = &lpt_node_in (node, 0)->shape, *y = &node->out[0].shape;

  return node->op == LPT_OP_CONVOLUTION && w->rank == 4 && w->dims[2] == 1 && w->dims[3] == 1 &&
         x->dims[2] == y->dims[2] && x->dims[3] == y->dims[3] && lpt_node_const_in (node, 1) != NULL;
}

static LptNode *
add (LptNode         *like,
     LptOp            op,
     guint            n_in,
     LptValue *const *in)
{
  LptNode *node = lpt_graph_add (like->graph, op, 0, NULL, n_in, in);

  lpt_node_set_origin (node, like->origin);

  return node;
}

static LptValue *
transposed (LptNode  *like,
            LptValue *x,
            gint64    a,
            gint64    b,
            gint64    c)
{
  g_autoptr (LptTensor) order = lpt_tensor_vector_i64 (4, (gint64[]) { 0, a, b, c });
  LptValue *in[2] = { x, lpt_node_out (lpt_graph_add_const (like->graph, NULL, order)) };
  LptNode *node = add (like, LPT_OP_TRANSPOSE, 2, in);

  return lpt_node_infer (node, NULL) ? lpt_node_out (node) : NULL;
}

/* The weights of @node as a matrix, and @scales as a column. FALSE: no memory. */
static gboolean
matrix_of (LptNode   *node,
           LptValue  *scales,
           LptValue **w,
           LptValue **column)
{
  const LptTensor *from = lpt_node_const_in (node, 1);
  const LptShape shape = { .rank = 2, .dims = { lpt_tensor_shape (from)->dims[0], lpt_tensor_shape (from)->dims[1] } };
  const LptShape one = { .rank = 2, .dims = { shape.dims[0], 1 } };
  g_autoptr (LptTensor) codes = lpt_tensor_new_copy (lpt_tensor_dtype (from), &shape, lpt_tensor_data (from), NULL);
  g_autoptr (LptTensor) numbers = lpt_tensor_new (LPT_DTYPE_F32, &one, NULL);
  const LptTensor *given = scales->producer->data;
  const float *each = lpt_tensor_data (given);
  const gint64 step = lpt_tensor_count (given) > 1 ? 1 : 0;
  float *to = numbers != NULL ? lpt_tensor_writable (numbers) : NULL;

  if (codes == NULL || to == NULL)
    return FALSE;
  for (gint64 i = 0; i < shape.dims[0]; i++)
    to[i] = each[i * step];
  *w = lpt_node_out (lpt_graph_add_const (node->graph, NULL, codes));
  lpt_value_set_quant (*w, lpt_node_in (node, 1)->quant);
  *column = lpt_node_out (lpt_graph_add_const (node->graph, NULL, numbers));

  return TRUE;
}

/* FALSE: @node is something else than a pointwise convolution of @codes. */
static gboolean
make_rows (LptNode *node,
           LptNode *codes)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  LptNode *product, *rows, *matmul;
  LptValue *in[ZERO_A + 1] = { NULL }, *scales, *last, *y;
  gint64 channels;

  if (!is_pointwise (node) || (product = product_of (node, &codes->out[1], &scales)) == NULL ||
      (last = transposed (node, lpt_node_in (codes, 0), 2, 3, 1)) == NULL ||
      !matrix_of (node, scales, &in[B], &in[SCALE_B]))
    return FALSE;
  rows = add (codes, LPT_OP_DYNAMIC_QUANTIZE, 1, &last);
  LPT_ATTRS (rows, LptDynamicQuantizeAttrs)->axis = -1;
  LPT_ATTRS (rows, LptDynamicQuantizeAttrs)->litert = TRUE;
  lpt_value_set_quant (&rows->out[0], unit);
  lpt_value_set_quant (&rows->out[2], unit);
  if (!lpt_node_infer (rows, NULL))
    return FALSE;
  in[0] = &rows->out[0];
  in[SCALE_A] = &rows->out[1];
  in[ZERO_A] = &rows->out[2];
  matmul = add (node, LPT_OP_BLOCK_MATMUL, ZERO_A + 1, in);
  channels = in[B]->shape.dims[1];
  LPT_ATTRS (matmul, LptBlockMatMulAttrs)->block = MIN ((channels + 15) / 16 * 16, LPT_BLOCK_MATMUL_MAX_BLOCK);
  if (!lpt_node_infer (matmul, NULL) || (y = transposed (node, lpt_node_out (matmul), 3, 1, 2)) == NULL)
    return FALSE;
  lpt_node_take_name (y->producer, product, "/real");
  lpt_value_replace (lpt_node_out (product), y, NULL);
  scale_matmul (matmul);

  return TRUE;
}

/* --- codes --- */

/* One channel of the data for each group. */
static gboolean
is_depthwise (LptNode *node)
{
  LptWeightedView view;

  return lpt_weighted_view (node, &view) && view.grouped && lpt_node_in (node, 1)->shape.dims[view.in] == 1;
}

/* The input of @node for the zero point of its data. */
static guint
zero_input (LptNode *node)
{
  LptWeightedView view;

  if (node->op == LPT_OP_BLOCK_MATMUL)
    return ZERO_A;

  return lpt_weighted_view (node, &view) ? view.zero : 0;
}

/* All readers of the codes, products that take a zero point (transfer container); NULL: there are others. */
static GPtrArray *
products_of (LptNode *codes)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new ();

  for (guint i = 0; i < lpt_value_n_uses (&codes->out[0]); i++)
    {
      const LptUse *use = lpt_value_use (&codes->out[0], i);

      if (use->index != 0 || zero_input (use->node) == 0)
        return NULL;
      g_ptr_array_add (found, use->node);
    }

  return found->len > 0 ? g_steal_pointer (&found) : NULL;
}

static void
lift (LptNode   *codes,
      GPtrArray *products)
{
  LPT_ATTRS (codes, LptDynamicQuantizeAttrs)->symmetric = FALSE;
  codes->out[0].dtype = LPT_DTYPE_U8;
  codes->out[2].dtype = LPT_DTYPE_U8;
  for (guint i = 0; i < products->len; i++)
    {
      LptNode *node = g_ptr_array_index (products, i);
      const guint zero = zero_input (node);

      if (node->n_in <= zero)
        lpt_node_set_n_in (node, zero + 1);
      lpt_node_set_input (node, zero, &codes->out[2]);
    }
}

static void
visit (LptNode *node)
{
  const LptDynamicQuantizeAttrs *attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  g_autoptr (GPtrArray) products = NULL;

  if (node->op != LPT_OP_DYNAMIC_QUANTIZE || !attrs->litert || attrs->block != 0 ||
      lpt_requant_node_mode (node) != LPT_MODE_LITERT2 || (products = products_of (node)) == NULL)
    return;
  if (is_depthwise (g_ptr_array_index (products, 0)))
    {
      g_free (node->requant);
      node->requant = g_strdup (lpt_mode_name (LPT_MODE_LITERT));
    }
  else if (products->len == 1 && make_rows (g_ptr_array_index (products, 0), node))
    return;
  else
    lift (node, products);
  for (guint i = 0; i < products->len; i++)
    {
      LptNode *product = g_ptr_array_index (products, i);

      if (product->op == LPT_OP_BLOCK_MATMUL)
        scale_matmul (product);
      else
        scale_window (product, &node->out[1]);
    }
}

gboolean
lpt_program_round_rows (LptProgram *program,
                        GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
