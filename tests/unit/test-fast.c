/* test-fast.c - the fused program of int8 kernels gives the bytes of the scalar integer ops
 *
 * Whole models.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-openvino.h>
#include <lpt/lpt-pass.h>

#include "fast-case.h"

static void
test_model (gconstpointer data)
{
  const char *path = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (LptConfig) config = lpt_config_new ();

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the model is not here");
      return;
    }
  graph = lpt_openvino_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
  fast_case_compare (graph, 0, 1);
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
                        LPT_SHARED_DIR
                        "/models/ir-head-pose-estimation-adas-0001/FP16-INT8/head-pose-estimation-adas-0001.xml",
                        test_model);

  return g_test_run ();
}
