/* executor/kernels/dynamic/avx2.c - body.h compiled for this instruction set, rows times nibbles by vpmaddubsw
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx2
#define LPT_OWN_NIBBLE_ROW
#include "executor/kernels/dynamic/body.h"

#include <immintrin.h>

static inline __m256i
four (const int8_t *a)
{
  int32_t bytes;

  memcpy (&bytes, a, sizeof bytes);
  return _mm256_set1_epi32 (bytes);
}

/* Two products of four bits and eight are at most 2 * 15 * 128: eight of them fit 16 bits. */
#define STEPS 4

void
lpt_dynamic_nibble_row__avx2 (const LptNibbleRow *r)
{
  const __m256i low = _mm256_set1_epi8 (15), ones = _mm256_set1_epi16 (1);

  for (size_t c = 0; c < LPT_NIBBLE_COLUMNS; c += WIDTH)
    {
      V y = { 0 };

      for (size_t i = 0; i < r->blocks; i++)
        {
          const uint8_t *codes = r->panel + i * r->size + 4 * c;
          const int8_t *a = r->a + i * r->block, *half = a + r->block / 2;
          __m256i sums = _mm256_setzero_si256 ();

          for (size_t k = 0; k < r->block / 2;)
            {
              __m256i pairs_of_sums = _mm256_setzero_si256 ();

              for (size_t s = 0; s < STEPS && k < r->block / 2; s++, k += 4, codes += 4 * LPT_NIBBLE_COLUMNS)
                {
                  const __m256i pairs = _mm256_loadu_si256 ((const __m256i *) (const void *) codes);
                  const __m256i first = _mm256_and_si256 (pairs, low);
                  const __m256i second = _mm256_and_si256 (_mm256_srli_epi16 (pairs, 4), low);

                  pairs_of_sums = _mm256_add_epi16 (pairs_of_sums, _mm256_maddubs_epi16 (first, four (a + k)));
                  pairs_of_sums = _mm256_add_epi16 (pairs_of_sums, _mm256_maddubs_epi16 (second, four (half + k)));
                }
              sums = _mm256_add_epi32 (sums, _mm256_madd_epi16 (pairs_of_sums, ones));
            }
          add_block (r, i, c, (I) sums, &y);
        }
      store (r->y + c, y, WIDTH);
    }
}
