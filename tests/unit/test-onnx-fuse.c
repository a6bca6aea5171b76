/* test-onnx-fuse.c - forms that runtimes fuse: nothing stands between DequantizeLinear, Conv and QuantizeLinear
 *
 * Each graph is written, the operators of the file are counted, and what is read from it computes the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "exec-case.h"
#include "frontends/onnx_json/proto/onnx-file.h"

#include <lpt/lpt-onnx.h>

#include <string.h>

typedef struct { const char *name, *operators, *graph; } Case;

#define INTERVAL(name, low, high) \
  "%" name "_low = Const {" low "} : f32[]\n" \
  "%" name "_high = Const {" high "} : f32[]\n"
#define QUANTIZED(out, in, of) \
  "%" out " = FakeQuantize(%" in ", %" of "_low, %" of "_high, %" of "_low, %" of "_high) {levels=256} : f32[1,4,2,2]\n"
#define PRODUCT "QuantizeLinear DequantizeLinear DequantizeLinear Conv"
#define INPUT \
  "%x = Parameter : f32[1,4,2,2]\n" INTERVAL ("a", "0", "2.55") QUANTIZED ("xq", "x", "a")
/* Two groups of two channels, an interval for each channel: 127 steps of 0.01, 0.02, 0.03, 0.04. */
#define GROUPS \
  "%w = Const {1.27, -0.5, 0.25, 2.54, -3.81, 0.3, 0.75, 5.08} : f32[2,2,2,1,1]\n" \
  "%wl = Const {-1.27, -2.54, -3.81, -5.08} : f32[2,2,1,1,1]\n" \
  "%wh = Const {1.27, 2.54, 3.81, 5.08} : f32[2,2,1,1,1]\n" \
  "%wq = FakeQuantize(%w, %wl, %wh, %wl, %wh) {levels=255} : f32[2,2,2,1,1]\n" \
  "%c = GroupConvolution(%xq, %wq) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}" \
  " : f32[1,4,2,2]\n"
#define BIAS(out, in) \
  "%bias = Const {1, -2, 0.5, 0.125} : f32[1,4,1,1]\n" \
  "%" out " = Add(%" in ", %bias) : f32[1,4,2,2]\n"

static const Case cases[] = {
  { "a bias and groups, a scale for each channel", PRODUCT,
    INPUT GROUPS BIAS ("y", "c") "Result(%y)\n" },
  { "a clamp that the interval does", PRODUCT " QuantizeLinear DequantizeLinear",
    INPUT GROUPS BIAS ("b", "c") "%k = Clamp(%b) {min=0, max=6} : f32[1,4,2,2]\n" INTERVAL ("r", "0", "6.0001")
    QUANTIZED ("y", "k", "r") "Result(%y)\n" },
  { "a clamp that the interval does not", PRODUCT " Clip QuantizeLinear DequantizeLinear",
    INPUT GROUPS BIAS ("b", "c") "%k = Clamp(%b) {min=0, max=3} : f32[1,4,2,2]\n" INTERVAL ("r", "0", "6.0001")
    QUANTIZED ("y", "k", "r") "Result(%y)\n" },
  { "a sum that others read, too, is no bias alone", PRODUCT " Add Mul",
    INPUT GROUPS BIAS ("b", "c") "%y = Multiply(%b, %c) : f32[1,4,2,2]\n" "Result(%y)\n" },
  { "one number for all places and channels is no bias", PRODUCT " Add",
    INPUT GROUPS "%one = Const {1} : f32[]\n" "%y = Add(%c, %one) : f32[1,4,2,2]\n" "Result(%y)\n" },
  { "a mean over all places", "GlobalAveragePool",
    "%x = Parameter : f32[1,4,2,2]\n" "%axes = Const {2, 3} : i64[2]\n"
    "%y = ReduceMean(%x, %axes) {keep_dims=true} : f32[1,4,1,1]\n" "Result(%y)\n" },
  { "a mean over one of two axes", "ReduceMean",
    "%x = Parameter : f32[1,4,2,2]\n" "%axes = Const {2} : i64[1]\n"
    "%y = ReduceMean(%x, %axes) {keep_dims=true} : f32[1,4,1,2]\n" "Result(%y)\n" },
};

static char *
name_operators (GBytes *bytes)
{
  g_autoptr (GString) s = g_string_new (NULL);
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  Onnx__ModelProto *model = onnx__model_proto__unpack (NULL, size, data);
  g_assert_nonnull (model);
  for (gsize i = 0; i < model->graph->n_node; i++)
    g_string_append_printf (s, "%s%s", i > 0 ? " " : "", model->graph->node[i]->op_type);
  onnx__model_proto__free_unpacked (model, NULL);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (c->graph, -1, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, 0, &error);
  g_assert_no_error (error);
  g_autofree char *operators = name_operators (bytes);
  g_assert_cmpstr (operators, ==, c->operators);

  gsize size;
  const void *file = g_bytes_get_data (bytes, &size);
  g_autoptr (LptGraph) again = lpt_onnx_parse (file, size, NULL, &error);
  g_assert_no_error (error);
  float numbers[16];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = 0.173f * (float) i - 0.1f;
  const LptShape shape = lpt_shape_make (4, (gint64[]) { 1, 4, 2, 2 });
  g_autoptr (LptTensor) x = lpt_tensor_new (LPT_DTYPE_F32, &shape, &error);
  memcpy (lpt_tensor_writable (x), numbers, sizeof numbers);
  g_autoptr (LptTensor) want = exec_case_run (graph, &x, 0), got = exec_case_run (again, &x, 0);
  g_assert_cmpint (lpt_tensor_count (got), ==, lpt_tensor_count (want));
  for (gint64 i = 0; i < lpt_tensor_count (want); i++)
    g_assert_cmpfloat_with_epsilon (lpt_tensor_get_f64 (got, i), lpt_tensor_get_f64 (want, i), 1e-4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/onnx-fuse/%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
