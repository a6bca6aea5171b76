/* test-fast-reduce.c - reductions of real numbers and of codes: the bytes of the plain op along any axes, and the plain
 * op by its definition
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-plan.h"
#include "fast-case.h"
#include "fast-draw.h"

static const char *const ops[] = { "Sum", "Mean", "Prod", "Max", "Min", "L1", "L2" };

static LptGraph *
graph_of (const char *op,
          const char *type,
          const char *quant,
          gint        rank,
          const gint *dims,
          guint       axes)
{
  g_autoptr (GString) x = g_string_new (NULL), y = g_string_new (NULL), set = g_string_new (NULL);
  g_autofree char *text = NULL;
  gint d, n = 0;

  for (d = 0; d < rank; d++)
    {
      g_string_append_printf (x, "%s%d", d > 0 ? "," : "", dims[d]);
      g_string_append_printf (y, "%s%d", d > 0 ? "," : "", axes >> d & 1 ? 1 : dims[d]);
      if (axes >> d & 1)
        g_string_append_printf (set, "%s%d", n++ > 0 ? "," : "", draw (0, 1) ? d : d - rank);
    }
  text = g_strdup_printf ("%%x = Parameter : %s[%s]%s\n%%a = Const {%s} : i64[%d]\n%%y = Reduce%s(%%x, %%a) "
                          "{keep_dims=true} : %s[%s]%s\nResult(%%y)\n",
                          type, x->str, quant, set->str, n, op, type, y->str, quant);

  return fast_case_read (text, "drawn");
}

static double
next (const char *op,
      double      sum,
      double      x)
{
  if (strcmp (op, "Prod") == 0)
    return sum * x;
  if (strcmp (op, "Max") == 0)
    return MAX (sum, x);
  if (strcmp (op, "Min") == 0)
    return MIN (sum, x);

  return sum + (strcmp (op, "L1") == 0 ? fabs (x) : strcmp (op, "L2") == 0 ? x * x : x);
}

/* Every element of the result from those of the input that share its place along the axes that stay. */
static void
check_definition (LptGraph   *graph,
                  const char *op,
                  gint        rank,
                  const gint *dims,
                  guint       axes)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref), outputs = NULL;
  LptTensor *x = fast_random_tensor (LPT_DTYPE_F32, &lpt_node_out (g_ptr_array_index (graph->parameters, 0))->shape, -2,
                                     2, draws),
            *y;
  g_autofree double *sums = NULL, *sizes = NULL;
  g_autofree gint *counts = NULL;
  gint64 i, n;

  g_ptr_array_add (inputs, x);
  outputs = fast_run (graph, 0, 1, inputs);
  y = g_ptr_array_index (outputs, 0);
  n = lpt_tensor_count (y);
  sums = g_new (double, n);
  sizes = g_new0 (double, n);
  counts = g_new0 (gint, n);
  for (i = 0; i < lpt_tensor_count (x); i++)
    {
      double v = lpt_tensor_get_f64 (x, i), first = strcmp (op, "Prod") == 0 ? 1 : strcmp (op, "Max") == 0 ? -INFINITY : strcmp (op, "Min") == 0 ? INFINITY : 0;
      gint64 at = 0, rest = i, step = 1;
      gint d;

      for (d = rank - 1; d >= 0; d--)
        {
          gint64 place = rest % dims[d];

          rest /= dims[d];
          if (axes >> d & 1)
            continue;
          at += place * step;
          step *= dims[d];
        }
      sums[at] = next (op, counts[at] == 0 ? first : sums[at], v);
      sizes[at] += fabs (v);
      counts[at]++;
    }
  for (i = 0; i < n; i++)
    {
      double want = strcmp (op, "Mean") == 0 ? sums[i] / counts[i] : strcmp (op, "L2") == 0 ? sqrt (sums[i]) : sums[i];

      g_assert_cmpfloat (fabs (lpt_tensor_get_f64 (y, i) - want), <=,
                         ldexp (fabs (want), -24) + sizes[i] * 1e-12 + 1e-44);
    }
}

static void
test_axes (void)
{
  gint round;

  draws = g_rand_new_with_seed (4);
  for (round = 0; round < 80; round++)
    {
      gint rank = draw (1, 5), dims[5], d;
      guint axes = (guint) draw (0, (1 << rank) - 1);
      const char *op = ops[round % (gint) G_N_ELEMENTS (ops)];
      g_autoptr (LptGraph) graph = NULL;

      for (d = 0; d < rank; d++)
        dims[d] = draw (0, 3) == 0 ? 1 : draw (2, d == round % rank ? 700 / rank : 6);
      graph = graph_of (op, "f32", "", rank, dims, axes);
      fast_case_compare (graph, -2, 2);
      check_definition (graph, op, rank, dims, axes);
    }
  g_rand_free (draws);
}

static void
test_codes (void)
{
  static const char *const kinds[] = { "Sum", "Mean", "Max", "Min" };
  gint round;

  draws = g_rand_new_with_seed (5);
  for (round = 0; round < 160; round++)
    {
      gint rank = draw (1, 6), dims[6], d;
      g_autoptr (LptGraph) graph = NULL;

      for (d = 0; d < rank; d++)
        dims[d] = draw (0, 3) == 0 ? 1 : draw (2, d == round % rank ? 700 / rank : 6);
      graph = graph_of (kinds[round % 4], draw (0, 1) ? "u8" : "i8", " q{scale=0.02, zp=3}", rank, dims,
                        (guint) draw (0, (1 << rank) - 1));
      fast_case_assert_kernels (graph);
      fast_case_compare (graph, -1, 1);
    }
  g_rand_free (draws);
}

/* Behind a convolution, whose result lies channels last. */
static void
test_channels_last (void)
{
  guint i, axis, keep;

  for (i = 0; i < G_N_ELEMENTS (ops); i++)
    for (axis = 0; axis < 4; axis++)
      for (keep = 0; keep < 2; keep++)
        {
          const gint dims[] = { 2, 24, 5, 7 };
          g_autoptr (GString) text = g_string_new ("%x = Parameter : f32[2,8,5,7]\n%w = Const {");
          g_autoptr (GString) y = g_string_new (NULL);
          guint d, k;

          for (k = 0; k < 24 * 8; k++)
            g_string_append_printf (text, "%s%g", k > 0 ? "," : "", (k * 37 % 64) / 32.0 - 1);
          for (d = 0; d < 4; d++)
            if (d != axis || keep)
              g_string_append_printf (y, "%s%d", y->len > 0 ? "," : "", d == axis ? 1 : dims[d]);
          g_string_append_printf (
              text, "} : f32[24,8,1,1]\n%%c = Convolution(%%x, %%w) {strides=[1,1], dilations=[1,1], "
                    "pads_begin=[0,0], pads_end=[0,0]} : f32[2,24,5,7]\n%%a = Const {%u} : i64[1]\n"
                    "%%y = Reduce%s(%%c, %%a) {keep_dims=%s} : f32[%s]\nResult(%%y)\n",
              axis, ops[i], keep ? "true" : "false", y->str);
          fast_case_compare_text (text->str, -2, 2);
        }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast-reduce/axes", test_axes);
  g_test_add_func ("/fast-reduce/codes", test_codes);
  g_test_add_func ("/fast-reduce/channels-last", test_channels_last);

  return g_test_run ();
}
