/* onnx-encodings-file.c - the JSON form of quantizations beside a model
 *
 *   0.4 to 0.6   "activation_encodings", "param_encodings": { NAME: [ { "bitwidth", "scale", "offset", "min", "max",
 *                "dtype" } ... ] }; several, or lists in one, are those of output channels
 *   1.0.0        the same two as lists of { "name", "bw", "scale": [...], "offset": [...], "dtype", "enc_type",
 *                "block_size" }; enc_type LPBQ: "compressed_bw" bits, scale of block b of channel c =
 *                scale[c] per_block_int_scale[c][b]
 *   2.0.0        "encodings": [ { "name", "output_dtype": "int8", "y_scale", "y_zero_point", "axis", "block_size" } ]
 *                as QuantizeLinear has them; or "per_channel_float_scale" and "per_block_int_scale"
 *
 * Up to 1.0.0 x = scale (q + offset) with q from 0, in 2.0.0 x = scale (q - zero point) with q of the type. Where scale
 * and offset are missing they follow from "min" and "max". Codes of more than 16 bits (biases) and floats (dtype
 * "float") leave a tensor real, and so does an entry that gives a width alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-encodings.h"

#include "ir/text/lpt-line.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define MAX_BITS 16

typedef struct { double *values; guint n; } Numbers;

static void
numbers_clear (Numbers *numbers)
{
  g_free (numbers->values);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Numbers, numbers_clear)

static void
encoding_free (gpointer data)
{
  LptOnnxEncoding *encoding = data;

  g_free (encoding->scale);
  g_free (encoding->offset);
  g_free (encoding);
}

void
lpt_onnx_encodings_free (LptOnnxEncodings *encodings)
{
  g_free (encodings->path);
  g_hash_table_unref (encodings->named);
  g_free (encodings);
}

/* --- numbers --------------------------------------------------------------------------------- */

/* The numbers of @item, in lists of any depth, behind those of @array; FALSE: something else is among them. */
static gboolean
flatten (const cJSON *item,
         GArray      *array)
{
  const cJSON *child;

  if (cJSON_IsNumber (item))
    {
      g_array_append_val (array, item->valuedouble);
      return TRUE;
    }
  if (!cJSON_IsArray (item))
    return FALSE;
  cJSON_ArrayForEach (child, item)
    if (!flatten (child, array))
      return FALSE;
  return TRUE;
}

/* Member @key of each of the @n entries, one behind the other: none where an entry lacks it. */
static gboolean
read_numbers (const cJSON *const *entries,
              guint               n,
              const char         *key,
              Numbers            *numbers,
              GError            **error)
{
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < n; i++)
    {
      const cJSON *item = cJSON_GetObjectItemCaseSensitive (entries[i], key);

      if (item == NULL)
        return TRUE;
      if (!flatten (item, array))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "\"%s\" is no number and no list of numbers", key);
          return FALSE;
        }
    }
  numbers->n = array->len;
  numbers->values = (double *) g_array_free (g_steal_pointer (&array), FALSE);
  return TRUE;
}

static double
number_of (const cJSON *entry,
           const char  *key,
           double       fallback)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive (entry, key);

  return cJSON_IsNumber (item) ? item->valuedouble : fallback;
}

static const char *
text_of (const cJSON *entry,
         const char  *key)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive (entry, key);

  return cJSON_IsString (item) ? item->valuestring : "";
}

/* --- one tensor ------------------------------------------------------------------------------ */

/* Scales of blocks are those of their channels times a whole number. */
static gboolean
multiply_blocks (Numbers       *scale,
                 const Numbers *whole,
                 gboolean       by_channel,
                 GError       **error)
{
  double *values;

  if (scale->n == 0 || whole->n % scale->n != 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%u scales of blocks do not belong to %u channels", whole->n,
                   scale->n);
      return FALSE;
    }
  values = g_new (double, whole->n);
  for (guint i = 0; i < whole->n; i++)
    values[i] = whole->values[i] * scale->values[by_channel ? i / (whole->n / scale->n) : i % scale->n];
  numbers_clear (scale);
  *scale = (Numbers) { values, whole->n };
  return TRUE;
}

