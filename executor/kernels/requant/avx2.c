/* executor/kernels/requant/avx2.c - the epilogue on sixteen channels at a time
 *
 * Single rounding is one fused multiply-add where lpt-fma.c proves it for sixteen channels: it and the conversion
 * behind it round down as the control register says, since instructions of AVX2 have no rounding of their own. The
 * compiler does not know of that register, so both are written as assembly, which stays between its changes. Table and
 * residual follow on the bytes of each row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/body.h"

#include "executor/kernels/eltwise/eltwise.h"
#include "executor/kernels/partial128.h"
#include "executor/kernels/requant/avx2.h"

typedef struct {
  const LptEpilogue *e;
  size_t             rows, channels, channel0;
  const int32_t     *acc;
  size_t             acc_stride;
  const int32_t     *row_sum;
  char              *out;
  size_t             out_stride;
} Job;

typedef struct {
  __m256i bias, zps;
} Channels;

INLINE Channels
channels_at (const LptEpilogue *e, size_t c)
{
  const __m256i none = _mm256_setzero_si256 ();

  return (Channels) { e->bias ? load_256 (e->bias + c) : none, e->weight_zp ? load_256 (e->weight_zp + c) : none };
}

INLINE __m256i
sum_at (const Job *j, size_t r, size_t c, const Channels *ch)
{
  __m256i sum = _mm256_add_epi32 (load_256 (j->acc + r * j->acc_stride + c), ch->bias);

  if (j->e->weight_zp)
    sum = _mm256_sub_epi32 (sum, _mm256_mullo_epi32 (_mm256_set1_epi32 (j->row_sum[r]), ch->zps));
  return sum;
}

/* --- one multiply-add, rounded down --- */

#define ROUND_DOWN 0x2000u
#define ROUND_BITS 0x6000u

/* Whether the channels from c on have no lower part. */
INLINE bool
has_one_fma (const LptEpilogue *e, size_t c)
{
  const __m256 zero = _mm256_setzero_ps ();
  __m256 low = _mm256_or_ps (_mm256_cmp_ps (_mm256_loadu_ps (e->fma.low + c), zero, _CMP_NEQ_UQ),
                             _mm256_cmp_ps (_mm256_loadu_ps (e->fma.low + c + 8), zero, _CMP_NEQ_UQ));

  return e->by_one_fma || _mm256_testz_ps (low, low);
}

/* floor (x * high + half) of eight lanes, while the control register says down. */
INLINE __m256i
fma_down (__m256i x, __m256 high, __m256 half)
{
  __m256 f = _mm256_cvtepi32_ps (x);
  __m256i codes;

  __asm__ volatile ("vfmadd213ps %2, %1, %0" : "+x" (f) : "x" (high), "x" (half));
  __asm__ volatile ("vcvtps2dq %1, %0" : "=x" (codes) : "x" (f));
  return codes;
}

/* Sixteen channels of all rows; codes are those of the u8 form until they are stored. */
INLINE void
store_by_fma (const Job *j, size_t c, size_t n)
{
  const LptEpilogue *e = j->e;
  size_t at = j->channel0 + c;
  Channels c0 = channels_at (e, at), c1 = channels_at (e, at + 8);
  const __m256 high0 = _mm256_loadu_ps (e->fma.high + at), high1 = _mm256_loadu_ps (e->fma.high + at + 8);
  const __m256 half0 = _mm256_loadu_ps (e->fma.half + at), half1 = _mm256_loadu_ps (e->fma.half + at + 8);
  const __m128i low = _mm_set1_epi8 ((char) lpt_u8_form (e->lo, e->lo));
  const __m128i high = _mm_set1_epi8 ((char) lpt_u8_form (e->lo, e->hi));
  const __m128i sign = _mm_set1_epi8 (e->lo < 0 ? (char) 0x80 : 0);

  c0.bias = _mm256_add_epi32 (c0.bias, load_256 (e->fma.offset + at));
  c1.bias = _mm256_add_epi32 (c1.bias, load_256 (e->fma.offset + at + 8));
  for (size_t r = 0; r < j->rows; r++)
    {
      __m256i x0 = fma_down (sum_at (j, r, c, &c0), high0, half0);
      __m256i x1 = fma_down (sum_at (j, r, c + 8, &c1), high1, half1);
      __m256i words = _mm256_permute4x64_epi64 (_mm256_packs_epi32 (x0, x1), 0xd8);
      __m128i bytes = _mm_packus_epi16 (_mm256_castsi256_si128 (words), _mm256_extracti128_si256 (words, 1));

      bytes = _mm_xor_si128 (_mm_min_epu8 (_mm_max_epu8 (bytes, low), high), sign);
      store_some (j->out + r * j->out_stride + c, bytes, n);
    }
}

/* --- every scheme --- */

