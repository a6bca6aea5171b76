/* onnx-json-reader.c - protobuf's JSON mapping into ONNX messages
 *
 * One walker over cJSON's tree and the message descriptors. Taken: camelCase
 * and snake_case keys, 64-bit integers as strings or numbers, enums as names or
 * numbers, bytes as base64 (both alphabets, padding optional), NaN and Infinity as
 * strings, null as absent. Unknown keys are skipped, as the binary reader skips
 * unknown fields. cJSON holds numbers as double: an integer beyond 2^53 that is
 * not written as a string is refused, since its digits are lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-message.h"
#include "ir/text/lpt-line.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#define EXACT_DOUBLE 9007199254740992.0   /* 2^53 */

typedef struct
{
  guint64 n_objects;
} Reader;

static gboolean
read_message (Reader *reader, const cJSON *object, ProtobufCMessage *message, const LptOnnxPath *up, GError **error);

static gboolean
wrong_type (const LptOnnxPath  *path,
            const char         *wanted,
            GError            **error)
{
  lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "not %s", wanted);
  return FALSE;
}

/* --- numbers --------------------------------------------------------------- */

static gboolean
read_signed (const cJSON        *item,
             gint64              min,
             gint64              max,
             gint64             *value,
             const LptOnnxPath  *path,
             GError            **error)
{
  double number = item->valuedouble;

  if (cJSON_IsString (item))
    {
      if (g_ascii_string_to_signed (item->valuestring, 10, min, max, value, NULL))
        return TRUE;
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "\"%.40s\" is not an integer in its range",
                           item->valuestring);
      return FALSE;
    }
  if (!cJSON_IsNumber (item) || number != floor (number))
    return wrong_type (path, "an integer", error);
  if (fabs (number) > EXACT_DOUBLE)
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "an integer beyond 2^53 must be written as a string");
      return FALSE;
    }
  if (number < (double) min || number > (double) max)
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "%.0f is out of range", number);
      return FALSE;
    }
  *value = (gint64) number;
  return TRUE;
}

static gboolean
read_unsigned (const cJSON        *item,
               guint64            *value,
               const LptOnnxPath  *path,
               GError            **error)
{
  gint64 small;

  if (cJSON_IsString (item))
    {
      if (g_ascii_string_to_unsigned (item->valuestring, 10, 0, G_MAXUINT64, value, NULL))
        return TRUE;
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "\"%.40s\" is not an integer in its range",
                           item->valuestring);
      return FALSE;
    }
  if (!read_signed (item, 0, G_MAXINT64, &small, path, error))
    return FALSE;
  *value = (guint64) small;
  return TRUE;
}

static gboolean
read_real (const cJSON        *item,
           gboolean            is_float,
           double             *value,
           const LptOnnxPath  *path,
           GError            **error)
{
  static const struct { const char *name; double value; } special[] = {
    { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY },
  };

  if (cJSON_IsNumber (item))
    *value = item->valuedouble;
  else if (cJSON_IsString (item))
    {
      const char *text = item->valuestring;
      char *end;

      for (guint i = 0; i < G_N_ELEMENTS (special); i++)
        if (strcmp (text, special[i].name) == 0)
          {
            *value = special[i].value;
            return TRUE;
          }
      *value = g_ascii_strtod (text, &end);
      if (end == text || *end != '\0' || !(g_ascii_isdigit (*text) || *text == '-'))
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "\"%.40s\" is not a number", text);
          return FALSE;
        }
    }
  else
    return wrong_type (path, "a number", error);

  if (!(is_float ? isfinite ((float) *value) : isfinite (*value)))
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "a number out of range");
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_enum (const cJSON        *item,
           int                *value,
           const LptOnnxPath  *path,
           GError            **error)
{
  gint64 number;

  if (cJSON_IsString (item))
    {
      const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value_by_name (path->field->descriptor,
                                                                                      item->valuestring);

      if (named == NULL)
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "\"%.40s\" is not one of its names", item->valuestring);
          return FALSE;
        }
      *value = named->value;
      return TRUE;
    }
  if (!read_signed (item, G_MININT32, G_MAXINT32, &number, path, error))
    return FALSE;
  *value = (int) number;
  return TRUE;
}

/* --- strings and bytes ------------------------------------------------------ */

static int
base64_digit (char c)
{
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  if (c == '+' || c == '-')
    return 62;
  if (c == '/' || c == '_')
    return 63;
  return -1;
}

