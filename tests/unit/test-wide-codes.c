/* test-wide-codes.c - products of 16-bit data keep every code of it
 *
 * All codes of data of L levels, zero point z and step s go through products with 1: with weights of 8 bits, and with
 * data of 16 bits. What comes out is s (c - z) to a small part of a step, at every level of the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

#include <lpt/lpt-pass.h>
#include <lpt/lpt-work.h>

#define COLUMNS 3

static const struct { gint levels, zero; double step; } rows[] = {
  { 65536, 0, 1.0 / 256 },     { 65536, 32768, 0.003 }, { 65536, 65535, 2.5 }, { 65536, 12345, 1.5258789e-05 },
  { 65536, 32896, 0.01 * 257 }, { 65535, 32767, 0.007 }, { 4096, 0, 0.1 },      { 1024, 511, 1e-4 },
  { 257, 128, 0.5 },
};

/* @weights: of 8 bits, or data of 16 bits that are 1 as well. */
static LptGraph *
make_graph (guint    row,
            gboolean weights)
{
  const double low = -rows[row].zero * rows[row].step, high = low + (rows[row].levels - 1) * rows[row].step;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptConfig) config = lpt_config_new_target ("native", &error);
  g_autofree char *text = g_strdup_printf (
    "%%a = Parameter : f32[%d,1]\n%%b = Parameter : f32[1,%d]\n"
    "%%l = Const {%.9g} : f32[]\n%%h = Const {%.9g} : f32[]\n"
    "%%x = FakeQuantize(%%a, %%l, %%h, %%l, %%h) {levels=%d} : f32[%d,1]\n"
    "%%m = Const {-1} : f32[]\n%%n = Const {1.0000305} : f32[]\n"
    "%%d = FakeQuantize(%%b, %%m, %%n, %%m, %%n) {levels=65536} : f32[1,%d]\n"
    "%%c = Const {100, 100, 100} : i8[1,%d]\n%%f = Convert(%%c) {destination_type=f32} : f32[1,%d]\n"
    "%%s = Const {0.01} : f32[]\n%%w = Multiply(%%f, %%s) : f32[1,%d]\n"
    "%%y = MatMul(%%x, %s) : f32[%d,%d]\nResult(%%y)\n",
    rows[row].levels, COLUMNS, low, high, rows[row].levels, rows[row].levels, COLUMNS, COLUMNS, COLUMNS, COLUMNS,
    weights ? "%w" : "%d", rows[row].levels, COLUMNS);
  LptGraph *graph = lpt_graph_from_text (text, -1, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (lpt_pipeline_run (graph, config, NULL, NULL, &error));
  g_assert_true (lpt_graph_has_integer_ops (graph));

  return graph;
}

static void
test_codes (gconstpointer data)
{
  const gboolean weights = GPOINTER_TO_INT (data);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const gint levels = rows[i].levels;
      g_autoptr (LptGraph) graph = make_graph (i, weights);
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      g_autofree double *x = g_new (double, levels);
      const double ones[] = { 1, 1, 1 };

      for (gint c = 0; c < levels; c++)
        x[c] = rows[i].step * (c - rows[i].zero);
      g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &(LptShape) { 2, { levels, 1 } }, x, NULL));
      g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &(LptShape) { 2, { 1, COLUMNS } }, ones, NULL));
      for (guint k = 0; lpt_cpu_level_at (k) != NULL; k++)
        {
          g_autoptr (GPtrArray) outputs = NULL;

          g_setenv ("LPT_CPU", lpt_cpu_level_at (k), TRUE);
          outputs = fast_run (graph, 0, 1, inputs);
          for (gint c = 0; c < levels; c++)
            g_assert_cmpfloat (fabs (lpt_tensor_get_f64 (outputs->pdata[0], c * COLUMNS) - x[c]), <,
                               0.05 * rows[i].step);
        }
      g_unsetenv ("LPT_CPU");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/wide-codes/weights", GINT_TO_POINTER (TRUE), test_codes);
  g_test_add_data_func ("/wide-codes/data", GINT_TO_POINTER (FALSE), test_codes);

  return g_test_run ();
}
