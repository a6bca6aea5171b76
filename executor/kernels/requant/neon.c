/* executor/kernels/requant/neon.c - the epilogue on four channels at a time
 *
 * sqrdmulh is srdhm, and a rounding shift rounds half up; double's ties away come from taking one off negative values
 * first.
 * Table and residual follow on the bytes of each row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/body.h"

#include <arm_neon.h>
#include <string.h>

#include "executor/kernels/eltwise/eltwise.h"

#define INLINE static inline __attribute__ ((always_inline))

typedef struct {
  const LptEpilogue *e;
  size_t             rows, channels, channel0;
  const int32_t     *acc;
  size_t             acc_stride;
  const int32_t     *row_sum;
  char              *out;
  size_t             out_stride;
} Job;

INLINE int32x4_t
sum_at (const Job *j, size_t r, size_t c)
{
  const LptEpilogue *e = j->e;
  int32x4_t sum = vld1q_s32 (j->acc + r * j->acc_stride + c);

  if (e->bias)
    sum = vaddq_s32 (sum, vld1q_s32 (e->bias + j->channel0 + c));
  if (e->weight_zp)
    sum = vmlsq_s32 (sum, vdupq_n_s32 (j->row_sum[r]), vld1q_s32 (e->weight_zp + j->channel0 + c));
  return sum;
}

INLINE int32x4_t
requant_lanes (LptRequantScheme scheme, const LptEpilogue *e, size_t c, int32x4_t x)
{
  int32x4_t mult, shift, t, mask, rest;

  if (scheme == LPT_REQUANT_FLOAT)
    {
      float32x4_t f = vmulq_f32 (vcvtq_f32_s32 (x), vld1q_f32 (e->scale + c));

      /* These give the number where the other operand is a NaN. */
      f = vmaxnmq_f32 (f, vdupq_n_f32 ((float) (e->lo - e->zp)));
      f = vminnmq_f32 (f, vdupq_n_f32 ((float) (e->hi - e->zp)));
      return vcvtnq_s32_f32 (f);
    }
  mult = vld1q_s32 (e->mult + c);
  shift = vld1q_s32 (e->shift + c);
  if (scheme == LPT_REQUANT_SINGLE)
    {
      int32x4_t left = vsubq_s32 (shift, vdupq_n_s32 (31));
      int64x2_t low = vmull_s32 (vget_low_s32 (x), vget_low_s32 (mult)), high = vmull_high_s32 (x, mult);

      if (e->rest)
        {
          int32x4_t r = vld1q_s32 (e->rest + c);

          low = vaddw_s32 (low, vget_low_s32 (r));
          high = vaddw_high_s32 (high, r);
        }
      low = vrshlq_s64 (low, vmovl_s32 (vget_low_s32 (left)));
      high = vrshlq_s64 (high, vmovl_high_s32 (left));
      return vcombine_s32 (vmovn_s64 (low), vmovn_s64 (high));
    }
  t = vqrdmulhq_s32 (x, mult);
  if (scheme == LPT_REQUANT_TWO_STEP)
    return vrshlq_s32 (t, shift);
  if (scheme == LPT_REQUANT_DOUBLE)
    return vrshlq_s32 (vqaddq_s32 (t, vshrq_n_s32 (vandq_s32 (t, shift), 31)), shift);
  mask = vsubq_s32 (vshlq_s32 (vdupq_n_s32 (1), vnegq_s32 (shift)), vdupq_n_s32 (1));
  rest = vaddq_s32 (vandq_s32 (t, mask), vshrq_n_s32 (x, 31));
  return vsubq_s32 (vshlq_s32 (t, shift),
                    vreinterpretq_s32_u32 (vcgtq_s32 (rest,
                                                      vreinterpretq_s32_u32 (vshrq_n_u32 (vreinterpretq_u32_s32 (mask),
                                                                                          1)))));
}

INLINE void
store_q8 (const Job *j, LptRequantScheme scheme)
{
  const LptEpilogue *e = j->e;
  const int32x4_t low = vdupq_n_s32 (e->lo - e->zp), high = vdupq_n_s32 (e->hi - e->zp), zp = vdupq_n_s32 (e->zp);

  for (size_t r = 0; r < j->rows; r++)
    for (size_t c = 0; c < j->channels; c += 4)
      {
        int32x4_t x = requant_lanes (scheme, e, j->channel0 + c, sum_at (j, r, c));
        int32_t codes[4];
        char *out = j->out + r * j->out_stride + c;
        size_t n = j->channels - c < 4 ? j->channels - c : 4;

        vst1q_s32 (codes, vaddq_s32 (vminq_s32 (vmaxq_s32 (x, low), high), zp));
        for (size_t i = 0; i < n; i++)
          out[i] = (char) codes[i];
      }
}

INLINE void
store_words (const Job *j, bool as_float)
{
  const LptEpilogue *e = j->e;

  for (size_t r = 0; r < j->rows; r++)
    for (size_t c = 0; c < j->channels; c += 4)
      {
        int32x4_t x = sum_at (j, r, c);
        size_t n = j->channels - c < 4 ? j->channels - c : 4;

        if (as_float)
          {
            float32x4_t f = vmulq_f32 (vcvtq_f32_s32 (x), vld1q_f32 (e->scale + j->channel0 + c));

            if (e->fbias)
              f = vaddq_f32 (f, vld1q_f32 (e->fbias + j->channel0 + c));
            f = vbslq_f32 (vcltq_f32 (f, vdupq_n_f32 (e->flo)), vdupq_n_f32 (e->flo), f);
            f = vbslq_f32 (vcgtq_f32 (f, vdupq_n_f32 (e->fhi)), vdupq_n_f32 (e->fhi), f);
            x = vreinterpretq_s32_f32 (f);
          }
        memcpy (j->out + r * j->out_stride + c * 4, &x, n * 4);
      }
}

void
lpt_epilogue__neon (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0, const int32_t *acc,
                    size_t acc_stride, const int32_t *row_sum, void *out, size_t out_stride, const uint8_t *residual,
                    size_t residual_stride)
{
  static const LptEpilogueKernel bytes = { .add = lpt_eltwise_add__neon, .table = lpt_eltwise_table__neon };
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
