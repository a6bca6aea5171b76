/* weight-codes.h - constant weights of a product that are codes of a few bits with scales
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef WEIGHT_CODES_H
#define WEIGHT_CODES_H

#include <lpt/lpt-graph.h>

/* weight (n, k) = scale (code - zero), scale and zero point of block (n, k / block). */
typedef struct
{
  gint64     n, k;
  gint64     block;     /* weights of a row with one scale; 0 = all of a row have one */
  LptTensor *codes;     /* [n, k] of i8, u8, i4 or u4 */
  LptTensor *scale;     /* [n, blocks] f32 */
  LptTensor *zero;      /* likewise, NULL = 0 for signed codes, the middle for unsigned ones */
} LptWeightCodes;

void     lpt_weight_codes_clear (LptWeightCodes *w);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptWeightCodes, lpt_weight_codes_clear)

/* Of @value, a matrix [n, k], or [k, n] unless @rows: behind Convert, Subtract and Multiply, Dequantize, Reshape,
 * Transpose.
 * FALSE: it is something else. */
gboolean lpt_weight_codes_read  (LptValue *value, gboolean rows, LptWeightCodes *w);
/* Scales and zero points of blocks of @block, a part of its own. */
void     lpt_weight_codes_split (LptWeightCodes *w, gint64 block);
/* Of real constants: 8 bits, one scale for each row, the largest weight is 127. */
gboolean lpt_weight_codes_round (LptValue *value, gboolean rows, LptWeightCodes *w);

/* Of a convolution's weights @value, whose channels of the output run along axes @first and @second (-1 = one alone):
 * codes in the shape of @value, one scale and zero point for each channel, [n, 1]; k = weights of a channel. FALSE:
 * it is something else, or they change inside a channel. */
gboolean lpt_weight_codes_window (LptValue *value, gint first, gint second, LptWeightCodes *w);

#endif
