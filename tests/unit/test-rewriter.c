/* test-rewriter.c - what comes of rewrites that do not fit, and what only passes outside of the library call
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-dequant.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt.h>

#include "passes/core/lpt-rewriter.h"
#include "passes/lower/unlower.h"
#include "passes/support/lpt-absorb.h"

#include <string.h>

static const char source[] =
  "%x = Parameter : f32[1,3,4]\n"
  "%r = Relu(%x)\n"
  "%t = Tanh(%r)\n"
  "Result(%t)\n";

static LptGraph *
parse (void)
{
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (source, -1, NULL, &error);

  g_assert_no_error (error);

  return graph;
}

/* [1,3,4] - [5,1]: does not broadcast. The callback goes on, and builds upon it. */
static gboolean
subtract (LptRewriter *rw,
          LptNode     *node)
{
  LptShape shape = lpt_shape_make (3, (const gint64[]) { 1, 5, 1 });
  LptValue *in[2] = { lpt_node_in (node, 0),
                      lpt_rewriter_const (rw, "c", lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL)) };
  LptNode *fresh = lpt_rewriter_add (rw, LPT_OP_SUBTRACT, "misfit", 2, in);
  LptValue *value = lpt_node_out (fresh);

  fresh = lpt_rewriter_add (rw, LPT_OP_RELU, "behind", 1, &value);
  lpt_rewriter_replace (rw, lpt_node_out (node), lpt_node_out (fresh), NULL);
  lpt_rewriter_visit (rw, fresh);

  return TRUE;
}

static gboolean
no_memory (LptRewriter *rw,
           LptNode     *node)
{
  LptValue *in[2] = { lpt_node_in (node, 0), lpt_rewriter_const (rw, "c", NULL) };

  lpt_rewriter_replace (rw, lpt_node_out (node), lpt_node_out (lpt_rewriter_add (rw, LPT_OP_ADD, "sum", 2, in)), NULL);

  return TRUE;
}

static gboolean
whole (LptRewriter *rw,
       LptGraph    *graph,
       GError     **error)
{
  subtract (rw, lpt_graph_find (graph, "r"));

  return TRUE;
}

static const LptPass misfit = { .name = "misfit", .doc = "", .stage = LPT_STAGE_PROPAGATE, .roots = LPT_ROOTS (LPT_OP_RELU),
                                .rewrite = subtract };
static const LptPass misfit_whole = { .name = "misfit-whole", .doc = "", .stage = LPT_STAGE_MARKUP, .run = whole };
static gboolean
refuse (LptRewriter *rw,
        LptGraph    *graph,
        GError     **error)
{
  g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "nothing for it");

  return FALSE;
}

static const LptPass refuses = { .name = "refuses", .doc = "", .stage = LPT_STAGE_MARKUP, .run = refuse };
static const LptPass starved = { .name = "starved", .doc = "", .stage = LPT_STAGE_CLEANUP, .roots = LPT_ROOTS (LPT_OP_TANH),
                                 .rewrite = no_memory };

static void
check_error (const LptPass *pass,
             LptError       code,
             const char    *message)
{
  g_autoptr (LptGraph) graph = parse ();
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (config->extra, (gpointer) pass);
  g_assert_false (lpt_pipeline_run (graph, config, NULL, NULL, &error));
  g_assert_error (error, LPT_ERROR, (gint) code);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_misfit (void)
{
  check_error (&misfit, LPT_ERROR_INVALID,
               "pass misfit: node \"r\": the rewrite does not fit: node \"misfit\": Subtract: inputs [1,3,4] and "
               "[1,5,1] do not broadcast");
  check_error (&misfit_whole, LPT_ERROR_INVALID,
               "pass misfit-whole: the rewrite does not fit: node \"misfit\": Subtract: inputs [1,3,4] and [1,5,1] do "
               "not broadcast");
}

static void
test_refused (void)
{
  check_error (&refuses, LPT_ERROR_UNSUPPORTED, "pass refuses: nothing for it");
  check_error (&starved, LPT_ERROR_MEMORY, "pass starved: node \"t\": no memory for the constant \"c\"");
}

/* What a mistaken pass joined to a circle has no order: the next pass says so. */
static void
test_cycle (void)
{
  const LptPass *const group[] = { &misfit, NULL };
  g_autoptr (LptGraph) graph = parse ();
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GError) error = NULL;

  lpt_node_set_input (lpt_graph_find (graph, "r"), 0, lpt_node_out (lpt_graph_find (graph, "t")));
  g_assert_false (lpt_pipeline_run_passes (graph, config, group, NULL, NULL, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "cycle"));
}

