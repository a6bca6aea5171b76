/* cmd-version.c - lptc version
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"

#include <lpt/lpt-version.h>

#include <stdio.h>

int
cmd_version (int argc, char **argv)
{
  gboolean json = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "For scripts", NULL },
    { NULL },
  };
  const CmdLine line = { entries, "", NULL, 0, 0 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;
  printf (json ? "{\"name\": \"lptc\", \"version\": \"%s\"}\n" : "lptc %s\n", LPT_VERSION);
  for (const char *const *name = lpt_lacks (); *name != NULL && !json; name++)
    printf ("without %s\n", *name);
  return CMD_OK;
}
