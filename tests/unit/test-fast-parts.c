/* test-fast-parts.c - values that share memory, with the bytes of the plain ops
 *
 * Concatenations and splits along the channels as parts of pixels, results written over what is read for the last time. Every
 * case says how many ops write parts, how many pieces are views, how many copies are left and how many ops other than
 * convolutions (which can at some levels of the CPU only) write over an input, so that one that falls back to copies fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-plan.h"
#include "fast-case.h"

typedef struct
{
  const char *name;
  guint       parts, views, copies, over;
  const char *graph;         /* $(n): n small numbers */
} Case;

#define Q     " q{scale=0.05, zp=120}\n"
#define X     "%x = Parameter : f32[2,20,6,7]\n%q = Quantize(%x) : u8[2,20,6,7]" Q
#define W     ", dilations=[1,1]}"
/* One tap and nine, of the 20 channels of %q; one of 8 channels. */
#define ONE(y, n)   "%w" #y " = Const {$(" #n "*20)} : i8[" #n ",20,1,1] q{scale=0.01}\n" \
  "%" #y " = Convolution(%q, %w" #y ") {strides=[1,1], pads_begin=[0,0], pads_end=[0,0]" W " : u8[2," #n ",6,7]" Q
#define NINE(y, n)  "%w" #y " = Const {$(" #n "*180)} : i8[" #n ",20,3,3] q{scale=0.003}\n" \
  "%" #y " = Convolution(%q, %w" #y ") {strides=[1,1], pads_begin=[1,1], pads_end=[1,1]" W " : u8[2," #n ",6,7]" Q
#define OF(y, x, c) "%w" #y " = Const {$(5*" #c "*9)} : i8[5," #c ",3,3] q{scale=0.005}\n" \
  "%" #y " = Convolution(%" #x ", %w" #y ") {strides=[1,1], pads_begin=[1,1], pads_end=[1,1]" W " : u8[2,5,6,7]" Q
#define DEPTH(y, x, c) "%w" #y " = Const {$(" #c "*9)} : i8[" #c ",1,1,3,3] q{scale=0.01}\n" \
  "%" #y " = GroupConvolution(%" #x ", %w" #y ") {strides=[1,1], pads_begin=[1,1], pads_end=[1,1]" W " : u8[2," #c ",6,7]" Q
#define POOL(y, x, c) "%" #y " = MaxPool(%" #x ") {kernel=[3,3], strides=[1,1], pads_begin=[1,1], pads_end=[1,1]} : u8[2," #c ",6,7]" Q

#define HALVES(x) "%i = Const {1} : i64[]\n%s = Split(%" #x ", %i) {num_splits=2} : u8[2,8,6,7] q{scale=0.05, zp=120}, u8[2,8,6,7]" Q

