/* executor/kernels/gemm/neon.c - micro kernel on smlal, four rows by sixteen columns
 *
 * Both operands are widened to 16 bits; weights are packed k by k.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arm_neon.h>

#include "executor/kernels/gemm/tails.h"

#define ROWS(X) X (0) X (1) X (2) X (3)

static inline __attribute__ ((always_inline)) void
tile (size_t mr, const LptGemmTile *t, int32_t *acc)
{
  const int32x4_t zero = vdupq_n_s32 (0);
  const int8_t *b = t->panel;
  const uint8_t *const *a = t->a;
  size_t whole = t->k & ~(size_t) 3, rest = t->k & 3;

#define DECLARE(i) int32x4_t c##i##_0 = zero, c##i##_1 = zero, c##i##_2 = zero, c##i##_3 = zero;
#define POINTER(i) const uint8_t *a##i = rows[i < mr ? i : 0];
/* Four bytes as 16-bit lanes. */
#define LOAD(i)                                                                                              \
  int16x4_t x##i = vget_low_s16 (vreinterpretq_s16_u16 (vmovl_u8 (vreinterpret_u8_s32 (vdup_n_s32 (four_bytes (a##i + p))))));
#define ADD(i, lane)                                                                                         \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      c##i##_0 = vmlal_lane_s16 (c##i##_0, vget_low_s16 (w0), x##i, lane);                                   \
      c##i##_1 = vmlal_lane_s16 (c##i##_1, vget_high_s16 (w0), x##i, lane);                                  \
      c##i##_2 = vmlal_lane_s16 (c##i##_2, vget_low_s16 (w1), x##i, lane);                                   \
      c##i##_3 = vmlal_lane_s16 (c##i##_3, vget_high_s16 (w1), x##i, lane);                                  \
    }
#define STEP(lane)                                                                                           \
  {                                                                                                          \
    int8x16_t w = vld1q_s8 (b + 16 * lane);                                                                  \
    int16x8_t w0 = vmovl_s8 (vget_low_s8 (w)), w1 = vmovl_s8 (vget_high_s8 (w));                             \
                                                                                                             \
    ADD (0, lane) ADD (1, lane) ADD (2, lane) ADD (3, lane)                                                  \
  }
#define STORE(i)                                                                                             \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      vst1q_s32 (acc + i * LPT_GEMM_NR_MAX, c##i##_0);                                                       \
      vst1q_s32 (acc + i * LPT_GEMM_NR_MAX + 4, c##i##_1);                                                   \
      vst1q_s32 (acc + i * LPT_GEMM_NR_MAX + 8, c##i##_2);                                                   \
      vst1q_s32 (acc + i * LPT_GEMM_NR_MAX + 12, c##i##_3);                                                  \
    }
  ROWS (DECLARE)

  for (size_t part = 0, parts = rest ? 2 * t->taps : t->taps; part < parts; part++)
    {
      const uint8_t *const *rows = a;
      const uint8_t *tail_rows[4];
      int32_t tails[4];
      size_t length = whole;

      if (rest && (part & 1))
        {
          copy_tails (a, mr, whole, rest, tails, tail_rows);
          rows = tail_rows;
          length = 4;
        }
      if (t->zeros && a[0] == t->zeros && is_zero_tap (a, mr, t->zeros))
        {
          b += length * 16;
          length = 0;
        }
      if (!rest || (part & 1))
        a += t->a_stride;

      ROWS (POINTER)

      for (size_t p = 0; p < length; p += 4, b += 64)
        {
          ROWS (LOAD)
          STEP (0)
          STEP (1)
          STEP (2)
          STEP (3)
        }
    }
  ROWS (STORE)
}

void
lpt_gemm_u8s8s32_4x16c1__neon (const LptGemmTile *t, int32_t *acc)
{
  switch (t->mr)
    {
    case 1: tile (1, t, acc); break;
    case 2: tile (2, t, acc); break;
    case 3: tile (3, t, acc); break;
    default: tile (4, t, acc); break;
    }
}
