/* executor/kernels/resize/lpt-resize.c - the table of resized lines
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/resize/resize.h"

static const LptResizeKernel kernels[] = {
#define LPT_RESIZE_KERNEL(set, isa)                                                                          \
  { "resize__" #isa, LPT_CPU_##set, lpt_resize_mix__##isa, lpt_resize_add__##isa, lpt_resize_columns__##isa, lpt_resize_bilinear__##isa },
#include "executor/kernels/resize/resize.def"
#undef LPT_RESIZE_KERNEL
};

const LptResizeKernel *
lpt_resize_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptResizeKernel *
lpt_resize_kernel (LptCpu cpu)
{
  const LptResizeKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
