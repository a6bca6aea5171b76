/* executor/kernels/gemm/pack256.h - packing of panels of sixteen columns for the 256-bit rows
 *
 * Sixteen columns of four k at a time where columns or k lie side by side; other weights go the generic way. `pairs`, a
 * constant, tells LPT_PACK_PAIRS from LPT_PACK_K4.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>
#include <string.h>

#include "executor/kernels/gemm/gemm.h"

/* Four columns of a step, from column c on; adds to their sums. */
static inline __attribute__ ((always_inline)) void
pack_four (bool pairs, __m128i x, int8_t *step, size_t c, __m128i *sums)
{
  const __m128i split = _mm_setr_epi8 (0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);

  *sums = _mm_add_epi32 (*sums, _mm_madd_epi16 (_mm_maddubs_epi16 (_mm_set1_epi8 (1), x), _mm_set1_epi16 (1)));
  if (!pairs)
    {
      _mm_storeu_si128 ((__m128i *) (void *) (step + c * 4), x);
      return;
    }
  x = _mm_shuffle_epi8 (x, split);
  _mm_storel_epi64 ((__m128i *) (void *) (step + c * 2), x);
  _mm_storel_epi64 ((__m128i *) (void *) (step + 32 + c * 2), _mm_unpackhi_epi64 (x, x));
}

/* n <= 16 bytes with their signs turned, zeros behind them. */
static inline __attribute__ ((always_inline)) __m128i
load_some (const uint8_t *p, size_t n, __m128i flip)
{
  uint8_t bytes[16] = { 0 };

  if (n == 16)
    return _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (const void *) p), flip);
  for (size_t i = 0; i < n; i++)
    bytes[i] = (uint8_t) (p[i] ^ _mm_cvtsi128_si32 (flip));
  return _mm_loadu_si128 ((const __m128i *) (const void *) bytes);
}

/* Columns side by side: four rows of sixteen. */
static inline __attribute__ ((always_inline)) void
pack_rows (bool pairs, const uint8_t *from, ptrdiff_t k_stride, size_t k, size_t n, __m128i flip, int8_t *out, __m128i sums[4])
{
  for (size_t p = 0; p < k; p += 4, out += 64)
    {
      __m128i r[4], low, high;

      for (size_t q = 0; q < 4; q++)
        r[q] = p + q < k ? load_some (from + (ptrdiff_t) (p + q) * k_stride, n, flip) : _mm_setzero_si128 ();
      low = _mm_unpacklo_epi8 (r[0], r[1]);
      high = _mm_unpacklo_epi8 (r[2], r[3]);
      pack_four (pairs, _mm_unpacklo_epi16 (low, high), out, 0, &sums[0]);
      pack_four (pairs, _mm_unpackhi_epi16 (low, high), out, 4, &sums[1]);
      low = _mm_unpackhi_epi8 (r[0], r[1]);
      high = _mm_unpackhi_epi8 (r[2], r[3]);
      pack_four (pairs, _mm_unpacklo_epi16 (low, high), out, 8, &sums[2]);
      pack_four (pairs, _mm_unpackhi_epi16 (low, high), out, 12, &sums[3]);
    }
}

/* k side by side: four columns of sixteen bytes are four steps. */
static inline __attribute__ ((always_inline)) void
pack_columns (bool pairs, const uint8_t *from, ptrdiff_t n_stride, size_t k, size_t n, __m128i flip, int8_t *out, __m128i sums[4])
{
  for (size_t p = 0; p < k; p += 16, out += 256)
    {
      const size_t bytes = k - p < 16 ? k - p : 16, steps = (bytes + 3) / 4;

      for (size_t c = 0; c < 16; c += 4)
        {
          __m128i x[4], t[4], s[4];

          for (size_t i = 0; i < 4; i++)
            x[i] = c + i < n ? load_some (from + (ptrdiff_t) (c + i) * n_stride + p, bytes, flip) : _mm_setzero_si128 ();
          t[0] = _mm_unpacklo_epi32 (x[0], x[1]);
          t[1] = _mm_unpackhi_epi32 (x[0], x[1]);
          t[2] = _mm_unpacklo_epi32 (x[2], x[3]);
          t[3] = _mm_unpackhi_epi32 (x[2], x[3]);
          s[0] = _mm_unpacklo_epi64 (t[0], t[2]);
          s[1] = _mm_unpackhi_epi64 (t[0], t[2]);
          s[2] = _mm_unpacklo_epi64 (t[1], t[3]);
          s[3] = _mm_unpackhi_epi64 (t[1], t[3]);
          for (size_t i = 0; i < steps; i++)
            pack_four (pairs, s[i], out + 64 * i, c, &sums[c / 4]);
        }
    }
}

/* One panel; false where the weights' layout is another. */
static inline __attribute__ ((always_inline)) bool
pack_256 (bool pairs, const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum)
{
  const __m128i flip = _mm_set1_epi8 (w->is_unsigned ? (char) 0x80 : 0);
  const size_t n = n1 > n0 ? n1 - n0 : 0, k4 = (w->k + 3) / 4;
  __m128i sums[4] = { _mm_setzero_si128 (), _mm_setzero_si128 (), _mm_setzero_si128 (), _mm_setzero_si128 () };

  if (w->k_inner || nr != 16 || n == 0 || (w->n_stride != 1 && w->k_stride != 1))
    return false;
  for (size_t tap = 0; tap < w->taps; tap++)
    {
      const uint8_t *from = (const uint8_t *) w->data + lpt_gemm_weight_at (w, tap, 0, n0);
      int8_t *out = (int8_t *) panel + tap * k4 * 64;

      if (w->n_stride == 1)
        pack_rows (pairs, from, w->k_stride, w->k, n, flip, out, sums);
      else
        pack_columns (pairs, from, w->n_stride, w->k, n, flip, out, sums);
    }
  if (col_sum)
    {
      int32_t all[16];

      for (size_t i = 0; i < 4; i++)
        _mm_storeu_si128 ((__m128i *) (void *) (all + 4 * i), sums[i]);
      memcpy (col_sum + n0, all, n * sizeof all[0]);
    }
  return true;
}
