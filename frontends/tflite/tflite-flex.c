/* tflite-flex.c - options of custom operators: FlexBuffers
 *
 * The last byte is the width of the root, the one before it its type, the root stands before them. Offsets point
 * backwards. A map is a vector of values with the keys' vector and its width in front and a type for each value
 * behind. Every read is checked against the ends: what lies outside reads as nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-flex.h"

#include "frontends/tflite/tflite-flat.h"

#include <string.h>

enum
{
  FLEX_INT = 1,
  FLEX_UINT,
  FLEX_FLOAT,
  FLEX_STRING = 5,
  FLEX_INDIRECT_INT,
  FLEX_INDIRECT_UINT,
  FLEX_INDIRECT_FLOAT,
  FLEX_MAP,
  FLEX_VECTOR_INT = 11,
  FLEX_VECTOR_UINT,
  FLEX_INT4 = 22,
  FLEX_UINT4,
  FLEX_BOOL = 26
};

typedef struct { const guint8 *data; gsize size; } Flex;

static guint64
read_uint (const Flex *f, gsize at, guint width)
{
  guint64 value = 0;
  if (at > f->size || f->size - at < width || width > 8)
    return 0;
  for (guint i = 0; i < width; i++)
    value |= (guint64) f->data[at + i] << (8 * i);
  return value;
}

/* Where the offset at @at points to; @f->size: nowhere. */
static gsize
back (const Flex *f, gsize at, guint width)
{
  guint64 offset = read_uint (f, at, width);
  return offset == 0 || offset > at ? f->size : at - (gsize) offset;
}

static double
read_number (const Flex *f, gsize at, guint width, guint type, double fallback)
{
  guint64 bits = read_uint (f, at, width);
  float single;
  double real;
  switch (type)
    {
    case FLEX_INT:
      return width == 8 ? (double) (gint64) bits : (double) ((gint64) (bits << (64 - 8 * width)) >> (64 - 8 * width));
    case FLEX_UINT:
    case FLEX_BOOL:
      return (double) bits;
    case FLEX_FLOAT:
      if (width == 8)
        {
          memcpy (&real, &bits, sizeof real);
          return real;
        }
      memcpy (&single, &(guint32) { (guint32) bits }, sizeof single);
      return width == 4 ? (double) single : width == 2 ? (double) lpt_f16_to_f32 ((guint16) bits) : fallback;
    default:
      return fallback;
    }
}

/* The value @i of the map at @map. */
static double
map_number (const Flex *f, gsize map, guint width, guint64 n, guint64 i, double fallback)
{
  gsize at = map + (gsize) i * width, types = map + (gsize) n * width;
  guint64 packed = read_uint (f, types + (gsize) i, 1);
  guint type = (guint) packed >> 2, inner = 1u << (packed & 3);
  if (type >= FLEX_INDIRECT_INT && type <= FLEX_INDIRECT_FLOAT)
    return read_number (f, back (f, at, width), inner, type - FLEX_INDIRECT_INT + FLEX_INT, fallback);
  return read_number (f, at, width, type, fallback);
}

static gboolean
is_key (const Flex *f, gsize at, const char *key)
{
  gsize n = strlen (key) + 1;
  return at <= f->size && f->size - at >= n && memcmp (f->data + at, key, n) == 0;
}

/* Value @i of map @map, @width wide, of @n, is that of @key. */
typedef struct { gsize map; guint width; guint64 n, i; } Entry;

static gboolean
find (const Flex *f, const char *key, Entry *entry)
{
  if (f->size < 3)
    return FALSE;
  guint root_width = f->data[f->size - 1], type = f->data[f->size - 2] >> 2, width = 1u << (f->data[f->size - 2] & 3);
  if (type != FLEX_MAP || root_width > 8 || f->size < 2 + root_width)
    return FALSE;
  gsize map = back (f, f->size - 2 - root_width, root_width);
  if (map >= f->size || map < 3 * width)
    return FALSE;
  guint64 n = read_uint (f, map - width, width);
  gsize keys = back (f, map - 3 * width, width);
  guint key_width = (guint) read_uint (f, map - 2 * width, width);
  if (n > f->size || keys >= f->size || key_width == 0 || key_width > 8)
    return FALSE;
  *entry = (Entry) { map, width, n, 0 };
  for (; entry->i < n; entry->i++)
    if (is_key (f, back (f, keys + (gsize) entry->i * key_width, key_width), key))
      return TRUE;
  return FALSE;
}

