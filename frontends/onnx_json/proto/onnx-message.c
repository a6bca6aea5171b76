/* onnx-message.c - what both serialisations of ONNX share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-message.h"

#include <stdarg.h>

void
lpt_onnx_append_json_name (GString    *out,
                           const char *snake)
{
  gboolean upper = FALSE;

  for (; *snake != '\0'; snake++)
    {
      if (*snake == '_')
        upper = TRUE;
      else
        {
          g_string_append_c (out, upper ? g_ascii_toupper (*snake) : *snake);
          upper = FALSE;
        }
    }
}

static void
append_path (GString           *out,
             const LptOnnxPath *path)
{
  if (path->up != NULL)
    {
      append_path (out, path->up);
      g_string_append_c (out, '.');
    }
  lpt_onnx_append_json_name (out, path->field->name);
  if (path->index >= 0)
    g_string_append_printf (out, "[%" G_GINT64_FORMAT "]", path->index);
}

void
lpt_onnx_path_error (const LptOnnxPath  *path,
                     GError            **error,
                     LptError            code,
                     const char         *format,
                     ...)
{
  g_autoptr (GString) where = g_string_new (NULL);
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);

  if (path != NULL)
    {
      append_path (where, path);
      g_string_append (where, ": ");
    }
  g_set_error (error, LPT_ERROR, code, "%s%s", where->str, what);
}

gsize
lpt_onnx_element_size (const ProtobufCFieldDescriptor *field)
{
  switch (field->type)
    {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM:
      return 4;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
      return 8;
    case PROTOBUF_C_TYPE_BOOL:
      return sizeof (protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
      return sizeof (gpointer);
    case PROTOBUF_C_TYPE_BYTES:
      return sizeof (ProtobufCBinaryData);
    }
  g_assert_not_reached ();
}

void
lpt_onnx_model_free (Onnx__ModelProto *model)
{
  if (model != NULL)
    protobuf_c_message_free_unpacked (&model->base, NULL);
}
