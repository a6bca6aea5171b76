/* test-target.c - what a target file says, and what is said of one that is wrong
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-config.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt.h>

#include "passes/support/lpt-restricted.h"

#include <string.h>

static LptConfig *
parse (const char *text,
       GError    **error)
{
  return lpt_config_new_text (text, -1, "mine", error);
}

/* One key a row: what a file with it is refused with. */
static void
test_wrong (void)
{
  static const struct { const char *text, *message; } rows[] = {
    { "[]", "mine:1: not a JSON object" },
    { "{\n\"strict\": tru\n}", "mine:2: not a JSON object" },
    { "{\"colour\": 1}", "mine: \"colour\" is not a key of a target" },
    { "{\"strict\": 1}", "mine: \"strict\" must be true or false" },
    { "{\"doc\": 1}", "mine: \"doc\" must be a text" },
    { "{\"base\": \"nobody\"}", "mine: no target is named \"nobody\"" },
    { "{\"restrict\": \"conv\"}", "mine: \"restrict\" must be a list of strings" },
    { "{\"restrict\": [1]}", "mine: \"restrict\" must be a list of strings" },
    { "{\"restrict\": [\"nothing:u8\"]}", "mine: 'nothing:u8': no such op *" },
    { "{\"disable\": [\"nothing\"]}", "mine: 'nothing': no such pass *" },
    { "{\"prepare\": \"pad\"}", "mine: \"prepare\" must be a list of lists of passes" },
    { "{\"prepare\": [\"pad\"]}", "mine: \"prepare\" must be a list of lists of passes" },
    { "{\"cleanup\": [[1]]}", "mine: \"cleanup\" must be a list of lists of passes" },
    { "{\"cleanup\": [[\"nothing\"]]}", "mine: no pass is named \"nothing\"" },
    { "{\"callbacks\": []}", "mine: \"callbacks\" must be an object of lists of predicates" },
    { "{\"callbacks\": {\"pad\": 1}}", "mine: \"pad\" must be a list of predicates" },
    { "{\"callbacks\": {\"pad\": [1]}}", "mine: \"pad\" must be a list of predicates" },
    { "{\"callbacks\": {\"pad\": [\"nothing\"]}}", "mine: 'nothing': no such predicate" },
    { "{\"callbacks\": {\"nothing\": [\"per-channel\"]}}", "mine: 'nothing': no such pass *" },
    { "{\"deq-precision\": \"u8\"}", "mine: \"deq-precision\" must be a real element type" },
    { "{\"deq-precision\": 1}", "mine: \"deq-precision\" must be a real element type" },
    { "{\"default-precisions\": \"u9\"}", "mine: \"default-precisions\" must be a list of element types*" },
    { "{\"default-precisions\": 1}", "mine: \"default-precisions\" must be a list of element types*" },
    { "{\"quantization\": \"mine\"}", "mine: \"quantization\" must be \"litert\" or \"tpu\"" },
    { "{\"quantization\": 1}", "mine: \"quantization\" must be \"litert\" or \"tpu\"" },
    { "{\"requant\": 1}", "mine: \"requant\" must be a requant mode" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptConfig) config = parse (rows[i].text, &error);

      g_assert_null (config);
      g_assert_nonnull (error);
      if (!g_pattern_match_simple (rows[i].message, error->message))
        g_error ("%s: \"%s\" instead of \"%s\"", rows[i].text, error->message, rows[i].message);
    }
}

