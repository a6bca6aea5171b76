/* lpt-quant-plain.h - what parameters of codes leave out: steps, where codes stand for themselves, and zero points
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANT_PLAIN_H
#define LPT_QUANT_PLAIN_H

#include <lpt/lpt-graph.h>

/* One step for all of them, of 1 and from 0? NULL, integers without parameters, are such, too. */
static inline gboolean
lpt_quant_is_plain (const LptQuant *quant)
{
  return quant == NULL || (quant->n == 1 && quant->scale[0] == 1 && quant->zero_point[0] == 0);
}

/* Is a zero point not 0? */
static inline gboolean
lpt_quant_has_zero_points (const LptQuant *quant)
{
  for (guint c = 0; c < quant->n; c++)
    if (quant->zero_point[c] != 0)
      return TRUE;

  return FALSE;
}

/* Are the zero points codes of @dtype themselves? */
static inline gboolean
lpt_quant_zeros_fit (const LptQuant *quant,
                     LptDType        dtype)
{
  for (guint c = 0; c < quant->n; c++)
    if (quant->zero_point[c] < lpt_dtype_min (dtype) || quant->zero_point[c] > lpt_dtype_max (dtype))
      return FALSE;

  return TRUE;
}

#endif
