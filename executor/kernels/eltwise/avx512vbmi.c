/* executor/kernels/eltwise/avx512vbmi.c - table of 256 bytes in four registers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/eltwise/eltwise.h"

#include <immintrin.h>

void
lpt_eltwise_table__avx512vbmi (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out,
                               size_t ldo)
{
  const __m512i t0 = _mm512_loadu_si512 (table), t1 = _mm512_loadu_si512 (table + 64);
  const __m512i t2 = _mm512_loadu_si512 (table + 128), t3 = _mm512_loadu_si512 (table + 192);

  /* Rows without gaps are one. */
  if (ldi == cols && ldo == cols)
    {
      cols *= rows;
      rows = 1;
    }
  for (size_t r = 0; r < rows; r++, in += ldi, out += ldo)
    for (size_t i = 0; i < cols; i += 64)
      {
        __mmask64 mask = cols - i < 64 ? ((__mmask64) 1 << (cols - i)) - 1 : ~(__mmask64) 0;
        __m512i x = _mm512_maskz_loadu_epi8 (mask, in + i);
        __m512i low = _mm512_permutex2var_epi8 (t0, x, t1), high = _mm512_permutex2var_epi8 (t2, x, t3);

        _mm512_mask_storeu_epi8 (out + i, mask, _mm512_mask_blend_epi8 (_mm512_movepi8_mask (x), low, high));
      }
}
