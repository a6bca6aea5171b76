/* lpt-out-file.h - an output file that appears under its name only when all of it is written
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_OUT_FILE_H
#define LPT_OUT_FILE_H

#include <stdio.h>

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

/* Zero-initialised = none. A path that is no regular file (a pipe, a device) is written in place; of a link the file
 * that it leads to is replaced. What replaces a file has its mode bits. One thread at a time; several files
 * may be open in several threads. */
typedef struct
{
  char *path;      /* as it was given */
  char *real;      /* behind links; what gets replaced */
  char *temp;      /* beside @real; NULL when written in place or done */
  FILE *stream;    /* write here; errors show up in lpt_out_file_finish() */
  guint mark;      /* what is written is not whole where memory lacked since */
  guint slot;      /* where lpt_out_file_unlink_all() finds @temp; 0 = nowhere */
} LptOutFile;

/* Opens a file beside @path; FALSE + error. */
LPT_EXPORT gboolean lpt_out_file_open   (LptOutFile *file, const char *path, GError **error);
/* Everything is on disk under the temporary name; FALSE + error when a write failed. */
LPT_EXPORT gboolean lpt_out_file_finish (LptOutFile *file, GError **error);
/* Takes its name. */
LPT_EXPORT gboolean lpt_out_file_commit (LptOutFile *file, GError **error);
/* Frees; removes what was not committed. */
LPT_EXPORT void     lpt_out_file_clear  (LptOutFile *file);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptOutFile, lpt_out_file_clear)
/* Removes the temporary files of this process that are being written. For signal handlers that end it: nothing but
 * unlink() is called. */
LPT_EXPORT void     lpt_out_file_unlink_all (void);

/* @text as the whole content of @path, by rename. */
LPT_EXPORT gboolean lpt_out_file_text   (const char *path, const char *text, gsize length, GError **error);

G_END_DECLS

#endif