static gboolean
read_bytes (const cJSON          *item,
            ProtobufCBinaryData  *bytes,
            const LptOnnxPath    *path,
            GError              **error)
{
  const char *text;
  gsize length, digits, padding;
  guint32 group = 0;
  guint8 *out;

  if (!cJSON_IsString (item))
    return wrong_type (path, "a base64 string", error);
  text = item->valuestring;
  length = strlen (text);
  for (digits = length; digits > 0 && length - digits < 2 && text[digits - 1] == '='; )
    digits--;
  padding = length - digits;
  if (digits % 4 == 1 || (padding > 0 && length % 4 != 0))
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "base64 of impossible length %" G_GSIZE_FORMAT, length);
      return FALSE;
    }

  bytes->len = 0;
  bytes->data = NULL;
  if (digits == 0)
    return TRUE;
  out = bytes->data = g_try_malloc (digits / 4 * 3 + 3);
  if (out == NULL)
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_MEMORY, "%" G_GSIZE_FORMAT " bytes do not fit in memory",
                           digits / 4 * 3);
      return FALSE;
    }
  for (gsize i = 0; i < digits; i++)
    {
      int digit = base64_digit (text[i]);

      if (digit < 0)
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "not base64 at character %" G_GSIZE_FORMAT, i);
          return FALSE;
        }
      group = group << 6 | (guint32) digit;
      if (i % 4 > 0)
        *out++ = (guint8) (group >> (6 - 2 * (i % 4)));
    }
  bytes->len = (gsize) (out - bytes->data);
  return TRUE;
}

static gboolean
read_string (const cJSON        *item,
             char              **string,
             const LptOnnxPath  *path,
             GError            **error)
{
  if (!cJSON_IsString (item))
    return wrong_type (path, "a string", error);
  if (!g_utf8_validate (item->valuestring, -1, NULL))
    return wrong_type (path, "UTF-8 text", error);
  *string = g_strdup (item->valuestring);
  return TRUE;
}

/* --- fields ----------------------------------------------------------------- */

/* One value into @slot, an element of the field's type: those that ONNX's messages have. What is half read is in its
 * place in the message, which frees it. */
static gboolean
read_value (Reader             *reader,
            const cJSON        *item,
            gpointer            slot,
            const LptOnnxPath  *path,
            GError            **error)
{
  const ProtobufCFieldDescriptor *field = path->field;
  gint64 integer;
  double real;

  switch ((guint) field->type)
    {
    case PROTOBUF_C_TYPE_INT32:
      if (!read_signed (item, G_MININT32, G_MAXINT32, &integer, path, error))
        return FALSE;
      *(gint32 *) slot = (gint32) integer;
      return TRUE;
    case PROTOBUF_C_TYPE_INT64:
      return read_signed (item, G_MININT64, G_MAXINT64, slot, path, error);
    case PROTOBUF_C_TYPE_UINT64:
      return read_unsigned (item, slot, path, error);
    case PROTOBUF_C_TYPE_FLOAT:
      if (!read_real (item, TRUE, &real, path, error))
        return FALSE;
      *(float *) slot = (float) real;
      return TRUE;
    case PROTOBUF_C_TYPE_DOUBLE:
      return read_real (item, FALSE, slot, path, error);
    case PROTOBUF_C_TYPE_ENUM:
      return read_enum (item, slot, path, error);
    case PROTOBUF_C_TYPE_STRING:
      return read_string (item, slot, path, error);
    case PROTOBUF_C_TYPE_BYTES:
      return read_bytes (item, slot, path, error);
    case PROTOBUF_C_TYPE_MESSAGE:
      {
        const ProtobufCMessageDescriptor *descriptor = field->descriptor;
        ProtobufCMessage *message;

        if (path->depth >= LPT_ONNX_MAX_DEPTH)
          {
            lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED, "unsupported: messages nested deeper than %d",
                                 LPT_ONNX_MAX_DEPTH);
            return FALSE;
          }
        message = g_malloc0 (descriptor->sizeof_message);
        descriptor->message_init (message);
        *(ProtobufCMessage **) slot = message;
        return read_message (reader, item, message, path, error);
      }
    }
  g_assert_not_reached ();
}

