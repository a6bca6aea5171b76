/* lpt-types.h - element types, shapes, number lists, errors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TYPES_H
#define LPT_TYPES_H

#include <glib.h>

#include <lpt/lpt-export.h>

G_BEGIN_DECLS

/* --- errors --------------------------------------------------------------- */

/* Domain of all errors of the library. */
#define LPT_ERROR (lpt_error_quark ())

/**
 * LptError:
 * @LPT_ERROR_INVALID: the input contradicts itself or its format
 * @LPT_ERROR_UNSUPPORTED: the input is right, but lpt does not do this; the
 *   message contains the word "unsupported"
 * @LPT_ERROR_IO: a file cannot be read or written
 * @LPT_ERROR_MEMORY: a tensor does not fit in memory, or in what LptLimits allow
 * @LPT_ERROR_LIMIT: another of LptLimits is reached, or their interrupt asked to stop
 */
typedef enum
{
  LPT_ERROR_INVALID,
  LPT_ERROR_UNSUPPORTED,
  LPT_ERROR_IO,
  LPT_ERROR_MEMORY,
  LPT_ERROR_LIMIT,
} LptError;

LPT_EXPORT GQuark lpt_error_quark (void);   /* the domain of all errors */

/* --- element types -------------------------------------------------------- */

/**
 * LptDType:
 * Element types. LPT_DTYPE_UNDEFINED = not said; LPT_DTYPE_DYNAMIC = not known
 * before the graph runs.
 */
typedef enum
{
  LPT_DTYPE_UNDEFINED,
  LPT_DTYPE_DYNAMIC,
#define LPT_DTYPE(ENUM, name, ir_name, bits, kind, np) LPT_DTYPE_##ENUM,
#include "lpt/lpt-dtypes.def"
  LPT_N_DTYPES
} LptDType;

/* Kinds of element types. */
typedef enum
{
  LPT_KIND_NONE,
  LPT_KIND_FLOAT,
  LPT_KIND_SINT,
  LPT_KIND_UINT,
  LPT_KIND_BOOL,
} LptDTypeKind;

LPT_EXPORT const char  *lpt_dtype_name        (LptDType dtype);   /* "f32" */
LPT_EXPORT const char  *lpt_dtype_ir_name     (LptDType dtype);   /* "FP32"; NULL where OpenVINO has no such type */
LPT_EXPORT LptDType     lpt_dtype_from_name   (const char *name); /* either spelling, any case; UNDEFINED if unknown */
LPT_EXPORT guint        lpt_dtype_bits        (LptDType dtype);   /* of an element; 0 for none */
LPT_EXPORT LptDTypeKind lpt_dtype_kind        (LptDType dtype);   /* float, signed, unsigned, boolean */
LPT_EXPORT gboolean     lpt_dtype_is_real     (LptDType dtype);   /* f64 f32 f16 bf16 and the floats of 8 and 4 bits */
LPT_EXPORT gboolean     lpt_dtype_is_integer  (LptDType dtype);   /* signed or unsigned, not boolean */
LPT_EXPORT gboolean     lpt_dtype_is_low      (LptDType dtype);   /* u8 i8 u16 i16 u32 i32: what LPT takes as quantized data */
LPT_EXPORT double       lpt_dtype_min         (LptDType dtype);   /* smallest finite value */
LPT_EXPORT double       lpt_dtype_max         (LptDType dtype);   /* largest finite value */

/* --- floats of 8 and 4 bits ----------------------------------------------- */

/* How f8e8m0, which holds nothing but powers of two, takes other numbers. */
typedef enum
{
  LPT_POWER_ROUND_EVEN,           /* the nearest; of two as far away, the one with an even code */
  LPT_POWER_ROUND_UP,
  LPT_POWER_ROUND_DOWN,
  LPT_POWER_ROUND_NEAREST_UP,     /* the nearest; of two as far away, the larger */
} LptPowerRound;

LPT_EXPORT gboolean lpt_dtype_is_small_float (LptDType dtype);    /* a float of 8 or 4 bits */
/* Integers of 8 bits and fewer, and f4e2m1, whose numbers are halves of such: what weights stay until lowering. */
LPT_EXPORT gboolean lpt_dtype_holds_codes (LptDType dtype);
LPT_EXPORT double   lpt_float_decode (LptDType dtype, guint code);   /* a small float by its code */
LPT_EXPORT guint    lpt_float_encode (LptDType dtype, double value, LptPowerRound round); /* half to even; overflow gives infinity, else NaN, else the largest */
LPT_EXPORT double   lpt_float_max    (LptDType dtype);   /* largest finite value of a small float */
/* @value as the real type @dtype holds it. */
LPT_EXPORT double   lpt_dtype_round  (LptDType dtype, double value);

