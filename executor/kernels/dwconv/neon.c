/* executor/kernels/dwconv/neon.c - depthwise convolution on smlal, sixteen channels at a time
 *
 * Packed weights hold four rows for each channel; ld4 takes them apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arm_neon.h>

#include "executor/kernels/dwconv/lanes.h"

#include <string.h>

#define PIXELS 8

static inline uint8x16_t
load_row (const LptDwconvLanes *l, const uint8_t *x)
{
  uint8_t few[16] = { 0 };

  if (l->mode == LPT_LANES_WHOLE)
    return vld1q_u8 (x + l->first);
  if (l->mode == LPT_LANES_ORDERED)
    return vqtbl1q_u8 (vld1q_u8 (x + l->first), vld1q_u8 (l->order));
  memcpy (few, x + l->first, l->count);
  return vqtbl1q_u8 (vld1q_u8 (few), vld1q_u8 (l->order));
}

static inline void
block (const LptDwconvRun *r, const LptDwconvLanes *lanes)
{
  size_t groups = (r->kh + 3) / 4, element = r->epilogue->store == LPT_STORE_Q8 ? 1 : 4;
  const int8_t *weights = (const int8_t *) r->packed + lanes->c * r->kw * groups * 4;
  int32_t acc[PIXELS * 16];

  for (size_t i = 0; i < r->pixels; i += PIXELS)
    {
      size_t pixels = r->pixels - i < PIXELS ? r->pixels - i : PIXELS;

      for (size_t p = 0; p < pixels; p++)
        {
          int32x4_t s0 = vdupq_n_s32 (0), s1 = s0, s2 = s0, s3 = s0;
          const int8_t *w = weights;

          for (size_t kx = 0; kx < r->kw; kx++)
            for (size_t g = 0; g < groups; g++, w += 64)
              {
                const uint8_t *const *col = r->cols + ((i + p) * r->stride_w + kx * r->dilation_w) * r->kh + 4 * g;
                size_t rows = r->kh - 4 * g < 4 ? r->kh - 4 * g : 4;
                int8x16x4_t taps = vld4q_s8 (w);

                for (size_t ky = 0; ky < rows; ky++)
                  {
                    uint8x16_t x = load_row (lanes, col[ky]);
                    int8x16_t v = taps.val[ky];
                    int16x8_t x0 = vreinterpretq_s16_u16 (vmovl_u8 (vget_low_u8 (x)));
                    int16x8_t x1 = vreinterpretq_s16_u16 (vmovl_u8 (vget_high_u8 (x)));
                    int16x8_t v0 = vmovl_s8 (vget_low_s8 (v)), v1 = vmovl_s8 (vget_high_s8 (v));

                    s0 = vmlal_s16 (s0, vget_low_s16 (x0), vget_low_s16 (v0));
                    s1 = vmlal_s16 (s1, vget_high_s16 (x0), vget_high_s16 (v0));
                    s2 = vmlal_s16 (s2, vget_low_s16 (x1), vget_low_s16 (v1));
                    s3 = vmlal_s16 (s3, vget_high_s16 (x1), vget_high_s16 (v1));
                  }
              }
          vst1q_s32 (acc + p * 16, s0);
          vst1q_s32 (acc + p * 16 + 4, s1);
          vst1q_s32 (acc + p * 16 + 8, s2);
          vst1q_s32 (acc + p * 16 + 12, s3);
        }
      r->epilogue_kernel->run (r->epilogue, pixels, lanes->n, lanes->c, acc, 16, NULL,
                               (char *) r->out + i * r->ldo + (lanes->c - r->c0) * element, r->ldo,
                               r->residual ? r->residual + i * r->ldr + (lanes->c - r->c0) : NULL, r->ldr);
    }
}

void
lpt_dwconv__neon (const LptDwconvRun *r)
{
  for (size_t c = r->c0; c < r->c1; c += 16)
    {
      const LptDwconvLanes lanes = lpt_dwconv_lanes (r, c);

      for (size_t y = 0; y < r->rows; y++)
        {
          const LptDwconvRun row = lpt_dwconv_row (r, y);

          block (&row, &lanes);
        }
    }
}
