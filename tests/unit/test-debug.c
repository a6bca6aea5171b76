/* test-debug.c - layers, their errors, their quantizers, and what would help
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-compare.h>
#include <lpt/lpt-debug.h>

#include "graph-case.h"

/* Four samples of -1 .. 1. */
static LptData *
samples (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  const LptShape shape = { 4, { 4, 2, 8, 8 } };
  g_autofree float *values = g_new (float, 512);
  g_autoptr (LptTensor) x = NULL;
  LptData *data;

  for (guint i = 0; i < 512; i++)
    values[i] = (float) sin (i * i * 0.37 + i);
  x = lpt_tensor_from_f32 (&shape, values, &error);
  g_assert_no_error (error);
  data = lpt_data_from_arrays (graph, &x, &error);
  g_assert_no_error (error);

  return data;
}

static LptDebug *
debug (const char *model,
       const char *real,
       GError    **error)
{
  g_autoptr (LptGraph) graph = parse (model);
  g_autoptr (LptGraph) original = real != NULL ? parse (real) : NULL;
  g_autoptr (LptData) data = samples (graph);
  g_autoptr (LptConfig) config = lpt_config_new ();
  const LptDebugOptions options = { .config = config, .threads = 1, .remedies = 1 };

  return lpt_debug_run (graph, original, data, &options, error);
}

#define WINDOW "{strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}"
#define INPUT "%x = Parameter : f32[1,2,8,8]\n%w1 = Const {0.5, -0.25, 1, 0.75} : f32[2,2,1,1]\n%w2 = Const {1, 0.3017, -0.6213, 0.9131} : f32[2,2,1,1]\n"
#define FLOAT INPUT "%a = Convolution(%x, %w1) " WINDOW "\n%b = Convolution(%a, %w2) " WINDOW "\nResult(%b)\n"
/* The values of %a are within 1.75; high is its interval. */
#define MODEL(high)                                                                                                                                  \
  INPUT "%l = Const {-1} : f32[]\n%h = Const {1} : f32[]\n%xq = FakeQuantize(%x, %l, %h, %l, %h) {levels=256}\n%wq1 = FakeQuantize(%w1, %l, %h, %l, %h) {levels=255}\n" \
        "%a = Convolution(%xq, %wq1) " WINDOW "\n%al = Const {-" high "} : f32[]\n%ah = Const {" high "} : f32[]\n"                                  \
        "%aq = FakeQuantize(%a, %al, %ah, %al, %ah) {levels=256}\n%wq2 = FakeQuantize(%w2, %l, %h, %l, %h) {levels=255}\n"                           \
        "%b = Convolution(%aq, %wq2) " WINDOW "\nResult(%b)\n"

static const LptDebugLayer *
layer (const LptDebug *result,
       const char     *name)
{
  for (guint i = 0; i < result->layers->len; i++)
    if (g_str_equal (((LptDebugLayer *) result->layers->pdata[i])->name, name))
      return result->layers->pdata[i];
  g_assert_not_reached ();
}

/* A range that is too small is found, and clips. */
static void
test_small_range (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptDebug) result = debug (MODEL ("0.4"), FLOAT, &error);
  const LptDebugLayer *first;
  const LptDebugRemedy *best;

  g_assert_no_error (error);
  g_assert_cmpuint (result->layers->len, ==, 3);
  g_assert_cmpuint (result->remarks->len, ==, 0);
  first = result->layers->pdata[0];
  g_assert_cmpstr (first->name, ==, "a");
  g_assert_true (first->replaced);
  g_assert_cmpfloat (first->gain, >, 20.0);
  g_assert_cmpfloat (((LptDebugGrid *) first->grids->pdata[0])->clipped, >, 0.2);
  g_assert_cmpfloat (first->isolated, <, 20.0);
  g_assert_cmpfloat (first->accumulated, <=, first->isolated + 0.5);
  best = first->remedies->pdata[0];
  g_assert_cmpfloat (best->sqnr - result->sqnr, >, 20.0);
  g_assert_true (isnan (best->held) && isnan (best->time));
  /* What follows is right by itself, and wrong by what is in front. */
  g_assert_cmpfloat (layer (result, "b")->isolated, >, 35.0);
  g_assert_cmpfloat (layer (result, "b")->accumulated, <, 20.0);
  g_assert_cmpuint (layer (result, "b")->grids->len, ==, 0);
}

