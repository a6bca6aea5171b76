/* executor/kernels/fgemm/lpt-fgemm.c - the table of float products, packing
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "executor/kernels/fgemm/fgemm.h"

static const LptFgemmKernel kernels[] = {
#define LPT_FGEMM_KERNEL(set, isa, panels)                                                                   \
  { "fgemm__" #isa, LPT_CPU_##set, (panels) * LPT_FGEMM_PANEL, lpt_fgemm__##isa },
#include "executor/kernels/fgemm/fgemm.def"
#undef LPT_FGEMM_KERNEL
};

const LptFgemmKernel *
lpt_fgemm_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptFgemmKernel *
lpt_fgemm_kernel (LptCpu cpu)
{
  const LptFgemmKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

void
lpt_fgemm_pack (size_t k, size_t n, size_t column, const float *b, ptrdiff_t k_stride, ptrdiff_t n_stride, float *panel)
{
  size_t columns = n - column < LPT_FGEMM_PANEL ? n - column : LPT_FGEMM_PANEL;

  b += (ptrdiff_t) column * n_stride;
  if (columns < LPT_FGEMM_PANEL)
    memset (panel, 0, k * LPT_FGEMM_PANEL * sizeof *panel);
  for (size_t i = 0; i < k; i++, b += k_stride, panel += LPT_FGEMM_PANEL)
    if (n_stride == 1 && columns == LPT_FGEMM_PANEL)
      memcpy (panel, b, LPT_FGEMM_PANEL * sizeof *b);
    else
      for (size_t j = 0; j < columns; j++)
        panel[j] = b[(ptrdiff_t) j * n_stride];
}
