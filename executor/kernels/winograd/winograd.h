/* executor/kernels/winograd/winograd.h - float32 convolutions of 3x3 taps by Winograd's F(2x2, 3x3), channels last
 *
 *   Y = At ((G g Gt) . (Bt d B)) A     d 4x4 inputs, g 3x3 taps, Y 2x2 outputs, . by element, summed over channels
 *
 *        | 1  0 -1  0 |        |  1    0    0  |
 *   Bt = | 0  1  1  0 |    G = | 1/2  1/2  1/2 |    At = | 1  1  1  0 |
 *        | 0 -1  1  0 |        | 1/2 -1/2  1/2 |         | 0  1 -1 -1 |
 *        | 0  1  0 -1 |        |  0    0    1  |
 *
 * Sixteen products for four outputs, where windows have thirty-six. Their sums over the channels are 16 products of
 * matrices, one for each point of the 4x4 (fgemm.h): v[point] of [tile][channel] times the weights of that point. Each
 * addition of the transforms is rounded separately, by columns and then by rows, so every row of the table gives the
 * same bits. They are not those of the chain over the taps, which is nine times as long: its distance from the exact
 * sum is about twice as large. An input reaches only the outputs whose windows have it; an infinite one makes them NaN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/fgemm/fgemm.h"

#define LPT_WINOGRAD_TAPS   3
#define LPT_WINOGRAD_SIDE   4
#define LPT_WINOGRAD_OUT    2
#define LPT_WINOGRAD_POINTS (LPT_WINOGRAD_SIDE * LPT_WINOGRAD_SIDE)
/* Of a pixel that is none. */
#define LPT_WINOGRAD_NONE   SIZE_MAX

/* n tiles; strides in elements. */
typedef struct {
  size_t              n, channels;
  const float *const *x;             /* [tile][16]: the channels of its pixels, line by line */
  float              *v;             /* [point][tile][channel] */
  size_t              ldv, point;    /* from tile to tile, from point to point */
} LptWinogradIn;

typedef struct {
  size_t        n, columns;
  const float  *m;                   /* [point][tile][column] */
  size_t        ldm, point;
  const size_t *pixels;              /* [tile][4]: rows of y, and of the residual, line by line, or LPT_WINOGRAD_NONE */
  LptFgemmEnd   end;
  float        *y;
  size_t        ldy;
} LptWinogradOut;

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*in)  (const LptWinogradIn *in);
  void      (*out) (const LptWinogradOut *out);
} LptWinogradKernel;

#define LPT_WINOGRAD_KERNEL(needs, isa)                   \
  void lpt_winograd_in__##isa (const LptWinogradIn *in); \
  void lpt_winograd_out__##isa (const LptWinogradOut *out);
#include "executor/kernels/winograd/winograd.def"
#undef LPT_WINOGRAD_KERNEL

const LptWinogradKernel *lpt_winograd_kernels (size_t *n);
const LptWinogradKernel *lpt_winograd_kernel  (LptCpu cpu);

/* The 16 points of 3x3 taps, computed in double; element i of to at to[i * step]. */
void lpt_winograd_weights (const float *taps, float *to, size_t step);
