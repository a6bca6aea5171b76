/* codes.c - the integers that a FakeQuantize asks for
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "passes/lower/lower.h"
#include "passes/support/lpt-same-code.h"

/* Bounds of the codes that a form with a clamp can reach, for channel @c. */
static void
code_bounds (const LptForm  *form,
             const LptCodes *codes,
             guint           c,
             double         *lo,
             double         *hi)
{
  *lo = codes->qmin;
  *hi = codes->qmax;
  if (form != NULL && lpt_form_is_clamped (form))
    {
      *lo = MAX (*lo, rint (form->lo / codes->step[c] + codes->offset[c]));
      *hi = MIN (*hi, rint (form->hi / codes->step[c] + codes->offset[c]));
    }
}

/* A clamp commutes with the rounding to codes (both are non-decreasing); it can only be done behind it when it
 * is the same for all channels. */
static gboolean
clamp_moves (const LptForm  *form,
             const LptCodes *codes)
{
  double lo, hi, lo_c, hi_c;
  guint c;

  code_bounds (form, codes, 0, &lo, &hi);
  for (c = 1; c < codes->n; c++)
    {
      code_bounds (form, codes, c, &lo_c, &hi_c);
      if (lo_c != lo || hi_c != hi)
        return FALSE;
    }

  return lo <= hi;
}

/* Keeps @value within the codes that @codes and the clamp of @form (may be NULL) allow. */
static LptValue *
clamp_codes (LptLower       *lw,
             LptValue       *value,
             const LptForm  *form,
             const LptCodes *codes)
{
  double lo, hi;

  code_bounds (form, codes, 0, &lo, &hi);
  if (lo <= lpt_dtype_min (codes->dtype) && hi >= lpt_dtype_max (codes->dtype))
    return value;
  if (value->quant->n == 1)
    return lpt_lower_emit_clamp (lw, value, (lo - value->quant->zero_point[0] + 0.0) * value->quant->scale[0],
                                 (hi - value->quant->zero_point[0]) * value->quant->scale[0],
                                 form != NULL ? form->bounded : NULL);
  else
    {
      /* One bound in several steps: on the integers read as themselves. */
      g_autoptr (LptQuant) plain = lpt_quant_new_one (1, 0);
      g_autoptr (LptQuant) quant = lpt_quant_ref (value->quant);

      value = lpt_lower_emit_clamp (lw, lpt_lower_with_quant (lw, value, plain), lo, hi,
                                    form != NULL ? form->bounded : NULL);
      return lpt_lower_with_quant (lw, value, quant);
    }
}

/* From emitted integers to codes by Requantize. */
static LptValue *
requantize (LptLower       *lw,
            const LptForm  *form,
            const LptCodes *codes)
{
  g_autoptr (LptQuant) source = lpt_form_quant (form, form->q->dtype, NULL);
  g_autoptr (LptQuant) quant = lpt_codes_quant (codes);
  LptValue *value;
  guint c;

  if (source == NULL)
    return NULL;
  for (c = 0; c < codes->n; c++)
    if (!lpt_same_code (codes->offset[c], quant->zero_point[c], codes->dtype))
      return NULL;
  if (form->q->dtype == codes->dtype && lpt_lower_same_quant (quant, source))
    return lpt_lower_with_quant (lw, form->q, quant);
  value = lpt_lower_with_quant (lw, form->q, source);

  return lpt_lower_convert (lw, LPT_OP_REQUANTIZE, value, value->producer->name, codes->dtype, quant);
}

LptValue *
lpt_lower_codes (LptLower       *lw,
                 LptForm        *form,
                 const LptCodes *codes)
{
  LptValue *value = NULL;

  if (!clamp_moves (form, codes))
    return NULL;
  if (!lpt_form_is_positive (form))
    return NULL;

  if (form->op != NULL && !form->shared && form->op->value == NULL)
    value = form->op->emit (lw, form, codes);
  if (value == NULL)
    {
      LptForm *raw = lpt_lower_raw (lw, form);

      if (raw != NULL)
        value = requantize (lw, raw, codes);
      lpt_form_free (raw);
    }

  return value != NULL ? clamp_codes (lw, value, form, codes) : NULL;
}

LptValue *
lpt_lower_quantize (LptLower       *lw,
                    LptValue       *value,
                    const LptCodes *codes)
{
  LptForm *form = g_hash_table_lookup (lw->forms, value);
  LptValue *result = form != NULL ? lpt_lower_codes (lw, form, codes) : NULL;
  g_autoptr (LptQuant) quant = NULL;
  g_autofree double *rest = NULL;
  gboolean any = FALSE;
  guint c;

  if (result != NULL)
    return result;
  result = lpt_lower_real (lw, value);
  if (!lpt_dtype_is_real (result->dtype))
    result = lpt_lower_emit_convert (lw, result, LPT_DTYPE_F32);   /* integers that some op left as they are */
  quant = lpt_codes_quant (codes);
  rest = g_new (double, codes->n);
  for (c = 0; c < codes->n; c++)
    {
      double fraction = codes->offset[c] - quant->zero_point[c];

      rest[c] = fraction * codes->step[c];
      if (lpt_same_code (codes->offset[c], quant->zero_point[c], codes->dtype))
        rest[c] = 0;
      any |= rest[c] != 0;
    }
  if (any)
    result = lpt_lower_emit_arithmetic (lw, LPT_OP_ADD, result, codes->axis, codes->n, rest, NULL);
  result = lpt_lower_convert (lw, LPT_OP_QUANTIZE, result, value->producer->name, codes->dtype, quant);

  return clamp_codes (lw, result, NULL, codes);
}
