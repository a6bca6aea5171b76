/* npy-rows.c - a stacked array, some rows at a time
 *
 * The header is read first; elements are read where they lie. An entry of an archive is read forwards and opened again
 * to go back. What cannot be read in pieces (Fortran order) is loaded whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"
#include "frontends/data/npy-private.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#ifdef LPT_HAVE_LIBZIP
#include "frontends/data/libzip.h"
#endif

#define NOWHERE G_MAXINT64      /* something failed: to be opened again */

struct _DataRows
{
  char      *path, *entry, *source;
  FILE      *file;
  long       start;         /* of the elements in @file */
#ifdef LPT_HAVE_LIBZIP
  zip_t      *zip;
  zip_file_t *unpacked;
#endif
  gint64     at, n;         /* the stream stands at this element, of so many */
  NpyHeader  header;
  LptTensor *whole;
};

static void
close_stream (DataRows *rows)
{
  g_clear_pointer (&rows->file, fclose);
#ifdef LPT_HAVE_LIBZIP
  g_clear_pointer (&rows->unpacked, libzip.file_close);
  g_clear_pointer (&rows->zip, libzip.discard);
#endif
}

void
data_rows_free (DataRows *rows)
{
  if (rows == NULL)
    return;
  close_stream (rows);
  g_clear_pointer (&rows->whole, lpt_tensor_unref);
  g_free (rows->path);
  g_free (rows->entry);
  g_free (rows->source);
  g_free (rows);
}

#ifdef LPT_HAVE_LIBZIP

static NpyStream
stream_of (DataRows *rows)
{
  return rows->unpacked != NULL ? (NpyStream) { npy_read_zip, rows->unpacked, rows->source }
                                : (NpyStream) { npy_read_file, rows->file, rows->source };
}

static gboolean
open_entry (DataRows *rows, GError **error)
{
  g_autofree char *name = g_strconcat (rows->entry, ".npy", NULL);
  if (!libzip_open (rows->source, error))
    return FALSE;
  rows->zip = libzip.open (rows->path, ZIP_RDONLY, NULL);
  if (rows->zip == NULL)
    return npy_fail (error, rows->source, "not an archive, or it cannot be read");
  gboolean suffix = libzip.locate (rows->zip, name, 0) >= 0;
  rows->unpacked = libzip.file_open (rows->zip, suffix ? name : rows->entry, 0);
  return rows->unpacked != NULL || npy_fail (error, rows->source, "cannot be unpacked: %s", libzip.string (rows->zip));
}

/* What was read last of an entry was its end: is its check sum right? */
static gboolean
check_end (DataRows *rows, GError **error)
{
  return rows->unpacked == NULL || npy_end_zip (rows->unpacked, rows->source, error);
}

GStrv
data_archive_names (const char *path, GError **error)
{
  if (!libzip_open (path, error))
    return NULL;
  zip_t *zip = libzip.open (path, ZIP_RDONLY, NULL);
  if (zip == NULL)
    {
      npy_fail (error, path, "not an archive, or it cannot be read");
      return NULL;
    }
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (zip_int64_t i = 0, n = libzip.get_num_entries (zip, 0); i < n; i++)
    {
      const char *name = libzip.get_name (zip, (zip_uint64_t) i, 0);
      g_autofree char *plain = npy_entry_name (name != NULL ? name : "");
      g_strv_builder_add (names, plain);
    }
  libzip.discard (zip);
  return g_strv_builder_end (names);
}

#else

static NpyStream
stream_of (DataRows *rows)
{
  return (NpyStream) { npy_read_file, rows->file, rows->source };
}

static gboolean
open_entry (DataRows *rows, GError **error)
{
  return npy_fail (error, rows->path, "unsupported: built without libzip; use .npy files");
}

static gboolean
check_end (DataRows *rows, GError **error)
{
  return TRUE;
}

GStrv
data_archive_names (const char *path, GError **error)
{
  npy_fail (error, path, "unsupported: built without libzip; use .npy files");
  return NULL;
}

#endif

/* The stream stands at the first byte. */
static gboolean
open_source (DataRows *rows, GError **error)
{
  close_stream (rows);
  if (rows->entry != NULL)
    return open_entry (rows, error);
  rows->file = g_fopen (rows->path, "rb");
  if (rows->file == NULL)
    g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", rows->path, g_strerror (errno));
  return rows->file != NULL;
}

static gboolean
changed (DataRows *rows, GError **error)
{
  return npy_fail (error, rows->source, "the file was changed while it was read");
}

