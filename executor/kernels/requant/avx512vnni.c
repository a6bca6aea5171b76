/* executor/kernels/requant/avx512vnni.c - the epilogue on sixteen channels at a time
 *
 * Channel blocks outside, rows inside: parameters stay in registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/body.h"

#include "executor/kernels/requant/avx512.h"

typedef struct {
  const LptEpilogue *e;
  size_t             rows, channels, channel0;
  const int32_t     *acc;
  size_t             acc_stride;
  const int32_t     *row_sum;
  char              *out;
  size_t             out_stride;
  const uint8_t     *residual;
  size_t             residual_stride;
} Job;

INLINE __m512i
sum_at (const Job *j, size_t r, size_t c, __m512i bias, __m512i zps)
{
  __m512i sum = _mm512_add_epi32 (_mm512_loadu_si512 (j->acc + r * j->acc_stride + c), bias);

  if (j->e->weight_zp)
    sum = _mm512_sub_epi32 (sum, _mm512_mullo_epi32 (_mm512_set1_epi32 (j->row_sum[r]), zps));
  return sum;
}

INLINE __m128i
look_up (const uint8_t *table, __m128i codes)
{
  uint8_t b[16];

  _mm_storeu_si128 ((__m128i *) (void *) b, codes);
  for (int i = 0; i < 16; i++)
    b[i] = table[b[i]];
  return _mm_loadu_si128 ((const __m128i *) (const void *) b);
}

/* `scheme` and `residual` (there is a sum of type e->add) are constants. */
INLINE void
store_q8 (const Job *j, LptRequantScheme scheme, bool residual)
{
  const LptEpilogue *e = j->e;
  const PairSum sum = residual ? pair_sum (e->add) : (PairSum) { 0 };
  const AddVec add = residual ? add_vec (e->add) : (AddVec) { 0 };
  const __m512i zp = _mm512_set1_epi32 (e->zp), none = _mm512_setzero_si512 ();
  const __m512i low = _mm512_set1_epi32 (e->lo - e->zp), high = _mm512_set1_epi32 (e->hi - e->zp);
  const __m512 flow = _mm512_cvtepi32_ps (low), fhigh = _mm512_cvtepi32_ps (high);

  for (size_t c = 0; c < j->channels; c += 16)
    {
      size_t ch = j->channel0 + c;
      __mmask16 mask = j->channels - c < 16 ? (__mmask16) ((1u << (j->channels - c)) - 1) : 0xffff;
      bool fixed = scheme != LPT_REQUANT_FLOAT;
      __m512i bias = e->bias ? _mm512_loadu_si512 (e->bias + ch) : none;
      __m512i zps = e->weight_zp ? _mm512_loadu_si512 (e->weight_zp + ch) : none;
      RequantVec v = requant_vec (scheme, fixed ? _mm512_loadu_si512 (e->mult + ch) : none,
                                  fixed ? _mm512_loadu_si512 (e->shift + ch) : none,
                                  fixed ? _mm512_setzero_ps () : _mm512_loadu_ps (e->scale + ch));

      if (scheme == LPT_REQUANT_SINGLE && e->rest)
        add_rests (&v, _mm512_loadu_si512 (e->rest + ch));

      for (size_t r = 0; r < j->rows; r++)
        {
          __m512i codes = requant_lanes (scheme, &v, sum_at (j, r, c, bias, zps), flow, fhigh);
          __m128i bytes;

          if (scheme != LPT_REQUANT_FLOAT)
            codes = _mm512_min_epi32 (_mm512_max_epi32 (codes, low), high);
          bytes = _mm512_cvtepi32_epi8 (_mm512_add_epi32 (codes, zp));
          if (e->table)
            bytes = look_up (e->table, bytes);
          if (residual)
            {
              __m128i other = _mm_maskz_loadu_epi8 (mask, j->residual + r * j->residual_stride + c);
              __m512i pairs, sums;

              bytes = _mm_xor_si128 (bytes, _mm512_castsi512_si128 (sum.xor_a));
              other = _mm_xor_si128 (other, _mm512_castsi512_si128 (sum.xor_b));
              pairs = _mm512_or_si512 (_mm512_cvtepu8_epi32 (bytes),
                                       _mm512_slli_epi32 (_mm512_cvtepu8_epi32 (other), 16));
              sums = add_lanes_any (e->add, &sum, &add, pairs);
              sums = _mm512_max_epi32 (sums, _mm512_set1_epi32 (e->add->lo - e->add->zp));
              sums = _mm512_min_epi32 (sums, _mm512_set1_epi32 (e->add->hi - e->add->zp));
              bytes = _mm512_cvtepi32_epi8 (_mm512_add_epi32 (sums, _mm512_set1_epi32 (e->add->zp)));
              if (e->add_table)
                bytes = look_up (e->add_table, bytes);
            }
          _mm_mask_storeu_epi8 (j->out + r * j->out_stride + c, mask, bytes);
        }
    }
}

