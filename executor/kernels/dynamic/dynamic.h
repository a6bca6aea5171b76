/* executor/kernels/dynamic/dynamic.h - data whose quantization is found at run time, and products of it by blocks
 *
 * Smallest and largest elements do not depend on the order in which they are found, and the rest is the same chain of
 * float operations everywhere: all rows give the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

#include "executor/kernels/fgemm/fgemm.h"

/* Sums of one block of products, for the tile's rows and columns [0, n), n a multiple of 16:
 *     t = (float) (acc - za colsum) - zero (float) codes,   y = fma (t, sa sb, y)
 * acc of activations in u8 form with the zero points za (of signed codes 128), `codes` the sums of the codes of a row
 * less them. Sums and za colsum are within 2^24.
 * Wide: acc of two lines for each row, the high bytes of signed words in u8 form and the low ones, whose sum is
 * 256 high + low - 32768 colsum, within 32 bits. */
typedef struct {
  size_t         rows, n;
  const int32_t *acc;                  /* [rows][stride], wide [rows][2][stride] */
  float         *y;                    /* [rows][stride] */
  size_t         stride;
  bool           first;                /* y counts as 0 */
  const int16_t *colsum;               /* [n] */
  const float   *sb, *zero;            /* [n]; zero: NULL or less the middle of the stored codes */
  const float   *sa;                   /* of row r at sa[r * sa_stride] */
  size_t         sa_stride;
  const float   *za;                   /* likewise; NULL: 128 */
  const int32_t *codes;                /* [rows], with zero */
  bool           wide;
} LptDynamicBlock;

#define LPT_NIBBLE_COLUMNS 16

/* One row times LPT_NIBBLE_COLUMNS columns of codes of four bits: y as blocks one after the other give it (LptDynamicBlock).
 * A block of the panel has its codes + 8 as [block / 8][columns][4], the first half of the block in the low halves of the
 * bytes and the second in the high ones, and behind them numbers for each column. */
typedef struct {
  size_t         blocks, block;        /* elements of a block: a multiple of 8 */
  const int8_t  *a;                    /* [blocks][block], 0 behind the end of the row */
  const int32_t *a_sums;               /* [blocks] */
  const float   *sa;                   /* [blocks] */
  const uint8_t *panel;
  size_t         size;                 /* bytes of a block of the panel */
  size_t         scales, zeros;        /* where they lie in it; zeros: 0 = none */
  float         *y;
} LptNibbleRow;

/* Of an interval from lo <= 0 to hi >= 0: a code is rint (x inverse) + zero within 0 .. 255. */
typedef struct {
  float scale, inverse, zero;
} LptDynamicSpan;

static inline LptDynamicSpan
lpt_dynamic_span (float lo, float hi)
{
  const float scale = hi != lo ? (hi - lo) / 255.0f : 1.0f, inverse = 1.0f / scale;
  const float zero = (0.0f - lo) * inverse, limited = zero > 0.0f ? zero < 255.0f ? zero : 255.0f : 0.0f;

  /* Adding 1.5 * 2^23 rounds to an integer. */
  return (LptDynamicSpan) { scale, inverse, (limited + 12582912.0f) - 12582912.0f };
}

/* y = scale (min (max (round-away (add + x inverse), least), 127) - less); the codes alone also `even`:
 * rint (x inverse) + less within -128 .. 127. */
typedef struct {
  float inverse, add, least, less, scale;
  bool  even;
} LptDynamicRound;

typedef struct {
  const char *name;
  LptCpu      needs;
  /* range[0] = min (0, x), range[1] = max (0, x); a NaN counts as 0. */
  void      (*range)   (size_t n, const float *x, float range[2]);
  /* code + 128 of blocks, the last one may be short: rint (x (127 / r)) within +-127, r = max |x|; all 128 where that
   * is 0. A NaN is no maximum, and the lowest code. */
  void      (*codes)   (size_t n, size_t block, const float *x, uint8_t *codes);
  /* The same of 16 bits, within +-32767; the codes alone. */
  void      (*words)   (size_t n, size_t block, const float *x, int16_t *codes);
  /* r / most of each of these blocks, 1 where r is 0. */
  void      (*steps)   (size_t n, size_t block, float most, const float *x, float *steps);
  /* The range of each of these blocks, two numbers. */
  void      (*ranges)  (size_t n, size_t block, const float *x, float *ranges);
  /* The codes of blocks with these ranges (LptDynamicSpan). A NaN is the lowest code. */
  void      (*lift)    (size_t n, size_t block, const float *x, const float *ranges, uint8_t *codes);
  /* What codes leave of x, in 256ths of their step: rint ((x - scale (codes - zero)) (256 / scale)) within -128 .. 127,
   * and 128 more. A NaN is the lowest code. */
  void      (*rest)    (size_t n, const float *x, const uint8_t *codes, float scale, float zero, uint8_t *rest);
  /* A NaN is the lowest code. */
  void      (*round)   (size_t n, const float *x, const LptDynamicRound *p, float *y);
  /* The codes in `round', 128 added. */
  void      (*encode)  (size_t n, const float *x, const LptDynamicRound *p, uint8_t *codes);
  void      (*combine) (const LptDynamicBlock *b);
  /* What follows the sums, to rows of n results. */
  void      (*finish)  (size_t rows, size_t n, const float *y, size_t stride, const LptFgemmEnd *end, float *out, size_t ldo);
  void      (*nibble_row) (const LptNibbleRow *r);
  /* Two codes of four bits for each byte: out[i] = (in[i] & 15) - 8, out[i + n] = (in[i] >> 4) - 8. */
  void      (*nibbles) (size_t n, const uint8_t *in, int8_t *out);
} LptDynamicKernel;

#define LPT_DYNAMIC_KERNEL(needs, isa)                                               \
  void lpt_dynamic_range__##isa   (size_t n, const float *x, float range[2]);        \
  void lpt_dynamic_codes__##isa   (size_t n, size_t block, const float *x, uint8_t *codes); \
  void lpt_dynamic_words__##isa   (size_t n, size_t block, const float *x, int16_t *codes); \
  void lpt_dynamic_steps__##isa   (size_t n, size_t block, float most, const float *x, float *steps); \
  void lpt_dynamic_ranges__##isa  (size_t n, size_t block, const float *x, float *ranges); \
  void lpt_dynamic_lift__##isa    (size_t n, size_t block, const float *x, const float *ranges, uint8_t *codes); \
  void lpt_dynamic_rest__##isa    (size_t n, const float *x, const uint8_t *codes, float scale, float zero,          \
                                   uint8_t *rest);                                                                   \
  void lpt_dynamic_round__##isa   (size_t n, const float *x, const LptDynamicRound *p, float *y); \
  void lpt_dynamic_encode__##isa  (size_t n, const float *x, const LptDynamicRound *p, uint8_t *codes); \
  void lpt_dynamic_combine__##isa (const LptDynamicBlock *b);                        \
  void lpt_dynamic_finish__##isa  (size_t rows, size_t n, const float *y, size_t stride, const LptFgemmEnd *end, float *out, size_t ldo); \
  void lpt_dynamic_nibble_row__##isa (const LptNibbleRow *r);                        \
  void lpt_dynamic_nibbles__##isa (size_t n, const uint8_t *in, int8_t *out);
#include "executor/kernels/dynamic/dynamic.def"
#undef LPT_DYNAMIC_KERNEL

const LptDynamicKernel *lpt_dynamic_kernels (size_t *n);
const LptDynamicKernel *lpt_dynamic_kernel  (LptCpu cpu);
