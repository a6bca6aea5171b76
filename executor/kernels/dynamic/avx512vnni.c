/* executor/kernels/dynamic/avx512vnni.c - body.h compiled for this instruction set, rows times nibbles by vpdpbusd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx512vnni
#define LPT_OWN_NIBBLE_ROW
#include "executor/kernels/dynamic/body.h"

#include <immintrin.h>

static inline __m512i
four (const int8_t *a)
{
  int32_t bytes;

  memcpy (&bytes, a, sizeof bytes);
  return _mm512_set1_epi32 (bytes);
}

void
lpt_dynamic_nibble_row__avx512vnni (const LptNibbleRow *r)
{
  const __m512i low = _mm512_set1_epi8 (15);
  V y = { 0 };

  for (size_t i = 0; i < r->blocks; i++)
    {
      const uint8_t *codes = r->panel + i * r->size;
      const int8_t *a = r->a + i * r->block, *half = a + r->block / 2;
      __m512i sums = _mm512_setzero_si512 (), more = sums;

      for (size_t k = 0; k < r->block / 2; k += 4, codes += 64)
        {
          const __m512i pairs = _mm512_loadu_si512 (codes);

          sums = _mm512_dpbusd_epi32 (sums, _mm512_and_si512 (pairs, low), four (a + k));
          more = _mm512_dpbusd_epi32 (more, _mm512_and_si512 (_mm512_srli_epi16 (pairs, 4), low), four (half + k));
        }
      add_block (r, i, 0, (I) _mm512_add_epi32 (sums, more), &y);
    }
  store (r->y, y, WIDTH);
}
