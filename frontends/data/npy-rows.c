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
#include <zip.h>
#endif

struct _DataRows
{
  char      *path, *entry, *source;
  FILE      *file;
  long       start;         /* of the elements in @file */
#ifdef LPT_HAVE_LIBZIP
  zip_t      *zip;
  zip_file_t *unpacked;
#endif
  gint64     at;            /* the stream stands at this element */
  NpyHeader  header;
  LptTensor *whole;
};

static void
close_stream (DataRows *rows)
{
  g_clear_pointer (&rows->file, fclose);
#ifdef LPT_HAVE_LIBZIP
  g_clear_pointer (&rows->unpacked, zip_fclose);
  g_clear_pointer (&rows->zip, zip_discard);
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

static gssize
read_zip (gpointer from, gpointer to, gsize size)
{
  return (gssize) zip_fread (from, to, size);
}

static NpyStream
stream_of (DataRows *rows)
{
  return rows->unpacked != NULL ? (NpyStream) { read_zip, rows->unpacked, rows->source }
                                : (NpyStream) { npy_read_file, rows->file, rows->source };
}

static gboolean
open_entry (DataRows *rows, GError **error)
{
  g_autofree char *name = g_strconcat (rows->entry, ".npy", NULL);
  rows->zip = zip_open (rows->path, ZIP_RDONLY, NULL);
  rows->unpacked = rows->zip != NULL ? zip_fopen (rows->zip, name, 0) : NULL;
  if (rows->zip != NULL && rows->unpacked == NULL)
    rows->unpacked = zip_fopen (rows->zip, rows->entry, 0);
  return rows->unpacked != NULL || npy_fail (error, rows->source, "cannot be unpacked");
}

GStrv
data_archive_names (const char *path, GError **error)
{
  zip_t *zip = zip_open (path, ZIP_RDONLY, NULL);
  if (zip == NULL)
    {
      npy_fail (error, path, "not an archive, or it cannot be read");
      return NULL;
    }
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (zip_int64_t i = 0, n = zip_get_num_entries (zip, 0); i < n; i++)
    {
      const char *name = zip_get_name (zip, (zip_uint64_t) i, 0);
      g_autofree char *plain =
        name == NULL ? NULL : g_strndup (name, strlen (name) - (g_str_has_suffix (name, ".npy") ? 4 : 0));
      if (plain != NULL)
        g_strv_builder_add (names, plain);
    }
  zip_discard (zip);
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

GStrv
data_archive_names (const char *path, GError **error)
{
  npy_fail (error, path, "unsupported: built without libzip; use .npy files");
  return NULL;
}

#endif

/* Opens the array and reads its header; the stream stands at element 0. */
static gboolean
open_stream (DataRows *rows, GError **error)
{
  gsize need;
  close_stream (rows);
  rows->at = 0;
  if (rows->entry != NULL && !open_entry (rows, error))
    return FALSE;
  if (rows->entry == NULL && (rows->file = g_fopen (rows->path, "rb")) == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", rows->path, g_strerror (errno));
      return FALSE;
    }
  NpyStream stream = stream_of (rows);
  if (!npy_load_header (&stream, &rows->header, &need, error))
    return FALSE;
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
  if (open_stream (rows, error))
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
  if (first < rows->at && !open_stream (rows, error))
    return FALSE;
  NpyStream stream = stream_of (rows);
  guint8 skipped[4096];
  for (gsize left = (gsize) (first - rows->at) * width; left > 0; )
    {
      gsize n = npy_fill (&stream, skipped, MIN (left, sizeof skipped));
      if (n != MIN (left, sizeof skipped))
        return npy_fail (error, rows->source, "the file ends early");
      left -= n;
    }
  rows->at = first;
  return TRUE;
}

/* All of it, for orders that do not stream. */
static gboolean
load_whole (DataRows *rows, GError **error)
{
  if (rows->whole != NULL)
    return TRUE;
  if (!open_stream (rows, error) || (rows->file != NULL && fseek (rows->file, 0, SEEK_SET) != 0))
    return FALSE;
  if (rows->file == NULL && (close_stream (rows), !open_entry (rows, error)))
    return FALSE;
  NpyStream stream = stream_of (rows);
  rows->whole = npy_load_array (&stream, NULL, NULL, NULL, error);
  close_stream (rows);
  return rows->whole != NULL;
}

LptTensor *
data_rows_read (DataRows *rows, gint64 first, const LptShape *shape, GError **error)
{
  const NpyHeader *h = &rows->header;
  gsize width = lpt_dtype_bits (h->dtype) / 8, need;
  gint64 count, all;
  if (!lpt_shape_count (shape, &count) || !lpt_shape_count (&h->shape, &all) || first < 0 || count > all - first
      || !lpt_tensor_byte_size (h->dtype, count, &need))
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
  gsize n = npy_fill (&stream, lpt_tensor_writable (tensor), need);
  if (n != need)
    {
      rows->at = -1;
      npy_fail (error, rows->source, "the file ends early");
      return NULL;
    }
  rows->at = first + count;
  if (!h->swap || width <= 1)
    return g_steal_pointer (&tensor);
  NpyHeader part = *h;
  part.shape = *shape;
  return npy_rearrange (&part, lpt_tensor_data (tensor), count, error);
}
