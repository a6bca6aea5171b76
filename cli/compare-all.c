/* compare-all.c - two models, value by value: the worst first, then what has no counterpart
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/compare-all.h"
#include "cli/arrays.h"
#include "cli/cmd.h"
#include "cli/progress.h"

#include <lpt/lpt-compare.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Below this a value is far from what it should be. */
#define DIVERGED 20.0

/* The least SQNR first; NaN and what is equal last. */
static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const LptValueDistance *x = *(const LptValueDistance *const *) a, *y = *(const LptValueDistance *const *) b;
  double s = isnan (x->sqnr) ? HUGE_VAL : x->sqnr, t = isnan (y->sqnr) ? HUGE_VAL : y->sqnr;
  if (s != t)
    return s < t ? -1 : 1;
  return x->max > y->max ? -1 : x->max < y->max;
}

/* In the order of the model: the first that differs at all, or that is below @limit dB; NULL. */
static const LptValueDistance *
first_below (const LptComparison *c, double limit)
{
  for (guint i = 0; i < c->rows->len; i++)
    {
      const LptValueDistance *row = g_ptr_array_index (c->rows, i);
      if (row->sqnr < limit || row->nan_a != row->nan_b)
        return row;
    }
  return NULL;
}

/* --- JSON ------------------------------------------------------------------ */

static void
put_number (GString *s, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (s, ", \"%s\": %s", key,
                          isfinite (value) ? g_ascii_formatd (text, sizeof text, "%.9g", value) : "null");
}

static void
put_names (GString *s, const char *key, const GPtrArray *names)
{
  g_string_append_printf (s, ",\n \"%s\": [", key);
  for (guint i = 0; i < names->len; i++)
    {
      g_string_append (s, i > 0 ? ", " : "");
      cmd_json_string (s, g_ptr_array_index (names, i));
    }
  g_string_append_c (s, ']');
}

static void
put_first (GString *s, const char *key, const LptValueDistance *row)
{
  g_string_append_printf (s, ", \"%s\": ", key);
  if (row != NULL)
    cmd_json_string (s, row->a);
  else
    g_string_append (s, "null");
}

static void
print_json (const LptComparison *c, GPtrArray *sorted, gint64 seed)
{
  g_autoptr (GString) s = g_string_new (NULL);
  g_string_append_printf (s, "{\"samples\": %u, \"matched\": %u, \"of\": %u, \"seed\": ", c->n_samples, c->rows->len,
                          lpt_comparison_n_both (c));
  g_string_append_printf (s, seed != CMD_NO_SEED ? "%" G_GINT64_FORMAT : "null", seed);
  put_first (s, "first_difference", first_below (c, HUGE_VAL));
  put_first (s, "first_below_20_db", first_below (c, DIVERGED));
  g_string_append (s, ",\n \"values\": [");
  for (guint i = 0; i < sorted->len; i++)
    {
      const LptValueDistance *row = g_ptr_array_index (sorted, i);
      g_string_append (s, i > 0 ? ",\n  {\"a\": " : "\n  {\"a\": ");
      cmd_json_string (s, row->a);
      g_string_append (s, ", \"b\": ");
      cmd_json_string (s, row->b);
      g_string_append_printf (s, ", \"op\": \"%s\", \"type_a\": \"%s\", \"type_b\": \"%s\"", row->op,
                              lpt_dtype_name (row->type_a), lpt_dtype_name (row->type_b));
      put_number (s, "sqnr", row->sqnr);
      put_number (s, "cosine", row->cosine);
      put_number (s, "max", row->max);
      put_number (s, "mean", row->mean);
      g_string_append_printf (s,
                              ", \"elements\": %" G_GINT64_FORMAT ", \"nan_a\": %" G_GINT64_FORMAT
                              ", \"nan_b\": %" G_GINT64_FORMAT ", \"fitted\": %s}",
                              row->count, row->nan_a, row->nan_b, row->fitted ? "true" : "false");
    }
  g_string_append (s, "]");
  put_names (s, "only_a", c->only_a);
  put_names (s, "only_b", c->only_b);
  g_string_append (s, "}\n");
  fputs (s->str, stdout);
}

