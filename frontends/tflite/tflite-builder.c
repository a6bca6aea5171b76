/* tflite-builder.c - writes the tables and vectors of a .tflite file
 *
 * A table lies as
 *
 *     distance to its vtable, fields of 8 bytes, of 4, of 2, of 1, padding
 *
 * and a vtable with the same content as one before is that one. Positions are aligned as distances from the end, whose
 * own alignment is the greatest of all: lpt_tfl_builder_finish() pads the beginning.
 *
 * Refused: more than 2 GB, which 32-bit distances cannot reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-builder.h"

#include "ir/lpt-memory.h"

#include <string.h>

#define MAX_SIZE  0x7fff0000u
#define MAX_SLOTS 32

struct _LptTflBuilder
{
  guint8     *data;         /* the file's end is that of the memory */
  gsize       capacity, used;
  guint       align;        /* greatest so far */
  GHashTable *vtables;      /* GBytes -> distance from the end */
  GError     *error;
};

LptTflBuilder *
lpt_tfl_builder_new (void)
{
  LptTflBuilder *builder = g_new0 (LptTflBuilder, 1);
  builder->align = 4;
  builder->vtables = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  return builder;
}

void
lpt_tfl_builder_free (LptTflBuilder *builder)
{
  g_hash_table_unref (builder->vtables);
  g_clear_error (&builder->error);
  g_free (builder->data);
  g_free (builder);
}

/* Room for @size bytes in front; FALSE: there is none. */
static gboolean
reserve (LptTflBuilder *builder, gsize size)
{
  if (builder->error != NULL)
    return FALSE;
  if (size > MAX_SIZE - builder->used)
    {
      g_set_error_literal (&builder->error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                           "unsupported: a TensorFlow Lite model of more than 2 GB");
      return FALSE;
    }
  if (builder->data != NULL && size <= builder->capacity - builder->used)
    return TRUE;
  gsize capacity = MAX (2 * builder->capacity, builder->used + size + 4096);
  guint8 *data = lpt_memory_try (capacity, 1, &builder->error);
  if (data == NULL)
    return FALSE;
  if (builder->used > 0)
    memcpy (data + capacity - builder->used, builder->data + builder->capacity - builder->used, builder->used);
  g_free (builder->data);
  builder->data = data;
  builder->capacity = capacity;
  return TRUE;
}

/* @size zero bytes in front; where they begin, NULL: no room. */
static guint8 *
push (LptTflBuilder *builder, gsize size)
{
  if (!reserve (builder, size))
    return NULL;
  builder->used += size;
  guint8 *at = builder->data + builder->capacity - builder->used;
  memset (at, 0, size);
  return at;
}

/* Pads so that after @size more bytes the front is at a multiple of @align. */
static gboolean
pad (LptTflBuilder *builder, gsize size, guint align)
{
  gsize rest = (builder->used + size) % align;
  builder->align = MAX (builder->align, align);
  return rest == 0 || push (builder, align - rest) != NULL;
}

static void
put (guint8 *at, guint64 value, guint n)
{
  for (guint i = 0; i < n; i++)
    at[i] = (guint8) (value >> (8 * i));
}

/* --- vectors ----------------------------------------------------------------- */

LptTflRef
lpt_tfl_build_vector (LptTflBuilder *builder, guint size, guint align, gsize n, gconstpointer elements)
{
  if (n > MAX_SIZE / MAX (size, 1))
    {
      reserve (builder, MAX_SIZE);
      return 0;
    }
  if (!pad (builder, n * size, MAX (align, 4)))
    return 0;
  guint8 *at = push (builder, n * size);
  if (at != NULL && n > 0)
    memcpy (at, elements, n * size);
  guint8 *count = push (builder, 4);
  if (count == NULL)
    return 0;
  put (count, n, 4);
  return (LptTflRef) builder->used;
}

LptTflRef
lpt_tfl_build_string (LptTflBuilder *builder, const char *text)
{
  gsize length = text != NULL ? strlen (text) : 0;
  if (text == NULL || !pad (builder, length + 1, 4))
    return 0;
  guint8 *at = push (builder, length + 1);
  guint8 *count = at != NULL ? push (builder, 4) : NULL;
  if (count == NULL)
    return 0;
  memcpy (count + 4, text, length);
  put (count, length, 4);
  return (LptTflRef) builder->used;
}

LptTflRef
lpt_tfl_build_refs (LptTflBuilder *builder, guint n, const LptTflRef *refs)
{
  if (!pad (builder, 4 * (gsize) n, 4))
    return 0;
  guint8 *count = push (builder, 4 * (gsize) n + 4);
  if (count == NULL)
    return 0;
  put (count, n, 4);
  for (guint i = 0; i < n; i++)
    put (count + 4 + 4 * (gsize) i, builder->used - 4 - 4 * (gsize) i - refs[i], 4);
  return (LptTflRef) builder->used;
}

