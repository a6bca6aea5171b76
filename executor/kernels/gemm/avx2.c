/* executor/kernels/gemm/avx2.c - micro kernel on vpmaddwd, exact
 *
 * vpmaddubsw would saturate sums of two products, so both operands are widened to 16 bits: weights are packed as pairs
 * (k0, k2) and (k1, k3), and of four activation bytes a mask leaves the even ones and a shift the odd ones as
 * 16-bit pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/gemm/gemm.h"

#include <immintrin.h>

#define TILE_ROWS(X) X (0) X (1) X (2) X (3)
#define WIDEN(at) _mm256_cvtepi8_epi16 (_mm_loadu_si128 ((const __m128i *) (const void *) (b + (at))))
#define LOAD_WEIGHTS __m256i e0 = WIDEN (0), e1 = WIDEN (16), o0 = WIDEN (32), o1 = WIDEN (48);
#define DOTS(c0, c1, x)                                                                                      \
  __m256i even = _mm256_and_si256 (x, _mm256_set1_epi32 (0x00ff00ff)), odd = _mm256_srli_epi16 (x, 8);       \
                                                                                                             \
  c0 = _mm256_add_epi32 (c0, _mm256_madd_epi16 (even, e0));                                                  \
  c1 = _mm256_add_epi32 (c1, _mm256_madd_epi16 (even, e1));                                                  \
  c0 = _mm256_add_epi32 (c0, _mm256_madd_epi16 (odd, o0));                                                   \
  c1 = _mm256_add_epi32 (c1, _mm256_madd_epi16 (odd, o1));
#include "executor/kernels/gemm/tile256.h"
#include "executor/kernels/gemm/helpers.h"
#include "executor/kernels/gemm/pack256.h"

void
lpt_gemm_u8s8s32_4x16c2__avx2 (const LptGemmTile *t, int32_t *acc)
{
  switch (t->mr)
    {
    case 1: tile_256 (1, t, acc); break;
    case 2: tile_256 (2, t, acc); break;
    case 3: tile_256 (3, t, acc); break;
    default: tile_256 (4, t, acc); break;
    }
}

void
lpt_gemm_interleave__avx2 (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out)
{
  interleave_128 (n, a, b, c, out);
}

void
lpt_gemm_row_sums__avx2 (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride, int32_t *sums)
{
  row_sums_256 (rows, taps, k, a, a_stride, sums);
}

void
lpt_gemm_pack__avx2 (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum)
{
  if (!pack_256 (true, w, n0, n1, nr, panel, col_sum))
    lpt_gemm_pack_panel (&(LptGemmKernel) { .order = LPT_PACK_PAIRS }, w, n0, n1, nr, panel, col_sum);
}
