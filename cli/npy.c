/* npy.c - reading and writing .npy arrays
 *
 * A .npy file is "\x93NUMPY", two bytes of version, the length of the header (2 bytes in version 1, else 4),
 * a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } and the elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/npy.h"
#include <lpt/lpt-out-file.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

static gboolean G_GNUC_PRINTF (3, 4)
fail (GError **error, const char *source, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, LPT_ERROR, strstr (message, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID, "%s: %s", source, message);
  return FALSE;
}

/* --- the header ------------------------------------------------------------ */

#define MAX_HEADER ((gsize) 1 << 20)

typedef struct
{
  LptDType dtype;
  gboolean swap, fortran;
  LptShape shape;
} NpyHeader;

/* Points behind 'key': of the dictionary, or NULL. */
static const char *
find_key (const char *header, const char *key)
{
  for (const char *p = header; (p = strstr (p, key)) != NULL; p++)
    {
      const char *end = p + strlen (key);
      if (p == header || (p[-1] != '\'' && p[-1] != '"') || *end != p[-1])
        continue;
      for (end++; *end == ' '; end++)
        ;
      if (*end++ != ':')
        continue;
      while (*end == ' ')
        end++;
      return end;
    }
  return NULL;
}

/* '<f4': byte order, kind, bytes. */
static gboolean
read_descr (const char *p, NpyHeader *h, const char *source, GError **error)
{
  static const struct { const char *code; LptDType dtype; } types[] = {
#define LPT_DTYPE(ENUM, name, ir_name, bits, kind, np) { np, LPT_DTYPE_##ENUM },
#include <lpt/lpt-dtypes.def>
  };
  const char quote = p != NULL ? *p : '\0', *end = quote == '\'' || quote == '"' ? strchr (p + 1, quote) : NULL;
  if (end == NULL)
    return fail (error, source, "unsupported element type (a plain number is needed)");
  g_autofree char *text = g_strndup (p + 1, (gsize) (end - p - 1));
  h->swap = text[0] == '>';
  const char *code = strchr ("<>|=", text[0]) != NULL && text[0] != '\0' ? text + 1 : text;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].code != NULL && g_str_equal (types[i].code + 1, code))
      {
        h->dtype = types[i].dtype;
        return TRUE;
      }
  return fail (error, source, "unsupported element type '%.20s'", text);
}

static gboolean
read_shape (const char *p, NpyHeader *h, const char *source, GError **error)
{
  h->shape = LPT_SHAPE_SCALAR;
  if (p == NULL || *p != '(')
    return fail (error, source, "the header has no shape");
  for (p++; *p != ')';)
    {
      char *end;
      while (*p == ' ')
        p++;
      if (*p == ')')
        break;
      guint64 dim = g_ascii_isdigit (*p) ? g_ascii_strtoull (p, &end, 10) : G_MAXUINT64;
      if (dim > G_MAXINT64)
        return fail (error, source, "the header has a broken shape");
      if (h->shape.rank == LPT_MAX_RANK)
        return fail (error, source, "unsupported: more than %d dimensions", LPT_MAX_RANK);
      h->shape.dims[h->shape.rank++] = (gint64) dim;
      for (p = end; *p == ' ' || *p == 'L'; p++)
        ;
      if (*p == ',')
        p++;
      else if (*p != ')')
        return fail (error, source, "the header has a broken shape");
    }
  return TRUE;
}

/* Offset of the elements; 0 + error. */
static gsize
read_header (GBytes *bytes, NpyHeader *h, const char *source, GError **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (size < 10 || memcmp (data, "\x93NUMPY", 6) != 0)
    return fail (error, source, "not a .npy file");
  gsize start = data[6] == 1 ? 10 : 12;
  if (data[6] < 1 || data[6] > 3)
    return fail (error, source, "unsupported version %u of the .npy format", data[6]);
  if (size < start)
    return fail (error, source, "the file ends in its header");
  gsize length = data[8] | (gsize) data[9] << 8;
  if (start == 12)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (length > size - start)
    return fail (error, source, "the file ends in its header");
  g_autofree char *header = g_strndup ((const char *) data + start, length);
  const char *order = find_key (header, "fortran_order");
  if (!read_descr (find_key (header, "descr"), h, source, error) || !read_shape (find_key (header, "shape"), h, source, error))
    return 0;
  if (order == NULL || (!g_str_has_prefix (order, "True") && !g_str_has_prefix (order, "False")))
    return fail (error, source, "the header has no fortran_order");
  h->fortran = order[0] == 'T' && h->shape.rank > 1;
  return start + length;
}

