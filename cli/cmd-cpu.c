/* cmd-cpu.c - lptc cpu: instruction sets of this machine
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include <lpt/lpt-cpu.h>

#include <stdio.h>

static const struct { LptCpu bit; const char *name, *doc; } levels[] = {
  { LPT_CPU_AVX2,       "avx2",       "AVX2, FMA and F16C" },
  { LPT_CPU_AVXVNNI,    "avxvnni",    "VEX-coded dot products of bytes" },
  { LPT_CPU_AVX512VNNI, "avx512vnni", "AVX-512 F, BW, DQ, VL and VNNI" },
  { LPT_CPU_AVX512VBMI, "avx512vbmi", "permutes of bytes" },
  { LPT_CPU_AMX,        "amx",        "products of tiles of bytes" },
  { LPT_CPU_NEON,       "neon",       "Advanced SIMD" },
  { LPT_CPU_NEONDOT,    "neondot",    "sdot and udot" },
};

gboolean
cmd_cpu_ok (int *code)
{
  const char *limit = g_getenv ("LPT_CPU");
  LptCpu cpu = 0;
  if (limit == NULL || lpt_cpu_limit (&cpu, limit))
    return TRUE;
  *code = cmd_usage ("LPT_CPU=%s is no level (see lptc cpu --help)", limit);
  return FALSE;
}

int
cmd_cpu (int argc, char **argv)
{
  gboolean json = FALSE;
  int code;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "For scripts", NULL },
    { NULL },
  };
  g_autoptr (GString) help = g_string_new ("The environment variable LPT_CPU (");
  for (guint i = 0; lpt_cpu_level_at (i) != NULL; i++)
    g_string_append_printf (help, "%s%s", i > 0 ? ", " : "", lpt_cpu_level_at (i));
  g_string_append (help, ") lowers the level.");
  const CmdLine line = { entries, "", help->str, 0, 0 };
  if (!cmd_parse (&argc, &argv, &line, &code))
    return code;

  LptCpu found = lpt_cpu_detect (), used = found;
  const char *limit = g_getenv ("LPT_CPU");
  if (limit != NULL)
    lpt_cpu_limit (&used, limit);
  if (json)
    printf ("{\"level\": \"%s\", \"detected\": \"%s\", \"features\": {", lpt_cpu_level_name (used),
            lpt_cpu_level_name (found));
  else
    printf ("level: %s\ndetected: %s\n", lpt_cpu_level_name (used), lpt_cpu_level_name (found));
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      const char *state = lpt_cpu_has (used, levels[i].bit) ? "yes" : lpt_cpu_has (found, levels[i].bit) ? "masked" : "no";
      if (json)
        printf ("%s\"%s\": \"%s\"", i > 0 ? ", " : "", levels[i].name, state);
      else
        printf ("  %-12s %-8s %s\n", levels[i].name, state, levels[i].doc);
    }
  if (json)
    printf ("}, \"threads\": %u}\n", g_get_num_processors ());
  else
    printf ("processors: %u\n", g_get_num_processors ());
  return CMD_OK;
}
