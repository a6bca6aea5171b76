/* executor/kernels/igemm/conv.h - convolution, channels last, as an implicit matrix product
 *
 *   out[b][oy][ox][g*ocg + n] = stage (sum over ky, kx, c of in[b][oy*sh - pt + ky*dh][ox*sw - pl + kx*dw][g*icg + c]
 *                                                          * w[ky][kx][g][c][n])
 *
 * and with a third axis, planes, in front of the two likewise.
 *
 * No im2col copy: each output pixel has a pointer per tap, taps outside the image point at a row of
 * pad_value (the input's zero point). With few input channels, or a kernel that reads rows at fixed distances, the rows
 * that a tile reads are copied with their padding, then a whole row of taps (kw * ic bytes) is contiguous and counts as
 * one tap; such inputs may be planar (channel_stride not 1).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/gemm/gemm.h"
#include "executor/kernels/lpt-cut.h"

typedef struct {
  size_t    batch, ih, iw, ic;        /* ic, oc: of all groups */
  size_t    oh, ow, oc, groups;
  size_t    kh, kw, stride_h, stride_w, dilation_h, dilation_w;
  ptrdiff_t pad_top, pad_left;        /* negative: what lies before is not read */
  size_t    id, od, kd;               /* planes; 1 without that axis */
  size_t    stride_d, dilation_d;
  ptrdiff_t pad_front;
  size_t    repeats;                  /* depthwise: the kernel is this many, one behind the other, of the same taps; 0: one */
} LptConvShape;

/* Where pixels of the output lie that are some of a larger one's, in its pixels. */
typedef struct {
  size_t first, x, y, z, image;       /* of the first one; from one to the next along each axis */
} LptConvPlace;

/* Pixel m of the output, counted in the larger one. */
static inline size_t
lpt_conv_place_at (const LptConvPlace *p, const LptConvShape *s, size_t m)
{
  return p->first + m / s->ow / s->oh / s->od * p->image + m / s->ow / s->oh % s->od * p->z + m / s->ow % s->oh * p->y + m % s->ow * p->x;
}

typedef struct {
  const LptGemmKernel     *kernel;
  const LptEpilogueKernel *epilogue_kernel;
  const LptEpilogue       *epilogue;         /* arrays over all oc channels */
  LptConvShape             shape;
  uint8_t                  pad_value;
  const uint8_t           *in;
  size_t                   pixel_stride, row_stride, plane_stride, image_stride;   /* bytes */
  size_t                   channel_stride;   /* 1; others only where lpt_conv_takes_planes () */
  const void              *packed;
  void                    *out;
  size_t                   ldo;              /* bytes from pixel to pixel */
  const LptConvPlace      *place;            /* NULL: of output and residual, pixels stand one behind the other */
  const uint8_t           *residual;
  size_t                   ldr;
} LptConv;

/* The row for this shape: `best`, or one below it for short sums. */
const LptGemmKernel *lpt_conv_kernel (const LptGemmKernel *best, const LptConvShape *s);

/* Whether the channels of the input may lie in planes: few of them, whose rows are copied. */
bool   lpt_conv_takes_planes (const LptConvShape *s);

/* Packed bytes for all groups, 0 if that overflows. */
size_t lpt_conv_packed_size (const LptGemmKernel *kernel, const LptConvShape *s);

/* w: element (ky, kx, c, n) of group n / (oc / groups), n over all oc: data + ky*ky_stride + kx*kx_stride + c*c_stride
 * + n*n_stride, bytes. OIHW is ky_stride = kw, kx_stride = 1, c_stride = kh*kw, n_stride = icg*kh*kw. Rows of the next
 * plane follow those of one: ky counts to kd*kh. */
typedef struct {
  const void *data;
  bool        is_unsigned;
  ptrdiff_t   ky_stride, kx_stride, c_stride, n_stride;
} LptConvWeights;

void   lpt_conv_pack        (const LptGemmKernel *kernel, const LptConvShape *s, const LptConvWeights *w,
                             void *packed, int32_t *col_sum);

/* Bytes of workspace per thread, 64-byte aligned. */
size_t lpt_conv_workspace   (const LptConv *c);

/* Output pixels [m0, m1) of batch * od * oh * ow, channels [n0, n1) of all oc: n0 a multiple of the panel width
 * within a group (or of oc / groups), n1 too or the end of a group. */
void   lpt_conv_tile        (const LptConv *c, size_t m0, size_t m1, size_t n0, size_t n1, void *workspace);

/* A partition for lpt_parallel_for (): pixels and channels. */
void   lpt_conv_tiling      (const LptGemmKernel *kernel, const LptConvShape *s, LptCut *pixels, LptCut *channels);