/* Opens the array and reads its header, which is the same each time; the stream stands at element 0. */
static gboolean
open_stream (DataRows *rows, gboolean again, GError **error)
{
  NpyHeader header;
  gsize need;
  rows->at = NOWHERE;
  if (!open_source (rows, error))
    return FALSE;
  NpyStream stream = stream_of (rows);
  if (!npy_load_header (&stream, &header, &need, error))
    return FALSE;
  if (again && (header.dtype != rows->header.dtype || header.swap != rows->header.swap || header.fortran))
    return changed (rows, error);
  rows->header = header;
  rows->at = 0;
  rows->n = (gint64) (need / (lpt_dtype_bits (header.dtype) / 8));
  rows->start = rows->file != NULL ? ftell (rows->file) : 0;
  return TRUE;
}

DataRows *
data_rows_open (const char *path, const char *entry, GError **error)
{
  DataRows *rows = g_new0 (DataRows, 1);
  rows->path = g_strdup (path);
  rows->entry = g_strdup (entry);
  rows->source = entry != NULL ? g_strdup_printf ("%s: %s", path, entry) : g_strdup (path);
  if (open_stream (rows, FALSE, error))
    return rows;
  data_rows_free (rows);
  return NULL;
}

const LptShape *
data_rows_shape (const DataRows *rows)
{
  return &rows->header.shape;
}

/* Puts the stream at element @first. */
static gboolean
seek (DataRows *rows, gint64 first, gsize width, GError **error)
{
  if (rows->at == first)
    return TRUE;
  if (rows->file != NULL)
    {
      rows->at = first;
      return fseek (rows->file, rows->start + (long) ((gsize) first * width), SEEK_SET) == 0
             || npy_fail (error, rows->source, "cannot be read");
    }
  if (first < rows->at && !open_stream (rows, TRUE, error))
    return FALSE;
  NpyStream stream = stream_of (rows);
  guint8 skipped[4096];
  gsize left = (gsize) (first - rows->at) * width;
  rows->at = NOWHERE;
  for (gsize n = 1; left > 0 && n > 0; left -= n)
    {
      n = npy_fill (&stream, skipped, MIN (left, sizeof skipped));
      if (n > left)
        return npy_fail (error, rows->source, "cannot be read");
    }
  if (left > 0)
    return npy_fail (error, rows->source, "the file ends early");
  rows->at = first;
  return TRUE;
}

/* All of it, for orders that do not stream. */
static gboolean
load_whole (DataRows *rows, GError **error)
{
  if (rows->whole != NULL)
    return TRUE;
  if (!open_source (rows, error))
    return FALSE;
  NpyStream stream = stream_of (rows);
  g_autoptr (LptTensor) whole = npy_load_array (&stream, NULL, NULL, NULL, error);
  gboolean ok = whole != NULL && check_end (rows, error);
  close_stream (rows);
  if (!ok)
    return FALSE;
  if (lpt_tensor_dtype (whole) != rows->header.dtype
      || !lpt_shape_equal (lpt_tensor_shape (whole), &rows->header.shape))
    return changed (rows, error);
  rows->whole = g_steal_pointer (&whole);
  return TRUE;
}

LptTensor *
data_rows_read (DataRows *rows, gint64 first, const LptShape *shape, GError **error)
{
  const NpyHeader *h = &rows->header;
  gsize width = lpt_dtype_bits (h->dtype) / 8;
  gint64 count;
  if (!lpt_shape_count (shape, &count) || count > rows->n - first)
    {
      npy_fail (error, rows->source, "no such rows");
      return NULL;
    }
  if (h->fortran)
    return load_whole (rows, error) ? lpt_tensor_new_copy (
             h->dtype, shape, (const guint8 *) lpt_tensor_data (rows->whole) + (gsize) first * width, error)
                                    : NULL;
  g_autoptr (LptTensor) tensor = lpt_tensor_new (h->dtype, shape, error);
  if (tensor == NULL || !seek (rows, first, width, error))
    return NULL;
  NpyStream stream = stream_of (rows);
  gsize need = (gsize) count * width, n = npy_fill (&stream, lpt_tensor_writable (tensor), need);
  rows->at = NOWHERE;
  if (n != need)
    {
      npy_fail (error, rows->source, n < need ? "the file ends early" : "cannot be read");
      return NULL;
    }
  rows->at = first + count;
  if (rows->at == rows->n && !check_end (rows, error))
    return NULL;
  if (!h->swap || width <= 1)
    return g_steal_pointer (&tensor);
  NpyHeader part = *h;
  part.shape = *shape;
  return npy_rearrange (&part, lpt_tensor_data (tensor), count, error);
}
