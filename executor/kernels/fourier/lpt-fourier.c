/* executor/kernels/fourier/lpt-fourier.c - the table of Fourier transforms
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/fourier/fourier.h"

static const LptFourierKernel kernels[] = {
#define LPT_FOURIER_KERNEL(set, isa) { "fourier__" #isa, LPT_CPU_##set, lpt_fourier_lines__##isa },
#include "executor/kernels/fourier/fourier.def"
#undef LPT_FOURIER_KERNEL
};

const LptFourierKernel *
lpt_fourier_kernel (LptCpu cpu)
{
  const LptFourierKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
