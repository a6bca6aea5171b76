/* ov-const.c - constants of an IR: places in the .bin
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-build.h"

#include "ir/storage/lpt-tensor-pages.h"

static gboolean
ov_uint (const OvBuild *b, const OvLayer *layer, const char *name, guint64 *out, GError **error)
{
  const char *text = ov_layer_data (layer, name);
  if (text == NULL)
    return ov_error (error, b, layer, LPT_ERROR_INVALID, "attribute \"%s\" is missing", name);
  g_autofree char *copy = g_strstrip (g_strdup (text));
  if (!g_ascii_string_to_unsigned (copy, 10, 0, G_MAXUINT64, out, NULL))
    return ov_error (error, b, layer, LPT_ERROR_INVALID, "%s=\"%.40s\" is not a size in bytes", name, text);
  return TRUE;
}

/* Version 10 has the first of two 4-bit elements in the high half of a byte. */
static GBytes *
ov_swap_nibbles (GBytes *bytes, gsize offset, gsize size)
{
  guint8 *copy = g_try_malloc (MAX (size, 1));
  if (copy == NULL)
    return NULL;
  const guint8 *in = (const guint8 *) g_bytes_get_data (bytes, NULL) + offset;
  for (gsize i = 0; i < size; i++)
    copy[i] = (guint8) (in[i] << 4 | in[i] >> 4);
  return g_bytes_new_take (copy, size);
}

/* Bits, the first in the highest place of a byte, as bytes of 0 and 1. */
static GBytes *
ov_spread_bits (GBytes *bytes, gsize offset, gsize count)
{
  guint8 *copy = g_try_malloc (MAX (count, 1));
  if (copy == NULL)
    return NULL;
  const guint8 *in = (const guint8 *) g_bytes_get_data (bytes, NULL) + offset;
  for (gsize i = 0; i < count; i++)
    copy[i] = in[i / 8] >> (7 - i % 8) & 1;
  return g_bytes_new_take (copy, count);
}

/* Do @need of @size bytes stand at *@offset of the weights? *@offset of none is 0. */
static gboolean
ov_place (const OvBuild *b, const OvLayer *layer, gsize need, guint64 size, guint64 *offset, GError **error)
{
  if (b->files->weights == NULL && size > 0)
    return ov_error (error, b, layer, LPT_ERROR_IO, "no weights for this constant: %s",
                     b->files->no_weights != NULL ? b->files->no_weights : "no .bin was given");
  gsize total = b->files->weights != NULL ? g_bytes_get_size (b->files->weights) : 0;
  if (*offset <= total && size <= total - *offset)
    return TRUE;
  if (need > 0)
    return ov_error (error, b, layer, LPT_ERROR_INVALID,
                     "offset %" G_GUINT64_FORMAT " + size %" G_GUINT64_FORMAT " is past the end of %s (%" G_GSIZE_FORMAT
                     " bytes)",
                     *offset, size, b->files->weights_name != NULL ? b->files->weights_name : "the weights", total);
  *offset = 0;
  return TRUE;
}

LptTensor *
ov_constant (const OvBuild *b, const OvLayer *layer, GError **error)
{
  const char *type = ov_layer_data (layer, "element_type"), *dims = ov_layer_data (layer, "shape");
  if (ov_layer_data (layer, "offset") == NULL && ov_layer_data (layer, "value") != NULL)
    {
      ov_error (error, b, layer, LPT_ERROR_UNSUPPORTED, "unsupported: a constant with its bytes in the XML");
      return NULL;
    }
  if (type == NULL)
    {
      ov_error (error, b, layer, LPT_ERROR_INVALID, "attribute \"element_type\" is missing");
      return NULL;
    }
  LptDType dtype = ov_dtype (type);
  const gboolean bits = ov_is_bit (type);
  LptShape shape;
  guint64 offset, size;
  gint64 count;
  gsize need;
  if (lpt_dtype_bits (dtype) == 0 && dtype != LPT_DTYPE_STRING)
    {
      ov_error (error, b, layer, LPT_ERROR_UNSUPPORTED, "unsupported element type \"%.40s\"", type);
      return NULL;
    }
  if (!lpt_shape_from_string (dims != NULL ? dims : "", &shape, error))
    {
      ov_prefix (error, b, layer);
      return NULL;
    }
  if (!ov_uint (b, layer, "offset", &offset, error) || !ov_uint (b, layer, "size", &size, error))
    return NULL;
  if (!lpt_shape_count (&shape, &count) || !lpt_tensor_stated_size (dtype, count, size, &need))
    {
      ov_error (error, b, layer, LPT_ERROR_INVALID, "shape \"%.80s\" of a constant is %s", dims,
                lpt_shape_is_static (&shape) ? "too large" : "not static");
      return NULL;
    }
  if (bits)
    need = (gsize) (count / 8 + (count % 8 != 0));
  if (size < need)
    {
      ov_error (error, b, layer, LPT_ERROR_INVALID,
                "size %" G_GUINT64_FORMAT " is too small: %s of shape \"%.80s\" takes %" G_GSIZE_FORMAT " bytes", size,
                bits ? "u1" : lpt_dtype_name (dtype), dims != NULL ? dims : "", need);
      return NULL;
    }
  if (!ov_place (b, layer, need, size, &offset, error))
    return NULL;
  g_autoptr (GBytes) bytes = b->files->weights != NULL ? g_bytes_ref (b->files->weights) : g_bytes_new (NULL, 0);
  if (need > 0 && (bits || (lpt_dtype_bits (dtype) == 4 && b->net->version == 10)))
    {
      g_bytes_unref (bytes);
      bytes = bits ? ov_spread_bits (b->files->weights, (gsize) offset, (gsize) count)
                   : ov_swap_nibbles (b->files->weights, (gsize) offset, need);
      offset = 0;
      if (bytes == NULL)
        {
          ov_error (error, b, layer, LPT_ERROR_MEMORY, "no memory for %" G_GSIZE_FORMAT " bytes", need);
          return NULL;
        }
    }
  LptTensor *tensor = lpt_tensor_new_bytes (dtype, &shape, bytes, (gsize) offset, error);
  if (tensor == NULL)
    ov_prefix (error, b, layer);
  else if (!bits && lpt_tensor_size (tensor) > size)
    {
      ov_error (error, b, layer, LPT_ERROR_INVALID,
                "size %" G_GUINT64_FORMAT " is too small: its strings take %" G_GSIZE_FORMAT " bytes", size,
                lpt_tensor_size (tensor));
      g_clear_pointer (&tensor, lpt_tensor_unref);
    }
  else if (b->files->mapped && bytes == b->files->weights)
    lpt_tensor_set_mapped (tensor);
  return tensor;
}
