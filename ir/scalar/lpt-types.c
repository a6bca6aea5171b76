/* lpt-types.c - element types, shapes and lists of numbers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>
#include <string.h>

#include <lpt/lpt-types.h>

G_DEFINE_QUARK (lpt-error-quark, lpt_error)

/* --- element types --- */

typedef struct
{
  const char  *name;
  const char  *ir_name;
  guint        bits;
  LptDTypeKind kind;
} DTypeInfo;

static const DTypeInfo dtypes[LPT_N_DTYPES] =
{
  [LPT_DTYPE_UNDEFINED] = { "undefined", "UNSPECIFIED", 0, LPT_KIND_NONE },
  [LPT_DTYPE_DYNAMIC]   = { "dynamic", "DYNAMIC", 0, LPT_KIND_NONE },
#define LPT_DTYPE(ENUM, name, ir_name, bits, kind, np) \
  [LPT_DTYPE_##ENUM] = { name, ir_name, bits, LPT_KIND_##kind },
#include "lpt/lpt-dtypes.def"
};

const char *
lpt_dtype_name (LptDType dtype)
{
  g_return_val_if_fail ((guint) dtype < LPT_N_DTYPES, "undefined");

  return dtypes[dtype].name;
}

const char *
lpt_dtype_ir_name (LptDType dtype)
{
  g_return_val_if_fail ((guint) dtype < LPT_N_DTYPES, "UNSPECIFIED");

  return dtypes[dtype].ir_name;
}

LptDType
lpt_dtype_from_name (const char *name)
{
  guint i;

  for (i = 0; i < LPT_N_DTYPES; i++)
    if (g_ascii_strcasecmp (name, dtypes[i].name) == 0 ||
        (dtypes[i].ir_name != NULL && g_ascii_strcasecmp (name, dtypes[i].ir_name) == 0))
      return (LptDType) i;
  if (g_ascii_strcasecmp (name, "bool") == 0)
    return LPT_DTYPE_BOOL;

  return LPT_DTYPE_UNDEFINED;
}

guint
lpt_dtype_bits (LptDType dtype)
{
  return dtypes[dtype].bits;
}

LptDTypeKind
lpt_dtype_kind (LptDType dtype)
{
  return dtypes[dtype].kind;
}

gboolean
lpt_dtype_is_real (LptDType dtype)
{
  return dtypes[dtype].kind == LPT_KIND_FLOAT;
}

gboolean
lpt_dtype_is_integer (LptDType dtype)
{
  return dtypes[dtype].kind == LPT_KIND_SINT || dtypes[dtype].kind == LPT_KIND_UINT;
}

gboolean
lpt_dtype_is_low (LptDType dtype)
{
  return lpt_dtype_is_integer (dtype) && dtypes[dtype].bits >= 8 && dtypes[dtype].bits <= 32;
}

gboolean
lpt_dtype_is_small_float (LptDType dtype)
{
  return dtypes[dtype].kind == LPT_KIND_FLOAT && dtypes[dtype].bits <= 8;
}

gboolean
lpt_dtype_holds_codes (LptDType dtype)
{
  return dtype == LPT_DTYPE_F4E2M1 || (lpt_dtype_is_integer (dtype) && dtypes[dtype].bits <= 8);
}

double
lpt_dtype_min (LptDType dtype)
{
  if (dtype == LPT_DTYPE_F8E8M0)      /* has no sign */
    return 0x1p-127;
  switch (dtypes[dtype].kind)
    {
    case LPT_KIND_SINT:
      return -ldexp (1, (int) dtypes[dtype].bits - 1);
    case LPT_KIND_FLOAT:
      return -lpt_dtype_max (dtype);
    default:
      return 0;
    }
}

double
lpt_dtype_max (LptDType dtype)
{
  switch (dtype)
    {
    case LPT_DTYPE_F64:
      return DBL_MAX;
    case LPT_DTYPE_F32:
      return FLT_MAX;
    case LPT_DTYPE_F16:
      return 65504;
    case LPT_DTYPE_BF16:
      return 3.38953139e38;
    default:
      break;
    }
  switch (dtypes[dtype].kind)
    {
    case LPT_KIND_FLOAT:
      return lpt_float_max (dtype);
    case LPT_KIND_SINT:
      return ldexp (1, (int) dtypes[dtype].bits - 1) - 1;
    case LPT_KIND_UINT:
      return ldexp (1, (int) dtypes[dtype].bits) - 1;
    case LPT_KIND_BOOL:
      return 1;
    default:
      return 0;
    }
}

/* --- half floats --- */

static guint32
float_bits (float value)
{
  guint32 bits;

  memcpy (&bits, &value, 4);

  return bits;
}

static float
bits_float (guint32 bits)
{
  float value;

  memcpy (&value, &bits, 4);

  return value;
}

float
lpt_f16_to_f32 (guint16 h)
{
  guint32 sign = (guint32) (h & 0x8000) << 16;
  guint32 exponent = (h >> 10) & 31;
  guint32 mantissa = h & 0x3ff;

  if (exponent == 0)
    return (sign ? -1.0f : 1.0f) * ldexpf ((float) mantissa, -24);
  if (exponent == 31)
    return bits_float (sign | 0x7f800000 | (mantissa << 13));

  return bits_float (sign | ((exponent + 112) << 23) | (mantissa << 13));
}

guint16
lpt_f32_to_f16 (float value)
{
  guint32 bits = float_bits (value);
  guint32 sign = (bits >> 16) & 0x8000;
  guint32 magnitude = bits & 0x7fffffff;
  guint32 mantissa;
  guint32 rest;
  guint shift;

  if (magnitude > 0x7f800000)
    return (guint16) (sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000)      /* 65520 and more round to infinity */
    return (guint16) (sign | 0x7c00);
  if (magnitude < 0x33000000)       /* below half of the smallest denormal */
    return (guint16) sign;

  if (magnitude >= 0x38800000)      /* normal */
    {
      mantissa = magnitude - 0x38000000;
      shift = 13;
    }
  else
    {
      mantissa = (magnitude & 0x7fffff) | 0x800000;
      shift = 126 - (magnitude >> 23);
    }
  rest = mantissa & ((1u << shift) - 1);
  mantissa >>= shift;
  if (rest > (1u << (shift - 1)) || (rest == (1u << (shift - 1)) && (mantissa & 1)))
    mantissa++;

  return (guint16) (sign | mantissa);
}

float
lpt_bf16_to_f32 (guint16 bits)
{
  return bits_float ((guint32) bits << 16);
}

guint16
lpt_f32_to_bf16 (float value)
{
  guint32 bits = float_bits (value);

  if ((bits & 0x7fffffff) > 0x7f800000)
    return (guint16) ((bits >> 16) | 0x40);

  return (guint16) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double
lpt_dtype_round (LptDType dtype,
                 double   value)
{
  switch (dtype)
    {
    case LPT_DTYPE_F32:
      return (float) value;
    case LPT_DTYPE_F16:
      return lpt_f16_to_f32 (lpt_f32_to_f16 ((float) value));
    case LPT_DTYPE_BF16:
      return lpt_bf16_to_f32 (lpt_f32_to_bf16 ((float) value));
    default:
      return lpt_dtype_is_small_float (dtype)
                 ? lpt_float_decode (dtype, lpt_float_encode (dtype, value, LPT_POWER_ROUND_EVEN))
                 : value;
    }
}

/* --- shapes --- */

LptShape
lpt_shape_make (gint          rank,
                const gint64 *dims)
{
  LptShape shape = { .rank = rank };

  g_assert (rank <= LPT_MAX_RANK);
  if (rank > 0)
    memcpy (shape.dims, dims, (gsize) rank * sizeof *dims);

  return shape;
}

gboolean
lpt_shape_is_static (const LptShape *shape)
{
  gint i;

  if (shape->rank < 0)
    return FALSE;
  for (i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return FALSE;

  return TRUE;
}

gboolean
lpt_shape_equal (const LptShape *a,
                 const LptShape *b)
{
  return a->rank == b->rank &&
         (a->rank <= 0 || memcmp (a->dims, b->dims, (gsize) a->rank * sizeof a->dims[0]) == 0);
}

LptShape
lpt_shape_widen (const LptShape *a,
                 const LptShape *b)
{
  LptShape wide = *a;

  if (a->rank != b->rank || a->rank == LPT_DYNAMIC)
    return LPT_SHAPE_ANY;
  for (gint i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      wide.dims[i] = LPT_DYNAMIC;

  return wide;
}

gboolean
lpt_shape_compatible (const LptShape *a,
                      const LptShape *b)
{
  gint i;

  if (a->rank < 0 || b->rank < 0)
    return TRUE;
  if (a->rank != b->rank)
    return FALSE;
  for (i = 0; i < a->rank; i++)
    if (a->dims[i] >= 0 && b->dims[i] >= 0 && a->dims[i] != b->dims[i])
      return FALSE;

  return TRUE;
}

gboolean
lpt_shape_count (const LptShape *shape,
                 gint64         *count)
{
  gint64 n = 1;
  gint i;

  if (!lpt_shape_is_static (shape))
    return FALSE;
  for (i = 0; i < shape->rank; i++)
    if (shape->dims[i] == 0)
      {
        *count = 0;
        return TRUE;
      }
  for (i = 0; i < shape->rank; i++)
    if (__builtin_mul_overflow (n, shape->dims[i], &n))
      return FALSE;
  *count = n;

  return TRUE;
}

gboolean
lpt_shape_broadcast (const LptShape *a,
                     const LptShape *b,
                     LptShape       *out)
{
  LptShape result = { 0 };
  gint i;

  if (a->rank < 0 || b->rank < 0)
    {
      *out = LPT_SHAPE_ANY;
      return TRUE;
    }
  result.rank = MAX (a->rank, b->rank);
  for (i = 0; i < result.rank; i++)
    {
      gint ia = i - (result.rank - a->rank);
      gint ib = i - (result.rank - b->rank);
      gint64 da = ia < 0 ? 1 : a->dims[ia];
      gint64 db = ib < 0 ? 1 : b->dims[ib];

      if (da == db)
        result.dims[i] = da;
      else if (da == 1)
        result.dims[i] = db;
      else if (db == 1)
        result.dims[i] = da;
      else if (da < 0)
        result.dims[i] = db;      /* the unknown one is 1 or the same */
      else if (db < 0)
        result.dims[i] = da;
      else
        return FALSE;
    }
  *out = result;

  return TRUE;
}

void
lpt_shape_strides (const LptShape *shape,
                   gint64         *strides)
{
  gint64 stride = 1;
  gint i;

  for (i = shape->rank - 1; i >= 0; i--)
    {
      strides[i] = stride;
      stride *= shape->dims[i];
    }
}

char *
lpt_shape_to_string (const LptShape *shape)
{
  GString *text = g_string_new (NULL);
  gint i;

  if (shape->rank < 0)
    g_string_append (text, "...");
  for (i = 0; i < shape->rank; i++)
    {
      if (i > 0)
        g_string_append_c (text, ',');
      if (shape->dims[i] < 0)
        g_string_append_c (text, '?');
      else
        g_string_append_printf (text, "%" G_GINT64_FORMAT, shape->dims[i]);
    }

  return g_string_free (text, FALSE);
}

gboolean
lpt_shape_from_string (const char  *text,
                       LptShape    *shape,
                       GError     **error)
{
  g_autofree char *copy = g_strdup (text);
  g_auto (GStrv) parts = NULL;
  char *p = g_strstrip (copy);
  gsize n = strlen (p);
  guint i;

  if (n >= 2 && p[0] == '[' && p[n - 1] == ']')
    {
      p[n - 1] = '\0';
      p = g_strstrip (p + 1);
    }
  *shape = LPT_SHAPE_SCALAR;
  if (*p == '\0')
    return TRUE;
  if (strcmp (p, "...") == 0 || strcmp (p, "-2") == 0)      /* -2: old dumps of a dynamic rank */
    {
      *shape = LPT_SHAPE_ANY;
      return TRUE;
    }

  parts = g_strsplit (p, ",", 0);
  for (i = 0; parts[i] != NULL; i++)
    {
      char *part = g_strstrip (parts[i]);
      gint64 dim = LPT_DYNAMIC;

      if (i == LPT_MAX_RANK)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                       "unsupported shape '%s': more than %d dimensions", text, LPT_MAX_RANK);
          return FALSE;
        }
      if (strcmp (part, "?") != 0 && strcmp (part, "-1") != 0 && strstr (part, "..") == NULL &&
          !g_ascii_string_to_signed (part, 10, 0, G_MAXINT64, &dim, NULL))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "'%s' is not a shape", text);
          return FALSE;
        }
      shape->dims[shape->rank++] = dim;
    }

  return TRUE;
}

