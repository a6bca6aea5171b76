/* executor/kernels/fgemm/body.h - a block of rows of one panel in registers, compiled per instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "executor/kernels/fgemm/fgemm.h"
#include "executor/kernels/lpt-isa.h"

#define INLINE static inline __attribute__ ((always_inline))

#if defined (__AVX512F__)
#include <immintrin.h>
#define WIDTH 16
#define ROWS  12
typedef __m512 V;
#define FMA(a, b, c) _mm512_fmadd_ps (_mm512_set1_ps (a), b, c)
#elif defined (__AVX2__)
#include <immintrin.h>
#define WIDTH 8
#define ROWS  6
typedef __m256 V;
#define FMA(a, b, c) _mm256_fmadd_ps (_mm256_set1_ps (a), b, c)
#elif defined (__ARM_NEON)
#include <arm_neon.h>
#define WIDTH 4
#define ROWS  6
typedef float32x4_t V;
#define FMA(a, b, c) vfmaq_n_f32 (c, b, a)
#else
#define WIDTH 1
#define ROWS  1
typedef float V;
#define FMA(a, b, c) fmaf (a, b, c)
#endif
#define PARTS (LPT_FGEMM_PANEL / WIDTH)

/* `rows`, a constant. */
INLINE void
block (size_t rows, size_t n, size_t k, const float *a, size_t a_row, size_t a_step, const float *panel,
       const float *row_bias, const float *column_bias, float *y, size_t ldy)
{
  V acc[ROWS][PARTS];

  memset (acc, 0, sizeof acc);
  for (size_t i = 0; i < k; i++, panel += LPT_FGEMM_PANEL)
    {
      V b[PARTS];

      memcpy (b, panel, sizeof b);
#pragma GCC unroll 16
      for (size_t r = 0; r < rows; r++)
        {
          float x = a[r * a_row + i * a_step];

#pragma GCC unroll 16
          for (size_t q = 0; q < PARTS; q++)
            acc[r][q] = FMA (x, b[q], acc[r][q]);
        }
    }
#pragma GCC unroll 16
  for (size_t r = 0; r < rows; r++)
    {
      float sums[LPT_FGEMM_PANEL];

      memcpy (sums, acc[r], sizeof sums);
      if (row_bias)
        for (size_t j = 0; j < LPT_FGEMM_PANEL; j++)
          sums[j] += row_bias[r];
      if (column_bias)
        for (size_t j = 0; j < n; j++)
          sums[j] += column_bias[j];
      if (n == LPT_FGEMM_PANEL)
        memcpy (y + r * ldy, sums, sizeof sums);
      else
        memcpy (y + r * ldy, sums, n * sizeof *sums);
    }
}

#define BLOCK(rows)                                                                                          \
  block (rows, n, k, a + i * a_row, a_row, a_step, panel, row_bias ? row_bias + i : NULL, column_bias,       \
         y + i * ldy, ldy)

void
LPT_FN (lpt_fgemm) (size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_step, const float *panel,
                    const float *row_bias, const float *column_bias, float *y, size_t ldy)
{
  size_t i = 0;

  for (; i + ROWS <= m; i += ROWS)
    BLOCK (ROWS);
#if ROWS > 4
  for (; i + 4 <= m; i += 4)
    BLOCK (4);
#endif
  for (; i < m; i++)
    BLOCK (1);
}
