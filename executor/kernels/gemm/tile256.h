/* executor/kernels/gemm/tile256.h - micro kernel for panels of sixteen columns in two registers of 256 bits
 *
 * The includer defines TILE_ROWS (X), a list of row numbers; LOAD_WEIGHTS, declarations of the step's weights from `b`
 * (64 bytes a step); and DOT (c, x, j): register c plus the dot products of the four bytes in x with columns 8j to 8j +
 * 7.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/gemm/tails.h"

static inline __attribute__ ((always_inline)) void
tile_256 (size_t mr, const LptGemmTile *t, int32_t *acc)
{
  size_t whole = t->k & ~(size_t) 3, rest = t->k & 3;
  const int8_t *b = t->panel;
  const uint8_t *const *a = t->a;

#define DECLARE_256(i) __m256i c##i##_0 = _mm256_setzero_si256 (), c##i##_1 = _mm256_setzero_si256 ();
#define POINTER_256(i) const uint8_t *a##i = rows[i < mr ? i : 0];
#define STEP_256(i)                                                                                          \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      __m256i x = _mm256_set1_epi32 (four_bytes (a##i + p));                                                 \
                                                                                                             \
      DOTS (c##i##_0, c##i##_1, x)                                                                           \
    }
#define STORE_256(i)                                                                                         \
  if (i < mr)                                                                                                \
    {                                                                                                        \
      _mm256_store_si256 ((__m256i *) (void *) (acc + i * LPT_GEMM_NR_MAX), c##i##_0);                       \
      _mm256_store_si256 ((__m256i *) (void *) (acc + i * LPT_GEMM_NR_MAX + 8), c##i##_1);                   \
    }
  TILE_ROWS (DECLARE_256)

  /* A tap is one part, or two where its k leaves a rest; one inner loop, so that accumulators stay where they are. */
  for (size_t part = 0, parts = rest ? 2 * t->taps : t->taps; part < parts; part++)
    {
      const uint8_t *const *rows = a;
      const uint8_t *tail_rows[8];
      int32_t tails[8];
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

      TILE_ROWS (POINTER_256)

      for (size_t p = 0; p < length; p += 4, b += 64)
        {
          LOAD_WEIGHTS
          TILE_ROWS (STEP_256)
        }
    }
  /* Cuts the accumulators' lives here, for the same reason. */
#define BARRIER_256(i) if (i < mr) __asm__ ("" : "+x" (c##i##_0), "+x" (c##i##_1));
  TILE_ROWS (BARRIER_256)
  TILE_ROWS (STORE_256)
#undef BARRIER_256
#undef DECLARE_256
#undef POINTER_256
#undef STEP_256
#undef STORE_256
}