/* What makes an output takes its name, and who had it is told apart; what makes two keeps that of the first; a name
 * that a parameter or another output has stays there. */
static void
test_output_names (void)
{
  static const struct { const char *before, *after; } rows[] = {
    { "%a = Relu(%x)\n%b = Tanh(%a)\nResult(%b) {output=\"a\"}\n",
      "%a_original = Relu(%x) : f32[2]\n%a = Tanh(%a_original) : f32[2]\nResult(%a)\n" },
    { "%a = Relu(%x)\nResult(%a) {output=\"z\"}\n", "%z = Relu(%x) : f32[2]\nResult(%z)\n" },
    { "%a = Relu(%x)\nResult(%a)\nResult(%a) {output=\"z\"}\n",
      "%a = Relu(%x) : f32[2]\nResult(%a)\nResult(%a) {output=\"z\"}\n" },
    { "%a = Relu(%x)\nResult(%a) {output=\"z\"}\nResult(%a)\n",
      "%a = Relu(%x) : f32[2]\nResult(%a) {output=\"z\"}\nResult(%a)\n" },
    { "%a = Relu(%x)\nResult(%a) {output=\"y\"}\nResult(%a) {output=\"z\"}\n",
      "%y = Relu(%x) : f32[2]\nResult(%y)\nResult(%y) {output=\"z\"}\n" },
    { "%a = Relu(%x)\nResult(%x) {output=\"z\"}\nResult(%a) {output=\"x\"}\n",
      "%a = Relu(%x) : f32[2]\nResult(%x) {output=\"z\"}\nResult(%a) {output=\"x\"}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = g_strconcat ("%x = Parameter : f32[2]\n", rows[i].before, NULL), *after = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);

      g_assert_no_error (error);
      lpt_name_outputs (graph);
      after = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
      g_assert_cmpstr (after + strlen ("%x = Parameter : f32[2]\n"), ==, rows[i].after);
    }
}

static gboolean
merge (LptRewriter *rw,
       LptNode     *node)
{
  LptNode *left = lpt_dequant_merge_multiplies (rw, node);

  if (left != node)
    lpt_rewriter_visit (rw, left);

  return left != node;
}

static const LptPass merges = { .name = "merges", .doc = "", .stage = LPT_STAGE_CLEANUP,
                                .roots = LPT_ROOTS (LPT_OP_MULTIPLY), .rewrite = merge };

/* Products of constants are one constant, a single number where all are equal; what others read stays, and a factor in
 * front is none. */
static void
test_merge (void)
{
  const LptPass *const group[] = { &merges, NULL };
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("%x = Parameter : f32[1,2,4]\n"
                                                    "%two = Const {2, 3} : f32[1,2,1]\n"
                                                    "%half = Const {0.5} : f32[]\n"
                                                    "%a = Multiply(%x, %two)\n"
                                                    "%b = Multiply(%a, %half)\n"
                                                    "%six = Const {3, 2} : f32[1,2,1]\n"
                                                    "%c = Multiply(%b, %six)\n"
                                                    "%d = Tanh(%c)\n"
                                                    "%e = Multiply(%d, %two)\n"
                                                    "%f = Multiply(%half, %e)\n"
                                                    "%g = Multiply(%f, %half)\n"
                                                    "%h = Tanh(%f)\n"
                                                    "Result(%g)\n"
                                                    "Result(%h)\n", -1, NULL, &error);

  g_assert_no_error (error);
  lpt_pipeline_run_passes (graph, config, group, NULL, NULL, &error);
  g_assert_no_error (error);
  lpt_graph_clear_marks (graph);
  text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (text, ==,
                   "%x = Parameter : f32[1,2,4]\n"
                   "%two = Const {2, 3} : f32[1,2,1]\n"
                   "%half = Const {0.5} : f32[]\n"
                   "%c/Constant = Const {3} : f32[]\n"
                   "%c = Multiply(%x, %c/Constant) #{dequantization, lpt_made} : f32[1,2,4]\n"
                   "%d = Tanh(%c) : f32[1,2,4]\n"
                   "%e = Multiply(%d, %two) : f32[1,2,4]\n"
                   "%f = Multiply(%half, %e) : f32[1,2,4]\n"
                   "%g = Multiply(%f, %half) : f32[1,2,4]\n"
                   "%h = Tanh(%f) : f32[1,2,4]\n"
                   "Result(%g)\n"
                   "Result(%h)\n");
}

/* What carries quantization: pairs, codes in few bits behind a Convert, values with parameters, bounded roundings;
 * in a body, too. */
static void
test_is_quantized (void)
{
  static const struct { const char *nodes; gboolean yes; } rows[] = {
    { "%y = Relu(%x)\n", FALSE },
    { "%l = Const {0} : f32[]\n%h = Const {1} : f32[]\n%y = FakeQuantize(%x, %l, %h, %l, %h) {levels=256}\n", TRUE },
    { "%q = Quantize(%x) : u8[2] q{scale=1}\n%y = Dequantize(%q)\n", TRUE },
    { "%w = Const {1, 2} : i8[2]\n%c = Convert(%w) {destination_type=f32}\n%y = Add(%x, %c)\n", TRUE },
    { "%w = Const {1, 2} : u4[2]\n%c = Convert(%w) {destination_type=f16}\n%d = Convert(%c) {destination_type=f32}\n"
      "%y = Add(%x, %d)\n", TRUE },
    { "%w = Const {1, 2} : i16[2]\n%c = Convert(%w) {destination_type=f32}\n%y = Add(%x, %c)\n", FALSE },
    { "%w = Const {1, 2} : f16[2]\n%c = Convert(%w) {destination_type=f32}\n%y = Add(%x, %c)\n", FALSE },
    { "%w = Const {1, 2} : i8[2]\n%c = Convert(%w) {destination_type=i32}\n%y = Convert(%c) {destination_type=f32}\n",
      FALSE },
    { "%p = Parameter : i8[2]\n%c = Convert(%p) {destination_type=f32}\n%y = Add(%x, %c)\n", FALSE },
    { "%p = Parameter : i8[2] q{scale=0.5}\n%y = Relu(%p) : i8[2] q{scale=0.5}\n", TRUE },
    { "%m = Const {0.5} : f32[]\n%d = Divide(%x, %m)\n%r = Round(%d)\n%c = Clamp(%r) {min=-128, max=127}\n"
      "%y = Multiply(%c, %m)\n", TRUE },
    { "%m = Const {0.5} : f32[]\n%d = Divide(%x, %m)\n%r = Round(%d)\n"
      "%y = Multiply(%r, %m)\n", FALSE },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      const char *nodes = rows[i / 2].nodes;
      g_autofree char *text =
        i % 2 == 0 ? g_strconcat ("%x = Parameter : f32[2]\n", nodes, "Result(%y)\n", NULL)
                   : g_strconcat ("%n = Const {3} : i64[]\n%go = Const {true} : boolean[]\n%i = Parameter : f32[2]\n"
                                  "%o = Loop(%n, %go, %i) : f32[?,2] {\n  body {\n    in 2 -> 0\n"
                                  "    out _ <- 0 condition\n    out 0 <- 1 axis=0\n%x = Parameter : f32[2]\n"
                                  "%t = Const {true} : boolean[]\n", nodes,
                                  "%z = Convert(%y) {destination_type=f32}\n%s = Const {1, 2} : i64[2]\n"
                                  "%u = Reshape(%z, %s)\nResult(%t)\nResult(%u)\n  }\n}\nResult(%o)\n", NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);

      g_assert_no_error (error);
      if (lpt_graph_is_quantized (graph) != rows[i / 2].yes)
        g_error ("it is %squantized:\n%s", rows[i / 2].yes ? "" : "not ", text);
    }
}

/* A bit of what passes look for, lowered or not, and two ops that read each other. */
static LptGraph *
parse_circle (gboolean lowered)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strconcat (
    lowered ? "graph {lowered=true}\n" : "",
    "%x = Parameter : f32[1,2,2,2]\n%q = Quantize(%x) : i8[1,2,2,2] q{scale=0.5}\n%d = Dequantize(%q)\n"
    "%l = Const {-1} : f32[]\n%h = Const {1} : f32[]\n%f = FakeQuantize(%d, %l, %h, %l, %h) {levels=256}\n"
    "%k = Concat(%f, %f) {axis=1}\n%w = Const {1, 2, 3, 4} : i8[1,4,1,1]\n"
    "%c = Convert(%w) {destination_type=f32}\n%m = Multiply(%c, %h)\n"
    "%v = Convolution(%k, %m) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}\n"
    "%n = DynamicQuantize(%x) : u8[1,2,2,2] q{scale=1}, f32[], u8[] q{scale=1}\n%e = Dequantize(%n)\n"
    "%a = Relu(%x)\n%b = Tanh(%a)\nResult(%v)\nResult(%e)\nResult(%b)\n", NULL);
  LptGraph *graph = lpt_graph_from_text (text, -1, NULL, &error);

  g_assert_no_error (error);
  lpt_node_set_input (lpt_graph_find (graph, "a"), 0, lpt_node_out (lpt_graph_find (graph, "b")));

  return graph;
}

