/* executor/kernels/winograd/lpt-winograd.c - the table of Winograd's transforms, that of weights
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/winograd/winograd.h"

static const LptWinogradKernel kernels[] = {
#define LPT_WINOGRAD_KERNEL(set, isa) \
  { "winograd__" #isa, LPT_CPU_##set, lpt_winograd_in__##isa, lpt_winograd_out__##isa },
#include "executor/kernels/winograd/winograd.def"
#undef LPT_WINOGRAD_KERNEL
};

const LptWinogradKernel *
lpt_winograd_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptWinogradKernel *
lpt_winograd_kernel (LptCpu cpu)
{
  const LptWinogradKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

/* G of three numbers. */
static void
points (double a, double b, double c, double to[LPT_WINOGRAD_SIDE])
{
  to[0] = a;
  to[1] = 0.5 * (a + b + c);
  to[2] = 0.5 * (a - b + c);
  to[3] = c;
}

void
lpt_winograd_weights (const float *taps, float *to, size_t step)
{
  double lines[LPT_WINOGRAD_TAPS][LPT_WINOGRAD_SIDE];

  for (size_t i = 0; i < LPT_WINOGRAD_TAPS; i++, taps += LPT_WINOGRAD_TAPS)
    points (taps[0], taps[1], taps[2], lines[i]);
  for (size_t j = 0; j < LPT_WINOGRAD_SIDE; j++)
    {
      double column[LPT_WINOGRAD_SIDE];

      points (lines[0][j], lines[1][j], lines[2][j], column);
      for (size_t i = 0; i < LPT_WINOGRAD_SIDE; i++)
        to[(i * LPT_WINOGRAD_SIDE + j) * step] = (float) column[i];
    }
}
