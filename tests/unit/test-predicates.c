/* test-predicates.c - the questions that callbacks of targets ask, of nodes that they are true of and of others
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/support/lpt-predicates.h"

#include <lpt/lpt-text.h>
#include <lpt/lpt.h>

#include <string.h>

/* Codes without and with a zero point, scales for each channel, real data; weights without and with a zero point. */
#define IMAGE \
  "%x = Parameter : u8[1,16,4,4]\n%f = Convert(%x) {destination_type=f32}\n%z = Const {3} : f32[]\n" \
  "%d = Subtract(%f, %z)\n%s = Const {0.5} : f32[]\n%m = Multiply(%f, %s)\n%zm = Multiply(%d, %s)\n" \
  "%s16 = Const {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16} : f32[1,16,1,1]\n%pm = Multiply(%f, %s16)\n" \
  "%r = Parameter : f32[1,16,4,4]\n"
#define WEIGHTS(name, shape, codes) \
  "%" name ".c = Const {" codes "} : i8[" shape "]\n%" name ".f = Convert(%" name ".c) {destination_type=f32}\n" \
  "%" name " = Multiply(%" name ".f, %s)\n"
#define QUANTIZED(low, high, levels) \
  "%wr = Const {" SIXTEEN "} : f32[1,16,1,1]\n%wl = Const {" low "} : f32[]\n%wh = Const {" high "} : f32[]\n" \
  "%wq = FakeQuantize(%wr, %wl, %wh, %wl, %wh) {levels=" levels "}\n"
#define SIXTEEN "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16"
#define PLACE " {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}\n"
#define CONV(x, w) "%y = Convolution(%" x ", %" w ")" PLACE
#define BACK(x, w) "%y = ConvolutionBackpropData(%" x ", %" w ")" PLACE
#define VECTORS(dims) "%v = Parameter : f32[" dims "]\n%u = Parameter : f32[" dims "]\n%c = Const {2} : f32[]\n"