/* @scale and @offset become the encoding's; @offset has as many numbers, or one, or none. */
static gboolean
take_numbers (LptOnnxEncoding *encoding,
              Numbers         *scale,
              const Numbers   *offset,
              double           sign,
              double           fallback,
              GError         **error)
{
  gboolean good = scale->n > 0 && (offset->n <= 1 || offset->n == scale->n);

  encoding->n = scale->n;
  encoding->offset = g_new (double, scale->n + 1);
  for (guint i = 0; good && i < scale->n; i++)
    {
      encoding->offset[i] = fallback + (offset->n == 0 ? 0 : sign * offset->values[offset->n == 1 ? 0 : i]);
      good = scale->values[i] > 0 && scale->values[i] < G_MAXFLOAT && fabs (encoding->offset[i]) < G_MAXINT32;
    }
  encoding->scale = g_steal_pointer (&scale->values);
  if (!good)
    g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID,
                         "scales that are not positive and finite, or offsets that do not belong to them");
  return good;
}

/* From the ends of the interval. */
static gboolean
read_interval (LptOnnxEncoding    *encoding,
               const cJSON *const *entries,
               guint               n,
               GError            **error)
{
  g_auto (Numbers) low = { 0 }, high = { 0 };
  const double steps = (double) ((1u << encoding->bits) - 1);

  if (!read_numbers (entries, n, "min", &low, error) || !read_numbers (entries, n, "max", &high, error))
    return FALSE;
  if (low.n == 0 || low.n != high.n)
    {
      encoding->bits = 0;      /* a width alone */
      return TRUE;
    }
  for (guint i = 0; i < low.n; i++)
    {
      high.values[i] = (high.values[i] - low.values[i]) / steps;
      low.values[i] = high.values[i] > 0 ? rint (low.values[i] / high.values[i]) : 0;
    }
  return take_numbers (encoding, &high, &low, 1, 0, error);
}

/* Versions up to 1.0.0: one object, or one for each channel. */
static gboolean
read_affine (LptOnnxEncoding    *encoding,
             const cJSON *const *entries,
             guint               n,
             GError            **error)
{
  g_auto (Numbers) scale = { 0 }, offset = { 0 }, whole = { 0 };
  const double bits = number_of (entries[0], "bw", number_of (entries[0], "bitwidth", 0));
  const double narrow = number_of (entries[0], "compressed_bw", bits);

  encoding->axis = LPT_ONNX_OUT_CHANNELS;
  encoding->by_channel = TRUE;
  encoding->block = (gint64) CLAMP (number_of (entries[0], "block_size", 0), 0, G_MAXINT32);
  if (g_ascii_strncasecmp (text_of (entries[0], "dtype"), "f", 1) == 0 || narrow > MAX_BITS || narrow < 2)
    return TRUE;
  encoding->bits = (guint) narrow;
  if (cJSON_GetObjectItemCaseSensitive (entries[0], "zero_point_shift") != NULL)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "unsupported: zero_point_shift");
      return FALSE;
    }
  if (!read_numbers (entries, n, "scale", &scale, error) || !read_numbers (entries, n, "offset", &offset, error) ||
      !read_numbers (entries, n, "per_block_int_scale", &whole, error))
    return FALSE;
  if (scale.n == 0 || offset.n == 0)
    return read_interval (encoding, entries, n, error);
  if (whole.n == 0)
    return take_numbers (encoding, &scale, &offset, 1, 0, error);
  /* The offset is that of the wide codes; narrow ones are symmetric. */
  return multiply_blocks (&scale, &whole, TRUE, error) &&
         take_numbers (encoding, &scale, &(Numbers) { 0 }, 1, -(double) (1u << (encoding->bits - 1)), error);
}

