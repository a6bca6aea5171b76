/* lpt-quant-plain.h - codes that stand for themselves: one step for all of them, of 1 and from 0
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANT_PLAIN_H
#define LPT_QUANT_PLAIN_H

#include <lpt/lpt-graph.h>

/* NULL, integers without parameters, are such, too. */
static inline gboolean
lpt_quant_is_plain (const LptQuant *quant)
{
  return quant == NULL || (quant->n == 1 && quant->scale[0] == 1 && quant->zero_point[0] == 0);
}

#endif
