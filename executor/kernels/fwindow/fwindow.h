/* executor/kernels/fwindow/fwindow.h - depthwise convolution, max and average of float32 windows, channels last
 *
 *   dwconv  y[p][c] = end (sum over taps t of x[t][p][c] * w[t][c]), a chain of fused multiply-adds from +0 in the
 *   order of the taps
 *   max     the first tap, then each that is larger; -FLT_MAX without taps
 *   mean    (sum over taps in their order, in double) / divisor, rounded once; 0 where the divisor is 0
 *
 * Only taps inside the image are named, so pixels of one call have the same ones. Every row gives the bits of the
 * scalar row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/fgemm/fgemm.h"

/* n pixels; strides in elements. */
typedef struct {
  size_t              n, step, taps, channels;    /* step: from the inputs of one pixel to the next one's */
  const float *const *x;                          /* [tap]: of the first pixel */
  float              *y;
  size_t              ldy;
} LptFwindowTile;

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*dwconv) (const LptFwindowTile *tile, const float *const *w, const LptFgemmEnd *end);
  void      (*max)    (const LptFwindowTile *tile);
  void      (*mean)   (const LptFwindowTile *tile, double divisor);
} LptFwindowKernel;

#define LPT_FWINDOW_KERNEL(needs, isa)                                                                       \
  void lpt_fwindow_dwconv__##isa (const LptFwindowTile *tile, const float *const *w, const LptFgemmEnd *end); \
  void lpt_fwindow_max__##isa (const LptFwindowTile *tile);                                                  \
  void lpt_fwindow_mean__##isa (const LptFwindowTile *tile, double divisor);
#include "executor/kernels/fwindow/fwindow.def"
#undef LPT_FWINDOW_KERNEL

const LptFwindowKernel *lpt_fwindow_kernels (size_t *n);
const LptFwindowKernel *lpt_fwindow_kernel  (LptCpu cpu);
