/* test-fast-float.c - real convolutions, products and pools on kernels give the bits of the plain steps
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-text.h>

#include "executor/lpt-plan.h"
#include "fast-case.h"

typedef struct
{
  const char *name;
  guint       products, windows;     /* entries on these kernels, where the processor has them */
  guint       others;                /* conversions and steps that are left, at most */
  const char *graph;                 /* #N: N random numbers */
} Case;

#define SAME " {strides=[1,1], dilations=[1,1], pads_begin=[1,1], pads_end=[1,1]}"
#define POINT " {strides=[1,1], dilations=[1,1], pads_begin=[0,0], pads_end=[0,0]}"

static const Case cases[] =
{
  /* Bias, then ReLU, in the store; the kernel's rows and columns have tails. */
  { "conv", 1, 0, 2,
    "%x = Parameter : f32[2,5,9,11]\n%w = Const {#855} : f32[19,5,3,3]\n%b = Const {#19} : f32[1,19,1,1]\n"
    "%c = Convolution(%x, %w)" SAME " : f32[2,19,9,11]\n%a = Add(%b, %c) : f32[2,19,9,11]\n%y = Relu(%a) : f32[2,19,9,11]\nResult(%y)\n" },
  { "conv-uneven", 1, 0, 2,
    "%x = Parameter : f32[1,3,13,10]\n%w = Const {#840} : f32[35,3,2,4]\n%b = Const {#35} : f32[35]\n"
    "%c = Convolution(%x, %w, %b) {strides=[2,3], dilations=[3,2], pads_begin=[0,4], pads_end=[2,1]} : f32[1,35,6,3]\n"
    "%y = Clamp(%c) {min=-1.5, max=2.5} : f32[1,35,6,3]\nResult(%y)\n" },
  /* Several tasks of rows and of columns. */
  { "conv-tasks", 2, 0, 3,
    "%x = Parameter : f32[1,8,40,40]\n%w = Const {#4608} : f32[64,8,3,3]\n%v = Const {#73728} : f32[128,64,3,3]\n"
    "%c = Convolution(%x, %w)" SAME " : f32[1,64,40,40]\n"
    "%d = Convolution(%c, %v) {strides=[4,4], dilations=[1,1], pads_begin=[1,1], pads_end=[1,1]} : f32[1,128,10,10]\nResult(%d)\n" },
  /* Rows that are copied, and both operands of a sum products: one takes it in. */
  { "conv-residual", 2, 0, 2,
    "%x = Parameter : f32[1,256,5,6]\n%w = Const {#10240} : f32[40,256,1,1]\n%v = Const {#10240} : f32[40,256,1,1]\n"
    "%b = Const {#40} : f32[1,40,1,1]\n%e = Const {#40} : f32[40,1,1]\n"
    "%c = Convolution(%x, %w)" POINT " : f32[1,40,5,6]\n%d = Convolution(%x, %v)" POINT " : f32[1,40,5,6]\n"
    "%p = Add(%c, %b) : f32[1,40,5,6]\n%q = Add(%d, %e) : f32[1,40,5,6]\n%s = Add(%p, %q) : f32[1,40,5,6]\n"
    "%y = Relu(%s) : f32[1,40,5,6]\nResult(%y)\n" },
  /* x * Sigmoid (x), then a sum; other functions in the store. */
  { "conv-functions", 3, 1, 3,
    "%x = Parameter : f32[1,6,7,9]\n%w = Const {#240} : f32[40,6,1,1]\n%v = Const {#1600} : f32[40,40,1,1]\n%d = Const {#360} : f32[40,1,1,3,3]\n"
    "%c = Convolution(%x, %w)" POINT " : f32[1,40,7,9]\n%s = Sigmoid(%c) : f32[1,40,7,9]\n%m = Multiply(%s, %c) : f32[1,40,7,9]\n"
    "%e = Convolution(%m, %v)" POINT " : f32[1,40,7,9]\n%t = Sigmoid(%e) : f32[1,40,7,9]\n%n = Multiply(%e, %t) : f32[1,40,7,9]\n"
    "%a = Add(%m, %n) : f32[1,40,7,9]\n%g = GroupConvolution(%a, %d)" SAME " : f32[1,40,7,9]\n%h = HSwish(%g) : f32[1,40,7,9]\n"
    "%u = Const {#800} : f32[20,40,1,1]\n%f = Convolution(%h, %u)" POINT " : f32[1,20,7,9]\n%k = Clamp(%f) {min=-1, max=2} : f32[1,20,7,9]\n"
    "%y = Tanh(%k) : f32[1,20,7,9]\nResult(%y)\n" },
  /* Almost x * Sigmoid (x). */
  { "conv-functions-not", 1, 0, 4,
    "%x = Parameter : f32[1,6,7,9]\n%w = Const {#240} : f32[40,6,1,1]\n%z = Parameter : f32[1,40,7,9]\n"
    "%c = Convolution(%x, %w)" POINT " : f32[1,40,7,9]\n%s = Sigmoid(%c) : f32[1,40,7,9]\n%m = Multiply(%s, %z) : f32[1,40,7,9]\n"
    "%a = Subtract(%m, %c) : f32[1,40,7,9]\nResult(%a)\n" },
  /* Pixels that would share sets of the cache: the lines that a task reads are copied. */
  { "conv-lines", 3, 0, 4,
    "%x = Parameter : f32[2,512,6,9]\n%w = Const {#92160} : f32[20,512,3,3]\n%v = Const {#73728} : f32[2,16,256,3,3]\n%u = Const {#6144} : f32[3,512,2,2]\n"
    "%c = Convolution(%x, %w)" SAME " : f32[2,20,6,9]\n"
    "%d = GroupConvolution(%x, %v) {strides=[2,3], dilations=[2,1], pads_begin=[3,0], pads_end=[0,2]} : f32[2,32,3,3]\n"
    "%e = Convolution(%x, %u) {strides=[1,1], dilations=[1,1], pads_begin=[5,1], pads_end=[2,0]} : f32[2,3,12,9]\n"
    "Result(%c)\nResult(%d)\nResult(%e)\n" },
  /* One plane makes several: lines of different planes are not neighbours. */
  { "conv-planes", 1, 0, 2,
    "%x = Parameter : f32[1,512,1,6,5]\n%w = Const {#27648} : f32[2,512,3,3,3]\n"
    "%c = Convolution(%x, %w) {strides=[1,1,1], dilations=[1,1,1], pads_begin=[2,1,1], pads_end=[2,1,1]} : f32[1,2,3,6,5]\nResult(%c)\n" },
  /* A sum that others read too, and constants that are no bias. */
  { "conv-readers", 1, 0, 6,
    "%x = Parameter : f32[1,4,3,4]\n%w = Const {#16} : f32[4,4,1,1]\n%b = Const {#12} : f32[1,1,3,4]\n%k = Const {0.3} : f32[]\n"
    "%c = Convolution(%x, %w)" POINT " : f32[1,4,3,4]\n%i = Add(%c, %k) : f32[1,4,3,4]\n%a = Add(%i, %b) : f32[1,4,3,4]\n"
    "%t = Add(%a, %a) : f32[1,4,3,4]\n%s = SoftMax(%a) {axis=3} : f32[1,4,3,4]\nResult(%t)\nResult(%s)\n" },
  { "conv-groups", 1, 0, 3,
    "%x = Parameter : f32[2,6,7,5]\n%w = Const {#216} : f32[3,4,2,3,3]\n%z = Parameter : f32[2,12,7,5]\n"
    "%c = GroupConvolution(%x, %w)" SAME " : f32[2,12,7,5]\n%y = Add(%c, %z) : f32[2,12,7,5]\nResult(%y)\n" },
  { "conv-line", 2, 0, 2,
    "%x = Parameter : f32[2,3,50]\n%w = Const {#255} : f32[17,3,5]\n%v = Const {#85} : f32[5,17,1]\n"
    "%c = Convolution(%x, %w) {strides=[2], dilations=[1], pads_begin=[2], pads_end=[2]} : f32[2,17,25]\n"
    "%d = Convolution(%c, %v) {strides=[1], dilations=[1], pads_begin=[0], pads_end=[0]} : f32[2,5,25]\nResult(%d)\n" },
  { "conv-space", 1, 1, 2,
    "%x = Parameter : f32[1,2,4,5,6]\n%w = Const {#270} : f32[5,2,3,3,3]\n%d = Const {#60} : f32[5,1,1,2,3,2]\n"
    "%c = Convolution(%x, %w) {strides=[1,1,2], dilations=[1,1,1], pads_begin=[1,1,1], pads_end=[1,1,1]} : f32[1,5,4,5,3]\n"
    "%y = GroupConvolution(%c, %d) {strides=[2,1,1], dilations=[1,1,1], pads_begin=[0,1,1], pads_end=[0,1,0]} : f32[1,5,2,5,3]\nResult(%y)\n" },
  /* Infinite weights times padding: the plain op does not multiply those. */
  { "conv-infinite", 0, 0, 3,
    "%x = Parameter : f32[1,1,3,3]\n%w = Const {1,2,3,4,5,6,7,8,inf} : f32[1,1,3,3]\n%c = Convolution(%x, %w)" SAME " : f32[1,1,3,3]\nResult(%c)\n" },
  { "depthwise", 0, 3, 2,
    "%x = Parameter : f32[2,37,17,13]\n%v = Const {#333} : f32[37,1,1,3,3]\n%w = Const {#925} : f32[37,1,1,5,5]\n%u = Const {#148} : f32[37,1,1,2,2]\n"
    "%b = Const {#37} : f32[1,37,1,1]\n%a = GroupConvolution(%x, %v)" SAME " : f32[2,37,17,13]\n%i = Add(%a, %b) : f32[2,37,17,13]\n"
    "%j = Clamp(%i) {min=0, max=6} : f32[2,37,17,13]\n"
    "%c = GroupConvolution(%j, %w) {strides=[2,2], dilations=[1,1], pads_begin=[2,1], pads_end=[2,3]} : f32[2,37,9,7]\n"
    "%d = GroupConvolution(%c, %u) {strides=[1,1], dilations=[3,4], pads_begin=[1,5], pads_end=[0,0]} : f32[2,37,7,8]\nResult(%d)\n" },
  /* Kernels wider than the image. */
  { "depthwise-wide", 0, 1, 3,
    "%x = Parameter : f32[1,16,2,2]\n%w = Const {#784} : f32[16,1,1,7,7]\n%z = Parameter : f32[1,16,4,4]\n"
    "%c = GroupConvolution(%x, %w) {strides=[1,1], dilations=[1,1], pads_begin=[4,4], pads_end=[4,4]} : f32[1,16,4,4]\n"
    "%y = Add(%z, %c) : f32[1,16,4,4]\nResult(%y)\n" },
  { "pools", 0, 5, 6,
    "%x = Parameter : f32[2,21,11,10]\n"
    "%m = MaxPool(%x) {kernel=[3,3], strides=[2,2], pads_begin=[1,1], pads_end=[1,1]} : f32[2,21,6,5]\n"
    "%n = MaxPool(%x) {kernel=[2,3], strides=[1,2], dilations=[3,2], pads_begin=[0,2], pads_end=[1,0]} : f32[2,21,9,4], i64[2,21,9,4]\n"
    "%a = AvgPool(%x) {kernel=[3,3], strides=[2,2], pads_begin=[1,1], pads_end=[1,1], exclude-pad=true} : f32[2,21,6,5]\n"
    "%i = AvgPool(%x) {kernel=[3,4], strides=[2,3], pads_begin=[1,1], pads_end=[1,2], exclude-pad=false, rounding_type=ceil} : f32[2,21,6,4]\n"
    "%z = Const {2,-1} : i64[2]\n%g = ReduceMean(%x, %z) : f32[2,21]\nResult(%m)\nResult(%n)\nResult(%a)\nResult(%i)\nResult(%g)\n" },
  /* The indices are read: plain. */
  { "pool-index", 0, 0, 1,
    "%x = Parameter : f32[1,2,6]\n%m = MaxPool(%x) {kernel=[2], strides=[2], pads_begin=[0], pads_end=[0]} : f32[1,2,3], i64[1,2,3]\n"
    "Result(%m)\nResult(%m.1)\n" },
  { "mean-of-some", 0, 0, 1,
    "%x = Parameter : f32[2,3,4,5]\n%z = Const {3} : i64[1]\n%g = ReduceMean(%x, %z) {keep_dims=true} : f32[2,3,4,1]\nResult(%g)\n" },
  /* Whole pixels: where they come from is asked of the ops. */
  { "moves", 2, 0, 9,
    "%x = Parameter : f32[2,3,5,4]\n%w = Const {#15} : f32[5,3,1,1]\n%v = Const {#21} : f32[7,3,1,1]\n%z = Parameter : f32[2,2,5,4]\n"
    "%a = Convolution(%x, %w)" POINT " : f32[2,5,5,4]\n%b = Convolution(%x, %v)" POINT " : f32[2,7,5,4]\n"
    "%c = Concat(%a, %z, %b, %a) {axis=1} : f32[2,19,5,4]\n%s = Const {10,9} : i64[2]\n%f = Const {2,3} : i64[2]\n"
    "%n = Interpolate(%c, %s, %f) {mode=nearest, shape_calculation_mode=sizes, nearest_mode=floor} : f32[2,19,10,9]\n"
    "%l = Const {0,0,2,1} : i64[4]\n%u = Const {2,19,10,8} : i64[4]\n%t = Const {1,1,3,2} : i64[4]\n"
    "%p = StridedSlice(%n, %l, %u, %t) {begin_mask=[0,0,0,0], end_mask=[0,0,0,0]} : f32[2,19,3,4]\n"
    "%i = Const {0,0,1,2} : i64[4]\n%q = Pad(%p, %i, %i) {pad_mode=reflect} : f32[2,19,5,8]\nResult(%q)\n" },
  /* Not whole pixels, or not copies of them. */
  { "moves-not", 1, 0, 9,
    "%x = Parameter : f32[1,3,4,4]\n%w = Const {#12} : f32[4,3,1,1]\n%a = Convolution(%x, %w)" POINT " : f32[1,4,4,4]\n"
    "%s = Const {8,8} : i64[2]\n%f = Const {2,3} : i64[2]\n%o = Const {1,0,2,3} : i64[4]\n%e = Const {1,0,0,0} : i64[4]\n"
    "%k = Const {3} : f32[]\n%g = Const {0,0,1,1} : i64[4]\n"
    "%n = Interpolate(%a, %s, %f) {mode=linear_onnx, shape_calculation_mode=sizes} : f32[1,4,8,8]\n"
    "%t = Transpose(%a, %o) : f32[4,1,4,4]\n%p = Pad(%a, %g, %g, %k) {pad_mode=constant} : f32[1,4,6,6]\n"
    "%c = Concat(%a, %a) {axis=2} : f32[1,4,8,4]\nResult(%n)\nResult(%t)\nResult(%p)\nResult(%c)\n" },
  /* All rows meet one constant; they are copied. */
  { "matmul", 1, 0, 0,
    "%x = Parameter : f32[3,31,256]\n%w = Const {#17920} : f32[256,70]\n%b = Const {#70} : f32[70]\n%z = Parameter : f32[3,31,70]\n"
    "%m = MatMul(%x, %w) : f32[3,31,70]\n%a = Add(%m, %b) : f32[3,31,70]\n%r = Add(%z, %a) : f32[3,31,70]\n%y = Relu(%r) : f32[3,31,70]\nResult(%y)\n" },
  { "matmul-functions", 2, 0, 0,
    "%x = Parameter : f32[37,1024]\n%w = Const {#73728} : f32[1024,72]\n%z = Parameter : f32[37,72]\n%v = Const {#5184} : f32[72,72]\n"
    "%m = MatMul(%x, %w) : f32[37,72]\n%g = Gelu(%m) {approximation_mode=erf} : f32[37,72]\n%a = Add(%g, %z) : f32[37,72]\n"
    "%n = MatMul(%a, %v) : f32[37,72]\n%b = Add(%n, %a) : f32[37,72]\n%y = Swish(%b) : f32[37,72]\nResult(%y)\n" },
  { "matmul-turned", 2, 0, 0,
    "%x = Parameter : f32[2,19,23]\n%w = Const {#722} : f32[38,19]\n%v = Const {#418} : f32[2,11,19]\n"
    "%m = MatMul(%x, %w) {transpose_a=true, transpose_b=true} : f32[2,23,38]\n%n = MatMul(%x, %v) {transpose_a=true, transpose_b=true} : f32[2,23,11]\n"
    "Result(%m)\nResult(%n)\n" },
  { "matmul-tasks", 2, 0, 0,
    "%x = Parameter : f32[150,512]\n%w = Const {#358400} : f32[512,700]\n%v = Const {#700} : f32[700,1]\n"
    "%m = MatMul(%x, %w) : f32[150,700]\n%n = MatMul(%m, %v) : f32[150,1]\nResult(%n)\nResult(%m)\n" },
  { "matmul-of-two", 2, 0, 0,
    "%x = Parameter : f32[2,1,100,24]\n%w = Parameter : f32[3,150,24]\n%z = Parameter : f32[2,3,100,150]\n"
    "%m = MatMul(%x, %w) {transpose_b=true} : f32[2,3,100,150]\n%a = Add(%m, %z) : f32[2,3,100,150]\n"
    "%n = MatMul(%a, %w) : f32[2,3,100,24]\nResult(%n)\n" },
};

