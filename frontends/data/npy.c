/* npy.c - reading and writing .npy arrays
 *
 * A .npy file is "\x93NUMPY", two bytes of version, the length of the header (2 bytes in version 1, else 4),
 * a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } and the elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/npy-private.h"

#include <lpt/lpt-out-file.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

gboolean
npy_fail (GError **error, const char *source, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, LPT_ERROR, strstr (message, "unsupported") != NULL ? LPT_ERROR_UNSUPPORTED : LPT_ERROR_INVALID,
               "%s: %s", source, message);
  return FALSE;
}

/* --- the header ------------------------------------------------------------ */

#define MAX_HEADER ((gsize) 1 << 20)

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
    return npy_fail (error, source, "unsupported element type (a plain number is needed)");
  g_autofree char *text = g_strndup (p + 1, (gsize) (end - p - 1));
  h->swap = text[0] == '>';
  const char *code = strchr ("<>|=", text[0]) != NULL && text[0] != '\0' ? text + 1 : text;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].code != NULL && g_str_equal (types[i].code + 1, code))
      {
        h->dtype = types[i].dtype;
        return TRUE;
      }
  return npy_fail (error, source, "unsupported element type '%.20s'", text);
}

static gboolean
read_shape (const char *p, NpyHeader *h, const char *source, GError **error)
{
  h->shape = LPT_SHAPE_SCALAR;
  if (p == NULL || *p != '(')
    return npy_fail (error, source, "the header has no shape");
  for (p++; *p != ')';)
    {
      char *end;
      while (*p == ' ')
        p++;
      if (*p == ')')
        break;
      guint64 dim = g_ascii_isdigit (*p) ? g_ascii_strtoull (p, &end, 10) : G_MAXUINT64;
      if (dim > G_MAXINT64)
        return npy_fail (error, source, "the header has a broken shape");
      if (h->shape.rank == LPT_MAX_RANK)
        return npy_fail (error, source, "unsupported: more than %d dimensions", LPT_MAX_RANK);
      h->shape.dims[h->shape.rank++] = (gint64) dim;
      for (p = end; *p == ' ' || *p == 'L'; p++)
        ;
      if (*p == ',')
        p++;
      else if (*p != ')')
        return npy_fail (error, source, "the header has a broken shape");
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
    return npy_fail (error, source, "not a .npy file");
  gsize start = data[6] == 1 ? 10 : 12;
  if (data[6] < 1 || data[6] > 3)
    return npy_fail (error, source, "unsupported version %u of the .npy format", data[6]);
  if (size < start)
    return npy_fail (error, source, "the file ends in its header");
  gsize length = data[8] | (gsize) data[9] << 8;
  if (start == 12)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (length > size - start)
    return npy_fail (error, source, "the file ends in its header");
  g_autofree char *header = g_strndup ((const char *) data + start, length);
  const char *order = find_key (header, "fortran_order");
  if (!read_descr (find_key (header, "descr"), h, source, error)
      || !read_shape (find_key (header, "shape"), h, source, error))
    return 0;
  if (order == NULL || (!g_str_has_prefix (order, "True") && !g_str_has_prefix (order, "False")))
    return npy_fail (error, source, "the header has no fortran_order");
  h->fortran = order[0] == 'T' && h->shape.rank > 1;
  return start + length;
}

/* --- elements -------------------------------------------------------------- */

/* Elements in C order and our byte order. */
LptTensor *
npy_rearrange (const NpyHeader *h, const guint8 *data, gint64 count, GError **error)
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
lpt_npy_parse (GBytes *bytes, const char *source, GError **error)
{
  NpyHeader h;
  gint64 count;
  gsize need, size = g_bytes_get_size (bytes), start = read_header (bytes, &h, source, error);
  if (start == 0)
    return NULL;
  if (!lpt_shape_count (&h.shape, &count) || !lpt_tensor_byte_size (h.dtype, count, &need))
    {
      npy_fail (error, source, "the shape has too many elements");
      return NULL;
    }
  if (need > size - start)
    {
      npy_fail (error, source,
                "the file ends early: %" G_GSIZE_FORMAT " bytes of elements, %" G_GSIZE_FORMAT " are needed",
                size - start, need);
      return NULL;
    }
  LptTensor *tensor = h.fortran || (h.swap && lpt_dtype_bits (h.dtype) > 8)
                      ? npy_rearrange (&h, (const guint8 *) g_bytes_get_data (bytes, NULL) + start, count, error)
                      : lpt_tensor_new_bytes (h.dtype, &h.shape, bytes, start, error);
  if (tensor == NULL)
    g_prefix_error (error, "%s: ", source);
  return tensor;
}

/* --- streams ---------------------------------------------------------------- */

/* Files are read, not mapped: one that becomes shorter meanwhile is an error like others. */
gssize
npy_read_file (gpointer from, gpointer to, gsize size)
{
  gsize n = fread (to, 1, size, from);
  return n == 0 && ferror ((FILE *) from) ? -1 : (gssize) n;
}

/* What there is of @size bytes; G_MAXSIZE: an error. */
gsize
npy_fill (const NpyStream *stream, guint8 *to, gsize size)
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
load_header (const NpyStream *stream, GError **error)
{
  guint8 start[12];
  gsize n = npy_fill (stream, start, 10), length;
  if (n == 10 && start[6] != 1)
    n += npy_fill (stream, start + 10, 2);
  if (n < 10 || n > sizeof start)
    {
      npy_fail (error, stream->name, n > sizeof start ? "cannot be read" : "not a .npy file");
      return NULL;
    }
  length = start[8] | (gsize) start[9] << 8;
  if (n == 12)
    length |= (gsize) start[10] << 16 | (gsize) start[11] << 24;
  if (length > MAX_HEADER)
    {
      npy_fail (error, stream->name,
                memcmp (start, "\x93NUMPY", 6) != 0 ? "not a .npy file" : "the header has %" G_GSIZE_FORMAT " bytes",
                length);
      return NULL;
    }
  g_autofree guint8 *data = g_malloc (n + length);
  memcpy (data, start, n);
  gsize more = npy_fill (stream, data + n, length);
  return g_bytes_new (data, n + (more <= length ? more : 0));
}

gboolean
npy_load_header (const NpyStream *stream, NpyHeader *h, gsize *need, GError **error)
{
  gint64 count;
  g_autoptr (GBytes) header = load_header (stream, error);
  if (header == NULL || read_header (header, h, stream->name, error) == 0)
    return FALSE;
  return (lpt_shape_count (&h->shape, &count) && lpt_tensor_byte_size (h->dtype, count, need))
         || npy_fail (error, stream->name, "the shape has too many elements");
}

/* The array that begins where @stream stands, if @want (nullable) wants it; NULL + error, without one: it is not
   wanted. */
LptTensor *
npy_load_array (const NpyStream *stream, const char *name, LptNpyWant want, gpointer data, GError **error)
{
  NpyHeader h;
  gsize need;
  if (!npy_load_header (stream, &h, &need, error))
    return NULL;
  if (want != NULL && !want (name, &h.shape, data, error))
    return NULL;
  g_autoptr (LptTensor) tensor = lpt_tensor_new (h.dtype, &h.shape, error);
  gsize n = tensor != NULL ? npy_fill (stream, lpt_tensor_writable (tensor), need) : 0;
  if (tensor == NULL)
    g_prefix_error (error, "%s: ", stream->name);
  else if (n > need)
    npy_fail (error, stream->name, "cannot be read");
  else if (n < need)
    npy_fail (error, stream->name,
              "the file ends early: %" G_GSIZE_FORMAT " bytes of elements, %" G_GSIZE_FORMAT " are needed", n, need);
  else if (!h.fortran && (!h.swap || lpt_dtype_bits (h.dtype) <= 8))
    return g_steal_pointer (&tensor);
  else
    {
      LptTensor *ordered = npy_rearrange (&h, lpt_tensor_data (tensor), lpt_tensor_count (tensor), error);
      if (ordered == NULL)
        g_prefix_error (error, "%s: ", stream->name);
      return ordered;
    }
  return NULL;
}

LptTensor *
lpt_npy_load (const char *path, GError **error)
{
  GStatBuf info;
  gboolean folder = g_stat (path, &info) == 0 && S_ISDIR (info.st_mode);
  FILE *file = !folder ? g_fopen (path, "rb") : NULL;
  if (file == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, g_strerror (folder ? EISDIR : errno));
      return NULL;
    }
  LptTensor *tensor = npy_load_array (&(NpyStream) { npy_read_file, file, path }, NULL, NULL, NULL, error);
  fclose (file);
  return tensor;
}

/* --- writing --------------------------------------------------------------- */

/* @tensor in a type that NumPy has (transfer full). */
LptTensor *
npy_plain_tensor (LptTensor *tensor, const char **descr, GError **error)
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

GString *
npy_header_text (const LptTensor *tensor, const char *descr)
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
lpt_npy_save (const char *path, LptTensor *tensor, GError **error)
{
  const char *descr;
  g_auto (LptOutFile) file = { NULL };
  g_autoptr (LptTensor) plain = npy_plain_tensor (tensor, &descr, error);
  if (plain == NULL || !lpt_out_file_open (&file, path, error))
    return FALSE;
  g_autoptr (GString) header = npy_header_text (plain, descr);
  fwrite (header->str, 1, header->len, file.stream);
  fwrite (lpt_tensor_data (plain), 1, lpt_tensor_size (plain), file.stream);
  return lpt_out_file_finish (&file, error) && lpt_out_file_commit (&file, error);
}
