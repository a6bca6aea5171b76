/* tflite-flat.c - getters and the verifier of .tflite files
 *
 * The verifier goes through the offset graph once: a table that was seen as the same kind of table is not looked at
 * again, so that shared parts cost nothing; more than MAX_TABLES tables or MAX_DEPTH levels are refused. Slots and
 * union members that the schema does not know are newer than it and are not followed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-flat.h"

#include <string.h>

#define MAX_DEPTH  64
#define MAX_TABLES (1u << 20)

typedef struct
{
  const char   *name;
  LptTflTableId table;
  guint8        slot, kind;
  guint8        extra;        /* table, or LPT_TFL_UNION_ number */
  gint8         fallback;
} Field;

typedef enum
{
  UNION_ProcessUnitOptions,
  UNION_QuantizationDetails,
  UNION_SparseIndexVector,
  UNION_BuiltinOptions,
  UNION_BuiltinOptions2
} UnionId;

/* What the Extra column means depends on the kind. */
#define EXTRA_BOOL(x) 0
#define EXTRA_I8(x) 0
#define EXTRA_U8(x) 0
#define EXTRA_I32(x) 0
#define EXTRA_U32(x) 0
#define EXTRA_I64(x) 0
#define EXTRA_U64(x) 0
#define EXTRA_F32(x) 0
#define EXTRA_STRING(x) 0
#define EXTRA_BOOLS(x) 0
#define EXTRA_U8S(x) 0
#define EXTRA_U16S(x) 0
#define EXTRA_I32S(x) 0
#define EXTRA_U32S(x) 0
#define EXTRA_I64S(x) 0
#define EXTRA_F32S(x) 0
#define EXTRA_TABLE(x) TFLT_##x
#define EXTRA_TABLES(x) TFLT_##x
#define EXTRA_UNION(x) UNION_##x

static const Field fields[] = {
#define TFL_FIELD(Table, field, slot, kind, extra, fallback) \
  { #field, TFLT_##Table, slot, LPT_TFL_##kind, EXTRA_##kind (extra), fallback },
#include "frontends/tflite/tflite-schema.def"
};

static const struct { UnionId of; guint8 number; guint8 table; } members[] = {
#define TFL_MEMBER(union, number, table) { UNION_##union, number, TFLT_##table },
#include "frontends/tflite/tflite-schema.def"
};

G_STATIC_ASSERT (LPT_TFL_N_TABLES <= 256);

static const char *const table_names[] = {
  "",
#define TFL_TABLE(Table) #Table,
#include "frontends/tflite/tflite-schema.def"
};

/* Bytes of a scalar in its table, and of an element of a vector. */
static const guint8 scalar_size[] = { 1, 1, 1, 4, 4, 8, 8, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 };
static const guint8 element_size[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 4, 4, 8, 4, 0, 4, 0 };

LptTflTableId
lpt_tfl_field_table (LptTflField field)
{
  return fields[field].table;
}

const char *
lpt_tfl_table_name (LptTflTableId table)
{
  return table_names[table];
}

LptTflFieldInfo
lpt_tfl_field_info (LptTflField field)
{
  const Field *f = &fields[field];
  return (LptTflFieldInfo) { (LptTflKind) f->kind, f->slot, scalar_size[f->kind], f->fallback };
}

guint
lpt_tfl_member_number (LptTflField field, LptTflTableId member)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (members[i].of == (UnionId) fields[field].extra && members[i].table == member)
      return members[i].number;
  return 0;
}

/* --- bytes ------------------------------------------------------------------- */

static guint64
read_bytes (const LptTflFlat *flat, gsize at, guint n)
{
  guint64 value = 0;
  if (at > flat->size || flat->size - at < n)
    return 0;
  for (guint i = 0; i < n; i++)
    value |= (guint64) flat->data[at + i] << (8 * i);
  return value;
}

static gint64
read_signed (const LptTflFlat *flat, gsize at, guint n)
{
  guint64 value = read_bytes (flat, at, n), sign = G_GUINT64_CONSTANT (1) << (8 * n - 1);
  return (gint64) ((value ^ sign) - sign);
}

static double
read_f32 (const LptTflFlat *flat, gsize at)
{
  guint32 bits = (guint32) read_bytes (flat, at, 4);
  float value;
  memcpy (&value, &bits, sizeof value);
  return (double) value;
}

/* Where slot @slot of @table lies, 0 = absent. */
static gsize
slot_at (const LptTflFlat *flat, LptTflTable table, guint slot)
{
  gint64 vtable = (gint64) table - read_signed (flat, table, 4);
  if (table == 0 || vtable < 0 || 4 + 2 * (guint64) slot + 2 > read_bytes (flat, (gsize) vtable, 2))
    return 0;
  guint64 offset = read_bytes (flat, (gsize) vtable + 4 + 2 * (gsize) slot, 2);
  return offset == 0 ? 0 : table + (gsize) offset;
}

