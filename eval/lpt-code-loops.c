/* lpt-code-loops.c - arrays of integers from one storage to another
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-code-loops.h"

#define CODE_TYPES(X) \
  X (U8, guint8) \
  X (I8, gint8) \
  X (U16, guint16) \
  X (I16, gint16) \
  X (U32, guint32) \
  X (I32, gint32) \
  X (I64, gint64) \
  X (BOOL, guint8)

#define DEFINE(ENUM, Type) \
  static void \
  words_of_##ENUM (const Type *restrict x, gint64 n, gint64 *restrict y) \
  { \
    for (gint64 i = 0; i < n; i++) \
      y[i] = (gint64) x[i]; \
  } \
\
  static void \
  numbers_of_##ENUM (const Type *restrict x, gint64 n, double scale, gint64 zero, float *restrict y) \
  { \
    for (gint64 i = 0; i < n; i++) \
      y[i] = (float) (scale * (double) ((gint64) x[i] - zero)); \
  } \
\
  static void \
  codes_to_##ENUM (const gint64 *restrict x, gint64 n, Type *restrict y) \
  { \
    for (gint64 i = 0; i < n; i++) \
      y[i] = (Type) (LPT_DTYPE_##ENUM == LPT_DTYPE_BOOL ? x[i] != 0 : x[i]); \
  }
CODE_TYPES (DEFINE)
#undef DEFINE

void
lpt_codes_to_words (gconstpointer codes,
                    LptDType      dtype,
                    gint64        n,
                    gint64       *words)
{
  switch ((guint) dtype)
    {
#define CASE(ENUM, Type) case LPT_DTYPE_##ENUM: words_of_##ENUM (codes, n, words); break;
    CODE_TYPES (CASE)
#undef CASE
    default: g_assert_not_reached ();
    }
}

void
lpt_codes_to_numbers (gconstpointer codes,
                      LptDType      dtype,
                      gint64        n,
                      double        scale,
                      gint64        zero,
                      float        *numbers)
{
  switch ((guint) dtype)
    {
#define CASE(ENUM, Type) case LPT_DTYPE_##ENUM: numbers_of_##ENUM (codes, n, scale, zero, numbers); break;
    CODE_TYPES (CASE)
#undef CASE
    default: g_assert_not_reached ();
    }
}

void
lpt_words_to_codes (const gint64 *words,
                    gint64        n,
                    LptDType      dtype,
                    gpointer      codes)
{
  switch ((guint) dtype)
    {
#define CASE(ENUM, Type) case LPT_DTYPE_##ENUM: codes_to_##ENUM (words, n, codes); break;
    CODE_TYPES (CASE)
#undef CASE
    default: g_assert_not_reached ();
    }
}

void
lpt_wrap_words (gint64  *words,
                gint64   n,
                LptDType dtype)
{
  const guint bits = lpt_dtype_bits (dtype);
  const guint64 mask = bits < 64 ? ((guint64) 1 << bits) - 1 : ~(guint64) 0;
  /* The sign goes up through the bits above it. */
  const guint64 sign = lpt_dtype_kind (dtype) == LPT_KIND_SINT && bits > 0 ? (guint64) 1 << (bits - 1) : 0;

  if (bits == 0 || bits >= 64)
    return;
  for (gint64 i = 0; i < n; i++)
    words[i] = (gint64) ((((guint64) words[i] & mask) ^ sign) - sign);
}
