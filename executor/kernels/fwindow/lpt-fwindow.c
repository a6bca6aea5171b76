/* executor/kernels/fwindow/lpt-fwindow.c - the table of float windows
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/fwindow/fwindow.h"

static const LptFwindowKernel kernels[] = {
#define LPT_FWINDOW_KERNEL(set, isa, lanes)                                                                   \
  { "fwindow__" #isa, LPT_CPU_##set, lpt_fwindow_dwconv__##isa, lpt_fwindow_max__##isa,                       \
    lpt_fwindow_mean__##isa, lpt_fwindow_planes__##isa, lpt_fwindow_channels__##isa, \
    lanes },
#include "executor/kernels/fwindow/fwindow.def"
#undef LPT_FWINDOW_KERNEL
};

const LptFwindowKernel *
lpt_fwindow_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptFwindowKernel *
lpt_fwindow_kernel (LptCpu cpu)
{
  const LptFwindowKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
