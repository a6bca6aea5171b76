/* executor/kernels/gemm/neondot.c - micro kernel on sdot, six rows by sixteen columns
 *
 * sdot multiplies signed bytes: activations u become u - 128 by an xor, and the panel's prefix, 128 * column sum, is
 * where the accumulators begin. Zero taps are therefore not passed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arm_neon.h>

#include "executor/kernels/gemm/tails.h"

#define ROWS(X) X (0) X (1) X (2) X (3) X (4) X (5)

static inline __attribute__ ((always_inline)) void
tile (size_t mr, const LptGemmTile *t, int32_t *acc)
{
  const uint8x16_t flip = vdupq_n_u8 (0x80);
  const int32_t *first = t->panel;
  const int8_t *b = (const int8_t *) (first + 16);
  const uint8_t *const *a = t->a;
  size_t whole = t->k & ~(size_t) 3, rest = t->k & 3;

#define DECLARE(i)                                                                                           \
  int32x4_t c##i##_0 = vld1q_s32 (first), c##i##_1 = vld1q_s32 (first + 4), c##i##_2 = vld1q_s32 (first + 8), \
            c##i##_3 = vld1q_s32 (first + 12);
#define POINTER(i) const uint8_t *a##i = rows[i < mr ? i : 0];
#define STEP(i)                                                                                              \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      int8x16_t x = vreinterpretq_s8_u8 (veorq_u8 (vreinterpretq_u8_s32 (vdupq_n_s32 (four_bytes (a##i + p))), flip)); \
                                                                                                             \
      c##i##_0 = vdotq_s32 (c##i##_0, b0, x);                                                                \
      c##i##_1 = vdotq_s32 (c##i##_1, b1, x);                                                                \
      c##i##_2 = vdotq_s32 (c##i##_2, b2, x);                                                                \
      c##i##_3 = vdotq_s32 (c##i##_3, b3, x);                                                                \
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
      const uint8_t *tail_rows[6];
      int32_t tails[6];
      size_t length = whole;

      if (rest && (part & 1))
        {
          copy_tails (a, mr, whole, rest, tails, tail_rows);
          rows = tail_rows;
          length = 4;
        }
      if (!rest || (part & 1))
        a += t->a_stride;

      ROWS (POINTER)

      for (size_t p = 0; p < length; p += 4, b += 64)
        {
          int8x16_t b0 = vld1q_s8 (b), b1 = vld1q_s8 (b + 16), b2 = vld1q_s8 (b + 32), b3 = vld1q_s8 (b + 48);

          ROWS (STEP)
        }
    }
  ROWS (STORE)
}

void
lpt_gemm_u8s8s32_6x16c4__neondot (const LptGemmTile *t, int32_t *acc)
{
  switch (t->mr)
    {
    case 1: tile (1, t, acc); break;
    case 2: tile (2, t, acc); break;
    case 3: tile (3, t, acc); break;
    case 4: tile (4, t, acc); break;
    case 5: tile (5, t, acc); break;
    default: tile (6, t, acc); break;
    }
}