/* --- elements -------------------------------------------------------------- */

/* Elements in C order and our byte order. */
static LptTensor *
rearrange (const NpyHeader *h, const guint8 *data, gint64 count, GError **error)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_new (h->dtype, &h->shape, error);
  if (tensor == NULL)
    return NULL;
  guint8 *out = lpt_tensor_writable (tensor);
  gsize width = lpt_dtype_bits (h->dtype) / 8;
  gint64 index[LPT_MAX_RANK] = { 0 };
  for (gint64 i = 0; i < count; i++)
    {
      gint64 at = i;
      if (h->fortran)
        {
          at = 0;
          for (gint k = h->shape.rank - 1; k >= 0; k--)
            at = at * h->shape.dims[k] + index[k];
          for (gint k = h->shape.rank - 1; k >= 0 && ++index[k] == h->shape.dims[k]; k--)
            index[k] = 0;
        }
      for (gsize b = 0; b < width; b++)
        out[(gsize) i * width + b] = data[(gsize) at * width + (h->swap ? width - 1 - b : b)];
    }
  return g_steal_pointer (&tensor);
}

LptTensor *
npy_parse (GBytes *bytes, const char *source, GError **error)
{
  NpyHeader h;
  gint64 count;
  gsize need, size = g_bytes_get_size (bytes), start = read_header (bytes, &h, source, error);
  if (start == 0)
    return NULL;
  if (!lpt_shape_count (&h.shape, &count) || !lpt_tensor_byte_size (h.dtype, count, &need))
    {
      fail (error, source, "the shape has too many elements");
      return NULL;
    }
  if (need > size - start)
    {
      fail (error, source, "the file ends early: %" G_GSIZE_FORMAT " bytes of elements, %" G_GSIZE_FORMAT " are needed", size - start, need);
      return NULL;
    }
  LptTensor *tensor = h.fortran || (h.swap && lpt_dtype_bits (h.dtype) > 8)
                      ? rearrange (&h, (const guint8 *) g_bytes_get_data (bytes, NULL) + start, count, error)
                      : lpt_tensor_new_bytes (h.dtype, &h.shape, bytes, start, error);
  if (tensor == NULL)
    g_prefix_error (error, "%s: ", source);
  return tensor;
}

/* --- streams ---------------------------------------------------------------- */

/* Files are read, not mapped: one that becomes shorter meanwhile is an error like others. */
typedef struct
{
  gssize    (*read) (gpointer from, gpointer to, gsize size);   /* up to @size bytes; < 0: an error */
  gpointer    from;
  const char *name;
} Stream;

static gssize
read_file (gpointer from, gpointer to, gsize size)
{
  gsize n = fread (to, 1, size, from);
  return n == 0 && ferror ((FILE *) from) ? -1 : (gssize) n;
}

/* What there is of @size bytes; G_MAXSIZE: an error. */
static gsize
fill (const Stream *stream, guint8 *to, gsize size)
{
  gsize n = 0;
  while (n < size)
    {
      gssize more = stream->read (stream->from, to + n, MIN (size - n, (gsize) 1 << 24));
      if (more < 0)
        return G_MAXSIZE;
      if (more == 0)
        break;
      n += (gsize) more;
    }
  return n;
}

