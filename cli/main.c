/* main.c - lptc: chooses the sub-command
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/limits.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const LptCommand commands[] = {
  { "transform", cmd_transform, "Rewrite a model for low precision" },
  { "exec",      cmd_exec,      "Run a model" },
  { "compare",   cmd_compare,   "Compare models, modes or arrays" },
  { "check",     cmd_check,     "Hold a model against a target's restrictions" },
  { "explain",   cmd_explain,   "Say what becomes of each op, and why" },
  { "bench",     cmd_bench,     "Time a model" },
  { "quantize",  cmd_quantize,  "Make an int8 model of a float one and samples" },
  { "eval",      cmd_eval,      "Measure a model on labelled samples" },
  { "report",    cmd_report,    "One page about a model: types, reasons, errors, times" },
  { "debug",     cmd_debug,     "Find the layers that do the damage, and what would help" },
  { "print",     cmd_print,     "Show a model as text" },
  { "plan",      cmd_plan,      "Show what a run goes through" },
  { "ops",       cmd_ops,       "List the operations" },
  { "passes",    cmd_passes,    "List the passes and targets" },
  { "cpu",       cmd_cpu,       "Show what the processor offers" },
  { "version",   cmd_version,   "Show the version" },
};

static void
print_help (FILE *out)
{
  fputs ("Usage: lptc COMMAND [ARGUMENT]...\n\n"
         "Low-precision transformations and an int8 executor.\n\n", out);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fputs ("\nlptc COMMAND --help shows the options of a command.\n"
         "Exit code: 0 done, 1 the input is at fault, 2 the command line is.\n", out);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  cmd_limits_catch_bus_error ();
  if (argc < 2)
    {
      print_help (stderr);
      return CMD_USAGE;
    }
  const char *name = argv[1];
  if (g_str_equal (name, "--help") || g_str_equal (name, "-h") || g_str_equal (name, "help"))
    {
      print_help (stdout);
      return CMD_OK;
    }
  if (g_str_equal (name, "--version"))
    name = argv[1] = (char *) "version";
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (name, commands[i].name))
      {
        int code = commands[i].run (argc - 1, argv + 1);
        if (fflush (stdout) != 0 || ferror (stdout))
          {
            fprintf (stderr, "lptc: standard output: cannot be written\n");
            return code == CMD_OK ? CMD_FAILED : code;
          }
        return code;
      }
  return cmd_usage ("no command \"%s\" (see lptc --help)", name);
}
