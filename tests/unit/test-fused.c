/* test-fused.c - chains of fused multiply-adds: one rounding each, with and without the instruction
 *
 * What is added to the middle between two floats decides where the sum goes; a double has no room for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt.h>
#include <lpt/lpt-text.h>

/* Both ways, of which the library has one for each processor. */
#define lpt_fused_row  either_row
#define lpt_fused_dots either_dots
#include "ir/scalar/lpt-fused.c"

#define N 67

static void
check_row (const float *x,
           const float *start,
           float        w)
{
  double sums[2][2 * N];

  for (guint i = 0; i < 2 * N; i++)
    sums[0][i] = sums[1][i] = start[i % N];
  row_of_doubles (sums[0], 1, x, 1, N, w);
  row_of_doubles (sums[1], 2, x, 1, N, w);
  for (guint i = 0; i < N; i++)
    {
      const float expected = fmaf (w, x[i], start[i]);

      g_assert_cmpfloat ((float) sums[0][i], ==, expected);
      if (2 * i < N)      /* what starts there is start[2 i] */
        g_assert_cmpfloat ((float) sums[1][2 * i], ==, fmaf (w, x[i], start[2 * i]));
    }
  for (guint i = 0; i < N; i++)
    sums[0][i] = start[i];
  either_row (sums[0], 1, x, 1, N, w);
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat ((float) sums[0][i], ==, fmaf (w, x[i], start[i]));
}

/* Mantissas of few bits, so that sums lie in the middle often; @least: of the exponents. */
static float
draw (GRand *rand,
      gint   least)
{
  return ldexpf ((float) g_rand_int_range (rand, -4097, 4098), g_rand_int_range (rand, least, least + 40));
}

static void
test_drawn (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint k = 0; k < 6000; k++)
    {
      const gint least = k % 3 == 0 ? -20 : k % 3 == 1 ? -80 : -149;
      float x[N], start[N];
      const float w = draw (rand, k % 3 == 0 ? -20 : -70);

      for (guint i = 0; i < N; i++)
        {
          x[i] = draw (rand, least);
          start[i] = draw (rand, least);
        }
      check_row (x, start, w);
    }
}

static void
test_middle (void)
{
  float x[N] = { 0 }, start[N] = { 0 };

  /* 1 + 2^-24 is the middle; what is added to it is far below a double's last bit. */
  for (guint i = 0; i < N; i++)
    {
      x[i] = i % 2 ? 0x1p-24f + 0x1p-47f : 0x1p-24f - 0x1p-48f;
      start[i] = i % 3 ? 1.0f : 0x1.000002p0f;
    }
  check_row (x, start, 1.0f);
  check_row (x, start, 0x1.000002p0f);
}

static void
test_dots (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  for (guint k = 0; k < 6000; k++)
    {
      float a[9], b[4 * 9];
      double sums[2][4];

      for (guint i = 0; i < G_N_ELEMENTS (a); i++)
        a[i] = draw (rand, -60);
      for (guint i = 0; i < G_N_ELEMENTS (b); i++)
        b[i] = draw (rand, -60);
      dots_of_doubles (a, 1, b, 9, 4, sums[0]);
      either_dots (a, 1, b, 9, 4, sums[1]);
      for (guint j = 0; j < 4; j++)
        {
          float expected = 0;

          for (guint i = 0; i < 9; i++)
            expected = fmaf (a[i], b[j * 9 + i], expected);
          g_assert_cmpfloat ((float) sums[0][j], ==, expected);
          g_assert_cmpfloat ((float) sums[1][j], ==, expected);
        }
    }
}

/* In a product and in a convolution, by the reference and by the fast program. */
static void
test_plans (void)
{
  static const char *const texts[] = {
    "%x = Parameter : f32[2,3]\n%w = Const {5.7e-19, 1096.6331787109375, 6.9e-13} : f32[3,1]\n"
    "%y = MatMul(%x, %w) : f32[2,1]\nResult(%y)\n",
    "%x = Parameter : f32[2,3]\n%w = Const {5.7e-19, 1096.6331787109375, 6.9e-13} : f32[1,3]\n"
    "%y = MatMul(%x, %w) {transpose_b=true} : f32[2,1]\nResult(%y)\n",
    "%x = Parameter : f32[2,3]\n%s = Const {2, 3, 1, 1} : i64[4]\n%r = Reshape(%x, %s) : f32[2,3,1,1]\n"
    "%w = Const {5.7e-19, 1096.6331787109375, 6.9e-13} : f32[1,3,1,1]\n"
    "%y = Convolution(%r, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[2,1,1,1]\n"
    "Result(%y)\n",
  };
  const double values[] = { 1, 3, 1, -1, 3, -1 };
  const float w[] = { 5.7e-19f, 1096.6331787109375f, 6.9e-13f };
  const LptShape shape = { .rank = 2, .dims = { 2, 3 } };
  g_autoptr (LptTensor) x = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);

  for (guint k = 0; k < 2 * G_N_ELEMENTS (texts); k++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (texts[k / 2], -1, NULL, &error);
      g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, k % 2 ? LPT_PLAN_REFERENCE : 0, &error);
      g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, &error) : NULL;
      g_autoptr (LptTensor) y = NULL;

      g_assert_no_error (error);
      g_assert_true (lpt_plan_context_set_input (context, 0, x, &error));
      g_assert_true (lpt_plan_run (plan, context, &error));
      y = lpt_plan_context_output (context, 0, &error);
      g_assert_no_error (error);
      for (guint row = 0; row < 2; row++)
        {
          float expected = 0;

          for (guint i = 0; i < 3; i++)
            expected = fmaf ((float) values[row * 3 + i], w[i], expected);
          g_assert_cmpfloat (lpt_tensor_get_f64 (y, row), ==, expected);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fused/drawn", test_drawn);
  g_test_add_func ("/fused/middle", test_middle);
  g_test_add_func ("/fused/dots", test_dots);
  g_test_add_func ("/fused/plans", test_plans);

  return g_test_run ();
}
