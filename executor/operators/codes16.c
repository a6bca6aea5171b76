/* codes16.c - 16-bit codes and their rescaling in the forms that kernels have
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/codes16.h"

/* Codes of 8 or 16 bits with the zero point @zero. */
static gboolean
codes_of (LptDType    dtype,
          gint32      zero,
          LptCodes16 *codes)
{
  if (!lpt_int_is_code (dtype) || ABS ((gint64) zero) > LPT_CODES16_LIMIT)
    return FALSE;
  codes->type = dtype == LPT_DTYPE_I8    ? LPT_CODES16_I8
                : dtype == LPT_DTYPE_U8  ? LPT_CODES16_U8
                : dtype == LPT_DTYPE_I16 ? LPT_CODES16_I16
                                         : LPT_CODES16_U16;
  codes->zero = zero;
  codes->lo = (gint32) lpt_dtype_min (dtype);
  codes->hi = (gint32) lpt_dtype_max (dtype);

  return TRUE;
}

gboolean
lpt_codes16_of (const LptProgramValue *value,
                LptCodes16            *codes)
{
  const LptArray *array = value != NULL ? &value->array : NULL;

  return array != NULL && array->quant != NULL && array->quant->n == 1 && lpt_shape_is_static (&array->shape) &&
         lpt_array_count (array) > 0 && codes_of (array->dtype, array->quant->zero_point[0], codes);
}

static gboolean
has_16_bits (const LptProgramValue *value)
{
  return value != NULL && lpt_int_is_code (value->array.dtype) && lpt_dtype_bits (value->array.dtype) == 16;
}

gboolean
lpt_codes16_takes (const LptProgramValue *x,
                   const LptProgramValue *y)
{
  return has_16_bits (x) || has_16_bits (y);
}

gboolean
lpt_codes16_match (LptProgramOp          *op,
                   const LptProgramValue *x,
                   const LptProgramValue *y,
                   LptCodes16            *from,
                   LptCodes16            *to)
{
  if (!lpt_codes16_takes (x, y))
    return FALSE;

  return (lpt_codes16_of (x, from) && lpt_codes16_of (y, to)) || lpt_refuse (op, lpt_remark_of_codes (x, y));
}

gboolean
lpt_scale16_make (const LptMultiplier *m,
                  const LptCodes16    *to,
                  LptScale16          *scale)
{
  *scale = (LptScale16) { .form = LPT_SCALE16_FIXED, .low = to->lo - to->zero, .high = to->hi - to->zero };
  if (m->rounding != LPT_REQUANT_FLOAT)
    return lpt_rescale_make (m, &scale->fixed);
  scale->form = LPT_SCALE16_FLOAT;
  scale->scale = m->f;

  return isfinite (m->f);
}

gboolean
lpt_scale16_of (const LptIntRescale *r,
                const LptCodes16    *to,
                LptScale16          *scale)
{
  if (!r->same && r->by_line)
    return FALSE;
  if (!r->same && r->algorithm != LPT_ALGO_FLOAT && r->algorithm != LPT_ALGO_FLOAT_AWAY)
    return lpt_scale16_make (&r->multiplier, to, scale);
  *scale = (LptScale16) { .form = r->same                               ? LPT_SCALE16_SAME
                                  : r->algorithm == LPT_ALGO_FLOAT_AWAY ? LPT_SCALE16_REALS_AWAY
                                                                        : LPT_SCALE16_REALS,
                          .scale = (float) r->from.scale, .to = (float) r->to.scale,
                          .low = to->lo - to->zero, .high = to->hi - to->zero };

  return TRUE;
}

/* As lpt_int_end_sums() does it. */
static gboolean
make_end (const LptIntEnd *from,
          LptDType         dtype,
          LptCodes16End   *to)
{
  const LptMultiplier *m = from->multiplier;
  LptEnd16 *end = &to->end;

  if (!codes_of (dtype, from->zero, &to->to))
    return FALSE;
  to->to.lo = from->lo;
  to->to.hi = from->hi;
  end->wide = from->wide;
  if (!from->wide)
    {
      if (!lpt_scale16_make (m, &to->to, &end->scale))
        return FALSE;
      if (m->rounding == LPT_REQUANT_SINGLE)
        end->scale.fixed.half[0] += (gint32) rint (CLAMP (from->rest, -0.5, 0.5) * m->m);
      return TRUE;
    }
  end->scale.low = to->to.lo - to->to.zero;
  end->scale.high = to->to.hi - to->to.zero;
  end->exact = m->rounding == LPT_REQUANT_SINGLE;
  end->m = end->exact ? m->m : m->m >= 0x7fff0000 ? 0x7fff : (m->m + (1 << 15)) >> 16;
  end->shift = (end->exact ? 31 : 15) - m->s;
  if (end->shift < (end->exact ? 31 : 1) || end->shift > 62)
    return FALSE;
  end->half = G_GINT64_CONSTANT (1) << (end->shift - 1);

  return TRUE;
}

LptCodes16End *
lpt_codes16_ends (const LptProgramOp *op,
                  gsize               channels,
                  LptIntEnd         (*end) (const LptIntOp *op, gint64 channel))
{
  g_autofree LptCodes16End *ends = g_new0 (LptCodes16End, channels);
  LptIntEnd plain;
  gsize c;

  for (c = 0; c < channels; c++)
    {
      plain = end (op->integer, (gint64) c);
      if (plain.multiplier == NULL || !make_end (&plain, op->out[0]->array.dtype, &ends[c]))
        return NULL;
    }

  return g_steal_pointer (&ends);
}