/* --- tables ------------------------------------------------------------------ */

typedef struct
{
  const LptTflSlot *slot;     /* NULL: the type of a union */
  guint             number;   /* of the slot */
  guint             size;     /* bytes */
  guint64           bits;
  LptTflRef         ref;
} Cell;

/* What of @slot is written; returns how many cells. */
static guint
make_cells (const LptTflSlot *slot, Cell *cells)
{
  LptTflFieldInfo info = lpt_tfl_field_info (slot->field);
  if (info.kind > LPT_TFL_F32)
    {
      if (slot->ref == 0)
        return 0;
      cells[0] = (Cell) { slot, info.slot, 4, 0, slot->ref };
      if (info.kind != LPT_TFL_UNION)
        return 1;
      cells[1] = (Cell) { NULL, info.slot - 1, 1, lpt_tfl_member_number (slot->field, slot->member), 0 };
      return 2;
    }
  float single = (float) slot->real;
  guint32 bits;
  memcpy (&bits, &single, sizeof bits);
  gboolean is_default = info.kind == LPT_TFL_F32 ? slot->real == info.fallback : slot->number == info.fallback;
  cells[0] = (Cell) { slot, info.slot, info.size, info.kind == LPT_TFL_F32 ? bits : (guint64) slot->number, 0 };
  return is_default && !slot->keep ? 0 : 1;
}

/* The vtable with this content, in front or written before. */
static LptTflRef
place_vtable (LptTflBuilder *builder, const guint8 *content, gsize size)
{
  g_autoptr (GBytes) key = g_bytes_new (content, size);
  gpointer known = g_hash_table_lookup (builder->vtables, key);
  if (known != NULL)
    return GPOINTER_TO_UINT (known);
  guint8 *at = push (builder, size);
  if (at == NULL)
    return 0;
  memcpy (at, content, size);
  g_hash_table_insert (builder->vtables, g_steal_pointer (&key), GUINT_TO_POINTER ((guint) builder->used));
  return (LptTflRef) builder->used;
}

LptTflRef
lpt_tfl_build_table (LptTflBuilder *builder, guint n, const LptTflSlot *slots)
{
  static const guint sizes[] = { 8, 4, 2, 1 };
  Cell cells[2 * MAX_SLOTS];
  guint8 vtable[4 + 2 * 2 * MAX_SLOTS] = { 0 };
  guint n_cells = 0, n_slots = 0, size = 4, align = 4;
  gsize offsets[2 * MAX_SLOTS];
  g_assert (n <= MAX_SLOTS);
  for (guint i = 0; i < n; i++)
    n_cells += make_cells (&slots[i], cells + n_cells);
  for (guint i = 0; i < n_cells; i++)
    if (cells[i].size == 8)
      size = align = 8;
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint i = 0; i < n_cells; i++)
      if (cells[i].size == sizes[s])
        {
          offsets[i] = size;
          size += sizes[s];
          n_slots = MAX (n_slots, cells[i].number + 1);
          put (vtable + 4 + 2 * cells[i].number, offsets[i], 2);
        }
  put (vtable, 4 + 2 * n_slots, 2);
  put (vtable + 2, size, 2);
  if (!pad (builder, size, align))
    return 0;
  if (push (builder, size) == NULL)
    return 0;
  gsize table = builder->used;
  LptTflRef place = place_vtable (builder, vtable, 4 + 2 * (gsize) n_slots);
  if (place == 0)
    return 0;
  guint8 *at = builder->data + builder->capacity - table;
  put (at, (guint64) ((gint64) place - (gint64) table), 4);
  for (guint i = 0; i < n_cells; i++)
    put (at + offsets[i], cells[i].ref != 0 ? table - offsets[i] - cells[i].ref : cells[i].bits, cells[i].size);
  return (LptTflRef) table;
}

/* --- the file ---------------------------------------------------------------- */

GBytes *
lpt_tfl_builder_finish (LptTflBuilder *builder, LptTflRef root, GError **error)
{
  guint8 *at = pad (builder, 8, builder->align) ? push (builder, 8) : NULL;
  if (at == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&builder->error));
      return NULL;
    }
  put (at, builder->used - root, 4);
  memcpy (at + 4, "TFL3", 4);
  guint8 *whole = g_steal_pointer (&builder->data);
  gsize front = builder->capacity - builder->used;
  g_autoptr (GBytes) all = g_bytes_new_take (whole, builder->capacity);
  return g_bytes_new_from_bytes (all, front, builder->used);
}
