/* executor/kernels/eltwise/narrow512.h - several narrow rows in one register of 512 bits
 *
 * Channels last, few channels: rows of up to 16 bytes go by four, those of up to 32 by two. `per`, 4 or 2, is a constant.
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

NARROW __m512i
narrow_load (size_t per, size_t cols, const uint8_t *p, size_t ld)
{
  if (per == 2)
    {
      const __mmask32 mask = (__mmask32) (((uint64_t) 1 << cols) - 1);

      return _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm256_maskz_loadu_epi8 (mask, p)), _mm256_maskz_loadu_epi8 (mask, p + ld), 1);
    }

  const __mmask16 mask = (__mmask16) ((1u << cols) - 1);
  __m512i x = _mm512_castsi128_si512 (_mm_maskz_loadu_epi8 (mask, p));

  x = _mm512_inserti32x4 (x, _mm_maskz_loadu_epi8 (mask, p + ld), 1);
  x = _mm512_inserti32x4 (x, _mm_maskz_loadu_epi8 (mask, p + 2 * ld), 2);
  return _mm512_inserti32x4 (x, _mm_maskz_loadu_epi8 (mask, p + 3 * ld), 3);
}

NARROW void
narrow_store (size_t per, size_t cols, uint8_t *p, size_t ld, __m512i x)
{
  if (per == 2)
    {
      const __mmask32 mask = (__mmask32) (((uint64_t) 1 << cols) - 1);

      _mm256_mask_storeu_epi8 (p, mask, _mm512_castsi512_si256 (x));
      _mm256_mask_storeu_epi8 (p + ld, mask, _mm512_extracti64x4_epi64 (x, 1));
      return;
    }

  const __mmask16 mask = (__mmask16) ((1u << cols) - 1);

  _mm_mask_storeu_epi8 (p, mask, _mm512_castsi512_si128 (x));
  _mm_mask_storeu_epi8 (p + ld, mask, _mm512_extracti32x4_epi32 (x, 1));
  _mm_mask_storeu_epi8 (p + 2 * ld, mask, _mm512_extracti32x4_epi32 (x, 2));
  _mm_mask_storeu_epi8 (p + 3 * ld, mask, _mm512_extracti32x4_epi32 (x, 3));
}

#undef NARROW
