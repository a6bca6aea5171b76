/* executor/kernels/svdf/lpt-svdf.c - the table of steps of an SVDF
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/svdf/svdf.h"

static const LptSvdfKernel kernels[] = {
#define LPT_SVDF_KERNEL(set, isa) { "svdf__" #isa, LPT_CPU_##set, lpt_svdf_step__##isa },
#include "executor/kernels/svdf/svdf.def"
#undef LPT_SVDF_KERNEL
};

#define N_KERNELS (sizeof kernels / sizeof kernels[0])

const LptSvdfKernel *
lpt_svdf_kernels (size_t *n)
{
  if (n)
    *n = N_KERNELS;
  return kernels;
}

const LptSvdfKernel *
lpt_svdf_kernel (LptCpu cpu)
{
  const LptSvdfKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

const LptSvdfKernel *
lpt_svdf_scalar (void)
{
  return &kernels[N_KERNELS - 1];
}
