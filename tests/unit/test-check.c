/* test-check.c - lowered graphs that break restrictions, and what lpt_config_check() says of them
 *
 * tests/broken/NAME.lpt: options ("# set: restrict conv:u8,i4; per-tensor conv; target openvino-cpu"), a graph, a line
 * of dashes, the violations as `lptc check` prints them. The graphs are what lowering made of these options when it
 * looked at "never" alone; a check that lets one pass has become weaker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

#include <string.h>

#define SEPARATOR "-----\n"

static LptConfig *
make_config (const char *options)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) list = g_strsplit (options, ";", 0);
  const char *target = "native";
  LptConfig *config;
  guint i;

  for (i = 0; list[i] != NULL; i++)
    if (g_str_has_prefix (g_strstrip (list[i]), "target "))
      target = list[i] + strlen ("target ");
  config = lpt_config_new_target (target, &error);
  g_assert_no_error (error);
  for (i = 0; list[i] != NULL; i++)
    {
      if (g_str_has_prefix (list[i], "restrict "))
        lpt_config_restrict (config, list[i] + strlen ("restrict "), &error);
      else if (g_str_has_prefix (list[i], "per-tensor "))
        lpt_config_per_tensor (config, list[i] + strlen ("per-tensor "), &error);
      else if (g_str_has_prefix (list[i], "keep "))
        lpt_config_keep (config, list[i] + strlen ("keep "), &error);
      else
        g_assert_true (g_str_has_prefix (list[i], "target "));
      g_assert_no_error (error);
    }

  return config;
}

static void
test_case (gconstpointer path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_autofree char *source = NULL;
  g_autofree char *options = NULL;
  g_autoptr (LptConfig) config = NULL;
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GString) said = g_string_new (NULL);
  const char *split, *set;
  guint i;

  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  split = strstr (text, SEPARATOR);
  set = strstr (text, "# set: ");
  g_assert_true (split != NULL && set != NULL);
  source = g_strndup (text, (gsize) (split - text));
  set += strlen ("# set: ");
  options = g_strndup (set, strcspn (set, "\n"));
  config = make_config (options);
  graph = lpt_graph_from_text (source, -1, path, &error);
  g_assert_no_error (error);
  list = lpt_config_check (config, graph);
  for (i = 0; i < list->len; i++)
    {
      const LptViolation *v = g_ptr_array_index (list, i);

      g_string_append_printf (said, "node \"%s\": %s: %s\n", v->node->name, v->node->info->name, v->what);
    }
  g_assert_cmpstr (said->str, ==, split + strlen (SEPARATOR));
}

/* --- layers by name --- */

static const char two[] =
  "%x = Parameter : f32[1,2,4,4]\n"
  "%l = Const {0} : f32[]\n"
  "%h = Const {2.55} : f32[]\n"
  "%q = FakeQuantize(%x, %l, %h, %l, %h) {levels=256} : f32[1,2,4,4]\n"
  "%a/pool = MaxPool@1(%q) {kernel=[2,2], strides=[1,1]} : f32[1,2,3,3]\n"
  "%b/pool = MaxPool@1(%q) {kernel=[2,2], strides=[1,1]} : f32[1,2,3,3]\n"
  "Result(%a/pool)\n"
  "Result(%b/pool)\n";

/* Types of input 0 of the two pools of `two` after lowering; what lowering wrote keeps @config, too. */
static char *
types (LptConfig *config)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (two, -1, NULL, &error);
  g_autoptr (GPtrArray) left = NULL;
  GString *text = g_string_new (NULL);
  guint i;

  lpt_pipeline_run (graph, config, NULL, NULL, &error);
  g_assert_no_error (error);
  left = lpt_config_check (config, graph);
  g_assert_cmpuint (left->len, ==, 0);
  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      if (node->op == LPT_OP_MAX_POOL)
        g_string_append_printf (text, "%c %s ", node->name[0], lpt_dtype_name (node->in[0].value->dtype));
    }

  return g_string_free (text, FALSE);
}

