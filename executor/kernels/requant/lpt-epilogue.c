/* executor/kernels/requant/lpt-epilogue.c - the table of output stages
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/requant.h"

static const LptEpilogueKernel kernels[] = {
#define LPT_EPILOGUE_KERNEL(set, isa) { "epilogue__" #isa, LPT_CPU_##set, lpt_epilogue__##isa },
#include "executor/kernels/requant/requant.def"
#undef LPT_EPILOGUE_KERNEL
};

const LptEpilogueKernel *
lpt_epilogue_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptEpilogueKernel *
lpt_epilogue_kernel (LptCpu cpu)
{
  const LptEpilogueKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

void
lpt_epilogue_prepare (LptEpilogue *e, size_t channels)
{
  e->fast = true;
  if (e->store != LPT_STORE_Q8 || e->scheme == LPT_REQUANT_FLOAT)
    return;
  for (size_t c = 0; c < channels; c++)
    {
      /* The product needs no saturation below 2^31, and the vector shifts take 0 to 31 (32 to 62 for single). */
      bool ok = e->scheme == LPT_REQUANT_SINGLE ? e->shift[c] <= -1 && e->shift[c] >= -31
                                                : e->shift[c] <= 0 && e->shift[c] >= -31;

      e->fast = e->fast && ok && e->mult[c] != INT32_MIN;
    }
}
