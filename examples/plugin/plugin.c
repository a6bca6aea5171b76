/* plugin.c - a small compiler on top of liblpt: what a hardware plugin does, in one file
 *
 *     plugin MODEL.xml
 *
 * The accelerator that it compiles for
 *   - multiplies u8 activations by i8 weights only, in convolutions and matrix products;
 *   - has no integer pooling: the pass avg-pool is left out;
 *   - runs depthwise convolutions in real numbers: a callback keeps group-convolution away from groups of one channel;
 *   - adds a bias and clips at zero in one step: a pass of its own makes `BiasRelu`, an op of its own,
 *     of Add and Relu.
 *
 * It prints one line per op of the compiled model: name, op, types of its inputs -> type of its output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt.h>

/* --- the op: BiasRelu (x, b) = max (x + b, 0) -------------------------------------- */

typedef struct
{
  double floor;      /* what it clips at */
} BiasReluAttrs;

static const LptAttrField bias_relu_fields[] = {
  { .name = "floor", .kind = LPT_ATTR_FLOAT, .offset = G_STRUCT_OFFSET (BiasReluAttrs, floor), .fallback = "0" },
  { .name = NULL },
};

/* The bias broadcasts on the data and does not grow it. */
static gboolean
bias_relu_infer (LptNode  *node,
                 GError  **error)
{
  LptValue *data = lpt_node_in (node, 0), *bias = lpt_node_in (node, 1), *out = lpt_node_out (node);
  LptShape shape;

  if (!lpt_shape_broadcast (&data->shape, &bias->shape, &shape) || !lpt_shape_compatible (&shape, &data->shape))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the bias does not fit the data");
      return FALSE;
    }
  out->dtype = data->dtype;
  out->shape = shape;

  return TRUE;
}

static const LptOpInfo bias_relu = {
  .op         = LPT_OP_CUSTOM,
  .name       = "BiasRelu",
  .min_in     = 2,
  .max_in     = 2,
  .n_out      = 1,
  .flags      = LPT_OP_F_COMPUTE,
  .attrs_size = sizeof (BiasReluAttrs),
  .attrs      = bias_relu_fields,
  .infer      = bias_relu_infer,
  .doc        = "max (x + bias, floor)",
  .openvino   = { .versions = "" },
};

/* --- the pass: Relu (Add (x, constant)) => BiasRelu (x, constant) ------------------ */

static gboolean
fuse_bias_relu (LptRewriter *rw,
                LptNode     *relu)
{
  LptNode *add = lpt_node_src (relu, 0), *fused;
  LptValue *in[2];
  g_autoptr (GError) error = NULL;

  if (add == NULL || add->op != LPT_OP_ADD)
    return lpt_rewriter_decline (rw, relu, "there is no addition in front of it");
  if (lpt_node_const_in (add, 1) == NULL)
    return lpt_rewriter_decline (rw, relu, "both sides of the addition are data");
  if (lpt_value_n_uses (lpt_node_out (add)) != 1)
    return lpt_rewriter_decline (rw, relu, "the sum has other readers");

  in[0] = lpt_node_in (add, 0);
  in[1] = lpt_node_in (add, 1);
  fused = lpt_graph_add_full (lpt_rewriter_graph (rw), &bias_relu, 0, NULL, 2, in, 1);
  if (!lpt_node_infer (fused, &error))
    g_error ("%s", error->message);
  lpt_node_take_name (fused, relu, "/relu");
  lpt_rewriter_replace (rw, lpt_node_out (relu), lpt_node_out (fused), NULL);

  return TRUE;
}

static const LptPass fuse_bias_relu_pass = {
  .name      = "fuse-bias-relu",
  .doc       = "One op of a bias and the ReLU behind it",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_RELU),
  .rewrite   = fuse_bias_relu,
  .exactness = LPT_EXACT,
};

/* --- the callback ------------------------------------------------------------------ */

/* TRUE = leave it alone. Weights [G,O,C,...]: one channel in, one out. */
static gboolean
is_depthwise (LptNode  *node,
              gpointer  data)
{
  const LptShape *weights = &lpt_node_in (node, 1)->shape;
  guint *n_skipped = data;

  if (weights->rank < 3 || weights->dims[1] != 1 || weights->dims[2] != 1)
    return FALSE;
  (*n_skipped)++;

  return TRUE;
}

/* --- the compiler ------------------------------------------------------------------ */

static gboolean
configure (LptConfig  *config,
           guint      *n_skipped,
           GError    **error)
{
  lpt_config_add_pass (config, &fuse_bias_relu_pass);
  config->until = LPT_STAGE_CLEANUP;
  config->validate = TRUE;

  return lpt_config_restrict (config, "Convolution:u8,i8", error) &&
         lpt_config_restrict (config, "GroupConvolution:u8,i8", error) &&
         lpt_config_restrict (config, "MatMul:u8,i8", error) &&
         lpt_config_per_tensor (config, "Convolution:0", error) &&
         lpt_config_disable (config, "avg-pool", error) &&
         lpt_config_add_callback (config, "group-convolution", is_depthwise, n_skipped, error);
}

static void
print_node (LptNode *node)
{
  g_autoptr (GString) line = g_string_new (NULL);
  guint i;

  g_string_append_printf (line, "%s: %s", node->name, node->info->name);
  for (i = 0; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL)
      g_string_append_printf (line, "%s%s", i == 0 ? " " : ", ", lpt_dtype_name (lpt_node_in (node, i)->dtype));
  if (node->n_out > 0)
    g_string_append_printf (line, " -> %s", lpt_dtype_name (lpt_node_out (node)->dtype));
  g_print ("%s\n", line->str);
}

static gboolean
compile (const char  *filename,
         GError     **error)
{
  g_autoptr (LptGraph) graph = lpt_openvino_load (filename, NULL, error);
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptReport) report = lpt_report_new ();
  g_autoptr (GPtrArray) order = NULL;
  guint i, n_skipped = 0;

  if (graph == NULL ||
      !configure (config, &n_skipped, error) ||
      !lpt_pipeline_run (graph, config, report, NULL, error) ||
      (order = lpt_graph_order (graph, error)) == NULL)
    return FALSE;

  for (i = 0; i < order->len; i++)
    {
      LptNode *node = g_ptr_array_index (order, i);

      if (node->info->flags & LPT_OP_F_COMPUTE)
        print_node (node);
    }
  for (i = 0; i < report->remarks->len; i++)
    {
      const LptRemark *remark = g_ptr_array_index (report->remarks, i);

      if (remark->pass == &fuse_bias_relu_pass)
        g_print ("%s is left alone: %s\n", remark->node, remark->reason);
    }
  g_print ("depthwise convolutions kept real: %s\n", n_skipped > 0 ? "yes" : "no");

  return TRUE;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (GError) error = NULL;

  if (argc != 2)
    {
      g_printerr ("usage: plugin MODEL.xml\n");
      return 2;
    }
  if (!compile (argv[1], &error))
    {
      g_printerr ("plugin: %s\n", error->message);
      return 1;
    }

  return 0;
}