/* Restrictions as --restrict and --per-tensor have them: what is no op, no version, no rank, no port, no type. */
static void
test_restrictions (void)
{
  static const struct { gboolean granularity; const char *text; gboolean valid; } rows[] = {
    { FALSE, "conv[rank=5]:u8", TRUE },       { FALSE, "conv[rank=x]:u8", FALSE },
    { FALSE, "conv[rank=-1]:u8", FALSE },     { FALSE, "max_pool@8[rank=4]", TRUE },
    { FALSE, "conv[rank=0]:u8", TRUE },       { FALSE, "conv[size=4]:u8", FALSE },  { FALSE, "max_pool@1:u8", TRUE },
    { FALSE, "conv[rank=5:u8", FALSE },       { FALSE, "conv[rank=5]x:u8", FALSE },
    { FALSE, "max_pool[rank=4]@8", TRUE },    { FALSE, "max_pool@0", FALSE },       { FALSE, "max_pool@8x", FALSE },
    { FALSE, "add:0+1=u8|i8", TRUE },         { FALSE, "add:0+x=u8", FALSE },       { FALSE, "add:99=u8", FALSE },
    { FALSE, "add:u9", FALSE },               { FALSE, ":u8", FALSE },              { FALSE, "node=:u8", FALSE },
    { FALSE, "concat:0+1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16=u8", FALSE },
    { TRUE, "conv:0", TRUE },                 { TRUE, "conv", TRUE },               { TRUE, "node=a:0,1", TRUE },
    { TRUE, "conv:x", FALSE },                { TRUE, "conv:32", FALSE },           { TRUE, ":0", FALSE },
    { TRUE, "node=:0", FALSE },               { TRUE, "nothing:0", FALSE },         { TRUE, "conv@x:0", FALSE },
    { TRUE, "conv@1:0", TRUE },               { TRUE, "conv[rank=4]:0", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptConfig) config = lpt_config_new ();
      gboolean ok = rows[i].granularity ? lpt_config_per_tensor (config, rows[i].text, &error)
                                        : lpt_config_restrict (config, rows[i].text, &error);

      if (ok != rows[i].valid || ok != (error == NULL))
        g_error ("\"%s\" is %s", rows[i].text, ok ? "taken" : "refused");
    }
}

static const char *const which_graph =
  "%x = Parameter : f32[1,2,8,8]\n"
  "%v = Parameter : f32[8]\n"
  "%c = Convert(%x) {destination_type=f16}\n"
  "%a1 = MaxPool@1(%x) {kernel=[2,2], strides=[2,2]}\n"
  "%a8 = MaxPool@8(%x) {kernel=[2,2], strides=[2,2]}\n"
  "%n_original = Relu(%v)\n"
  "Result(%c)\nResult(%a1)\nResult(%a8)\nResult(%n_original)\n";
