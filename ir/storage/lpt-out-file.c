/* lpt-out-file.c - files that are written beside their names and renamed
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/storage/lpt-map-file.h"
#include "ir/lpt-memory.h"
#include <lpt/lpt-out-file.h>

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what a signal handler may look at -------------------------------------- */

#define MAX_OPEN 16    /* a model and its sidecars; of more at one time the rest stays behind */

typedef enum { SLOT_FREE, SLOT_TAKEN, SLOT_NAMED } SlotState;

static struct
{
  gint state;          /* SlotState, atomic; the path holds while it is SLOT_NAMED */
  char path[PATH_MAX];
} slots[MAX_OPEN];

/* The number of the slot that keeps @path, 0 where none does. */
static guint
keep_path (const char *path)
{
  if (strlen (path) >= PATH_MAX)
    return 0;
  for (guint i = 0; i < MAX_OPEN; i++)
    if (g_atomic_int_compare_and_exchange (&slots[i].state, SLOT_FREE, SLOT_TAKEN))
      {
        strcpy (slots[i].path, path);
        g_atomic_int_set (&slots[i].state, SLOT_NAMED);
        return i + 1;
      }
  return 0;
}

static void
forget_path (LptOutFile *file)
{
  if (file->slot > 0)
    g_atomic_int_set (&slots[file->slot - 1].state, SLOT_FREE);
  file->slot = 0;
}

void
lpt_out_file_unlink_all (void)
{
  for (guint i = 0; i < MAX_OPEN; i++)
    if (g_atomic_int_get (&slots[i].state) == SLOT_NAMED)
      (void) unlink (slots[i].path);
}

/* --- files ------------------------------------------------------------------ */

static gboolean
fail (const LptOutFile *file, int code, GError **error)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be written: %s", file->path, g_strerror (code));
  return FALSE;
}

gboolean
lpt_out_file_open (LptOutFile *file, const char *path, GError **error)
{
  GStatBuf info;
  gboolean exists;
  int fd = -1;

  *file = (LptOutFile) { .path = g_strdup (path), .real = lpt_path_behind_links (path), .mark = lpt_memory_mark () };
  if (file->real == NULL)
    return fail (file, errno, error);
  exists = g_stat (path, &info) == 0;
  if (exists && !S_ISREG (info.st_mode))
    {
      if (S_ISDIR (info.st_mode))
        return fail (file, EISDIR, error);
      file->stream = g_fopen (path, "wb");
      return file->stream != NULL || fail (file, errno, error);
    }
  for (guint i = 0; i < 100 && fd < 0; i++)
    {
      g_free (file->temp);
      file->temp = g_strdup_printf ("%s.%08x.tmp", file->real, g_random_int ());
      fd = g_open (file->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
      if (fd < 0 && errno != EEXIST)
        break;
    }
  if (fd < 0)
    {
      int code = errno;
      g_clear_pointer (&file->temp, g_free);
      return fail (file, code, error);
    }
  file->slot = keep_path (file->temp);
  file->stream = fdopen (fd, "wb");
  g_assert (file->stream != NULL);
  /* Before there is anything to read in it. File systems without modes refuse, and have nothing to keep. */
  if (exists)
    (void) fchmod (fd, info.st_mode & 0777);
  return TRUE;
}

gboolean
lpt_out_file_finish (LptOutFile *file, GError **error)
{
  FILE *stream = g_steal_pointer (&file->stream);
  gboolean bad = stream == NULL || ferror (stream) || fflush (stream) != 0;
  int code = bad ? errno : 0;
  if (stream != NULL && fclose (stream) != 0 && !bad)
    {
      bad = TRUE;
      code = errno;
    }
  if (bad)
    return fail (file, code != 0 ? code : EIO, error);
  if (lpt_memory_check (file->mark, error))
    return TRUE;
  g_prefix_error (error, "%s: ", file->path);
  return FALSE;
}

gboolean
lpt_out_file_commit (LptOutFile *file, GError **error)
{
  if (file->temp != NULL && g_rename (file->temp, file->real) != 0)
    return fail (file, errno, error);
  forget_path (file);
  g_clear_pointer (&file->temp, g_free);
  return TRUE;
}

void
lpt_out_file_clear (LptOutFile *file)
{
  if (file->stream != NULL)
    fclose (file->stream);
  if (file->temp != NULL)
    g_unlink (file->temp);
  forget_path (file);
  g_free (file->temp);
  g_free (file->real);
  g_free (file->path);
  *file = (LptOutFile) { NULL };
}

gboolean
lpt_out_file_text (const char *path, const char *text, gsize length, GError **error)
{
  g_auto (LptOutFile) file = { NULL };
  if (!lpt_out_file_open (&file, path, error))
    return FALSE;
  fwrite (text, 1, length, file.stream);
  return lpt_out_file_finish (&file, error) && lpt_out_file_commit (&file, error);
}
