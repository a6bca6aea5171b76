/* test-compare.c - values of two graphs are matched by their place, never two unlike ones as one
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-compare.h>

#include "graph-case.h"

static LptComparison *
compare (const char *a,
         const char *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) first = parse (a);
  g_autoptr (LptGraph) second = parse (b);
  const LptShape *shape = &lpt_node_out (g_ptr_array_index (first->parameters, 0))->shape;
  g_autoptr (LptTensor) x = NULL;
  g_autoptr (LptData) data = NULL;
  g_autofree float *values = NULL;
  LptComparison *result;
  gint64 n;
  gint64 i;

  g_assert_true (lpt_shape_count (shape, &n));
  values = g_new (float, n);
  for (i = 0; i < n; i++)
    values[i] = (float) sin ((double) (i * i + 3 * i));
  x = lpt_tensor_from_f32 (shape, values, &error);
  g_assert_no_error (error);
  data = lpt_data_from_arrays (first, &x, &error);
  g_assert_no_error (error);
  result = lpt_compare_values (first, second, data, &(LptCompareOptions) { .threads = 1 }, &error);
  g_assert_no_error (error);

  return result;
}

static const char *
partner (const LptComparison *c,
         const char          *a)
{
  for (guint i = 0; i < c->rows->len; i++)
    if (strcmp (((LptValueDistance *) c->rows->pdata[i])->a, a) == 0)
      return ((LptValueDistance *) c->rows->pdata[i])->b;

  return NULL;
}

#define WEIGHTS                                                         \
  "%w1 = Const {1, -2, 3, 4, 0.5, 0.25, -1, 2, -3} : f32[1,1,3,3]\n"    \
  "%w2 = Const {-1, 2, 0.3, -0.4, 5, 0.25, 1, -2, 3} : f32[1,1,3,3]\n"
#define WINDOW "{strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]}"

/* Two ops of one kind and no name in common: the weights tell them apart. */
static void
test_weights (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n%b = Convolution(%x, %w2) " WINDOW "\n"
                                         "%s = Subtract(%a, %b)\nResult(%s)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%p = Convolution(%x, %w2) " WINDOW "\n%q = Convolution(%x, %w1) " WINDOW "\n"
                                         "%s = Subtract(%q, %p)\nResult(%s)\n");

  g_assert_cmpstr (partner (c, "a"), ==, "q");
  g_assert_cmpstr (partner (c, "b"), ==, "p");
  g_assert_cmpstr (partner (c, "s"), ==, "s");
  g_assert_cmpuint (c->only_a->len + c->only_b->len, ==, 0);
}

/* One name for two things: what a lowered convolution gives is behind the Relu. */
static void
test_absorbed (void)
{
  g_autoptr (LptComparison)
      c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%conv = Convolution(%x, %w1) " WINDOW
                   "\n%r = ReLU(%conv)\n"
                   "%p = MaxPool(%r) {kernel=[2,2], strides=[2,2]}\nResult(%p)\n",
                   "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                   "%l = Const {0} : f32[]\n%h = Const {10.2} : f32[]\n%c = Convolution(%x, %w1) " WINDOW "\n"
                   "%conv = FakeQuantize(%c, %l, %h, %l, %h) {levels=256}\n"
                   "%p = MaxPool(%conv) {kernel=[2,2], strides=[2,2]}\nResult(%p)\n");

  g_assert_cmpstr (partner (c, "conv"), !=, "conv");
  g_assert_cmpstr (partner (c, "r"), ==, "conv");
  g_assert_cmpstr (partner (c, "p"), ==, "p");
}

/* A Relu on the other side of a pool: what the pool reads is not the same. */
static void
test_moved (void)
{
  g_autoptr (LptComparison)
      c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%c = Convolution(%x, %w1) " WINDOW
                   "\n%p = MaxPool(%c) {kernel=[2,2], strides=[2,2]}\n%r = ReLU(%p)\nResult(%r)\n",
                   "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%c = Convolution(%x, %w1) " WINDOW
                   "\n%q = ReLU(%c)\n%p = MaxPool(%q) {kernel=[2,2], strides=[2,2]}\nResult(%p)\n");

  g_assert_cmpstr (partner (c, "c"), !=, "q");
  g_assert_cmpstr (partner (c, "p"), !=, "p");
  g_assert_cmpstr (partner (c, "r"), ==, "p");
}