static gboolean
read_repeated (Reader             *reader,
               const cJSON        *array,
               ProtobufCMessage   *message,
               LptOnnxPath        *path,
               GError            **error)
{
  const ProtobufCFieldDescriptor *field = path->field;
  gsize *count = G_STRUCT_MEMBER_P (message, field->quantifier_offset);
  gpointer *elements = G_STRUCT_MEMBER_P (message, field->offset);
  gsize element_size = lpt_onnx_element_size (field);
  gsize n = 0;

  if (!cJSON_IsArray (array))
    return wrong_type (path, "an array", error);
  for (const cJSON *item = array->child; item != NULL; item = item->next)
    n++;
  if (n == 0)
    return TRUE;

  *elements = g_try_malloc0_n (n, element_size);
  if (*elements == NULL)
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_MEMORY, "%" G_GSIZE_FORMAT " elements do not fit in memory", n);
      return FALSE;
    }
  for (const cJSON *item = array->child; item != NULL; item = item->next)
    {
      gboolean ok;

      path->index = (gint64) *count;
      ok = read_value (reader, item, (char *) *elements + *count * element_size, path, error);
      if (ok || field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_BYTES)
        (*count)++;
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_field (Reader             *reader,
            const cJSON        *item,
            ProtobufCMessage   *message,
            LptOnnxPath        *path,
            GError            **error)
{
  const ProtobufCFieldDescriptor *field = path->field;

  if (field->label == PROTOBUF_C_LABEL_REPEATED)
    return read_repeated (reader, item, message, path, error);

  if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    {
      guint32 *which = G_STRUCT_MEMBER_P (message, field->quantifier_offset);

      if (*which != 0)
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "another alternative of the same choice is given");
          return FALSE;
        }
      *which = field->id;
    }
  else if (field->quantifier_offset != 0)
    G_STRUCT_MEMBER (protobuf_c_boolean, message, field->quantifier_offset) = TRUE;

  return read_value (reader, item, G_STRUCT_MEMBER_P (message, field->offset), path, error);
}

/* The field with this JSON name (rawData) or proto name (raw_data), or NULL. */
static const ProtobufCFieldDescriptor *
find_field (const ProtobufCMessageDescriptor *descriptor,
            const char                       *key)
{
  char snake[64];
  gsize n = 0;

  for (; *key != '\0'; key++)
    {
      if (n + 2 >= sizeof snake)
        return NULL;
      if (g_ascii_isupper (*key))
        snake[n++] = '_';
      snake[n++] = g_ascii_tolower (*key);
    }
  snake[n] = '\0';
  return protobuf_c_message_descriptor_get_field_by_name (descriptor, snake);
}

static gboolean
read_message (Reader             *reader,
              const cJSON        *object,
              ProtobufCMessage   *message,
              const LptOnnxPath  *up,
              GError            **error)
{
  guint64 seen = 0;

  g_assert (message->descriptor->n_fields <= 64);
  if (!cJSON_IsObject (object))
    return wrong_type (up, "an object", error);
  if (++reader->n_objects > LPT_ONNX_MAX_OBJECTS)
    {
      lpt_onnx_path_error (up, error, LPT_ERROR_UNSUPPORTED, "unsupported: more than %d messages",
                           LPT_ONNX_MAX_OBJECTS);
      return FALSE;
    }

  for (const cJSON *item = object->child; item != NULL; item = item->next)
    {
      const ProtobufCFieldDescriptor *field = find_field (message->descriptor, item->string);
      LptOnnxPath path = { up, field, -1, up != NULL ? up->depth + 1 : 1 };
      guint64 bit;

      if (field == NULL || cJSON_IsNull (item))
        continue;
      bit = G_GUINT64_CONSTANT (1) << (field - message->descriptor->fields);
      if (seen & bit)
        {
          lpt_onnx_path_error (&path, error, LPT_ERROR_INVALID, "given twice");
          return FALSE;
        }
      seen |= bit;
      if (!read_field (reader, item, message, &path, error))
        return FALSE;
    }
  return TRUE;
}

Onnx__ModelProto *
lpt_onnx_model_from_json (const char  *text,
                          gsize        size,
                          GError     **error)
{
  Reader reader = { 0 };
  const char *end = NULL;
  cJSON *root = cJSON_ParseWithLengthOpts (text, size, &end, FALSE);
  g_autoptr (Onnx__ModelProto) model = NULL;

  if (root == NULL)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_INVALID, "not JSON (or nested deeper than %d), line %u",
                           CJSON_NESTING_LIMIT, lpt_line_of (text, size, end));
      return NULL;
    }
  while (end < text + size && (g_ascii_isspace (*end) || *end == '\0'))
    end++;
  if (end < text + size)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_INVALID, "text after the end of the JSON object, line %u",
                           lpt_line_of (text, size, end));
      cJSON_Delete (root);
      return NULL;
    }

  model = g_new0 (Onnx__ModelProto, 1);
  onnx__model_proto__init (model);
  if (!read_message (&reader, root, &model->base, NULL, error))
    g_clear_pointer (&model, lpt_onnx_model_free);
  cJSON_Delete (root);
  return g_steal_pointer (&model);
}
