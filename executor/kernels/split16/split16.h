/* executor/kernels/split16/split16.h - floats as 16-bit codes in two signed bytes, for products with 8-bit weights
 *
 *   q = rint (x * factor) within [-32639, 32639] = 256 high + low,   factor = 32639 / max |x|,   step = max |x| / 32639
 *   sum q w = 256 sum high w + sum low w
 *
 * So a product of 16-bit codes is one of bytes with twice as many rows. Bytes are in u8 form (128 more); NaN is 0,
 * infinity the largest code. A row whose numbers are all below 1e-30 has factor and step 0. Every row of the table
 * gives the bytes and bits of the scalar one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

#define LPT_SPLIT16_MAX 32639

typedef struct {
  const char *name;
  LptCpu      needs;
  /* Codes of n numbers; returns the step. */
  float     (*split) (size_t n, const float *x, uint8_t *high, uint8_t *low);
  /* out = ((float) high * 256 + (float) low) * (scale * step) + add, each operation rounded. add: NULL or of n; out may
   * be add. */
  void      (*join)  (size_t n, const int32_t *high, const int32_t *low, const float *scale, float step, const float *add, float *out);
} LptSplit16Kernel;

#define LPT_SPLIT16_KERNEL(needs, isa)                                                                       \
  float lpt_split16_split__##isa (size_t n, const float *x, uint8_t *high, uint8_t *low);                    \
  void  lpt_split16_join__##isa (size_t n, const int32_t *high, const int32_t *low, const float *scale, float step, \
                                 const float *add, float *out);
#include "executor/kernels/split16/split16.def"
#undef LPT_SPLIT16_KERNEL

const LptSplit16Kernel *lpt_split16_kernels (size_t *n);
const LptSplit16Kernel *lpt_split16_kernel  (LptCpu cpu);
const LptSplit16Kernel *lpt_split16_scalar  (void);
