/* test-explain-reasons.c - every reason is documented
 *
 * Reasons are the string literals of lpt_rewriter_decline(), lpt_rewriter_fate() and lpt_rewriter_absorbed(), and those
 * that functions of passes/ return or store as a problem. Each must be a line of docs/explain.md ("- REASON — `file`,
 * `file`", with N, NAME, ... for what is filled in), and each line must name the files that give it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-explain.h>
#include <lpt/lpt-text.h>

/* What one file of passes/ says. */
typedef struct
{
  char      *file;        /* without suffix */
  GPtrArray *literals;    /* char *: as in the source, between the outer quotes */
} Source;

static void
source_free (Source *source)
{
  g_free (source->file);
  g_ptr_array_unref (source->literals);
  g_free (source);
}

/* The end of the statement or argument list that begins at @at: the first @end outside of strings and parentheses. */
static const char *
statement_end (const char *at,
               char        end)
{
  gint depth = 0;

  for (; *at != '\0'; at++)
    {
      if (*at == '"')
        for (at++; *at != '"'; at++)
          at += *at == '\\';
      else if (depth == 0 && *at == end)
        break;
      else if (*at == '(')
        depth++;
      else if (*at == ')')
        depth--;
    }

  return at;
}

/* Literals of @text; neighbours, with a format macro between them or not, are one. */
static void
collect (const char *text,
         GPtrArray  *literals)
{
  g_autoptr (GRegex)
      regex = g_regex_new ("\"((?:[^\"\\\\]|\\\\.)*)\"(?:\\s*(?:G_[A-Z0-9_]+\\s*)?\"(?:[^\"\\\\]|\\\\.)*\")*", 0, 0,
                           NULL);
  g_autoptr (GRegex) macro = g_regex_new ("\"\\s*G_[A-Z0-9_]+\\s*\"", 0, 0, NULL);
  g_autoptr (GRegex) joint = g_regex_new ("\"\\s*\"", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  g_regex_match (regex, text, 0, &match);
  while (g_match_info_matches (match))
    {
      g_autofree char *whole = g_match_info_fetch (match, 0);
      g_autofree char *inner = g_strndup (whole + 1, strlen (whole) - 2);
      g_autofree char *spelled = g_regex_replace_literal (macro, inner, -1, 0, "u", 0, NULL);
      g_autofree char *joined = g_regex_replace_literal (joint, spelled, -1, 0, "", 0, NULL);

      if (strcmp (joined, "%s") != 0)
        g_ptr_array_add (literals, g_strcompress (joined));
      g_match_info_next (match, NULL);
    }
}

static void
collect_behind (const char *text,
                const char *key,
                char        end,
                GPtrArray  *literals)
{
  const char *at;

  for (at = strstr (text, key); at != NULL; at = strstr (at + 1, key))
    {
      const char *from = at + strlen (key);
      g_autofree char *part = g_strndup (from, (gsize) (statement_end (from, end) - from));

      collect (part, literals);
    }
}

/* Texts of these are about files and options, not about nodes. */
static gboolean
gives_reasons (const char *file)
{
  return g_str_has_suffix (file, ".c") && strcmp (file, "lpt-config.c") != 0 && strcmp (file, "lpt-target.c") != 0 &&
         strcmp (file, "lpt-pipeline.c") != 0 && strcmp (file, "lpt-predicates.c") != 0;
}

static void
read_sources (const char *folder,
              GPtrArray  *sources)
{
  g_autofree char *path = g_build_filename (LPT_SOURCE_DIR, folder, NULL);
  g_autoptr (GRegex) comments = g_regex_new ("/\\*.*?\\*/", G_REGEX_DOTALL, 0, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      g_autofree char *raw = NULL;
      g_autofree char *text = NULL;
      Source *source;

      if (!gives_reasons (name) || !g_file_get_contents (file, &raw, NULL, NULL))
        continue;
      text = g_regex_replace_literal (comments, raw, -1, 0, "", 0, NULL);
      source = g_new0 (Source, 1);
      source->file = g_strndup (name, strlen (name) - 2);
      source->literals = g_ptr_array_new_with_free_func (g_free);
      collect_behind (text, "lpt_rewriter_decline (", ')', source->literals);
      collect_behind (text, "lpt_rewriter_fate (", ')', source->literals);
      collect_behind (text, "lpt_rewriter_absorbed (", ')', source->literals);
      collect_behind (text, "return ", ';', source->literals);
      collect_behind (text, "problem = ", ';', source->literals);
      g_ptr_array_add (sources, source);
    }
}

/* Does the line @documented stand for the format @literal? */
static gboolean
stands_for (const char *documented,
            const char *literal)
{
  g_autoptr (GRegex) formats = g_regex_new ("%[a-z]", 0, 0, NULL);
  g_autofree char *escaped = g_regex_escape_string (literal, -1);
  g_autofree char *pattern = g_regex_replace_literal (formats, escaped, -1, 0, "[^ ]+", 0, NULL);
  g_autofree char *whole = g_strconcat ("^", pattern, "$", NULL);

  return g_regex_match_simple (whole, documented, 0, 0);
}

static gboolean
gives (const Source *source,
       const char   *documented)
{
  for (guint i = 0; i < source->literals->len; i++)
    if (stands_for (documented, g_ptr_array_index (source->literals, i)))
      return TRUE;

  return FALSE;
}

/* The line for a literal must name its file. */
static void
check_literal (const Source *source,
               const char   *literal,
               char        **lines)
{
  g_autofree char *quoted = g_strdup_printf ("`%s`", source->file);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *dash = strstr (lines[i], " — ");
      g_autofree char *documented = g_str_has_prefix (lines[i], "- ") && dash != NULL
                                    ? g_strndup (lines[i] + 2, (gsize) (dash - lines[i] - 2)) : NULL;

      if (documented != NULL && stands_for (documented, literal) && strstr (dash, quoted) != NULL)
        return;
    }
  g_test_message ("docs/explain.md does not say what to do about \"%s\" of %s.c: a line "
                  "\"- REASON — `%s` [CODE]\" there, and a row in passes/core/lpt-reasons.def",
                  literal, source->file, source->file);
  g_test_fail ();
}