static const struct { const char *predicate, *graph; gboolean yes; } rows[] = {
  { "bias-add", "%y = Add(%m, %s) #{bias}\n", TRUE },
  { "bias-add", "%y = Add(%m, %s)\n", FALSE },
  { "asymmetric-on-data", WEIGHTS ("w", "1,16,1,1", SIXTEEN) CONV ("m", "w"), FALSE },
  { "asymmetric-on-data", WEIGHTS ("w", "1,16,1,1", SIXTEEN) CONV ("zm", "w"), TRUE },
  { "asymmetric-on-weights", WEIGHTS ("w", "1,16,1,1", SIXTEEN) CONV ("zm", "w"), FALSE },
  { "asymmetric-on-weights",
    WEIGHTS ("w", "1,16,1,1", SIXTEEN) "%wd = Subtract(%w.f, %z)\n%wm = Multiply(%wd, %s)\n" CONV ("m", "wm"), TRUE },
  { "asymmetric-on-weights", "%y = Multiply(%zm, %zm)\n", FALSE },
  { "asymmetric-on-weights", QUANTIZED ("-1.27", "1.27", "255") CONV ("m", "wq"), FALSE },
  { "asymmetric-on-weights", QUANTIZED ("0", "2.55", "256") CONV ("m", "wq"), FALSE },
  { "asymmetric-on-weights", QUANTIZED ("-1", "3", "256") CONV ("m", "wq"), TRUE },
  { "asymmetric", WEIGHTS ("w", "1,16,1,1", SIXTEEN) CONV ("m", "w"), FALSE },
  { "asymmetric", WEIGHTS ("w", "1,16,1,1", SIXTEEN) CONV ("zm", "w"), TRUE },
  { "asymmetric",
    WEIGHTS ("w", "1,16,1,1", SIXTEEN) "%wd = Subtract(%w.f, %z)\n%wm = Multiply(%wd, %s)\n" CONV ("m", "wm"), TRUE },
  { "multiply-not-group-convolution", "%y = Multiply(%r, %s)\n", FALSE },
  { "multiply-not-group-convolution", "%y = Multiply(%s, %r)\n", FALSE },
  { "multiply-not-group-convolution", "%y = Multiply(%r, %m)\n", TRUE },
  { "multiply-not-group-convolution", "%y = Add(%r, %m)\n", FALSE },
  { "multiply-not-group-convolution", VECTORS ("1,2,3") "%y = Multiply(%v, %c)\n", TRUE },
  { "multiply-not-group-convolution", VECTORS ("1,2,3,4,5") "%y = Multiply(%v, %c)\n", FALSE },
  { "multiply-not-group-convolution", VECTORS ("1,2,3,4,5,6") "%y = Multiply(%v, %c)\n", TRUE },
  { "dynamic-or-scalar", "%y = Multiply(%f, %s)\n", TRUE },
  { "dynamic-or-scalar", "%y = Multiply(%f, %s16)\n", FALSE },
  { "dynamic-or-scalar", "%y = Relu(%r)\n", FALSE },
  { "dynamic-or-scalar", VECTORS ("1,?,3,4") "%y = Multiply(%v, %u)\n", TRUE },
  { "fusible-parent",
    "%x2 = Parameter : u8[2]\n%f2 = Convert(%x2) {destination_type=f32}\n%y = Multiply(%f2, %s)\n", TRUE },
  { "fusible-parent", "%y = Relu(%r)\n", FALSE },
  { "fusible-parent",
    "%x2 = Parameter : u8[2]\n%f2 = Convert(%x2) {destination_type=f32}\n%y = Multiply(%f2, %s)\nResult(%x2)\n",
    FALSE },
  { "decompression",
    "%c = Const {1} : u8[]\n%k = Convert(%c) {destination_type=f32} #{keep_const}\n%y = Multiply(%r, %k)\n", TRUE },
  { "decompression",
    "%c = Const {1} : u8[]\n%k = Convert(%c) {destination_type=f32} #{keep_const}\n%y = Multiply(%k, %r)\n", TRUE },
  { "decompression",
    "%c = Const {1} : u8[]\n%k = Convert(%c) {destination_type=f32}\n%y = Multiply(%r, %k)\n", FALSE },
  { "decompression",
    "%c = Parameter : u8[1]\n%k = Convert(%c) {destination_type=f32} #{keep_const}\n%y = Multiply(%r, %k)\n", FALSE },
  { "decompression", "%y = Multiply(%r, %s)\n", FALSE },
  { "not-quantized", "%y = Relu(%r)\n", TRUE },
  { "not-quantized", "%y = Relu(%m)\n", FALSE },
  { "per-channel", "%y = Relu(%pm)\n", TRUE },
  { "per-channel", "%y = Relu(%m)\n", FALSE },
  { "per-channel", "%y = Relu(%r)\n", FALSE },
  { "data-is-3d", "%y = Relu(%r)\n", FALSE },
  { "data-is-3d", VECTORS ("1,2,3") "%y = Relu(%v)\n", TRUE },
  { "data-is-3d", "%y = Parameter : f32[1,2,3]\n", FALSE },
  { "not-const-weights-rank-2-3", VECTORS ("2,2") "%k = Const {1, 2} : f32[2,1]\n%y = MatMul(%v, %k)\n", FALSE },
  { "not-const-weights-rank-2-3", VECTORS ("1,2,2") "%k = Const {1, 2} : f32[2,1]\n%y = MatMul(%v, %k)\n", FALSE },
  { "not-const-weights-rank-2-3", VECTORS ("1,1,2,2") "%k = Const {1, 2} : f32[2,1]\n%y = MatMul(%v, %k)\n", TRUE },
  { "not-const-weights-rank-2-3", VECTORS ("2") "%k = Const {1, 2} : f32[2,1]\n%y = MatMul(%v, %k)\n", TRUE },
  { "not-const-weights-rank-2-3", VECTORS ("2,2") "%y = MatMul(%v, %u)\n", TRUE },
  { "not-channel-multiple-4-16", "%w = Parameter : f32[16,16,1,1]\n" BACK ("r", "w"), FALSE },
  { "not-channel-multiple-4-16", "%w = Parameter : f32[16,8,1,1]\n" BACK ("r", "w"), TRUE },
  { "not-channel-multiple-4-16", "%w = Parameter : f32[16,?,1,1]\n" BACK ("r", "w"), TRUE },
  { "not-channel-multiple-4-16", "%w = Parameter : f32[?,16,1,1]\n" BACK ("r", "w"), TRUE },
  { "not-channel-multiple-4-16",
    "%t = Parameter : f32[1,6,4,4]\n%w = Parameter : f32[6,16,1,1]\n" BACK ("t", "w"), TRUE },
};

static void
test_rows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strconcat (IMAGE, rows[i].graph, "Result(%y)\n", NULL);
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
      LptPassCallback predicate = lpt_predicate_find (rows[i].predicate);
      LptNode *node = NULL;

      g_assert_no_error (error);
      g_assert_nonnull (predicate);
      for (guint k = 0; k < graph->nodes->len && node == NULL; k++)
        if (strcmp (((LptNode *) graph->nodes->pdata[k])->name, "y") == 0)
          node = graph->nodes->pdata[k];
      if (predicate (node, NULL) != rows[i].yes)
        g_error ("%s is %s of\n%s", rows[i].predicate, rows[i].yes ? "not true" : "true", rows[i].graph);
    }
  g_assert_null (lpt_predicate_find ("nothing"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predicates/rows", test_rows);
  return g_test_run ();
}
