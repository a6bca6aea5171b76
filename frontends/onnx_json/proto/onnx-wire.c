/* onnx-wire.c - binary ONNX (protobuf wire format)
 *
 * protobuf-c decodes. It has no limit on nesting and reports nothing but
 * failure, so a scan by the same descriptors comes first: it checks every tag,
 * length and string, bounds nesting and the number of objects, and says where
 * a file is wrong. What passes the scan is decoded.
 *
 * protobuf-c copies each field. Most of a file are elements of initializers; where the caller lends
 * its memory they are left out of what is decoded, and the message points at them where they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-file.h"

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
      lpt_onnx_path_error (path, error, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " bytes are not a whole count of numbers",
                           size);
      return FALSE;
    }
  return TRUE;
}

static gboolean scan_message (Scan *scan, const ProtobufCMessageDescriptor *message, Cursor cursor,
                              const LptOnnxPath *up, GError **error);

/* The body of a length-delimited field. */
static gboolean
scan_body (Scan               *scan,
           const LptOnnxPath  *path,
           Cursor              body,
           GError            **error)
{
  const ProtobufCFieldDescriptor *field = path->field;

  if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES ||
      field->type == PROTOBUF_C_TYPE_MESSAGE)
    {
      if (++scan->n_objects > LPT_ONNX_MAX_OBJECTS)
        {
          lpt_onnx_path_error (path, error, LPT_ERROR_UNSUPPORTED, "unsupported: more than %d messages and strings",
                               LPT_ONNX_MAX_OBJECTS);
          return FALSE;
        }
    }

  switch (field->type)
    {
    case PROTOBUF_C_TYPE_MESSAGE:
      if (path->depth >= LPT_ONNX_MAX_DEPTH)
        {
          lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED, "unsupported: messages nested deeper than %d",
                               LPT_ONNX_MAX_DEPTH);
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
                                 "a length of %" G_GUINT64_FORMAT " bytes runs past the end (%" G_GSIZE_FORMAT
                                 " are left)",
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
          lpt_onnx_path_error (&path, error, LPT_ERROR_INVALID, "wire type %u where %u belongs", wire,
                               wire_type_of (field->type));
          return FALSE;
        }
      if (!scan_value (scan, wire, &cursor, &path, up, error))
        return FALSE;
    }
  return TRUE;
}

/* --- elements that stay where they are -------------------------------------- */

#define MODEL_GRAPH       7
#define GRAPH_INITIALIZER 5
#define TENSOR_DATA_TYPE  2
#define TENSOR_RAW_DATA   9

/* Fewer bytes are copied with the rest. */
#define MIN_LENT 4096

/* A field that the scan has passed. */
typedef struct
{
  guint         number;
  guint         wire;
  guint64       value;    /* of a varint */
  const guint8 *from;     /* the tag */
  Cursor        body;     /* of a length-delimited field */
} Field;

/* What one initializer has lent. */
typedef struct
{
  gsize         initializer;
  const guint8 *data;
  gsize         size;
} Loan;

static gboolean
next_field (Cursor *cursor,
            Field  *field)
{
  guint64 number = 0;
  gboolean whole;

  if (cursor->at >= cursor->end)
    return FALSE;
  *field = (Field) { .from = cursor->at };
  whole = read_varint (cursor, SHORT_VARINT, &number);
  field->number = (guint) (number >> 3);
  field->wire = number & 7;
  switch (field->wire)
    {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
      whole = whole && read_varint (cursor, LONG_VARINT, &field->value);
      break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
      whole = whole && skip (cursor, 4);
      break;
    case PROTOBUF_C_WIRE_TYPE_64BIT:
      whole = whole && skip (cursor, 8);
      break;
    default:
      whole = whole && read_varint (cursor, SHORT_VARINT, &number);
      field->body.at = cursor->at;
      whole = whole && skip (cursor, number);
      field->body.end = cursor->at;
    }
  g_assert (whole);
  return TRUE;
}

static void
append_field (GByteArray   *out,
              const Field  *field,
              const Cursor *behind)
{
  g_byte_array_append (out, field->from, (guint) (behind->at - field->from));
}

/* A message whose length is not known yet: five bytes are kept free for it. */
static guint
begin_message (GByteArray *out,
               guint       number)
{
  const guint8 head[1 + SHORT_VARINT] = { (guint8) (number << 3 | PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) };

  g_byte_array_append (out, head, sizeof head);
  return out->len;
}

