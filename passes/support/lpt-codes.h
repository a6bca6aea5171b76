/* lpt-codes.h - codes as numbers: FakeQuantize and chains of Convert, Subtract, Multiply
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_CODES_H
#define LPT_CODES_H

#include "passes/core/lpt-rewriter.h"

typedef struct
{
  LptRewriter *rw;
  GHashTable  *fakes;     /* Quantize node -> its FakeQuantize with equal intervals */
  GHashTable  *bare;      /* LptValue * of a constant with quantization -> LptValue * of its integers as numbers */
} LptCodes;

/* Has FakeQuantize levels for integers of this type? */
gboolean  lpt_codes_have_levels   (LptDType dtype);
/* Does @node compute with codes and with real numbers beside them? No arithmetic on integers does. */
gboolean  lpt_codes_meet_numbers  (const LptNode *node);
/* @value in another type. */
LptValue *lpt_codes_convert       (LptCodes *nz, LptValue *value, LptDType dtype, const char *name);
/* FakeQuantize of what @quantize reads; @out NULL = its codes. */
LptValue *lpt_codes_fake_quantize (LptCodes *nz, LptNode *quantize, const LptQuant *out, const char *name);
/* Convert, Subtract, Multiply behind @q. */
LptValue *lpt_codes_chain         (LptCodes *nz, LptValue *q, const LptQuant *quant, LptDType dtype, const char *name);

#endif
