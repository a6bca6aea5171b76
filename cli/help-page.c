/* help-page.c - the options of sub-commands, row by row
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "cli/help-page.h"

static HelpWriter current;
static gpointer   current_data;

void
help_set_writer (HelpWriter writer, gpointer data)
{
  current = writer;
  current_data = data;
}

gboolean
help_write (const HelpPage *page)
{
  if (current == NULL)
    return FALSE;
  current (page, current_data);
  return TRUE;
}

void
help_foreach (const HelpPage *page, HelpRow row, gpointer data)
{
  for (guint g = 0; g < page->n_groups; g++)
    for (const GOptionEntry *entry = page->groups[g]; entry->long_name != NULL; entry++)
      if ((entry->flags & G_OPTION_FLAG_HIDDEN) == 0)
        row (entry, data);
}

gboolean
help_has_value (const GOptionEntry *entry)
{
  return entry->arg != G_OPTION_ARG_NONE && (entry->flags & G_OPTION_FLAG_NO_ARG) == 0;
}

/* Letters of one case, digits, hyphens: a value as it is typed. NAME, [...] and : stand for something. */
static gboolean
is_literal (const char *word)
{
  gboolean lower = FALSE, upper = FALSE;
  for (const char *p = word; *p != '\0'; p++)
    {
      if (!g_ascii_isalnum (*p) && *p != '-')
        return FALSE;
      lower |= g_ascii_islower (*p);
      upper |= g_ascii_isupper (*p);
    }
  return lower != upper;
}

char **
help_choices (const GOptionEntry *entry)
{
  if (entry->arg_description == NULL || strchr (entry->arg_description, '|') == NULL)
    return NULL;
  char **words = g_strsplit (entry->arg_description, "|", 0);
  for (guint i = 0; words[i] != NULL; i++)
    if (!is_literal (words[i]))
      {
        g_strfreev (words);
        return NULL;
      }
  return words;
}
