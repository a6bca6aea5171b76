/* executor/kernels/dynamic/dynamic.h - the intervals of data whose quantization is found at run time
 *
 * Smallest and largest elements do not depend on the order in which they are found: all rows give the same numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

typedef struct {
  const char *name;
  LptCpu      needs;
  /* range[0] = min (0, x), range[1] = max (0, x); a NaN counts as 0. */
  void      (*range) (size_t n, const float *x, float range[2]);
} LptDynamicKernel;

#define LPT_DYNAMIC_KERNEL(needs, isa) \
  void lpt_dynamic_range__##isa (size_t n, const float *x, float range[2]);
#include "executor/kernels/dynamic/dynamic.def"
#undef LPT_DYNAMIC_KERNEL

const LptDynamicKernel *lpt_dynamic_kernels (size_t *n);
const LptDynamicKernel *lpt_dynamic_kernel  (LptCpu cpu);
