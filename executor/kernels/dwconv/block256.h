/* executor/kernels/dwconv/block256.h - depthwise convolution on sixteen channels in two registers of 256 bits
 *
 * The includer defines DOT (sum, bytes, weights): sums of four products per lane, exact. Four rows of a column are
 * interleaved so that a lane holds one channel's bytes. Eight pixels are summed, then the output stage takes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>
#include <string.h>

#include "executor/kernels/dwconv/dwconv.h"

#define PIXELS 8

#define ALWAYS static inline __attribute__ ((always_inline))

/* `whole`, a constant: sixteen channels of multiplier 1. */
ALWAYS __m128i
load_row_256 (const LptDwconvRun *r, const uint8_t *x, size_t c, size_t n, bool whole)
{
  uint8_t b[16] = { 0 };

  if (whole)
    return _mm_loadu_si128 ((const __m128i *) (const void *) (x + c));
  for (size_t j = 0; j < n; j++)
    b[j] = x[(c + j) / r->multiplier];
  return _mm_loadu_si128 ((const __m128i *) (const void *) b);
}

/* kh and whole are constants. */
ALWAYS void
block_256 (const LptDwconvRun *r, size_t c, size_t n, size_t kh, bool whole)
{
  size_t groups = (kh + 3) / 4, element = r->epilogue->store == LPT_STORE_Q8 ? 1 : 4;
  const int8_t *weights = (const int8_t *) r->packed + c * r->kw * groups * 4;
  _Alignas (32) int32_t acc[PIXELS * 16];

  for (size_t i = 0; i < r->pixels; i += PIXELS)
    {
      size_t pixels = r->pixels - i < PIXELS ? r->pixels - i : PIXELS;

      for (size_t p = 0; p < pixels; p++)
        {
          __m256i s0 = _mm256_setzero_si256 (), s1 = s0;
          const int8_t *w = weights;

          for (size_t kx = 0; kx < r->kw; kx++)
            for (size_t g = 0; g < groups; g++, w += 64)
              {
                const uint8_t *const *col = r->cols + ((i + p) * r->stride_w + kx * r->dilation_w) * kh + 4 * g;
                size_t rows = kh - 4 * g;
                const __m128i none = _mm_setzero_si128 ();
                __m128i r0 = load_row_256 (r, col[0], c, n, whole), r1 = rows > 1 ? load_row_256 (r, col[1], c, n, whole) : none;
                __m128i r2 = rows > 2 ? load_row_256 (r, col[2], c, n, whole) : none;
                __m128i r3 = rows > 3 ? load_row_256 (r, col[3], c, n, whole) : none;
                __m128i a = _mm_unpacklo_epi8 (r0, r1), b = _mm_unpackhi_epi8 (r0, r1);
                __m128i d = _mm_unpacklo_epi8 (r2, r3), e = _mm_unpackhi_epi8 (r2, r3);
                __m256i x0 = _mm256_inserti128_si256 (_mm256_castsi128_si256 (_mm_unpacklo_epi16 (a, d)),
                                                      _mm_unpackhi_epi16 (a, d), 1);
                __m256i x1 = _mm256_inserti128_si256 (_mm256_castsi128_si256 (_mm_unpacklo_epi16 (b, e)),
                                                      _mm_unpackhi_epi16 (b, e), 1);

                s0 = DOT (s0, x0, _mm256_loadu_si256 ((const __m256i *) (const void *) w));
                s1 = DOT (s1, x1, _mm256_loadu_si256 ((const __m256i *) (const void *) (w + 32)));
              }
          _mm256_store_si256 ((__m256i *) (void *) (acc + p * 16), s0);
          _mm256_store_si256 ((__m256i *) (void *) (acc + p * 16 + 8), s1);
        }
      r->epilogue_kernel->run (r->epilogue, pixels, n, c, acc, 16, NULL,
                               (char *) r->out + i * r->ldo + (c - r->c0) * element, r->ldo,
                               r->residual ? r->residual + i * r->ldr + (c - r->c0) : NULL, r->ldr);
    }
}

static void
run_256 (const LptDwconvRun *r)
{
  for (size_t y = 0; y < r->rows; y++)
    {
      const LptDwconvRun row = lpt_dwconv_row (r, y);

      for (size_t c = r->c0; c < r->c1; c += 16)
        if (r->c1 - c < 16 || r->multiplier != 1)
          block_256 (&row, c, r->c1 - c < 16 ? r->c1 - c : 16, r->kh, false);
        else if (r->kh == 3)
          block_256 (&row, c, 16, 3, true);
        else
          block_256 (&row, c, 16, r->kh, true);
    }
}
