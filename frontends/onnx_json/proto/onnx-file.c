/* onnx-file.c - opens ONNX files and the external data beside them
 *
 * External data stays inside the model's folder (lpt_path_beside()). Each data file is mapped once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-file.h"

#include "ir/storage/lpt-map-file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

LptOnnxFile *
lpt_onnx_file_ref (LptOnnxFile *file)
{
  g_atomic_ref_count_inc (&file->refs);
  return file;
}

void
lpt_onnx_file_unref (LptOnnxFile *file)
{
  if (!g_atomic_ref_count_dec (&file->refs))
    return;
  if (file->bytes != NULL)
    {
      gsize size;
      gconstpointer data = g_bytes_get_data (file->bytes, &size);

      lpt_onnx_model_return (file->model, data, size);
    }
  lpt_onnx_model_free (file->model);
  g_clear_pointer (&file->bytes, g_bytes_unref);
  g_hash_table_unref (file->externals);
  g_free (file->folder);
  g_free (file);
}

gboolean
lpt_onnx_file_lends (const LptOnnxFile *file,
                     gconstpointer      data)
{
  gsize size;
  gconstpointer from = file->bytes != NULL ? g_bytes_get_data (file->bytes, &size) : NULL;

  return from != NULL && (guintptr) data - (guintptr) from < size;
}

/* JSON starts with "{", maybe behind a byte order mark or spaces. In protobuf "{" is a group of field 15, which no ONNX
 * file has. */
static gsize
json_start (const char *text,
            gsize       size)
{
  gsize i = size >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

  while (i < size && g_ascii_isspace (text[i]))
    i++;
  return i < size && text[i] == '{' ? i : G_MAXSIZE;
}

/* @bytes NULL: @data goes when this returns. */
static LptOnnxFile *
open_file (gconstpointer   data,
           gsize           size,
           GBytes         *bytes,
           const char     *folder,
           GError        **error)
{
  gsize start = json_start (data, size);
  Onnx__ModelProto *model;
  LptOnnxFile *file;

  if (size == 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "the file is empty");
      return NULL;
    }
  if (start != G_MAXSIZE)
    model = lpt_onnx_model_from_json ((const char *) data + start, size - start, error);
  else
    model = lpt_onnx_model_from_wire (data, size, bytes != NULL, error);
  if (model == NULL)
    return NULL;

  file = g_new0 (LptOnnxFile, 1);
  g_atomic_ref_count_init (&file->refs);
  file->folder = g_strdup (folder);
  file->model = model;
  if (bytes != NULL && start == G_MAXSIZE)
    file->bytes = g_bytes_ref (bytes);
  file->externals = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  return file;
}

LptOnnxFile *
lpt_onnx_file_from_data (gconstpointer   data,
                         gsize           size,
                         const char     *folder,
                         GError        **error)
{
  return open_file (data, size, NULL, folder, error);
}

/* Maps a regular file: a pipe or a device would block or never end. */
static GBytes *
map_file (const char  *path,
          GError     **error)
{
  g_autoptr (GMappedFile) mapped = NULL;
  g_autoptr (GError) local = NULL;
  GStatBuf info;

  if (g_stat (path, &info) != 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, g_strerror (errno));
      return NULL;
    }
  if (!S_ISREG (info.st_mode))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: not a regular file", path);
      return NULL;
    }
  mapped = g_mapped_file_new (path, FALSE, &local);
  if (mapped == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, local->message);
      return NULL;
    }
  return g_mapped_file_get_bytes (mapped);
}

LptOnnxFile *
lpt_onnx_file_load (const char  *path,
                    GError     **error)
{
  g_autoptr (GBytes) bytes = map_file (path, error);
  g_autofree char *folder = NULL;
  LptOnnxFile *file;
  gconstpointer data;
  gsize size;

  if (bytes == NULL)
    return NULL;
  folder = g_path_get_dirname (path);
  data = g_bytes_get_data (bytes, &size);
  file = open_file (data, size, bytes, folder, error);
  if (file == NULL)
    g_prefix_error (error, "%s: ", path);
  return file;
}

/* --- external data ---------------------------------------------------------- */

static GBytes *
map_external (LptOnnxFile  *file,
              const char   *location,
              GError      **error)
{
  g_autofree char *path = NULL;
  GBytes *bytes;

  if (file->folder == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "external data \"%s\" of a model that has no folder", location);
      return NULL;
    }
  path = lpt_path_beside (file->folder, location, "external data", error);
  if (path == NULL)
    return NULL;
  bytes = g_hash_table_lookup (file->externals, path);
  if (bytes == NULL)
    {
      bytes = map_file (path, error);
      if (bytes == NULL)
        return NULL;
      g_hash_table_insert (file->externals, g_steal_pointer (&path), bytes);
    }
  return bytes;
}

GBytes *
lpt_onnx_file_external (LptOnnxFile             *file,
                        const Onnx__TensorProto *tensor,
                        gsize                    size,
                        GError                 **error)
{
  const char *location = NULL;
  guint64 offset = 0, length = size;
  GBytes *bytes;

  for (gsize i = 0; i < tensor->n_external_data; i++)
    {
      const char *key = tensor->external_data[i]->key, *value = tensor->external_data[i]->value;
      guint64 *number = NULL;

      if (key == NULL || value == NULL)
        continue;
      if (strcmp (key, "location") == 0)
        location = value;
      else if (strcmp (key, "offset") == 0)
        number = &offset;
      else if (strcmp (key, "length") == 0)
        number = &length;
      if (number != NULL && !g_ascii_string_to_unsigned (value, 10, 0, G_MAXSSIZE, number, NULL))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "external data: %s \"%.40s\" is not a number of bytes", key,
                       value);
          return NULL;
        }
    }
  if (location == NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, "external data without a location");
      return NULL;
    }
  if (length != size)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "external data \"%s\": length %" G_GUINT64_FORMAT " where the shape needs %" G_GSIZE_FORMAT " bytes",
                   location, length, size);
      return NULL;
    }
  bytes = map_external (file, location, error);
  if (bytes == NULL)
    return NULL;
  if (offset > g_bytes_get_size (bytes) || size > g_bytes_get_size (bytes) - offset)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "external data \"%s\": bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                   " of a file of %" G_GSIZE_FORMAT,
                   location, offset, offset + size, g_bytes_get_size (bytes));
      return NULL;
    }
  return g_bytes_new_from_bytes (bytes, offset, size);
}
