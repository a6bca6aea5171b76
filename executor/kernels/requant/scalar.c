/* executor/kernels/requant/scalar.c - body.h as the scalar row
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/requant/body.h"

void
lpt_epilogue__scalar (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0, const int32_t *acc,
                      size_t acc_stride, const int32_t *row_sum, void *out, size_t out_stride,
                      const uint8_t *residual, size_t residual_stride)
{
  epilogue_plain (e, rows, channels, channel0, acc, acc_stride, row_sum, out, out_stride, residual, residual_stride);
}
