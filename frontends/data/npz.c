/* npz.c - archives of .npy arrays
 *
 * Read by libzip where the build has it. What would unpack to much more than arrays of numbers do is refused, and what
 * has another check sum than the archive says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/npy-private.h"

#include <lpt/lpt-out-file.h>

#include <errno.h>
#include <string.h>

#ifdef LPT_HAVE_LIBZIP

#include "frontends/data/libzip.h"

/* Arrays of numbers do not compress like this; what does is made to. */
#define MAX_EXPANSION 256
#define ALWAYS_UNPACKED ((zip_uint64_t) 64 << 20)

gssize
npy_read_zip (gpointer from, gpointer to, gsize size)
{
  return (gssize) libzip.file_read (from, to, size);
}

gboolean
npy_end_zip (gpointer from, const char *source, GError **error)
{
  guint8 rest[4096];
  zip_int64_t n;
  while ((n = libzip.file_read (from, rest, sizeof rest)) > 0)
    ;
  if (n < 0)
    npy_fail (error, source, "cannot be unpacked: %s", libzip.file_string (from));
  return n == 0;
}

char *
npy_entry_name (const char *entry)
{
  return g_strndup (entry, strlen (entry) - (g_str_has_suffix (entry, ".npy") ? 4 : 0));
}

/* Entry @i into @arrays, if it is wanted. */
static gboolean
load_entry (zip_t *zip, zip_uint64_t i, const char *path, LptNpyWant want, gpointer data, GHashTable *arrays,
            GError **error)
{
  zip_stat_t stat;
  if (libzip.stat_index (zip, i, 0, &stat) != 0)
    return npy_fail (error, path, "entry %" G_GUINT64_FORMAT " is broken", (guint64) i);
  g_autofree char *source = g_strdup_printf ("%s: %s", path, stat.name);
  g_autofree char *name = npy_entry_name (stat.name);
  if (stat.size > ALWAYS_UNPACKED && stat.size / MAX_EXPANSION > stat.comp_size)
    return npy_fail (error, source,
                     "%" G_GUINT64_FORMAT " bytes would become %" G_GUINT64_FORMAT ", more than %d times as many",
                     (guint64) stat.comp_size, (guint64) stat.size, MAX_EXPANSION);
  zip_file_t *file = libzip.file_open_index (zip, i, 0);
  if (file == NULL)
    return npy_fail (error, source, "cannot be unpacked: %s", libzip.string (zip));
  GError *local = NULL;
  g_autoptr (LptTensor) tensor = npy_load_array (&(NpyStream) { npy_read_zip, file, source }, name, want, data, &local);
  gboolean whole = tensor != NULL && npy_end_zip (file, source, &local);
  libzip.file_close (file);
  if (whole)
    g_hash_table_replace (arrays, g_steal_pointer (&name), g_steal_pointer (&tensor));
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, local);
  return FALSE;
}

GHashTable *
lpt_npz_load (const char *path, LptNpyWant want, gpointer data, GError **error)
{
  int code = 0;
  if (!libzip_open (path, error))
    return NULL;
  zip_t *zip = libzip.open (path, ZIP_RDONLY, &code);
  if (zip == NULL)
    {
      zip_error_t e;
      libzip.error_init (&e, code);
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, libzip.error_string (&e));
      libzip.error_fini (&e);
      return NULL;
    }
  g_autoptr (GHashTable) arrays =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) lpt_tensor_unref);
  gboolean ok = TRUE;
  for (zip_int64_t i = 0, n = libzip.get_num_entries (zip, 0); ok && i < n; i++)
    ok = load_entry (zip, (zip_uint64_t) i, path, want, data, arrays, error);
  libzip.discard (zip);
  return ok ? g_steal_pointer (&arrays) : NULL;
}

/* An entry that @bytes stay alive for. */
static gboolean
add_entry (zip_t *zip, const char *name, GBytes *bytes)
{
  g_autofree char *entry = g_strconcat (name, ".npy", NULL);
  zip_source_t *source = libzip.source_buffer (zip, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), 0);
  zip_int64_t at = libzip.add (zip, entry, source, ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
  if (at < 0)
    libzip.source_free (source);
  return at >= 0 && libzip.set_compression (zip, (zip_uint64_t) at, ZIP_CM_STORE, 0) == 0;
}

gboolean
lpt_npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error)
{
  g_auto (LptOutFile) probe = { NULL };     /* says what is wrong with the place; libzip renames by itself */
  if (!libzip_open (path, error) || !lpt_out_file_open (&probe, path, error))
    return FALSE;
  g_autoptr (GPtrArray) buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  for (guint i = 0; i < n; i++)
    {
      const char *descr;
      g_autoptr (LptTensor) plain = npy_plain_tensor (tensors[i], &descr, error);
      if (plain == NULL)
        return FALSE;
      GString *text = npy_header_text (plain, descr);
      g_string_append_len (text, lpt_tensor_data (plain), (gssize) lpt_tensor_size (plain));
      g_ptr_array_add (buffers, g_string_free_to_bytes (text));
    }
  zip_t *zip = libzip.open (path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  gboolean ok = zip != NULL;
  for (guint i = 0; ok && i < n; i++)
    ok = add_entry (zip, names[i], buffers->pdata[i]);
  if (ok && libzip.close (zip) == 0)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be written: %s", path,
               zip != NULL ? libzip.string (zip) : g_strerror (errno));
  g_clear_pointer (&zip, libzip.discard);
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
