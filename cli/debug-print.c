/* debug-print.c - what lptc debug found, for people and for scripts
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/debug-print.h"
#include "cli/cmd.h"
#include "cli/style.h"

#include <math.h>
#include <stdio.h>

/* Columns of a histogram on paper; LPT_DEBUG_BARS is a multiple. */
#define COLUMNS 32
/* A remedy that wins so much of what the best one does is as good. */
#define NEARLY 0.9

/* --- text ------------------------------------------------------------------------ */

static void
print_number (double value, int width, int digits)
{
  if (isnan (value))
    printf (" %*s", width, "-");
  else if (isinf (value))
    printf (" %*s", width, value > 0.0 ? "exact" : "-inf");
  else
    printf (" %*.*f", width, digits, value);
}

/* The quantizer of a layer that clips most, else its first; NULL. */
static const LptDebugGrid *
worst_grid (const LptDebugLayer *layer)
{
  const LptDebugGrid *worst = NULL;
  for (guint i = 0; i < layer->grids->len; i++)
    {
      const LptDebugGrid *grid = g_ptr_array_index (layer->grids, i);
      worst = worst == NULL || grid->clipped > worst->clipped ? grid : worst;
    }
  return worst;
}

static void
print_layer (const LptDebugLayer *layer)
{
  const LptDebugGrid *grid = worst_grid (layer);
  print_number (layer->gain, 7, 2);
  print_number (layer->accumulated, 7, 2);
  print_number (layer->isolated, 7, 2);
  print_number (layer->weights, 7, 2);
  print_number (grid != NULL ? 100.0 * grid->clipped : NAN, 7, 3);
  print_number (grid != NULL && grid->unused >= 0 ? grid->unused : NAN, 6, 0);
  print_number (grid != NULL && grid->bits >= 0.0 ? grid->bits : NAN, 5, 2);
  print_number (layer->accumulator, 5, 1);
  printf ("  %s (%s)\n", layer->name, layer->op);
}

static void
print_histogram (const LptDebugGrid *grid)
{
  static const char levels[] = " .:-=+*#%@";
  guint64 sums[COLUMNS] = { 0 }, most = 1;
  for (guint i = 0; i < LPT_DEBUG_BARS; i++)
    sums[i * COLUMNS / LPT_DEBUG_BARS] += grid->bars[i];
  for (guint i = 0; i < COLUMNS; i++)
    most = MAX (most, sums[i]);
  printf ("    %.4g |", grid->low);
  for (guint i = 0; i < COLUMNS; i++)
    {
      if (i == COLUMNS / 4)
        putchar ('[');
      /* By the logarithm: tails matter here. */
      putchar (levels[sums[i] == 0 ? 0 : (guint) (1.0 + 8.0 * log1p ((double) sums[i]) / log1p ((double) most))]);
      if (i == COLUMNS - COLUMNS / 4 - 1)
        putchar (']');
    }
  printf ("| %.4g, seen %.4g to %.4g (%s)\n", grid->high, grid->seen_low, grid->seen_high, grid->name);
}

static void
print_channels (const LptDebugLayer *layer)
{
  guint worst = 0;
  if (layer->channels == NULL || layer->channels->len < 2)
    return;
  for (guint i = 1; i < layer->channels->len; i++)
    if (g_array_index (layer->channels, double, i) < g_array_index (layer->channels, double, worst))
      worst = i;
  printf ("    weights of channel %u of %u are the worst: SQNR %.2f dB, of all %.2f dB\n", worst, layer->channels->len,
          g_array_index (layer->channels, double, worst), layer->weights);
}

static void
print_remedies (const LptDebug *debug, const LptDebugLayer *layer)
{
  if (layer->remedies->len == 0)
    return;
  printf ("\n%s%s%s (%s)\n", cmd_style (CMD_BOLD), layer->name, cmd_style (CMD_PLAIN), layer->op);
  for (guint i = 0; i < layer->grids->len; i++)
    print_histogram (g_ptr_array_index (layer->grids, i));
  print_channels (layer);
  for (guint i = 0; i < layer->remedies->len; i++)
    {
      const LptDebugRemedy *remedy = g_ptr_array_index (layer->remedies, i),
                           *best = g_ptr_array_index (layer->remedies, 0);
      printf ("    %s%+8.2f dB", i == 0 ? "best: " : "      ", remedy->sqnr - debug->sqnr);
      if (!isnan (remedy->time))
        printf (", time x %.2f", remedy->time);
      printf ("  %s%s\n", remedy->text,
              i > 0 && best->sqnr > debug->sqnr && remedy->sqnr - debug->sqnr >= NEARLY * (best->sqnr - debug->sqnr)
                  ? "  (nearly as good)"
                  : "");
    }
}

