/* executor/kernels/split16/lpt-split16.c - the table of 16-bit codes in bytes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/split16/split16.h"

static const LptSplit16Kernel kernels[] = {
#define LPT_SPLIT16_KERNEL(set, isa) { "split16__" #isa, LPT_CPU_##set, lpt_split16_split__##isa, lpt_split16_join__##isa },
#include "executor/kernels/split16/split16.def"
#undef LPT_SPLIT16_KERNEL
};

#define N_KERNELS (sizeof kernels / sizeof kernels[0])

const LptSplit16Kernel *
lpt_split16_kernels (size_t *n)
{
  if (n)
    *n = N_KERNELS;
  return kernels;
}

const LptSplit16Kernel *
lpt_split16_kernel (LptCpu cpu)
{
  const LptSplit16Kernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

const LptSplit16Kernel *
lpt_split16_scalar (void)
{
  return &kernels[N_KERNELS - 1];
}
