/* test-fast.c - the fused program of int8 kernels gives the bytes of the scalar integer ops
 *
 * Whole models, at every level of the CPU, with one and with two threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>

static LptTensor *
random_tensor (LptDType        dtype,
               const LptShape *shape,
               GRand          *rand)
{
  g_autofree double *values = NULL;
  gint64 count, i;

  g_assert_true (lpt_shape_count (shape, &count));
  values = g_new (double, MAX (count, 1));
  for (i = 0; i < count; i++)
    values[i] = g_rand_double_range (rand, 0, 1);

  return lpt_tensor_from_f64 (dtype, shape, values, NULL);
}

static GPtrArray *
run (LptGraph  *graph,
     guint      flags,
     guint      threads,
     GPtrArray *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, flags, &error);
  g_autoptr (LptPlanContext) context = NULL;
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  guint i, round;

  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, threads, &error);
  g_assert_no_error (error);
  for (i = 0; i < inputs->len; i++)
    g_assert_true (lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), &error));
  /* Twice: the second run finds the memory of the first. */
  for (round = 0; round < 2; round++)
    g_assert_true (lpt_plan_run (plan, context, &error));
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    g_ptr_array_add (outputs, lpt_plan_context_output (context, i, &error));

  return outputs;
}

static void
test_model (gconstpointer data)
{
  static const char *const levels[] = { "scalar", "avx2", "avxvnni", "avx512vnni", "neon", "neondot" };
  const char *path = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (GPtrArray) expected = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint i, k, threads;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the model is not here");
      return;
    }
  graph = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
  for (i = 0; i < graph->parameters->len; i++)
    {
      LptValue *value = lpt_node_out (g_ptr_array_index (graph->parameters, i));

      g_ptr_array_add (inputs, random_tensor (value->dtype, &value->shape, rand));
    }
  expected = run (graph, LPT_PLAN_REFERENCE, 1, inputs);

  for (k = 0; k < G_N_ELEMENTS (levels); k++)
    for (threads = 1; threads <= 2; threads++)
      {
        g_autoptr (GPtrArray) outputs = NULL;

        g_setenv ("LPT_CPU", levels[k], TRUE);
        outputs = run (graph, 0, threads, inputs);
        for (i = 0; i < outputs->len; i++)
          {
            LptTensor *a = g_ptr_array_index (outputs, i), *b = g_ptr_array_index (expected, i);
            gint64 at;

            /* The reference writes half floats as f32. */
            for (at = 0; at < lpt_tensor_count (b); at++)
              g_assert_cmpfloat (lpt_tensor_get_f64 (a, at), ==, lpt_tensor_get_f64 (b, at));
          }
      }
  g_unsetenv ("LPT_CPU");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/fast/digits", LPT_SOURCE_DIR "/models/digits.xml", test_model);
  g_test_add_data_func ("/fast/mobilenetv2", LPT_SHARED_DIR "/models/synthetic/mobilenetv2_025/ir_u8.xml", test_model);
  g_test_add_data_func ("/fast/resnet50", LPT_SHARED_DIR "/models/synthetic/resnet50_w8/ir_i8.xml", test_model);
  g_test_add_data_func ("/fast/bert", LPT_SHARED_DIR "/models/synthetic/bert2_tiny/ir_u8.xml", test_model);
  g_test_add_data_func ("/fast/reidentification",
                        LPT_SHARED_DIR "/models/ir-person-reidentification-retail-0031/FP16-INT8/person-reidentification-retail-0031.xml",
                        test_model);
  g_test_add_data_func ("/fast/head-pose",
                        LPT_SHARED_DIR "/models/ir-head-pose-estimation-adas-0001/FP16-INT8/head-pose-estimation-adas-0001.xml",
                        test_model);

  return g_test_run ();
}
