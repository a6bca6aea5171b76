/* executor/kernels/eltwise/body.h - element-wise loops in plain C, compiled per instruction set
 *
 * The formulas are requant.h's; here the choice of the form stands outside the loop, so that the compiler can
 * vectorise it. With LPT_ISA scalar this is the specification.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/eltwise/eltwise.h"

#ifndef INLINE
#define INLINE static inline __attribute__ ((always_inline))
#endif

/* One row; the constants in `p` are a copy of the caller's with form and step fixed, so that the switch folds. */
INLINE void
add_row (LptAdd p, size_t cols, const uint8_t *a, size_t a_step, const uint8_t *b, size_t b_step, uint8_t *out)
{
  if (a_step && b_step)
    for (size_t j = 0; j < cols; j++)
      out[j] = (uint8_t) lpt_add_code (&p, a[j], b[j]);
  else if (a_step)
    for (size_t j = 0; j < cols; j++)
      out[j] = (uint8_t) lpt_add_code (&p, a[j], b[0]);
  else
    {
      uint8_t first = a[0];

      for (size_t j = 0; j < cols; j++)
        out[j] = (uint8_t) lpt_add_code (&p, first, b[j * b_step]);
    }
}

static void
add_plain (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step, const uint8_t *b,
           size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  LptAdd q = *p;

  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    switch (p->form)
      {
      case LPT_ADD_SINGLE:
        q.form = LPT_ADD_SINGLE;
        add_row (q, cols, a, a_step, b, b_step, out);
        break;
      case LPT_ADD_FLOAT:
        q.form = LPT_ADD_FLOAT;
        add_row (q, cols, a, a_step, b, b_step, out);
        break;
      default:
        q.form = LPT_ADD_STEPPED;
        add_row (q, cols, a, a_step, b, b_step, out);
        break;
      }
}

/* A file with an own add falls back to the plain one. */
#ifndef LPT_OWN_ADD
void
LPT_FN (lpt_eltwise_add) (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                          const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  add_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
}
#endif

INLINE void
mul_row (LptMul p, size_t cols, const uint8_t *a, size_t a_step, const uint8_t *b, size_t b_step, uint8_t *out)
{
  if (a_step && b_step)
    for (size_t j = 0; j < cols; j++)
      out[j] = (uint8_t) lpt_mul_code (&p, a[j], b[j]);
  else if (a_step)
    for (size_t j = 0; j < cols; j++)
      out[j] = (uint8_t) lpt_mul_code (&p, a[j], b[0]);
  else
    {
      uint8_t first = a[0];

      for (size_t j = 0; j < cols; j++)
        out[j] = (uint8_t) lpt_mul_code (&p, first, b[j * b_step]);
    }
}

static void
mul_plain (const LptMul *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step, const uint8_t *b,
           size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  LptMul q = *p;

  for (size_t i = 0; i < rows; i++, a += lda, b += ldb, out += ldo)
    switch (p->scheme)
      {
#define SCHEME(S)                                                                                            \
      case S:                                                                                                \
        q.scheme = S;                                                                                        \
        mul_row (q, cols, a, a_step, b, b_step, out);                                                        \
        break;
      SCHEME (LPT_REQUANT_SINGLE)
      SCHEME (LPT_REQUANT_DOUBLE)
      SCHEME (LPT_REQUANT_TWO_STEP)
      SCHEME (LPT_REQUANT_QNNPACK)
#undef SCHEME
      default:
        q.scheme = LPT_REQUANT_FLOAT;
        if (p->zp_in_float)
          {
            q.zp_in_float = true;
            mul_row (q, cols, a, a_step, b, b_step, out);
          }
        else
          {
            q.zp_in_float = false;
            mul_row (q, cols, a, a_step, b, b_step, out);
          }
        break;
      }
}

#ifndef LPT_OWN_MUL
void
LPT_FN (lpt_eltwise_mul) (const LptMul *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                          const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo)
{
  mul_plain (p, rows, cols, a, lda, a_step, b, ldb, b_step, out, ldo);
}
#endif

#ifndef LPT_OWN_TABLE
void
LPT_FN (lpt_eltwise_table) (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out,
                            size_t ldo)
{
  for (size_t r = 0; r < rows; r++, in += ldi, out += ldo)
    for (size_t i = 0; i < cols; i++)
      out[i] = table[in[i]];
}
#endif

