/* executor/kernels/gemm/avxvnni.c - micro kernel on the VEX form of vpdpbusd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/gemm/gemm.h"

#include <immintrin.h>

#define DPBUSD(sum, bytes, weights) _mm256_dpbusd_avx_epi32 (sum, bytes, weights)
#include "executor/kernels/gemm/vnni256.h"
#include "executor/kernels/gemm/helpers.h"
#include "executor/kernels/gemm/pack256.h"

void
lpt_gemm_u8s8s32_6x16c4__avxvnni (const LptGemmTile *t, int32_t *acc)
{
  tile_6x16 (t, acc);
}

void
lpt_gemm_interleave__avxvnni (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out)
{
  interleave_128 (n, a, b, c, out);
}

void
lpt_gemm_row_sums__avxvnni (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride, int32_t *sums)
{
  row_sums_256 (rows, taps, k, a, a_stride, sums);
}

void
lpt_gemm_pack__avxvnni (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum)
{
  if (!pack_256 (false, w, n0, n1, nr, panel, col_sum))
    lpt_gemm_pack_panel_k4 (w, n0, n1, nr, panel, col_sum);
}
