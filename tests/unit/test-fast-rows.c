/* test-fast-rows.c - programs of rows give the bytes of the plain steps that they replace
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-text.h>

#include "executor/lpt-plan.h"
#include "fast-case.h"

typedef struct
{
  const char *name;
  guint       programs;    /* of rows */
  guint       steps;       /* plain ones that are left, at most */
  const char *graph;
} Case;

#define S " : f32[3,7,37]\n"

#define P " : f32[1,5,9,7]\n"
#define CONV \
  "%x = Parameter : f32[1,3,9,7]\n%q = Quantize(%x) : u8[1,3,9,7] q{scale=0.05, zp=120}\n" \
  "%w = Const {1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15} : i8[5,3,1,1] q{axis=0, scale=[0.1,0.2,0.3,0.4,0.5], zp=[0,0,0,0,0]}\n" \
  "%i = Convolution(%q, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} #{relaxed} : " \
  "i32[1,5,9,7] q{axis=1, scale=[0.005,0.01,0.015,0.02,0.025], zp=[0,0,0,0,0]}\n%d = Dequantize(%i)" P

static const Case cases[] =
{
  { "attention", 1, 1,
    "%x = Parameter : u8[2,3,11,37]\n%m = Parameter : f32[2,1,1,37]\n%q = Reinterpret(%x) : u8[2,3,11,37] q{scale=0.04, zp=100}\n"
    "%d = Dequantize(%q) : f32[2,3,11,37]\n%a = Add(%d, %m) : f32[2,3,11,37]\n"
    "%k = Quantize(%a) : i8[2,3,11,37] q{scale=0.05, zp=3}\n%r = Reinterpret(%k) : i8[2,3,11,37] q{scale=0.07, zp=-2}\n"
    "%f = Dequantize(%r) : f32[2,3,11,37]\n%s = SoftMax(%f) {axis=-1} : f32[2,3,11,37]\n"
    "%y = Quantize(%s) : u8[2,3,11,37] q{scale=0.004}\nResult(%y)\n" },
  { "layer-norm", 1, 0,
    "%x = Parameter" S "%z = Parameter" S "%axes = Const {2} : i64[1]\n%g = Parameter : f32[37]\n"
    "%h = Const {0.5} : f32[1]\n%a = Add(%x, %z)" S
    "%n = MVN(%a, %axes) {normalize_variance=true, eps=1e-05, eps_mode=inside_sqrt}" S
    "%m = Multiply(%n, %g)" S "%b = Subtract(%h, %m)" S "%y = Quantize(%b) : i8[3,7,37] q{scale=0.03, zp=5}\nResult(%y)\n" },
  /* Both halves of a GELU read the accumulators through scales of their own. */
  { "accumulators", 1, 1,
    "%x = Parameter : f32[2,19,8]\n%q = Quantize(%x) : u8[2,19,8] q{scale=0.05, zp=120}\n"
    "%w = Const {1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16,17,-18,19,-20,21,-22,23,-24} : i8[8,3] q{axis=1, scale=[0.25,0.5,0.125], zp=[0,0,0]}\n"
    "%i = MatMul(%q, %w) #{relaxed} : i32[2,19,3] q{axis=2, scale=[0.0125,0.025,0.00625], zp=[0,0,0]}\n"
    "%r = Reinterpret(%i) : i32[2,19,3] q{axis=2, scale=[0.01,0.02,0.005], zp=[0,0,0]}\n"
    "%c = Const {0.5,-0.5,0.25} : f32[3]\n%a = Dequantize(%i) : f32[2,19,3]\n%b = Dequantize(%r) : f32[2,19,3]\n"
    "%p = Add(%b, %c) : f32[2,19,3]\n%e = Erf(%p) : f32[2,19,3]\n%one = Const {1} : f32[]\n%f = Add(%e, %one) : f32[2,19,3]\n"
    "%m = Multiply(%a, %f) : f32[2,19,3]\n%y = Quantize(%m) : u8[2,19,3] q{axis=2, scale=[0.1,0.2,0.05], zp=[3,4,5]}\nResult(%y)\n" },
  { "broadcast", 3, 0,
    "%x = Parameter" S "%a = Parameter : f32[7,1]\n%b = Parameter : f32[3,1,37]\n%c = Parameter : f32[1,1,1]\n%d = Parameter : f32[3,1,1]\n"
    "%1 = Add(%x, %a)" S "%2 = Multiply(%b, %1)" S "%3 = Divide(%2, %c)" S "%4 = Maximum(%3, %d)" S "%5 = Minimum(%4, %a)" S
    "%6 = Subtract(%5, %b)" S "%7 = Multiply(%a, %d) : f32[3,7,1]\n%8 = Add(%7, %6)" S "Result(%8)\nResult(%4)\n" },
  { "functions", 1, 0,
    "%x = Parameter" S "%1 = Exp(%x)" S "%2 = Sigmoid(%x)" S "%3 = Swish(%x)" S "%4 = Tanh(%x)" S "%5 = Erf(%x)" S
    "%6 = Gelu(%x) {approximation_mode=tanh}" S "%7 = Gelu(%x) {approximation_mode=erf}" S "%8 = Relu(%x)" S
    "%9 = Clamp(%x) {min=-0.3, max=0.7}" S "%a = Add(%1, %2)" S "%b = Add(%3, %4)" S "%c = Add(%5, %6)" S "%d = Add(%7, %8)" S
    "%e = Add(%a, %b)" S "%f = Add(%c, %d)" S "%g = Multiply(%e, %f)" S "%h = Subtract(%g, %9)" S
    "%i = Elu(%x) {alpha=1}" S "%j = HSwish(%x)" S "%k = HSigmoid(%x)" S "%l = Abs(%k)" S "%m = Negative(%j)" S
    "%n = Add(%i, %l)" S "%o = Add(%m, %n)" S "%p = Add(%h, %o)" S "Result(%p)\n" },
  /* 0 / 0 and x / 0 */
  { "not-numbers", 1, 0,
    "%x = Parameter" S "%r = Relu(%x)" S "%z = Subtract(%x, %x)" S "%n = Divide(%r, %z)" S "%e = Exp(%n)" S "%t = Tanh(%n)" S
    "%m = Maximum(%e, %x)" S "%k = Minimum(%x, %t)" S "%y = Add(%m, %k)" S "Result(%y)\n" },
  { "long-rows", 2, 0,
    "%x = Parameter : f32[3,9001]\n%v = Parameter : f32[9001]\n%a = Add(%x, %v) : f32[3,9001]\n%t = Tanh(%a) : f32[3,9001]\n"
    "%s = SoftMax(%t) {axis=1} : f32[3,9001]\nResult(%s)\nResult(%t)\n" },
  { "one-vector", 1, 0,
    "%x = Parameter : f32[70001]\n%c = Const {3} : f32[1]\n%a = Multiply(%c, %x) : f32[70001]\n%t = Erf(%a) : f32[70001]\nResult(%t)\n" },
  { "one-number", 1, 0, "%x = Parameter : f32[]\n%t = Erf(%x) : f32[]\n%y = Add(%t, %t) : f32[]\nResult(%y)\n" },
  { "nothing", 0, 1, "%x = Parameter : f32[0,4]\n%t = Erf(%x) : f32[0,4]\nResult(%t)\n" },
  /* Codes of the program under three names, one of them a name of another. */
  { "names", 1, 0,
    "%x = Parameter" S "%k = Quantize(%x) : u8[3,7,37] q{scale=0.02, zp=137}\n"
    "%r = Reinterpret(%k) : u8[3,7,37] q{scale=1, zp=255}\n%d = Dequantize(%r)" S "%c = Const {-19.1} : f32[]\n%a = Add(%d, %c)" S
    "%s = Reinterpret(%k) : u8[3,7,37] q{scale=0.5}\n%e = Dequantize(%s)" S "%b = Multiply(%a, %e)" S
    "%t = Reinterpret(%s) : u8[3,7,37] q{scale=0.25, zp=3}\n%f = Dequantize(%t)" S "%y = Subtract(%b, %f)" S "Result(%y)\n" },
  /* The table ends where the program begins. */
  { "behind-a-table", 0, 1,
    "%x = Parameter : u8[2,3,37]\n%q = Reinterpret(%x) : u8[2,3,37] q{scale=1}\n%c = Const {0.15} : f32[]\n"
    "%d = Dequantize(%q) : f32[2,3,37]\n%a = Add(%d, %c) : f32[2,3,37]\n%k = Quantize(%a) : u8[2,3,37] q{scale=0.72, zp=-98}\n"
    "%r = Reinterpret(%k) : u8[2,3,37] q{scale=0.01, zp=54}\n%y = Dequantize(%r) : f32[2,3,37]\nResult(%y)\n" },
  /* Channels last, as the convolution writes them: */
  { "channels-last", 2, 0,
    CONV "%c = Const {1,-2,3,-4,0.5} : f32[1,5,1,1]\n%a = Elu(%d) {alpha=1}" P "%b = Add(%a, %c)" P
    "%k = Quantize(%b) : u8[1,5,9,7] q{axis=1, scale=[0.1,0.2,0.3,0.4,0.5], zp=[10,20,30,40,50]}\n%f = Dequantize(%k)" P
    "%t = Tanh(%f)" P "%y = Multiply(%t, %c)" P "Result(%y)\nResult(%a)\n" },
  { "channels-last-sum", 1, 0,
    "%v = Parameter : f32[5,1,1]\n" CONV "%a = Add(%d, %v)" P "%b = Add(%a, %a)" P "%m = Multiply(%b, %v)" P
    "%y = Quantize(%m) : i8[1,5,9,7] q{scale=0.1, zp=3}\nResult(%y)\n" },
  /* Rows of pixels against an operand that goes along the pixels too. */
  { "channels-last-not", 1, 0,
    CONV "%c = Const {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35} : f32[1,5,1,7]\n"
    "%a = Add(%d, %c)" P "%t = Erf(%a)" P "Result(%t)\n" },
  /* Plain: the last axis is not the one, or not the only one. */
  { "other-axes", 1, 3,
    "%x = Parameter" S "%i = Const {1} : i64[1]\n%j = Const {1, 2} : i64[2]\n%s = SoftMax(%x) {axis=1}" S
    "%m = MVN(%s, %i) {normalize_variance=true, eps=0.01, eps_mode=outside_sqrt}" S
    "%n = MVN(%m, %j) {normalize_variance=false, eps=0.01, eps_mode=inside_sqrt}" S "%y = Exp(%n)" S "Result(%y)\n" },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *text = g_strconcat ("graph \"g\" {lowered=true, requant=\"onnx\"}\n", c->graph, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, c->name, &error);
  g_autoptr (LptPlan) plan = NULL;
  guint programs = 0, steps = 0, i;

  g_assert_no_error (error);
  plan = lpt_plan_new (graph, NULL, 0, &error);
  g_assert_no_error (error);
  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *op = plan->program->ops->pdata[i];

      programs += op->has_form && g_str_has_prefix (op->form.kernel, "float__");
      steps += !op->has_form && !op->folded;
    }
  g_assert_cmpuint (programs, ==, c->programs);
  g_assert_cmpuint (steps, <=, c->steps);
  fast_case_compare (graph, -3, 3);
}

int
main (int argc, char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-rows/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