static const struct { const char *node, *restrictions, *best; gint granularity; } which_rows[] =
{
  { "a1", "max_pool:u8", "max_pool:u8", 0 },
  { "a1", "relu:u8", NULL, 0 },
  { "a1", "max_pool@1:u8", "max_pool@1:u8", 0 },
  { "a1", "max_pool@8:u8", NULL, 0 },
  { "a8", "max_pool@1:u8", NULL, 0 },
  { "a8", "max_pool@8:u8", "max_pool@8:u8", 0 },
  { "a8", "max_pool@7:u8", NULL, 0 },
  { "a8", "max_pool@9:u8", NULL, 0 },
  { "a8", "max_pool@14:u8", NULL, 0 },
  { "a1", "max_pool@1:u8 max_pool:i8", "max_pool@1:u8", 0 },
  { "a1", "max_pool:i8 max_pool@1:u8", "max_pool@1:u8", 0 },
  { "a1", "max_pool[rank=4]:u8", "max_pool[rank=4]:u8", 0 },
  { "a1", "max_pool[rank=3]:u8", NULL, 0 },
  { "a1", "max_pool[rank=0]:u8", NULL, 0 },
  { "a1", "max_pool[rank=4]:u8 max_pool:i8", "max_pool[rank=4]:u8", 0 },
  { "a1", "max_pool[rank=4]:u8 max_pool@1:i8", "max_pool[rank=4]:u8", 0 },
  { "a1", "max_pool@1:i8 max_pool[rank=4]:u8", "max_pool[rank=4]:u8", 0 },
  { "a1", "max_pool[rank=4]:u8 max_pool[rank=4]@1:i8", "max_pool[rank=4]@1:i8", 0 },
  { "a1", "max_pool[rank=4]@1:i8 max_pool[rank=4]:u8", "max_pool[rank=4]@1:i8", 0 },
  { "x", "parameter[rank=4]:u8", NULL, 0 },
  { "a1", "max_pool:u8 max_pool:i8", "max_pool:i8", 0 },
  { "a1", "node=a1:u8 max_pool:i8", "node=a1:u8", 0 },
  { "a1", "max_pool@1:i8 node=a1:u8", "node=a1:u8", 0 },
  { "a1", "max_pool:i8 node=a*:u8", "node=a*:u8", 0 },
  { "a1", "node=a1:u8 node=a*:i8", "node=a1:u8", 0 },
  { "a1", "node=a*:i8 node=a1:u8", "node=a1:u8", 0 },
  { "a1", "node=a?:i8 node=a*:u8", "node=a*:u8", 0 },
  { "a1", "node=b*:i8 node=?:u8", NULL, 0 },
  { "a1", "max_pool node=a8", "max_pool", 0 },
  { "n_original", "node=n:u8", "node=n:u8", 0 },
  { "n_original", "node=n_o*:u8", "node=n_o*:u8", 0 },
  { "n_original", "node=?:u8", "node=?:u8", 0 },
  { "c", "node=?:u8", NULL, 0 },      /* conversions are no ops of their own, but by their names */
  { "c", "node=c:u8", "node=c:u8", 0 },
  { "a1", "max_pool:0", "max_pool:0", 1 },
  { "a1", "relu:0", NULL, 1 },
  { "a1", "max_pool@1:0", "max_pool@1:0", 1 },
  { "a1", "max_pool@8:0", NULL, 1 },
  { "a8", "max_pool@1:0", NULL, 1 },
  { "a1", "max_pool:0 max_pool:0,1", "max_pool:0,1", 1 },
  { "a1", "max_pool:0 max_pool@1:1", "max_pool@1:1", 1 },
  { "a1", "max_pool@1:1 max_pool:0", "max_pool@1:1", 1 },
  { "a8", "max_pool:0 max_pool@1:1", "max_pool:0", 1 },
  { "a1", "max_pool@1:0 max_pool@8:1 max_pool@1:1", "max_pool@1:1", 1 },
  { "a1", "max_pool:0 node=a1:1", "node=a1:1", 1 },
  { "a1", "node=a1:1 max_pool:0", "node=a1:1", 1 },
  { "a1", "node=a*:1 max_pool:0", "node=a*:1", 1 },
  { "a1", "node=a1:0 node=a*:1", "node=a1:0", 1 },
  { "a1", "node=a*:1 node=a1:0", "node=a1:0", 1 },
  { "a1", "node=a*:1 node=a?:0", "node=a?:0", 1 },
  { "a1", "node=b:0", NULL, 1 },
};

/* Which of several holds for a node: a name before a glob before an op, and of ops a rank before a version before none;
 * of equal ones the later, which takes the place of the earlier where it is of the same. */
static void
test_which (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (which_graph, -1, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (which_rows); i++)
    {
      g_autoptr (LptConfig) config = lpt_config_new ();
      g_auto (GStrv) texts = g_strsplit (which_rows[i].restrictions, " ", -1);
      LptNode *node = NULL;

      for (guint k = 0; texts[k] != NULL; k++)
        g_assert_true (which_rows[i].granularity ? lpt_config_per_tensor (config, texts[k], &error)
                                           : lpt_config_restrict (config, texts[k], &error));
      for (guint k = 0; k < graph->nodes->len && node == NULL; k++)
        if (strcmp (((LptNode *) graph->nodes->pdata[k])->name, which_rows[i].node) == 0)
          node = graph->nodes->pdata[k];
      if (which_rows[i].granularity)
        {
          const LptGranularityRestriction *best = lpt_config_granularity (config, node);
          g_assert_cmpstr (best != NULL ? best->text : NULL, ==, which_rows[i].best);
        }
      else
        {
          const LptRestriction *best = lpt_config_restriction (config, node);
          g_assert_cmpstr (best != NULL ? best->text : NULL, ==, which_rows[i].best);
        }
    }
}

