/* executor/kernels/svdf/svdf.h - the step of an SVDF on integers, behind its product with the input
 *
 *   newest of filter f's memory = sums[f] rescaled, within 16 bits
 *   y[u] = clamp (rescaled (sat32 (bias[u] + sum over the unit's memories of memory times weight)) + zero, 0, 255)
 *
 * A unit's `rank` filters lie behind each other, the newest of each memory is the last of it. Where sums could leave
 * 32 bits weights are 256 high + low, parts of 8 bits: 256 such products add up to 2^30 at most, and what they add up
 * to is summed in 64 bits. Integers throughout: every row of the table gives the bytes of the scalar one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

#include "executor/kernels/lpt-rescale.h"

/* Products of parts that are summed in 32 bits. */
#define LPT_SVDF_PART 256

typedef struct {
  size_t         filters, rank, memory;
  LptRescale newest, result;
  const int16_t *low, *high;   /* weights of the memories, [filters, memory]; high is not read of units that are */
  const uint8_t *narrow;       /* small enough for 32 bits; of units */
  const int64_t *bias;         /* of units */
  int32_t        zero;         /* of y */
} LptSvdf;

typedef struct {
  const char *name;
  LptCpu      needs;
  /* sums: of the filters, overwritten. next: the memories, all but the newest of each filter set. */
  void      (*step) (const LptSvdf *p, int32_t *sums, int16_t *next, uint8_t *y);
} LptSvdfKernel;

#define LPT_SVDF_KERNEL(needs, isa) \
  void lpt_svdf_step__##isa (const LptSvdf *p, int32_t *sums, int16_t *next, uint8_t *y);
#include "executor/kernels/svdf/svdf.def"
#undef LPT_SVDF_KERNEL

const LptSvdfKernel *lpt_svdf_kernels (size_t *n);
const LptSvdfKernel *lpt_svdf_kernel  (LptCpu cpu);
const LptSvdfKernel *lpt_svdf_scalar  (void);
