/* progress.h - what is going on, on a terminal only
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_PROGRESS_H
#define LPTC_PROGRESS_H

#include <glib.h>

/* Replaces the line on standard error; at most ten times a second when @total > 0. Nothing happens where standard
 * error is no terminal. */
void progress      (const char *what, guint64 done, guint64 total);
/* The same, as what the library calls. */
void progress_report (const char *what, guint64 done, guint64 total, gpointer data);
/* Clears the line; before anything else is printed, and at the end. */
void progress_end  (void);

#endif