/* Every key that a target can have, and what it sets. */
static void
test_keys (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptConfig) config = NULL;

  config = parse ("{\"base\": \"none\", \"doc\": \"mine\", \"strict\": false, \"update-precisions\": false,"
                  " \"scaling-mode\": true,"
                  " \"reshape-ignores-per-tensor\": true, \"made-only\": true, \"normalization-keeps-eps\": true,"
                  " \"integer-zero-points\": true, \"deq-precision\": \"f16\", \"default-precisions\": \"i8\","
                  " \"quantization\": \"tpu\", \"requant\": \"tpu\", \"disable\": [\"pad\"],"
                  " \"prepare\": [[\"normalize-quantize\"]],"
                  " \"cleanup\": [[\"fold-convert\", \"fuse-convert\"]], \"restrict\": [\"conv:u8,i8\"],"
                  " \"per-tensor\": [\"conv:0\"], \"callbacks\": {\"pad\": [\"per-channel\"]}}",
                  &error);
  g_assert_no_error (error);
  g_assert_false (config->update_precisions);
  g_assert_true (config->scaling_mode);
  g_assert_true (config->reshape_ignores_per_tensor);
  g_assert_true (config->made_only);
  g_assert_true (config->normalization_keeps_eps);
  g_assert_cmpint (config->deq_precision, ==, LPT_DTYPE_F16);
  g_assert_cmpuint (config->default_precisions.n, ==, 1);
  g_assert_cmpstr (config->requant, ==, "tpu");
  g_assert_true (g_hash_table_contains (config->disabled, "pad"));
  g_assert_cmpuint (config->restrictions->len, ==, 1);
  g_assert_cmpuint (config->granularity->len, ==, 1);
}

static void
test_file (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (lpt_config_new_file ("/nowhere/target.json", &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_IO);
}

/* "node op since until rank: ports=types ..." of the last one; "never" where no ports may be integers. */
static char *
restriction_text (const LptConfig *config)
{
  const LptRestriction *r = g_ptr_array_index (config->restrictions, config->restrictions->len - 1);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s %u %u %d:%s", r->node != NULL ? r->node : lpt_op_info (r->op)->name, r->since,
                          r->until, r->rank, r->never ? " never" : "");
  for (guint i = 0; i < r->ports->len; i++)
    {
      const LptPortTypes *port = &g_array_index (r->ports, LptPortTypes, i);

      for (guint k = 0; k < port->n_ports; k++)
        g_string_append_printf (text, "%c%u", k == 0 ? ' ' : '+', port->ports[k]);
      for (guint k = 0; k < port->types.n; k++)
        g_string_append_printf (text, "%c%s", k == 0 ? '=' : '|', lpt_dtype_name (port->types.v[k]));
    }

  return g_string_free (text, FALSE);
}

static char *
granularity_text (const LptConfig *config)
{
  const LptGranularityRestriction *r = g_ptr_array_index (config->granularity, config->granularity->len - 1);

  return g_strdup_printf ("%s %u %u: %x", r->node != NULL ? r->node : lpt_op_info (r->op)->name, r->since, r->until,
                          r->ports);
}

