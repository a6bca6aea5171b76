/* onnx-wire.c - binary ONNX (protobuf wire format)
 *
 * protobuf-c decodes. It has no limit on nesting and reports nothing but
 * failure, so a scan by the same descriptors comes first: it checks every tag,
 * length and string, bounds nesting and the number of objects, and says where
 * a file is wrong. What passes the scan is decoded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-message.h"

#define MAX_FIELDS 32
#define WIRE_START_GROUP 3
#define WIRE_END_GROUP   4

typedef struct
{
  const guint8 *at;
  const guint8 *end;
} Cursor;

typedef struct
{
  guint64 n_objects;
} Scan;

/* protobuf-c takes tags and lengths of five bytes, numbers of ten. */
#define SHORT_VARINT 5
#define LONG_VARINT  10

static gboolean
read_varint (Cursor  *cursor,
             guint    max_bytes,
             guint64 *value)
{
  guint64 result = 0;

  for (guint shift = 0; shift < 7 * max_bytes && cursor->at < cursor->end; shift += 7)
    {
      guint8 byte = *cursor->at++;

      if (shift < 64)
        result |= (guint64) (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        {
          *value = result;
          return TRUE;
        }
    }
  return FALSE;
}

/* Steps over @size bytes; FALSE when there are fewer. */
static gboolean
skip (Cursor  *cursor,
      guint64  size)
{
  if (size > (guint64) (cursor->end - cursor->at))
    return FALSE;
  cursor->at += size;
  return TRUE;
}

static guint
wire_type_of (ProtobufCType type)
{
  switch (type)
    {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
      return PROTOBUF_C_WIRE_TYPE_32BIT;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
      return PROTOBUF_C_WIRE_TYPE_64BIT;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
      return PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    default:
      return PROTOBUF_C_WIRE_TYPE_VARINT;
    }
}

static gboolean
scan_packed (const LptOnnxPath  *path,
             Cursor              body,
             GError            **error)
{
  guint wire = wire_type_of (path->field->type);
  gsize size = body.end - body.at;
  guint64 ignored;

  if (wire == PROTOBUF_C_WIRE_TYPE_VARINT)
    {
      while (body.at < body.end)
        if (!read_varint (&body, LONG_VARINT, &ignored))
          {
            lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "a packed number is cut off or too long");
            return FALSE;
          }
    }
  else if (size % (wire == PROTOBUF_C_WIRE_TYPE_32BIT ? 4 : 8) != 0)
    {
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " bytes are not a whole count of numbers", size);
      return FALSE;
    }
  return TRUE;
}

static gboolean
scan_message (Scan *scan, const ProtobufCMessageDescriptor *message, Cursor cursor, const LptOnnxPath *up, GError **error);

/* The body of a length-delimited field. */
static gboolean
scan_body (Scan               *scan,
           const LptOnnxPath  *path,
           Cursor              body,
           GError            **error)
{
  const ProtobufCFieldDescriptor *field = path->field;

  if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES || field->type == PROTOBUF_C_TYPE_MESSAGE)
    {
      if (++scan->n_objects > LPT_ONNX_MAX_OBJECTS)
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_UNSUPPORTED, "unsupported: more than %d messages and strings", LPT_ONNX_MAX_OBJECTS);
          return FALSE;
        }
    }

  switch (field->type)
    {
    case PROTOBUF_C_TYPE_MESSAGE:
      if (path->depth >= LPT_ONNX_MAX_DEPTH)
        {
          lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED, "unsupported: messages nested deeper than %d", LPT_ONNX_MAX_DEPTH);
          return FALSE;
        }
      return scan_message (scan, field->descriptor, body, path, error);
    case PROTOBUF_C_TYPE_STRING:
      if (!g_utf8_validate_len ((const char *) body.at, body.end - body.at, NULL))
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "not UTF-8 text");
          return FALSE;
        }
      return TRUE;
    case PROTOBUF_C_TYPE_BYTES:
      return TRUE;
    default:
      return scan_packed (path, body, error);
    }
}