/* @text with numbers for every #N. */
static char *
with_numbers (const char *text)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  GString *s = g_string_new (NULL);

  for (; *text != '\0'; text++)
    if (*text != '#')
      g_string_append_c (s, *text);
    else
      {
        guint n = (guint) g_ascii_strtoull (text + 1, (char **) &text, 10), i;

        for (i = 0; i < n; i++)
          g_string_append_printf (s, "%s%.4f", i > 0 ? "," : "", g_rand_double_range (rand, -1, 1));
        text--;
      }

  return g_string_free (s, FALSE);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *graph_text = with_numbers (c->graph);
  g_autofree char *text = g_strconcat ("graph \"g\" {lowered=true, requant=\"onnx\"}\n", graph_text, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, c->name, &error);
  g_autoptr (LptPlan) plan = NULL;
  guint products = 0, windows = 0, others = 0, i;

  g_assert_no_error (error);
  plan = lpt_plan_new (graph, NULL, 0, &error);
  g_assert_no_error (error);
  for (i = 0; i < plan->program->ops->len; i++)
    {
      const LptProgramOp *op = plan->program->ops->pdata[i];
      gboolean product = op->has_form && g_str_has_prefix (op->form.kernel, "fgemm__");
      gboolean window = op->has_form && g_str_has_prefix (op->form.kernel, "fwindow__");

      products += product;
      windows += window;
      others += !product && !window && !op->folded;
    }
  if (lpt_kernels_for (lpt_cpu_detect ()).fgemm->needs != LPT_CPU_SCALAR)
    {
      g_assert_cmpuint (products, ==, c->products);
      g_assert_cmpuint (windows, ==, c->windows);
      g_assert_cmpuint (others, <=, c->others);
    }
  fast_case_compare (graph, -3, 3);
}

int
main (int argc, char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-float/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
