/* executor/kernels/transpose/scalar.c - transposes in plain C, in squares that fit the first cache
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/transpose/transpose.h"

#define TRANSPOSE(name, type, side)                                                                          \
  void                                                                                                       \
  name (size_t rows, size_t cols, const type *in, size_t ldi, type *out, size_t ldo)                         \
  {                                                                                                          \
    for (size_t r0 = 0; r0 < rows; r0 += side)                                                               \
      for (size_t c0 = 0; c0 < cols; c0 += side)                                                             \
        {                                                                                                    \
          size_t r1 = rows - r0 < side ? rows : r0 + side, c1 = cols - c0 < side ? cols : c0 + side;         \
                                                                                                             \
          for (size_t c = c0; c < c1; c++)                                                                   \
            for (size_t r = r0; r < r1; r++)                                                                 \
              out[c * ldo + r] = in[r * ldi + c];                                                            \
        }                                                                                                    \
  }

TRANSPOSE (lpt_transpose_bytes__scalar, uint8_t, 32)
TRANSPOSE (lpt_transpose_halves__scalar, uint16_t, 32)
TRANSPOSE (lpt_transpose_words__scalar, uint32_t, 16)
