/* executor/kernels/dwconv/dwconv.h - depthwise convolution, channels last, epilogue fused
 *
 *   out[y][x][c*mult + j] = stage (sum over ky, kx of in[y*sh - pt + ky*dh][x*sw - pl + kx*dw][c] * w[ky][kx][c*mult +
 *   j])
 *
 * and with planes in front: their rows are more rows of a column, and so are neighbouring pixels where a kernel has one
 * or two rows.
 * Weights are s8 with zero point 0. Packed once, the same for every instruction set:
 * [16 channels][kx][ky / 4][channel][4], ky padded with zeros, so that four rows of a column meet four
 * weights in one dot product.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/igemm/conv.h"
#include "executor/kernels/lpt-isa.h"

/* Whole output rows, one behind the other. cols[y * cols_step + x * kh + ky] points at channel 0 of a column's row;
 * pixel i of row y, tap (ky, kx) reads column i * stride_w + kx * dilation_w. Reads channels [c0, c1) of the input
 * only. */
typedef struct {
  size_t                   kh, kw, stride_w, dilation_w;
  size_t                   multiplier, c0, c1;           /* output channels, c0 a multiple of 16 */
  size_t                   rows, pixels, cols_step;      /* pixels of a row */
  bool                     follow;                       /* tap ky of a row is tap ky + 1 of the row above it */
  const void              *packed;
  const uint8_t *const    *cols;
  const LptEpilogue       *epilogue;
  const LptEpilogueKernel *epilogue_kernel;
  void                    *out;                          /* of the first pixel, channel c0 */
  size_t                   ldo;
  const uint8_t           *residual;
  size_t                   ldr;
} LptDwconvRun;

/* Row y alone. */
static inline LptDwconvRun
lpt_dwconv_row (const LptDwconvRun *r, size_t y)
{
  LptDwconvRun row = *r;

  row.rows = 1;
  row.cols += y * r->cols_step;
  row.out = (char *) row.out + y * r->pixels * r->ldo;
  if (row.residual)
    row.residual += y * r->pixels * r->ldr;
  return row;
}

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*run) (const LptDwconvRun *r);
} LptDwconvKernel;

#define LPT_DWCONV_KERNEL(needs, isa) void lpt_dwconv__##isa (const LptDwconvRun *r);
#include "executor/kernels/dwconv/dwconv.def"
#undef LPT_DWCONV_KERNEL

const LptDwconvKernel *lpt_dwconv_kernels (size_t *n);
const LptDwconvKernel *lpt_dwconv_kernel  (LptCpu cpu);

/* shape.groups = shape.ic, shape.oc = ic * multiplier. */
typedef struct {
  const LptDwconvKernel   *kernel;
  const LptEpilogueKernel *epilogue_kernel;
  const LptEpilogue       *epilogue;
  LptConvShape             shape;
  uint8_t                  pad_value;
  const uint8_t           *pad_values;     /* [ic]: one for each channel, or NULL */
  const uint8_t           *in;
  size_t                   pixel_stride, row_stride, plane_stride, image_stride;
  const void              *packed;
  void                    *out;
  size_t                   ldo;
  const LptConvPlace      *place;          /* NULL: of output and residual, pixels stand one behind the other */
  const uint8_t           *residual;
  size_t                   ldr;
} LptDwconv;

size_t lpt_dwconv_packed_size (const LptConvShape *s);
void   lpt_dwconv_pack        (const LptConvShape *s, const LptConvWeights *w, void *packed, int32_t *col_sum);
size_t lpt_dwconv_workspace   (const LptDwconv *d);

/* Output rows [r0, r1) of batch * od * oh, output channels [c0, c1), c0 a multiple of 16, c1 too or oc. */
void   lpt_dwconv_tile        (const LptDwconv *d, size_t r0, size_t r1, size_t c0, size_t c1, void *workspace);

/* In how many tasks the convolution is worth to be cut. */
double lpt_dwconv_parts       (const LptConvShape *s);
/* A partition for lpt_parallel_for (): output rows and channels. */
void   lpt_dwconv_tiling      (const LptConvShape *s, LptCut *rows, LptCut *channels);