/* A graph in a circle, which no reader makes but a pass might: whoever orders it says so, and nobody hides it. */
static void
test_circle (void)
{
  static const char *const targets[] = { "native", "litert" };
  guint refused = 0;

  for (guint t = 0; t < 2 * G_N_ELEMENTS (targets); t++)
    for (const LptPass *const *pass = lpt_passes (); *pass != NULL; pass++)
      {
        const LptPass *one[] = { *pass, NULL };
        g_autoptr (GError) error = NULL;
        g_autoptr (LptGraph) graph = parse_circle (t % 2 == 1);
        g_autoptr (LptConfig) config = lpt_config_new_target (targets[t / 2], NULL);
        gboolean ok;

        g_assert_true (lpt_config_restrict (config, "tanh", NULL));
        config->validate = FALSE;
        ok = lpt_pipeline_run_passes (graph, config, one, NULL, NULL, &error);
        if (ok != (error == NULL) || (!ok && strstr (error->message, "cycle") == NULL))
          g_error ("%s: %s", (*pass)->name, ok ? "an error, and it is none" : error->message);
        refused += !ok;
      }
  g_assert_cmpuint (refused, >, 0);
  for (guint what = 0; what < 2; what++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = parse_circle (FALSE);

      g_assert_false (what == 0 ? lpt_absorb (graph, LPT_ABSORB_ALL, &error)
                                : lpt_graph_unlower_refused (graph, &error));
      g_assert_nonnull (strstr (error->message, "cycle"));
    }
}

