/* lpt-lite-step.h - what TensorFlow Lite's recurrent steps on integers share: multipliers, products of rows
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int.h"

/* Products of 8-bit codes whose sum fits 32 bits: each is within 128 * 255. */
#define MAX_NARROW 65536

static inline LptMultiplier
multiplier (LptMode mode, double real)
{
  gboolean once = mode == LPT_MODE_LITERT_SINGLE;
  LptMultiplier m;
  lpt_multiplier_make (once ? LPT_MULTIPLIER_Q31_BOUNDED : LPT_MULTIPLIER_Q31,
                       once ? LPT_REQUANT_SINGLE : LPT_REQUANT_DOUBLE, real, &m);
  return m;
}

static inline gint32
rescale (const LptMultiplier *m, gint64 acc)
{
  return lpt_multiplier_apply (m, lpt_requant_sat32 (acc));
}

static inline gint16
sat16 (gint64 v)
{
  return (gint16) CLAMP (v, G_MININT16, G_MAXINT16);
}

static inline float
scale_of (const LptArray *a)
{
  return a->quant != NULL ? (float) a->quant->scale[0] : 1.0f;
}

static inline gint32
zero_of (const LptArray *a)
{
  return a->quant != NULL ? a->quant->zero_point[0] : 0;
}

/* Row @row of @w times the @n codes at @x less their zero point; those of 8 bits add up within 32. */
static inline gint64
dot (const LptArray *w, gint64 row, const LptArray *x, gint64 at, gint64 n)
{
  const gint32 zero = zero_of (x);
  gint64 sum = 0;
  if (w->dtype == LPT_DTYPE_I8 && x->dtype == LPT_DTYPE_I8 && n <= MAX_NARROW && zero == (gint8) zero)
    {
      const gint8 *a = (const gint8 *) w->data + row * n, *b = (const gint8 *) x->data + at;
      gint32 narrow = 0;
      for (gint64 k = 0; k < n; k++)
        narrow += a[k] * (b[k] - zero);
      return narrow;
    }
  for (gint64 k = 0; k < n; k++)
    sum += (gint64) lpt_int_at (w, row * n + k) * (lpt_int_at (x, at + k) - zero);
  return sum;
}
