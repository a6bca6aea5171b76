/* test-fast-norm.c - NormalizeL2, MVN, GroupNormalization, BatchNormInference and LRN give the bytes of the plain ops,
 * which follow their definitions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"
#include "fast-draw.h"

static GPtrArray *
inputs_of (LptGraph *graph)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  guint i;

  for (i = 0; i < graph->parameters->len; i++)
    g_ptr_array_add (inputs,
                     fast_random_tensor (LPT_DTYPE_F32, &lpt_node_out (g_ptr_array_index (graph->parameters, i))->shape,
                                         0.25, 2, draws));

  return inputs;
}

/* Output 0 of the graph and the values it is to be, which are freed. */
static void
compare (LptGraph  *graph,
         GPtrArray *inputs,
         double    *want)
{
  g_autoptr (GPtrArray) outputs = fast_run (graph, 0, 1, inputs);
  LptTensor *y = g_ptr_array_index (outputs, 0);
  gint64 i;

  for (i = 0; i < lpt_tensor_count (y); i++)
    g_assert_cmpfloat (fabs (lpt_tensor_get_f64 (y, i) - want[i]), <=, 4e-7 * (1 + fabs (want[i])));
  g_free (want);
  fast_case_compare_inputs (graph, inputs);
}

static double
at (GPtrArray *inputs,
    guint      input,
    gint64     i)
{
  return lpt_tensor_get_f64 (g_ptr_array_index (inputs, input), i);
}

static void
test_l2 (void)
{
  static const char *const modes[] = { "add", "max" };
  gint round;

  draws = g_rand_new_with_seed (1);
  for (round = 0; round < 24; round++)
    {
      gint n = draw (1, 3), c = draw (1, 20), w = draw (1, round % 3 == 0 ? 700 : 9), axes = 1 + round % 7,
           adds = draw (0, 1), i, j, k;
      g_autofree char *set = g_strdup_printf ("%s%s%s", axes & 1 ? "0" : "", axes & 2 ? (axes & 1 ? ",1" : "1") : "",
                                              axes & 4 ? (axes & 3 ? ",-1" : "-1") : "");
      g_autofree char
          *text = g_strdup_printf ("%%x = Parameter : f32[%d,%d,%d]\n%%a = Const {%s} : i64[%d]\n"
                                   "%%y = NormalizeL2(%%x, %%a) {eps=0.5, eps_mode=%s} : f32[%d,%d,%d]\nResult(%%y)\n",
                                   n, c, w, set, (axes & 1) + (axes >> 1 & 1) + (axes >> 2), modes[1 - adds], n, c, w);
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");
      g_autoptr (GPtrArray) inputs = inputs_of (graph);
      g_autofree double *sums = g_new0 (double, n * c * w);
      double *want = g_new (double, n * c * w);

#define PLACE ((((axes & 1 ? 0 : i) * c) + (axes & 2 ? 0 : j)) * w + (axes & 4 ? 0 : k))
#define EACH for (i = 0; i < n; i++) for (j = 0; j < c; j++) for (k = 0; k < w; k++)
      EACH
        sums[PLACE] += at (inputs, 0, (i * c + j) * w + k) * at (inputs, 0, (i * c + j) * w + k);
      EACH want[(i * c + j) * w + k] = at (inputs, 0, (i * c + j) * w + k) /
                                       sqrt (adds ? sums[PLACE] + 0.5 : MAX (sums[PLACE], 0.5));
#undef EACH
#undef PLACE
      compare (graph, inputs, want);
    }
  g_rand_free (draws);
}

static void
test_groups (void)
{
  gint round;

  draws = g_rand_new_with_seed (2);
  for (round = 0; round < 16; round++)
    {
      gint n = draw (1, 3), groups = draw (1, 5), per = draw (1, 4), c = groups * per,
           w = draw (1, round % 2 ? 500 : 9), g, i;
      gint length = per * w;
      g_autofree char *text =
          g_strdup_printf ("%%x = Parameter : f32[%d,%d,%d]\n%%s = Parameter : f32[%d]\n%%b = Parameter : f32[%d]\n"
                           "%%y = GroupNormalization(%%x, %%s, %%b) {num_groups=%d, epsilon=0.25} : f32[%d,%d,%d]\n"
                           "Result(%%y)\n",
                           n, c, w, c, c, groups, n, c, w);
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");
      g_autoptr (GPtrArray) inputs = inputs_of (graph);
      double *want = g_new (double, n * c * w);

      for (g = 0; g < n * groups; g++)
        {
          double mean = 0, square = 0;

          for (i = 0; i < length; i++)
            mean += at (inputs, 0, g * length + i) / length;
          for (i = 0; i < length; i++)
            square += (at (inputs, 0, g * length + i) - mean) * (at (inputs, 0, g * length + i) - mean) / length;
          for (i = 0; i < length; i++)
            {
              gint channel = g % groups * per + i / w;

              want[g * length + i] = (at (inputs, 0, g * length + i) - mean) / sqrt (square + 0.25) *
                                         at (inputs, 1, channel) +
                                     at (inputs, 2, channel);
            }
        }
      compare (graph, inputs, want);
    }
  g_rand_free (draws);
}

