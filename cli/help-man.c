/* help-man.c - manual pages from the options of sub-commands
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "cli/help-page.h"

/* Text as roff: a line that begins with a dot or an apostrophe is no request, and a hyphen is one that can be
 * copied. */
static void
put (FILE *out, const char *text)
{
  gboolean first = TRUE;
  for (const char *p = text; *p != '\0'; p++)
    {
      if (first && (*p == '.' || *p == '\''))
        fputs ("\\&", out);
      if (*p == '\\')
        fputs ("\\e", out);
      else if (*p == '-')
        fputs ("\\-", out);
      else
        fputc (*p, out);
      first = *p == '\n';
    }
}

static void
put_option (const GOptionEntry *entry, gpointer data)
{
  FILE *out = data;
  fputs (".TP\n", out);
  if (entry->short_name != 0)
    fprintf (out, "\\fB\\-%c\\fR, ", entry->short_name);
  fputs ("\\fB\\-\\-", out);
  put (out, entry->long_name);
  fputs ("\\fR", out);
  if (help_has_value (entry) && entry->arg_description != NULL)
    {
      fputs ("=\\fI", out);
      put (out, entry->arg_description);
      fputs ("\\fR", out);
    }
  fputc ('\n', out);
  put (out, entry->description);
  fputs (".\n", out);
}

static void
put_end (FILE *out)
{
  fputs (".SH EXIT STATUS\n0: done. 1: the input is at fault; one line on standard error says which file, where and why. "
         "2: the command line is.\n.SH ENVIRONMENT\n.TP\n\\fBLPT_CPU\\fR\nLevel of the processor to use, one of those that "
         "\\fBlptc cpu\\fR lists.\n", out);
}

void
help_write_man (const HelpPage *page, gpointer data)
{
  const HelpMan *man = data;
  g_autofree char *title = g_ascii_strup (page->name, -1);
  fprintf (man->out, ".TH \"LPTC\\-%s\" 1 \"\" \"lptc %s\"\n.SH NAME\nlptc\\-%s \\- ", title, LPT_VERSION, page->name);
  put (man->out, man->summary);
  fprintf (man->out, "\n.SH SYNOPSIS\n.B lptc %s\n[\\fIOPTION\\fR]...\n", page->name);
  put (man->out, page->usage != NULL ? page->usage : "");
  fputc ('\n', man->out);
  if (page->description != NULL)
    {
      fputs (".SH DESCRIPTION\n", man->out);
      put (man->out, page->description);
      fputc ('\n', man->out);
    }
  fputs (".SH OPTIONS\n", man->out);
  help_foreach (page, put_option, man->out);
  put_end (man->out);
  fputs (".SH SEE ALSO\n.BR lptc (1)\n", man->out);
}

void
help_write_man_index (FILE *out, const LptCommand *commands, guint n)
{
  fprintf (out,
           ".TH LPTC 1 \"\" \"lptc %s\"\n.SH NAME\nlptc \\- low\\-precision transformations and an int8 executor\n"
           ".SH SYNOPSIS\n.B lptc\n\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n"
           "Reads neural networks that are quantized in name (OpenVINO IR, ONNX, TensorFlow Lite, its own text and "
           "JSON), rewrites them so\n"
           "that what can be done on integers is, writes them, and runs them with integer kernels.\n.SH COMMANDS\n",
           LPT_VERSION);
  for (guint i = 0; i < n; i++)
    {
      fprintf (out, ".TP\n\\fB%s\\fR(1)\n", commands[i].name);
      put (out, commands[i].summary);
      fputs (".\n", out);
    }
  put_end (out);
  fputs (".SH SEE ALSO\n", out);
  for (guint i = 0; i < n; i++)
    fprintf (out, ".BR lptc\\-%s (1),\n", commands[i].name);
  fputs (".BR lpt\\-text (5),\n.BR lpt\\-json (5)\n", out);
}
