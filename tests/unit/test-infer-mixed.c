/* test-infer-mixed.c - element types where nodes may mix them: relaxed ones, those of lowered graphs, codes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt.h>
#include <lpt/lpt-text.h>

#define LOWERED       "graph {lowered=true}\n"
#define X(type)       "%x = Parameter : " type "\n"
#define Y(type)       "%y = Parameter : " type "\n"
#define Z(type)       "%z = Parameter : " type "\n"
#define S(name)       "%" name " = Const {1} : i64[]\n"
#define CODE(name)    "%" name " = Const {4} : i32[] q{scale=0.5}\n"
#define POOL          "{kernel=[2,2], strides=[1,1]}"

/* What is said of the last node; NULL: nothing. */
static const struct { const char *text, *error;
} rows[] = {
  { X ("f32[2]") "%o = Relu(%x) #{relaxed} : u8[2]", "output 0 is declared as u8, but numbers of f32 are handed on" },
  { X ("u8[2]") "%o = Relu(%x) #{relaxed} : i8[2]", "output 0 is declared as i8, but numbers of u8 are handed on" },
  { X ("u8[2]") "%o = Relu(%x) #{relaxed} : i16[2]", NULL },
  { X ("u8[2]") "%o = Relu(%x) #{relaxed} : f32[2]", NULL },
  { X ("u8[2]") "%o = Relu(%x as f32) #{relaxed} : u8[2]", NULL },
  { X ("f32[2]") "%o = Multiply(%x, %x) #{relaxed} : u8[2]", NULL },
  { X ("u8[2]") Y ("i8[2]") "%o = Concat(%x, %y) {axis=0} #{relaxed} : u8[4]",
    "output 0 is declared as u8, but numbers of i8 are handed on" },
  { LOWERED X ("u8[2]") Y ("f32[2]") "%o = Concat(%x, %y) {axis=0}",
    "output 0 is declared as u8, but numbers of f32 are handed on" },
  { LOWERED X ("f32[1,1,2,2]") "%o = MaxPool(%x) " POOL " : f32[1,1,1,1], i64[1,1,1,1]", NULL },
  { X ("f32[1,1,2,2]") "%o = MaxPool(%x) " POOL " #{relaxed} : u8[1,1,1,1], i64[1,1,1,1]",
    "output 0 is declared as u8, but numbers of f32 are handed on" },
  { X ("i4[2]") Y ("f32[2]") "%o = BitwiseLeftShift(%x, %y as f32) #{relaxed} : f16[2]",
    "input 1 has type f32: bits of a real number" },
  { X ("i64[2]") CODE ("d") S ("v") "%o = OneHot(%x, %d, %v, %v) {axis=-1}", "input 1 (depth) is quantized" },
  { S ("a") CODE ("b") "%o = Range(%a, %b, %a) {output_type=i64}", "input 1 is quantized" },
  { X ("f32[2,9,4]") Y ("f32[2,3,9]") Z ("f32[]") "%o = NonMaxSuppression@4(%x, %y, %z) : i64[?,3]",
    "input 2 (boxes of a class) has type f32, not an integer type" },
};

static void
test_rows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (rows[i].text, -1, NULL, &error);

      if (rows[i].error == NULL)
        {
          g_assert_no_error (error);
          continue;
        }
      g_assert_null (graph);
      if (strstr (error->message, rows[i].error) == NULL || strstr (error->message, "node \"o\"") == NULL)
        g_error ("%s\n  gives: %s\n  not:   %s", rows[i].text, error->message, rows[i].error);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/infer/mixed", test_rows);

  return g_test_run ();
}
