/* test-fast-matmul.c - products on kernels give the bytes of the scalar integer ops
 *
 * Two activations, drawn at random: types, zero points, sizes, transposes, batch axes that broadcast, vectors,
 * constants, what stands before and behind. And layers whose sums several steps read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

typedef struct
{
  LptGraph  *graph;
  GPtrArray *inputs;     /* of the parameters */
} Net;

static void
net_init (Net        *net,
          const char *mode)
{
  net->graph = lpt_graph_new ("net");
  net->graph->requant = g_strdup (mode);
  net->graph->lowered = TRUE;
  net->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
}

static void
net_clear (Net *net)
{
  lpt_graph_free (net->graph);
  g_ptr_array_unref (net->inputs);
}

/* The bytes are right, and the fast op of a step of @owner (LPT_OP_OPAQUE: of any) stands for every step of @op. */
static void
check (Net  *net,
       LptOp op,
       LptOp owner)
{
  g_autoptr (LptPlan) plan = fast_plan (net->graph, 0);
  guint i;

  for (i = 0; i < plan->program->n_nodes; i++)
    if (((LptProgramOp *) plan->program->nodes->pdata[i])->node->op == op)
      {
        const LptProgramOp *by = lpt_program_owner (plan->program->nodes->pdata[i]);

        g_assert_true (by->has_form);
        if (owner != LPT_OP_OPAQUE)
          g_assert_cmpint (by->node->op, ==, owner);
      }
  fast_case_compare_inputs (net->graph, net->inputs);
}

static LptQuant *
random_quant (LptDType dtype,
              GRand   *rand)
{
  gint32 lo = (gint32) lpt_dtype_min (dtype), hi = (gint32) lpt_dtype_max (dtype), zero;

  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:  zero = lo; break;
    case 1:  zero = hi; break;
    case 2:  zero = dtype == LPT_DTYPE_U8 ? 128 : 0; break;
    default: zero = g_rand_int_range (rand, lo, hi + 1);
    }

  return lpt_quant_new_one (g_rand_double_range (rand, 0.01, 0.1), zero);
}

/* Codes of a random type, of all values: a parameter or a constant. */
static LptValue *
net_codes (Net            *net,
           const LptShape *shape,
           gboolean        constant,
           GRand          *rand)
{
  LptDType dtype = g_rand_boolean (rand) ? LPT_DTYPE_U8 : LPT_DTYPE_I8;
  g_autoptr (LptQuant) quant = random_quant (dtype, rand);
  LptTensor *data = fast_random_tensor (dtype, shape, lpt_dtype_min (dtype), lpt_dtype_max (dtype) + 1, rand);
  LptNode *node;

  if (constant)
    {
      node = lpt_graph_add_const (net->graph, NULL, data);
      lpt_tensor_unref (data);
    }
  else
    {
      node = lpt_graph_add (net->graph, LPT_OP_PARAMETER, 0, NULL, 0, NULL);
      LPT_ATTRS (node, LptParameterAttrs)->element_type = dtype;
      LPT_ATTRS (node, LptParameterAttrs)->shape = *shape;
      lpt_node_out (node)->dtype = dtype;
      lpt_node_out (node)->shape = *shape;
      g_ptr_array_add (net->inputs, data);
    }
  lpt_value_set_quant (lpt_node_out (node), quant);

  return lpt_node_out (node);
}

static LptValue *
net_add (Net            *net,
         LptOp           op,
         LptValue       *a,
         LptValue       *b,
         LptDType        dtype,
         const LptShape *shape,
         LptQuant       *quant)
{
  LptNode *node = lpt_graph_add (net->graph, op, 0, NULL, b != NULL ? 2 : 1, (LptValue *[]) { a, b });

  node->flags |= LPT_NODE_RELAXED;
  lpt_node_out (node)->dtype = dtype;
  lpt_node_out (node)->shape = *shape;
  lpt_value_set_quant (lpt_node_out (node), quant);

  return lpt_node_out (node);
}

static LptValue *
net_transpose (Net          *net,
               LptValue     *x,
               const gint64 *order)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 ((guint) x->shape.rank, order);
  LptShape shape = x->shape;
  gint i;

  for (i = 0; i < shape.rank; i++)
    shape.dims[i] = x->shape.dims[order[i]];

  return net_add (net, LPT_OP_TRANSPOSE, x, lpt_node_out (lpt_graph_add_const (net->graph, NULL, tensor)), x->dtype,
                  &shape, x->quant);
}

