/* json-value.c - what hangs on nodes and values of the native JSON: marks, constants, attributes, quantization
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/native_json/json-flags.h"
#include "frontends/native_json/json-reader.h"

#include <string.h>

/* --- markup ---------------------------------------------------------------- */

gboolean
lpt_json_read_boxes (LptJsonReader *r, GError **error)
{
  const cJSON *boxes = lpt_json_member (r->object, "boxes"), *item;
  cJSON_ArrayForEach (item, boxes)
    {
      gint kind = lpt_json_index (lpt_json_text (item, "kind"), json_box_kinds, G_N_ELEMENTS (json_box_kinds));
      if (kind < 0)
        return lpt_json_fail (error, r, "a box has no known kind");
      LptBox box = lpt_box_new (r->graph, (LptBoxKind) kind);
      LptBoxValue *value = lpt_box (r->graph, box);
      gboolean ok = TRUE;
      if (kind == LPT_BOX_PRECISIONS)
        ok = lpt_json_types (lpt_json_member (item, "types"), &value->types);
      else if (kind != LPT_BOX_INTERVAL)
        value->flag = cJSON_IsTrue (lpt_json_member (item, "flag"));
      else
        {
          double low, high, min_low, min_high;
          gint64 levels, min_levels;
          ok = lpt_json_double (lpt_json_member (item, "low"), &low) &&
               lpt_json_double (lpt_json_member (item, "high"), &high) &&
               lpt_json_double (lpt_json_member (item, "min_low"), &min_low) &&
               lpt_json_double (lpt_json_member (item, "min_high"), &min_high) &&
               lpt_json_int (lpt_json_member (item, "levels"), 0, G_MAXINT64, &levels) &&
               lpt_json_int (lpt_json_member (item, "min_levels"), 0, G_MAXINT64, &min_levels) &&
               lpt_json_types (lpt_json_member (item, "preferred"), &value->interval.preferred);
          if (ok)
            {
              value->interval.low = (float) low;
              value->interval.high = (float) high;
              value->interval.min_low = (float) min_low;
              value->interval.min_high = (float) min_high;
              value->interval.levels = (guint64) levels;
              value->interval.min_levels = (guint64) min_levels;
            }
        }
      if (!ok)
        return lpt_json_fail (error, r, "a box of kind \"%s\" is incomplete", json_box_kinds[kind]);
      g_array_append_val (r->boxes, box);
    }
  return TRUE;
}

gboolean
lpt_json_read_mark (LptJsonReader *r, const cJSON *item, LptMark *mark, GError **error)
{
  if (item == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (json_mark_fields); i++)
    {
      const cJSON *number = lpt_json_member (item, json_mark_fields[i].name);
      gint64 n;
      if (number == NULL)
        continue;
      if (!lpt_json_int (number, 1, r->boxes->len, &n))
        return lpt_json_fail (error, r, "mark \"%s\" names no box", json_mark_fields[i].name);
      LptBox box = g_array_index (r->boxes, LptBox, n - 1);
      if (lpt_box (r->graph, box)->kind != json_mark_fields[i].kind)
        return lpt_json_fail (error, r, "mark \"%s\" names a box of another kind", json_mark_fields[i].name);
      *(LptBox *) ((char *) mark + json_mark_fields[i].offset) = box;
    }
  const cJSON *granularity = lpt_json_member (item, "granularity");
  gint which = granularity != NULL ? lpt_json_index (cJSON_GetStringValue (granularity), json_granularities,
                                                     G_N_ELEMENTS (json_granularities))
                                   : 0;
  if (which < 0)
    return lpt_json_fail (error, r, "mark: unknown granularity");
  mark->granularity = (LptGranularity) which;
  return TRUE;
}

/* --- constants ------------------------------------------------------------- */

/* Strings say themselves how many bytes they are: those that the file states. */
static LptTensor *
checked (LptJsonReader *r, LptTensor *tensor, gsize need, GError **error)
{
  if (tensor == NULL)
    lpt_json_prefix (error, r);
  if (tensor == NULL || lpt_tensor_size (tensor) == need)
    return tensor;
  lpt_json_fail (error, r, "size %" G_GSIZE_FORMAT ", but its strings take %" G_GSIZE_FORMAT " bytes", need,
                 lpt_tensor_size (tensor));
  lpt_tensor_unref (tensor);
  return NULL;
}

