/* cmd.h - the sub-commands and what they share
 *
 * A sub-command is a file cmd-NAME.c and a row in commands.def. It gets argv from its
 * own name on and returns the exit code: 0 done, 1 the input is at fault,
 * 2 the command line is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_CMD_H
#define LPTC_CMD_H

#include <stdio.h>

#include <lpt/lpt.h>

enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

typedef struct
{
  const char *name;
  int       (*run) (int argc, char **argv);
  const char *summary;
} LptCommand;

#define LPT_COMMAND(name, summary) int cmd_##name (int argc, char **argv);
#include "cli/commands.def"
#undef LPT_COMMAND

/* The rows of commands.def; NULL: no such command. */
const LptCommand *cmd_commands     (guint *n);
const LptCommand *cmd_find_command (const char *name);
/* What there is, a line each. */
void              cmd_print_commands (FILE *out);
/* Says that there is none of this name, and which one may be meant; CMD_USAGE. */
int               cmd_no_command (const char *name);

/* The command line of a sub-command. */
typedef struct
{
  const GOptionEntry *entries;
  const char *usage;           /* "IN -o OUT" */
  const char *description;     /* text below the options, or NULL */
  int         min, max;        /* positional arguments */
  gpointer    data;            /* for G_OPTION_ARG_CALLBACK rows */
} CmdLine;

/* Parses the options; what is left are the positional arguments. A command that needs one reads models, and has the
 * options of limits.h, too. Returns FALSE when the command is over (help was asked: *code 0; wrong usage: *code 2). */
gboolean cmd_parse (int *argc, char ***argv, const CmdLine *line, int *code);

/* Threads that an option may ask for; FALSE: *code is the exit code, the message is printed. */
gboolean cmd_threads_ok (int threads, int *code);
/* Is LPT_CPU a level, where it is set? FALSE: as above. */
gboolean cmd_cpu_ok (int *code);

/* "lptc: MESSAGE" on standard error. */
int      cmd_fail  (GError *error);                                       /* frees @error; CMD_FAILED */
int      cmd_usage (const char *format, ...) G_GNUC_PRINTF (1, 2);        /* CMD_USAGE */
void     cmd_note  (const char *format, ...) G_GNUC_PRINTF (1, 2);        /* a remark: "lptc: ..." */

/* Puts "PATH: " in front of a message that names no file yet. */
void     cmd_name_file (GError **error, const char *path);

/* Appends @text as a JSON string with its quotes. */
void     cmd_json_string (GString *out, const char *text);

#endif