/* --- half floats ---------------------------------------------------------- */

LPT_EXPORT float   lpt_f16_to_f32  (guint16 bits);   /* exact */
LPT_EXPORT guint16 lpt_f32_to_f16  (float value);   /* nearest even; overflow gives infinity */
LPT_EXPORT float   lpt_bf16_to_f32 (guint16 bits);   /* exact */
LPT_EXPORT guint16 lpt_f32_to_bf16 (float value);   /* nearest even */

/* --- shapes --------------------------------------------------------------- */

/* Most dimensions. */
#define LPT_MAX_RANK 10
#define LPT_DYNAMIC  (-1)      /* a dimension or a rank that is not known */

/**
 * LptShape:
 * @rank: number of dimensions, 0 for a scalar, LPT_DYNAMIC when unknown
 * @dims: the dimensions, each >= 0 or LPT_DYNAMIC
 * Plain data.
 */
typedef struct
{
  gint   rank;
  gint64 dims[LPT_MAX_RANK];
} LptShape;

/* No dimensions, one element (C). */
#define LPT_SHAPE_SCALAR ((LptShape) { .rank = 0 })
/* Nothing is known (C). */
#define LPT_SHAPE_ANY    ((LptShape) { .rank = LPT_DYNAMIC })

LPT_EXPORT LptShape lpt_shape_make         (gint rank, const gint64 *dims);   /* @dims NULL = not known */
LPT_EXPORT gboolean lpt_shape_is_static    (const LptShape *shape);   /* rank and all dimensions are known */
LPT_EXPORT gboolean lpt_shape_equal        (const LptShape *a, const LptShape *b);   /* unknown equals unknown */
LPT_EXPORT LptShape lpt_shape_widen        (const LptShape *a, const LptShape *b); /* what both can be: dynamic where they differ */
LPT_EXPORT gboolean lpt_shape_compatible   (const LptShape *a, const LptShape *b); /* equal where both are known */
/* The number of elements; FALSE when dynamic, or when the product leaves gint64. */
LPT_EXPORT gboolean lpt_shape_count        (const LptShape *shape, gint64 *count);
/* NUMPY broadcast of a and b into out (may alias); FALSE when they do not fit. */
LPT_EXPORT gboolean lpt_shape_broadcast    (const LptShape *a, const LptShape *b, LptShape *out);
/* Row-major strides in elements of a static shape. */
LPT_EXPORT void     lpt_shape_strides      (const LptShape *shape, gint64 *strides);
/* "1,3,?,8", "" for a scalar, "..." for a dynamic rank (transfer full). */
LPT_EXPORT char    *lpt_shape_to_string    (const LptShape *shape);
/* Reads the same, also "-1" for "?", "[...]" around it, and intervals "2..8" (as "?"). */
LPT_EXPORT gboolean lpt_shape_from_string  (const char *text, LptShape *shape, GError **error);
/* Negative axes count from the end; FALSE when out of range or the rank is dynamic. */
LPT_EXPORT gboolean lpt_axis_normalize     (gint64 axis, gint rank, gint *out);

/* --- lists of numbers (attributes) ---------------------------------------- */

/* A list of numbers. Plain data; @v is owned. */
typedef struct { guint n; gint64 *v; } LptInts;
/* A list of numbers. Plain data; @v is owned. */
typedef struct { guint n; double *v; } LptFloats;

LPT_EXPORT void     lpt_ints_set     (LptInts *list, guint n, const gint64 *values);  /* copies; frees the old */
LPT_EXPORT void     lpt_ints_fill    (LptInts *list, guint n, gint64 value);   /* @n times @value */
LPT_EXPORT void     lpt_ints_clear   (LptInts *list);   /* frees; empty afterwards */
LPT_EXPORT gint64   lpt_ints_get     (const LptInts *list, guint i, gint64 fallback); /* fallback past the end */
LPT_EXPORT void     lpt_floats_set   (LptFloats *list, guint n, const double *values);   /* a copy of @values */
LPT_EXPORT void     lpt_floats_clear (LptFloats *list);   /* frees; empty afterwards */

G_END_DECLS

#endif