/* node > op > target; an exact name > a glob; later > earlier. */
static void
test_names (void)
{
  static const struct { const char *options, *types; } cases[] =
  {
    { "restrict node=a/pool", "a f32 b u8 " },
    { "keep a/pool", "a f32 b u8 " },
    { "keep a*", "a f32 b u8 " },
    { "keep ?/pool", "a f32 b f32 " },
    { "restrict max_pool; restrict node=b/pool:u8", "a f32 b u8 " },
    { "restrict node=b/pool:u8; restrict max_pool", "a f32 b u8 " },
    { "keep *pool; restrict node=b/pool:u8", "a f32 b u8 " },
    { "restrict node=b/pool:u8; keep *pool", "a f32 b u8 " },
    { "keep *pool; restrict node=b*:u8|i8", "a f32 b u8 " },
    { "restrict node=*:i8", "a i8 b i8 " },
    { "restrict max_pool; restrict node=b/pool:", "a f32 b u8 " },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (LptConfig) config = make_config (cases[i].options);
      g_autofree char *result = types (config);

      g_test_message ("%s", cases[i].options);
      g_assert_cmpstr (result, ==, cases[i].types);
    }
}

static void
test_unused (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (two, -1, NULL, &error);
  g_autoptr (LptConfig) config = make_config ("keep a/pool; keep c*; restrict node=c/pool:u8; per-tensor node=b/p?ol:0; per-tensor node=d; restrict conv");
  g_autoptr (GPtrArray) unused = lpt_config_unused_names (config, graph);

  g_assert_cmpuint (unused->len, ==, 3);
  g_assert_cmpstr (g_ptr_array_index (unused, 0), ==, "c*");
  g_assert_cmpstr (g_ptr_array_index (unused, 1), ==, "c/pool");
  g_assert_cmpstr (g_ptr_array_index (unused, 2), ==, "d");
}

/* A node of a body has a name, too. */
static void
test_unused_bodies (void)
{
  static const char text[] = "%c = Parameter : boolean[]\n"
                             "%x = Parameter : f32[2]\n"
                             "%y = If(%c, %x) : f32[2] {\n"
                             "  body {\n    in 1 -> 0\n    out 0 <- 0\n"
                             "    %u = Parameter : f32[2]\n    %then = Relu(%u)\n    Result(%then)\n  }\n"
                             "  body {\n    in 1 -> 0\n    out 0 <- 0\n"
                             "    %u = Parameter : f32[2]\n    %else = Tanh(%u)\n    Result(%else)\n  }\n"
                             "}\n"
                             "Result(%y)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptConfig) config = make_config ("keep then; keep e*e; keep nowhere");
  g_autoptr (GPtrArray) unused = NULL;

  g_assert_no_error (error);
  unused = lpt_config_unused_names (config, graph);
  g_assert_cmpuint (unused->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (unused, 0), ==, "nowhere");
}

/* Names may hold colons. */
static void
test_colons (void)
{
  g_autoptr (LptConfig) config = make_config ("restrict node=conv:0; restrict node=conv:1:u8,i8");
  const LptRestriction *first = g_ptr_array_index (config->restrictions, config->restrictions->len - 2);
  const LptRestriction *second = g_ptr_array_index (config->restrictions, config->restrictions->len - 1);

  g_assert_cmpstr (first->node, ==, "conv:0");
  g_assert_true (first->never);
  g_assert_cmpstr (second->node, ==, "conv:1");
  g_assert_cmpuint (second->ports->len, ==, 2);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *folder = g_build_filename (LPT_SOURCE_DIR, "tests", "broken", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  const char *file;

  g_test_init (&argc, &argv, NULL);
  g_assert_nonnull (dir);
  while ((file = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *name = g_strconcat ("/check/", file, NULL);

      g_ptr_array_add (paths, g_build_filename (folder, file, NULL));
      g_test_add_data_func (name, g_ptr_array_index (paths, paths->len - 1), test_case);
    }
  g_test_add_func ("/check/names", test_names);
  g_test_add_func ("/check/unused", test_unused);
  g_test_add_func ("/check/unused-bodies", test_unused_bodies);
  g_test_add_func ("/check/colons", test_colons);

  return g_test_run ();
}
