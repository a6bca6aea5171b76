/* test-fast-convert.c - Convert between types that are held as reals or words gives the bytes of the plain op
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

static const LptDType types[] =
{
  LPT_DTYPE_F32, LPT_DTYPE_F64, LPT_DTYPE_F16, LPT_DTYPE_BF16, LPT_DTYPE_I64, LPT_DTYPE_U64, LPT_DTYPE_I32,
  LPT_DTYPE_U32, LPT_DTYPE_BOOL, LPT_DTYPE_U8, LPT_DTYPE_I8, LPT_DTYPE_I16,
};

/* Beside ordinary numbers those at which types end, and what is no number. */
static LptTensor *
tensor_of (LptDType        dtype,
           const LptShape *shape)
{
  static const double ends[] =
  {
    0, -0.0, 0.5, -0.5, 1.5, -1, 255, 256, 65503.9, 65520, 0x1p-24, 0x1p-25, 0x1.8p-24, 2147483647, 2147483648.0,
    -2147483649.0, 4294967295.0, 4294967296.0, 9.3e18, -9.3e18, 16777217, 1e30, NAN, INFINITY, -INFINITY,
  };
  const double low = MAX (lpt_dtype_min (dtype), -9.2e18), high = MIN (lpt_dtype_max (dtype), 9.2e18);
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  double values[3 * 11 * 601];
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    {
      values[i] = i % 3 == 0 ? ends[i / 3 % G_N_ELEMENTS (ends)] : g_rand_double_range (rand, -400, 400);
      if (!lpt_dtype_is_real (dtype))
        values[i] = isnan (values[i]) ? 0 : CLAMP (values[i], low, high);
    }

  return lpt_tensor_from_f64 (dtype, shape, values, NULL);
}

static void
test_types (void)
{
  guint from, to;

  for (from = 0; from < G_N_ELEMENTS (types); from++)
    for (to = 0; to < G_N_ELEMENTS (types); to++)
      {
        const char *a = lpt_dtype_name (types[from]), *b = lpt_dtype_name (types[to]);
        g_autofree char *text = g_strdup_printf ("%%x = Parameter : %s[3,11,601]\n"
                                                 "%%y = Convert(%%x) {destination_type=%s} : %s[3,11,601]\n"
                                                 "Result(%%y)\n", a, b, b);
        g_autoptr (LptGraph) graph = fast_case_graph (text, "types");
        g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
        const LptShape shape = { .rank = 3, .dims = { 3, 11, 601 } };

        fast_case_assert_kernels (graph);
        g_ptr_array_add (inputs, tensor_of (types[from], &shape));
        fast_case_compare_inputs (graph, inputs);
      }
}

/* Sums of codes that stand for themselves, of more bits than float32 has, and what rounds in front of 8 bits. */
static void
test_fronts (void)
{
  static const char *const texts[] =
  {
    "graph {lowered=true}\n%x = Parameter : u8[30,700] q{scale=1}\n%u = Parameter : i8[700,41] q{scale=1}\n"
    "%m = MatMul(%x, %u) #{relaxed} : i32[30,41] q{scale=1}\n%y = Convert(%m) {destination_type=i64} : i64[30,41]\n"
    "Result(%y)\n",
    "%x = Parameter : f32[9,200]\n%a = Const {-2} : f32[]\n%b = Const {2} : f32[]\n%c = Const {0} : f32[]\n"
    "%d = Const {255} : f32[]\n%f = FakeQuantize(%x, %a, %b, %c, %d) {levels=256} : f32[9,200]\n"
    "%y = Convert(%f) {destination_type=u8} : u8[9,200]\nResult(%y)\n",
    ("%x = Parameter : f32[9,200]\n%a = Const {100.3} : f32[]\n%f = Multiply(%x, %a) : f32[9,200]\n"
     "%y = Convert(%f) {destination_type=i8} : i8[9,200]\nResult(%y)\n"),
  };
  guint k;

  for (k = 0; k < G_N_ELEMENTS (texts); k++)
    fast_case_compare_text (texts[k], -3, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/convert/types", test_types);
  g_test_add_func ("/fast/convert/fronts", test_fronts);

  return g_test_run ();
}
