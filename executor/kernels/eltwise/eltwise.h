/* executor/kernels/eltwise/eltwise.h - element by element: add, mul, affine, table, quantize, dequantize, shares
 *
 * Everything works on rows x cols. Strides from row to row are in bytes; an operand's `step` is 1, or 0 where one
 * element serves the whole row; a row stride of 0 repeats the row. So (stride 0, step 1) is a per-channel
 * operand of a channels-last tensor, (stride element, step 0) a per-channel one of a planar tensor, (0, 0) a scalar.
 * Out may be one of the operands of the same layout.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/requant/requant.h"

/* Float to code:
 *   divide      rint (x / scale) + zp
 *   multiply    rint (x * scale) + zp, scale is the reciprocal
 *   away        round half away ((double) x / (double) scale) + zp
 * clamped to [lo, hi] before the rounding; a NaN gives lo, away from zero zp. */
typedef enum { LPT_QUANTIZE_DIVIDE, LPT_QUANTIZE_MULTIPLY, LPT_QUANTIZE_AWAY } LptQuantizeForm;

typedef struct {
  LptQuantizeForm form;
  int32_t         lo, hi;
  const float    *scale;
  const int32_t  *zp;
  size_t          row_step, step;   /* of scale and zp, in elements: 0 0 per tensor, 0 1 per channel, 1 0 planar */
} LptQuantize;

/* Code to float: (float) ((q ^ flip) - zp) * scale. */
typedef struct {
  uint8_t         flip;
  const float    *scale;
  const int32_t  *zp;
  size_t          row_step, step;
} LptDequantize;

/* Sums and products with parameters of their own for each column, or (`same`) one for all:
 *   sums       (m1 x + m2 y + bias) >> shift, x = a - za, y = b - zb, each limited to +-LPT_AFFINE_LIMIT
 *   products   (m1 (x y) + bias) >> shift, x y limited, too; m2 is not read
 * in 64 bits, + zp, clamped to [lo, hi]. The rounding is in the bias; |bias| <= 2^62, 0 < shift < 63. An operand is
 * bytes or int32. */
#define LPT_AFFINE_LIMIT (1 << 29)

typedef struct {
  bool            product, same, words_a, words_b;
  int32_t         lo, hi;
  const int32_t  *za, *zb, *zp, *m1, *m2;
  const int64_t  *bias, *shift;
} LptAffine;

/* Parts of a sum in fixed point, as a Softmax has them: an exponential e >= 0 in Q0 times the reciprocal of the sum,
 * p = round (e scale / 2^31), p' = round (p / 2^over), then round (p' mult / 2^shift) + zero, clamped to [lo, hi].
 * Halves go up; 0 <= scale, mult; 0 <= over, shift <= 62. */
typedef struct {
  int32_t scale, mult, zero, lo, hi;
  int     over, shift;
} LptShares;

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*add)        (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                           const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo);
  void      (*mul)        (const LptMul *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                           const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo);
  void      (*table)      (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo);
  void      (*quantize)   (const LptQuantize *p, size_t rows, size_t cols, const float *in, size_t ldi,
                           uint8_t *out, size_t ldo);
  void      (*dequantize) (const LptDequantize *p, size_t rows, size_t cols, const uint8_t *in, size_t ldi,
                           float *out, size_t ldo);
  void      (*affine)     (const LptAffine *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, const uint8_t *b, size_t ldb,
                           uint8_t *out, size_t ldo);
  /* One byte for each of @n. */
  void      (*shares)     (const LptShares *p, size_t n, const int32_t *in, uint8_t *out);
  /* The least and the greatest of in[i] ^ @flip; 255 and 0 of none. */
  void      (*ends)       (size_t n, const uint8_t *in, uint8_t flip, uint8_t *least, uint8_t *greatest);
} LptEltwiseKernel;

#define LPT_ELTWISE_KERNEL(needs, isa, table_isa)                                                                       \
  void lpt_eltwise_add__##isa (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda,      \
                               size_t a_step, const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo); \
  void lpt_eltwise_mul__##isa (const LptMul *p, size_t rows, size_t cols, const uint8_t *a, size_t lda,      \
                               size_t a_step, const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo); \
  void lpt_eltwise_table__##table_isa (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in,     \
                                       size_t ldi, uint8_t *out, size_t ldo);                               \
  void lpt_eltwise_quantize__##isa (const LptQuantize *p, size_t rows, size_t cols, const float *in, size_t ldi, \
                                    uint8_t *out, size_t ldo);                                               \
  void lpt_eltwise_dequantize__##isa (const LptDequantize *p, size_t rows, size_t cols, const uint8_t *in,   \
                                      size_t ldi, float *out, size_t ldo);                                 \
  void lpt_eltwise_affine__##isa (const LptAffine *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, \
                                  const uint8_t *b, size_t ldb, uint8_t *out, size_t ldo);                  \
  void lpt_eltwise_shares__##isa (const LptShares *p, size_t n, const int32_t *in, uint8_t *out);             \
  void lpt_eltwise_ends__##isa (size_t n, const uint8_t *in, uint8_t flip, uint8_t *least, uint8_t *greatest);
#include "executor/kernels/eltwise/eltwise.def"
#undef LPT_ELTWISE_KERNEL

const LptEltwiseKernel *lpt_eltwise_kernels (size_t *n);
const LptEltwiseKernel *lpt_eltwise_kernel  (LptCpu cpu);

/* Fills table[256] with the map of one code to another: code -> code of a requantization of (code ^ flip) - zin. */
void lpt_table_requantize (LptRequantScheme scheme, uint8_t flip, int32_t zin, int32_t mult, int shift, float scale,
                           int32_t zp, int32_t lo, int32_t hi, uint8_t *table);

/* out[i] = in[i] ^ 0x80: int8 to the u8 form and back. */
void lpt_flip_signs       (size_t n, const uint8_t *in, uint8_t *out);
