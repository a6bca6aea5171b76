/* executor/kernels/fwindow/fwindow.h - depthwise convolution, max and average of float32 windows, channels last
 *
 *   dwconv  y[p][c] = end (sum over taps t of x[t][p][c] * w[t][c]), a chain of fused multiply-adds from +0 in the
 *   order of the taps
 *   planes  y[p][o] = end (sum over rows, for each of them over taps t, of x[row][p + at[t]] * w[row][t][o]), a
 *           chain of fused multiply-adds as well
 *   channels  the same of x[row][p * stride + at[t]], for many o
 *   max     the first tap, then each that is larger; -FLT_MAX without taps
 *   mean    (sum over taps in their order, in double) / divisor, rounded once; 0 where the divisor is 0
 *
 * Max and mean name only taps inside the image, so pixels of one call have the same ones. A convolution names lines of
 * the image, and passes over taps left and right of them. Every row gives the bits of the scalar row.
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

/* n pixels of a line of the output; strides in elements. */
typedef struct {
  size_t              n, channels;
  size_t              rows, taps;                 /* lines of the input, and taps along each */
  const float *const *x;                          /* [row]: its first column */
  size_t              width, step;                /* columns, and from one to the next */
  ptrdiff_t           first;                      /* the column under the first tap of the first pixel */
  size_t              stride;                     /* columns from pixel to pixel */
  ptrdiff_t           dilation;                   /* and from tap to tap */
  const float *const *w;                          /* [row]: of its first tap */
  size_t              ldw;                        /* from tap to tap */
  float              *y;
  size_t              ldy;
  size_t              fresh;                      /* lines behind these that the next call reads anew, to be fetched
                                                   * ahead; 0: the data lies in a cache */
} LptFwindowLine;

/* Channels of the result that a line of planes is added up for. */
#define LPT_FWINDOW_OUTS 4

/* n pixels of a line of the output, side by side in each line of the input; all of their taps lie inside. */
typedef struct {
  size_t              n, outs;                    /* outs: 1 to LPT_FWINDOW_OUTS */
  size_t              rows, taps;
  const float *const *x;                          /* [row]: the column under the first tap of the first pixel */
  const size_t       *at;                         /* [tap]: columns behind that */
  const float *const *w;                          /* [row]: [tap][outs] */
  float              *y;                          /* [pixel][outs] */
  size_t              ldy;
} LptFwindowPlanes;

/* n pixels of a line of the output, `stride` columns apart in each line of the input; all of their taps lie inside. */
typedef struct {
  size_t              n, outs, stride;
  size_t              rows, taps;
  const float *const *x;                          /* [row]: the column under the first tap of the first pixel */
  const size_t       *at;                         /* [tap]: columns behind that */
  const float *const *w;                          /* [row]: [tap][ldw], whole vectors of channels */
  size_t              ldw;
  float              *y;                          /* [pixel][outs] */
  size_t              ldy;
} LptFwindowChannels;

/* What ldw is a multiple of. */
#define LPT_FWINDOW_LANES 16

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*dwconv) (const LptFwindowLine *line, const LptFgemmEnd *end);
  void      (*max)    (const LptFwindowTile *tile);
  void      (*mean)   (const LptFwindowTile *tile, double divisor);
  void      (*planes) (const LptFwindowPlanes *line, const LptFgemmEnd *end);
  void      (*channels) (const LptFwindowChannels *line, const LptFgemmEnd *end);
  size_t      lanes;        /* channels that a line is gone through for at a time */
} LptFwindowKernel;

#define LPT_FWINDOW_KERNEL(needs, isa, lanes)                                                                 \
  void lpt_fwindow_dwconv__##isa (const LptFwindowLine *line, const LptFgemmEnd *end);                       \
  void lpt_fwindow_max__##isa (const LptFwindowTile *tile);                                                  \
  void lpt_fwindow_mean__##isa (const LptFwindowTile *tile, double divisor);                                 \
  void lpt_fwindow_planes__##isa (const LptFwindowPlanes *line, const LptFgemmEnd *end);                     \
  void lpt_fwindow_channels__##isa (const LptFwindowChannels *line, const LptFgemmEnd *end);
#include "executor/kernels/fwindow/fwindow.def"
#undef LPT_FWINDOW_KERNEL

const LptFwindowKernel *lpt_fwindow_kernels (size_t *n);
const LptFwindowKernel *lpt_fwindow_kernel  (LptCpu cpu);