gboolean
lpt_axis_normalize (gint64  axis,
                    gint    rank,
                    gint   *out)
{
  if (rank < 0 || axis < -rank || axis >= MAX (rank, 1))
    return FALSE;
  *out = (gint) (axis < 0 ? axis + rank : axis);

  return TRUE;
}

/* --- lists --- */

void
lpt_ints_set (LptInts      *list,
              guint         n,
              const gint64 *values)
{
  gint64 *v = n > 0 ? g_memdup2 (values, n * sizeof *values) : NULL;

  g_free (list->v);
  list->n = n;
  list->v = v;
}

void
lpt_ints_fill (LptInts *list,
               guint    n,
               gint64   value)
{
  guint i;

  g_free (list->v);
  list->n = n;
  list->v = n > 0 ? g_new (gint64, n) : NULL;
  for (i = 0; i < n; i++)
    list->v[i] = value;
}

void
lpt_ints_clear (LptInts *list)
{
  g_clear_pointer (&list->v, g_free);
  list->n = 0;
}

gint64
lpt_ints_get (const LptInts *list,
              guint          i,
              gint64         fallback)
{
  return i < list->n ? list->v[i] : fallback;
}

void
lpt_floats_set (LptFloats    *list,
                guint         n,
                const double *values)
{
  double *v = n > 0 ? g_memdup2 (values, n * sizeof *values) : NULL;

  g_free (list->v);
  list->n = n;
  list->v = v;
}

void
lpt_floats_clear (LptFloats *list)
{
  g_clear_pointer (&list->v, g_free);
  list->n = 0;
}