/* Version 2.0.0: as QuantizeLinear's inputs and attributes. */
static gboolean
read_linear (LptOnnxEncoding *encoding,
             const cJSON     *entry,
             GError         **error)
{
  g_auto (Numbers) scale = { 0 }, zero = { 0 }, whole = { 0 };
  const char *type = text_of (entry, "output_dtype");
  const gboolean is_signed = g_str_has_prefix (type, "int"), is_unsigned = g_str_has_prefix (type, "uint");
  const guint64 bits = is_signed || is_unsigned ? g_ascii_strtoull (type + (is_signed ? 3 : 4), NULL, 10) : 0;
  const gboolean blocks = cJSON_GetObjectItemCaseSensitive (entry, "per_block_int_scale") != NULL;

  encoding->axis = (gint) CLAMP (number_of (entry, "axis", 0), -LPT_MAX_RANK, LPT_MAX_RANK);
  encoding->block = (gint64) CLAMP (number_of (entry, "block_size", 0), 0, G_MAXINT32);
  if (bits < 2 || bits > MAX_BITS)
    return TRUE;
  encoding->bits = (guint) bits;
  if (!read_numbers (&entry, 1, blocks ? "per_channel_float_scale" : "y_scale", &scale, error) ||
      !read_numbers (&entry, 1, "y_zero_point", &zero, error) ||
      !read_numbers (&entry, 1, "per_block_int_scale", &whole, error))
    return FALSE;
  /* Channels lie on the other axis of a matrix, whose last one has the blocks, or its first. */
  if (blocks && !multiply_blocks (&scale, &whole, encoding->axis == 1 || encoding->axis == -1, error))
    return FALSE;
  return take_numbers (encoding, &scale, &zero, -1, is_signed ? -(double) (1u << (bits - 1)) : 0, error);
}

/* --- the file -------------------------------------------------------------------------------- */

static gboolean
add_encoding (LptOnnxEncodings   *encodings,
              const char         *name,
              const cJSON *const *entries,
              guint               n,
              GError            **error)
{
  LptOnnxEncoding *encoding = g_new0 (LptOnnxEncoding, 1);

  g_hash_table_replace (encodings->named, g_strdup (name), encoding);
  if (n > 0 && cJSON_GetObjectItemCaseSensitive (entries[0], "output_dtype") != NULL
        ? read_linear (encoding, entries[0], error)
        : n == 0 || read_affine (encoding, entries, n, error))
    return TRUE;
  g_prefix_error (error, "%s: encoding \"%s\": ", encodings->path, name);
  return FALSE;
}

/* A section: a list of objects with names, or an object with a member for each tensor. */
static gboolean
add_section (LptOnnxEncodings *encodings,
             const cJSON      *section,
             GError          **error)
{
  const cJSON *item, *entry;

  cJSON_ArrayForEach (item, section)
    {
      const char *name = cJSON_IsObject (section) ? item->string : text_of (item, "name");
      g_autoptr (GPtrArray) entries = g_ptr_array_new ();

      if (cJSON_IsArray (item))
        cJSON_ArrayForEach (entry, item)
          g_ptr_array_add (entries, (gpointer) entry);
      else
        g_ptr_array_add (entries, (gpointer) item);
      for (guint i = 0; i < entries->len; i++)
        if (!cJSON_IsObject (g_ptr_array_index (entries, i)) || *name == '\0')
          {
            g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: encoding \"%s\": no object, or no name",
                         encodings->path, name);
            return FALSE;
          }
      if (!add_encoding (encodings, name, (const cJSON *const *) entries->pdata, entries->len, error))
        return FALSE;
    }
  return TRUE;
}

/* (transfer full) */
static cJSON *
read_json (const char  *path,
           GError     **error)
{
  g_autofree char *text = NULL;
  const char *end = NULL;
  gsize length;
  cJSON *root;

  if (!g_file_get_contents (path, &text, &length, NULL))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, g_strerror (errno));
      return NULL;
    }
  root = cJSON_ParseWithLengthOpts (text, length, &end, FALSE);
  if (cJSON_IsObject (root))
    return root;
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:%u: not a JSON object", path,
               lpt_line_of (text, length, root == NULL ? end : NULL));
  cJSON_Delete (root);
  return NULL;
}

LptOnnxEncodings *
lpt_onnx_encodings_load (const char  *path,
                         GError     **error)
{
  static const char *const sections[] = { "activation_encodings", "param_encodings", "encodings" };
  g_autoptr (LptOnnxEncodings) encodings = g_new0 (LptOnnxEncodings, 1);
  cJSON *root = read_json (path, error);
  gboolean found = FALSE, ok = root != NULL;

  encodings->path = g_strdup (path);
  encodings->named = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, encoding_free);
  for (guint i = 0; ok && i < G_N_ELEMENTS (sections); i++)
    {
      const cJSON *section = cJSON_GetObjectItemCaseSensitive (root, sections[i]);

      found |= section != NULL;
      ok = add_section (encodings, section, error);
    }
  if (ok && !found)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                 "%s: no file of encodings: it has no \"activation_encodings\", \"param_encodings\" or \"encodings\"",
                 path);
  cJSON_Delete (root);
  if (ok && found)
    return g_steal_pointer (&encodings);
  return NULL;
}