LptTensor *
lpt_json_read_data (LptJsonReader *r, const cJSON *item, LptDType dtype, const LptShape *shape, GError **error)
{
  const cJSON *data = lpt_json_member (item, "data");
  const char *base64 = lpt_json_text (data, "base64");
  gint64 offset, size, count;
  gsize need, length = 0;
  g_autofree guchar *decoded = base64 != NULL ? g_base64_decode (base64, &length) : NULL;
  guint64 stated = base64 != NULL ? length : lpt_json_int (lpt_json_member (data, "size"), 0, G_MAXINT64, &size) ? (guint64) size : 0;
  if (dtype == LPT_DTYPE_UNDEFINED || dtype == LPT_DTYPE_DYNAMIC || !lpt_shape_count (shape, &count) ||
      !lpt_tensor_stated_size (dtype, count, stated, &need))
    {
      lpt_json_fail (error, r, "a constant needs a type and a static shape of sensible size");
      return NULL;
    }
  LptTensor *tensor = NULL;
  if (base64 != NULL)
    {
      if (length != need)
        {
          lpt_json_fail (error, r, "base64 holds %" G_GSIZE_FORMAT " bytes, %s of this shape takes %" G_GSIZE_FORMAT,
                         length, lpt_dtype_name (dtype), need);
          return NULL;
        }
      if (dtype == LPT_DTYPE_STRING)
        {
          g_autoptr (GBytes) own = g_bytes_new_take (g_steal_pointer (&decoded), length);
          tensor = lpt_tensor_new_bytes (dtype, shape, own, 0, error);
        }
      else
        tensor = lpt_tensor_new_copy (dtype, shape, decoded, error);
      return checked (r, tensor, need, error);
    }
  if (!lpt_json_int (lpt_json_member (data, "offset"), 0, G_MAXINT64, &offset) ||
      !lpt_json_int (lpt_json_member (data, "size"), 0, G_MAXINT64, &size))
    lpt_json_fail (error, r, "a constant needs \"data\" with offset and size, or base64");
  else if ((guint64) size != need)
    lpt_json_fail (error, r, "size %" G_GINT64_FORMAT ", but %s of this shape takes %" G_GSIZE_FORMAT " bytes", size,
                   lpt_dtype_name (dtype), need);
  else if (need > 0 && r->file->weights == NULL)
    lpt_json_fail (error, r, "no weights for this constant: %s",
                   r->file->no_weights != NULL ? r->file->no_weights : "the file names none");
  else if (need > 0 && ((guint64) offset > g_bytes_get_size (r->file->weights) ||
                        (guint64) size > g_bytes_get_size (r->file->weights) - (guint64) offset))
    lpt_json_fail (error, r,
                   "offset %" G_GINT64_FORMAT " + size %" G_GINT64_FORMAT
                   " is past the end of the weights (%" G_GSIZE_FORMAT " bytes)",
                   offset, size, g_bytes_get_size (r->file->weights));
  else
    {
      g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
      tensor = lpt_tensor_new_bytes (dtype, shape, need > 0 ? r->file->weights : none, need > 0 ? (gsize) offset : 0,
                                     error);
      return checked (r, tensor, need, error);
    }
  return tensor;
}

/* --- attributes ------------------------------------------------------------ */

