/* tflite-file.c - opens .tflite files; buffers inside and behind the FlatBuffer, and in files beside it
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-file.h"

#include "ir/storage/lpt-map-file.h"

static const struct { LptDType dtype; const char *name;
} types[] = {
  { LPT_DTYPE_F32, "FLOAT32" },
  { LPT_DTYPE_F16, "FLOAT16" },
  { LPT_DTYPE_I32, "INT32" },
  { LPT_DTYPE_U8, "UINT8" },
  { LPT_DTYPE_I64, "INT64" },
  { LPT_DTYPE_STRING, "STRING" },
  { LPT_DTYPE_BOOL, "BOOL" },
  { LPT_DTYPE_I16, "INT16" },
  { LPT_DTYPE_UNDEFINED, "COMPLEX64" },
  { LPT_DTYPE_I8, "INT8" },
  { LPT_DTYPE_F64, "FLOAT64" },
  { LPT_DTYPE_UNDEFINED, "COMPLEX128" },
  { LPT_DTYPE_U64, "UINT64" },
  { LPT_DTYPE_UNDEFINED, "RESOURCE" },
  { LPT_DTYPE_UNDEFINED, "VARIANT" },
  { LPT_DTYPE_U32, "UINT32" },
  { LPT_DTYPE_U16, "UINT16" },
  { LPT_DTYPE_I4, "INT4" },
  { LPT_DTYPE_BF16, "BFLOAT16" },
  { LPT_DTYPE_I2, "INT2" },
  { LPT_DTYPE_U4, "UINT4" },
  { LPT_DTYPE_F8E4M3, "FLOAT8_E4M3FN" },
  { LPT_DTYPE_F8E5M2, "FLOAT8_E5M2" },
};

LptDType
lpt_tfl_dtype (gint64 type)
{
  return type >= 0 && type < (gint64) G_N_ELEMENTS (types) ? types[type].dtype : LPT_DTYPE_UNDEFINED;
}

const char *
lpt_tfl_type_name (gint64 type)
{
  return type >= 0 && type < (gint64) G_N_ELEMENTS (types) ? types[type].name : "unknown";
}

void
lpt_tfl_file_free (LptTflFile *file)
{
  g_bytes_unref (file->bytes);
  g_hash_table_unref (file->externals);
  g_free (file->folder);
  g_free (file);
}

LptTflFile *
lpt_tfl_file_new (GBytes *bytes, const char *folder, GError **error)
{
  g_autoptr (LptTflFile) file = g_new0 (LptTflFile, 1);
  file->bytes = g_bytes_ref (bytes);
  file->flat.data = g_bytes_get_data (bytes, &file->flat.size);
  file->folder = g_strdup (folder);
  file->externals = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  file->model = lpt_tfl_verify (&file->flat, error);
  if (file->model == 0)
    return NULL;
  gint64 version = lpt_tfl_int (&file->flat, file->model, TFL_Model_version);
  if (version != 3)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "unsupported: this is a TensorFlow Lite model of schema %" G_GINT64_FORMAT ", not 3", version);
      return NULL;
    }
  file->codes = lpt_tfl_vector (&file->flat, file->model, TFL_Model_operator_codes);
  file->subgraphs = lpt_tfl_vector (&file->flat, file->model, TFL_Model_subgraphs);
  file->buffers = lpt_tfl_vector (&file->flat, file->model, TFL_Model_buffers);
  return g_steal_pointer (&file);
}

LptTflFile *
lpt_tfl_file_load (const char *path, GError **error)
{
  g_autoptr (GMappedFile) map = lpt_map_file (path, error);
  if (map == NULL)
    return NULL;
  g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (map);
  g_autofree char *folder = g_path_get_dirname (path);
  return lpt_tfl_file_new (bytes, folder, error);
}

/* --- buffers ----------------------------------------------------------------- */

/* FALSE + error unless [offset, offset + size) lies inside @total bytes. */
static gboolean
check_range (const char *what, gint64 index, guint64 offset, guint64 size, gsize total, GError **error)
{
  if (offset <= total && size <= total - offset)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
               "%s %" G_GINT64_FORMAT " reaches from byte %" G_GUINT64_FORMAT
               " past the end of the file (%" G_GUINT64_FORMAT " bytes)",
               what, index, offset, size);
  return FALSE;
}

