/* test-int-resize.c - nearest Interpolate on integers takes the elements that the one on real values takes; a linear one
 * rounds what that computes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-executor.h>
#include <lpt/lpt-text.h>

#define MOST 19

static const char *const coordinates[] = { "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
                                           "align_corners" };
static const char *const roundings[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple" };

/* What the graph of @text makes of @values. */
static LptTensor *
computed (const char   *text,
          const double *values)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  g_autoptr (LptTensor) x = NULL;
  LptValue *input;
  LptTensor *y;

  g_assert_no_error (error);
  input = lpt_node_out (graph->parameters->pdata[0]);
  x = lpt_tensor_from_f64 (input->dtype, &input->shape, values, NULL);
  plan = lpt_plan_new (graph, NULL, 0, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  g_assert_true (lpt_plan_context_set_input (context, 0, x, &error) && lpt_plan_run (plan, context, &error));
  y = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return y;
}

/* Positions 0, 1, ... of @in elements of @type, resized; @scale > 0: by this scale instead of to @out elements. */
static LptTensor *
resized (const char *type,
         gint        in,
         gint        out,
         double      scale,
         const char *coordinate,
         const char *rounding)
{
  g_autofree char
      *text = g_strdup_printf ("graph {lowered=true}\n%%x = Parameter : %s[1,1,1,%d]\n%%q = %s(%%x) : %s[1,1,1,%d]%s\n"
                               "%%s = Const {%d} : i64[1]\n%%f = Const {%.9g} : f32[1]\n%%a = Const {3} : i64[1]\n"
                               "%%y = Interpolate@4(%%q, %%s, %%f, %%a) {mode=nearest, shape_calculation_mode=%s, "
                               "coordinate_transformation_mode=%s, nearest_mode=%s} : %s[1,1,1,%d]%s\nResult(%%y)\n",
                               type, in, type[0] == 'u' ? "Reinterpret" : "Relu", type, in,
                               type[0] == 'u' ? " q{scale=1}" : "", out, scale > 0 ? scale : (double) out / in,
                               scale > 0 ? "scales" : "sizes", coordinate, rounding, type, out,
                               type[0] == 'u' ? " q{scale=1}" : "");
  g_autofree double *values = g_new (double, in);

  for (gint i = 0; i < in; i++)
    values[i] = i;

  return computed (text, values);
}

static void
compare (gint        in,
         gint        out,
         double      scale,
         const char *coordinate,
         const char *rounding)
{
  g_autoptr (LptTensor) real = resized ("f32", in, out, scale, coordinate, rounding),
                        codes = resized ("u8", in, out, scale, coordinate, rounding);
  gint i;

  for (i = 0; i < out; i++)
    if (lpt_tensor_get_f64 (real, i) != lpt_tensor_get_f64 (codes, i))
      g_error ("%d to %d, scale %g, %s, %s: element %d is %g, not %g", in, out, scale, coordinate, rounding, i,
               lpt_tensor_get_f64 (codes, i), lpt_tensor_get_f64 (real, i));
}

/* To all sizes, and by scales that are not their ratio. */
static void
test_nearest (gconstpointer data)
{
  const char *coordinate = data;
  gint in, out;
  guint k;

  for (k = 0; k < G_N_ELEMENTS (roundings); k++)
    for (in = 1; in <= MOST; in++)
      {
        for (out = 1; out <= MOST; out++)
          compare (in, out, 0, coordinate, roundings[k]);
        if (in > 1)
          compare (in, (gint) (in * 1.7), 1.7, coordinate, roundings[k]);
        if (in > 3)
          compare (in, (gint) (in * 0.45), 0.45, coordinate, roundings[k]);
      }
}

/* Codes of the default mode lie where dequantized ones would, quantized again: weights of 11 bits move a sum of numbers
 * up to 255 by 255 / 2^11 at most, and where the weights are parts of 16, nothing does: ties go to even, counted from
 * the zero point. */
static void
test_linear (gconstpointer data)
{
  static const gint sizes[][2] = { { 8, 16 }, { 12, 23 }, { 23, 45 }, { 7, 31 }, { 20, 9 }, { 32, 16 }, { 16, 64 }, { 3, 3 } };
  const char *coordinate = data;

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
    for (gint zero = 0; zero < 2; zero++)
      {
        const gint in = sizes[k][0], out = sizes[k][1], n = in * in, m = out * out;
        const gboolean exact = !g_str_equal (coordinate, "align_corners") && (out == 2 * in || in == 2 * out);
        const char *line = "graph {lowered=true}\n%%x = Parameter : %s[1,1,%d,%d]\n%%q = %s(%%x) : %s[1,1,%d,%d]%s\n"
                           "%%s = Const {%d, %d} : i64[2]\n%%f = Const {1, 1} : f32[2]\n%%a = Const {2, 3} : i64[2]\n"
                           "%%y = Interpolate@4(%%q, %%s, %%f, %%a) {mode=linear_onnx, shape_calculation_mode=sizes, "
                           "coordinate_transformation_mode=%s} : %s[1,1,%d,%d]%s\nResult(%%y)\n";
        const char *q = zero ? " q{scale=1, zp=101}" : " q{scale=1}";
        g_autofree char *reals = g_strdup_printf (line, "f32", in, in, "Identity", "f32", in, in, "", out, out, coordinate,
                                                  "f32", out, out, ""),
                        *codes = g_strdup_printf (line, "u8", in, in, "Reinterpret", "u8", in, in, q, out, out, coordinate,
                                                  "u8", out, out, q);
        g_autofree double *values = g_new (double, n);
        g_autoptr (LptTensor) want = NULL, have = NULL;

        for (gint i = 0; i < n; i++)
          values[i] = g_test_rand_int_range (0, 256);
        want = computed (reals, values);
        have = computed (codes, values);
        for (gint i = 0; i < m; i++)
          {
            const double real = lpt_tensor_get_f64 (want, i), code = lpt_tensor_get_f64 (have, i);
            const gint offset = zero ? 101 : 0;

            if (exact ? code != rint (real - offset) + offset : fabs (code - real) > 0.5 + 255 / 2048.0)
              g_error ("%d to %d, %s: element %d is %g, not %g", in, out, coordinate, i, code, real);
          }
      }
}

int
main (int    argc,
      char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (coordinates); i++)
    {
      g_autofree char *path = g_strconcat ("/int-resize/", coordinates[i], NULL);

      g_test_add_data_func (path, coordinates[i], test_nearest);
      if (!g_str_equal (coordinates[i], "tf_half_pixel_for_nn"))
        {
          g_autofree char *linear = g_strconcat ("/int-resize/linear/", coordinates[i], NULL);

          g_test_add_data_func (linear, coordinates[i], test_linear);
        }
    }

  return g_test_run ();
}
