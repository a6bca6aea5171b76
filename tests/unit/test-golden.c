/* test-golden.c - runs passes on small graphs and compares the printed results
 *
 * tests/golden/<pass>/<case>.lpt:
 *
 *     # What the case shows.
 *     # run: markup; fake-quantize-decomposition     groups of passes: "a + b" is one sweep, "markup" all markup passes
 *     # target: none                                 default: none with R21's switches off
 *     # set: no-update-precisions; strict; restrict conv:u8,i8; per-tensor conv:0
 *     <graph>
 *     -----
 *     <graph, or the word unchanged>
 *     # remark: NODE: REASON                         of the folder's pass
 *
 * A plain comparison of canonical text. LPT_TEST_UPDATE=1 rewrites the second part. The graph is validated after
 * every pass, a rewrite that says it changed the graph is held to it, and the result printed, parsed and printed again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

#define SEPARATOR "-----\n"

/* The rest of the header line "# KEY: ...", or NULL (transfer full). */
static char *
header (const char *text,
        const char *key)
{
  g_autofree char *start = g_strdup_printf ("# %s:", key);
  const char *at = strstr (text, start);
  const char *end;

  if (at == NULL)
    return NULL;
  at += strlen (start);
  end = strchr (at, '\n');

  return g_strstrip (g_strndup (at, (gsize) (end - at)));
}

static void
set_option (LptConfig  *config,
            const char *option)
{
  g_autoptr (GError) error = NULL;

  if (strcmp (option, "dynamic") == 0)
    config->dynamic = TRUE;
  else if (strcmp (option, "no-update-precisions") == 0)
    config->update_precisions = FALSE;
  else if (strcmp (option, "scaling-mode") == 0)
    config->scaling_mode = TRUE;
  else if (strcmp (option, "reshape-ignores-per-tensor") == 0)
    config->reshape_ignores_per_tensor = TRUE;
  else if (strcmp (option, "normalization-keeps-eps") == 0)
    config->normalization_keeps_eps = TRUE;
  else if (strcmp (option, "deq-precision f16") == 0)
    config->deq_precision = LPT_DTYPE_F16;
  else if (strcmp (option, "strict") == 0)
    config->strict = TRUE;
  else if (strcmp (option, "made-only") == 0)
    config->made_only = TRUE;
  else if (g_str_has_prefix (option, "restrict "))
    lpt_config_restrict (config, option + strlen ("restrict "), &error);
  else if (g_str_has_prefix (option, "per-tensor "))
    lpt_config_per_tensor (config, option + strlen ("per-tensor "), &error);
  else
    g_error ("unknown option \"%s\"", option);
  g_assert_no_error (error);
}

static LptConfig *
make_config (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *target = header (text, "target");
  g_autofree char *options = header (text, "set");
  LptConfig *config = lpt_config_new_target (target != NULL ? target : "none", &error);
  guint i;

  g_assert_no_error (error);
  if (target == NULL)
    {
      g_hash_table_remove_all (config->disabled);
      config->made_only = FALSE;
      config->normalization_keeps_eps = FALSE;
    }
  config->validate = TRUE;
  if (options != NULL)
    {
      g_auto (GStrv) list = g_strsplit (options, ";", 0);

      for (i = 0; list[i] != NULL; i++)
        set_option (config, g_strstrip (list[i]));
    }

  return config;
}

/* The text behind the last change that was reported, and how many were. */
typedef struct
{
  char *last;
  guint n;
} Change;

static void
change_clear (Change *change)
{
  g_free (change->last);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Change, change_clear)

/* A pass that says it changed the graph did: else sweeps go on for nothing, and its count is wrong. fit-restrictions
 * goes over every graph of its target as a whole and always says so. One that says nothing left it as it was. */
static gboolean
after_change (const LptPass *pass,
              LptGraph      *graph,
              LptNode       *node,
              gpointer       data,
              GError       **error)
{
  Change *change = data;
  char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);

  if (strcmp (text, change->last) == 0 && strcmp (pass->name, "fit-restrictions") != 0)
    {
      g_free (text);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s says that it changed \"%s\", and the graph is as before",
                   pass->name, node != NULL ? node->name : "the graph");
      return FALSE;
    }
  g_free (change->last);
  change->last = text;
  change->n++;

  return TRUE;
}