/* What the offset at @at points to. */
static gsize
follow (const LptTflFlat *flat, gsize at)
{
  gsize target = at + (gsize) read_bytes (flat, at, 4);
  return at == 0 || target == at || target >= flat->size || target > G_MAXINT32 ? 0 : target;
}

/* --- fields ------------------------------------------------------------------ */

gboolean
lpt_tfl_has (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  return slot_at (flat, table, fields[field].slot) != 0;
}

static gint64
scalar (const LptTflFlat *flat, gsize at, guint8 kind)
{
  switch ((LptTflKind) kind)
    {
    case LPT_TFL_BOOL:
    case LPT_TFL_U8:  return (gint64) read_bytes (flat, at, 1);
    case LPT_TFL_I8:  return read_signed (flat, at, 1);
    case LPT_TFL_I32: return read_signed (flat, at, 4);
    case LPT_TFL_U32: return (gint64) read_bytes (flat, at, 4);
    default:          return read_signed (flat, at, 8);
    }
}

gsize
lpt_tfl_at (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  return slot_at (flat, table, fields[field].slot);
}

gint64
lpt_tfl_int (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  gsize at = slot_at (flat, table, fields[field].slot);
  return at == 0 ? fields[field].fallback : scalar (flat, at, fields[field].kind);
}

double
lpt_tfl_real (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  gsize at = slot_at (flat, table, fields[field].slot);
  return at == 0 ? fields[field].fallback : read_f32 (flat, at);
}

LptTflTable
lpt_tfl_table (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  return (LptTflTable) follow (flat, slot_at (flat, table, fields[field].slot));
}

LptTflVector
lpt_tfl_vector (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  gsize at = follow (flat, slot_at (flat, table, fields[field].slot));
  LptTflVector vector = { flat, (LptTflKind) fields[field].kind, 0, at + 4 };
  if (at != 0 && flat->size - at >= 4)
    vector.n = (guint) MIN (read_bytes (flat, at, 4), (flat->size - at - 4) / MAX (element_size[vector.kind], 1));
  return vector;
}

const char *
lpt_tfl_string (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  LptTflVector vector = lpt_tfl_vector (flat, table, field);
  gsize end = vector.at + vector.n;
  return vector.at > 4 && end < flat->size && flat->data[end] == 0 ? (const char *) flat->data + vector.at : NULL;
}

static LptTflTableId
member_of (UnionId of, guint64 number)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (members[i].of == of && members[i].number == number)
      return (LptTflTableId) members[i].table;
  return TFLT_None;
}

LptTflTableId
lpt_tfl_union (const LptTflFlat *flat, LptTflTable table, LptTflField field)
{
  gsize type = slot_at (flat, table, fields[field].slot - 1u);
  return type == 0 || lpt_tfl_table (flat, table, field) == 0
             ? TFLT_None
             : member_of ((UnionId) fields[field].extra, read_bytes (flat, type, 1));
}

/* --- vectors ----------------------------------------------------------------- */

LptTflTable
lpt_tfl_item (const LptTflVector *vector, guint i)
{
  return i < vector->n ? (LptTflTable) follow (vector->flat, vector->at + 4 * (gsize) i) : 0;
}

gint64
lpt_tfl_item_int (const LptTflVector *vector, guint i)
{
  guint size = element_size[vector->kind];
  gsize at = vector->at + size * (gsize) i;
  if (i >= vector->n)
    return 0;
  gboolean has_sign = vector->kind == LPT_TFL_I32S || vector->kind == LPT_TFL_I64S;
  return has_sign ? read_signed (vector->flat, at, size) : (gint64) read_bytes (vector->flat, at, size);
}

double
lpt_tfl_item_real (const LptTflVector *vector, guint i)
{
  return i < vector->n ? read_f32 (vector->flat, vector->at + 4 * (gsize) i) : 0;
}

/* --- the verifier ------------------------------------------------------------ */

typedef struct
{
  const LptTflFlat *flat;
  GHashTable       *seen;       /* position << 8 | table */
  guint             depth;
  GError          **error;
} Verifier;

static gboolean
broken (Verifier *v, const char *what, LptTflTableId table, const char *field, gsize at)
{
  g_set_error (v->error, LPT_ERROR, LPT_ERROR_INVALID,
               "a broken TensorFlow Lite model: %s%s%s at byte %" G_GSIZE_FORMAT " %s", table_names[table],
               field != NULL ? "." : "", field != NULL ? field : "", at, what);
  return FALSE;
}

static gboolean verify_table (Verifier *v, gsize at, LptTflTableId id);

/* The offset at @at; 0 = broken. */
static gsize
verify_offset (Verifier *v, const Field *field, gsize at)
{
  gsize target = follow (v->flat, at);
  if (target == 0)
    broken (v, "points out of the file", field->table, field->name, at);
  return target;
}