double
lpt_tfl_flex_number (const guint8 *data, gsize size, const char *key, double fallback)
{
  Flex f = { data, size };
  Entry e;
  return find (&f, key, &e) ? map_number (&f, e.map, e.width, e.n, e.i, fallback) : fallback;
}

/* What the value of an entry points to, of type *@type and width *@inner; @f->size: nothing. */
static gsize
target (const Flex *f, const Entry *e, guint *type, guint *inner)
{
  guint64 packed = read_uint (f, e->map + (gsize) e->n * e->width + (gsize) e->i, 1);
  *type = (guint) packed >> 2;
  *inner = 1u << (packed & 3);
  return back (f, e->map + (gsize) e->i * e->width, e->width);
}

/* The list of @key: where it begins, how many there are of which type and width; FALSE: there is none. */
typedef struct { gsize at; guint64 n; guint type, inner; } List;

static gboolean
find_list (const Flex *f, const char *key, List *list)
{
  Entry e;
  list->at = find (f, key, &e) ? target (f, &e, &list->type, &list->inner) : f->size;
  if (list->at >= f->size || list->at < list->inner)
    return FALSE;
  gboolean four = list->type == FLEX_INT4 || list->type == FLEX_UINT4;
  list->n = four ? 4 : read_uint (f, list->at - list->inner, list->inner);
  return (four || list->type == FLEX_VECTOR_INT || list->type == FLEX_VECTOR_UINT)
         && list->n <= (f->size - list->at) / list->inner;
}

guint
lpt_tfl_flex_count (const guint8 *data, gsize size, const char *key)
{
  List list;
  return find_list (&(Flex) { data, size }, key, &list) ? (guint) list.n : 0;
}

gboolean
lpt_tfl_flex_list (const guint8 *data, gsize size, const char *key, guint n, gint64 *numbers)
{
  Flex f = { data, size };
  List list;
  if (!find_list (&f, key, &list) || list.n != n)
    return FALSE;
  guint type = list.type == FLEX_VECTOR_INT || list.type == FLEX_INT4 ? FLEX_INT : FLEX_UINT;
  for (guint i = 0; i < n; i++)
    numbers[i] = (gint64) read_number (&f, list.at + i * list.inner, list.inner, type, 0);
  return TRUE;
}

gboolean
lpt_tfl_flex_is (const guint8 *data, gsize size, const char *key, const char *text)
{
  Flex f = { data, size };
  Entry e;
  guint type, inner;
  gsize at = find (&f, key, &e) ? target (&f, &e, &type, &inner) : size;
  return at < size && type == FLEX_STRING && is_key (&f, at, text);
}

/* --- writing ----------------------------------------------------------------- */

static void
put (GByteArray *out, guint64 value)
{
  guint64 little = GUINT64_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &little, sizeof little);
}

/* Everything is 8 bytes wide. Keys, the vector of their offsets; the map: that vector, its width, how many, numbers,
 * their types; where the map is. */
GBytes *
lpt_tfl_flex_map (guint n, const LptTflFlexPair *pairs)
{
  GByteArray *out = g_byte_array_new ();
  g_autofree guint64 *at = g_new (guint64, n + 1);
  for (guint i = 0; i < n; i++)
    {
      at[i] = out->len;
      g_byte_array_append (out, (const guint8 *) pairs[i].key, (guint) strlen (pairs[i].key) + 1);
    }
  while (out->len % 8 != 0)
    g_byte_array_append (out, (const guint8 *) "", 1);
  put (out, n);
  guint64 keys = out->len;
  for (guint i = 0; i < n; i++)
    put (out, out->len - at[i]);
  put (out, out->len - keys);
  put (out, 8);
  put (out, n);
  guint64 map = out->len;
  for (guint i = 0; i < n; i++)
    {
      guint64 bits;
      memcpy (&bits, &pairs[i].number, sizeof bits);
      put (out, pairs[i].whole ? (guint64) (gint64) pairs[i].number : bits);
    }
  for (guint i = 0; i < n; i++)
    g_byte_array_append (out, &(guint8) { (pairs[i].whole ? FLEX_INT : FLEX_FLOAT) << 2 | 3 }, 1);
  while (out->len % 8 != 0)
    g_byte_array_append (out, (const guint8 *) "", 1);
  put (out, out->len - map);
  g_byte_array_append (out, (const guint8[]) { FLEX_MAP << 2 | 3, 8 }, 2);
  return g_byte_array_free_to_bytes (out);
}
