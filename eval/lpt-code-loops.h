/* lpt-code-loops.h - arrays of integers from one storage to another, in loops without a branch for each element
 *
 * Codes of 8, 16 and 32 bits and truth are bytes of their type; words are 64-bit integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-types.h>

/* The elements [0, @n) as they are. */
void lpt_codes_to_words   (gconstpointer codes, LptDType dtype, gint64 n, gint64 *words);
/* scale (code - zero), in double and rounded once. */
void lpt_codes_to_numbers (gconstpointer codes, LptDType dtype, gint64 n, double scale, gint64 zero, float *numbers);
/* The lowest bits; truth is 1 where a word is not 0. */
void lpt_words_to_codes   (const gint64 *words, gint64 n, LptDType dtype, gpointer codes);
/* lpt_wrap() of all, in place. */
void lpt_wrap_words       (gint64 *words, gint64 n, LptDType dtype);