/* Another layer in between: only what both have is matched. */
static void
test_inserted (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%c = Convolution(%x, %w1) " WINDOW
                                         "\n%d = Convolution(%c, %w2) " WINDOW "\nResult(%d)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%e = Convolution(%x, %w2) " WINDOW
                                         "\nResult(%e)\n");

  g_assert_cmpstr (partner (c, "c"), ==, NULL);
  g_assert_cmpstr (partner (c, "x"), ==, "x");
}

/* Without a Relu of its own the second model cuts at 0 all the same: what stands in front of the Relu is no value of
 * it. The first axis is open. */
static void
test_open_and_cut (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%a = Convolution(%x, %w1) " WINDOW "\n"
                                         "%r = Relu(%a)\n%b = Convolution(%r, %w2) " WINDOW "\nResult(%b)\n",
                                         "%x = Parameter : f32[?,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n"
                                         "%l = Const {0} : f32[]\n%h = Const {50} : f32[]\n"
                                         "%q = FakeQuantize(%a, %l, %h, %l, %h) {levels=256}\n"
                                         "%b = Convolution(%q, %w2) " WINDOW "\nResult(%b)\n");

  g_assert_cmpstr (partner (c, "r"), ==, "q");
  g_assert_cmpuint (c->rows->len, ==, 3);
  for (guint i = 0; i < c->rows->len; i++)
    g_assert_cmpfloat (((LptValueDistance *) c->rows->pdata[i])->sqnr, >, 20.0);
}

#define POOL "{kernel=[2,2], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]}"
#define NORM_AS_ONE "%n = MVN(%x, %axes) {eps=0.00001, normalize_variance=true, eps_mode=inside_sqrt}\n"
#define NORM_WRITTEN(square, root, last)                                                              \
  "%m = ReduceMean(%x, %axes) {keep_dims=true}\n%d = Subtract(%x, %m)\n%sq = " square "\n" \
  "%v = ReduceMean(%sq, %axes) {keep_dims=true}\n%e = Const {0.00001} : f32[]\n%s = Add(%v, %e)\n" root last
#define NORM(how) "%x = Parameter : f32[1,4,8]\n%axes = Const {2} : i64[1]\n" how "%r = Relu(%n)\nResult(%r)\n"

/* A normalization as one op, and as those that it is written out as. */
static void
test_norms (void)
{
  const char *const written[] = {
    NORM (NORM_WRITTEN ("Multiply(%d, %d)", "%q = Sqrt(%s)\n", "%n = Divide(%d, %q) {m_pythondiv=false}\n")),
    NORM ("%two = Const {2} : f32[]\n" NORM_WRITTEN ("Power(%d, %two)", "%q = Sqrt(%s)\n"
          "%one = Const {1} : f32[]\n%i = Divide(%one, %q) {m_pythondiv=false}\n", "%n = Multiply(%i, %d)\n")),
    NORM (NORM_WRITTEN ("SquaredDifference(%m, %x)", "%half = Const {-0.5} : f32[]\n%q = Power(%s, %half)\n"
                        "", "%n = Multiply(%d, %q)\n")) };
  /* The second mean is along another axis, the deviation is multiplied with: none is one. */
  const char *const others[] = {
    NORM (NORM_WRITTEN ("Multiply(%d, %d)", "%q = Sqrt(%s)\n", "%n = Multiply(%d, %q)\n")),
    NORM (NORM_WRITTEN ("Multiply(%d, %x)", "%q = Sqrt(%s)\n", "%n = Divide(%d, %q) {m_pythondiv=false}\n")) };

  for (guint i = 0; i < G_N_ELEMENTS (written); i++)
    {
      g_autoptr (LptComparison) c = compare (NORM (NORM_AS_ONE), written[i]);

      g_assert_cmpstr (partner (c, "n"), ==, "n");
      g_assert_cmpuint (c->only_a->len + c->only_b->len, ==, 0);
    }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autoptr (LptComparison) c = compare (NORM (NORM_AS_ONE), others[i]);

      g_assert_null (partner (c, "n"));
    }
}