static const Case cases[] =
{
  { "convolutions", 2, 0, 0, 0, X ONE (a, 17) NINE (b, 5) "%y = Concat(%a, %b) {axis=1} : u8[2,22,6,7]" Q OF (z, y, 22) "Result(%z)\n" },
  { "read-again", 2, 0, 0, 0, X ONE (a, 16) NINE (b, 5) "%y = Concat(%b, %a) {axis=-3} : u8[2,21,6,7]" Q OF (z, y, 21) OF (v, a, 16)
    DEPTH (u, a, 16) "Result(%z)\nResult(%v)\nResult(%u)\n" },
  { "outputs", 2, 0, 0, 0, X ONE (a, 16) NINE (b, 5) "%y = Concat(%a, %b) {axis=1} : u8[2,21,6,7]" Q "Result(%y)\nResult(%b)\nResult(%a)\n" },
  { "twice", 2, 0, 0, 0, X ONE (a, 16) ONE (b, 3) "%y = Concat(%a, %b, %a) {axis=1} : u8[2,35,6,7]" Q OF (z, y, 35) "Result(%z)\n" },
  { "many", 2, 0, 0, 0, X ONE (a, 16) ONE (b, 3) "%y = Concat(%a, %b, %a, %a, %a, %a, %a, %a, %a, %a, %a) {axis=1} : u8[2,163,6,7]" Q
    OF (z, y, 163) "Result(%z)\n" },
  { "two-concatenations", 3, 0, 0, 0, X ONE (a, 16) ONE (b, 4) ONE (c, 4) "%y = Concat(%a, %b) {axis=1} : u8[2,20,6,7]" Q
    "%s = Concat(%c, %a) {axis=1} : u8[2,20,6,7]" Q DEPTH (t, s, 20) OF (z, y, 20) "Result(%z)\nResult(%t)\n" },
  { "nested", 6, 0, 0, 0, X ONE (a, 16) ONE (b, 4) "%y = Concat(%a, %b) {axis=1} : u8[2,20,6,7]" Q DEPTH (c, y, 20)
    "%s = Concat(%c, %y) {axis=1} : u8[2,40,6,7]" Q POOL (d, s, 40) "%t = Concat(%s, %d) {axis=1} : u8[2,80,6,7]" Q
    OF (z, t, 80) "Result(%z)\nResult(%y)\n" },
  /* The same bytes under a shape with other channels. */
  { "other-channels", 0, 0, 0, 0, "%x = Parameter : f32[2,12,4]\n%q = Quantize(%x) : u8[2,12,4]" Q "%w = Const {$(12)} : i8[3,4] q{scale=0.1}\n"
    "%m = MatMul(%q, %w) {transpose_b=true} : i8[2,12,3] q{scale=0.05}\n%s = Const {2, 1, 12, 3} : i64[4]\n"
    "%r = Reshape(%m, %s) : i8[2,1,12,3] q{scale=0.05}\n%a = Const {3} : i64[1]\n"
    "%y = ReduceMax(%r, %a) {keep_dims=true} : i8[2,1,12,1] q{scale=0.05}\nResult(%y)\n" },
  { "pools", 4, 0, 0, 0, X ONE (a, 8) POOL (b, a, 8) POOL (c, b, 8) "%d = AvgPool(%a) {kernel=[3,3], strides=[1,1], pads_begin=[1,1], pads_end=[1,1],"
    " exclude-pad=true} : u8[2,8,6,7]" Q "%y = Concat(%a, %b, %c, %d) {axis=1} : u8[2,32,6,7]" Q "%r = Const {2, 3} : i64[2]\n"
    "%m = ReduceMean(%c, %r) {keep_dims=true} : u8[2,8,1,1]" Q OF (z, y, 32) "Result(%z)\nResult(%m)\n" },
  { "residual", 3, 0, 0, 0, X ONE (a, 20) NINE (c, 20) "%b = Add(%c, %a) : u8[2,20,6,7] q{scale=0.07, zp=120}\n"
    "%y = Reinterpret(%b) : u8[2,20,6,7]" Q "%s = Concat(%a, %y) {axis=1} : u8[2,40,6,7]" Q POOL (u, y, 20)
    "%v = Concat(%u, %a) {axis=1} : u8[2,40,6,7]" Q OF (z, s, 40) POOL (w, v, 40) "Result(%z)\nResult(%w)\n" },
  { "sums", 5, 0, 0, 0, X ONE (a, 8) ONE (b, 8) POOL (c, a, 8) "%d = Add(%a, %b) : u8[2,8,6,7]" Q "%e = Multiply(%a, %c) : u8[2,8,6,7]" Q
    "%y = Concat(%d, %a, %b, %e, %c) {axis=1} : u8[2,40,6,7]" Q OF (z, y, 40) "Result(%z)\n" },
  { "sums-signed", 3, 0, 0, 0, X "%wa = Const {$(160)} : i8[8,20,1,1] q{scale=0.01}\n"
    "%a = Convolution(%q, %wa) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0]" W " : i8[2,8,6,7]" Q
    "%m = MaxPool(%a) {kernel=[6,7], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : i8[2,8,1,1]" Q
    "%b = Multiply(%m, %a) : i8[2,8,6,7]" Q "%s = Subtract(%b, %a) : i8[2,8,6,7]" Q
    "%y = Concat(%b, %a, %s) {axis=1} : i8[2,24,6,7]" Q "%z = MaxPool(%y) {kernel=[2,2], strides=[2,2], pads_begin=[0,0], pads_end=[0,0]}"
    " : i8[2,24,3,3]" Q "Result(%z)\nResult(%y)\n" },
  { "tables", 2, 0, 0, 0, X ONE (a, 8) "%s = Sigmoid(%a) : u8[2,8,6,7]" Q "%t = Tanh(%a) : u8[2,8,6,7]" Q
    "%y = Concat(%s, %t) {axis=1} : u8[2,16,6,7]" Q OF (z, y, 16) "Result(%z)\nResult(%s)\n" },
  { "resize", 2, 0, 0, 0, X "%p = MaxPool(%q) {kernel=[2,1], strides=[2,1], pads_begin=[0,0], pads_end=[0,0]} : u8[2,20,3,7]" Q
    "%h = Const {6, 7} : i64[2]\n%j = Const {9, 4} : i64[2]\n%i = Const {2, 3} : i64[2]\n%u = Interpolate(%p, %h, %i)"
    " {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=asymmetric, nearest_mode=floor} : u8[2,20,6,7]" Q
    ONE (a, 8) "%y = Concat(%u, %a) {axis=1} : u8[2,28,6,7]" Q "%v = Interpolate(%a, %j, %i)"
    " {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=half_pixel} : u8[2,8,9,4]" Q OF (z, y, 28)
    "Result(%z)\nResult(%v)\n" },
  { "column", 3, 0, 0, 0, "%x = Parameter : f32[2,8,9,1]\n%q = Quantize(%x) : u8[2,8,9,1]" Q
    "%a = MaxPool(%q) {kernel=[3,1], strides=[1,1], pads_begin=[1,0], pads_end=[1,0]} : u8[2,8,9,1]" Q
    "%b = Multiply(%a, %a) : u8[2,8,9,1]" Q "%c = Add(%a, %b) : u8[2,8,9,1]" Q
    "%y = Concat(%c, %b, %a) {axis=1} : u8[2,24,9,1]" Q "Result(%y)\n" },
  { "line", 2, 0, 0, 0, "%x = Parameter : f32[2,8,9]\n%q = Quantize(%x) : u8[2,8,9]" Q
    "%a = MaxPool(%q) {kernel=[3], strides=[1], pads_begin=[1], pads_end=[1]} : u8[2,8,9]" Q
    "%b = Multiply(%a, %a) : u8[2,8,9]" Q "%y = Concat(%b, %a) {axis=1} : u8[2,16,9]" Q "Result(%y)\n" },
  /* One channel has no pixels to be a part of; what is in planes is copied; rows of parts are copied. */
  { "one-channel", 1, 0, 0, 0, X ONE (a, 1) ONE (b, 7) "%y = Concat(%a, %b) {axis=1} : u8[2,8,6,7]" Q POOL (z, y, 8) "Result(%z)\n" },
  { "planes", 1, 0, 0, 0, X ONE (a, 24) "%y = Concat(%a, %q) {axis=1} : u8[2,44,6,7]" Q POOL (z, y, 44) "Result(%z)\n" },
  { "rows", 2, 0, 0, 0, X POOL (p, q, 20) "%a = MaxPool(%p) {kernel=[3,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : u8[2,20,4,7]" Q
    "%b = MaxPool(%p) {kernel=[5,1], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]} : u8[2,20,2,7]" Q
    "%r = Concat(%a, %b) {axis=2} : u8[2,20,6,7]" Q ONE (c, 8) "%y = Concat(%c, %r) {axis=1} : u8[2,28,6,7]" Q OF (z, y, 28) "Result(%z)\n" },
  /* Convolutions of few channels copy their rows, pixel by pixel if need be. */
  { "reader-few", 2, 0, 0, 0, X ONE (a, 8) ONE (b, 8) "%y = Concat(%a, %b) {axis=1} : u8[2,16,6,7]" Q OF (z, y, 16) OF (v, a, 8)
    "Result(%z)\nResult(%v)\n" },

  { "split", 0, 2, 0, 0, X ONE (a, 16) "%i = Const {1} : i64[]\n%s = Split(%a, %i) {num_splits=2} : u8[2,8,6,7] q{scale=0.05, zp=120}, u8[2,8,6,7]" Q
    POOL (b, s.0, 8) DEPTH (c, s.1, 8) "Result(%b)\nResult(%c)\n" },
  { "split-few", 0, 2, 0, 0, X POOL (p, q, 20) "%i = Const {1} : i64[]\n%l = Const {17, 3} : i64[2]\n"
    "%s = VariadicSplit(%p, %i, %l) : u8[2,17,6,7] q{scale=0.05, zp=120}, u8[2,3,6,7]" Q DEPTH (b, s.0, 17) OF (c, s.1, 3) OF (d, s.1, 3)
    "Result(%b)\nResult(%c)\nResult(%d)\n" },
  { "split-outputs", 0, 3, 0, 0, X POOL (p, q, 20) "%i = Const {1} : i64[]\n%l = Const {9, 1, 10} : i64[3]\n"
    "%s = VariadicSplit(%p, %i, %l) : u8[2,9,6,7] q{scale=0.05, zp=120}, u8[2,1,6,7] q{scale=0.05, zp=120}, u8[2,10,6,7]" Q
    "%b = Multiply(%s.1, %s.2) : u8[2,10,6,7]" Q "Result(%s.0)\nResult(%s.1)\nResult(%b)\n" },
  { "split-again", 0, 4, 0, 0, X POOL (p, q, 20) "%i = Const {1} : i64[]\n%s = Split(%p, %i) {num_splits=2} : u8[2,10,6,7] q{scale=0.05, zp=120}, u8[2,10,6,7]" Q
    "%t = Split(%s.1, %i) {num_splits=2} : u8[2,5,6,7] q{scale=0.05, zp=120}, u8[2,5,6,7]" Q
    "%a = Add(%t.0, %t.1) : u8[2,5,6,7]" Q POOL (b, s.0, 10) "%c = Sigmoid(%t.1) : u8[2,5,6,7]" Q "Result(%a)\nResult(%b)\nResult(%c)\n" },
  { "split-and-concat", 3, 2, 0, 0, X ONE (a, 16) HALVES (a)
    DEPTH (b, s.1, 8) DEPTH (c, b, 8) "%y = Concat(%s.0, %s.1, %b, %c) {axis=1} : u8[2,32,6,7]" Q OF (z, y, 32) "Result(%z)\n" },
  { "split-and-concat-named", 2, 2, 0, 0, X ONE (a, 16) "%r = Reinterpret(%a) : u8[2,16,6,7]" Q HALVES (r)
    "%t = Reinterpret(%s.0) : u8[2,8,6,7]" Q DEPTH (b, t, 8) DEPTH (c, r, 16) "%y = Concat(%b, %t, %s.1, %t) {axis=1} : u8[2,32,6,7]" Q
    OF (z, y, 32) "Result(%z)\nResult(%c)\nResult(%s.1)\n" },
  { "split-and-concat-swapped", 1, 2, 0, 0, X ONE (a, 16) HALVES (a) DEPTH (b, s.1, 8)
    "%y = Concat(%s.1, %s.0, %b) {axis=1} : u8[2,24,6,7]" Q OF (z, y, 24) "Result(%z)\n" },
  { "split-and-concat-half", 1, 2, 0, 0, X ONE (a, 16) HALVES (a) DEPTH (b, s.0, 8) DEPTH (c, s.1, 8)
    "%y = Concat(%s.0, %b) {axis=1} : u8[2,16,6,7]" Q OF (z, y, 16) "Result(%z)\nResult(%c)\n" },
  { "slice", 2, 1, 0, 0, X POOL (p, q, 20) "%b = Const {3} : i64[1]\n%e = Const {15} : i64[1]\n%st = Const {1} : i64[1]\n%ax = Const {1} : i64[1]\n"
    "%s = Slice(%p, %b, %e, %st, %ax) : u8[2,12,6,7]" Q "%h = Const {12, 14} : i64[2]\n%i = Const {2, 3} : i64[2]\n%u = Interpolate(%s, %h, %i)"
    " {mode=nearest, shape_calculation_mode=sizes, coordinate_transformation_mode=asymmetric, nearest_mode=floor} : u8[2,12,12,14]" Q
    "%z = Sigmoid(%u) : u8[2,12,12,14]" Q "%y = Concat(%u, %z) {axis=1} : u8[2,24,12,14]" Q "Result(%y)\n" },

  { "over-residual", 0, 0, 0, 0, X ONE (a, 20) NINE (c, 20) "%b = Add(%c, %a) : u8[2,20,6,7]" Q NINE (d, 20)
    "%e = Subtract(%d, %b) : u8[2,20,6,7]" Q POOL (z, e, 20) "Result(%z)\n" },
  { "over-residual-read", 0, 0, 0, 0, X ONE (a, 20) NINE (c, 20) "%b = Add(%c, %a) : u8[2,20,6,7] q{scale=0.07, zp=120}\n"
    OF (z, b, 20) OF (v, a, 20) "Result(%z)\nResult(%v)\n" },
  { "over-own-input", 0, 0, 0, 0, X POOL (a, q, 20) "%w = Const {$(20*180)} : i8[20,20,3,3] q{scale=0.003}\n"
    "%c = Convolution(%a, %w) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1]" W " : u8[2,20,6,7]" Q
    "%b = Add(%c, %a) : u8[2,20,6,7] q{scale=0.07, zp=120}\n" "Result(%b)\n" },
  { "over-table", 0, 0, 0, 3, X POOL (p, q, 20) "%s = Sigmoid(%p) : u8[2,20,6,7]" Q POOL (r, s, 20) "%t = Tanh(%r) : u8[2,20,6,7]" Q
    "%y = Add(%t, %s) : u8[2,20,6,7]" Q "Result(%y)\n" },
  { "over-sum", 0, 0, 0, 3, X POOL (p, q, 20) POOL (r, p, 20) "%s = Add(%r, %p) : u8[2,20,6,7]" Q "%t = Multiply(%s, %s) : u8[2,20,6,7]" Q
    "%i = Const {2, 3} : i64[2]\n%m = ReduceMean(%t, %i) {keep_dims=true} : u8[2,20,1,1]" Q "%y = Multiply(%m, %t) : u8[2,20,6,7]" Q
    "Result(%y)\n" },
  { "over-piece", 0, 2, 0, 1, X POOL (p, q, 20) "%i = Const {1} : i64[]\n%s = Split(%p, %i) {num_splits=2} : u8[2,10,6,7] q{scale=0.05, zp=120}, u8[2,10,6,7]" Q
    "%t = Sigmoid(%s.0) : u8[2,10,6,7]" Q "%u = Add(%t, %s.1) : u8[2,10,6,7]" Q "Result(%u)\n" },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = fast_case_graph (c->graph, c->name);
  g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, &error);
  guint parts = 0, views = 0, copies = 0, over = 0, i;

  g_assert_no_error (error);
  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *op = plan->program->ops->pdata[i];
      const LptOpForm *form = &op->form;
      gboolean overwrites = FALSE;
      guint k;

      if (!op->has_form)
        continue;
      for (k = 0; k < form->n_in; k++)
        overwrites |= form->in[k].overwritten;
      over += overwrites && form->out_layout != LPT_LAYOUT_CODES_PITCHED && !g_str_has_prefix (form->kernel, "gemm") &&
              form->out->kind == LPT_STORAGE_VIEW;
      parts += form->run != NULL && form->out_layout == LPT_LAYOUT_CODES_PITCHED;
      views += form->run == NULL && form->out_layout == LPT_LAYOUT_CODES_PITCHED;
      copies += strcmp (form->kernel, "copy") == 0;
    }
  g_test_message ("%s: %u parts, %u views, %u copies, %u over", c->name, parts, views, copies, over);
  g_assert_cmpuint (parts, ==, c->parts);
  g_assert_cmpuint (views, ==, c->views);
  g_assert_cmpuint (copies, ==, c->copies);
  g_assert_cmpuint (over, ==, c->over);
  fast_case_compare (graph, -6, 6);
}

int
main (int argc, char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-parts/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
