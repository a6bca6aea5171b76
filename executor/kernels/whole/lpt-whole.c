/* executor/kernels/whole/lpt-whole.c - the table of kernels of plain integers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/whole/whole.h"

static const LptWholeKernel kernels[] = {
#define LPT_WHOLE_KERNEL(set, isa) \
  { "whole__" #isa, LPT_CPU_##set, lpt_whole_binary__##isa, lpt_whole_compare__##isa, lpt_whole_binary_words__##isa, \
    lpt_whole_select_words__##isa, lpt_whole_divide_words__##isa, lpt_whole_negative__##isa, \
    lpt_whole_magnitude__##isa, lpt_whole_narrow__##isa, lpt_whole_widen__##isa, lpt_whole_cut__##isa, lpt_whole_cut_near__##isa },
#include "executor/kernels/whole/whole.def"
#undef LPT_WHOLE_KERNEL
};

const LptWholeKernel *
lpt_whole_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptWholeKernel *
lpt_whole_kernel (LptCpu cpu)
{
  const LptWholeKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
