/* executor/kernels/eltwise/avx2.c - body.h for this instruction set, with its own sums, products and tables
 *
 * Sums of form single as in avx512vnni.c: m1*a + m2*b + bias is split into 2^16 * H + L with signed 16-bit factors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx2
#define LPT_OWN_ADD
#define LPT_OWN_MUL
#define LPT_OWN_TABLE
#include "executor/kernels/partial128.h"
#include "executor/kernels/requant/avx2.h"

#include "executor/kernels/eltwise/body.h"

typedef struct {
  __m256i    high, low, more, high_bias, low_bias, shift, xors;
  bool       wide;
  PackLimits limits;
} Sum;

INLINE __m256i
add_words (const Sum *s, __m256i pairs)
{
  __m256i high = _mm256_add_epi32 (_mm256_madd_epi16 (pairs, s->high), s->high_bias);
  __m256i low = _mm256_add_epi32 (_mm256_madd_epi16 (pairs, s->low), s->low_bias);

  if (s->wide)
    low = _mm256_add_epi32 (low, _mm256_madd_epi16 (pairs, s->more));
  return _mm256_srav_epi32 (_mm256_add_epi32 (high, _mm256_srai_epi32 (low, 16)), s->shift);
}

INLINE __m256i
add_bytes (const Sum *s, __m256i a, __m256i b)
{
  const __m256i none = _mm256_setzero_si256 ();
  __m256i low = _mm256_xor_si256 (_mm256_unpacklo_epi8 (a, b), s->xors);
  __m256i high = _mm256_xor_si256 (_mm256_unpackhi_epi8 (a, b), s->xors);

  low = _mm256_packs_epi32 (add_words (s, _mm256_unpacklo_epi8 (low, none)),
                            add_words (s, _mm256_unpackhi_epi8 (low, none)));
  high = _mm256_packs_epi32 (add_words (s, _mm256_unpacklo_epi8 (high, none)),
                             add_words (s, _mm256_unpackhi_epi8 (high, none)));
  low = limit_words (&s->limits, low);
  high = limit_words (&s->limits, high);
  return s->limits.is_signed ? _mm256_packs_epi16 (low, high) : _mm256_packus_epi16 (low, high);
}

void
lpt_eltwise_add__avx2 (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                       const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  bool byte = p->lo >= -128 && p->hi <= 255 && (p->lo >= 0 || p->hi <= 127) && p->zp >= -128 && p->zp <= 255;
  int64_t bias = p->form == LPT_ADD_SINGLE ? p->bias + ((int64_t) 1 << (p->shift - 1)) : 0;
  LptAddParts m1 = lpt_add_parts (p->m1), m2 = lpt_add_parts (p->m2);
  size_t whole = cols / 32 * 32;
  Sum s;

  if (!byte || p->form != LPT_ADD_SINGLE || !lpt_add_fits_pairs (p))
    {
      add_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      return;
    }
  s.high = _mm256_set1_epi32 (lpt_add_pair (m1.high, m2.high));
  s.low = _mm256_set1_epi32 (lpt_add_pair (m1.low, m2.low));
  s.more = _mm256_set1_epi32 (lpt_add_pair (m1.more, m2.more));
  s.wide = m1.more != 0 || m2.more != 0;
  s.high_bias = _mm256_set1_epi32 ((int32_t) (bias >> 16));
  s.low_bias = _mm256_set1_epi32 ((int32_t) (bias & 0xffff));
  s.shift = _mm256_set1_epi32 (p->shift - 16);
  s.xors = _mm256_set1_epi16 ((int16_t) (p->xor_b << 8 | p->xor_a));
  s.limits = pack_limits (p->zp, p->lo, p->hi);

  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    {
      __m256i x = _mm256_set1_epi8 ((char) a[0]), y = _mm256_set1_epi8 ((char) b[0]);

      for (size_t j = 0; j < whole; j += 32)
        {
          if (a_step)
            x = load_256 (a + j);
          if (b_step)
            y = load_256 (b + j);
          _mm256_storeu_si256 ((__m256i *) (void *) (out + j), add_bytes (&s, x, y));
        }
      for (size_t j = whole, n; j < cols; j += n)
        {
          n = cols - j < 16 ? cols - j : 16;
          if (a_step)
            x = _mm256_castsi128_si256 (load_some (a + j, n));
          if (b_step)
            y = _mm256_castsi128_si256 (load_some (b + j, n));
          store_some (out + j, _mm256_castsi256_si128 (add_bytes (&s, x, y)), n);
        }
    }
}

typedef struct {
  RequantVec v;
  PackLimits limits;
  __m256     low, high, zp;
  __m128i    xor_a, xor_b;
  __m256i    za, zb;
} Product;

/* zp_in_float, a constant: the float scheme with the zero point inside, whose limits have it. */
INLINE __m256i
mul_words (LptRequantScheme scheme, bool zp_in_float, const Product *p, __m256i x)
{
  if (!zp_in_float)
    return requant_lanes (scheme, &p->v, x, p->low, p->high);
  __m256 f = _mm256_add_ps (_mm256_mul_ps (_mm256_cvtepi32_ps (x), p->v.scale), p->zp);
  return _mm256_cvtps_epi32 (_mm256_min_ps (_mm256_max_ps (f, p->low), p->high));
}

