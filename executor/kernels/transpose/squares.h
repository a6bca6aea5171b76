/* executor/kernels/transpose/squares.h - the squares of words in which transposes go
 *
 * They stay in the first cache, and are long enough for its prefetchers. Lines that lie a multiple of pages apart all
 * belong to one set of it: no more of them than it has ways.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

typedef struct {
  size_t rows, cols;     /* of the input */
} WordSquare;

/* For rows of the input and of the output that are @ldi and @ldo words apart. */
static inline WordSquare
word_square (size_t ldi, size_t ldo)
{
  enum { PAGE = 1024 };  /* words */

  return (WordSquare) { ldi % PAGE == 0 ? 16 : 64, ldo % PAGE == 0 ? 4 : 16 };
}
