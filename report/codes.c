/* codes.c - how integers use their range
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/codes.h"

#include <math.h>

gboolean
lpt_codes_countable (const LptValue *value)
{
  return value->quant != NULL && lpt_dtype_is_integer (value->dtype) && lpt_dtype_bits (value->dtype) == 8;
}

void
lpt_codes_add (LptCodeCounts *codes, const LptValue *value, LptTensor *tensor)
{
  const guint8 *bytes = lpt_tensor_data (tensor);
  gint64 n = lpt_tensor_count (tensor);
  guint8 flip = value->dtype == LPT_DTYPE_I8 ? 0x80 : 0;
  if (lpt_dtype_bits (lpt_tensor_dtype (tensor)) != 8)
    return;
  for (gint64 i = 0; i < n; i++)
    codes->counts[bytes[i] ^ flip]++;
  codes->n += (guint64) n;
}

double
lpt_codes_at_low (const LptCodeCounts *codes)
{
  return codes->n > 0 ? (double) codes->counts[0] / (double) codes->n : 0.0;
}

double
lpt_codes_at_high (const LptCodeCounts *codes)
{
  return codes->n > 0 ? (double) codes->counts[255] / (double) codes->n : 0.0;
}

guint
lpt_codes_unused (const LptCodeCounts *codes)
{
  guint n = 0;
  for (guint i = 0; i < 256; i++)
    n += codes->counts[i] == 0;
  return n;
}

double
lpt_codes_bits (const LptCodeCounts *codes)
{
  double sum = 0.0;
  for (guint i = 0; i < 256; i++)
    if (codes->counts[i] > 0)
      {
        double p = (double) codes->counts[i] / (double) codes->n;
        sum -= p * log2 (p);
      }
  return sum;
}