/* Passes by the names that others have for them. */
static void
test_passes (void)
{
  static const struct { const char *text, *is; } rows[] = {
    { "max-pool", "max-pool" }, { "MaxPool", "max-pool" }, { "MAX_POOL ", "max-pool" },
    { "MaxPoolTransformation", "max-pool" }, { "maxpooltransformation", "max-pool" },
    { "max", NULL }, { "max-pools", NULL }, { "MaxPoolTransformations", NULL }, { "", NULL },
    { "Transformation", NULL }, { "FakeQuantizeDecompositionTransformation", "fake-quantize-decomposition" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const LptPass *pass = lpt_pass_find (rows[i].text);
      g_assert_cmpstr (pass != NULL ? pass->name : NULL, ==, rows[i].is);
    }
}

/* How restrictions are spelled, to the ends of what is allowed. */
static void
test_spelled (void)
{
  static const struct { gboolean (*read) (LptConfig *, const char *, GError **); const char *text, *is; } rows[] = {
    { lpt_config_restrict, "conv:u8|i8,i8", "Convolution 0 0 -1: 0=u8|i8 1=i8" },
    { lpt_config_restrict, "conv:,i8", "Convolution 0 0 -1: 1=i8" },
    { lpt_config_restrict, "conv:", "Convolution 0 0 -1:" },
    { lpt_config_restrict, "conv", "Convolution 0 0 -1: never" },
    { lpt_config_restrict, "conv@4:u8", "Convolution 4 4 -1: 0=u8" },
    { lpt_config_restrict, "conv@1", "Convolution 1 1 -1: never" },
    { lpt_config_restrict, "conv@0", "! a version must be a number from 1 on" },
    { lpt_config_restrict, "conv@10", "Convolution 10 10 -1: never" },
    { lpt_config_restrict, "conv@", "! a version must be a number from 1 on" },
    { lpt_config_restrict, "conv@4a", "! a version must be a number from 1 on" },
    { lpt_config_restrict, "conv[rank=5]:u8", "Convolution 0 0 5: 0=u8" },
    { lpt_config_restrict, "conv[rank=0]", "Convolution 0 0 0: never" },
    { lpt_config_restrict, "conv[rank=5]@4:u8", "Convolution 4 4 5: 0=u8" },
    { lpt_config_restrict, "conv[rank=-1]", "! only [rank=N] may stand in brackets" },
    { lpt_config_restrict, "conv[rank=5", "! only [rank=N] may stand in brackets" },
    { lpt_config_restrict, "conv[rank=5]x", "! only [rank=N] may stand in brackets" },
    { lpt_config_restrict, "conv[size=5]", "! only [rank=N] may stand in brackets" },
    { lpt_config_restrict, "conv: 0 + 1 =u8, 2=i8", "Convolution 0 0 -1: 0+1=u8 2=i8" },
    { lpt_config_restrict, "conv:63=u8", "Convolution 0 0 -1: 63=u8" },
    { lpt_config_restrict, "conv:10=u8", "Convolution 0 0 -1: 10=u8" },
    { lpt_config_restrict, "conv:64=u8", "! not a list of ports" },
    { lpt_config_restrict, "conv:a=u8", "! not a list of ports" },
    { lpt_config_restrict, "conv:=u8", "! not a list of ports" },
    { lpt_config_restrict, "conv:0+1+2+3+4+5+6+7=u8", "Convolution 0 0 -1: 0+1+2+3+4+5+6+7=u8" },
    { lpt_config_restrict, "conv:0+1+2+3+4+5+6+7+8=u8", "! not a list of ports" },
    { lpt_config_restrict, "conv:0=u9", "! not a list of ports" },
    { lpt_config_restrict, "nothing:u8", "! no such op" },
    { lpt_config_restrict, ":u8", "! an op is missing" },
    { lpt_config_restrict, "", "! an op is missing" },
    { lpt_config_restrict, "node=a:u8,i8", "a 0 0 -1: 0=u8 1=i8" },
    { lpt_config_restrict, "node=a:b:u8", "a:b 0 0 -1: 0=u8" },
    { lpt_config_restrict, "node=a:b", "a:b 0 0 -1: never" },
    { lpt_config_restrict, "node=a", "a 0 0 -1: never" },
    { lpt_config_restrict, "node=:u8", "! a name is missing" },
    { lpt_config_restrict, "node=", "! a name is missing" },
    { lpt_config_per_tensor, "conv", "Convolution 0 0: 0" },
    { lpt_config_per_tensor, "conv@1:0", "Convolution 1 1: 1" },
    { lpt_config_per_tensor, "conv:0, 1", "Convolution 0 0: 3" },
    { lpt_config_per_tensor, "conv:10", "Convolution 0 0: 400" },
    { lpt_config_per_tensor, "conv:31", "Convolution 0 0: 80000000" },
    { lpt_config_per_tensor, "conv:32", "! not a list of port numbers" },
    { lpt_config_per_tensor, "conv:a", "! not a list of port numbers" },
    { lpt_config_per_tensor, "conv:0,", "! not a list of port numbers" },
    { lpt_config_per_tensor, "nothing:0", "! no such op" },
    { lpt_config_per_tensor, ":0", "! an op is missing" },
    { lpt_config_per_tensor, "node=a:0", "a 0 0: 1" },
    { lpt_config_per_tensor, "node=a:b:1", "a:b 0 0: 2" },
    { lpt_config_per_tensor, "node=a:b", "a:b 0 0: 0" },
    { lpt_config_per_tensor, "node=:0", "! a name is missing" },
    { lpt_config_per_tensor, "node=", "! a name is missing" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptConfig) config = lpt_config_new ();
      g_autofree char *is = NULL;

      if (!rows[i].read (config, rows[i].text, &error))
        is = g_strconcat ("! ", strstr (error->message, "': ") + 3, NULL);
      else
        is = rows[i].read == lpt_config_restrict ? restriction_text (config) : granularity_text (config);
      if (rows[i].is[0] == '!' ? !g_str_has_prefix (is, rows[i].is) : !g_str_equal (is, rows[i].is))
        g_error ("\"%s\" is \"%s\", not \"%s\"", rows[i].text, is, rows[i].is);
    }
}

/* Where no type of a port is an integer, or no port is named, the op never runs on integers. */
static void
test_never (void)
{
  static const struct { const char *text; gboolean never; } rows[] = {
    { "conv", TRUE },           { "conv:u8", FALSE },          { "conv:f32", TRUE },         { "conv:f32|u8", FALSE },
    { "conv:u8|f32", FALSE },   { "conv:f16|f32", TRUE },      { "conv:u8,f32", TRUE },   { "conv:u8,f32|i8", FALSE },
    { "conv:f32,i8", TRUE },    { "conv:", FALSE },            { "conv:,i8", FALSE },        { "conv:0+1=f32", TRUE },
    { "conv:1=f32|i8", FALSE }, { "node=a", TRUE },            { "node=a:u8", FALSE },       { "node=a:f32", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptConfig) config = lpt_config_new ();

      g_assert_true (lpt_config_restrict (config, rows[i].text, NULL));
      if (lpt_restriction_is_never (g_ptr_array_index (config->restrictions, config->restrictions->len - 1))
          != rows[i].never)
        g_error ("\"%s\" is %snever", rows[i].text, rows[i].never ? "not " : "");
    }
}

/* The later of two for the same op, version, rank or node stands; others stand beside each other. */
static void
test_repeated (void)
{
  static const struct { const char *first, *second; guint n; } rows[] = {
    { "conv:u8", "conv:i8", 1 },
    { "conv:u8", "conv@1:i8", 2 },
    { "conv@1:u8", "conv@2:i8", 2 },
    { "conv@1:u8", "conv@1:i8", 1 },
    { "conv:u8", "conv[rank=4]:i8", 2 },
    { "conv[rank=4]:u8", "conv[rank=4]", 1 },
    { "conv:u8", "matmul:i8", 2 },
    { "node=a:u8", "node=a", 1 },
    { "node=a:u8", "node=b:u8", 2 },
    { "conv:u8", "node=a:i8", 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptConfig) config = lpt_config_new_target ("none", NULL);
      const guint before = config->restrictions->len;
      g_autofree char *is = NULL, *wanted = NULL;
      g_autoptr (LptConfig) alone = lpt_config_new_target ("none", NULL);

      lpt_config_restrict (config, rows[i].first, NULL);
      lpt_config_restrict (config, rows[i].second, NULL);
      lpt_config_restrict (alone, rows[i].second, NULL);
      is = restriction_text (config);
      wanted = restriction_text (alone);
      g_assert_cmpuint (config->restrictions->len, ==, before + rows[i].n);
      g_assert_cmpstr (is, ==, wanted);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/target/wrong", test_wrong);
  g_test_add_func ("/target/restrictions", test_restrictions);
  g_test_add_func ("/target/passes", test_passes);
  g_test_add_func ("/target/spelled", test_spelled);
  g_test_add_func ("/target/repeated", test_repeated);
  g_test_add_func ("/target/never", test_never);
  g_test_add_func ("/target/which", test_which);
  g_test_add_func ("/target/keys", test_keys);
  g_test_add_func ("/target/file", test_file);

  return g_test_run ();
}
