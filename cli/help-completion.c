/* help-completion.c - completion of command lines in bash, zsh and fish, from the options of sub-commands
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "cli/help-page.h"

/* @text inside single quotes, in which @escape (a string for each quote) ends and begins them again. */
static void
put_quoted (FILE *out, const char *text, const char *escape)
{
  for (; *text != '\0'; text++)
    if (*text == '\'')
      fputs (escape, out);
    else
      fputc (*text, out);
}

/* --- bash --- */

static void
begin_bash (FILE *out, const LptCommand *commands, guint n)
{
  fputs ("# bash completion for lptc, made by: lptc help --completion=bash\n"
         "_lptc () {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= values=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"", out);
  for (guint i = 0; i < n; i++)
    fprintf (out, "%s%s", i > 0 ? " " : "", commands[i].name);
  fputs ("\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  # --option=value is three words.\n"
         "  [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  [ \"$word\" != = ] || word=\n"
         "  case ${COMP_WORDS[1]} in\n", out);
}

static void
put_bash_values (const GOptionEntry *entry, gpointer out)
{
  g_auto (GStrv) choices = help_choices (entry);
  if (choices == NULL)
    return;
  g_autofree char *words = g_strjoinv (" ", choices);
  fprintf (out, "        --%s) values=\"%s\" ;;\n", entry->long_name, words);
}

static void
put_bash_option (const GOptionEntry *entry, gpointer out)
{
  fprintf (out, " --%s", entry->long_name);
}

static void
write_bash (const HelpPage *page, gpointer out)
{
  fprintf (out, "    %s)\n      case $before in\n", page->name);
  help_foreach (page, put_bash_values, out);
  fputs ("      esac\n      options=\"", out);
  help_foreach (page, put_bash_option, out);
  fputs ("\" ;;\n", out);
}

static void
end_bash (FILE *out)
{
  fputs ("  esac\n"
         "  if [ -n \"$values\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "  elif [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  else\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -F _lptc lptc\n", out);
}

/* --- zsh --- */

static void
begin_zsh (FILE *out, const LptCommand *commands, guint n)
{
  fputs ("#compdef lptc\n# zsh completion for lptc, made by: lptc help --completion=zsh\n"
         "if (( CURRENT == 2 )); then\n"
         "  local -a commands=(\n", out);
  for (guint i = 0; i < n; i++)
    {
      fprintf (out, "    '%s:", commands[i].name);
      put_quoted (out, commands[i].summary, "'\\''");
      fputs ("'\n", out);
    }
  fputs ("  )\n"
         "  _describe command commands\n"
         "  return\n"
         "fi\n"
         "local command=$words[2]\n"
         "shift words\n"
         "(( CURRENT-- ))\n"
         "case $command in\n", out);
}

static void
put_zsh_option (const GOptionEntry *entry, gpointer data)
{
  FILE *out = data;
  g_auto (GStrv) choices = help_choices (entry);
  fprintf (out, " \\\n      '*--%s%s[", entry->long_name, help_has_value (entry) ? "=" : "");
  for (const char *p = entry->description; *p != '\0'; p++)
    {
      if (*p == '[' || *p == ']' || *p == ':' || *p == '\\')
        fputc ('\\', out);
      if (*p == '\'')
        fputs ("'\\''", out);
      else
        fputc (*p, out);
    }
  fputc (']', out);
  if (choices != NULL)
    {
      g_autofree char *words = g_strjoinv (" ", choices);
      fprintf (out, ":value:(%s)", words);
    }
  else if (help_has_value (entry))
    fputs (":value:_files", out);
  fputc ('\'', out);
}

static void
write_zsh (const HelpPage *page, gpointer out)
{
  fprintf (out, "  %s) _arguments", page->name);
  help_foreach (page, put_zsh_option, out);
  fputs (" \\\n      '*:file:_files' ;;\n", out);
}

static void
end_zsh (FILE *out)
{
  fputs ("esac\n", out);
}

/* --- fish --- */

static void
begin_fish (FILE *out, const LptCommand *commands, guint n)
{
  fputs ("# fish completion for lptc, made by: lptc help --completion=fish\n", out);
  for (guint i = 0; i < n; i++)
    {
      fprintf (out, "complete -c lptc -n __fish_use_subcommand -f -a %s -d '", commands[i].name);
      put_quoted (out, commands[i].summary, "\\'");
      fputs ("'\n", out);
    }
}

typedef struct
{
  FILE       *out;
  const char *command;
} Fish;

static void
put_fish_option (const GOptionEntry *entry, gpointer data)
{
  const Fish *fish = data;
  g_auto (GStrv) choices = help_choices (entry);
  fprintf (fish->out, "complete -c lptc -n '__fish_seen_subcommand_from %s' -l %s", fish->command, entry->long_name);
  if (entry->short_name != 0)
    fprintf (fish->out, " -s %c", entry->short_name);
  if (choices != NULL)
    {
      g_autofree char *words = g_strjoinv (" ", choices);
      fprintf (fish->out, " -x -a '%s'", words);
    }
  else if (help_has_value (entry))
    fputs (" -r", fish->out);
  fputs (" -d '", fish->out);
  put_quoted (fish->out, entry->description, "\\'");
  fputs ("'\n", fish->out);
}

static void
write_fish (const HelpPage *page, gpointer out)
{
  help_foreach (page, put_fish_option, &(Fish) { out, page->name });
}

static void
end_nothing (FILE *out)
{
}

static const HelpShell shells[] = {
  { "bash", begin_bash, write_bash, end_bash },
  { "zsh",  begin_zsh,  write_zsh,  end_zsh },
  { "fish", begin_fish, write_fish, end_nothing },
};

const HelpShell *
help_find_shell (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (shells); i++)
    if (g_str_equal (name, shells[i].name))
      return &shells[i];
  return NULL;
}
