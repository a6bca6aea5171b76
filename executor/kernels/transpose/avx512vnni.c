/* executor/kernels/transpose/avx512vnni.c - transposes of words in blocks of 16 x 4, whose columns are whole lines
 *
 * The last block of a side overlaps the one before it. What has fewer rows or columns than a block is avx2.c's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/transpose/transpose.h"

#include <immintrin.h>

#include "executor/kernels/transpose/squares.h"

enum { ROWS = 16, COLS = 4 };

static inline __m512
load_rows (const float *in, size_t ldi)
{
  __m512 v = _mm512_castps128_ps512 (_mm_loadu_ps (in));

  v = _mm512_insertf32x4 (v, _mm_loadu_ps (in + 4 * ldi), 1);
  v = _mm512_insertf32x4 (v, _mm_loadu_ps (in + 8 * ldi), 2);
  return _mm512_insertf32x4 (v, _mm_loadu_ps (in + 12 * ldi), 3);
}

/* Four columns of sixteen rows. */
static inline void
transpose_block (const float *in, size_t ldi, float *out, size_t ldo)
{
  const __m512 a = load_rows (in, ldi), b = load_rows (in + ldi, ldi);
  const __m512 c = load_rows (in + 2 * ldi, ldi), d = load_rows (in + 3 * ldi, ldi);
  const __m512 ab = _mm512_unpacklo_ps (a, b), cd = _mm512_unpacklo_ps (c, d);
  const __m512 ab_high = _mm512_unpackhi_ps (a, b), cd_high = _mm512_unpackhi_ps (c, d);

  _mm512_storeu_ps (out, _mm512_shuffle_ps (ab, cd, 0x44));
  _mm512_storeu_ps (out + ldo, _mm512_shuffle_ps (ab, cd, 0xee));
  _mm512_storeu_ps (out + 2 * ldo, _mm512_shuffle_ps (ab_high, cd_high, 0x44));
  _mm512_storeu_ps (out + 3 * ldo, _mm512_shuffle_ps (ab_high, cd_high, 0xee));
}

static inline size_t
lesser (size_t a, size_t b)
{
  return a < b ? a : b;
}

void
lpt_transpose_words__avx512vnni (size_t rows, size_t cols, const uint32_t *in, size_t ldi, uint32_t *out, size_t ldo)
{
  const float *from = (const float *) (const void *) in;
  float *to = (float *) (void *) out;

  if (rows < ROWS || cols < COLS)
    {
      lpt_transpose_words__avx2 (rows, cols, in, ldi, out, ldo);
      return;
    }

  const WordSquare square = word_square (ldi, ldo);

  for (size_t r0 = 0; r0 < rows; r0 += square.rows)
    for (size_t c0 = 0; c0 < cols; c0 += square.cols)
      for (size_t r = r0; r < lesser (r0 + square.rows, rows); r += ROWS)
        for (size_t c = c0; c < lesser (c0 + square.cols, cols); c += COLS)
          {
            const size_t row = lesser (r, rows - ROWS), column = lesser (c, cols - COLS);

            transpose_block (from + row * ldi + column, ldi, to + column * ldo + row, ldo);
          }
}
