/* executor/kernels/gemm/pack512.h - packing of 8-bit weights with 512-bit vectors, sixteen columns at a time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/gemm/gemm.h"
#include "executor/kernels/requant/avx512.h"

/* Four rows of sixteen bytes to sixteen columns of four: bytes of column c in lane c. */
INLINE __m512i
interleave (__m128i r0, __m128i r1, __m128i r2, __m128i r3)
{
  const __m512i lanes = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_broadcast_i32x4 (_mm_setr_epi8 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m512i x = _mm512_inserti32x4 (_mm512_castsi128_si512 (r0), r1, 1);

  x = _mm512_inserti32x4 (_mm512_inserti32x4 (x, r2, 2), r3, 3);
  return _mm512_shuffle_epi8 (_mm512_permutexvar_epi32 (lanes, x), bytes);
}

/* 16 x 16 words, in place. */
INLINE void
transpose_words (__m512i r[16])
{
  __m512i t[16];

  for (int i = 0; i < 16; i += 2)
    {
      t[i] = _mm512_unpacklo_epi32 (r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_epi32 (r[i], r[i + 1]);
    }
  for (int i = 0; i < 16; i += 4)
    {
      r[i] = _mm512_unpacklo_epi64 (t[i], t[i + 2]);
      r[i + 1] = _mm512_unpackhi_epi64 (t[i], t[i + 2]);
      r[i + 2] = _mm512_unpacklo_epi64 (t[i + 1], t[i + 3]);
      r[i + 3] = _mm512_unpackhi_epi64 (t[i + 1], t[i + 3]);
    }
  for (int i = 0; i < 4; i++)
    {
      __m512i a = _mm512_shuffle_i32x4 (r[i], r[i + 4], 0x88), b = _mm512_shuffle_i32x4 (r[i], r[i + 4], 0xdd);
      __m512i c = _mm512_shuffle_i32x4 (r[i + 8], r[i + 12], 0x88),
              d = _mm512_shuffle_i32x4 (r[i + 8], r[i + 12], 0xdd);

      t[i] = _mm512_shuffle_i32x4 (a, c, 0x88);
      t[i + 4] = _mm512_shuffle_i32x4 (b, d, 0x88);
      t[i + 8] = _mm512_shuffle_i32x4 (a, c, 0xdd);
      t[i + 12] = _mm512_shuffle_i32x4 (b, d, 0xdd);
    }
  for (int i = 0; i < 16; i++)
    r[i] = t[i];
}

/* Up to 64 k of n columns, `pitch` bytes apart. */
INLINE __m512i
pack_block (const uint8_t *from, ptrdiff_t pitch, size_t n, size_t k, __m512i flip, int8_t *out, size_t step,
            __m512i sum)
{
  __m512i r[16];
  __mmask64 mask = k < 64 ? ((__mmask64) 1 << k) - 1 : ~(__mmask64) 0;

  for (size_t c = 0; c < 16; c++)
    r[c] = c < n ? _mm512_maskz_loadu_epi8 (mask, from + (ptrdiff_t) c * pitch) : _mm512_setzero_si512 ();
  for (size_t c = 0; c < n; c++)
    r[c] = _mm512_maskz_xor_epi32 (0xffff, r[c], _mm512_maskz_mov_epi8 (mask, flip));
  transpose_words (r);
  for (size_t s = 0; s < (k + 3) / 4; s++, out += step)
    {
      _mm512_storeu_si512 (out, r[s]);
      sum = _mm512_dpbusd_epi32 (sum, _mm512_set1_epi8 (1), r[s]);
    }
  return sum;
}

/* Sixteen columns from n0 of one tap; `step` is the distance of steps of four k in the panel. */
static __m512i
pack_columns (const LptGemmWeights *w, size_t tap, size_t n0, size_t n, int8_t *out, size_t step, __m512i sum)
{
  const uint8_t *from = w->data;
  const __m512i flip = _mm512_set1_epi8 (w->is_unsigned ? -128 : 0), ones = _mm512_set1_epi8 (1);
  __mmask16 columns = (__mmask16) ((1u << n) - 1);

  from += (w->tap_inner ? (ptrdiff_t) (tap / w->tap_inner) * w->tap_outer_stride +
                              (ptrdiff_t) (tap % w->tap_inner) * w->tap_stride
                        : (ptrdiff_t) tap * w->tap_stride) +
          (ptrdiff_t) n0 * w->n_stride;
  if (w->n_stride == 1)
    for (size_t p = 0; p < w->k; p += 4, out += step)
      {
        const uint8_t *x = from + (ptrdiff_t) p * w->k_stride;
        __m128i r0 = _mm_maskz_loadu_epi8 (columns, x), none = _mm_setzero_si128 ();
        __m128i r1 = w->k - p > 1 ? _mm_maskz_loadu_epi8 (columns, x + w->k_stride) : none;
        __m128i r2 = w->k - p > 2 ? _mm_maskz_loadu_epi8 (columns, x + 2 * w->k_stride) : none;
        __m128i r3 = w->k - p > 3 ? _mm_maskz_loadu_epi8 (columns, x + 3 * w->k_stride) : none;
        size_t bytes = w->k - p < 4 ? w->k - p : 4;
        __mmask64 real = bytes == 4 ? ~(__mmask64) 0 : 0x1111111111111111u * ((1u << bytes) - 1);
        __m512i v = interleave (r0, r1, r2, r3);

        /* Zeros of the padding stay zeros. */
        if (n < 16)
          real &= ((__mmask64) 1 << (4 * n)) - 1;
        v = _mm512_maskz_mov_epi8 (real, _mm512_xor_si512 (v, flip));
        _mm512_storeu_si512 (out, v);
        sum = _mm512_dpbusd_epi32 (sum, ones, v);
      }
  else
    for (size_t p = 0; p < w->k; p += 64)
      {
        size_t bytes = w->k - p < 64 ? w->k - p : 64;

        sum = pack_block (from + p, w->n_stride, n, bytes, flip, out, step, sum);
        out += 16 * step;
      }
  return sum;
}

/* More taps go the generic way. */
#define MAX_TAPS 16

INLINE void
tell_apart (const uint8_t *from, size_t k, size_t taps, size_t column, uint8_t apart[MAX_TAPS][16][64])
{
  for (size_t i = 0; i < k; i++, from += taps)
    for (size_t tap = 0; tap < taps; tap++)
      apart[tap][column][i] = from[tap];
}

/* Sixteen columns from n0 of all taps, where taps lie side by side within a k: they are told apart first, 64 k at a
 * time. */
static __m512i
pack_taps (const LptGemmWeights *w, size_t n0, size_t n, int8_t *out, size_t step, __m512i sum)
{
  const uint8_t *from = (const uint8_t *) w->data + (ptrdiff_t) n0 * w->n_stride;
  const __m512i flip = _mm512_set1_epi8 (w->is_unsigned ? -128 : 0);
  size_t k4 = (w->k + 3) / 4;
  uint8_t apart[MAX_TAPS][16][64];

  for (size_t p = 0; p < w->k; p += 64)
    {
      size_t k = w->k - p < 64 ? w->k - p : 64;

      for (size_t c = 0; c < n; c++)
        {
          const uint8_t *x = from + (ptrdiff_t) c * w->n_stride + (ptrdiff_t) (p * w->taps);

          if (w->taps == 9)
            tell_apart (x, k, 9, c, apart);
          else
            tell_apart (x, k, w->taps, c, apart);
        }
      for (size_t tap = 0; tap < w->taps; tap++)
        sum = pack_block (apart[tap][0], 64, n, k, flip, out + (tap * k4 + p / 4) * step, step, sum);
    }
  return sum;
}

/* Whether tap t of k is element k * taps + t of its column. */
static bool
taps_inside (const LptGemmWeights *w)
{
  return w->taps > 1 && w->taps <= MAX_TAPS && w->k_stride == (ptrdiff_t) w->taps && w->tap_stride == 1
         && (!w->tap_inner || w->tap_outer_stride == (ptrdiff_t) w->tap_inner);
}
