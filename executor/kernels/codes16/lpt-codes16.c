/* executor/kernels/codes16/lpt-codes16.c - the table of steps on codes of 16 bits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/codes16/codes16.h"

static const LptCodes16Kernel kernels[] = {
#define LPT_CODES16_KERNEL(set, isa)                                                                                   \
  { "codes16__" #isa, LPT_CPU_##set, lpt_codes16_load__##isa, lpt_codes16_store__##isa, lpt_codes16_rescale__##isa,    \
    lpt_codes16_end__##isa, lpt_codes16_sum__##isa, lpt_codes16_multiply__##isa, lpt_codes16_take__##isa,              \
    lpt_codes16_total__##isa, lpt_codes16_windows__##isa, lpt_codes16_average__##isa, lpt_codes16_quantize__##isa,     \
    lpt_codes16_reals__##isa, lpt_codes16_table__##isa, lpt_codes16_blend__##isa, lpt_codes16_between__##isa,          \
    lpt_codes16_softmax__##isa },
#include "executor/kernels/codes16/codes16.def"
#undef LPT_CODES16_KERNEL
};

const LptCodes16Kernel *
lpt_codes16_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptCodes16Kernel *
lpt_codes16_kernel (LptCpu cpu)
{
  const LptCodes16Kernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
