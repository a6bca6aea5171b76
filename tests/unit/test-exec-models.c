/* test-exec-models.c - real networks in the reference executor against stored outputs
 *
 * ../shared/models/ir-*: the bound is 1e-4 relative to 1 + |value|, or three times the floor that SOURCE.md
 * beside a model states for it (two right float evaluations differ by that much, because a sum that lies next to a
 * rounding step of a FakeQuantize may fall on either side).
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-openvino.h>

#include <lpt/lpt-npy.h>

typedef struct
{
  const char *model, *precisions;
  const char *inputs;      /* parameter names, which are in the files' names */
  const char *outputs;     /* output name in the file's name = name of the value */
  double      most, mean;  /* bounds of the difference; 0: 1e-4 */
} Model;

static const Model models[] = {
  { "head-pose-estimation-adas-0001", "FP16 FP16-INT8", "data",
    "out_angle_y_fc=angle_y_fc out_angle_p_fc=angle_p_fc out_angle_r_fc=angle_r_fc" },
  { "person-reidentification-retail-0031", "FP16 FP32 FP16-INT8", "data", "out_ip_reid=ip_reid" },
  { "open-closed-eye-0001", "FP16 FP32", "input.1", "out_19=19" },
  { "gaze-estimation-adas-0002", "FP16 FP16-INT8", "head_pose_angles left_eye_image right_eye_image",
    "out_gaze_vector=gaze_vector", 3 * 0.00203, 3 * 0.001073 },
  { "face-detection-retail-0004", "FP32 FP16-INT8", "data", "det_loc=0 det_conf=1", 3 * 0.11061, 3 * 0.004748 },
};

static LptTensor *
load (const char *folder,
      const char *format,
      ...)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL, *path = NULL;
  LptTensor *tensor;
  va_list args;

  va_start (args, format);
  name = g_strdup_vprintf (format, args);
  va_end (args);
  path = g_build_filename (folder, "golden", name, NULL);
  tensor = lpt_npy_load (path, &error);
  g_assert_no_error (error);

  return tensor;
}

/* "0" and "1": the graph ends in front of its DetectionOutput, at the values that feed it. */
static void
cut_detection (LptGraph *graph)
{
  const char *names[3] = { NULL };
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->op == LPT_OP_DETECTION_OUTPUT)
        {
          names[0] = lpt_node_src (node, 0)->name;
          names[1] = lpt_node_src (node, 1)->name;
        }
    }
  g_assert_nonnull (names[0]);
  g_assert_true (lpt_graph_cut (graph, names, &error));
  g_assert_no_error (error);
}

static void
compare (const Model *model,
         const char  *what,
         LptTensor   *got,
         LptTensor   *golden)
{
  gint64 i, n = lpt_tensor_count (golden);
  double most = 0, sum = 0, relative = 0;

  g_assert_cmpint (lpt_tensor_count (got), ==, n);
  for (i = 0; i < n; i++)
    {
      double want = lpt_tensor_get_f64 (golden, i), d = fabs (lpt_tensor_get_f64 (got, i) - want);

      if (lpt_tensor_dtype (got) == LPT_DTYPE_I64 && lpt_tensor_dtype (golden) == LPT_DTYPE_I64)
        g_assert_cmpint (lpt_tensor_get_i64 (got, i), ==, lpt_tensor_get_i64 (golden, i));
      g_assert_false (isnan (d));
      most = MAX (most, d);
      relative = MAX (relative, d / (1 + fabs (want)));
      sum += d;
    }
  g_test_message ("%s %s: largest difference %g, mean %g", model->model, what, most, sum / (double) n);
  if (relative <= 1e-4)
    return;
  g_assert_cmpfloat (most, <=, model->most);
  g_assert_cmpfloat (sum / (double) n, <=, model->mean);
}

static void
run (const Model *model,
     const char  *folder,
     const char  *precision,
     const char  *sample)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat (model->model, ".xml", NULL);
  g_autofree char *path = g_build_filename (folder, precision, file, NULL);
  g_autoptr (LptGraph) graph = lpt_openvino_load (path, NULL, &error);
  g_auto (GStrv) inputs = g_strsplit (model->inputs, " ", -1), outputs = g_strsplit (model->outputs, " ", -1);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  guint i, k;

  g_assert_no_error (error);
  if (strstr (model->outputs, "=0") != NULL)
    cut_detection (graph);
  plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (inputs), ==, lpt_plan_n_inputs (plan));
  for (i = 0; inputs[i] != NULL; i++)
    for (k = 0; k < lpt_plan_n_inputs (plan); k++)
      if (strcmp (lpt_plan_input_name (plan, k), inputs[i]) == 0)
        {
          g_autoptr (LptTensor) input = load (folder, "%s.in.%s.npy", sample, inputs[i]);

          g_assert_true (lpt_plan_context_set_input (context, k, input, &error));
        }
  g_assert_true (lpt_plan_run (plan, context, &error));
  g_assert_no_error (error);

  for (i = 0; outputs[i] != NULL; i++)
    {
      g_auto (GStrv) pair = g_strsplit (outputs[i], "=", 2);
      g_autoptr (LptTensor) golden = load (folder, "%s.%s.%s.npy", sample, precision, pair[0]);
      gboolean found = FALSE;

      for (k = 0; k < lpt_plan_n_outputs (plan); k++)
        if (strcmp (lpt_plan_output_name (plan, k), pair[1]) == 0 ||
            (g_ascii_isdigit (*pair[1]) && strlen (pair[1]) == 1 && k == (guint) (*pair[1] - '0')))
          {
            g_autoptr (LptTensor) got = lpt_plan_context_output (context, k, &error);

            g_assert_no_error (error);
            compare (model, pair[0], got, golden);
            found = TRUE;
          }
      g_assert_true (found);
    }
}

static void
test_model (gconstpointer data)
{
  const Model *model = data;
  g_autofree char *name = g_strconcat ("ir-", model->model, NULL);
  g_autofree char *folder = g_build_filename (LPT_SHARED_DIR, "models", name, NULL);
  g_auto (GStrv) precisions = g_strsplit (model->precisions, " ", -1);
  guint i;

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("../shared/models is not there");
      return;
    }
  for (i = 0; precisions[i] != NULL; i++)
    {
      run (model, folder, precisions[i], "real");
      run (model, folder, precisions[i], "seed");
    }
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = g_strconcat ("/exec/models/", models[i].model, NULL);

      g_test_add_data_func (path, &models[i], test_model);
    }

  return g_test_run ();
}
