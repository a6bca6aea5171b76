/* progress.c - a line on the terminal
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

/* The terminal is the process's own: so is this. */
static gint64 last;
static gboolean shown;

void
progress (const char *what, guint64 done, guint64 total)
{
  gint64 now = g_get_monotonic_time ();
  if (!isatty (STDERR_FILENO) || (total > 0 && shown && now - last < G_USEC_PER_SEC / 10))
    return;
  last = now;
  shown = TRUE;
  if (total > 0)
    fprintf (stderr, "\r\033[K%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " (%u %%)", what, done, total,
             (guint) (done * 100 / total));
  else
    fprintf (stderr, "\r\033[K%s ...", what);
  fflush (stderr);
}

void
progress_report (const char *what, guint64 done, guint64 total, gpointer data)
{
  progress (what, done, total);
}

void
progress_end (void)
{
  if (shown)
    fputs ("\r\033[K", stderr);
  shown = FALSE;
}
