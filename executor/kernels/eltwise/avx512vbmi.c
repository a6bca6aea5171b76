/* executor/kernels/eltwise/avx512vbmi.c - table of 256 bytes in four registers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/eltwise/eltwise.h"
#include "executor/kernels/eltwise/narrow512.h"

#include <immintrin.h>

static inline __m512i
look_up (const __m512i t[4], __m512i x)
{
  __m512i low = _mm512_permutex2var_epi8 (t[0], x, t[1]), high = _mm512_permutex2var_epi8 (t[2], x, t[3]);

  return _mm512_mask_blend_epi8 (_mm512_movepi8_mask (x), low, high);
}

void
lpt_eltwise_table__avx512vbmi (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in, size_t ldi,
                               uint8_t *out, size_t ldo)
{
  const __m512i t[4] = { _mm512_loadu_si512 (table), _mm512_loadu_si512 (table + 64), _mm512_loadu_si512 (table + 128),
                         _mm512_loadu_si512 (table + 192) };
  size_t per;

  /* Rows without gaps are one. */
  if (ldi == cols && ldo == cols)
    {
      cols *= rows;
      rows = 1;
    }
  per = narrow_per (cols);
  for (; per == 4 && rows >= 4; rows -= 4, in += 4 * ldi, out += 4 * ldo)
    narrow_store (4, 4, cols, out, ldo, look_up (t, narrow_load (4, 4, cols, in, ldi)));
  for (; per == 2 && rows >= 2; rows -= 2, in += 2 * ldi, out += 2 * ldo)
    narrow_store (2, 2, cols, out, ldo, look_up (t, narrow_load (2, 2, cols, in, ldi)));
  for (size_t r = 0; r < rows; r++, in += ldi, out += ldo)
    for (size_t i = 0; i < cols; i += 64)
      {
        __mmask64 mask = cols - i < 64 ? ((__mmask64) 1 << (cols - i)) - 1 : ~(__mmask64) 0;

        _mm512_mask_storeu_epi8 (out + i, mask, look_up (t, _mm512_maskz_loadu_epi8 (mask, in + i)));
      }
}