static void
end_message (GByteArray *out,
             guint       begin)
{
  guint size = out->len - begin, i;

  for (i = 0; i < SHORT_VARINT; i++)
    out->data[begin - SHORT_VARINT + i] = (guint8) ((size >> 7 * i & 0x7f) | (i + 1 < SHORT_VARINT ? 0x80 : 0));
}

/* Elements are lent where they are aligned and stand in one field. */
static gboolean
find_loan (Cursor  tensor,
           Loan   *loan)
{
  LptDType dtype = LPT_DTYPE_UNDEFINED;
  guint n = 0;
  Field field;

  while (next_field (&tensor, &field))
    if (field.number == TENSOR_DATA_TYPE)
      dtype = lpt_onnx_type_to_dtype ((gint32) field.value, NULL);
    else if (field.number == TENSOR_RAW_DATA)
      {
        loan->data = field.body.at;
        loan->size = field.body.end - field.body.at;
        n++;
      }
  return n == 1 && dtype != LPT_DTYPE_UNDEFINED && loan->size >= MIN_LENT
         && (guintptr) loan->data % MAX (lpt_dtype_bits (dtype) / 8, 1) == 0;
}

static void
cut_graph (GByteArray *out,
           Cursor      graph,
           GArray     *loans)
{
  Loan loan = { 0 };
  Field field;

  while (next_field (&graph, &field))
    {
      gboolean lends = field.number == GRAPH_INITIALIZER && find_loan (field.body, &loan);

      if (lends)
        {
          guint begin = begin_message (out, GRAPH_INITIALIZER);
          Cursor tensor = field.body;
          Field part;

          while (next_field (&tensor, &part))
            if (part.number != TENSOR_RAW_DATA)
              append_field (out, &part, &tensor);
          end_message (out, begin);
          g_array_append_val (loans, loan);
        }
      else
        append_field (out, &field, &graph);
      loan.initializer += field.number == GRAPH_INITIALIZER;
    }
}

/* The model without what its initializers lend (transfer full). */
static GByteArray *
cut_model (Cursor  model,
           GArray *loans)
{
  GByteArray *out = g_byte_array_new ();
  Field field;

  while (next_field (&model, &field))
    if (field.number == MODEL_GRAPH)
      {
        guint begin = begin_message (out, MODEL_GRAPH);

        cut_graph (out, field.body, loans);
        end_message (out, begin);
      }
    else
      append_field (out, &field, &model);
  return out;
}

void
lpt_onnx_model_return (Onnx__ModelProto *model,
                       gconstpointer     data,
                       gsize             size)
{
  gsize i;

  for (i = 0; model->graph != NULL && i < model->graph->n_initializer; i++)
    {
      ProtobufCBinaryData *raw = &model->graph->initializer[i]->raw_data;

      if ((guintptr) raw->data - (guintptr) data < size)
        *raw = (ProtobufCBinaryData) { 0, NULL };
    }
}

/* --- the whole --------------------------------------------------------------- */

Onnx__ModelProto *
lpt_onnx_model_from_wire (gconstpointer   data,
                          gsize           size,
                          gboolean        lend,
                          GError        **error)
{
  Scan scan = { 0 };
  Cursor cursor = { data, (const guint8 *) data + size };
  g_autoptr (GArray) loans = g_array_new (FALSE, FALSE, sizeof (Loan));
  g_autoptr (GByteArray) rest = NULL;
  Onnx__ModelProto *model;
  guint i;

  if (size > G_MAXINT32)
    {
      lpt_onnx_path_error (NULL, error, LPT_ERROR_UNSUPPORTED,
                           "unsupported: binary ONNX beyond protobuf's limit of 2 GB");
      return NULL;
    }
  if (!scan_message (&scan, &onnx__model_proto__descriptor, cursor, NULL, error))
    return NULL;
  if (lend)
    rest = cut_model (cursor, loans);
  model = (Onnx__ModelProto *) protobuf_c_message_unpack (&onnx__model_proto__descriptor, NULL,
                                                          rest != NULL ? rest->len : size,
                                                          rest != NULL ? rest->data : data);
  if (model == NULL)
    lpt_onnx_path_error (NULL, error, LPT_ERROR_INVALID, "cannot be decoded: malformed, or memory is short");
  for (i = 0; model != NULL && i < loans->len; i++)
    {
      const Loan *loan = &g_array_index (loans, Loan, i);
      Onnx__TensorProto *tensor = model->graph->initializer[loan->initializer];

      tensor->has_raw_data = TRUE;
      tensor->raw_data = (ProtobufCBinaryData) { loan->size, (guint8 *) loan->data };
    }
  return model;
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
