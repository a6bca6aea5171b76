/* profile.c - layerName, execStatus, layerType, execType, realTime, cpuTime, share, shape, runsIn; csv and JSON say
 * unit, runs and MACs in each row
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

/* What a row says, in fields. */
static void
put_fields (GString *out, const LptProfileRow *row, const CmdProfile *profile, double total_ns)
{
  double wall_ms = (double) row->wall_ns / 1e6 / profile->n_runs, cpu_ms = (double) row->cpu_ns / 1e6 / profile->n_runs;
  g_autofree char *shape = lpt_shape_to_string (&row->shape);
  g_autofree char *wall = g_strdup_printf ("%.6f", wall_ms), *cpu = g_strdup_printf ("%.6f", cpu_ms);
  g_autofree char *share = g_strdup_printf ("%.2f", total_ns > 0.0 ? 100.0 * (double) row->wall_ns / total_ns : 0.0);
  g_autofree char *macs = g_strdup_printf ("%" G_GINT64_FORMAT, row->executed ? row->macs : 0);
  const char *runs_in = row->runs_in == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (row->runs_in);
  g_autofree char *runs = g_strdup_printf ("%u", profile->n_runs),
                  *warm_up = g_strdup_printf ("%u", profile->n_warm_up);
  g_autofree char *fused = row->fused_into != NULL ? g_strdup_printf ("fused into %s", row->fused_into) : NULL;
  const char *status = row->executed ? "EXECUTED" : "NOT_RUN";
  const char *kernel = fused != NULL ? fused : *row->kernel != '\0' ? row->kernel : "undef";
  const struct { const char *name, *text; gboolean number; } fields[] = {
    { "layerName", row->name, FALSE }, { "execStatus", status, FALSE }, { "layerType", row->type, FALSE }, { "execType", kernel, FALSE },
    { "realTime", wall, TRUE }, { "cpuTime", cpu, TRUE }, { "shape", shape, FALSE },
    { "runsIn", runs_in, FALSE }, { "unit", "ms", FALSE }, { "runs", runs, TRUE }, { "warmUp", warm_up, TRUE }, { "share", share, TRUE }, { "macs", macs, TRUE } };

  if (profile->form == NULL)
    {
      g_string_append_printf (out, "%-40s %-9s %-22s %-28s %10s %10s", row->name, status, row->type, kernel, wall, cpu);
      put_rate (out, row->executed ? row->macs : 0, MIN (wall_ms, cpu_ms), profile->peak);
      g_string_append_printf (out, " %5.1f%%  [%s]  %s\n", g_ascii_strtod (share, NULL), shape, runs_in);
      return;
    }
  gboolean json = g_str_equal (profile->form, "json");
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      if (i > 0)
        g_string_append (out, json ? ", " : ",");
      if (json)
        g_string_append_printf (out, "\"%s\": ", fields[i].name);
      if (json && !fields[i].number)
        cmd_json_string (out, fields[i].text);
      else
        json ? (void) g_string_append (out, fields[i].text) : put_csv (out, fields[i].text);
    }
}

/* --- rows ------------------------------------------------------------------ */

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const LptProfileRow *x = *(const LptProfileRow *const *) a, *y = *(const LptProfileRow *const *) b;
  if (x->wall_ns != y->wall_ns)
    return x->wall_ns > y->wall_ns ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* In the order that is asked for (without free function). */
static GPtrArray *
rows_of (LptPlanContext *context, const CmdProfile *profile, double *total_ns)
{
  guint n;
  const LptProfileRow *rows = lpt_plan_context_profile (context, &n);
  GPtrArray *list = g_ptr_array_new ();
  *total_ns = 0.0;
  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (list, (gpointer) &rows[i]);
      *total_ns += (double) rows[i].wall_ns;
    }
  if (profile->by_time)
    g_ptr_array_sort (list, compare_times);
  return list;
}

void
cmd_profile_rows (GString *out, LptPlanContext *context, const CmdProfile *profile)
{
  CmdProfile as_json = *profile;
  double total_ns;
  g_autoptr (GPtrArray) rows = rows_of (context, profile, &total_ns);
  as_json.form = "json";
  g_string_append_c (out, '[');
  for (guint i = 0; i < rows->len; i++)
    {
      g_string_append (out, i == 0 ? "\n {" : ",\n {");
      put_fields (out, g_ptr_array_index (rows, i), &as_json, total_ns);
      g_string_append_c (out, '}');
    }
  g_string_append (out, "\n]");
}

/* --- sums ------------------------------------------------------------------ */

typedef struct { LptDType dtype; guint ops; gint64 wall_ns, macs; } TypeSum;

static gint
compare_sums (gconstpointer a, gconstpointer b)
{
  const TypeSum *x = a, *y = b;
  return x->wall_ns > y->wall_ns ? -1 : x->wall_ns < y->wall_ns;
}