static void
net_result (Net      *net,
            LptValue *value)
{
  lpt_graph_add (net->graph, LPT_OP_RESULT, 0, NULL, 1, &value);
}

static void
random_order (gint    rank,
              gint64 *order,
              GRand  *rand)
{
  gint i, k;

  for (i = 0; i < rank; i++)
    order[i] = i;
  for (i = rank - 1; i > 0; i--)
    {
      gint64 held = order[i];

      k = g_rand_int_range (rand, 0, i + 1);
      order[i] = order[k];
      order[k] = held;
    }
}

/* An operand of @shape, now and then behind a Transpose of any order and a Reinterpret. */
static LptValue *
net_operand (Net            *net,
             const LptShape *shape,
             gboolean        constant,
             GRand          *rand)
{
  gint64 order[LPT_MAX_RANK];
  LptShape stored = *shape;
  LptValue *x;
  gint i;

  if (constant || g_rand_boolean (rand))
    return net_codes (net, shape, constant, rand);
  random_order (shape->rank, order, rand);
  for (i = 0; i < shape->rank; i++)
    stored.dims[order[i]] = shape->dims[i];
  x = net_transpose (net, net_codes (net, &stored, FALSE, rand), order);
  if (g_rand_boolean (rand))
    {
      g_autoptr (LptQuant) quant = random_quant (x->dtype, rand);

      x = net_add (net, LPT_OP_REINTERPRET, x, NULL, x->dtype, shape, quant);
    }
  if (g_rand_int_range (rand, 0, 4) == 0)
    net_result (net, x);

  return x;
}

/* Batch axes of an operand: some missing, some of length 1. */
static LptShape
random_batch (const LptShape *batch,
              GRand          *rand)
{
  gint skip = g_rand_int_range (rand, 0, 3) == 0 ? g_rand_int_range (rand, 0, batch->rank + 1) : 0, i;
  LptShape own = lpt_shape_make (batch->rank - skip, batch->dims + skip);

  for (i = 0; i < own.rank; i++)
    if (g_rand_int_range (rand, 0, 3) == 0)
      own.dims[i] = 1;

  return own;
}

static LptShape
matrix_shape (const LptShape *batch,
              gint64          rows,
              gint64          columns,
              gboolean        vector,
              gboolean        left,
              gboolean        transposed)
{
  LptShape shape = *batch;

  if (vector)
    return lpt_shape_make (1, left ? &columns : &rows);
  shape.dims[shape.rank++] = transposed ? columns : rows;
  shape.dims[shape.rank++] = transposed ? rows : columns;

  return shape;
}

/* What reads the product: nothing, a Transpose, a sum with other codes, floats once or twice. */
static void
net_readers (Net      *net,
             LptValue *y,
             GRand    *rand)
{
  gint64 order[LPT_MAX_RANK];
  g_autoptr (LptQuant) quant = random_quant (LPT_DTYPE_U8, rand);
  LptShape shape = y->shape;

  if (y->dtype == LPT_DTYPE_I32)
    {
      gint kind = g_rand_int_range (rand, 0, 4);
      LptValue *x = y;

      if (kind >= 1)
        x = net_add (net, LPT_OP_DEQUANTIZE, y, NULL, LPT_DTYPE_F32, &shape, NULL);
      if (kind == 2)
        {
          g_autoptr (LptQuant) other = lpt_quant_new_one (0.37, 0);
          LptValue *again = net_add (net, LPT_OP_REINTERPRET, y, NULL, LPT_DTYPE_I32, &shape, other);

          net_result (net, net_add (net, LPT_OP_DEQUANTIZE, again, NULL, LPT_DTYPE_F32, &shape, NULL));
        }
      if (kind == 3)
        {
          LptShape columns = lpt_shape_make (shape.rank > 0, shape.dims + MAX (shape.rank - 1, 0));
          g_autoptr (LptTensor) tensor = fast_random_tensor (LPT_DTYPE_F32, &columns, -5, 5, rand);

          x = net_add (net, LPT_OP_ADD, x, lpt_node_out (lpt_graph_add_const (net->graph, NULL, tensor)), LPT_DTYPE_F32,
                       &y->shape, NULL);
        }
      y = x;
    }
  else if (g_rand_int_range (rand, 0, 3) == 0)
    y = net_add (net, LPT_OP_ADD, y, net_codes (net, &shape, FALSE, rand), LPT_DTYPE_U8, &shape, quant);
  if (y->shape.rank > 0 && g_rand_boolean (rand))
    {
      random_order (y->shape.rank, order, rand);
      if (g_rand_boolean (rand))
        {
          /* Rows stay rows. */
          gint i;

          for (i = 0; order[i] != y->shape.rank - 1; i++)
            ;
          order[i] = order[y->shape.rank - 1];
          order[y->shape.rank - 1] = y->shape.rank - 1;
        }
      y = net_transpose (net, y, order);
    }
  net_result (net, y);
}

