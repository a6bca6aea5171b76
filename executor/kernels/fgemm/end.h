/* executor/kernels/fgemm/end.h - what follows the sums, on vectors
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/fgemm/fgemm.h"
#include "executor/kernels/lpt-vector.h"

/* n sums of `row` from `column` on. */
INLINE V
end_lanes (const LptFgemmEnd *end, V sum, size_t row, size_t column, size_t n)
{
  if (end->factor)
    sum = sum * load (end->factor + column, n, 0.0f);
  if (end->bias)
    sum = sum + load (end->bias + column, n, 0.0f);
  if (end->residual)
    sum = sum + load (end->residual + row * end->ldr + column, n, 0.0f);
  if (end->clamps)
    sum = clamp_lanes (sum, end->lo, end->hi);
  return sum;
}