/* What was run, by the element type that it ran in, the longest first. */
static GArray *
sums_of (LptPlanContext *context)
{
  guint n;
  const LptProfileRow *rows = lpt_plan_context_profile (context, &n);
  GArray *sums = g_array_new (FALSE, TRUE, sizeof (TypeSum));
  for (guint i = 0; i < n; i++)
    {
      guint k = 0;
      if (!rows[i].executed)
        continue;
      while (k < sums->len && g_array_index (sums, TypeSum, k).dtype != rows[i].runs_in)
        k++;
      if (k == sums->len)
        g_array_append_val (sums, ((TypeSum) { .dtype = rows[i].runs_in }));
      TypeSum *sum = &g_array_index (sums, TypeSum, k);
      sum->ops++;
      sum->wall_ns += rows[i].wall_ns;
      sum->macs += rows[i].macs;
    }
  g_array_sort (sums, compare_sums);
  return sums;
}

static const char *
type_name (const TypeSum *sum)
{
  return sum->dtype == LPT_DTYPE_UNDEFINED ? "none" : lpt_dtype_name (sum->dtype);
}

void
cmd_profile_totals (GString *out, LptPlanContext *context, const CmdProfile *profile)
{
  g_autoptr (GArray) sums = sums_of (context);
  g_string_append_c (out, '[');
  for (guint i = 0; i < sums->len; i++)
    {
      const TypeSum *sum = &g_array_index (sums, TypeSum, i);
      g_string_append_printf (out, "%s\n {\"runsIn\": \"%s\", \"ops\": %u, \"realTime\": %.6f, \"unit\": \"ms\", \"macs\": %" G_GINT64_FORMAT "}", i > 0 ? "," : "",
                              type_name (sum), sum->ops, (double) sum->wall_ns / 1e6 / profile->n_runs, sum->macs);
    }
  g_string_append (out, "\n]");
}

static void
put_table (GString *out, const LptPlan *plan, LptPlanContext *context, const CmdProfile *profile)
{
  gint64 cpu = 0, macs = 0;
  double total_ns;
  g_autoptr (GPtrArray) rows = rows_of (context, profile, &total_ns);
  g_string_append_printf (out, "times in ms of one run: the mean of %u run%s, %u before to warm up\n", profile->n_runs,
                          profile->n_runs == 1 ? "" : "s", profile->n_warm_up);
  g_string_append_printf (out, "%-40s %-9s %-22s %-28s %10s %10s  GMAC/s%s  share  %s  %s\n", "layerName", "execStatus",
                          "layerType", "execType", "realTime", "cpuTime", profile->peak > 0.0 ? "  peak" : "", "shape",
                          "runsIn");
  for (guint i = 0; i < rows->len; i++)
    {
      const LptProfileRow *row = g_ptr_array_index (rows, i);
      put_fields (out, row, profile, total_ns);
      cpu += row->cpu_ns;
      macs += row->executed ? row->macs : 0;
    }
  double wall_ms = total_ns / 1e6 / profile->n_runs, cpu_ms = (double) cpu / 1e6 / profile->n_runs;
  g_string_append_printf (out, "%-102s %10.6f %10.6f", "total", wall_ms, cpu_ms);
  put_rate (out, macs, MIN (wall_ms, cpu_ms), profile->peak);
  g_autofree char *line = lpt_plan_macs_line (plan);
  g_autoptr (GArray) sums = sums_of (context);
  g_string_append_printf (out, " %5.1f%%  ms\n", 100.0);
  for (guint i = 0; i < sums->len; i++)
    {
      const TypeSum *sum = &g_array_index (sums, TypeSum, i);
      double ms = (double) sum->wall_ns / 1e6 / profile->n_runs;
      g_autofree char *ops = g_strdup_printf ("in %s: %u op%s", type_name (sum), sum->ops, sum->ops == 1 ? "" : "s");
      g_string_append_printf (out, "%-102s %10.6f %10s", ops, ms, "");
      put_rate (out, sum->macs, ms, profile->peak);
      g_string_append_printf (out, " %5.1f%%\n", total_ns > 0.0 ? 100.0 * (double) sum->wall_ns / total_ns : 0.0);
    }
  g_string_append_printf (out, "%s\n", line);
}

void
cmd_profile_print (const LptPlan *plan, LptPlanContext *context, const CmdProfile *profile)
{
  g_autoptr (GString) out = g_string_new (NULL);
  if (profile->form == NULL)
    put_table (out, plan, context, profile);
  else if (g_str_equal (profile->form, "json"))
    {
      cmd_profile_rows (out, context, profile);
      g_string_append_c (out, '\n');
    }
  else
    {
      double total_ns;
      g_autoptr (GPtrArray) rows = rows_of (context, profile, &total_ns);
      g_string_append (out, "layerName,execStatus,layerType,execType,realTime,cpuTime,shape,runsIn,unit,runs,warmUp,share,macs\n");
      for (guint i = 0; i < rows->len; i++)
        {
          put_fields (out, g_ptr_array_index (rows, i), profile, total_ns);
          g_string_append_c (out, '\n');
        }
    }
  fputs (out->str, stdout);
}
