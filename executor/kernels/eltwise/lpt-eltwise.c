/* executor/kernels/eltwise/lpt-eltwise.c - table of kernels, and maps of one byte to another
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/eltwise/eltwise.h"

static const LptEltwiseKernel kernels[] = {
#define LPT_ELTWISE_KERNEL(set, isa, table_isa)                                                                         \
  { "eltwise__" #table_isa, LPT_CPU_##set, lpt_eltwise_add__##isa, lpt_eltwise_mul__##isa, lpt_eltwise_table__##table_isa, \
    lpt_eltwise_quantize__##isa, lpt_eltwise_dequantize__##isa, lpt_eltwise_affine__##isa, \
    lpt_eltwise_shares__##isa, lpt_eltwise_ends__##isa },
#include "executor/kernels/eltwise/eltwise.def"
#undef LPT_ELTWISE_KERNEL
};

const LptEltwiseKernel *
lpt_eltwise_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptEltwiseKernel *
lpt_eltwise_kernel (LptCpu cpu)
{
  const LptEltwiseKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

void
lpt_table_requantize (LptRequantScheme scheme, uint8_t flip, int32_t zin, int32_t mult, int shift, float scale,
                      int32_t zp, int32_t lo, int32_t hi, uint8_t *table)
{
  for (int32_t q = 0; q < 256; q++)
    table[q] = (uint8_t) lpt_requant_code (scheme, (q ^ flip) - zin, mult, shift, scale, zp, lo, hi);
}

void
lpt_flip_signs (size_t n, const uint8_t *in, uint8_t *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = in[i] ^ 0x80;
}