/* A function as one op, and as two. */
static void
test_swish (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n%h = HSwish(%a)\n"
                                         "%b = Convolution(%h, %w2) " WINDOW "\nResult(%b)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n%alpha = Const {0.16666667} : f32[]\n"
                                         "%beta = Const {0.5} : f32[]\n%s = HardSigmoid(%a, %alpha, %beta)\n"
                                         "%p = Multiply(%a, %s)\n%b = Convolution(%p, %w2) " WINDOW "\nResult(%b)\n");

  g_assert_cmpstr (partner (c, "a"), ==, "a");
  g_assert_cmpstr (partner (c, "h"), ==, "p");
  g_assert_cmpstr (partner (c, "b"), ==, "b");
}

/* Two transpositions as one: the first of them is another order of the same values. */
static void
test_orders (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,2,3,4]\n%o = Const {0,2,1,3} : i64[4]\n"
                                         "%k = Const {0,1,3,2} : i64[4]\n"
                                         "%t = Transpose(%x, %o)\n%u = Transpose(%t, %k)\n"
                                         "%r = MaxPool@1(%u) " POOL "\nResult(%r)\n",
                                         "%x = Parameter : f32[1,2,3,4]\n%o = Const {0,2,3,1} : i64[4]\n"
                                         "%v = Transpose(%x, %o)\n%r = MaxPool@1(%v) " POOL "\nResult(%r)\n");

  g_assert_null (partner (c, "t"));
}

/* Codes stand for themselves until an interval gives them a scale; what is behind is real. */
static void
test_codes (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%m = MaxPool@1(%x) " POOL "\n"
                                         "%b = Convolution(%m, %w1) " WINDOW "\nResult(%b)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n"
                                         "" WEIGHTS "%u = Convert(%x) {destination_type=u8}\n"
                                         "%m = MaxPool@1(%u) " POOL "\n%f = Convert(%m) {destination_type=f32}\n"
                                         "%l = Const {0} : f32[]\n%h = Const {255} : f32[]\n"
                                         "%ol = Const {-1} : f32[]\n%oh = Const {1.55} : f32[]\n"
                                         "%q = FakeQuantize(%f, %l, %h, %ol, %oh) {levels=256}\n"
                                         "%b = Convolution(%q, %w1) " WINDOW "\nResult(%b)\n");

  g_assert_cmpstr (partner (c, "b"), ==, "b");
  g_assert_cmpstr (partner (c, "m"), !=, "m");
}

/* One cuts what a Transpose gives, the other transposes the parts; the middle part stays there in another order. What
 * nothing reads is no value of either. */
static void
test_cut_and_turned (void)
{
  g_autoptr (LptComparison) c = compare (
    "%x = Parameter : f32[1,3,3,4]\n%o = Const {0,1,3,2} : i64[4]\n%t = Transpose(%x, %o)\n%axis = Const {1} : i64[]\n"
    "%s = Split(%t, %axis) {num_splits=3}\n%a = MaxPool@1(%s) " POOL "\n%b = AvgPool@1(%s.2) " POOL "\n"
    "Result(%a)\nResult(%b)\n",
    "%x = Parameter : f32[1,3,3,4]\n%o = Const {0,1,3,2} : i64[4]\n%axis = Const {1} : i64[]\n"
    "%s = Split(%x, %axis) {num_splits=3}\n%p = Transpose(%s, %o)\n%q = Transpose(%s.2, %o)\n"
    "%a = MaxPool@1(%p) " POOL "\n%b = AvgPool@1(%q) " POOL "\nResult(%a)\nResult(%b)\n");

  g_assert_cmpstr (partner (c, "s"), ==, "p");
  g_assert_cmpstr (partner (c, "s.2"), ==, "q");
  g_assert_null (partner (c, "s.1"));
  g_assert_null (partner (c, "t"));
  g_assert_cmpuint (c->rows->len, ==, 5);
  /* t here; s and s.2 there. */
  g_assert_cmpuint (c->only_a->len, ==, 1);
  g_assert_cmpuint (c->only_b->len, ==, 2);
  g_assert_cmpuint (lpt_comparison_n_both (c), ==, c->rows->len);
}