INLINE void
store_q8 (const Job *j, LptRequantScheme scheme)
{
  const LptEpilogue *e = j->e;
  const PackLimits limits = pack_limits (e->zp, e->lo, e->hi);
  const __m256 flow = _mm256_set1_ps ((float) (e->lo - e->zp)), fhigh = _mm256_set1_ps ((float) (e->hi - e->zp));
  const __m256i none = _mm256_setzero_si256 ();
  bool fixed = scheme != LPT_REQUANT_FLOAT, by_fma = scheme == LPT_REQUANT_SINGLE && e->by_fma;
  unsigned control = by_fma ? _mm_getcsr () : 0;

  if (by_fma)
    _mm_setcsr ((control & ~ROUND_BITS) | ROUND_DOWN);
  for (size_t c = 0; c < j->channels; c += 16)
    {
      size_t at = j->channel0 + c, n = j->channels - c < 16 ? j->channels - c : 16;

      if (by_fma && has_one_fma (e, at))
        {
          store_by_fma (j, c, n);
          continue;
        }

      Channels c0 = channels_at (e, at), c1 = channels_at (e, at + 8);
      RequantVec v0 = requant_vec (scheme, fixed ? load_256 (e->mult + at) : none,
                                   fixed ? load_256 (e->shift + at) : none,
                                   fixed ? _mm256_setzero_ps () : _mm256_loadu_ps (e->scale + at));
      RequantVec v1 = requant_vec (scheme, fixed ? load_256 (e->mult + at + 8) : none,
                                   fixed ? load_256 (e->shift + at + 8) : none,
                                   fixed ? _mm256_setzero_ps () : _mm256_loadu_ps (e->scale + at + 8));

      if (scheme == LPT_REQUANT_SINGLE && e->rest)
        {
          add_rests (&v0, load_256 (e->rest + at));
          add_rests (&v1, load_256 (e->rest + at + 8));
        }
      for (size_t r = 0; r < j->rows; r++)
        {
          __m256i x0 = requant_lanes (scheme, &v0, sum_at (j, r, c, &c0), flow, fhigh);
          __m256i x1 = requant_lanes (scheme, &v1, sum_at (j, r, c + 8, &c1), flow, fhigh);
          __m128i bytes = pack_16 (&limits, x0, x1);
          char *out = j->out + r * j->out_stride + c;

          store_some (out, bytes, n);
        }
    }
  if (by_fma)
    _mm_setcsr (control);
}

INLINE void
store_words (const Job *j, bool as_float)
{
  const LptEpilogue *e = j->e;
  const __m256 low = _mm256_set1_ps (e->flo), high = _mm256_set1_ps (e->fhi);

  for (size_t c = 0; c < j->channels; c += 8)
    {
      size_t at = j->channel0 + c, n = j->channels - c < 8 ? j->channels - c : 8;
      Channels ch = channels_at (e, at);
      __m256i some = _mm256_cmpgt_epi32 (_mm256_set1_epi32 ((int) n), _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7));

      for (size_t r = 0; r < j->rows; r++)
        {
          __m256i sum = sum_at (j, r, c, &ch);
          char *out = j->out + r * j->out_stride + c * 4;

          if (as_float)
            {
              __m256 f = _mm256_mul_ps (_mm256_cvtepi32_ps (sum), _mm256_loadu_ps (e->scale + at));

              if (e->fbias)
                f = _mm256_add_ps (f, _mm256_loadu_ps (e->fbias + at));
              sum = _mm256_castps_si256 (_mm256_min_ps (high, _mm256_max_ps (low, f)));
            }
          if (n == 8)
            _mm256_storeu_si256 ((__m256i *) (void *) out, sum);
          else
            _mm256_maskstore_epi32 ((int *) (void *) out, some, sum);
        }
    }
}

void
lpt_epilogue__avx2 (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0, const int32_t *acc,
                    size_t acc_stride, const int32_t *row_sum, void *out, size_t out_stride, const uint8_t *residual,
                    size_t residual_stride)
{
  static const LptEpilogueKernel bytes = { .add = lpt_eltwise_add__avx2, .table = lpt_eltwise_table__avx2 };
  Job job = { e, rows, channels, channel0, acc, acc_stride, row_sum, out, out_stride };

  if (e->store != LPT_STORE_Q8)
    {
      if (e->store == LPT_STORE_F32)
        store_words (&job, true);
      else
        store_words (&job, false);
      return;
    }
  if (!e->fast)
    {
      epilogue_plain (e, rows, channels, channel0, acc, acc_stride, row_sum, out, out_stride, residual,
                      residual_stride);
      return;
    }
  switch (e->scheme)
    {
    case LPT_REQUANT_SINGLE:   store_q8 (&job, LPT_REQUANT_SINGLE); break;
    case LPT_REQUANT_DOUBLE:   store_q8 (&job, LPT_REQUANT_DOUBLE); break;
    case LPT_REQUANT_TWO_STEP: store_q8 (&job, LPT_REQUANT_TWO_STEP); break;
    case LPT_REQUANT_QNNPACK:  store_q8 (&job, LPT_REQUANT_QNNPACK); break;
    default:                   store_q8 (&job, LPT_REQUANT_FLOAT); break;
    }
  if (e->table || e->add)
    lpt_epilogue_finish (&bytes, e, rows, channels, out, out_stride, residual, residual_stride);
}
