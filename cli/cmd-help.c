/* cmd-help.c - lptc help: commands, the options of one, manual pages and completion made from them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/help-page.h"
#include "cli/nearest.h"

typedef struct
{
  gboolean man;
  char    *completion;
} HelpArgs;

static void
help_args_clear (HelpArgs *args)
{
  g_free (args->completion);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (HelpArgs, help_args_clear)

/* Runs @command for the sake of its page. */
static int
ask (const LptCommand *command)
{
  char *argv[] = { (char *) command->name, (char *) "--help", NULL }, **given = argv;
  return command->run (2, given);
}

static int
write_completion (const char *name)
{
  const HelpShell *shell = help_find_shell (name);
  if (shell == NULL)
    return cmd_usage ("--completion %s: bash, zsh or fish", name);
  guint n;
  const LptCommand *commands = cmd_commands (&n);
  shell->begin (stdout, commands, n);
  help_set_writer (shell->write, stdout);
  for (guint i = 0; i < n; i++)
    ask (&commands[i]);
  help_set_writer (NULL, NULL);
  shell->end (stdout);
  return CMD_OK;
}

static int
write_man (const LptCommand *command)
{
  HelpMan man = { stdout, command->summary };
  help_set_writer (help_write_man, &man);
  int code = ask (command);
  help_set_writer (NULL, NULL);
  return code;
}

int
cmd_help (int argc, char **argv)
{
  g_auto (HelpArgs) args = { .man = FALSE };
  int code;
  const GOptionEntry entries[] = {
    { "man", 0, 0, G_OPTION_ARG_NONE, &args.man, "The manual page, as roff", NULL },
    { "completion", 0, 0, G_OPTION_ARG_STRING, &args.completion, "Completion of command lines for a shell",
      "bash|zsh|fish" },
    { NULL },
  };
  const CmdLine line = { entries, "[COMMAND]", "Without a COMMAND: all of them, each in a line.", 0, 1 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;
  if (args.completion != NULL)
    return write_completion (args.completion);
  guint n;
  const LptCommand *commands = cmd_commands (&n);
  if (argc < 2)
    {
      if (args.man)
        help_write_man_index (stdout, commands, n);
      else
        cmd_print_commands (stdout);
      return CMD_OK;
    }
  const LptCommand *command = cmd_find_command (argv[1]);
  if (command == NULL)
    return cmd_no_command (argv[1]);
  return args.man ? write_man (command) : ask (command);
}
