/* executor/kernels/lpt-kernels.c - the best row of every family
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-kernels.h"

LptKernels
lpt_kernels_for (LptCpu cpu)
{
  return (LptKernels) {
    .cpu = cpu,
    .epilogue = lpt_epilogue_kernel (cpu),
    .gemm = lpt_gemm_kernel (cpu),
    .dwconv = lpt_dwconv_kernel (cpu),
    .pool = lpt_pool_kernel (cpu),
    .eltwise = lpt_eltwise_kernel (cpu),
    .transpose = lpt_transpose_kernel (cpu),
    .floats = lpt_float_kernel (cpu),
    .fgemm = lpt_fgemm_kernel (cpu),
    .winograd = lpt_winograd_kernel (cpu),
    .dynamic = lpt_dynamic_kernel (cpu),
    .fwindow = lpt_fwindow_kernel (cpu),
    .split16 = lpt_split16_kernel (cpu),
    .svdf = lpt_svdf_kernel (cpu),
    .lstm = lpt_lstm_kernel (cpu),
    .linear = lpt_linear_kernel (cpu),
    .fourier = lpt_fourier_kernel (cpu),
    .resize = lpt_resize_kernel (cpu),
    .wide16 = lpt_wide16_kernel (cpu),
    .codes16 = lpt_codes16_kernel (cpu),
    .whole = lpt_whole_kernel (cpu),
  };
}