/* round half away (x / scale), limited to the codes' range around zp, from the reciprocal of the scale in doubles.
 *
 * Only quotients of 1/4 to 2^9 in magnitude matter: smaller ones give 0. There x is a multiple of a quarter of the
 * scale's last place, and so is a half h times the scale. Where x / scale is not h it therefore lies 2^-26 or more from
 * it, the product less than 2^-42 from x / scale: with 2^-30 more than one half, ties go up and nothing else does. */
INLINE uint8_t
quantize_away (float x, double reciprocal, int32_t zp, int32_t lo, int32_t hi)
{
  const double over = 0.5 + 0x1p-30;
  double v = (double) x * reciprocal, l = (double) (lo - zp), h = (double) (hi - zp);

  v = v == v ? v : 0;
  v = v > l ? v : l;
  v = v < h ? v : h;
  return (uint8_t) ((int32_t) (v + copysign (over, v)) + zp);
}

/* v = x / scale or its like, limited to the codes' range around zp: everything is small before the rounding. */
INLINE uint8_t
quantize_one (LptQuantizeForm form, float x, float scale, int32_t zp, int32_t lo, int32_t hi)
{
  if (form == LPT_QUANTIZE_AWAY)
    return quantize_away (x, 1.0 / (double) scale, zp, lo, hi);

  float v = form == LPT_QUANTIZE_DIVIDE ? x / scale : x * scale, l = (float) (lo - zp), h = (float) (hi - zp);

  v = v > l ? v : l;
  v = v < h ? v : h;
  return (uint8_t) ((int32_t) rintf (v) + zp);
}

INLINE void
quantize_row (LptQuantizeForm form, size_t cols, const float *in, const float *scale, const int32_t *zp, size_t step,
              int32_t lo, int32_t hi, uint8_t *out)
{
  if (step)
    for (size_t j = 0; j < cols; j++)
      out[j] = quantize_one (form, in[j], scale[j], zp[j], lo, hi);
  else
    {
      float s = scale[0];
      double reciprocal = 1.0 / (double) s;
      int32_t z = zp[0];

      for (size_t j = 0; j < cols; j++)
        out[j] = form == LPT_QUANTIZE_AWAY ? quantize_away (in[j], reciprocal, z, lo, hi)
                                           : quantize_one (form, in[j], s, z, lo, hi);
    }
}

void
LPT_FN (lpt_eltwise_quantize) (const LptQuantize *p, size_t rows, size_t cols, const float *in, size_t ldi,
                               uint8_t *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++)
    {
      const float *x = (const float *) ((const char *) in + i * ldi), *scale = p->scale + i * p->row_step;
      const int32_t *zp = p->zp + i * p->row_step;
      uint8_t *y = out + i * ldo;

      switch (p->form)
        {
        case LPT_QUANTIZE_DIVIDE:
          quantize_row (LPT_QUANTIZE_DIVIDE, cols, x, scale, zp, p->step, p->lo, p->hi, y);
          break;
        case LPT_QUANTIZE_MULTIPLY:
          quantize_row (LPT_QUANTIZE_MULTIPLY, cols, x, scale, zp, p->step, p->lo, p->hi, y);
          break;
        default:
          quantize_row (LPT_QUANTIZE_AWAY, cols, x, scale, zp, p->step, p->lo, p->hi, y);
          break;
        }
    }
}

void
LPT_FN (lpt_eltwise_dequantize) (const LptDequantize *p, size_t rows, size_t cols, const uint8_t *in, size_t ldi,
                                 float *out, size_t ldo)
{
  uint8_t flip = p->flip;

  for (size_t i = 0; i < rows; i++)
    {
      const uint8_t *x = in + i * ldi;
      const float *scale = p->scale + i * p->row_step;
      const int32_t *zp = p->zp + i * p->row_step;
      float *y = (float *) ((char *) out + i * ldo);

      if (p->step)
        for (size_t j = 0; j < cols; j++)
          y[j] = (float) ((x[j] ^ flip) - zp[j]) * scale[j];
      else
        {
          float s = scale[0];
          int32_t z = zp[0];

          for (size_t j = 0; j < cols; j++)
            y[j] = (float) ((x[j] ^ flip) - z) * s;
        }
    }
}

#include "executor/kernels/eltwise/affine.h"
#include "executor/kernels/eltwise/shares.h"