static void
test_products (void)
{
  static const gint64 sizes[] = { 1, 2, 3, 5, 8, 17, 31, 48, 65, 70 };
  static const char *const modes[] = { "single", "onnx", "litert", "xnnpack", "caffe2" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint trial;

  for (trial = 0; trial < 75; trial++)
    {
      Net net;
      LptShape batch = { .rank = g_rand_int_range (rand, 0, 3) }, own, shape, a_shape, b_shape;
      gint64 m = sizes[g_rand_int_range (rand, 0, G_N_ELEMENTS (sizes))],
             k = sizes[g_rand_int_range (rand, 0, G_N_ELEMENTS (sizes))];
      gint64 n = sizes[g_rand_int_range (rand, 0, G_N_ELEMENTS (sizes))];
      gboolean turn_a = g_rand_boolean (rand), turn_b = g_rand_boolean (rand);
      gint vector = g_rand_int_range (rand, 0, 12), constant = g_rand_int_range (rand, 0, 8), i;
      LptDType dtype = g_rand_int_range (rand, 0, 3) == 0 ? LPT_DTYPE_I32 : g_rand_boolean (rand) ? LPT_DTYPE_U8 : LPT_DTYPE_I8;
      LptValue *a, *b, *y;
      g_autoptr (LptQuant) quant = NULL;

      net_init (&net, modes[trial % G_N_ELEMENTS (modes)]);
      for (i = 0; i < batch.rank; i++)
        batch.dims[i] = g_rand_int_range (rand, 1, 4);
      if (vector == 0)
        m = 1;
      if (vector == 1)
        n = 1;
      own = random_batch (&batch, rand);
      a_shape = matrix_shape (&own, m, k, vector == 0, TRUE, turn_a);
      a = net_operand (&net, &a_shape, constant == 0, rand);
      own = random_batch (&batch, rand);
      b_shape = matrix_shape (&own, k, n, vector == 1, FALSE, turn_b);
      b = net_operand (&net, &b_shape, constant == 1, rand);
      /* The shape of the result, from what the operands have become. */
      {
        LptShape left = lpt_shape_make (MAX (a_shape.rank - 2, 0), a_shape.dims);
        LptShape right = lpt_shape_make (MAX (b_shape.rank - 2, 0), b_shape.dims);

        g_assert_true (lpt_shape_broadcast (&left, &right, &shape));
      }
      if (vector != 0)
        shape.dims[shape.rank++] = m;
      if (vector != 1)
        shape.dims[shape.rank++] = n;

      quant = dtype == LPT_DTYPE_I32 ? lpt_quant_new_one (a->quant->scale[0] * b->quant->scale[0], 0) : NULL;
      if (quant == NULL)
        {
          g_autoptr (LptQuant) zero = random_quant (dtype, rand);

          quant = lpt_quant_new_one (a->quant->scale[0] * b->quant->scale[0] * sqrt ((double) k) * 60,
                                     zero->zero_point[0]);
        }
      y = net_add (&net, LPT_OP_MATMUL, a, b, dtype, &shape, quant);
      LPT_ATTRS (y->producer, LptMatMulAttrs)->transpose_a = turn_a;
      LPT_ATTRS (y->producer, LptMatMulAttrs)->transpose_b = turn_b;
      if (trial % 3 == 0)
        {
          g_autoptr (LptTensor) bias = NULL;
          LptShape columns = lpt_shape_make (1, &n);
          double rest = 0.3;

          bias = fast_random_tensor (LPT_DTYPE_I32, &columns, -5000, 5000, rand);
          lpt_node_set_input (y->producer, 2, lpt_node_out (lpt_graph_add_const (net.graph, NULL, bias)));
          lpt_floats_set (&LPT_ATTRS (y->producer, LptMatMulAttrs)->bias_rest, 1, &rest);
        }
      net_readers (&net, y, rand);
      check (&net, LPT_OP_MATMUL, LPT_OP_MATMUL);
      net_clear (&net);
    }
}

/* Several tiles of rows and columns. As codes: a bias that differs by column, and another tensor added to the codes. As
 * floats: a constant by column. */
static void
test_tiles (gconstpointer data)
{
  gboolean floats = GPOINTER_TO_INT (data);
  const gint64 m = 205, k = 131, n = 270;
  LptShape a = lpt_shape_make (3, (gint64[]) { 2, floats ? k : m, floats ? m : k }),
           b = lpt_shape_make (3, (gint64[]) { 2, k, n });
  LptShape shape = lpt_shape_make (3, (gint64[]) { 2, m, n }), columns = lpt_shape_make (1, &n);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autoptr (LptTensor) bias = fast_random_tensor (floats ? LPT_DTYPE_F32 : LPT_DTYPE_I32, &columns, -50000, 50000,
                                                   rand);
  g_autoptr (LptQuant) quant = NULL, sum = lpt_quant_new_one (0.9, 77);
  LptValue *left, *right, *y, *constant;
  Net net;

  net_init (&net, "single");
  left = net_codes (&net, &a, FALSE, rand);
  right = net_codes (&net, &b, FALSE, rand);
  constant = lpt_node_out (lpt_graph_add_const (net.graph, NULL, bias));
  quant = lpt_quant_new_one (left->quant->scale[0] * right->quant->scale[0] * (floats ? 1 : 1000), floats ? 0 : 120);
  y = net_add (&net, LPT_OP_MATMUL, left, right, floats ? LPT_DTYPE_I32 : LPT_DTYPE_U8, &shape, quant);
  LPT_ATTRS (y->producer, LptMatMulAttrs)->transpose_a = floats;
  if (floats)
    {
      y = net_add (&net, LPT_OP_DEQUANTIZE, y, NULL, LPT_DTYPE_F32, &shape, NULL);
      y = net_add (&net, LPT_OP_ADD, y, constant, LPT_DTYPE_F32, &shape, NULL);
    }
  else
    {
      LptValue *other = net_codes (&net, &shape, FALSE, rand);

      lpt_node_set_input (y->producer, 2, constant);
      other = net_add (&net, LPT_OP_REINTERPRET, other, NULL, other->dtype, &shape, other->quant);
      y = net_add (&net, LPT_OP_ADD, y, other, LPT_DTYPE_U8, &shape, sum);
    }
  net_result (&net, y);
  check (&net, LPT_OP_ADD, LPT_OP_MATMUL);
  net_clear (&net);
}

/* The sums of a convolution or dense layer that two read as floats of their own scales. */
static void
test_shared_sums (gconstpointer data)
{
  gboolean conv = GPOINTER_TO_INT (data);
  const gint64 channels = 21;
  LptShape x = conv ? lpt_shape_make (4, (gint64[]) { 2, 5, 6, 7 }) : lpt_shape_make (2, (gint64[]) { 9, 5 });
  LptShape w = conv ? lpt_shape_make (4, (gint64[]) { channels, 5, 3, 3 })
                    : lpt_shape_make (2, (gint64[]) { 5, channels });
  LptShape y = conv ? lpt_shape_make (4, (gint64[]) { 2, channels, 4, 5 })
                    : lpt_shape_make (2, (gint64[]) { 9, channels });
  double scales[21];
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (LptTensor) weights = fast_random_tensor (LPT_DTYPE_I8, &w, -128, 128, rand);
  g_autoptr (LptQuant) quant = NULL, own = NULL;
  LptValue *codes, *constant, *sums, *other;
  Net net;
  gint i;

  net_init (&net, "single");
  codes = net_codes (&net, &x, FALSE, rand);
  for (i = 0; i < channels; i++)
    scales[i] = g_rand_double_range (rand, 0.001, 0.01);
  own = lpt_quant_new (conv ? 0 : 1, (guint) channels, scales, NULL);
  for (i = 0; i < channels; i++)
    scales[i] *= codes->quant->scale[0];
  quant = lpt_quant_new (1, (guint) channels, scales, NULL);
  constant = lpt_node_out (lpt_graph_add_const (net.graph, NULL, weights));
  lpt_value_set_quant (constant, own);
  sums = net_add (&net, conv ? LPT_OP_CONVOLUTION : LPT_OP_MATMUL, codes, constant, LPT_DTYPE_I32, &y, quant);
  if (conv)
    {
      LptConvAttrs *attrs = LPT_ATTRS (sums->producer, LptConvAttrs);

      lpt_ints_fill (&attrs->strides, 2, 1);
      lpt_ints_fill (&attrs->dilations, 2, 1);
      lpt_ints_fill (&attrs->pads_begin, 2, 0);
      lpt_ints_fill (&attrs->pads_end, 2, 0);
    }
  for (i = 0; i < channels; i++)
    scales[i] *= 3;
  lpt_quant_unref (quant);
  quant = lpt_quant_new (1, (guint) channels, scales, NULL);
  other = net_add (&net, LPT_OP_REINTERPRET, sums, NULL, LPT_DTYPE_I32, &y, quant);
  net_result (&net, net_add (&net, LPT_OP_RELU, net_add (&net, LPT_OP_DEQUANTIZE, sums, NULL, LPT_DTYPE_F32, &y, NULL),
                             NULL, LPT_DTYPE_F32, &y, NULL));
  net_result (&net, net_add (&net, LPT_OP_DEQUANTIZE, other, NULL, LPT_DTYPE_F32, &y, NULL));
  check (&net, LPT_OP_DEQUANTIZE, LPT_OP_OPAQUE);
  net_clear (&net);
}

/* Attention: heads of a dense layer's output, read and written in place. */
static void
test_attention (void)
{
  const gint64 tokens = 70, heads = 3, size = 20, swap[] = { 0, 2, 1, 3 }, turn[] = { 0, 2, 3, 1 };
  LptShape x = lpt_shape_make (4, (gint64[]) { 2, tokens, heads, size }),
           scores = lpt_shape_make (4, (gint64[]) { 2, heads, tokens, tokens });
  LptShape context = lpt_shape_make (4, (gint64[]) { 2, heads, tokens, size });
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  LptValue *q, *k, *v, *y;
  g_autoptr (LptQuant) quant = lpt_quant_new_one (1, 7), output = lpt_quant_new_one (40, 100);
  Net net;

  net_init (&net, "single");
  q = net_transpose (&net, net_codes (&net, &x, FALSE, rand), swap);
  k = net_transpose (&net, net_codes (&net, &x, FALSE, rand), turn);
  v = net_transpose (&net, net_codes (&net, &x, FALSE, rand), swap);
  y = net_add (&net, LPT_OP_MATMUL, q, k, LPT_DTYPE_U8, &scores, quant);
  y = net_add (&net, LPT_OP_MATMUL, y, v, LPT_DTYPE_I8, &context, output);
  net_result (&net, net_transpose (&net, y, swap));
  check (&net, LPT_OP_TRANSPOSE, LPT_OP_MATMUL);
  net_clear (&net);
}

/* Real columns that lie dense become rows, whole panels of them and what is left. */
static void
test_turned (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  guint round;

  for (round = 0; round < 24; round++)
    {
      const gint heads = g_rand_int_range (rand, 1, 4), m = g_rand_int_range (rand, 1, round % 2 ? 5 : 50),
                 n = g_rand_int_range (rand, 1, 300), k = g_rand_int_range (rand, 1, 70);
      g_autofree char *text = g_strdup_printf (
        "%%a = Parameter : f32[%d,%d,%d]\n%%b = Parameter : f32[%d,%d,%d]\n"
        "%%y = MatMul(%%a, %%b) {transpose_a=false, transpose_b=true}\nResult(%%y)\n", heads, m, k, heads, n, k);
      const LptShape a = { .rank = 3, .dims = { heads, m, k } }, b = { .rank = 3, .dims = { heads, n, k } };
      g_autoptr (LptGraph) graph = fast_case_graph (text, "turned");
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);

      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &a, -3, 3, rand));
      g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &b, -3, 3, rand));
      fast_case_compare_inputs (graph, inputs);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-matmul/products", test_products);
  g_test_add_data_func ("/fast-matmul/tiles", GINT_TO_POINTER (FALSE), test_tiles);
  g_test_add_data_func ("/fast-matmul/tiles-floats", GINT_TO_POINTER (TRUE), test_tiles);
  g_test_add_data_func ("/fast-matmul/shared-sums/dense", GINT_TO_POINTER (FALSE), test_shared_sums);
  g_test_add_data_func ("/fast-matmul/shared-sums/convolution", GINT_TO_POINTER (TRUE), test_shared_sums);
  g_test_add_func ("/fast-matmul/attention", test_attention);
  g_test_add_func ("/fast-matmul/turned", test_turned);

  return g_test_run ();
}