/* The JSON value of an attribute as IR text, which lpt_attr_parse() reads; NULL when it can be none. */
static char *
attribute_text (const LptAttrField *field, const cJSON *item)
{
  if (field->kind == LPT_ATTR_SHAPE)
    {
      LptShape shape;
      return lpt_json_shape (item, &shape) ? shape.rank == LPT_DYNAMIC ? g_strdup ("...") : lpt_shape_to_string (&shape)
                                           : NULL;
    }
  if (field->kind == LPT_ATTR_BOOL)
    return cJSON_IsBool (item) ? g_strdup (cJSON_IsTrue (item) ? "true" : "false") : NULL;
  if (cJSON_IsString (item))
    return g_strdup (item->valuestring);
  if (cJSON_IsNumber (item) && field->kind != LPT_ATTR_STRING)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.17g", item->valuedouble));
    }
  if (!cJSON_IsArray (item) || (field->kind != LPT_ATTR_INTS && field->kind != LPT_ATTR_FLOATS))
    return NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  const cJSON *element;
  cJSON_ArrayForEach (element, item)
    {
      char buffer[G_ASCII_DTOSTR_BUF_SIZE];
      if (!cJSON_IsString (element) && !cJSON_IsNumber (element))
        return NULL;
      g_string_append (text, element != item->child ? "," : "");
      g_string_append (text, cJSON_IsString (element)
                                 ? element->valuestring
                                 : g_ascii_formatd (buffer, sizeof buffer, "%.17g", element->valuedouble));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
lpt_json_read_attributes (LptJsonReader *r, LptNode *node, const cJSON *attributes, GError **error)
{
  const cJSON *item;
  if (attributes != NULL && !cJSON_IsObject (attributes))
    return lpt_json_fail (error, r, "\"attributes\" is no object");
  cJSON_ArrayForEach (item, attributes)
    {
      const LptAttrField *field = lpt_attrs_find (node->info, node->opset, item->string);
      if (field == NULL)
        return lpt_json_fail (error, r, "%s has no attribute \"%.40s\"", node->info->name, item->string);
      g_autofree char *text = attribute_text (field, item);
      if (text == NULL)
        return lpt_json_fail (error, r, "attribute \"%s\" has the wrong kind of value", field->name);
      if (!lpt_attr_parse (field, node->attrs, text, error))
        {
          g_prefix_error (error, "attribute \"%s\": ", field->name);
          return lpt_json_prefix (error, r);
        }
    }
  return TRUE;
}

/* --- values ---------------------------------------------------------------- */

static gboolean
read_quant (LptJsonReader *r, LptValue *value, const cJSON *item, GError **error)
{
  if (item == NULL)
    return TRUE;
  const cJSON *axis = lpt_json_member (item, "axis"), *scales = lpt_json_member (item, "scale"),
              *zeros = lpt_json_member (item, "zero_point");
  gint64 a = LPT_QUANT_PER_TENSOR;
  guint n = cJSON_IsArray (scales) ? (guint) cJSON_GetArraySize (scales) : 0;
  if ((axis != NULL && !cJSON_IsNull (axis) && !lpt_json_int (axis, 0, LPT_MAX_RANK - 1, &a)) || n == 0
      || !cJSON_IsArray (zeros) || (guint) cJSON_GetArraySize (zeros) != n
      || lpt_quant_last_axis (&(LptQuant) { .axis = (gint) a, .n = n }, &value->shape) < LPT_QUANT_PER_TENSOR)
    return lpt_json_fail (error, r, "\"quantization\" needs an axis (or null) and as many scales as zero points");
  g_autofree double *scale = g_new (double, n);
  g_autofree gint32 *zero = g_new (gint32, n);
  const cJSON *s = scales->child, *z = zeros->child;
  for (guint i = 0; i < n; i++, s = s->next, z = z->next)
    {
      gint64 zp;
      if (!lpt_json_double (s, &scale[i]) || !lpt_json_int (z, G_MININT32, G_MAXINT32, &zp))
        return lpt_json_fail (error, r, "\"quantization\": element %u is no number", i);
      zero[i] = (gint32) zp;
    }
  g_autoptr (LptQuant) quant = lpt_quant_new ((gint) a, n, scale, zero);
  lpt_value_set_quant (value, quant);
  return TRUE;
}

gboolean
lpt_json_read_output (LptJsonReader *r, LptValue *value, const cJSON *item, GError **error)
{
  const char *type = lpt_json_text (item, "type");
  const cJSON *names = lpt_json_member (item, "names"), *name;
  value->dtype = type != NULL ? lpt_dtype_from_name (type) : LPT_DTYPE_UNDEFINED;
  if (type == NULL || (value->dtype == LPT_DTYPE_UNDEFINED && !g_str_equal (type, "undefined")))
    return lpt_json_fail (error, r, "output %u: unsupported element type \"%.40s\"", value->index,
                          type != NULL ? type : "");
  if (!lpt_json_shape (lpt_json_member (item, "shape"), &value->shape))
    return lpt_json_fail (error, r, "output %u has no shape (a list of at most %d lengths or null, or null)",
                          value->index, LPT_MAX_RANK);
  cJSON_ArrayForEach (name, names)
    if (cJSON_IsString (name))
      lpt_value_add_name (value, name->valuestring);
  return read_quant (r, value, lpt_json_member (item, "quantization"), error) &&
         lpt_json_read_mark (r, lpt_json_member (item, "mark"), &value->mark, error);
}