/* One value of wire type @wire at the cursor. @path NULL: a field that is skipped. */
static gboolean
scan_value (Scan               *scan,
            guint               wire,
            Cursor             *cursor,
            const LptOnnxPath  *path,
            const LptOnnxPath  *up,
            GError            **error)
{
  const LptOnnxPath *where = path != NULL ? path : up;
  guint64 number;
  gboolean whole;

  switch (wire)
    {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
      whole = read_varint (cursor, LONG_VARINT, &number);
      break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
      whole = skip (cursor, 4);
      break;
    case PROTOBUF_C_WIRE_TYPE_64BIT:
      whole = skip (cursor, 8);
      break;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
      {
        Cursor body;

        whole = read_varint (cursor, SHORT_VARINT, &number);
        body.at = cursor->at;
        if (whole && !skip (cursor, number))
          {
            lpt_onnx_path_error (where, error, LPT_ERROR_INVALID,
                                 "a length of %" G_GUINT64_FORMAT " bytes runs past the end (%" G_GSIZE_FORMAT " are left)",
                                 number, (gsize) (cursor->end - cursor->at));
            return FALSE;
          }
        body.end = cursor->at;
        if (whole && path != NULL)
          return scan_body (scan, path, body, error);
        break;
      }
    case WIRE_START_GROUP:
    case WIRE_END_GROUP:
      lpt_onnx_path_error (where, error, LPT_ERROR_UNSUPPORTED, "unsupported protobuf group");
      return FALSE;
    default:
      lpt_onnx_path_error (where, error, LPT_ERROR_INVALID, "wire type %u does not exist", wire);
      return FALSE;
    }
  if (!whole)
    lpt_onnx_path_error (where, error, LPT_ERROR_INVALID, "cut off inside a value");
  return whole;
}

static gboolean
scan_message (Scan                              *scan,
              const ProtobufCMessageDescriptor  *message,
              Cursor                             cursor,
              const LptOnnxPath                 *up,
              GError                           **error)
{
  gint64 seen[MAX_FIELDS] = { 0 };

  g_assert (message->n_fields <= MAX_FIELDS);
  while (cursor.at < cursor.end)
    {
      const ProtobufCFieldDescriptor *field;
      LptOnnxPath path;
      gboolean repeated, packed;
      guint64 tag;
      guint wire;

      if (!read_varint (&cursor, SHORT_VARINT, &tag) || tag >> 3 == 0 || tag >> 3 >= 1u << 29)
        {
          lpt_onnx_path_error (up, error, LPT_ERROR_INVALID, "not a field of a protobuf message");
          return FALSE;
        }
      wire = tag & 7;
      field = protobuf_c_message_descriptor_get_field (message, (unsigned) (tag >> 3));
      if (field == NULL)
        {
          if (!scan_value (scan, wire, &cursor, NULL, up, error))
            return FALSE;
          continue;
        }

      repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
      path = (LptOnnxPath) { up, field, repeated ? seen[field - message->fields] : -1, up != NULL ? up->depth + 1 : 1 };
      if (seen[field - message->fields]++ > 0 && !repeated && field->type == PROTOBUF_C_TYPE_MESSAGE)
        {
          lpt_onnx_path_error (&path, error, LPT_ERROR_INVALID, "given twice");
          return FALSE;
        }
      packed = repeated && wire == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
      if (wire != wire_type_of (field->type) && !packed)
        {
          lpt_onnx_path_error (&path, error, LPT_ERROR_INVALID, "wire type %u where %u belongs", wire, wire_type_of (field->type));
          return FALSE;
        }
      if (!scan_value (scan, wire, &cursor, &path, up, error))
        return FALSE;
    }
  return TRUE;
}

Onnx__ModelProto *
lpt_onnx_model_from_wire (gconstpointer   data,
                          gsize           size,
                          GError        **error)
{
  Scan scan = { 0 };
  Cursor cursor = { data, (const guint8 *) data + size };
  ProtobufCMessage *message;

  if (size > G_MAXINT32)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED, "unsupported: binary ONNX beyond protobuf's limit of 2 GB");
      return NULL;
    }
  if (!scan_message (&scan, &onnx__model_proto__descriptor, cursor, NULL, error))
    return NULL;
  message = protobuf_c_message_unpack (&onnx__model_proto__descriptor, NULL, size, data);
  if (message == NULL)
    lpt_onnx_path_error (NULL, error, LPT_ERROR_INVALID, "cannot be decoded: malformed, or memory is short");
  return (Onnx__ModelProto *) message;
}

GBytes *
lpt_onnx_model_to_wire (const Onnx__ModelProto  *model,
                        GError                 **error)
{
  gsize size = protobuf_c_message_get_packed_size (&model->base);
  guint8 *data;

  if (size > G_MAXINT32)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED, "unsupported: a binary ONNX file of more than 2 GB");
      return NULL;
    }
  data = g_try_malloc (MAX (size, 1));
  if (data == NULL)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_MEMORY, "%" G_GSIZE_FORMAT " bytes do not fit in memory", size);
      return NULL;
    }
  protobuf_c_message_pack (&model->base, data);
  return g_bytes_new_take (data, size);
}