void
cmd_debug_print (const LptDebug *debug, guint rows)
{
  guint n = rows > 0 ? MIN (rows, debug->layers->len) : debug->layers->len;
  printf ("SQNR of the output: %.2f dB on %u sample%s; values were looked at on %u\n", debug->sqnr, debug->n_judged,
          debug->n_judged == 1 ? "" : "s", debug->n_samples);
  for (guint i = 0; i < debug->remarks->len; i++)
    printf ("remark: %s\n", (char *) g_ptr_array_index (debug->remarks, i));
  printf ("\n%7s %7s %7s %7s %7s %6s %5s %5s\n", "float", "accum.", "alone", "weights", "clipped", "codes", "bits",
          "sum");
  printf ("%7s %7s %7s %7s %7s %6s %5s %5s\n", "wins dB", "dB", "dB", "dB", "%", "unused", "used", "bits");
  for (guint i = 0; i < n; i++)
    print_layer (g_ptr_array_index (debug->layers, i));
  if (n < debug->layers->len)
    printf ("%u more: --all\n", debug->layers->len - n);
  for (guint i = 0; i < debug->layers->len; i++)
    print_remedies (debug, g_ptr_array_index (debug->layers, i));
}

/* --- JSON ------------------------------------------------------------------------ */

static void
put_number (GString *s, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf (s, ", \"%s\": %s", key,
                          isfinite (value) ? g_ascii_formatd (text, sizeof text, "%.9g", value) : "null");
}

static void
put_grid (GString *s, const LptDebugGrid *grid)
{
  g_string_append (s, "{\"name\": ");
  cmd_json_string (s, grid->name);
  g_string_append_printf (s, ", \"levels\": %" G_GUINT64_FORMAT ", \"elements\": %" G_GUINT64_FORMAT, grid->levels,
                          grid->n);
  put_number (s, "low", grid->low);
  put_number (s, "high", grid->high);
  put_number (s, "seen_low", grid->seen_low);
  put_number (s, "seen_high", grid->seen_high);
  put_number (s, "clipped", grid->clipped);
  put_number (s, "unused", grid->unused >= 0 ? grid->unused : NAN);
  put_number (s, "bits", grid->bits >= 0.0 ? grid->bits : NAN);
  g_string_append (s, ", \"histogram\": [");
  for (guint i = 0; i < LPT_DEBUG_BARS; i++)
    g_string_append_printf (s, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "", grid->bars[i]);
  g_string_append (s, "]}");
}

static void
put_remedy (GString *s, const LptDebug *debug, const LptDebugRemedy *remedy)
{
  g_string_append_printf (s, "{\"kind\": \"%s\", \"text\": ", remedy->kind);
  cmd_json_string (s, remedy->text);
  put_number (s, "sqnr", remedy->sqnr);
  put_number (s, "gain", remedy->sqnr - debug->sqnr);
  put_number (s, "time", remedy->time);
  g_string_append_c (s, '}');
}

static void
put_layer (GString *s, const LptDebug *debug, const LptDebugLayer *layer)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (s, "{\"name\": ");
  cmd_json_string (s, layer->name);
  g_string_append_printf (s, ", \"op\": \"%s\", \"place\": %u, \"macs\": %" G_GINT64_FORMAT ", \"replaced\": %s",
                          layer->op, layer->place, layer->macs, layer->replaced ? "true" : "false");
  put_number (s, "gain", layer->gain);
  put_number (s, "accumulated", layer->accumulated);
  put_number (s, "isolated", layer->isolated);
  put_number (s, "weights", layer->weights);
  put_number (s, "accumulator_bits", layer->accumulator);
  put_number (s, "saturated", layer->saturated);
  g_string_append (s, ",\n   \"quantizers\": [");
  for (guint i = 0; i < layer->grids->len; i++)
    {
      g_string_append (s, i > 0 ? ",\n     " : "");
      put_grid (s, g_ptr_array_index (layer->grids, i));
    }
  g_string_append (s, "],\n   \"channels\": [");
  for (guint i = 0; layer->channels != NULL && i < layer->channels->len; i++)
    {
      double db = g_array_index (layer->channels, double, i);
      g_string_append_printf (s, "%s%s", i > 0 ? ", " : "",
                              isfinite (db) ? g_ascii_formatd (text, sizeof text, "%.4g", db) : "null");
    }
  g_string_append (s, "],\n   \"remedies\": [");
  for (guint i = 0; i < layer->remedies->len; i++)
    {
      g_string_append (s, i > 0 ? ",\n     " : "");
      put_remedy (s, debug, g_ptr_array_index (layer->remedies, i));
    }
  g_string_append (s, "]}");
}

void
cmd_debug_print_json (const LptDebug *debug)
{
  g_autoptr (GString) s = g_string_new (NULL);
  g_string_append_printf (s, "{\"samples\": %u, \"judged\": %u", debug->n_samples, debug->n_judged);
  put_number (s, "sqnr", debug->sqnr);
  g_string_append (s, ", \"remarks\": [");
  for (guint i = 0; i < debug->remarks->len; i++)
    {
      g_string_append (s, i > 0 ? ", " : "");
      cmd_json_string (s, g_ptr_array_index (debug->remarks, i));
    }
  g_string_append (s, "],\n \"layers\": [");
  for (guint i = 0; i < debug->layers->len; i++)
    {
      g_string_append (s, i > 0 ? ",\n  " : "\n  ");
      put_layer (s, debug, g_ptr_array_index (debug->layers, i));
    }
  g_string_append (s, "]}\n");
  fputs (s->str, stdout);
}