/* Without marks, which a pass may leave where it declines. */
static char *
without_marks (LptGraph *graph)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);

  lpt_graph_clear_marks (copy);
  lpt_graph_sweep (copy);
  return lpt_graph_to_text (copy, LPT_TEXT_DEFAULT);
}

static void
run_group (LptGraph        *graph,
           const LptConfig *config,
           const char      *names,
           LptReport       *report)
{
  g_autoptr (GError) error = NULL;
  g_auto (Change) change = { lpt_graph_to_text (graph, LPT_TEXT_DEFAULT), 0 };
  g_autofree char *before = without_marks (graph);
  g_autofree char *now = NULL;
  const LptObserver observer = { after_change, &change };
  g_autoptr (GPtrArray) group = g_ptr_array_new ();
  g_auto (GStrv) list = g_strsplit (names, "+", 0);
  guint i;

  if (strcmp (names, "markup") == 0)
    {
      const LptPass *const *pass;

      for (pass = lpt_passes (); *pass != NULL; pass++)
        {
          const LptPass *one[] = { *pass, NULL };

          if ((*pass)->stage == LPT_STAGE_MARKUP)
            lpt_pipeline_run_passes (graph, config, one, report, &observer, &error);
          g_assert_no_error (error);
        }
      return;
    }
  for (i = 0; list[i] != NULL; i++)
    {
      const LptPass *pass = lpt_pass_find (g_strstrip (list[i]));

      if (pass == NULL)
        g_error ("no pass is called \"%s\"", list[i]);
      g_ptr_array_add (group, (gpointer) pass);
    }
  g_ptr_array_add (group, NULL);
  lpt_pipeline_run_passes (graph, config, (const LptPass *const *) group->pdata, report, &observer, &error);
  g_assert_no_error (error);
  now = without_marks (graph);
  if (change.n == 0 && strcmp (now, before) != 0)
    g_error ("%s changed the graph without saying so:\n%s", names, now);
}

static void
run_all (LptGraph        *graph,
         const LptConfig *config,
         const char      *run,
         LptReport       *report)
{
  g_auto (GStrv) groups = g_strsplit (run, ";", 0);
  guint i;

  for (i = 0; groups[i] != NULL; i++)
    run_group (graph, config, g_strstrip (groups[i]), report);
}

static char *
print (LptGraph   *graph,
       const char *pass)
{
  const LptPass *row = lpt_pass_find (pass);

  if (row != NULL && row->stage != LPT_STAGE_MARKUP)
    lpt_graph_clear_marks (graph);

  return lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
}

/* Remarks of @pass, one line each, without repeats. */
static char *
remarks (const LptReport *report,
         const char      *pass)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < report->remarks->len; i++)
    {
      const LptRemark *remark = g_ptr_array_index (report->remarks, i);
      char *line = g_strdup_printf ("# remark: %s: %s\n", remark->node, remark->reason);

      if (strcmp (remark->pass->name, pass) != 0 || !g_hash_table_add (seen, line))
        {
          if (strcmp (remark->pass->name, pass) != 0)
            g_free (line);
          continue;
        }
      g_string_append (text, line);
    }

  return g_string_free (text, FALSE);
}

static guint64
count_changes (const LptReport *report)
{
  guint64 n = 0;
  guint i;

  for (i = 0; i < report->stats->len; i++)
    n += g_array_index (report->stats, LptPassStats, i).changed;

  return n;
}