/* One that is too large leaves codes unused. */
static void
test_large_range (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptDebug) result = debug (MODEL ("100"), FLOAT, &error);
  const LptDebugLayer *first;
  const LptDebugGrid *grid;

  g_assert_no_error (error);
  first = result->layers->pdata[0];
  grid = first->grids->pdata[0];
  g_assert_cmpstr (first->name, ==, "a");
  g_assert_cmpfloat (grid->clipped, ==, 0.0);
  g_assert_cmpint (grid->unused, >=, 256 - 6);
  g_assert_cmpfloat (grid->bits, <, 3.0);
  g_assert_cmpuint (grid->n, ==, 512);
  g_assert_cmpfloat (grid->seen_high, <=, 1.75);
  /* 2 products of 127 times 127 are the most. */
  g_assert_cmpfloat (first->accumulator, <=, 15.1);
  g_assert_cmpfloat (first->accumulator, >, 12.0);
  g_assert_cmpfloat (first->saturated, ==, 0.0);
}

/* Weights against those of the float model: the second channel of the first layer has the step of another range. */
static void
test_weights (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptDebug) result = debug (INPUT "%l = Const {-1} : f32[]\n%h = Const {1} : f32[]\n%xq = FakeQuantize(%x, %l, %h, %l, %h) {levels=256}\n"
                                             "%wl = Const {-1, -0.2} : f32[2,1,1,1]\n%wh = Const {1, 0.2} : f32[2,1,1,1]\n%wq = FakeQuantize(%w1, %wl, %wh, %wl, %wh) {levels=255}\n"
                                             "%a = Convolution(%xq, %wq) " WINDOW "\n%b = Convolution(%a, %w2) " WINDOW "\nResult(%b)\n",
                                       FLOAT, &error);
  const LptDebugLayer *first;

  g_assert_no_error (error);
  first = result->layers->pdata[0];
  g_assert_cmpstr (first->name, ==, "a");
  g_assert_cmpuint (first->channels->len, ==, 2);
  g_assert_cmpfloat (g_array_index (first->channels, double, 0), >, 35.0);
  g_assert_cmpfloat (g_array_index (first->channels, double, 1), <, 5.0);
}

/* Without the float model: what a Clamp behind its interval cuts off, and what a Relu6 that was folded into it did, is
 * no damage; a range that is right is no remedy. */
static void
test_folded_clamp (void)
{
  static const char *const cut[] = { "%c = Clamp(%aq) {min=0, max=6}\n", "%c = Identity(%aq)\n" };

  for (guint i = 0; i < G_N_ELEMENTS (cut); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strconcat (
        INPUT "%l = Const {-1} : f32[]\n%h = Const {1} : f32[]\n%ten = Const {10} : f32[]\n"
        "%six = Const {6} : f32[]\n%zero = Const {0} : f32[]\n%minus = Const {-10} : f32[]\n%v = Const {9, -7, 10, 4} : f32[2,2,1,1]\n"
        "%wq1 = FakeQuantize(%v, %minus, %ten, %minus, %ten) {levels=255}\n"
        "%xq = FakeQuantize(%x, %l, %h, %l, %h) {levels=256}\n"
        "%a = Convolution(%xq, %wq1) " WINDOW "\n"
        "%aq = FakeQuantize(%a, %zero, %six, %zero, %six) {levels=256}\n", cut[i],
        "%wq2 = FakeQuantize(%w2, %l, %h, %l, %h) {levels=255}\n"
        "%b = Convolution(%c, %wq2) " WINDOW "\nResult(%b)\n", NULL);
      g_autoptr (LptDebug) result = debug (text, NULL, &error);
      const LptDebugLayer *row;

      g_assert_no_error (error);
      row = layer (result, "a");
      g_assert_true (row->replaced);
      g_assert_cmpfloat (result->sqnr, >, 30.0);
      g_assert_cmpfloat (((LptDebugGrid *) row->grids->pdata[0])->clipped, ==, 0.0);
      g_assert_cmpfloat (((LptDebugGrid *) row->grids->pdata[0])->seen_high, ==, 6.0);
      for (guint k = 0; k < row->remedies->len; k++)
        g_assert_null (strstr (((LptDebugRemedy *) row->remedies->pdata[k])->text, "[0, 6] in place of [0, 6]"));
    }
}

