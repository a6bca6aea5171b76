/* test-explain-names.c - the names that an explanation gives of other ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "explain-case.h"

#define POOL " {kernel=[2,2], strides=[1,1], pads_begin=[0,0], pads_end=[0,0]}\n"

/* The FakeQuantize that decides is the one in front, through what moves values, changes their type or scales them. */
static void
test_decided (void)
{
  g_autoptr (GPtrArray) list = explain_for ("native",
                                            "%x = Parameter : f32[1,2,4,4]\n"
                                            QUANTIZED ("q", "x")
                                            "%m = MaxPool(%q)" POOL
                                            "%s = Const {2} : f32[]\n%k = Multiply(%m, %s)\n%n = Subtract(%k, %s)\n"
                                            "%a = MaxPool(%n)" POOL
                                            "%t = Tanh(%q)\n"
                                            "%b = MaxPool(%t)" POOL
                                            "%c = Relu(%x)\n"
                                            "Result(%a)\nResult(%b)\nResult(%c)\n");

  g_assert_cmpstr (find (list, "m")->decided_by, ==, "q");
  g_assert_cmpstr (find (list, "a")->decided_by, ==, "q");
  g_assert_cmpstr (find (list, "t")->decided_by, ==, "q");
  g_assert_cmpstr (find (list, "b")->decided_by, ==, NULL);
  g_assert_cmpstr (find (list, "c")->decided_by, ==, NULL);
}

/* Codes whose parameters lowering changes between two ops are those of the op that the source knows. */
static void
test_known (void)
{
  g_autoptr (GPtrArray) list = explain_for ("litert",
                                            "%x = Parameter : f32[1,2,4,4]\n%z = Parameter : f32[1,2,4,4]\n"
                                            QUANTIZED ("q", "x")
                                            "%l = Const {0} : f32[]\n%h = Const {2.55} : f32[]\n"
                                            "%p = FakeQuantize(%z, %l, %h, %l, %h) {levels=256}\n"
                                            "%k = Concat(%q, %p) {axis=1}\n"
                                            "%m = MaxPool(%k)" POOL
                                            "Result(%m)\n");

  g_assert_cmpstr (find (list, "m")->reason, ==, "runs on the i8 integers of \"k\"");
}

/* One op may run in several types: lowering makes one for readers of other codes, or pieces of wide data. Its row has
 * the type of one, the reason names all of them. */
static void
test_several (void)
{
  g_autoptr (GPtrArray) list = explain_for ("native",
                                            "%x = Parameter : f32[1,2,4,4]\n"
                                            "%l = Const {0} : f32[]\n%h = Const {5.1} : f32[]\n"
                                            "%q = FakeQuantize(%x, %l, %h, %l, %h) {levels=256}\n"
                                            "%c = Clamp(%q) {min=-1, max=3}\n"
                                            "%m = MaxPool(%c)" POOL
                                            "%a = Const {-2.56} : f32[]\n%b = Const {2.54} : f32[]\n"
                                            "%s = FakeQuantize(%c, %a, %b, %a, %b) {levels=256}\n"
                                            "%v = Const {0.5, -0.25, 1, 1} : f32[2,2,1,1]\n"
                                            "%wl = Const {-1.27} : f32[]\n%wh = Const {1.27} : f32[]\n"
                                            "%w = FakeQuantize(%v, %wl, %wh, %wl, %wh) {levels=255}\n"
                                            "%k = Convolution(%s, %w) {strides=[1,1], pads_begin=[0,0], "
                                            "pads_end=[0,0], dilations=[1,1]}\n"
                                            "Result(%m)\nResult(%k)\n");
  const LptExplanation *c = find (list, "c");

  g_assert_true (c->precision == LPT_DTYPE_U8 || c->precision == LPT_DTYPE_I8);
  g_assert_nonnull (strstr (c->reason, "the u8 integers of "));
  g_assert_nonnull (strstr (c->reason, "the i8 integers of "));
  g_assert_cmpstr (c->why->code, ==, "runs-on-codes");
}

/* A quantizer whose codes are read, and which no pass could leave out, makes nothing real: the weights do. */
static void
test_blame (void)
{
  g_autoptr (GPtrArray) list = explain_for ("native",
                                            "%x = Parameter : f32[1,2,4,4]\n"
                                            "%q = Quantize(%x) : u8[1,2,4,4] q{scale=0.01, zp=128}\n"
                                            "%d = Dequantize(%q) : f32[1,2,4,4]\n"
                                            "%w = Const {0.51, 1.237, -1, 3.3} : f32[2,2,1,1]\n"
                                            "%c = Convolution(%d, %w) {strides=[1,1], pads_begin=[0,0], "
                                            "pads_end=[0,0], dilations=[1,1]}\n"
                                            "Result(%c)\n");
  const LptExplanation *c = find (list, "c");

  g_assert_cmpstr (c->real_from, ==, NULL);
  g_assert_cmpstr (c->reason, ==, "no quantization on its weights; no quantization on input 1");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/explain-names/decided", test_decided);
  g_test_add_func ("/explain-names/known", test_known);
  g_test_add_func ("/explain-names/blame", test_blame);
  g_test_add_func ("/explain-names/several", test_several);

  return g_test_run ();
}
