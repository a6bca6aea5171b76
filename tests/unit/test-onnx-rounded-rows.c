/* test-onnx-rounded-rows.c - DynamicFakeQuantize as ONNX's operators: written, read again, run
 *
 * Symmetric rows are equal bit for bit. Steps of asymmetric ones are divided in double precision, which is single
 * precision when they are run here: steps in their last bit, and with it a code where two are as near.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-text.h>

#include <math.h>
#include <string.h>

#define ROWS 12
#define LENGTH 35
#define MOST_STEP (280 / 255.0)       /* of rows from -140 to 140 */

static LptTensor *
run (LptGraph  *graph,
     LptTensor *x)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error);
  g_autoptr (LptPlanContext) context = NULL;
  LptTensor *y;

  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_true (lpt_plan_context_set_input (context, 0, x, &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  y = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return y;
}

/* Rows of both signs, of one, of zeros, and with halves between two codes. */
static LptTensor *
draw (void)
{
  const LptShape shape = { 2, { ROWS, LENGTH } };
  float x[ROWS * LENGTH];

  for (guint r = 0; r < ROWS; r++)
    for (guint i = 0; i < LENGTH; i++)
      x[r * LENGTH + i] = r == 0 ? 0 : r < 4 ? ((float) i - 17.5f) * (r == 3 ? 8 : 1)
                          : (float) g_test_rand_double_range (r % 3 == 0 ? 0 : -1, r % 3 == 1 ? 0 : 2);
  x[LENGTH] = 127;
  x[2 * LENGTH] = -127;

  return lpt_tensor_from_f32 (&shape, x, NULL);
}

static void
test_rows (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup_printf ("%%x = Parameter : f32[%d,%d]\n%%y = DynamicFakeQuantize(%%x) {%s}\n"
                                           "Result(%%y)\n", ROWS, LENGTH, (const char *) data);
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, "test", &error), again = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (LptTensor) x = draw (), y = NULL, z = NULL;
  guint n_codes = 0;

  g_assert_no_error (error);
  bytes = lpt_onnx_serialise (graph, 0, &error);
  g_assert_no_error (error);
  again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);
  y = run (graph, x);
  z = run (again, x);
  if (strstr (data, "false") == NULL)
    g_assert_true (lpt_tensor_equal (y, z));
  for (gint64 i = 0; i < ROWS * LENGTH; i++)
    {
      const double difference = fabs (lpt_tensor_get_f64 (y, i) - lpt_tensor_get_f64 (z, i));

      n_codes += difference > 1e-6 * 140;
      g_assert_cmpfloat (difference, <, MOST_STEP);
    }
  g_assert_cmpuint (n_codes, <, ROWS * LENGTH / 100);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/onnx-rounded-rows/symmetric", "axis=1", test_rows);
  g_test_add_data_func ("/onnx-rounded-rows/asymmetric", "axis=1, symmetric=false", test_rows);
  g_test_add_data_func ("/onnx-rounded-rows/all", "axis=0, symmetric=false", test_rows);
  g_test_add_data_func ("/onnx-rounded-rows/last", "axis=-1", test_rows);

  return g_test_run ();
}