/* "\x93NUMPY" to the end of the dictionary. NULL + error. */
static GBytes *
load_header (const Stream *stream, GError **error)
{
  guint8 start[12];
  gsize n = fill (stream, start, 10), length;
  if (n == 10 && start[6] != 1)
    n += fill (stream, start + 10, 2);
  if (n < 10 || n > sizeof start)
    {
      fail (error, stream->name, n > sizeof start ? "cannot be read" : "not a .npy file");
      return NULL;
    }
  length = start[8] | (gsize) start[9] << 8;
  if (n == 12)
    length |= (gsize) start[10] << 16 | (gsize) start[11] << 24;
  if (length > MAX_HEADER)
    {
      fail (error, stream->name, memcmp (start, "\x93NUMPY", 6) != 0 ? "not a .npy file" : "the header has %" G_GSIZE_FORMAT " bytes", length);
      return NULL;
    }
  g_autofree guint8 *data = g_malloc (n + length);
  memcpy (data, start, n);
  gsize more = fill (stream, data + n, length);
  return g_bytes_new (data, n + (more <= length ? more : 0));
}

/* The array that begins where @stream stands, if @want (nullable) wants it; NULL + error, without one: it is not wanted. */
static LptTensor *
load_array (const Stream *stream, const char *name, NpyWant want, gpointer data, GError **error)
{
  NpyHeader h;
  gint64 count;
  gsize need;
  g_autoptr (GBytes) header = load_header (stream, error);
  if (header == NULL || read_header (header, &h, stream->name, error) == 0)
    return NULL;
  if (!lpt_shape_count (&h.shape, &count) || !lpt_tensor_byte_size (h.dtype, count, &need))
    {
      fail (error, stream->name, "the shape has too many elements");
      return NULL;
    }
  if (want != NULL && !want (name, &h.shape, data, error))
    return NULL;
  g_autoptr (LptTensor) tensor = lpt_tensor_new (h.dtype, &h.shape, error);
  gsize n = tensor != NULL ? fill (stream, lpt_tensor_writable (tensor), need) : 0;
  if (tensor == NULL)
    g_prefix_error (error, "%s: ", stream->name);
  else if (n > need)
    fail (error, stream->name, "cannot be read");
  else if (n < need)
    fail (error, stream->name, "the file ends early: %" G_GSIZE_FORMAT " bytes of elements, %" G_GSIZE_FORMAT " are needed", n, need);
  else if (!h.fortran && (!h.swap || lpt_dtype_bits (h.dtype) <= 8))
    return g_steal_pointer (&tensor);
  else
    {
      LptTensor *ordered = rearrange (&h, lpt_tensor_data (tensor), count, error);
      if (ordered == NULL)
        g_prefix_error (error, "%s: ", stream->name);
      return ordered;
    }
  return NULL;
}

LptTensor *
npy_load (const char *path, GError **error)
{
  GStatBuf info;
  gboolean folder = g_stat (path, &info) == 0 && S_ISDIR (info.st_mode);
  FILE *file = !folder ? g_fopen (path, "rb") : NULL;
  if (file == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, g_strerror (folder ? EISDIR : errno));
      return NULL;
    }
  LptTensor *tensor = load_array (&(Stream) { read_file, file, path }, NULL, NULL, NULL, error);
  fclose (file);
  return tensor;
}

/* --- writing --------------------------------------------------------------- */

/* @tensor in a type that NumPy has (transfer full). */
static LptTensor *
numpy_tensor (LptTensor *tensor, const char **descr, GError **error)
{
  static const char *const codes[] = {
    [LPT_DTYPE_UNDEFINED] = NULL, [LPT_DTYPE_DYNAMIC] = NULL,
#define LPT_DTYPE(ENUM, name, ir_name, bits, kind, np) [LPT_DTYPE_##ENUM] = np,
#include <lpt/lpt-dtypes.def>
  };
  LptDType dtype = lpt_tensor_dtype (tensor);
  if (dtype == LPT_DTYPE_BF16 || lpt_dtype_is_small_float (dtype))
    {
      *descr = codes[dtype == LPT_DTYPE_BF16 ? LPT_DTYPE_U16 : LPT_DTYPE_U8];
      return lpt_tensor_to_bits (tensor, error);
    }
  if (codes[dtype] == NULL)
    dtype = lpt_dtype_kind (dtype) == LPT_KIND_SINT ? LPT_DTYPE_I8 : LPT_DTYPE_U8;
  *descr = codes[dtype];
  return dtype == lpt_tensor_dtype (tensor) ? lpt_tensor_ref (tensor) : lpt_tensor_convert (tensor, dtype, error);
}