/* Each has a value that the other computes inside of an op: both are matched as far as they can be. */
static void
test_only_here (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n%r = Relu(%a)\n"
                                         "%b = Convolution(%r, %w2) " WINDOW "\n%h = Swish(%b)\nResult(%h)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%l = Const {0} : f32[]\n%u = Const {50} : f32[]\n"
                                         "%a = Convolution(%x, %w1) " WINDOW "\n"
                                         "%q = FakeQuantize(%a, %l, %u, %l, %u) {levels=256}\n"
                                         "%b = Convolution(%q, %w2) " WINDOW "\n%s = Sigmoid(%b)\n"
                                         "%h = Multiply(%b, %s)\nResult(%h)\n");

  g_assert_cmpuint (c->only_a->len, ==, 1);
  g_assert_cmpuint (c->only_b->len, ==, 1);
  g_assert_cmpuint (lpt_comparison_n_both (c), ==, c->rows->len);
}

/* Rows that are rounded when they are there are the same values. */
static void
test_dynamic (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS "%d = DynamicFakeQuantize(%x)\n"
                                         "%a = Convolution(%d, %w1) " WINDOW "\nResult(%a)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%b = Convolution(%x, %w1) " WINDOW "\nResult(%b)\n");

  g_assert_cmpstr (partner (c, "a"), ==, "b");
  g_assert_cmpuint (lpt_comparison_n_both (c), ==, c->rows->len);
}

/* A Relu that became a Clamp to what the codes hold, with another reader in front of it. */
static void
test_relu_of_codes (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n%r = Relu(%a)\n%p = MaxPool@1(%r) " POOL "\n%q = MaxPool@1(%a) " POOL "\n"
                                         "Result(%p)\nResult(%q)\n",
                                         "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
                                         "%a = Convolution(%x, %w1) " WINDOW "\n%c = Clamp(%a) {min=0, max=100}\n%p = MaxPool@1(%c) " POOL "\n"
                                         "%q = MaxPool@1(%a) " POOL "\nResult(%p)\nResult(%q)\n");

  g_assert_cmpstr (partner (c, "r"), ==, "c");
  g_assert_cmpstr (partner (c, "a"), ==, "a");
}

/* Lowering writes a value by another op under its name: numbers tell whether it is the same. */
static void
test_named (void)
{
#define POOLS "%x = Parameter : f32[1,1,5,5]\n%p = MaxPool@1(%x) " POOL "\n%q = AvgPool@1(%x) " POOL "\n"
#define LOWERED(how) "graph {lowered=true}\n" POOLS "%k = Const {-1} : f32[]\n%j = Const {1000} : f32[]\n" how \
                   "%t = Add(%p, %n) : f32[1,1,4,4] names{\"y\"}\n%z = Relu(%t)\nResult(%z)\n"
  const char *source = POOLS "%s = Subtract(%p, %q) : f32[1,1,4,4] names{\"y\"}\n%z = Relu(%s)\n"
                             "Result(%z)\n";
  g_autoptr (LptComparison) same = compare (source, LOWERED ("%n = Multiply(%q, %k)\n"));
  g_autoptr (LptComparison)
      other = compare (source, LOWERED ("%m = Multiply(%q, %j)\n%o = Sin(%m)\n%n = Multiply(%o, %j)\n"));

  g_assert_cmpstr (partner (same, "s"), ==, "t");
  g_assert_cmpuint (lpt_comparison_n_both (same), ==, same->rows->len);
  g_assert_null (partner (other, "s"));
}

/* Each channel has another unit in the lowered graph, and 16 elements. */
static void
test_units (void)
{
  g_autoptr (LptComparison) c = compare ("%x = Parameter : f32[1,3,5,5]\n%p = MaxPool@1(%x) " POOL "\nResult(%p)\n",
                                         "graph {lowered=true}\n%x = Parameter : f32[1,3,5,5]\n"
                                         "%p = MaxPool@1(%x) " POOL "\n"
                                         "%k = Const {3, 200, -50} : f32[1,3,1,1]\n%m = Multiply(%p, %k)\n"
                                         "Result(%m)\n");
  const LptValueDistance *last = c->rows->pdata[c->rows->len - 1];

  g_assert_cmpstr (last->b, ==, "m");
  g_assert_true (last->fitted);
  g_assert_cmpfloat (last->sqnr, >, 100.0);
}