/* Behind the files stands the code of the row that fits, "[CODE]". */
static void
check_code (const char *dash,
            const char *documented)
{
  const LptReason *row = lpt_reason_find (documented);
  g_autofree char *want = g_strdup_printf ("[%s]", row->code);

  if (strcmp (row->code, "other") == 0)
    {
      g_test_message ("passes/core/lpt-reasons.def has no row for \"%s\"", documented);
      g_test_fail ();
    }
  else if (!g_str_has_suffix (dash, want))
    {
      g_test_message ("docs/explain.md: the line of \"%s\" must end in %s", documented, want);
      g_test_fail ();
    }
}

/* Codes are told apart, and each stands in the page. */
static void
check_rows (const char *text)
{
  g_autoptr (GHashTable) codes = g_hash_table_new (g_str_hash, g_str_equal);
  guint n, i;
  const LptReason *rows = lpt_reasons (&n);

  for (i = 0; i < n; i++)
    {
      g_autofree char *tag = g_strdup_printf ("[%s]", rows[i].code);

      g_assert_true (g_hash_table_add (codes, (gpointer) rows[i].code));
      if (strstr (text, tag) == NULL)
        {
          g_test_message ("docs/explain.md does not have %s", tag);
          g_test_fail ();
        }
    }
}

/* Each file of the line gives its reason. */
static void
check_line (const char *line,
            GPtrArray  *sources)
{
  const char *dash = strstr (line, " — ");
  g_autofree char *documented = NULL;
  g_autofree char *named = NULL;
  g_auto (GStrv) files = NULL;

  if (!g_str_has_prefix (line, "- ") || dash == NULL)
    return;
  documented = g_strndup (line + 2, (gsize) (dash - line - 2));
  check_code (dash, documented);
  named = g_strndup (dash + strlen (" — "), strcspn (dash + strlen (" — "), "["));
  files = g_strsplit_set (named, "`, ", 0);
  for (guint i = 0; files[i] != NULL; i++)
    {
      gboolean given = *files[i] == '\0';

      for (guint k = 0; k < sources->len && !given; k++)
        {
          const Source *source = g_ptr_array_index (sources, k);

          given = strcmp (source->file, files[i]) == 0 && gives (source, documented);
        }
      if (!given)
        {
          g_test_message ("docs/explain.md: %s.c does not give \"%s\"", files[i], documented);
          g_test_fail ();
        }
    }
}

static void
test_reasons (void)
{
  g_autoptr (GPtrArray) sources = g_ptr_array_new_with_free_func ((GDestroyNotify) source_free);
  g_autofree char *path = g_build_filename (LPT_SOURCE_DIR, "docs", "explain.md", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", 0);
  read_sources ("passes", sources);
  read_sources ("passes/core", sources);
  read_sources ("passes/support", sources);
  read_sources ("passes/lower", sources);
  for (guint i = 0; i < sources->len; i++)
    {
      const Source *source = g_ptr_array_index (sources, i);

      for (guint k = 0; k < source->literals->len; k++, n++)
        check_literal (source, g_ptr_array_index (source->literals, k), lines);
    }
  g_assert_cmpuint (n, >, 200);
  for (guint i = 0; lines[i] != NULL; i++)
    check_line (lines[i], sources);
  check_rows (text);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/explain/reasons", test_reasons);

  return g_test_run ();
}