/* Rows of more than 2^18 elements; shorter ones are rows.c's. */
static void
test_rows (void)
{
  const gint length = 262145;
  gint round, i;

  draws = g_rand_new_with_seed (5);
  for (round = 0; round < 4; round++)
    {
      const gboolean outside = round & 1, variance = round < 3;
      g_autofree char *text =
          g_strdup_printf ("%%x = Parameter : f32[2,%d]\n%%a = Const {1} : i64[1]\n"
                           "%%y = MVN(%%x, %%a) {eps=0.5, eps_mode=%s, normalize_variance=%s} : f32[2,%d]\n"
                           "Result(%%y)\n",
                           length, outside ? "OUTSIDE_SQRT" : "INSIDE_SQRT", variance ? "true" : "false", length);
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");
      g_autoptr (GPtrArray) inputs = inputs_of (graph);
      double *want = g_new (double, 2 * length);
      gint row;

      for (row = 0; row < 2; row++)
        {
          double mean = 0, square = 0;

          for (i = 0; i < length; i++)
            mean += at (inputs, 0, row * length + i) / length;
          for (i = 0; i < length; i++)
            square += (at (inputs, 0, row * length + i) - mean) * (at (inputs, 0, row * length + i) - mean) / length;
          for (i = 0; i < length; i++)
            want[row * length + i] = (at (inputs, 0, row * length + i) - mean) /
                                     (!variance ? 1 : outside ? sqrt (square) + 0.5 : sqrt (square + 0.5));
        }
      compare (graph, inputs, want);
    }
  g_rand_free (draws);
}

static void
test_batch (void)
{
  gint round;

  draws = g_rand_new_with_seed (3);
  for (round = 0; round < 8; round++)
    {
      gint n = draw (1, 3), c = draw (1, 9), w = draw (1, 400), i;
      g_autofree char *text =
          g_strdup_printf ("%%x = Parameter : f32[%d,%d,%d]\n%%g = Parameter : f32[%d]\n%%b = Parameter : f32[%d]\n"
                           "%%m = Parameter : f32[%d]\n%%v = Parameter : f32[%d]\n"
                           "%%y = BatchNormInference(%%x, %%g, %%b, %%m, %%v) {epsilon=0.25} : f32[%d,%d,%d]\n"
                           "Result(%%y)\n",
                           n, c, w, c, c, c, c, n, c, w);
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");
      g_autoptr (GPtrArray) inputs = inputs_of (graph);
      double *want = g_new (double, n * c * w);

      for (i = 0; i < n * c * w; i++)
        want[i] = (at (inputs, 0, i) - at (inputs, 3, i / w % c)) * at (inputs, 1, i / w % c) /
                      sqrt (at (inputs, 4, i / w % c) + 0.25) +
                  at (inputs, 2, i / w % c);
      compare (graph, inputs, want);
    }
  g_rand_free (draws);
}

/* Along the middle axis, and along the last one. */
static void
test_lrn (void)
{
  static const double betas[] = { 0.75, 0.5, 1, 0.9 };
  gint round;

  draws = g_rand_new_with_seed (4);
  for (round = 0; round < 24; round++)
    {
      gint n = draw (1, 3), last = round % 2, c = draw (1, last ? 1100 : 9), w = last ? 1 : draw (2, 1100),
           size = draw (1, 12), i, k;
      double beta = betas[round / 2 % 4];
      g_autofree char *shape = last ? g_strdup_printf ("f32[%d,%d]", n, c) : g_strdup_printf ("f32[%d,%d,%d]", n, c, w);
      g_autofree char
          *text = g_strdup_printf ("%%x = Parameter : %s\n%%a = Const {1} : i64[1]\n"
                                   "%%y = LRN(%%x, %%a) {alpha=0.5, beta=%g, bias=0.25, size=%d} : %s\nResult(%%y)\n",
                                   shape, beta, size, shape);
      g_autoptr (LptGraph) graph = fast_case_read (text, "drawn");
      g_autoptr (GPtrArray) inputs = inputs_of (graph);
      double *want = g_new (double, n * c * w);

      for (i = 0; i < n * c * w; i++)
        {
          gint channel = i / w % c;
          double sum = 0;

          for (k = MAX (channel - (size - 1) / 2, 0); k <= MIN (channel + size / 2, c - 1); k++)
            sum += at (inputs, 0, i + (k - channel) * w) * at (inputs, 0, i + (k - channel) * w);
          want[i] = at (inputs, 0, i) / pow (0.25 + 0.5 / size * sum, beta);
        }
      compare (graph, inputs, want);
    }
  g_rand_free (draws);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-norm/l2", test_l2);
  g_test_add_func ("/fast-norm/groups", test_groups);
  g_test_add_func ("/fast-norm/rows", test_rows);
  g_test_add_func ("/fast-norm/batch", test_batch);
  g_test_add_func ("/fast-norm/lrn", test_lrn);

  return g_test_run ();
}
