/* profile.c - layerName, execStatus, layerType, execType, realTime, cpuTime, shape, runsIn; csv and JSON say unit and runs in each row
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/profile.h"
#include "cli/cmd.h"

#include <stdio.h>
#include <string.h>

/* A field of a CSV line: quoted where it must be. */
static void
put_csv (GString *out, const char *text)
{
  if (strpbrk (text, ",\"\r\n") == NULL)
    {
      g_string_append (out, text);
      return;
    }
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '"')
        g_string_append_c (out, '"');
      g_string_append_c (out, *p);
    }
  g_string_append_c (out, '"');
}

/* " 123.4  52%" of a layer, or as many spaces. */
static void
put_rate (GString *out, gint64 macs, double ms, double peak)
{
  double rate = ms > 0.0 ? (double) macs / ms / 1e6 : 0.0;
  if (rate <= 0.0)
    g_string_append_printf (out, peak > 0.0 ? "%14s" : "%8s", "");
  else
    g_string_append_printf (out, " %7.1f", rate);
  if (rate > 0.0 && peak > 0.0)
    g_string_append_printf (out, " %4.0f%%", 100.0 * rate / peak);
}

static void
put_row (GString *out, const LptProfileRow *row, const char *form, gboolean first, guint n_runs, guint n_warm_up, double peak)
{
  double wall_ms = (double) row->wall_ns / 1e6 / n_runs, cpu_ms = (double) row->cpu_ns / 1e6 / n_runs;
  g_autofree char *shape = lpt_shape_to_string (&row->shape);
  g_autofree char *wall = g_strdup_printf ("%.6f", wall_ms), *cpu = g_strdup_printf ("%.6f", cpu_ms);
  const char *runs_in = row->runs_in == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (row->runs_in);
  g_autofree char *runs = g_strdup_printf ("%u", n_runs), *warm_up = g_strdup_printf ("%u", n_warm_up);
  g_autofree char *fused = row->fused_into != NULL ? g_strdup_printf ("fused into %s", row->fused_into) : NULL;
  const char *status = row->executed ? "EXECUTED" : "NOT_RUN";
  const char *kernel = fused != NULL ? fused : *row->kernel != '\0' ? row->kernel : "undef";
  const struct { const char *name, *text; gboolean number; } fields[] = {
    { "layerName", row->name, FALSE }, { "execStatus", status, FALSE }, { "layerType", row->type, FALSE }, { "execType", kernel, FALSE },
    { "realTime", wall, TRUE }, { "cpuTime", cpu, TRUE }, { "shape", shape, FALSE },
    { "runsIn", runs_in, FALSE }, { "unit", "ms", FALSE }, { "runs", runs, TRUE }, { "warmUp", warm_up, TRUE } };

  if (form == NULL)
    {
      g_string_append_printf (out, "%-40s %-9s %-22s %-28s %10s %10s", row->name, status, row->type, kernel, wall, cpu);
      put_rate (out, row->executed ? row->macs : 0, MIN (wall_ms, cpu_ms), peak);
      g_string_append_printf (out, "  [%s]  %s\n", shape, runs_in);
      return;
    }
  gboolean json = g_str_equal (form, "json");
  if (json)
    g_string_append (out, first ? "\n {" : ",\n {");
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      if (i > 0)
        g_string_append (out, json ? ", " : ",");
      if (!json)
        put_csv (out, fields[i].text);
      else
        {
          g_string_append_printf (out, "\"%s\": ", fields[i].name);
          if (fields[i].number)
            g_string_append (out, fields[i].text);
          else
            cmd_json_string (out, fields[i].text);
        }
    }
  g_string_append (out, json ? "}" : "\n");
}

void
cmd_profile_print (const LptPlan *plan, LptPlanContext *context, const char *form, guint n_runs, guint n_warm_up, double peak)
{
  guint n;
  const LptProfileRow *rows = lpt_plan_context_profile (context, &n);
  g_autoptr (GString) out = g_string_new (NULL);
  gint64 wall = 0, cpu = 0, macs = 0;
  if (form == NULL)
    {
      g_string_append_printf (out, "times in ms of one run: the mean of %u run%s, %u before to warm up\n", n_runs, n_runs == 1 ? "" : "s", n_warm_up);
      g_string_append_printf (out, "%-40s %-9s %-22s %-28s %10s %10s  GMAC/s%s  %s  %s\n", "layerName", "execStatus", "layerType", "execType", "realTime", "cpuTime",
                              peak > 0.0 ? "  peak" : "", "shape", "runsIn");
    }
  else
    g_string_append (out, g_str_equal (form, "json") ? "[" : "layerName,execStatus,layerType,execType,realTime,cpuTime,shape,runsIn,unit,runs,warmUp\n");
  for (guint i = 0; i < n; i++)
    {
      put_row (out, &rows[i], form, i == 0, n_runs, n_warm_up, peak);
      wall += rows[i].wall_ns;
      cpu += rows[i].cpu_ns;
      macs += rows[i].executed ? rows[i].macs : 0;
    }
  if (form == NULL)
    {
      double wall_ms = (double) wall / 1e6 / n_runs, cpu_ms = (double) cpu / 1e6 / n_runs;
      g_string_append_printf (out, "%-102s %10.6f %10.6f", "total", wall_ms, cpu_ms);
      put_rate (out, macs, MIN (wall_ms, cpu_ms), peak);
      g_autofree char *line = lpt_plan_macs_line (plan);
      g_string_append_printf (out, "  ms\n%s\n", line);
    }
  else if (g_str_equal (form, "json"))
    g_string_append (out, "\n]\n");
  fputs (out->str, stdout);
}
