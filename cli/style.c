/* style.c - colour on a terminal
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/style.h"

#include <glib.h>
#include <unistd.h>

static gboolean
wants_colour (void)
{
  const char *no = g_getenv ("NO_COLOR"), *term = g_getenv ("TERM");
  return (no == NULL || *no == '\0') && g_strcmp0 (term, "dumb") != 0 && isatty (STDOUT_FILENO);
}

const char *
cmd_style (CmdStyle style)
{
  static const char *const codes[] = { "\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m" };
  return wants_colour () ? codes[style] : "";
}
