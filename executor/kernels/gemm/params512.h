/* executor/kernels/gemm/params512.h - what the fused stages on 512 bits read of one panel
 *
 * lpt_gemm_params__avx512vnni () fills it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/gemm/gemm.h"
#include "executor/kernels/requant/avx512.h"

typedef struct {
  int        stage;
  __m512i    bias[4];
  RequantVec v[4];
  PackLimits limits;
  PairSum    sum;      /* where the residual is fused */
  bool       floats, has_fbias;
  __m512     flo, fhi;
} Params;

_Static_assert (sizeof (Params) <= LPT_GEMM_PARAMS_SIZE, "parameters of a panel");
