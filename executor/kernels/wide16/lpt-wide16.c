/* executor/kernels/wide16/lpt-wide16.c - the table of products of 16-bit data
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/wide16/wide16.h"

static const LptWide16Kernel kernels[] = {
#define LPT_WIDE16_KERNEL(set, isa) { "wide16__" #isa, LPT_CPU_##set, lpt_wide16_sums__##isa },
#include "executor/kernels/wide16/wide16.def"
#undef LPT_WIDE16_KERNEL
};

const LptWide16Kernel *
lpt_wide16_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptWide16Kernel *
lpt_wide16_kernel (LptCpu cpu)
{
  const LptWide16Kernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