/* How often a pass was tried, changed something and declined. */
static void
test_stats (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ("%x = Parameter : f32[2]\n"
                                                    "%c = Const {1} : f32[]\n"
                                                    "%y = Parameter : f32[2]\n"
                                                    "%a = Maximum(%x, %c)\n"
                                                    "%b = Minimum(%a, %c)\n"
                                                    "%d = Maximum(%b, %y)\n"
                                                    "Result(%d)\n", -1, NULL, &error);
  g_autoptr (LptConfig) config = lpt_config_new ();
  g_autoptr (LptReport) report = lpt_report_new ();
  const LptPass *const passes[] = { lpt_pass_find ("convert-min-max"), NULL };
  LptPassStats *stats;

  g_assert_no_error (error);
  g_assert_true (lpt_pipeline_run_passes (graph, config, passes, report, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (report->stats->len, ==, 1);
  stats = &g_array_index (report->stats, LptPassStats, 0);
  g_assert_cmpuint (stats->tried, ==, 3);
  g_assert_cmpuint (stats->changed, ==, 2);
  g_assert_cmpuint (stats->declined, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rewriter/misfit", test_misfit);
  g_test_add_func ("/rewriter/refused", test_refused);
  g_test_add_func ("/rewriter/cycle", test_cycle);
  g_test_add_func ("/rewriter/circle", test_circle);
  g_test_add_func ("/rewriter/is-quantized", test_is_quantized);
  g_test_add_func ("/rewriter/output-names", test_output_names);
  g_test_add_func ("/rewriter/merge", test_merge);
  g_test_add_func ("/rewriter/stats", test_stats);

  return g_test_run ();
}
