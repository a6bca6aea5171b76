/* npz.c - archives of .npy arrays
 *
 * Read by libzip where the build has it. What would unpack to much more than arrays of numbers do is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/npy-private.h"

#include <lpt/lpt-out-file.h>

#include <string.h>

#ifdef LPT_HAVE_LIBZIP

#include <zip.h>

/* Arrays of numbers do not compress like this; what does is made to. */
#define MAX_EXPANSION 256
#define ALWAYS_UNPACKED ((zip_uint64_t) 64 << 20)

static gssize
read_zip (gpointer from, gpointer to, gsize size)
{
  return (gssize) zip_fread (from, to, size);
}

/* Entry @i into @arrays, if it is wanted. */
static gboolean
load_entry (zip_t *zip, zip_uint64_t i, const char *path, LptNpyWant want, gpointer data, GHashTable *arrays,
            GError **error)
{
  zip_stat_t stat;
  if (zip_stat_index (zip, i, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_NAME) || !(stat.valid & ZIP_STAT_SIZE)
      || !(stat.valid & ZIP_STAT_COMP_SIZE))
    return npy_fail (error, path, "entry %" G_GUINT64_FORMAT " is broken", (guint64) i);
  g_autofree char *source = g_strdup_printf ("%s: %s", path, stat.name);
  g_autofree char *name = g_strndup (stat.name, strlen (stat.name) - (g_str_has_suffix (stat.name, ".npy") ? 4 : 0));
  if (stat.size > ALWAYS_UNPACKED && stat.size / MAX_EXPANSION > stat.comp_size)
    return npy_fail (error, source,
                     "%" G_GUINT64_FORMAT " bytes would become %" G_GUINT64_FORMAT ", more than %d times as many",
                     (guint64) stat.comp_size, (guint64) stat.size, MAX_EXPANSION);
  zip_file_t *file = zip_fopen_index (zip, i, 0);
  if (file == NULL)
    return npy_fail (error, source, "cannot be unpacked");
  GError *local = NULL;
  LptTensor *tensor = npy_load_array (&(NpyStream) { read_zip, file, source }, name, want, data, &local);
  zip_fclose (file);
  if (tensor != NULL)
    g_hash_table_replace (arrays, g_steal_pointer (&name), tensor);
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, local);
  return FALSE;
}

GHashTable *
lpt_npz_load (const char *path, LptNpyWant want, gpointer data, GError **error)
{
  int code = 0;
  zip_t *zip = zip_open (path, ZIP_RDONLY, &code);
  if (zip == NULL)
    {
      zip_error_t e;
      zip_error_init_with_code (&e, code);
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, zip_error_strerror (&e));
      zip_error_fini (&e);
      return NULL;
    }
  g_autoptr (GHashTable) arrays =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) lpt_tensor_unref);
  gboolean ok = TRUE;
  for (zip_int64_t i = 0, n = zip_get_num_entries (zip, 0); ok && i < n; i++)
    ok = load_entry (zip, (zip_uint64_t) i, path, want, data, arrays, error);
  zip_discard (zip);
  return ok ? g_steal_pointer (&arrays) : NULL;
}

gboolean
lpt_npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error)
{
  int code = 0;
  g_auto (LptOutFile) probe = { NULL };     /* says what is wrong with the place; libzip renames by itself */
  if (!lpt_out_file_open (&probe, path, error))
    return FALSE;
  zip_t *zip = zip_open (path, ZIP_CREATE | ZIP_TRUNCATE, &code);
  g_autoptr (GPtrArray) buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  gboolean ok = zip != NULL;
  for (guint i = 0; ok && i < n; i++)
    {
      const char *descr;
      g_autofree char *name = g_strconcat (names[i], ".npy", NULL);
      g_autoptr (LptTensor) plain = npy_plain_tensor (tensors[i], &descr, error);
      if (plain == NULL)
        {
          zip_discard (zip);
          return FALSE;
        }
      GString *text = npy_header_text (plain, descr);
      g_string_append_len (text, lpt_tensor_data (plain), (gssize) lpt_tensor_size (plain));
      GBytes *bytes = g_string_free_to_bytes (text);
      g_ptr_array_add (buffers, bytes);
      zip_source_t *source = zip_source_buffer (zip, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), 0);
      zip_int64_t at = source != NULL ? zip_file_add (zip, name, source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE) : -1;
      ok = at >= 0 && zip_set_file_compression (zip, (zip_uint64_t) at, ZIP_CM_STORE, 0) == 0;
      if (at < 0 && source != NULL)
        zip_source_free (source);
    }
  ok = ok && zip_close (zip) == 0;
  if (ok)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be written: %s", path,
               zip != NULL ? zip_strerror (zip) : "no archive");
  if (zip != NULL)
    zip_discard (zip);
  return FALSE;
}

#else

GHashTable *
lpt_npz_load (const char *path, LptNpyWant want, gpointer data, GError **error)
{
  npy_fail (error, path, "unsupported: built without libzip; use .npy files");
  return NULL;
}

gboolean
lpt_npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error)
{
  return npy_fail (error, path, "unsupported: built without libzip; use .npy files");
}

#endif
