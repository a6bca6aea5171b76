/* executor/kernels/dwconv/scalar.c - depthwise convolution in plain C: the specification
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dwconv/dwconv.h"

void
lpt_dwconv__scalar (const LptDwconvRun *r)
{
  size_t groups = (r->kh + 3) / 4, element = r->epilogue->store == LPT_STORE_Q8 ? 1 : 4;
  int32_t acc[16];

  for (size_t i = 0; i < r->rows * r->pixels; i++)
    for (size_t c = r->c0; c < r->c1; c += 16)
      {
        const int8_t *w = (const int8_t *) r->packed + c * r->kw * groups * 4;
        size_t n = r->c1 - c < 16 ? r->c1 - c : 16;

        for (size_t j = 0; j < n; j++)
          {
            uint32_t sum = 0;

            for (size_t kx = 0; kx < r->kw; kx++)
              for (size_t ky = 0; ky < r->kh; ky++)
                {
                  size_t column = i % r->pixels * r->stride_w + kx * r->dilation_w;
                  const uint8_t *x = r->cols[i / r->pixels * r->cols_step + column * r->kh + ky];

                  sum += (uint32_t) (x[(c + j) / r->multiplier] * w[((kx * groups + ky / 4) * 16 + j) * 4 + ky % 4]);
                }
            acc[j] = (int32_t) sum;
          }
        for (size_t j = n; j < 16; j++)
          acc[j] = 0;
        r->epilogue_kernel->run (r->epilogue, 1, n, c, acc, 16, NULL,
                                 (char *) r->out + i * r->ldo + (c - r->c0) * element, r->ldo,
                                 r->residual ? r->residual + i * r->ldr + (c - r->c0) : NULL, r->ldr);
      }
}
