/* codes.h - how integers use their range
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

/* How often each code of an 8-bit value came, from its least one on. */
typedef struct
{
  guint64 counts[256];
  guint64 n;
} LptCodeCounts;

/* Is @value one of 8-bit codes that say what they stand for? */
gboolean lpt_codes_countable (const LptValue *value);
/* @held: elements of such a value. */
void     lpt_codes_add       (LptCodeCounts *codes, const LptValue *value, const LptArray *held);
/* Shares at the ends of the range, unused codes, entropy in bits. */
double   lpt_codes_at_low    (const LptCodeCounts *codes);
double   lpt_codes_at_high   (const LptCodeCounts *codes);
guint    lpt_codes_unused    (const LptCodeCounts *codes);
double   lpt_codes_bits      (const LptCodeCounts *codes);