/* --- text ------------------------------------------------------------------ */

/* TensorFlow Lite names a value after all that became part of it, "a;b;c": the first of them (transfer full). JSON has
 * all. */
static char *
brief (const char *name)
{
  const char *end = strchr (name, ';');
  return end != NULL ? g_strdup_printf ("%.*s;…", (int) (end - name), name) : g_strdup (name);
}

static void
print_names (const char *path, const GPtrArray *names)
{
  if (names->len > 0)
    printf ("\nonly in %s, or inside of another op there:\n", path);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *name = brief (g_ptr_array_index (names, i));
      printf ("  %s\n", name);
    }
}

static void
print_text (const LptComparison *c, GPtrArray *sorted, char **paths, const CmdCompareAll *how)
{
  const LptValueDistance *differs = first_below (c, HUGE_VAL), *diverged = first_below (c, DIVERGED);
  if (how->seed != CMD_NO_SEED)
    printf ("inputs that are not given were drawn, seed %" G_GINT64_FORMAT
            ": give samples of your own (--data, -i) to judge a model\n",
            how->seed);
  guint unsure = lpt_comparison_n_both (c) - c->rows->len;
  g_autofree char *more = unsure > 0 ? g_strdup_printf (", %u more may be", unsure) : g_strdup ("");
  printf ("%u values in both%s, %u sample%s; the worst first\n", c->rows->len, more, c->n_samples,
          c->n_samples == 1 ? "" : "s");
  printf ("%-40s %-22s %10s %12s %13s %13s  %s\n", "value", "op", "SQNR dB", "cosine", "max |diff|", "mean |diff|",
          "types");
  for (guint i = 0; i < sorted->len; i++)
    {
      const LptValueDistance *row = g_ptr_array_index (sorted, i);
      g_autofree char *name = brief (row->a);
      gboolean past = !isnan (how->tolerance) && !(row->max <= how->tolerance);
      printf ("%-40s %-22s %10.2f %12.9f %13.6g %13.6g  %s, %s", name, row->op, row->sqnr, row->cosine, row->max,
              row->mean, lpt_dtype_name (row->type_a), lpt_dtype_name (row->type_b));
      if (row->nan_a + row->nan_b > 0)
        printf ("  NaN: %" G_GINT64_FORMAT " in A, %" G_GINT64_FORMAT " in B", row->nan_a, row->nan_b);
      printf ("%s%s\n", row->fitted ? "  unit fitted" : "", past ? "  past the tolerance" : "");
    }
  g_autofree char *first = brief (differs != NULL ? differs->a : "none"),
                  *far = brief (diverged != NULL ? diverged->a : "none");
  printf ("\nfirst that differs: %s\nfirst below %.0f dB: %s\n", first, DIVERGED, far);
  print_names (paths[0], c->only_a);
  print_names (paths[1], c->only_b);
}

int
cmd_compare_all (LptGraph *a, LptGraph *b, char **paths, LptData *data, const CmdCompareAll *how, gboolean *failed)
{
  GError *error = NULL;
  const LptCompareOptions options = { .reference = how->reference,
                                      .threads = (guint) how->threads,
                                      .progress = progress_report };
  g_autoptr (LptComparison) c = lpt_compare_values (a, b, data, &options, &error);
  progress_end ();
  if (c == NULL)
    return cmd_fail (error);
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = 0; i < c->rows->len; i++)
    {
      const LptValueDistance *row = g_ptr_array_index (c->rows, i);
      g_ptr_array_add (sorted, (gpointer) row);
      *failed |= !isnan (how->tolerance) && !(row->max <= how->tolerance);
    }
  *failed |= sorted->len == 0;
  g_ptr_array_sort (sorted, compare_rows);
  if (how->json)
    print_json (c, sorted, how->seed);
  else
    print_text (c, sorted, paths, how);
  return CMD_OK;
}
