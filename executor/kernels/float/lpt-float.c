/* executor/kernels/float/lpt-float.c - the table of float kernels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/float/float.h"

static const LptFloatKernel kernels[] = {
#define LPT_FLOAT_KERNEL(set, isa)                                                                           \
  { "float__" #isa, LPT_CPU_##set, lpt_float_softmax__##isa, lpt_float_softmax_columns__##isa, \
    lpt_float_reduce_columns__##isa, lpt_float_reduce_lines__##isa, lpt_float_accumulate__##isa, \
    lpt_float_normalize__##isa, lpt_float_places__##isa, \
    lpt_float_shift__##isa, lpt_float_respond__##isa, lpt_float_map__##isa, lpt_float_gelu__##isa, \
    lpt_float_binary__##isa, lpt_float_select__##isa, lpt_float_clamp__##isa, lpt_float_levels__##isa, lpt_float_intervals__##isa, lpt_float_halves__##isa, \
    lpt_float_words__##isa },
#include "executor/kernels/float/float.def"
#undef LPT_FLOAT_KERNEL
};

const LptFloatKernel *
lpt_float_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptFloatKernel *
lpt_float_kernel (LptCpu cpu)
{
  const LptFloatKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

const LptFloatKernel *
lpt_float_scalar (void)
{
  return &kernels[sizeof kernels / sizeof kernels[0] - 1];
}
