/* executor/kernels/transpose/narrow.h - planes of two or three rows whose columns lie dense, and dense columns as few
 *
 * Channels of groups that are shuffled, planes of an image that become pixels, pairs that are taken apart. Each does
 * whole vectors from the front and says how many columns (or, taken apart, rows) that were; the includer does the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

static inline __m128i
load_16 (const void *p)
{
  return _mm_loadu_si128 ((const __m128i *) p);
}

static inline void
store_16 (void *p, __m128i x)
{
  _mm_storeu_si128 ((__m128i *) p, x);
}

/* Two rows become pairs. */
static inline size_t
join_two_bytes (size_t cols, const uint8_t *in, size_t ldi, uint8_t *out)
{
  size_t c = 0;

  for (; c + 16 <= cols; c += 16)
    {
      __m128i a = load_16 (in + c), b = load_16 (in + ldi + c);

      store_16 (out + 2 * c, _mm_unpacklo_epi8 (a, b));
      store_16 (out + 2 * c + 16, _mm_unpackhi_epi8 (a, b));
    }
  return c;
}

/* Three rows become triples, four of them a store, whose last bytes the next one writes again: two columns behind the
 * last are still of this plane. */
static inline size_t
join_three_bytes (size_t cols, const uint8_t *in, size_t ldi, uint8_t *out)
{
  const __m128i close = _mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1),
                none = _mm_setzero_si128 ();
  size_t c = 0;

  for (; c + 18 <= cols; c += 16, out += 48)
    {
      __m128i a = load_16 (in + c), b = load_16 (in + ldi + c), d = load_16 (in + 2 * ldi + c);
      __m128i ab[2] = { _mm_unpacklo_epi8 (a, b), _mm_unpackhi_epi8 (a, b) };
      __m128i d0[2] = { _mm_unpacklo_epi8 (d, none), _mm_unpackhi_epi8 (d, none) };

      for (size_t k = 0; k < 2; k++)
        {
          store_16 (out + 24 * k, _mm_shuffle_epi8 (_mm_unpacklo_epi16 (ab[k], d0[k]), close));
          store_16 (out + 24 * k + 12, _mm_shuffle_epi8 (_mm_unpackhi_epi16 (ab[k], d0[k]), close));
        }
    }
  return c;
}

/* Rows of pairs become two columns. */
static inline size_t
part_two_bytes (size_t rows, const uint8_t *in, uint8_t *out, size_t ldo)
{
  const __m128i low = _mm_set1_epi16 (0xFF);
  size_t r = 0;

  for (; r + 16 <= rows; r += 16)
    {
      __m128i a = load_16 (in + 2 * r), b = load_16 (in + 2 * r + 16);

      store_16 (out + r, _mm_packus_epi16 (_mm_and_si128 (a, low), _mm_and_si128 (b, low)));
      store_16 (out + ldo + r, _mm_packus_epi16 (_mm_srli_epi16 (a, 8), _mm_srli_epi16 (b, 8)));
    }
  return r;
}

/* Sixteen bytes of the 48 that @a, @b and @d have: each byte of @pick is a place in one of them, or -1. */
static inline __m128i
choose_bytes (__m128i a, __m128i b, __m128i d, const int8_t pick[3][16])
{
  return _mm_or_si128 (_mm_or_si128 (_mm_shuffle_epi8 (a, load_16 (pick[0])), _mm_shuffle_epi8 (b, load_16 (pick[1]))),
                       _mm_shuffle_epi8 (d, load_16 (pick[2])));
}

/* Rows of triples become three columns. */
static inline size_t
part_three_bytes (size_t rows, const uint8_t *in, uint8_t *out, size_t ldo)
{
  int8_t pick[3][3][16];
  size_t r = 0;

  for (int column = 0; column < 3; column++)
    for (int part = 0; part < 3; part++)
      for (int i = 0; i < 16; i++)
        {
          const int at = 3 * i + column - 16 * part;

          pick[column][part][i] = (int8_t) (at >= 0 && at < 16 ? at : -1);
        }
  for (; r + 16 <= rows; r += 16, in += 48)
    {
      const __m128i a = load_16 (in), b = load_16 (in + 16), d = load_16 (in + 32);

      for (size_t column = 0; column < 3; column++)
        store_16 (out + column * ldo + r, choose_bytes (a, b, d, pick[column]));
    }
  return r;
}

static inline size_t
part_three_words (size_t rows, const uint32_t *in, uint32_t *out, size_t ldo)
{
  size_t r = 0;

  for (; r + 4 <= rows; r += 4, in += 12)
    {
      const __m128 a = _mm_castsi128_ps (load_16 (in)), b = _mm_castsi128_ps (load_16 (in + 4)),
                   d = _mm_castsi128_ps (load_16 (in + 8));
      const __m128 first = _mm_shuffle_ps (b, d, _MM_SHUFFLE (1, 1, 2, 2)),
                   second = _mm_shuffle_ps (a, b, _MM_SHUFFLE (0, 0, 1, 1)),
                   third = _mm_shuffle_ps (a, b, _MM_SHUFFLE (1, 1, 2, 2)),
                   last = _mm_shuffle_ps (b, d, _MM_SHUFFLE (2, 2, 3, 3));

      store_16 (out + r, _mm_castps_si128 (_mm_shuffle_ps (a, first, _MM_SHUFFLE (2, 0, 3, 0))));
      store_16 (out + ldo + r, _mm_castps_si128 (_mm_shuffle_ps (second, last, _MM_SHUFFLE (2, 0, 2, 0))));
      store_16 (out + 2 * ldo + r, _mm_castps_si128 (_mm_shuffle_ps (third, d, _MM_SHUFFLE (3, 0, 2, 0))));
    }
  return r;
}

static inline size_t
join_two_words (size_t cols, const uint32_t *in, size_t ldi, uint32_t *out)
{
  size_t c = 0;

  for (; c + 4 <= cols; c += 4)
    {
      __m128i a = load_16 (in + c), b = load_16 (in + ldi + c);

      store_16 (out + 2 * c, _mm_unpacklo_epi32 (a, b));
      store_16 (out + 2 * c + 4, _mm_unpackhi_epi32 (a, b));
    }
  return c;
}

static inline size_t
part_two_words (size_t rows, const uint32_t *in, uint32_t *out, size_t ldo)
{
  size_t r = 0;

  for (; r + 4 <= rows; r += 4)
    {
      __m128 a = _mm_castsi128_ps (load_16 (in + 2 * r)), b = _mm_castsi128_ps (load_16 (in + 2 * r + 4));

      store_16 (out + r, _mm_castps_si128 (_mm_shuffle_ps (a, b, 0x88)));
      store_16 (out + ldo + r, _mm_castps_si128 (_mm_shuffle_ps (a, b, 0xDD)));
    }
  return r;
}
