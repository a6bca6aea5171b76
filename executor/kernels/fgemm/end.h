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

/* The same of `rows` rows from `row` on, a constant, with a vector each: asked once for all of them. */
INLINE void
end_some_rows (const LptFgemmEnd *end, size_t rows, size_t row, size_t column, size_t n, V *sums)
{
#define EACH(r) LPT_TILE_UNROLL for (size_t r = 0; r < rows; r++)
  if (end->factor)
    {
      const V factor = load (end->factor + column, n, 0.0f);

      EACH (r) sums[r] = sums[r] * factor;
    }
  if (end->bias)
    {
      const V bias = load (end->bias + column, n, 0.0f);

      EACH (r) sums[r] = sums[r] + bias;
    }
  if (end->residual)
    EACH (r) sums[r] = sums[r] + load (end->residual + (row + r) * end->ldr + column, n, 0.0f);
  if (end->clamps && !(end->lo > end->hi))
    EACH (r) sums[r] = limit_lanes (sums[r], end->lo, end->hi);
  else if (end->clamps)
    EACH (r) sums[r] = clamp_lanes (sums[r], end->lo, end->hi);
#undef EACH
}

/* Whole vectors are asked for once as well. */
INLINE void
end_rows (const LptFgemmEnd *end, size_t rows, size_t row, size_t column, size_t n, V *sums)
{
  if (n == WIDTH)
    end_some_rows (end, rows, row, column, WIDTH, sums);
  else
    end_some_rows (end, rows, row, column, n, sums);
}

INLINE void
store_rows (float *y, size_t ldy, size_t rows, size_t n, const V *sums)
{
  if (n == WIDTH)
    LPT_TILE_UNROLL
    for (size_t r = 0; r < rows; r++)
      store (y + r * ldy, sums[r], WIDTH);
  else
    LPT_TILE_UNROLL
    for (size_t r = 0; r < rows; r++)
      store (y + r * ldy, sums[r], n);
}