/* Differences of codes are words, products two halves of words; unpacked and packed they are in order again. */
INLINE __m128i
mul_bytes (LptRequantScheme scheme, bool zp_in_float, const Product *p, __m128i a, __m128i b)
{
  __m256i x = _mm256_sub_epi16 (_mm256_cvtepu8_epi16 (_mm_xor_si128 (a, p->xor_a)), p->za);
  __m256i y = _mm256_sub_epi16 (_mm256_cvtepu8_epi16 (_mm_xor_si128 (b, p->xor_b)), p->zb);
  __m256i low = _mm256_mullo_epi16 (x, y), high = _mm256_mulhi_epi16 (x, y);
  __m256i first = mul_words (scheme, zp_in_float, p, _mm256_unpacklo_epi16 (low, high));
  __m256i second = mul_words (scheme, zp_in_float, p, _mm256_unpackhi_epi16 (low, high));

  return pack_words (&p->limits, _mm256_packs_epi32 (first, second));
}

INLINE void
mul_all (LptRequantScheme scheme, bool zp_in_float, const Product *p, size_t rows, size_t cols, const uint8_t *a,
         size_t lda, size_t a_step, const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    {
      __m128i x = _mm_set1_epi8 ((char) a[0]), y = _mm_set1_epi8 ((char) b[0]);

      for (size_t j = 0, n; j < cols; j += n)
        {
          n = cols - j < 16 ? cols - j : 16;
          if (a_step)
            x = load_some (a + j, n);
          if (b_step)
            y = load_some (b + j, n);
          store_some (out + j, mul_bytes (scheme, zp_in_float, p, x, y), n);
        }
    }
}

void
lpt_eltwise_mul__avx2 (const LptMul *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                       const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  bool byte = p->lo >= -128 && p->hi <= 255 && (p->lo >= 0 || p->hi <= 127) && p->zp >= -128 && p->zp <= 255
              && p->za >= 0 && p->za <= 255 && p->zb >= 0 && p->zb <= 255;
  bool is_float = p->scheme == LPT_REQUANT_FLOAT, inside = is_float && p->zp_in_float;
  bool shifts = p->shift >= -31 && p->shift <= (p->scheme == LPT_REQUANT_SINGLE ? -1 : 0) && p->mult != INT32_MIN;
  int32_t zp = inside ? 0 : p->zp;
  Product q;

  if (!byte || !(is_float || shifts))
    {
      mul_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      return;
    }
  q.v = is_float ? requant_vec (LPT_REQUANT_FLOAT, _mm256_setzero_si256 (), _mm256_setzero_si256 (),
                                _mm256_set1_ps (p->scale))
                 : requant_vec (p->scheme, _mm256_set1_epi32 (p->mult), _mm256_set1_epi32 (p->shift),
                                _mm256_setzero_ps ());
  q.limits = pack_limits (zp, p->lo, p->hi);
  q.low = _mm256_set1_ps ((float) (p->lo - zp));
  q.high = _mm256_set1_ps ((float) (p->hi - zp));
  q.zp = _mm256_set1_ps ((float) p->zp);
  q.xor_a = _mm_set1_epi8 ((char) p->xor_a);
  q.xor_b = _mm_set1_epi8 ((char) p->xor_b);
  q.za = _mm256_set1_epi16 ((int16_t) p->za);
  q.zb = _mm256_set1_epi16 ((int16_t) p->zb);
  switch (p->scheme)
    {
#define SCHEME(S)                                                                                            \
    case S:                                                                                                  \
      mul_all (S, false, &q, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);                          \
      break;
    SCHEME (LPT_REQUANT_SINGLE)
    SCHEME (LPT_REQUANT_DOUBLE)
    SCHEME (LPT_REQUANT_TWO_STEP)
    SCHEME (LPT_REQUANT_QNNPACK)
#undef SCHEME
    default:
      if (inside)
        mul_all (LPT_REQUANT_FLOAT, true, &q, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      else
        mul_all (LPT_REQUANT_FLOAT, false, &q, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      break;
    }
}

/* A table of 256 bytes by sixteen shuffles. pshufb gives 0 where the highest bit of an index is set, so x - 16 k meets
 * part k of the table where h = x / 16 is among k to k + 7; behind x - 128 the subtraction saturates, lest small x come
 * round again. All that it gives is xored, and parts are made such that those from h - 7 to h give part h:
 *
 *   d[h] = part[h] ^ part[h - 1] ^ d[h - 8],  those before the first being 0
 */
typedef struct {
  __m256i d[16];
} Table;

static Table
table_parts (const uint8_t *table)
{
  Table t;
  __m256i before = _mm256_setzero_si256 ();

  for (size_t h = 0; h < 16; h++)
    {
      __m256i part = _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const __m128i *) (const void *) (table + 16 * h)));

      t.d[h] = _mm256_xor_si256 (part, before);
      if (h >= 8)
        t.d[h] = _mm256_xor_si256 (t.d[h], t.d[h - 8]);
      before = part;
    }
  return t;
}

