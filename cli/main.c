/* main.c - lptc: chooses the sub-command
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/limits.h"
#include "cli/nearest.h"

#include <locale.h>

static const LptCommand commands[] = {
#define LPT_COMMAND(name, summary) { #name, cmd_##name, summary },
#include "cli/commands.def"
#undef LPT_COMMAND
};

const LptCommand *
cmd_commands (guint *n)
{
  *n = G_N_ELEMENTS (commands);
  return commands;
}

const LptCommand *
cmd_find_command (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (name, commands[i].name))
      return &commands[i];
  return NULL;
}

void
cmd_print_commands (FILE *out)
{
  fputs ("Usage: lptc COMMAND [ARGUMENT]...\n\n"
         "Low-precision transformations and an int8 executor.\n\n", out);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fputs ("\nlptc COMMAND --help shows the options of a command.\n"
         "Exit code: 0 done, 1 the input is at fault, 2 the command line is.\n", out);
}

int
cmd_no_command (const char *name)
{
  Nearest nearest = nearest_begin (name);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    nearest_offer (&nearest, commands[i].name);
  if (nearest.best != NULL)
    return cmd_usage ("no command \"%s\"; did you mean %s? (see lptc --help)", name, nearest.best);
  return cmd_usage ("no command \"%s\" (see lptc --help)", name);
}

/* An option in place of a command. */
static const char *
read_name (const char *first)
{
  if (g_str_equal (first, "--help") || g_str_equal (first, "-h"))
    return "help";
  return g_str_equal (first, "--version") ? "version" : first;
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  cmd_limits_catch_bus_error ();
  if (argc < 2)
    {
      cmd_print_commands (stderr);
      return CMD_USAGE;
    }
  argv[1] = (char *) read_name (argv[1]);
  const LptCommand *command = cmd_find_command (argv[1]);
  if (command == NULL)
    return cmd_no_command (argv[1]);
  int code = command->run (argc - 1, argv + 1);
  if (fflush (stdout) != 0 || ferror (stdout))
    {
      fprintf (stderr, "lptc: standard output: cannot be written\n");
      return code == CMD_OK ? CMD_FAILED : code;
    }
  return code;
}
