/* executor/kernels/linear/lpt-linear.c - the table of linear attention
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/linear/linear.h"

static const LptLinearKernel kernels[] = {
#define LPT_LINEAR_KERNEL(set, isa) { "linear__" #isa, LPT_CPU_##set, lpt_linear_run__##isa },
#include "executor/kernels/linear/linear.def"
#undef LPT_LINEAR_KERNEL
};

const LptLinearKernel *
lpt_linear_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptLinearKernel *
lpt_linear_kernel (LptCpu cpu)
{
  const LptLinearKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

const LptLinearKernel *
lpt_linear_scalar (void)
{
  return &kernels[sizeof kernels / sizeof kernels[0] - 1];
}
