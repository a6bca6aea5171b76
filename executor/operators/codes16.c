/* codes16.c - 16-bit codes and their rescaling in the forms that kernels have
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "executor/operators/codes16.h"

gboolean
lpt_codes16_of (const LptProgramValue *value,
                LptCodes16            *codes)
{
  const LptArray *array = value != NULL ? &value->array : NULL;

  if (array == NULL || array->quant == NULL || array->quant->n != 1 || !lpt_int_is_code (array->dtype) ||
      !lpt_shape_is_static (&array->shape) || lpt_array_count (array) == 0 ||
      ABS ((gint64) array->quant->zero_point[0]) > LPT_CODES16_LIMIT)
    return FALSE;
  codes->type = array->dtype == LPT_DTYPE_I8   ? LPT_CODES16_I8
                : array->dtype == LPT_DTYPE_U8 ? LPT_CODES16_U8
                : array->dtype == LPT_DTYPE_I16 ? LPT_CODES16_I16
                                                : LPT_CODES16_U16;
  codes->zero = array->quant->zero_point[0];
  codes->lo = (gint32) lpt_dtype_min (array->dtype);
  codes->hi = (gint32) lpt_dtype_max (array->dtype);

  return TRUE;
}

gboolean
lpt_codes16_match (LptProgramOp          *op,
                   const LptProgramValue *x,
                   const LptProgramValue *y,
                   LptCodes16            *from,
                   LptCodes16            *to)
{
  if (!lpt_codes16_of (x, from) || !lpt_codes16_of (y, to))
    return lpt_refuse (op, lpt_remark_of_codes (x, y));
  if (lpt_dtype_bits (x->array.dtype) == 8 && lpt_dtype_bits (y->array.dtype) == 8)
    return lpt_refuse (op, LPT_REMARK_TYPES);

  return TRUE;
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
