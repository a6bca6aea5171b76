/* executor/kernels/eltwise/avx512vnni.c - body.h for this instruction set, with an own sum and product
 *
 * Bytes of both operands are interleaved (add_bytes ()) or widened apart; packing restores the order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx512vnni
#define LPT_OWN_ADD
#define LPT_OWN_MUL
#include "executor/kernels/requant/avx512.h"
#include "executor/kernels/eltwise/narrow512.h"

#include "executor/kernels/eltwise/body.h"

INLINE void
add_all (LptAddForm form, LptRequantScheme step, const PairSum *s, const AddVec *v, size_t rows, size_t cols,
         const uint8_t *a, size_t lda, size_t a_step, const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out,
         size_t ldo)
{
  const size_t per = a_step && b_step ? narrow_per (cols) : 1;

  for (; per == 4 && rows >= 4; rows -= 4, a += 4 * lda, b += 4 * ldb, out += 4 * ldo)
    narrow_store (4, 4, cols, out, ldo,
                  add_bytes (form, step, s, v, narrow_load (4, 4, cols, a, lda), narrow_load (4, 4, cols, b, ldb)));
  for (; per == 2 && rows >= 2; rows -= 2, a += 2 * lda, b += 2 * ldb, out += 2 * ldo)
    narrow_store (2, 2, cols, out, ldo,
                  add_bytes (form, step, s, v, narrow_load (2, 2, cols, a, lda), narrow_load (2, 2, cols, b, ldb)));
  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    {
      __m512i x = _mm512_set1_epi8 ((char) a[0]), y = _mm512_set1_epi8 ((char) b[0]);
      size_t j = 0;

      for (; j + 64 <= cols; j += 64)
        {
          if (a_step)
            x = _mm512_loadu_si512 (a + j);
          if (b_step)
            y = _mm512_loadu_si512 (b + j);
          _mm512_storeu_si512 (out + j, add_bytes (form, step, s, v, x, y));
        }
      if (j < cols)
        {
          __mmask64 mask = ((__mmask64) 1 << (cols - j)) - 1;

          if (a_step)
            x = _mm512_maskz_loadu_epi8 (mask, a + j);
          if (b_step)
            y = _mm512_maskz_loadu_epi8 (mask, b + j);
          _mm512_mask_storeu_epi8 (out + j, mask, add_bytes (form, step, s, v, x, y));
        }
    }
}

void
lpt_eltwise_add__avx512vnni (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                             const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  bool byte = p->lo >= -128 && p->hi <= 255 && (p->lo >= 0 || p->hi <= 127) && p->zp >= -128 && p->zp <= 255;

  if (!byte || !add_fits (p))
    {
      add_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      return;
    }

  /* Rows without gaps are one. */
  if (a_step && b_step && lda == cols && ldb == cols && ldo == cols)
    {
      cols *= rows;
      rows = 1;
    }

  const PairSum s = pair_sum (p);
  const AddVec v = add_vec (p);

  if (p->form == LPT_ADD_SINGLE)
    add_all (LPT_ADD_SINGLE, LPT_REQUANT_DOUBLE, &s, &v, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
  else if (p->form == LPT_ADD_FLOAT)
    add_all (LPT_ADD_FLOAT, LPT_REQUANT_DOUBLE, &s, &v, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
  else if (p->step == LPT_REQUANT_SINGLE)
    add_all (LPT_ADD_STEPPED, LPT_REQUANT_SINGLE, &s, &v, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
  else
    add_all (LPT_ADD_STEPPED, LPT_REQUANT_DOUBLE, &s, &v, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
}

typedef struct {
  RequantVec v;
  PackLimits limits;
  __m512i    xor_a, xor_b, za, zb;
  __m512     zp;
} Product;

/* What follows a product: a fixed-point scheme, single on upper words, float, or float with the zero point inside,
 * whose limits have none. */
enum { MUL_HIGH = REQUANT_SINGLE_HIGH, MUL_FLOAT, MUL_INSIDE };

/* `stage`, a constant: one of these, or a scheme. */
INLINE __m512i
mul_words (int stage, const Product *p, __m512i a, __m512i b)
{
  /* The upper halves of the 16-bit pairs are zero in a. */
  __m512i x = _mm512_madd_epi16 (_mm512_and_si512 (_mm512_sub_epi32 (a, p->za), _mm512_set1_epi32 (0xffff)),
                                 _mm512_sub_epi32 (b, p->zb));
  __m512 f;

  if (stage < MUL_FLOAT)
    return requant_lanes (stage, &p->v, x, p->zp, p->zp);
  f = _mm512_mul_ps (_mm512_cvtepi32_ps (x), p->v.scale);
  if (stage == MUL_INSIDE)
    f = _mm512_add_ps (f, p->zp);
  return _mm512_cvtps_epi32 (_mm512_min_ps (f, p->limits.fhigh));
}

INLINE __m512i
mul_bytes (int stage, const Product *p, __m512i a, __m512i b)
{
  const __m512i none = _mm512_setzero_si512 ();
  __m512i a_low, a_high, b_low, b_high;

  a = _mm512_xor_si512 (a, p->xor_a);
  b = _mm512_xor_si512 (b, p->xor_b);
  a_low = _mm512_unpacklo_epi8 (a, none);
  a_high = _mm512_unpackhi_epi8 (a, none);
  b_low = _mm512_unpacklo_epi8 (b, none);
  b_high = _mm512_unpackhi_epi8 (b, none);
#define WORDS(half, x, y) mul_words (stage, p, _mm512_unpack##half##_epi16 (x, none), _mm512_unpack##half##_epi16 (y, none))
  return pack_quarters (&p->limits, true, WORDS (lo, a_low, b_low), WORDS (hi, a_low, b_low),
                        WORDS (lo, a_high, b_high), WORDS (hi, a_high, b_high));
#undef WORDS
}

INLINE void
mul_all (int stage, const Product *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
         const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  const size_t per = a_step && b_step ? narrow_per (cols) : 1;

  for (; per == 4 && rows >= 4; rows -= 4, a += 4 * lda, b += 4 * ldb, out += 4 * ldo)
    narrow_store (4, 4, cols, out, ldo,
                  mul_bytes (stage, p, narrow_load (4, 4, cols, a, lda), narrow_load (4, 4, cols, b, ldb)));
  for (; per == 2 && rows >= 2; rows -= 2, a += 2 * lda, b += 2 * ldb, out += 2 * ldo)
    narrow_store (2, 2, cols, out, ldo,
                  mul_bytes (stage, p, narrow_load (2, 2, cols, a, lda), narrow_load (2, 2, cols, b, ldb)));
  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    {
      __m512i x = _mm512_set1_epi8 ((char) a[0]), y = _mm512_set1_epi8 ((char) b[0]);

      for (size_t j = 0; j < cols; j += 64)
        {
          __mmask64 mask = cols - j < 64 ? ((__mmask64) 1 << (cols - j)) - 1 : ~(__mmask64) 0;

          if (a_step)
            x = _mm512_maskz_loadu_epi8 (mask, a + j);
          if (b_step)
            y = _mm512_maskz_loadu_epi8 (mask, b + j);
          _mm512_mask_storeu_epi8 (out + j, mask, mul_bytes (stage, p, x, y));
        }
    }
}

void
lpt_eltwise_mul__avx512vnni (const LptMul *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                             const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  bool byte = p->lo >= -128 && p->hi <= 255 && (p->lo >= 0 || p->hi <= 127) && p->zp >= -128 && p->zp <= 255
              && p->za >= 0 && p->za <= 255 && p->zb >= 0 && p->zb <= 255;
  bool is_float = p->scheme == LPT_REQUANT_FLOAT, single = p->scheme == LPT_REQUANT_SINGLE;
  bool shifts = p->shift >= -31 && p->shift <= (single ? -2 : 0) && p->mult != INT32_MIN;
  const int scheme = single ? MUL_HIGH : (int) p->scheme;
  int32_t zp = is_float && p->zp_in_float ? 0 : p->zp;
  Product q;

  if (!byte || !(is_float || shifts))
    {
      mul_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      return;
    }
  q.v = is_float ? requant_vec (LPT_REQUANT_FLOAT, _mm512_setzero_si512 (), _mm512_setzero_si512 (),
                                _mm512_set1_ps (p->scale))
                 : requant_vec (scheme, _mm512_set1_epi32 (p->mult), _mm512_set1_epi32 (p->shift),
                                _mm512_setzero_ps ());
  q.limits = pack_limits (zp, p->lo, p->hi);
  q.xor_a = _mm512_set1_epi8 ((char) p->xor_a);
  q.xor_b = _mm512_set1_epi8 ((char) p->xor_b);
  q.za = _mm512_set1_epi32 (p->za);
  q.zb = _mm512_set1_epi32 (p->zb);
  q.zp = _mm512_set1_ps ((float) p->zp);
  switch (scheme)
    {
#define STAGE(S)                                                                                             \
    case S:                                                                                                  \
      mul_all (S, &q, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);                                 \
      break;
    STAGE (MUL_HIGH)
    STAGE (LPT_REQUANT_DOUBLE)
    STAGE (LPT_REQUANT_TWO_STEP)
    STAGE (LPT_REQUANT_QNNPACK)
#undef STAGE
    default:
      if (p->zp_in_float)
        mul_all (MUL_INSIDE, &q, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      else
        mul_all (MUL_FLOAT, &q, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
      break;
    }
}