/* Two registers at a time: each part is read once for both. */
INLINE void
look_up (const Table *t, __m256i *x0, __m256i *x1)
{
  const __m256i step = _mm256_set1_epi8 (16);
  __m256i y0 = _mm256_shuffle_epi8 (t->d[0], *x0), y1 = _mm256_shuffle_epi8 (t->d[0], *x1);

#pragma GCC unroll 15
  for (size_t h = 1; h < 16; h++)
    {
      *x0 = h <= 8 ? _mm256_sub_epi8 (*x0, step) : _mm256_subs_epi8 (*x0, step);
      *x1 = h <= 8 ? _mm256_sub_epi8 (*x1, step) : _mm256_subs_epi8 (*x1, step);
      y0 = _mm256_xor_si256 (y0, _mm256_shuffle_epi8 (t->d[h], *x0));
      y1 = _mm256_xor_si256 (y1, _mm256_shuffle_epi8 (t->d[h], *x1));
    }
  *x0 = y0;
  *x1 = y1;
}

/* Four rows of up to sixteen bytes. */
INLINE void
look_up_narrow (const Table *t, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo)
{
  __m256i x0 = _mm256_set_m128i (load_some (in + ldi, cols), load_some (in, cols));
  __m256i x1 = _mm256_set_m128i (load_some (in + 3 * ldi, cols), load_some (in + 2 * ldi, cols));

  look_up (t, &x0, &x1);
  store_some (out, _mm256_castsi256_si128 (x0), cols);
  store_some (out + ldo, _mm256_extracti128_si256 (x0, 1), cols);
  store_some (out + 2 * ldo, _mm256_castsi256_si128 (x1), cols);
  store_some (out + 3 * ldo, _mm256_extracti128_si256 (x1, 1), cols);
}

void
lpt_eltwise_table__avx2 (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out,
                         size_t ldo)
{
  enum { FEW = 128 };      /* bytes that are looked up while a table is made ready */
  size_t narrow = cols <= 16 ? rows / 4 * 4 : 0, whole = cols / 64 * 64;

  /* Rows without gaps are one. */
  if (ldi == cols && ldo == cols)
    {
      whole = rows * cols / 64 * 64;
      cols *= rows;
      rows = 1;
      narrow = 0;
    }
  if (narrow * cols >= FEW || rows * whole >= FEW)
    {
      const Table t = table_parts (table);

      for (; narrow > 0; narrow -= 4, rows -= 4, in += 4 * ldi, out += 4 * ldo)
        look_up_narrow (&t, cols, in, ldi, out, ldo);
      for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < whole; i += 64)
          {
            __m256i x0 = load_256 (in + r * ldi + i), x1 = load_256 (in + r * ldi + i + 32);

            look_up (&t, &x0, &x1);
            _mm256_storeu_si256 ((__m256i *) (void *) (out + r * ldo + i), x0);
            _mm256_storeu_si256 ((__m256i *) (void *) (out + r * ldo + i + 32), x1);
          }
    }
  else
    whole = 0;
  for (size_t r = 0; r < rows; r++, in += ldi, out += ldo)
    for (size_t i = whole; i < cols; i++)
      out[i] = table[in[i]];
}
