/* tflite-flat.h - tables, fields and vectors of a .tflite file
 *
 * The file is a FlatBuffer: a table begins with the distance to its vtable, which has for each slot where in the table
 * its field lies, 0 when it is left out. lpt_tfl_verify() looks at everything that tflite-schema.def can reach; the
 * getters check again what they read against the end of the file, so that a mistake in one cannot read past it.
 * What is absent reads as its default, as an empty vector, as NULL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_FLAT_H
#define LPT_TFLITE_FLAT_H

#include <lpt/lpt-types.h>

typedef struct { const guint8 *data; gsize size; } LptTflFlat;

typedef guint32 LptTflTable;      /* where it begins; 0 = absent */

typedef enum
{
  LPT_TFL_BOOL, LPT_TFL_I8, LPT_TFL_U8, LPT_TFL_I32, LPT_TFL_U32, LPT_TFL_I64, LPT_TFL_U64, LPT_TFL_F32, LPT_TFL_STRING,
  LPT_TFL_BOOLS, LPT_TFL_U8S, LPT_TFL_U16S, LPT_TFL_I32S, LPT_TFL_U32S, LPT_TFL_I64S, LPT_TFL_F32S, LPT_TFL_TABLE,
  LPT_TFL_TABLES, LPT_TFL_UNION,
} LptTflKind;

/* TFLT_Model, ... */
typedef enum
{
  TFLT_None,
#define TFL_TABLE(Table) TFLT_##Table,
#include "frontends/tflite/tflite-schema.def"
  LPT_TFL_N_TABLES
} LptTflTableId;

/* TFL_Model_version, ... */
typedef enum
{
#define TFL_FIELD(Table, field, slot, kind, extra, fallback) TFL_##Table##_##field,
#include "frontends/tflite/tflite-schema.def"
  LPT_TFL_N_FIELDS
} LptTflField;

typedef struct
{
  const LptTflFlat *flat;
  LptTflKind        kind;
  guint             n;
  gsize             at;       /* of the first element */
} LptTflVector;

/* --- whole files ------------------------------------------------------------- */

/* The root, a Model; 0 + error: the identifier or anything behind the root is broken. */
LptTflTable   lpt_tfl_verify       (const LptTflFlat *flat, GError **error);

/* The root of a file that nobody has verified; 0: it has not this identifier. */
LptTflTable   lpt_tfl_root         (const LptTflFlat *flat, const char *identifier);

/* --- fields ------------------------------------------------------------------ */

gboolean      lpt_tfl_has          (const LptTflFlat *flat, LptTflTable table, LptTflField field);
/* Where the bytes of a field are; 0: it is not there. */
gsize         lpt_tfl_at           (const LptTflFlat *flat, LptTflTable table, LptTflField field);
gint64        lpt_tfl_int          (const LptTflFlat *flat, LptTflTable table, LptTflField field);
double        lpt_tfl_real         (const LptTflFlat *flat, LptTflTable table, LptTflField field);
const char   *lpt_tfl_string       (const LptTflFlat *flat, LptTflTable table, LptTflField field);
LptTflTable   lpt_tfl_table        (const LptTflFlat *flat, LptTflTable table, LptTflField field);
LptTflVector  lpt_tfl_vector       (const LptTflFlat *flat, LptTflTable table, LptTflField field);
/* Which table a union field holds; TFLT_None: none, or one that is not known. */
LptTflTableId lpt_tfl_union        (const LptTflFlat *flat, LptTflTable table, LptTflField field);
/* The table that @field belongs to. */
LptTflTableId lpt_tfl_field_table  (LptTflField field);
const char   *lpt_tfl_table_name   (LptTflTableId table);

/* What the schema says of a field. */
typedef struct { LptTflKind kind; guint slot, size; gint fallback; } LptTflFieldInfo;

LptTflFieldInfo lpt_tfl_field_info (LptTflField field);
/* The number of @member in the union that @field is; 0: it is none of it. */
guint         lpt_tfl_member_number (LptTflField field, LptTflTableId member);

/* --- vectors ----------------------------------------------------------------- */

LptTflTable   lpt_tfl_item         (const LptTflVector *vector, guint i);     /* of TABLES; 0 past the end */
gint64        lpt_tfl_item_int     (const LptTflVector *vector, guint i);     /* 0 past the end */
double        lpt_tfl_item_real    (const LptTflVector *vector, guint i);

#endif
