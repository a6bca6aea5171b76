/* test-golden-program.c - what passes make of programs, and that they give the bytes of the plain ops
 *
 * tests/golden-program/<pass>/<case>.lpt:
 *
 *     # What the case shows.
 *     # modes: single onnx                   requant modes, "all" for all; default: single
 *     # range: -6 6                          of real inputs; those of codes have all of their type
 *     <lowered graph>                        $(a*b): that many integers, #(a*b): reals in [-1, 1), drawn
 *     -----
 *     <the program after the pass, in the first mode, for the level avx2>
 *
 * The outputs are those of a reference plan in each mode, at each level of the processor and with one to three threads.
 * The program is not compared where the processor has no avx2. LPT_TEST_UPDATE=1 rewrites it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/requant/lpt-requant-modes.h"
#include "fast-case.h"

#define SEPARATOR "-----\n"
#define LEVEL     "avx2"
#define FOLDER    LPT_SOURCE_DIR "/tests/golden-program"

/* The rest of the header line "# KEY: ...", or @otherwise (transfer full). */
static char *
read_header (const char *text,
             const char *key,
             const char *otherwise)
{
  g_autofree char *start = g_strdup_printf ("# %s:", key);
  const char *at = strstr (text, start);

  if (at == NULL)
    return g_strdup (otherwise);
  at += strlen (start);

  return g_strstrip (g_strndup (at, strcspn (at, "\n")));
}

/* The program as text, without its first line, which is about memory (transfer full). */
static char *
print_program (LptGraph   *graph,
               const char *pass)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  const LptPlanOptions options = { .level = LEVEL, .flags = LPT_PLAN_CHECK, .print_after = pass, .printed = &text };
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &options, &error);

  g_assert_no_error (error);
  g_assert_nonnull (plan);

  return g_strdup (strchr (text, '\n') + 1);
}

static gboolean
has_level (void)
{
  LptCpu cpu = lpt_cpu_detect ();

  return lpt_cpu_limit (&cpu, LEVEL) && strcmp (lpt_cpu_level_name (cpu), LEVEL) == 0;
}

static void
compare_program (LptGraph   *graph,
                 const char *path,
                 const char *text,
                 const char *split)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *pass = g_path_get_basename (folder);
  g_autofree char *program = has_level () ? print_program (graph, pass) : NULL;

  if (program == NULL)
    g_test_message ("the program is not compared: this processor has no " LEVEL);
  else if (g_getenv ("LPT_TEST_UPDATE") != NULL)
    {
      g_autofree char *source = split != NULL ? g_strndup (text, (gsize) (split - text)) : g_strdup (text);
      g_autofree char *whole = g_strconcat (source, SEPARATOR, program, NULL);

      g_assert_true (g_file_set_contents (path, whole, -1, NULL));
    }
  else
    g_assert_cmpstr (program, ==, split != NULL ? split + strlen (SEPARATOR) : "");
}

static GStrv
read_modes (const char *text)
{
  g_autofree char *names = read_header (text, "modes", "single");
  GStrvBuilder *all;
  GStrv list;
  LptMode mode;

  if (strcmp (names, "all") != 0)
    return g_strsplit (names, " ", 0);
  all = g_strv_builder_new ();
  for (mode = 0; mode < LPT_N_MODES; mode++)
    g_strv_builder_add (all, lpt_mode_name (mode));
  list = g_strv_builder_end (all);
  g_strv_builder_unref (all);

  return list;
}

static void
test_case (gconstpointer data)
{
  const char *path = data, *split;
  g_autofree char *text = NULL, *range = NULL;
  g_auto (GStrv) modes = NULL;
  char *high;
  double low;
  guint i;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  split = strstr (text, SEPARATOR);
  modes = read_modes (text);
  range = read_header (text, "range", "-1 1");
  low = g_ascii_strtod (range, &high);
  for (i = 0; modes[i] != NULL; i++)
    {
      g_autofree char *source = g_strndup (text, split != NULL ? (gsize) (split - text) : strlen (text));
      g_autoptr (LptGraph) graph = fast_case_graph_for (source, path, modes[i]);

      if (i == 0)
        compare_program (graph, path, text, split);
      fast_case_compare (graph, low, g_ascii_strtod (high, NULL));
    }
}

static void
add_folder (const char *folder)
{
  g_autofree char *path = g_build_filename (FOLDER, folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *test = g_strdup_printf ("/golden-program/%s/%s", folder, name);
      char *file = g_build_filename (path, name, NULL);

      if (g_str_has_suffix (name, ".lpt"))
        g_test_add_data_func_full (test, file, test_case, g_free);
      else
        g_free (file);
    }
}

/* Passes that change what runs have a folder. */
static void
test_complete (void)
{
  const char *pass;
  gboolean optional;
  guint i;

  for (i = 0; (pass = lpt_plan_pass_name (i, &optional)) != NULL; i++)
    {
      g_autofree char *path = g_build_filename (FOLDER, pass, NULL);

      if (optional && strcmp (pass, "drop-constants") != 0 && !g_file_test (path, G_FILE_TEST_IS_DIR))
        {
          g_test_message ("no cases for pass %s: put lowered graphs into tests/golden-program/%s/ (CONTRIBUTING.md, "
                          "\"A pass of the program\")", pass, pass);
          g_test_fail ();
        }
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GDir) dir = g_dir_open (FOLDER, 0, NULL);
  const char *name;

  g_test_init (&argc, &argv, NULL);
  g_assert_nonnull (dir);
  g_test_add_func ("/golden-program/complete", test_complete);
  while ((name = g_dir_read_name (dir)) != NULL)
    add_folder (name);

  return g_test_run ();
}
