/* onnx-json-writer.c - ONNX messages as protobuf's JSON mapping
 *
 * One walker over the message descriptors: camelCase keys, 64-bit integers as
 * strings, enums by name, bytes in base64, NaN and infinities as strings, absent
 * fields left out. Reals get the fewest digits that read back to the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gboolean write_message (GString *out, const ProtobufCMessage *message, const LptOnnxPath *up, GError **error);

static void
write_indent (GString *out,
              guint    depth)
{
  g_string_append_c (out, '\n');
  for (guint i = 0; i < depth; i++)
    g_string_append (out, "  ");
}

static gboolean
write_string (GString            *out,
              const char         *text,
              const LptOnnxPath  *path,
              GError            **error)
{
  if (!g_utf8_validate (text, -1, NULL))
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "not UTF-8 text");
      return FALSE;
    }
  g_string_append_c (out, '"');
  for (; *text != '\0'; text++)
    {
      guchar c = (guchar) *text;

      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", c);
      else if (c < 0x20)
        g_string_append_printf (out, "\\u%04x", c);
      else
        g_string_append_c (out, (char) c);
    }
  g_string_append_c (out, '"');
  return TRUE;
}

static void
write_bytes (GString                   *out,
             const ProtobufCBinaryData *bytes)
{
  gsize start = out->len + 1;
  int state = 0, save = 0;
  gsize n;

  g_string_append_c (out, '"');
  g_string_set_size (out, start + (bytes->len / 3 + 1) * 4 + 4);
  n = g_base64_encode_step (bytes->data, bytes->len, FALSE, out->str + start, &state, &save);
  n += g_base64_encode_close (FALSE, out->str + start + n, &state, &save);
  g_string_truncate (out, start + n);
  g_string_append_c (out, '"');
}

static void
write_real (GString  *out,
            double    value,
            gboolean  is_float)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan (value))
    g_string_append (out, "\"NaN\"");
  else if (isinf (value))
    g_string_append (out, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  else
    {
      const char *formats[] = { "%.6g", "%.7g", "%.8g", "%.9g", "%.15g", "%.16g", "%.17g" };
      guint first = is_float ? 0 : 4, last = is_float ? 3 : 6;

      for (guint i = first; i <= last; i++)
        {
          double back;

          g_ascii_formatd (text, sizeof text, formats[i], value);
          back = g_ascii_strtod (text, NULL);
          if (is_float ? (float) back == (float) value : back == value)
            break;
        }
      g_string_append (out, text);
    }
}

static gboolean
write_value (GString            *out,
             gconstpointer       slot,
             const LptOnnxPath  *path,
             GError            **error)
{
  const ProtobufCFieldDescriptor *field = path->field;

  switch ((guint) field->type)      /* those that ONNX's messages have */
    {
    case PROTOBUF_C_TYPE_INT32:
      g_string_append_printf (out, "%d", *(const gint32 *) slot);
      return TRUE;
    case PROTOBUF_C_TYPE_INT64:
      g_string_append_printf (out, "\"%" G_GINT64_FORMAT "\"", *(const gint64 *) slot);
      return TRUE;
    case PROTOBUF_C_TYPE_UINT64:
      g_string_append_printf (out, "\"%" G_GUINT64_FORMAT "\"", *(const guint64 *) slot);
      return TRUE;
    case PROTOBUF_C_TYPE_FLOAT:
      write_real (out, *(const float *) slot, TRUE);
      return TRUE;
    case PROTOBUF_C_TYPE_DOUBLE:
      write_real (out, *(const double *) slot, FALSE);
      return TRUE;
    case PROTOBUF_C_TYPE_ENUM:
      {
        int value = *(const int *) slot;
        const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value (field->descriptor, value);

        if (named != NULL)
          g_string_append_printf (out, "\"%s\"", named->name);
        else
          g_string_append_printf (out, "%d", value);
        return TRUE;
      }
    case PROTOBUF_C_TYPE_STRING:
      return write_string (out, *(char *const *) slot, path, error);
    case PROTOBUF_C_TYPE_BYTES:
      write_bytes (out, slot);
      return TRUE;
    case PROTOBUF_C_TYPE_MESSAGE:
      return write_message (out, *(ProtobufCMessage *const *) slot, path, error);
    }
  g_assert_not_reached ();
}

static gboolean
is_present (const ProtobufCMessage         *message,
            const ProtobufCFieldDescriptor *field)
{
  if (field->label == PROTOBUF_C_LABEL_REPEATED)
    return G_STRUCT_MEMBER (gsize, message, field->quantifier_offset) > 0;
  if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
    return G_STRUCT_MEMBER (guint32, message, field->quantifier_offset) == field->id;
  if (field->quantifier_offset != 0)
    return G_STRUCT_MEMBER (protobuf_c_boolean, message, field->quantifier_offset);
  return G_STRUCT_MEMBER (gpointer, message, field->offset) != NULL;
}

static gboolean
write_repeated (GString                 *out,
                const ProtobufCMessage  *message,
                LptOnnxPath             *path,
                GError                 **error)
{
  gsize n = G_STRUCT_MEMBER (gsize, message, path->field->quantifier_offset);
  const char *elements = G_STRUCT_MEMBER (gpointer, message, path->field->offset);
  gsize element_size = lpt_onnx_element_size (path->field);
  gboolean lines = path->field->type == PROTOBUF_C_TYPE_MESSAGE;

  g_string_append_c (out, '[');
  for (gsize i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (out, lines ? "," : ", ");
      if (lines)
        write_indent (out, path->depth + 1);
      path->index = (gint64) i;
      if (!write_value (out, elements + i * element_size, path, error))
        return FALSE;
    }
  if (lines)
    write_indent (out, path->depth);
  g_string_append_c (out, ']');
  return TRUE;
}

static gboolean
write_message (GString                 *out,
               const ProtobufCMessage  *message,
               const LptOnnxPath       *up,
               GError                 **error)
{
  guint depth = up != NULL ? up->depth + 1 : 1;
  gboolean first = TRUE;

  if (depth > LPT_ONNX_MAX_DEPTH)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED, "unsupported: messages nested deeper than %d",
                           LPT_ONNX_MAX_DEPTH);
      return FALSE;
    }
  g_string_append_c (out, '{');
  for (guint i = 0; i < message->descriptor->n_fields; i++)
    {
      const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
      LptOnnxPath path = { up, field, -1, depth };
      gboolean ok;

      if (!is_present (message, field))
        continue;
      if (!first)
        g_string_append_c (out, ',');
      first = FALSE;
      write_indent (out, depth);
      g_string_append_c (out, '"');
      lpt_onnx_append_json_name (out, field->name);
      g_string_append (out, "\": ");
      if (field->label == PROTOBUF_C_LABEL_REPEATED)
        ok = write_repeated (out, message, &path, error);
      else
        ok = write_value (out, G_STRUCT_MEMBER_P (message, field->offset), &path, error);
      if (!ok)
        return FALSE;
    }
  if (!first)
    write_indent (out, depth - 1);
  g_string_append_c (out, '}');
  return TRUE;
}

GString *
lpt_onnx_model_to_json (const Onnx__ModelProto  *model,
                        GError                 **error)
{
  GString *out = g_string_new (NULL);

  if (!write_message (out, &model->base, NULL, error))
    {
      g_string_free (out, TRUE);
      return NULL;
    }
  g_string_append_c (out, '\n');
  return out;
}
