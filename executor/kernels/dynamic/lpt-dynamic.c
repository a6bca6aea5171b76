/* executor/kernels/dynamic/lpt-dynamic.c - the table of interval kernels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dynamic/dynamic.h"

static const LptDynamicKernel kernels[] = {
#define LPT_DYNAMIC_KERNEL(set, isa)                                                                         \
  { "dynamic__" #isa, LPT_CPU_##set, lpt_dynamic_range__##isa, lpt_dynamic_codes__##isa,                       \
    lpt_dynamic_words__##isa, lpt_dynamic_steps__##isa, lpt_dynamic_ranges__##isa, lpt_dynamic_lift__##isa,    \
    lpt_dynamic_rest__##isa, lpt_dynamic_round__##isa, lpt_dynamic_encode__##isa, lpt_dynamic_combine__##isa,  \
    lpt_dynamic_finish__##isa, lpt_dynamic_nibble_row__##isa, lpt_dynamic_nibbles__##isa },
#include "executor/kernels/dynamic/dynamic.def"
#undef LPT_DYNAMIC_KERNEL
};

const LptDynamicKernel *
lpt_dynamic_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptDynamicKernel *
lpt_dynamic_kernel (LptCpu cpu)
{
  const LptDynamicKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}