gboolean
lpt_tfl_file_buffer (const LptTflFile *file, gint64 index, gsize *offset, gsize *size, gboolean *given, GError **error)
{
  const LptTflFlat *flat = &file->flat;
  *offset = *size = 0;
  *given = FALSE;
  if (index < 0 || index >= file->buffers.n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "buffer %" G_GINT64_FORMAT " of %u", index, file->buffers.n);
      return FALSE;
    }
  LptTflTable buffer = lpt_tfl_item (&file->buffers, (guint) index);
  guint64 from = (guint64) lpt_tfl_int (flat, buffer, TFL_Buffer_offset),
          n = (guint64) lpt_tfl_int (flat, buffer, TFL_Buffer_size);
  LptTflVector data = lpt_tfl_vector (flat, buffer, TFL_Buffer_data);
  /* The first one is the buffer of tensors without one. 0 and 1 stand for an offset that is not used. */
  if (index == 0)
    return TRUE;
  if (from > 1)
    {
      if (!check_range ("buffer", index, from, n, flat->size, error))
        return FALSE;
      *offset = (gsize) from;
      *size = (gsize) n;
      *given = TRUE;
      return TRUE;
    }
  *given = lpt_tfl_has (flat, buffer, TFL_Buffer_data);
  *offset = data.at;
  *size = data.n;
  return TRUE;
}

static GBytes *
map_external (LptTflFile *file, const char *name, GError **error)
{
  if (file->folder == NULL || name == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   name == NULL ? "an external buffer without a file name"
                                : "external buffer \"%s\" of a model that has no folder",
                   name);
      return NULL;
    }
  g_autofree char *path = lpt_path_beside (file->folder, name, "external buffer", error);
  GBytes *bytes = path != NULL ? g_hash_table_lookup (file->externals, path) : NULL;
  if (path == NULL || bytes != NULL)
    return bytes;
  g_autoptr (GMappedFile) map = lpt_map_file (path, error);
  if (map == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (map);
  g_hash_table_insert (file->externals, g_steal_pointer (&path), bytes);
  return bytes;
}

gboolean
lpt_tfl_file_external (LptTflFile *file, gint64 id, GBytes **bytes, gsize *offset, gsize *size, GError **error)
{
  const LptTflFlat *flat = &file->flat;
  LptTflVector list = lpt_tfl_vector (flat, file->model, TFL_Model_external_buffers);
  LptTflVector groups = lpt_tfl_vector (flat, file->model, TFL_Model_external_buffer_groups);
  for (guint i = 0; i < list.n; i++)
    {
      LptTflTable item = lpt_tfl_item (&list, i);
      const char *packing = lpt_tfl_string (flat, item, TFL_ExternalBuffer_packing);
      gint64 group = lpt_tfl_int (flat, item, TFL_ExternalBuffer_group);
      if (lpt_tfl_int (flat, item, TFL_ExternalBuffer_id) != id)
        continue;
      if (packing != NULL && *packing != '\0' && !g_str_equal (packing, "unpacked"))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported packing \"%.40s\" of an external buffer",
                       packing);
          return FALSE;
        }
      LptTflTable owner = group < groups.n ? lpt_tfl_item (&groups, (guint) group) : 0;
      *bytes = map_external (file, lpt_tfl_string (flat, owner, TFL_ExternalBufferGroup_name), error);
      *offset = (gsize) lpt_tfl_int (flat, item, TFL_ExternalBuffer_offset);
      *size = (gsize) lpt_tfl_int (flat, item, TFL_ExternalBuffer_length);
      return *bytes != NULL && check_range ("external buffer", id, *offset, *size, g_bytes_get_size (*bytes), error);
    }
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "there is no external buffer %" G_GINT64_FORMAT, id);
  return FALSE;
}

/* --- operator codes ---------------------------------------------------------- */

gint64
lpt_tfl_file_code (const LptTflFile *file, gint64 index, const char **custom, gint64 *version, GError **error)
{
  const LptTflFlat *flat = &file->flat;
  LptTflTable code = index < file->codes.n ? lpt_tfl_item (&file->codes, (guint) index) : 0;
  *custom = NULL;
  if (code == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "operator code %" G_GINT64_FORMAT " of %u", index,
                   file->codes.n);
      return -1;
    }
  /* Files from before code 127 was reached have the old field alone, new ones both. */
  gint64 builtin = MAX (lpt_tfl_int (flat, code, TFL_OperatorCode_deprecated_builtin_code),
                        lpt_tfl_int (flat, code, TFL_OperatorCode_builtin_code));
  *version = lpt_tfl_int (flat, code, TFL_OperatorCode_version);
  if (builtin == 32)
    {
      *custom = lpt_tfl_string (flat, code, TFL_OperatorCode_custom_code);
      if (*custom == NULL)
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                     "operator code %" G_GINT64_FORMAT " is a custom operator without a name", index);
    }
  return builtin == 32 && *custom == NULL ? -1 : MAX (builtin, 0);
}
