/* limits.c - --max-memory, --max-trips, --allow-paths, --weights, --signature, --encodings, --stateless
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/limits.h"

#include "cli/cmd.h"

#include <lpt/lpt-out-file.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One command runs in a process. */
static struct
{
  LptLimits *limits;
  char     **weights, **encodings;
  char      *signature;
  gboolean   allow_paths, stateless;
} given;

static LptLimits *
limits (void)
{
  if (given.limits == NULL)
    given.limits = lpt_limits_new ();
  return given.limits;
}

/* Bytes; K, M, G and T are powers of 1024. */
static gboolean
on_max_memory (const char *option, const char *value, gpointer data, GError **error)
{
  static const char units[] = "KMGT";
  char *end = NULL;
  guint64 n = g_ascii_isdigit (*value) ? g_ascii_strtoull (value, &end, 10) : 0;
  const char *unit = end != NULL && *end != '\0' ? strchr (units, g_ascii_toupper (*end)) : NULL;
  guint shift = unit != NULL ? 10 * (guint) (unit - units + 1) : 0;
  if (end == NULL || (*end != '\0' && (unit == NULL || end[1] != '\0')) || n > (guint64) G_MAXSSIZE >> shift)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--max-memory %s: a size is wanted: 800M, 4G",
                   value);
      return FALSE;
    }
  lpt_limits_set_max_memory (limits (), n << shift);
  return TRUE;
}

static gboolean
on_max_trips (const char *option, const char *value, gpointer data, GError **error)
{
  gint64 trips;
  if (!g_ascii_string_to_signed (value, 10, 0, G_MAXINT64, &trips, error))
    {
      g_prefix_error (error, "--max-trips %s: ", value);
      return FALSE;
    }
  lpt_limits_set_max_trips (limits (), trips);
  return TRUE;
}

const GOptionEntry *
cmd_limits_entries (void)
{
  static const GOptionEntry entries[] = {
    { "weights", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.weights, "Weights of an OpenVINO IR under another name than the .xml's", "FILE" },
    { "signature", 0, 0, G_OPTION_ARG_STRING, &given.signature, "Entry point of a TensorFlow Lite model (default: its first subgraph)", "KEY" },
    { "encodings", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.encodings,
      "Quantizations of an ONNX model's tensors: AIMET's .encodings, QNN's overrides", "FILE" },
    { "stateless", 0, 0, G_OPTION_ARG_NONE, &given.stateless, "Variables become inputs and outputs", NULL },
    { "allow-paths", 0, 0, G_OPTION_ARG_NONE, &given.allow_paths, "Files that the model names may lie outside of its folder", NULL },
    { "max-memory", 0, 0, G_OPTION_ARG_CALLBACK, on_max_memory, "Most memory for tensors and weights (default: half of the machine; 0 = any)", "SIZE" },
    { "max-trips", 0, 0, G_OPTION_ARG_CALLBACK, on_max_trips, "Most trips of all loops of a run together (default 100000000)", "N" },
    { NULL },
  };
  return entries;
}

void
cmd_limits_apply (void)
{
  lpt_limits_set_allow_paths (limits (), given.allow_paths);
  lpt_limits_set_thread (limits ());
}

gboolean
cmd_limits_exceed (double bytes)
{
  const guint64 most = lpt_limits_max_memory (limits ());
  return most != 0 && bytes + (double) lpt_limits_memory (limits ()) > (double) most;
}

char **
cmd_limits_weights (void)
{
  return given.weights;
}

char **
cmd_limits_encodings (void)
{
  return given.encodings;
}

const char *
cmd_limits_signature (void)
{
  return given.signature;
}

gboolean
cmd_limits_stateless (void)
{
  return given.stateless;
}

/* --- files that shrink ------------------------------------------------------ */

static void
on_bus_error (int number)
{
  static const char text[] = "lptc: a file became shorter while it was read\n";
  if (write (STDERR_FILENO, text, sizeof text - 1) < 0)
    {
      /* Nobody is there to be told. */
    }
  lpt_out_file_unlink_all ();
  _exit (CMD_FAILED);
}

void
cmd_limits_catch_bus_error (void)
{
  struct sigaction action = { .sa_handler = on_bus_error, .sa_flags = (int) SA_RESETHAND };
  sigemptyset (&action.sa_mask);
  sigaction (SIGBUS, &action, NULL);
}
