/* executor/kernels/wide16/wide16.h - products of 16-bit data and 8-bit weights, summed in 64 bits
 *
 *   sums[c][p] += sum over k of w[c][k] x[k][p]
 *
 * Positions p lie side by side, LPT_WIDE16_PITCH of them in a line of x and of the sums; those from n on may be
 * anything. Sums of LPT_WIDE16_TAPS products fit 32 bits. Integers throughout: every row of the table gives the bytes
 * of the scalar one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

#define LPT_WIDE16_PITCH 64
#define LPT_WIDE16_TAPS 256

typedef struct {
  const char *name;
  LptCpu      needs;
  /* taps <= LPT_WIDE16_TAPS, n <= LPT_WIDE16_PITCH; ldw: from channel to channel. x and sums: aligned to 64 bytes. */
  void      (*sums) (size_t channels, size_t taps, size_t n, const int8_t *w, size_t ldw, const int16_t *x,
                     int64_t *sums);
} LptWide16Kernel;

#define LPT_WIDE16_KERNEL(needs, isa) \
  void lpt_wide16_sums__##isa (size_t channels, size_t taps, size_t n, const int8_t *w, size_t ldw, \
                               const int16_t *x, int64_t *sums);
#include "executor/kernels/wide16/wide16.def"
#undef LPT_WIDE16_KERNEL

const LptWide16Kernel *lpt_wide16_kernels (size_t *n);
const LptWide16Kernel *lpt_wide16_kernel  (LptCpu cpu);