static GString *
header_text (const LptTensor *tensor, const char *descr)
{
  const LptShape *shape = lpt_tensor_shape (tensor);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (gint i = 0; i < shape->rank; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", shape->dims[i]);
  g_string_append (text, shape->rank == 1 ? ",), }" : "), }");
  while ((10 + text->len + 1) % 64 != 0)
    g_string_append_c (text, ' ');
  g_string_append_c (text, '\n');
  guint8 start[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (guint8) (text->len & 0xff), (guint8) (text->len >> 8) };
  g_string_prepend_len (text, (const char *) start, sizeof start);
  return text;
}

gboolean
npy_save (const char *path, LptTensor *tensor, GError **error)
{
  const char *descr;
  g_auto (LptOutFile) file = { NULL };
  g_autoptr (LptTensor) plain = numpy_tensor (tensor, &descr, error);
  if (plain == NULL || !lpt_out_file_open (&file, path, error))
    return FALSE;
  g_autoptr (GString) header = header_text (plain, descr);
  fwrite (header->str, 1, header->len, file.stream);
  fwrite (lpt_tensor_data (plain), 1, lpt_tensor_size (plain), file.stream);
  return lpt_out_file_finish (&file, error) && lpt_out_file_commit (&file, error);
}

/* --- archives -------------------------------------------------------------- */

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
load_entry (zip_t *zip, zip_uint64_t i, const char *path, NpyWant want, gpointer data, GHashTable *arrays, GError **error)
{
  zip_stat_t stat;
  if (zip_stat_index (zip, i, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_NAME) || !(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_COMP_SIZE))
    return fail (error, path, "entry %" G_GUINT64_FORMAT " is broken", (guint64) i);
  g_autofree char *source = g_strdup_printf ("%s: %s", path, stat.name);
  g_autofree char *name = g_strndup (stat.name, strlen (stat.name) - (g_str_has_suffix (stat.name, ".npy") ? 4 : 0));
  if (stat.size > ALWAYS_UNPACKED && stat.size / MAX_EXPANSION > stat.comp_size)
    return fail (error, source, "%" G_GUINT64_FORMAT " bytes would become %" G_GUINT64_FORMAT ", more than %d times as many", (guint64) stat.comp_size,
                 (guint64) stat.size, MAX_EXPANSION);
  zip_file_t *file = zip_fopen_index (zip, i, 0);
  if (file == NULL)
    return fail (error, source, "cannot be unpacked");
  GError *local = NULL;
  LptTensor *tensor = load_array (&(Stream) { read_zip, file, source }, name, want, data, &local);
  zip_fclose (file);
  if (tensor != NULL)
    g_hash_table_replace (arrays, g_steal_pointer (&name), tensor);
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, local);
  return FALSE;
}

GHashTable *
npz_load (const char *path, NpyWant want, gpointer data, GError **error)
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
  g_autoptr (GHashTable) arrays = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) lpt_tensor_unref);
  gboolean ok = TRUE;
  for (zip_int64_t i = 0, n = zip_get_num_entries (zip, 0); ok && i < n; i++)
    ok = load_entry (zip, (zip_uint64_t) i, path, want, data, arrays, error);
  zip_discard (zip);
  return ok ? g_steal_pointer (&arrays) : NULL;
}

gboolean
npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error)
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
      g_autoptr (LptTensor) plain = numpy_tensor (tensors[i], &descr, error);
      if (plain == NULL)
        {
          zip_discard (zip);
          return FALSE;
        }
      GString *text = header_text (plain, descr);
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
  g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be written: %s", path, zip != NULL ? zip_strerror (zip) : "no archive");
  if (zip != NULL)
    zip_discard (zip);
  return FALSE;
}

#else

GHashTable *
npz_load (const char *path, NpyWant want, gpointer data, GError **error)
{
  fail (error, path, "unsupported: built without libzip; use .npy files");
  return NULL;
}

gboolean
npz_save (const char *path, guint n, const char *const *names, LptTensor *const *tensors, GError **error)
{
  return fail (error, path, "unsupported: built without libzip; use .npy files");
}

#endif
