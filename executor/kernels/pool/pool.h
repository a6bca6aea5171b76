/* executor/kernels/pool/pool.h - max and average pooling of 8-bit data, channels last
 *
 * Max: the greatest code of the taps inside the image. Average: the exact integer sum of the taps inside, minus
 * `taps inside * zero`, scaled by the multiplier that belongs to the divisor (the taps inside, or inside the image and
 * its padding), then zp added and clamped. Finish: the caller's function makes codes of the plain sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/igemm/conv.h"

/* out[c] = max over taps of in[tap][c]; bytes are compared as (byte ^ flip), flip is 0 (u8) or 0x80 (int8). */
typedef void (*LptPoolMax) (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, uint8_t *out);

/* sums[c] = sum over taps of (in[tap][c] ^ flip) as u8. */
typedef void (*LptPoolSum) (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, int32_t *sums);

typedef struct {
  const char *name;
  LptCpu      needs;
  LptPoolMax  max;
  LptPoolSum  sum;
} LptPoolKernel;

#define LPT_POOL_KERNEL(needs, isa)                                                                          \
  void lpt_pool_max__##isa (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, uint8_t *out); \
  void lpt_pool_sum__##isa (size_t taps, const uint8_t *const *in, size_t channels, uint8_t flip, int32_t *sums);
#include "executor/kernels/pool/pool.def"
#undef LPT_POOL_KERNEL

const LptPoolKernel *lpt_pool_kernels (size_t *n);
const LptPoolKernel *lpt_pool_kernel  (LptCpu cpu);

typedef enum { LPT_POOL_MAX, LPT_POOL_AVERAGE, LPT_POOL_FINISH } LptPoolForm;

typedef void (*LptPoolFinish) (const void *data, size_t taps, size_t divisor, size_t channels, const int32_t *sums,
                               uint8_t *out);

typedef struct {
  const LptPoolKernel     *kernel;
  const LptEpilogueKernel *epilogue_kernel;
  LptPoolForm              form;
  LptConvShape             shape;            /* oc = ic; groups unused */
  uint8_t                  flip;             /* xor of the input; max: of the output too */
  bool                     count_padding;    /* the divisor counts taps in the padding */
  size_t                   pad_back, pad_bottom, pad_right;   /* count_padding: where the padding ends */
  LptRequantScheme         scheme;           /* average */
  int32_t                  zero, zp, lo, hi;
  const int32_t           *mult, *shift;     /* average: [kd*kh*kw + 1], index = divisor */
  const float             *scale;
  LptPoolFinish            finish;           /* finish */
  const void              *finish_data;
  const uint8_t           *in;
  size_t                   pixel_stride, row_stride, plane_stride, image_stride;
  uint8_t                 *out;
  size_t                   ldo;
} LptPoolOp;

/* The epilogue with one multiplier for all sums: equal entries serve every block of LPT_POOL_BLOCK. */
#define LPT_POOL_BLOCK 64

typedef struct {
  size_t      taps, divisor;      /* that it was made for */
  int32_t     bias[LPT_POOL_BLOCK], mult[LPT_POOL_BLOCK], shift[LPT_POOL_BLOCK];
  float       scale[LPT_POOL_BLOCK];
  LptEpilogue e;
} LptPoolScaling;

/* @z->e has its scheme, zp, lo and hi; @bias is added to each sum. @z does not move afterwards. */
void   lpt_pool_set_scaling (LptPoolScaling *z, int32_t bias, int32_t mult, int32_t shift, float scale);
void   lpt_pool_scale_sums  (const LptPoolScaling *z, const LptEpilogueKernel *kernel, size_t n, const int32_t *sums,
                             uint8_t *out);

size_t lpt_pool_workspace (const LptPoolOp *p);

/* Output rows [r0, r1) of batch * od * oh. A window without a tap inside gives zp clamped (average) or the least code
 * (max). */
void   lpt_pool_tile      (const LptPoolOp *p, size_t r0, size_t r1, void *workspace);
size_t lpt_pool_tiling    (const LptConvShape *s);
