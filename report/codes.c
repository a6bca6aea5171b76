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

/* Neighbours are often the same code: counted in turn in several lists, which do not wait for each other. */
#define LISTS 4

void
lpt_codes_add (LptCodeCounts *codes, const LptValue *value, const LptArray *held)
{
  const guint8 *bytes = held->data;
  guint8 flip = value->dtype == LPT_DTYPE_I8 ? 0x80 : 0;
  guint64 counts[LISTS][256] = { { 0 } };
  gint64 n = lpt_array_count (held), i = 0;
  if (lpt_dtype_bits (held->dtype) != 8)
    return;
  for (; i + LISTS <= n; i += LISTS)
    for (guint k = 0; k < LISTS; k++)
      counts[k][bytes[i + k]]++;
  for (; i < n; i++)
    counts[0][bytes[i]]++;
  for (guint code = 0; code < 256; code++)
    for (guint k = 0; k < LISTS; k++)
      codes->counts[code ^ flip] += counts[k][code];
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
