/* executor/kernels/resize/resize.h - weighted sums of neighbours: resized lines of reals and of 8-bit codes
 *
 *   mix       y = sum of w[k] * rows[k], in doubles, the first one first; a NULL row counts as zeros; nothing gives -0
 *   add       y = w * x, or y += w * x, in doubles; a NULL x counts as zeros
 *   columns   the same sums along a line of doubles, rounded to float at the end
 *   bilinear  a line of codes between two lines of codes, from four neighbours each, by one of the rules below
 *
 * Every row gives the bits of the scalar row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

/* Position o takes taps start[o] to start[o + 1] of an axis: weight * the element at index, zero where that is
 * negative. */
typedef struct {
  size_t    *start;
  ptrdiff_t *index;
  double    *weight;
} LptMixTaps;

/* What four codes and two weights make:
 *   round    integers: (sum of q w + half) >> shift, ties toward +inf
 *   divide   the same, ties away from zero
 *   even     the same, ties to where code - zero is even
 *   sum      float32: q00 (a b) + q01 (a x) + q10 (y b) + q11 (y x), then + 0.5 cut off; a = 1 - y, b = 1 - x
 *   reals    float32: lines of (q - zero) in units of scale, then rounded to codes of to_scale: half to even, or away */
typedef enum {
  LPT_BILINEAR_ROUND,
  LPT_BILINEAR_DIVIDE,
  LPT_BILINEAR_EVEN,
  LPT_BILINEAR_SUM,
  LPT_BILINEAR_REALS,
  LPT_BILINEAR_REALS_AWAY
} LptBilinearForm;

/* Lists go on for LPT_CHANNEL_PAD elements. Codes are in u8 form: `offset` is taken off first and put on last. */
typedef struct {
  LptBilinearForm form;
  int32_t         offset, one, shift;        /* one * one = 1 << shift */
  int32_t         zero, to_zero;             /* in u8 form */
  int32_t         lo, hi;                    /* of the result, in u8 form */
  float           scale, to_scale;
  size_t          columns, inner, pitch;     /* where inner is 1 so is pitch; of the result; codes of a column; from one to the next one in the result */
  const uint32_t *lower, *upper;             /* by column: where its neighbours begin */
  const int32_t  *weight;                    /* by column: of upper, in units of 1 / one */
  const float    *real;                      /* the same, in the other forms */
} LptBilinear;

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*mix)      (size_t taps, const double *w, const float *const *rows, size_t n, double *y);
  void      (*add)      (double w, const double *x, size_t n, int first, double *y);
  void      (*columns)  (const LptMixTaps *taps, size_t first, size_t end, size_t inner, const double *x, float *y);
  void      (*bilinear) (const LptBilinear *p, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y);
} LptResizeKernel;

#define LPT_RESIZE_KERNEL(needs, isa)                                                                          \
  void lpt_resize_mix__##isa (size_t taps, const double *w, const float *const *rows, size_t n, double *y);    \
  void lpt_resize_add__##isa (double w, const double *x, size_t n, int first, double *y);                      \
  void lpt_resize_columns__##isa (const LptMixTaps *taps, size_t first, size_t end, size_t inner, const double *x, float *y); \
  void lpt_resize_bilinear__##isa (const LptBilinear *p, const uint8_t *top, const uint8_t *bottom, int32_t weight, float real, uint8_t *y);
#include "executor/kernels/resize/resize.def"
#undef LPT_RESIZE_KERNEL

const LptResizeKernel *lpt_resize_kernels (size_t *n);
const LptResizeKernel *lpt_resize_kernel  (LptCpu cpu);