INLINE void
store_words (const Job *j, bool as_float)
{
  const LptEpilogue *e = j->e;
  const __m512i none = _mm512_setzero_si512 ();
  const __m512 low = _mm512_set1_ps (e->flo), high = _mm512_set1_ps (e->fhi);

  for (size_t c = 0; c < j->channels; c += 16)
    {
      size_t ch = j->channel0 + c;
      __mmask16 mask = j->channels - c < 16 ? (__mmask16) ((1u << (j->channels - c)) - 1) : 0xffff;
      __m512i bias = e->bias ? _mm512_loadu_si512 (e->bias + ch) : none;
      __m512i zps = e->weight_zp ? _mm512_loadu_si512 (e->weight_zp + ch) : none;

      for (size_t r = 0; r < j->rows; r++)
        {
          __m512i sum = sum_at (j, r, c, bias, zps);

          if (as_float)
            {
              __m512 f = _mm512_mul_ps (_mm512_cvtepi32_ps (sum), _mm512_loadu_ps (e->scale + ch));

              if (e->fbias)
                f = _mm512_add_ps (f, _mm512_loadu_ps (e->fbias + ch));
              f = _mm512_min_ps (high, _mm512_max_ps (low, f));
              sum = _mm512_castps_si512 (f);
            }
          _mm512_mask_storeu_epi32 (j->out + r * j->out_stride + c * 4, mask, sum);
        }
    }
}

void
lpt_epilogue__avx512vnni (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0, const int32_t *acc,
                          size_t acc_stride, const int32_t *row_sum, void *out, size_t out_stride,
                          const uint8_t *residual, size_t residual_stride)
{
  Job job = { e, rows, channels, channel0, acc, acc_stride, row_sum, out, out_stride, residual, residual_stride };

  if (e->store != LPT_STORE_Q8)
    {
      if (e->store == LPT_STORE_F32)
        store_words (&job, true);
      else
        store_words (&job, false);
      return;
    }
  if ((!e->fast && e->scheme != LPT_REQUANT_FLOAT) || (e->add && !add_fits (e->add)))
    {
      epilogue_plain (e, rows, channels, channel0, acc, acc_stride, row_sum, out, out_stride, residual,
                      residual_stride);
      return;
    }
#define SCHEME(name)                                                                                         \
    case name:                                                                                               \
      if (e->add)                                                                                            \
        store_q8 (&job, name, true);                                                                         \
      else                                                                                                   \
        store_q8 (&job, name, false);                                                                        \
      break;
  switch (e->scheme)
    {
    SCHEME (LPT_REQUANT_SINGLE)
    SCHEME (LPT_REQUANT_DOUBLE)
    SCHEME (LPT_REQUANT_TWO_STEP)
    SCHEME (LPT_REQUANT_QNNPACK)
    default:
    SCHEME (LPT_REQUANT_FLOAT)
    }
}