static void
test_case (gconstpointer data)
{
  const char *path = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *pass = g_path_get_basename (folder);
  g_autofree char *source = NULL;
  g_autofree char *before = NULL, *swept = NULL;
  g_autofree char *after = NULL;
  g_autofree char *said = NULL;
  g_autofree char *result = NULL;
  g_autofree char *run = NULL;
  g_autofree char *again = NULL;
  g_autoptr (LptConfig) config = NULL;
  g_autoptr (LptReport) report = lpt_report_new ();
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (LptGraph) given = NULL;
  g_autoptr (LptGraph) parsed = NULL;
  const char *split;

  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  split = strstr (text, SEPARATOR);
  source = split != NULL ? g_strndup (text, (gsize) (split - text)) : g_strdup (text);
  run = header (source, "run");
  if (run == NULL)
    run = g_strdup (pass);
  config = make_config (source);
  if (lpt_pass_find (pass) != NULL && lpt_pass_find (pass)->stage > LPT_STAGE_RAISE &&
      lpt_pass_find (pass)->stage < LPT_STAGE_LOWER)
    config->until = LPT_STAGE_CLEANUP;
  graph = lpt_graph_from_text (source, -1, path, &error);
  g_assert_no_error (error);
  before = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  given = lpt_graph_copy (graph);

  run_all (graph, config, run, report);
  after = print (graph, pass);
  said = remarks (report, pass);
  lpt_graph_sweep (given);
  swept = print (given, pass);
  /* Nor does it change the graph and keep that to itself: sweeps would end too early. Marks alone are none. */
  if (strcmp (before, after) != 0 && strcmp (swept, after) != 0 &&
      (lpt_pass_find (pass) == NULL || lpt_pass_find (pass)->stage != LPT_STAGE_MARKUP))
    g_assert_cmpuint (count_changes (report), >, 0);
  result = g_strconcat (strcmp (before, after) == 0 ? "unchanged\n" : after, said, NULL);
  if (g_getenv ("LPT_TEST_UPDATE") != NULL)
    {
      g_autofree char *whole = g_strconcat (source, SEPARATOR, result, NULL);

      g_assert_true (g_file_set_contents (path, whole, -1, &error));
    }
  else
    g_assert_cmpstr (result, ==, split != NULL ? split + strlen (SEPARATOR) : "");

  parsed = lpt_graph_from_text (after, -1, path, &error);
  g_assert_no_error (error);
  again = lpt_graph_to_text (parsed, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (again, ==, after);
}

/* Every pass has a folder. */
static void
test_complete (void)
{
  const LptPass *const *pass;

  for (pass = lpt_passes (); *pass != NULL; pass++)
    {
      g_autofree char *folder = g_build_filename (LPT_SOURCE_DIR, "tests", "golden", (*pass)->name, NULL);

      if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
        {
          g_test_message ("no golden files for pass %s: put graphs into tests/golden/%s/ (CONTRIBUTING.md, \"A pass\")",
                          (*pass)->name, (*pass)->name);
          g_test_fail ();
        }
    }
}

/* Every rule of lowering has a case that is named after it, with hyphens. */
static void
test_lower_rules (void)
{
  static const char *const rules[] =
  {
#define LPT_LOWER(OP, rule) #rule,
#include "passes/lower/lower-rules.def"
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_autofree char *file = g_strdelimit (g_strconcat (rules[i], ".lpt", NULL), "_", '-');
      g_autofree char *path = g_build_filename (LPT_SOURCE_DIR, "tests", "golden", "lower", file, NULL);

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        {
          g_test_message ("no golden file for the lowering rule %s: put a graph into %s (CONTRIBUTING.md, "
                          "\"A lowering rule\")",
                          rules[i], path + strlen (LPT_SOURCE_DIR "/"));
          g_test_fail ();
        }
    }
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static GPtrArray *
list_folder (const char *path)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);

  return names;
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *root = g_build_filename (LPT_SOURCE_DIR, "tests", "golden", NULL);
  g_autoptr (GPtrArray) folders = NULL;
  guint i, k;

  g_test_init (&argc, &argv, NULL);
  folders = list_folder (root);
  for (i = 0; i < folders->len; i++)
    {
      const char *folder = g_ptr_array_index (folders, i);
      g_autofree char *path = g_build_filename (root, folder, NULL);
      g_autoptr (GPtrArray) files = list_folder (path);

      for (k = 0; k < files->len; k++)
        {
          const char *file = g_ptr_array_index (files, k);
          g_autofree char *name = g_strdup_printf ("/golden/%s/%.*s", folder, (int) strcspn (file, "."), file);

          if (g_str_has_suffix (file, ".lpt"))
            g_test_add_data_func_full (name, g_build_filename (path, file, NULL), test_case, g_free);
        }
    }
  g_test_add_func ("/golden/complete", test_complete);
  g_test_add_func ("/golden/lower-rules", test_lower_rules);

  return g_test_run ();
}
