/* tflite-builder.h - writes the tables and vectors of a .tflite file
 *
 * Children first: what refers to something is made after it. A reference is the distance from the end of the file,
 * which grows towards its beginning; 0 refers to nothing. Numbers that are the schema's default are left out. Errors
 * (too large, no memory) stick, and lpt_tfl_builder_finish() says them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_BUILDER_H
#define LPT_TFLITE_BUILDER_H

#include "frontends/tflite/tflite-flat.h"

typedef struct _LptTflBuilder LptTflBuilder;
typedef guint32 LptTflRef;

/* A field of a table that is being written. */
typedef struct
{
  LptTflField   field;
  gint64        number;       /* of integers and booleans */
  double        real;
  LptTflRef     ref;          /* of strings, vectors, tables; 0: left out */
  LptTflTableId member;       /* of unions */
  gboolean      keep;         /* also where it is the default */
  const char   *text;         /* of a string that is not built yet: who builds the table makes @ref of it */
} LptTflSlot;

#define LPT_TFL_INT(table, name, value)  (LptTflSlot) { .field = TFL_##table##_##name, .number = (value) }
#define LPT_TFL_REAL(table, name, value) (LptTflSlot) { .field = TFL_##table##_##name, .real = (value) }
#define LPT_TFL_REF(table, name, value)  (LptTflSlot) { .field = TFL_##table##_##name, .ref = (value) }

LptTflBuilder *lpt_tfl_builder_new    (void);
void           lpt_tfl_builder_free   (LptTflBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptTflBuilder, lpt_tfl_builder_free)

/* 0 for NULL. */
LptTflRef lpt_tfl_build_string (LptTflBuilder *builder, const char *text);
/* @n elements of @size bytes, little-endian, the first one at a multiple of @align. */
LptTflRef lpt_tfl_build_vector (LptTflBuilder *builder, guint size, guint align, gsize n, gconstpointer elements);
/* Of strings or tables. */
LptTflRef lpt_tfl_build_refs   (LptTflBuilder *builder, guint n, const LptTflRef *refs);
LptTflRef lpt_tfl_build_table  (LptTflBuilder *builder, guint n, const LptTflSlot *slots);
/* The whole file; NULL + error. */
GBytes   *lpt_tfl_builder_finish (LptTflBuilder *builder, LptTflRef root, GError **error);

#endif
