/* executor/kernels/lpt-kernels.h - the best row of every family for a set of CPU features
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/codes16/codes16.h"
#include "executor/kernels/dwconv/dwconv.h"
#include "executor/kernels/dynamic/dynamic.h"
#include "executor/kernels/eltwise/eltwise.h"
#include "executor/kernels/fgemm/fgemm.h"
#include "executor/kernels/float/float.h"
#include "executor/kernels/fourier/fourier.h"
#include "executor/kernels/fwindow/fwindow.h"
#include "executor/kernels/gemm/gemm.h"
#include "executor/kernels/igemm/conv.h"
#include "executor/kernels/linear/linear.h"
#include "executor/kernels/lstm/lstm.h"
#include "executor/kernels/pool/pool.h"
#include "executor/kernels/requant/requant.h"
#include "executor/kernels/resize/resize.h"
#include "executor/kernels/split16/split16.h"
#include "executor/kernels/svdf/svdf.h"
#include "executor/kernels/transpose/transpose.h"
#include "executor/kernels/whole/whole.h"
#include "executor/kernels/wide16/wide16.h"
#include "executor/kernels/winograd/winograd.h"

typedef struct {
  LptCpu                    cpu;
  const LptEpilogueKernel  *epilogue;
  const LptGemmKernel      *gemm;        /* products and convolutions */
  const LptDwconvKernel    *dwconv;
  const LptPoolKernel      *pool;
  const LptEltwiseKernel   *eltwise;
  const LptTransposeKernel *transpose;
  const LptFloatKernel     *floats;
  const LptFgemmKernel     *fgemm;       /* float products and convolutions */
  const LptWinogradKernel  *winograd;    /* transforms of float 3x3 convolutions */
  const LptDynamicKernel   *dynamic;     /* intervals found at run time */
  const LptFwindowKernel   *fwindow;     /* float depthwise convolutions and pools */
  const LptResizeKernel    *resize;
  const LptSplit16Kernel   *split16;     /* floats as 16-bit codes for products with 8-bit weights */
  const LptSvdfKernel      *svdf;
  const LptLstmKernel      *lstm;
  const LptLinearKernel    *linear;      /* linear attention */
  const LptFourierKernel   *fourier;
  const LptWide16Kernel    *wide16;      /* products of 16-bit data and 8-bit weights */
  const LptCodes16Kernel   *codes16;     /* steps on 16-bit codes */
  const LptWholeKernel     *whole;       /* plain integers */
} LptKernels;

LptKernels lpt_kernels_for (LptCpu cpu);
