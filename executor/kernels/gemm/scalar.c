/* executor/kernels/gemm/scalar.c - the micro kernel in plain C: the specification of gemm.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/gemm/gemm.h"

void
lpt_gemm_u8s8s32_4x16c4__scalar (const LptGemmTile *t, int32_t *acc)
{
  const int8_t *w = t->panel;
  size_t k4 = (t->k + 3) / 4;

  for (size_t i = 0; i < t->mr; i++)
    for (size_t j = 0; j < t->nr; j++)
      {
        uint32_t sum = 0;

        for (size_t tap = 0; tap < t->taps; tap++)
          for (size_t p = 0; p < t->k; p++)
            {
              int32_t x = t->a[tap * t->a_stride + i][p];

              sum += (uint32_t) (x * w[((tap * k4 + p / 4) * t->nr + j) * 4 + p % 4]);
            }
        acc[i * LPT_GEMM_NR_MAX + j] = (int32_t) sum;
      }
}

void
lpt_gemm_row_sums__scalar (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride, int32_t *sums)
{
  for (size_t i = 0; i < rows; i++)
    {
      uint32_t sum = 0;

      for (size_t tap = 0; tap < taps; tap++)
        for (size_t p = 0; p < k; p++)
          sum += a[tap * a_stride + i][p];
      sums[i] = (int32_t) sum;
    }
}

void
lpt_gemm_interleave__scalar (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out)
{
  for (size_t x = 0; x < n; x++, out += 3)
    {
      out[0] = a[x];
      out[1] = b[x];
      out[2] = c[x];
    }
}

void
lpt_gemm_pack__scalar (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum)
{
  lpt_gemm_pack_panel_k4 (w, n0, n1, nr, panel, col_sum);
}
