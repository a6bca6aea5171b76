/* test-fast-scatter.c - updates at constant places give the bytes of the plain ops, and have a kernel
 *
 * Slices and elements, indices that repeat and that count from the end; data that another op reads, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

static void
compare (const char *text)
{
  fast_case_compare_text (text, -2, 2);
}

static void
test_constant (void)
{
  static const char *const types[] = { "f32", "i64", "u8", "boolean" };
  guint t;

  for (t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autofree char *slices =
          g_strdup_printf ("%%x = Parameter : %s[3,5,7]\n%%u = Parameter : %s[4,7]\n"
                           "%%i = Const {0,1, 2,-1, 0,1, 1,3} : i64[4,2]\n"
                           "%%y = ScatterNDUpdate(%%x, %%i, %%u) : %s[3,5,7]\nResult(%%y)\n", types[t],
                           types[t], types[t]);
      g_autofree char *elements =
          g_strdup_printf ("%%x = Parameter : %s[3,5]\n%%u = Parameter : %s[2,5]\n%%z = Const {0} : i64[]\n"
                           "%%i = Const {0,1,2,0,-1, 2,2,2,1,1} : i64[2,5]\n"
                           "%%y = ScatterElementsUpdate(%%x, %%i, %%u, %%z) : %s[3,5]\nResult(%%y)\nResult(%%x)\n",
                           types[t], types[t], types[t]);
      g_autofree char *lines =
          g_strdup_printf ("%%x = Parameter : %s[3,6,2]\n%%u = Parameter : %s[3,2,2]\n%%z = Const {1} : i64[]\n"
                           "%%i = Const {4, 1} : i64[2]\n%%y = ScatterUpdate(%%x, %%i, %%u, %%z) : %s[3,6,2]\n"
                           "Result(%%y)\n", types[t], types[t], types[t]);

      compare (slices);
      compare (elements);
      compare (lines);
    }
}

/* Along the last axis and another one, of real numbers and integers; indices beside the depth. */
static void
test_one_hot (void)
{
  static const char *const values[][2] = { { "f32", "0" }, { "f32", "0.5" }, { "i64", "-3" }, { "u8", "7" } };
  guint k;

  for (k = 0; k < G_N_ELEMENTS (values); k++)
    {
      g_autofree char *text =
          g_strdup_printf ("%%x = Parameter : i32[3,50]\n%%t = Const {20} : i32[]\n%%i = Mod(%%x, %%t) : i32[3,50]\n"
                           "%%d = Const {16} : i64[]\n%%p = Const {1} : %s[]\n%%n = Const {%s} : %s[]\n"
                           "%%y = OneHot(%%i, %%d, %%p, %%n) {axis=-1} : %s[3,50,16]\n"
                           "%%z = OneHot(%%i, %%d, %%p, %%n) {axis=1} : %s[3,16,50]\nResult(%%y)\nResult(%%z)\n",
                           values[k][0], values[k][1], values[k][0], values[k][0], values[k][0]);

      compare (text);
    }
}

/* Over data that nobody else reads, and beside data that is read again. */
static void
test_over (void)
{
  compare ("%x = Parameter : f32[6,9]\n%u = Parameter : f32[2,9]\n%i = Const {1, 4} : i64[2,1]\n"
           "%s = Sigmoid(%x) : f32[6,9]\n%y = ScatterNDUpdate(%s, %i, %u) : f32[6,9]\n%z = Relu(%y) : f32[6,9]\n"
           "Result(%z)\n");
  compare ("%x = Parameter : f32[6,9]\n%u = Parameter : f32[2,9]\n%i = Const {1, 4} : i64[2,1]\n"
           "%s = Sigmoid(%x) : f32[6,9]\n%y = ScatterNDUpdate(%s, %i, %u) : f32[6,9]\n%z = Add(%y, %s) : f32[6,9]\n"
           "Result(%z)\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/scatter/constant", test_constant);
  g_test_add_func ("/fast/scatter/one-hot", test_one_hot);
  g_test_add_func ("/fast/scatter/over", test_over);

  return g_test_run ();
}
