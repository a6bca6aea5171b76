/* help-page.h - what a sub-command says about itself, for those who write it in another form
 *
 * A sub-command has its options in its own function. lptc help calls that with a writer set: it is handed to
 * cmd_parse(), which gives it the page and ends the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdio.h>

#include "cli/cmd.h"

enum { HELP_MAX_GROUPS = 3 };

typedef struct
{
  const char *name, *usage, *description;        /* "exec", "MODEL", text below the options or NULL */
  const GOptionEntry *groups[HELP_MAX_GROUPS];   /* each ends with an empty row */
  guint n_groups;
} HelpPage;

typedef void (*HelpWriter) (const HelpPage *page, gpointer data);
typedef void (*HelpRow)    (const GOptionEntry *entry, gpointer data);

/* From now on cmd_parse() hands pages to @writer (nullable). */
void     help_set_writer (HelpWriter writer, gpointer data);
/* FALSE: none is set. */
gboolean help_write      (const HelpPage *page);

/* Calls @row with each option of the page that is not hidden. */
void     help_foreach    (const HelpPage *page, HelpRow row, gpointer data);
/* Values that an option takes, "a|b|c" in the table, or NULL (transfer full). */
char   **help_choices    (const GOptionEntry *entry);
/* An option that takes a value. */
gboolean help_has_value  (const GOptionEntry *entry);

/* --- writers --- */

/* One page of section 1; data: HelpMan. */
typedef struct
{
  FILE       *out;
  const char *summary;      /* of the command */
} HelpMan;

void help_write_man       (const HelpPage *page, gpointer man);
/* lptc.1. */
void help_write_man_index (FILE *out, const LptCommand *commands, guint n);

/* Completion for a shell: what comes first, one command (data: FILE), and what comes last. */
typedef struct
{
  const char *name;
  void      (*begin) (FILE *out, const LptCommand *commands, guint n);
  HelpWriter  write;
  void      (*end)   (FILE *out);
} HelpShell;

/* bash, zsh, fish; NULL: another one. */
const HelpShell *help_find_shell (const char *name);
