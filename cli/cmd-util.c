/* cmd-util.c - options, messages, JSON strings: what all sub-commands need
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/help-page.h"
#include "cli/limits.h"
#include "cli/nearest.h"

#include <stdio.h>
#include <string.h>

static void
offer_option (const GOptionEntry *entry, gpointer nearest)
{
  nearest_offer (nearest, entry->long_name);
}

/* What the parser says, with the option that is meant where an unknown one is near to it. */
static int
say_wrong_option (const HelpPage *page, const GError *error)
{
  const char *option = strstr (error->message, "--");
  g_autofree char *name = g_strdup (option != NULL ? option + 2 : "");
  name[strcspn (name, "=")] = '\0';
  Nearest nearest = nearest_begin (name);
  if (g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) && option != NULL)
    help_foreach (page, offer_option, &nearest);
  if (nearest.best != NULL)
    return cmd_usage ("%s; did you mean --%s? (see lptc %s --help)", error->message, nearest.best, page->name);
  return cmd_usage ("%s (see lptc %s --help)", error->message, page->name);
}

/* A value that an option need not have is its own only behind '=': the next word, which GOption would take, is the
   model. */
static void
part_optional_values (int argc, char **argv, const GOptionEntry *entries)
{
  for (int i = 1; i < argc && !g_str_equal (argv[i], "--"); i++)
    for (const GOptionEntry *e = entries; g_str_has_prefix (argv[i], "--") && e->long_name != NULL; e++)
      if ((e->flags & G_OPTION_FLAG_OPTIONAL_ARG) && g_str_equal (argv[i] + 2, e->long_name))
        {
          g_autofree char *parted = g_strconcat (argv[i], "=", NULL);
          argv[i] = (char *) g_intern_string (parted);
          break;
        }
}

gboolean
cmd_parse (int *argc, char ***argv, const CmdLine *line, int *code)
{
  g_autoptr (GOptionContext) context = g_option_context_new (line->usage);
  g_autoptr (GError) error = NULL;
  gboolean help = FALSE;
  const GOptionEntry extra[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this text", NULL },
    { NULL },
  };

  /* Who needs a file reads models. */
  const gboolean reads = line->min > 0;
  const HelpPage page = { (*argv)[0], line->usage, line->description,
                          { line->entries, extra, reads ? cmd_limits_entries () : NULL }, reads ? 3 : 2 };
  if (help_write (&page))
    {
      *code = CMD_OK;
      return FALSE;
    }
  /* GOption calls exit() for its own --help. */
  g_option_context_set_help_enabled (context, FALSE);
  GOptionGroup *group = g_option_group_new ("lptc", "", "", line->data, NULL);
  g_option_group_add_entries (group, line->entries);
  if (reads)
    g_option_group_add_entries (group, cmd_limits_entries ());
  g_option_group_add_entries (group, extra);
  g_option_context_set_main_group (context, group);
  g_option_context_set_description (context, line->description);
  g_autofree char *program = g_strdup_printf ("lptc %s", (*argv)[0]);
  g_set_prgname (program);
  part_optional_values (*argc, *argv, line->entries);
  if (!g_option_context_parse (context, argc, argv, &error))
    {
      *code = say_wrong_option (&page, error);
      return FALSE;
    }
  cmd_limits_apply ();
  if (help)
    {
      g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);
      fputs (text, stdout);
      *code = CMD_OK;
      return FALSE;
    }
  /* "--" stays in argv. */
  if (*argc > 1 && g_str_equal ((*argv)[1], "--"))
    {
      for (int i = 1; i < *argc; i++)
        (*argv)[i] = (*argv)[i + 1];
      (*argc)--;
    }
  int n = *argc - 1;
  if (n < line->min)
    *code = cmd_usage ("%s: %s is missing (lptc %s %s)", (*argv)[0], n == 0 ? "a file" : "a second file", (*argv)[0],
                       line->usage);
  else if (n > line->max)
    *code = cmd_usage ("%s: \"%s\" is too much (lptc %s %s)", (*argv)[0], (*argv)[line->max + 1], (*argv)[0],
                       line->usage);
  return n >= line->min && n <= line->max && cmd_cpu_ok (code);
}

gboolean
cmd_threads_ok (int threads, int *code)
{
  if (threads >= 0 && threads <= 1024)
    return TRUE;
  *code = cmd_usage ("--threads %d: 0 to 1024", threads);
  return FALSE;
}

static void
print_line (const char *text)
{
  fprintf (stderr, "lptc: %s\n", text);
}

int
cmd_fail (GError *error)
{
  print_line (error->message);
  g_error_free (error);
  return CMD_FAILED;
}

int
cmd_usage (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  print_line (text);
  return CMD_USAGE;
}

void
cmd_note (const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  print_line (text);
}

void
cmd_name_file (GError **error, const char *path)
{
  g_autofree char *start = g_strconcat (path, ":", NULL);
  if (!g_str_has_prefix ((*error)->message, start))
    g_prefix_error (error, "%s ", start);
}

void
cmd_json_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_printf (out, "\\%c", *p);
      else if ((guchar) *p < 0x20)
        g_string_append_printf (out, "\\u%04x", (guchar) *p);
      else
        g_string_append_c (out, *p);
    }
  g_string_append_c (out, '"');
}