/* A product of wide data is the sum of products of its halves; a sum of others is not. */
static void
test_halves (void)
{
#define X "%x = Parameter : f32[1,1,8,8]\n" WEIGHTS
#define HALF "%l = Const {-1} : f32[]\n%u = Const {1} : f32[]\n%h = FakeQuantize(%x, %l, %u, %l, %u) {levels=256}\n"
#define END "%z = MaxPool(%r) {kernel=[2,2], strides=[2,2]}\nResult(%z)\n"
#define PARTS(second, rest)                                                                              \
  X HALF "%e = " rest "\n%p = Convolution(%h, %w1) " WINDOW "\n%q = Convolution(%e, " second ") " WINDOW \
         "\n%s = Add(%p, %q)\n%r = ReLU(%s)\n" END
  const char *whole = X "%c = Convolution(%x, %w1) " WINDOW "\n%r = ReLU(%c)\n" END;
  g_autoptr (LptComparison) same = compare (whole, PARTS ("%w1", "Subtract(%x, %h)"));
  g_autoptr (LptComparison) weights = compare (whole, PARTS ("%w2", "Subtract(%x, %h)"));
  g_autoptr (LptComparison) data = compare (whole, PARTS ("%w1", "Sin(%x)"));

  g_assert_cmpstr (partner (same, "c"), ==, "s");
  g_assert_cmpstr (partner (same, "r"), ==, "r");
  g_assert_cmpuint (lpt_comparison_n_both (same), ==, same->rows->len);
  g_assert_cmpstr (partner (weights, "c"), !=, "s");
  g_assert_cmpstr (partner (data, "c"), !=, "s");
}

/* The product of two such data is the sum of four. */
static void
test_four_parts (void)
{
#define TWO "%x = Parameter : f32[1,4,4]\n%y = Sin(%x)\n"
#define SPLIT(h, e, of) \
  "%" h " = FakeQuantize(%" of ", %l, %u, %l, %u) {levels=256}\n%" e " = Subtract(%" of ", %" h ")\n"
  g_autoptr (LptComparison) c = compare (
      TWO "%m = MatMul(%x, %y)\n%z = Softmax(%m) {axis=-1}\nResult(%z)\n",
      TWO "%l = Const {-1} : f32[]\n%u = Const {1} : f32[]\n" SPLIT ("xh", "xe", "x") SPLIT ("yh", "ye", "y")
          "%a = MatMul(%xh, %yh)\n%b = MatMul(%xe, %yh)\n%c = MatMul(%xh, %ye)\n%d = MatMul(%xe, %ye)\n"
          "%s = Add(%b, %c)\n%t = Add(%s, %d)\n%n = Add(%a, %t)\n%z = Softmax(%n) {axis=-1}\nResult(%z)\n");

  g_assert_cmpstr (partner (c, "m"), ==, "n");
  g_assert_cmpstr (partner (c, "z"), ==, "z");
  g_assert_cmpuint (lpt_comparison_n_both (c), ==, c->rows->len);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compare/weights", test_weights);
  g_test_add_func ("/compare/absorbed", test_absorbed);
  g_test_add_func ("/compare/moved", test_moved);
  g_test_add_func ("/compare/norms", test_norms);
  g_test_add_func ("/compare/swish", test_swish);
  g_test_add_func ("/compare/orders", test_orders);
  g_test_add_func ("/compare/codes", test_codes);
  g_test_add_func ("/compare/inserted", test_inserted);
  g_test_add_func ("/compare/cut-and-turned", test_cut_and_turned);
  g_test_add_func ("/compare/only-here", test_only_here);
  g_test_add_func ("/compare/units", test_units);
  g_test_add_func ("/compare/named", test_named);
  g_test_add_func ("/compare/relu-of-codes", test_relu_of_codes);
  g_test_add_func ("/compare/dynamic", test_dynamic);
  g_test_add_func ("/compare/open-and-cut", test_open_and_cut);
  g_test_add_func ("/compare/halves", test_halves);
  g_test_add_func ("/compare/four-parts", test_four_parts);

  return g_test_run ();
}