/* Without the float model a remark says what is missing; errors are still those of the quantizers. */
static void
test_alone (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptDebug) result = debug (MODEL ("0.4"), NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (result->remarks->len, ==, 1);
  g_assert_cmpstr (((LptDebugLayer *) result->layers->pdata[0])->name, ==, "a");
}

static void
test_refused (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (debug (FLOAT, NULL, &error));
  g_assert_nonnull (strstr (error->message, "not quantized"));
  g_clear_error (&error);
  g_assert_null (debug (MODEL ("2"), MODEL ("2"), &error));
  g_assert_nonnull (strstr (error->message, "quantized, too"));
}

/* Several layers at once: all of them real is the float model. */
static void
test_kept (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = parse (MODEL ("2"));
  g_autoptr (LptGraph) real = parse (FLOAT);
  g_autoptr (LptData) data = samples (graph);
  g_autoptr (LptConfig) config = lpt_config_new ();
  const LptDebugOptions options = { .config = config, .threads = 1 };
  const char *const none[] = { NULL }, *const one[] = { "a", NULL }, *const all[] = { "b", "x", "a", NULL };
  double sqnr = lpt_debug_kept (graph, real, data, none, &options, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (sqnr, <, 60.0);
  g_assert_cmpfloat (lpt_debug_kept (graph, real, data, one, &options, &error), >, sqnr);
  g_assert_cmpfloat (lpt_debug_kept (graph, real, data, all, &options, &error), >, 120.0);
}

/* Values of 16 bits are one layer, and so is a normalization that one of both models has as its ops. */
static void
test_counterparts (void)
{
#define BEHIND(norm, more)                                                                           \
  INPUT "%axes = Const {3} : i64[1]\n" norm more "%b = Convolution(%c, %w2) " WINDOW "\nResult(%b)\n"
#define AS_ONE "%n = MVN(%x, %axes) {eps=0.00001, normalize_variance=true, eps_mode=inside_sqrt}\n"
#define WRITTEN                                                                                      \
  "%m = ReduceMean(%x, %axes) {keep_dims=true}\n%d = Subtract(%x, %m)\n%sq = Multiply(%d, %d)\n"       \
  "%v = ReduceMean(%sq, %axes) {keep_dims=true}\n%e = Const {0.00001} : f32[]\n%s = Add(%v, %e)\n"     \
  "%root = Sqrt(%s)\n%n = Divide(%d, %root)\n"
#define ROUNDED                                                                                      \
  "%l = Const {-4} : f32[]\n%h = Const {4} : f32[]\n%c = FakeQuantize(%n, %l, %h, %l, %h) {levels=65536}\n"
#define REAL "%e = Const {0} : f32[]\n%c = Add(%n, %e)\n"
  g_autoptr (GError) error = NULL;
  g_autoptr (LptDebug) result = debug (BEHIND (WRITTEN, ROUNDED), BEHIND (AS_ONE, REAL), &error);

  g_assert_no_error (error);
  g_assert_cmpuint (result->layers->len, ==, 1);
  g_assert_cmpstr (((LptDebugLayer *) result->layers->pdata[0])->name, ==, "n");
  g_assert_true (((LptDebugLayer *) result->layers->pdata[0])->replaced);
  g_assert_cmpuint (result->remarks->len, ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/debug/folded-clamp", test_folded_clamp);
  g_test_add_func ("/debug/small-range", test_small_range);
  g_test_add_func ("/debug/large-range", test_large_range);
  g_test_add_func ("/debug/weights", test_weights);
  g_test_add_func ("/debug/alone", test_alone);
  g_test_add_func ("/debug/refused", test_refused);
  g_test_add_func ("/debug/kept", test_kept);
  g_test_add_func ("/debug/counterparts", test_counterparts);

  return g_test_run ();
}
