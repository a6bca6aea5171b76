/* executor/kernels/requant/requant.h - the epilogue that gemm, convolutions and add share
 *
 *   acc + bias[c] - row_sum[r] * weight_zp[c]
 *     Q8:  -> requantize (scheme) -> clamp [lo, hi] -> table -> (+ residual -> clamp -> table) -> byte
 *     I32: -> int32
 *     F32: -> (float) acc * scale[c] + fbias[c], clamp [flo, fhi], a NaN stays one, no FMA -> float
 *
 * A byte is a code of any 8-bit type: signedness is only in zp, lo and hi, so a u8 tensor that holds
 * int8 + 128 is written by adding 128 to the three. Operands that are read (residual, add, mul) are
 * u8 after an xor with 0 or 0x80, their zero points are those of the u8 form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "executor/kernels/requant/requant-scalar.h"
#include <lpt/lpt-cpu.h>

/* Per-channel arrays must be readable for this many entries from any channel on (groups begin at any). */
#define LPT_CHANNEL_PAD 16

typedef enum { LPT_STORE_Q8, LPT_STORE_I32, LPT_STORE_F32 } LptStore;

/* Codes in u8 form: those of a signed type (lo < 0) are 128 higher. */
static inline int32_t
lpt_u8_form (int32_t lo, int32_t code)
{
  return lo < 0 ? code + 128 : code;
}

typedef enum {
  LPT_ADD_SINGLE,  /* sat32 ((m1*a + m2*b + bias + 2^(shift-1)) >> shift) + zp; 1 <= shift <= 62 */
  LPT_ADD_STEPPED, /* rq (rq ((a-za) << left, m1, s1) + rq ((b-zb) << left, m2, s2), mo, so) + zp */
  LPT_ADD_FLOAT    /* rint (((a-za)*sa + (b-zb)*sb) / sc) + zp in float32, clamped before the rint */
} LptAddForm;

/* y = code of a sum (a difference: negative m2, sb or s2's multiplier). */
typedef struct {
  LptAddForm       form;
  uint8_t          xor_a, xor_b;
  int32_t          zp, lo, hi;          /* of the output */
  int32_t          za, zb;              /* stepped, float */
  int32_t          m1, m2;              /* single, stepped */
  int64_t          bias;                /* single: zero points and constants, |bias| < 2^60 */
  int              shift;               /* single */
  LptRequantScheme step;                /* stepped: single or double */
  int              left, s1, s2, so;    /* stepped: left shift of the operands, shifts */
  int32_t          mo;                  /* stepped */
  float            sa, sb, sc;          /* float */
} LptAdd;

/* m = 2^16 high + low + more. Next to 2^31, where an operand has the scale of the sum but for its last digits, the upper
 * half would be 2^15, which no 16 bits hold: there it is less, and more is what the lower half cannot take. */
typedef struct {
  int16_t high, low, more;
} LptAddParts;

static inline LptAddParts
lpt_add_parts (int32_t m)
{
  int32_t low = (int16_t) m, high = (int32_t) (((int64_t) m - low) >> 16), rest = 0;

  if (high > INT16_MAX)
    {
      high = INT16_MAX;
      rest = m - (high << 16);
      low = rest / 2;
      rest -= low;
    }
  return (LptAddParts) { (int16_t) high, (int16_t) low, (int16_t) rest };
}

/* The 16-bit parts of two multipliers, as a dot product of pairs takes them. */
static inline int32_t
lpt_add_pair (int16_t first, int16_t second)
{
  return (int32_t) ((uint32_t) (uint16_t) second << 16 | (uint16_t) first);
}

/* Whether a single sum can be made of dot products of 16-bit pairs, the parts of the multipliers apart. */
static inline bool
lpt_add_fits_pairs (const LptAdd *p)
{
  int64_t bias = p->bias + ((int64_t) 1 << (p->shift - 1));

  return p->shift >= 16 && p->m1 < INT32_MAX - 1 && p->m2 < INT32_MAX - 1
         && (bias >> 16) < (1 << 30) && (bias >> 16) > -(1 << 30);
}

/* Turns a stepped sum into a single one that has the same code for every pair of codes within the limits, which must be
 * final (lpt-sum.c). False: there is none, left as it was. */
bool lpt_add_to_single (LptAdd *p);

/* y = code of (a - za) * (b - zb) * M. */
typedef struct {
  LptRequantScheme scheme;
  bool             zp_in_float;         /* float scheme: the zero point is added before the rounding */
  uint8_t          xor_a, xor_b;
  int32_t          zp, lo, hi, za, zb;
  int32_t          mult;
  int              shift;
  float            scale;
} LptMul;

/* Single rounding as two fused multiply-adds, for kernels that can round down. With f = (float) (acc + offset[c]),
 *   u8 form of the code = floor (f * high[c] + (f * low[c] + half[c])),    the inner sum to nearest, the outer one down,
 * is the definition's for every accumulator, limits apart: lpt_epilogue_prepare () fills the arrays and proves it
 * (lpt-fma.c).
 * Most channels have low[c] = 0, where the inner sum is half[c]. */
typedef struct {
  int32_t *offset;
  float   *high, *low, *half;
} LptRequantFma;

typedef struct {
  LptStore         store;
  LptRequantScheme scheme;
  int32_t          zp, lo, hi;          /* Q8 */
  float            flo, fhi;            /* F32; -inf and inf for no clamp */
  const int32_t   *bias;                /* [channels] or NULL */
  const int32_t   *weight_zp;           /* [channels] or NULL: needs row sums of the inputs */
  const int32_t   *mult, *shift;        /* [channels], fixed-point schemes */
  const int32_t   *rest;                /* [channels] or NULL, single: lpt_requant_single_rest () */
  const float     *scale;               /* [channels], float scheme and F32 */
  const float     *fbias;               /* [channels] or NULL, F32 */
  const uint8_t   *table;               /* 256 codes or NULL */
  const LptAdd    *add;                 /* residual or NULL: a is this stage's code, b the residual's */
  const uint8_t   *add_table;           /* after the residual */
  LptRequantFma    fma;                 /* [channels] each, or NULL: no room for that form */
  bool             fast;                /* these are set by lpt_epilogue_prepare () */
  bool             fusable, by_fma, by_one_fma, sum_fusable;
} LptEpilogue;

