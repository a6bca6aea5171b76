/* executor/kernels/eltwise/narrow512.h - several narrow rows in one register of 512 bits
 *
 * Channels last, few channels: rows of up to 16 bytes go by four, those of up to 32 by two. `per`, 4 or 2, is a
 * constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define NARROW static inline __attribute__ ((always_inline))

/* Rows for one register, 1 for wide ones. */
NARROW size_t
narrow_per (size_t cols)
{
  return cols <= 16 ? 4 : cols <= 32 ? 2 : 1;
}

/* Lanes of `cols` bytes in the rows that are there. */
NARROW __mmask32
narrow_mask (size_t row, size_t rows, size_t cols)
{
  return row < rows ? (__mmask32) (((uint64_t) 1 << cols) - 1) : 0;
}

/* The first `rows` of a register's rows, zeros for the others. */
NARROW __m512i
narrow_load (size_t per, size_t rows, size_t cols, const uint8_t *p, size_t ld)
{
#define ROW16(i) _mm_maskz_loadu_epi8 ((__mmask16) narrow_mask (i, rows, cols), p + (i) * ld)
#define ROW32(i) _mm256_maskz_loadu_epi8 (narrow_mask (i, rows, cols), p + (i) * ld)
  if (per == 2)
    return _mm512_inserti64x4 (_mm512_castsi256_si512 (ROW32 (0)), ROW32 (1), 1);

  __m512i x = _mm512_inserti32x4 (_mm512_castsi128_si512 (ROW16 (0)), ROW16 (1), 1);

  return _mm512_inserti32x4 (_mm512_inserti32x4 (x, ROW16 (2), 2), ROW16 (3), 3);
#undef ROW16
#undef ROW32
}

NARROW void
narrow_store (size_t per, size_t rows, size_t cols, uint8_t *p, size_t ld, __m512i x)
{
#define ROW16(i, bytes) _mm_mask_storeu_epi8 (p + (i) * ld, (__mmask16) narrow_mask (i, rows, cols), bytes)
#define ROW32(i, bytes) _mm256_mask_storeu_epi8 (p + (i) * ld, narrow_mask (i, rows, cols), bytes)
  if (per == 2)
    {
      ROW32 (0, _mm512_castsi512_si256 (x));
      ROW32 (1, _mm512_extracti64x4_epi64 (x, 1));
      return;
    }
  ROW16 (0, _mm512_castsi512_si128 (x));
  ROW16 (1, _mm512_extracti32x4_epi32 (x, 1));
  ROW16 (2, _mm512_extracti32x4_epi32 (x, 2));
  ROW16 (3, _mm512_extracti32x4_epi32 (x, 3));
#undef ROW16
#undef ROW32
}

#undef NARROW
