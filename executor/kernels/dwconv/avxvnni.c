/* executor/kernels/dwconv/avxvnni.c - depthwise convolution on the VEX form of vpdpbusd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>

#define DOT(sum, x, w) _mm256_dpbusd_avx_epi32 (sum, x, w)
#include "executor/kernels/dwconv/block256.h"

void
lpt_dwconv__avxvnni (const LptDwconvRun *r)
{
  run_256 (r);
}