static gboolean
verify_vector (Verifier *v, const Field *field, gsize at)
{
  const guint size = element_size[field->kind];
  gboolean is_string = field->kind == LPT_TFL_STRING;
  if (v->flat->size - at < 4)
    return broken (v, "is cut off", field->table, field->name, at);
  guint64 n = read_bytes (v->flat, at, 4), room = v->flat->size - at - 4;
  if (n * size + is_string > room)
    return broken (v, "is longer than the file", field->table, field->name, at);
  if (is_string && v->flat->data[at + 4 + n] != 0)
    return broken (v, "has no end", field->table, field->name, at);
  for (guint64 i = 0; field->kind == LPT_TFL_TABLES && i < n; i++)
    {
      gsize item = verify_offset (v, field, at + 4 + 4 * (gsize) i);
      if (item == 0 || !verify_table (v, item, (LptTflTableId) field->extra))
        return FALSE;
    }
  return TRUE;
}

static gboolean
verify_field (Verifier *v, const Field *field, gsize table, guint64 table_size)
{
  gsize at = slot_at (v->flat, (LptTflTable) table, field->slot);
  if (at == 0)
    return TRUE;
  if (at - table < 4 || at - table + scalar_size[field->kind] > table_size)
    return broken (v, "lies outside of its table", field->table, field->name, at);
  if (at % scalar_size[field->kind] % 4 != 0)
    return broken (v, "is not aligned", field->table, field->name, at);
  if (field->kind <= LPT_TFL_F32)
    return TRUE;
  gsize target = verify_offset (v, field, at);
  if (target == 0)
    return FALSE;
  if (field->kind == LPT_TFL_TABLE)
    return verify_table (v, target, (LptTflTableId) field->extra);
  if (field->kind != LPT_TFL_UNION)
    return verify_vector (v, field, target);
  gsize type = slot_at (v->flat, (LptTflTable) table, field->slot - 1u);
  LptTflTableId member = type != 0 ? member_of ((UnionId) field->extra, read_bytes (v->flat, type, 1)) : TFLT_None;
  return member == TFLT_None || verify_table (v, target, member);
}

static gboolean
verify_table (Verifier *v, gsize at, LptTflTableId id)
{
  const LptTflFlat *flat = v->flat;
  gpointer key = GSIZE_TO_POINTER (at << 8 | id);
  if (!g_hash_table_add (v->seen, key))
    return TRUE;
  if (g_hash_table_size (v->seen) > MAX_TABLES)
    return broken (v, "is one table too many", id, NULL, at);
  if (v->depth >= MAX_DEPTH)
    return broken (v, "lies too deep", id, NULL, at);
  if (flat->size - at < 4 || at % 4 != 0)
    return broken (v, at % 4 != 0 ? "is not aligned" : "is cut off", id, NULL, at);
  gint64 vtable = (gint64) at - read_signed (flat, at, 4);
  if (vtable < 0 || (guint64) vtable + 4 > flat->size || vtable % 2 != 0)
    return broken (v, "has its vtable outside of the file", id, NULL, at);
  guint64 size = read_bytes (flat, (gsize) vtable, 2), table_size = read_bytes (flat, (gsize) vtable + 2, 2);
  if (size < 4 || size % 2 != 0 || size > flat->size - (gsize) vtable || table_size < 4 || table_size > flat->size - at)
    return broken (v, "has a broken vtable", id, NULL, at);
  v->depth++;
  /* Rows stand in the order of the tables. */
  for (guint i = 0; i < G_N_ELEMENTS (fields) && fields[i].table <= id; i++)
    if (fields[i].table == id && !verify_field (v, &fields[i], at, table_size))
      return FALSE;
  v->depth--;
  return TRUE;
}

LptTflTable
lpt_tfl_root (const LptTflFlat *flat, const char *identifier)
{
  guint64 root = read_bytes (flat, 0, 4);
  return flat->size >= 12 && memcmp (flat->data + 4, identifier, 4) == 0 && root >= 8 && root <= flat->size - 4
           && root <= G_MAXINT32 ? (LptTflTable) root : 0;
}

LptTflTable
lpt_tfl_verify (const LptTflFlat *flat, GError **error)
{
  if (flat->size < 8 || memcmp (flat->data + 4, "TFL3", 4) != 0)
    {
      g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID,
                           flat->size < 8 ? "not a TensorFlow Lite model: the file is too short"
                                          : "not a TensorFlow Lite model: the identifier TFL3 is missing");
      return 0;
    }
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);
  Verifier v = { flat, seen, 0, error };
  gsize root = (gsize) read_bytes (flat, 0, 4);
  if (root < 8 || root > flat->size - 4)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "a broken TensorFlow Lite model: its root at byte %" G_GSIZE_FORMAT
                   " lies outside of the file of %" G_GSIZE_FORMAT " bytes",
                   root, flat->size);
      return 0;
    }
  return verify_table (&v, root, TFLT_Model) ? (LptTflTable) root : 0;
}