/* Turns two-step rounding, and double where no code lies below the zero point, into single with rests, which kernels
 * fuse: the same codes for every accumulator. Limits must be final. `shift` (which may be that of e) and `rest`: room
 * for all channels. False: left as it was. */
bool lpt_epilogue_to_single (LptEpilogue *e, size_t channels, int32_t *shift, int32_t *rest);

/* Sets `fast`: every product's result fits 32 bits without saturation and the codes are of 8 bits, so vector kernels
 * may skip the general care; `fusable`: kernels may make the result from their registers (words; codes by float and
 * single, where the product has room for a code above it); `sum_fusable`: those of products add the residual there,
 * too; `by_fma`: e->fma is filled and right; `by_one_fma`: and all low[c] are 0.
 * Without this call all must be false. `reach`: no accumulator with its bias is larger in magnitude (before it
 * wraps). */
void lpt_epilogue_prepare (LptEpilogue *e, size_t channels, double reach);

/* Fills e->fma for single rounding; false if one channel's codes would differ somewhere. */
bool lpt_requant_fma (const LptEpilogue *e, size_t channels, double reach);

/* rows x channels accumulators (acc[r * acc_stride + j] is channel channel0 + j, readable up to
 * LPT_CHANNEL_PAD) to `out`; strides of out and residual in bytes. row_sum is read with weight_zp only. */
typedef void (*LptEpilogueFunc) (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0,
                                 const int32_t *acc, size_t acc_stride, const int32_t *row_sum,
                                 void *out, size_t out_stride, const uint8_t *residual, size_t residual_stride);

typedef struct {
  const char     *name;
  LptCpu          needs;
  LptEpilogueFunc run;
  /* The stages on bytes, eltwise.h. */
  void          (*add)   (const LptAdd *p, size_t rows, size_t cols, const uint8_t *a, size_t lda, size_t a_step,
                          const uint8_t *b, size_t ldb, size_t b_step, uint8_t *out, size_t ldo);
  void          (*table) (const uint8_t *table, size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo);
} LptEpilogueKernel;

#define LPT_EPILOGUE_KERNEL(needs, isa, table_isa)                                                                     \
  void lpt_epilogue__##isa (const LptEpilogue *e, size_t rows, size_t channels, size_t channel0,            \
                            const int32_t *acc, size_t acc_stride, const int32_t *row_sum, void *out,       \
                            size_t out_stride, const uint8_t *residual, size_t residual_stride);
#include "executor/kernels/requant/requant.def"
#undef LPT_EPILOGUE_KERNEL

/* Table, residual and its table, in place on bytes that hold the first stage's codes. */
void lpt_epilogue_finish (const LptEpilogueKernel *kernel, const LptEpilogue *e, size_t rows, size_t channels,
                          uint8_t *out, size_t out_stride, const uint8_t *residual, size_t residual_stride);

/* Rows, best first, scalar last; n may be NULL. */
const LptEpilogueKernel *lpt_epilogue_kernels (size_t *n);
const LptEpilogueKernel *lpt_epilogue_kernel  (LptCpu cpu);

/* The definition of the residual and of eltwise add and mul, one element. */
static inline int32_t
lpt_add_code (const LptAdd *p, uint8_t qa, uint8_t qb)
{
  int32_t a = qa ^ p->xor_a, b = qb ^ p->xor_b, lo = p->lo - p->zp, hi = p->hi - p->zp, v;

  switch (p->form)
    {
    case LPT_ADD_SINGLE:
      v = lpt_requant_sat32 (lpt_requant_round_shift ((int64_t) p->m1 * a + (int64_t) p->m2 * b + p->bias, p->shift));
      break;
    case LPT_ADD_STEPPED:
      {
        int32_t (*rq) (int32_t, int32_t, int) = p->step == LPT_REQUANT_SINGLE ? lpt_requant_single : lpt_requant_double;

        a = rq ((a - p->za) * (1 << p->left), p->m1, p->s1);
        b = rq ((b - p->zb) * (1 << p->left), p->m2, p->s2);
        v = rq (lpt_requant_sat32 ((int64_t) a + b), p->mo, p->so);
        break;
      }
    default:
      {
        float f = ((float) (a - p->za) * p->sa + (float) (b - p->zb) * p->sb) / p->sc;

        f = f > (float) lo ? f : (float) lo;
        f = f < (float) hi ? f : (float) hi;
        v = (int32_t) rintf (f);
        break;
      }
    }
  return (v < lo ? lo : v > hi ? hi : v) + p->zp;
}

static inline int32_t
lpt_mul_code (const LptMul *p, uint8_t qa, uint8_t qb)
{
  int32_t product = ((qa ^ p->xor_a) - p->za) * ((qb ^ p->xor_b) - p->zb);

  if (p->scheme == LPT_REQUANT_FLOAT && p->zp_in_float)
    {
      float f = (float) product * p->scale + (float) p->zp;

      f = f > (float) p->lo ? f : (float) p->lo;
      f = f < (float) p->hi ? f : (float) p->hi;
      return (int32_t) rintf (f);
    }
  return lpt_requant_code (p->scheme, product, p->mult, p->shift, p->scale, p->zp, p->lo, p->hi);
}
