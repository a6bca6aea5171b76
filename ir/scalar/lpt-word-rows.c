/* lpt-word-rows.c - elementwise ops on rows of 64-bit integers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/scalar/lpt-word-rows.h"
#include "ir/scalar/lpt-binary-funcs.h"
#include "ir/scalar/lpt-unary-words.h"

#define DEFINE(ENUM, real, integer) LPT_BINARY_ROW (binary_##ENUM, gint64, gint64, integer)
LPT_BINARY_ARITHMETIC (DEFINE)
#undef DEFINE
#define DEFINE(ENUM, expression) LPT_BINARY_ROW (binary_##ENUM, gint64, gint64, expression)
LPT_BINARY_COMPARISONS (DEFINE)
LPT_BINARY_INTEGERS (DEFINE)
#undef DEFINE
LPT_BINARY_ROW (divide_trunc, gint64, gint64, lpt_div_trunc (a, b))

#define DEFINE(ENUM, expression) \
  static void \
  unary_##ENUM (const gint64 *from, gint64 n, gint64 *to) \
  { \
    for (gint64 i = 0; i < n; i++) \
      { \
        const gint64 x = from[i]; \
\
        to[i] = expression; \
      } \
  }
LPT_UNARY_WORDS (DEFINE)
#undef DEFINE

LptBinaryRow
lpt_word_binary (LptOp op)
{
  switch ((guint) op)
    {
#define CASE(ENUM, ...) case LPT_OP_##ENUM: return binary_##ENUM;
    LPT_BINARY_ARITHMETIC (CASE)
    LPT_BINARY_COMPARISONS (CASE)
    LPT_BINARY_INTEGERS (CASE)
#undef CASE
    default: return NULL;
    }
}

LptBinaryRow
lpt_word_divide (void)
{
  return divide_trunc;
}

LptUnaryRow
lpt_word_unary (LptOp op)
{
  switch ((guint) op)
    {
#define CASE(ENUM, expression) case LPT_OP_##ENUM: return unary_##ENUM;
    LPT_UNARY_WORDS (CASE)
#undef CASE
    default: return NULL;
    }
}

/* Without a branch, which data would decide. */
static inline gint64
choose (gint64 c,
        gint64 a,
        gint64 b)
{
  return b ^ ((a ^ b) & -(gint64) (c != 0));
}

void
lpt_word_select (const gint64 *const *x,
                 const gint64        *step,
                 gint64               n,
                 gint64              *z)
{
  const gint64 *c = x[0], *a = x[1], *b = x[2], sc = step[0], sa = step[1], sb = step[2];
  gint64 i;

  if (sc == 1 && sa == 1 && sb == 1)
    for (i = 0; i < n; i++)
      z[i] = choose (c[i], a[i], b[i]);
  else if (sc == 1 && sa == 1 && sb == 0)
    for (i = 0; i < n; i++)
      z[i] = choose (c[i], a[i], b[0]);
  else if (sc == 1 && sa == 0 && sb == 1)
    for (i = 0; i < n; i++)
      z[i] = choose (c[i], a[0], b[i]);
  else
    for (i = 0; i < n; i++)
      z[i] = choose (c[i * sc], a[i * sa], b[i * sb]);
}
