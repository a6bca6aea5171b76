/* lpt-multiplier.c - real multipliers in every framework's representation
 *
 * Q31: real = f * 2^s with f in [0.5, 1); m = round-half-away (f * 2^31), and
 * m == 2^31 becomes (2^30, s + 1); s < -31 is flushed to zero.
 * TPU: over n = -32..30 the first n whose round-half-away (real * 2^n) / 2^n
 * comes strictly closer to the float32 value than every n before; a value
 * beyond all of them saturates.
 * How an accumulator is rescaled stands in kernels/requant/requant-scalar.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/requant/lpt-multiplier.h"

#define Q31_SHIFT_MAX 62    /* saturates every accumulator but 0 */
#define TPU_SHIFT_MIN (-32)
#define TPU_SHIFT_MAX 30
#define TPU_LIMIT_8   127
#define CV18XX_FULL   127.0

static const LptRequantMethod methods[] =
{
  { "single", LPT_SCALE_F64, LPT_MULTIPLIER_Q31_BOUNDED, LPT_REQUANT_SINGLE,
    "one product, one rounding shift, ties toward +inf" },
  { "double", LPT_SCALE_F64_OF_F32, LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
    "two roundings: ties toward +inf, then away from zero" },
  { "two-step", LPT_SCALE_F64_OF_F32, LPT_MULTIPLIER_Q31, LPT_REQUANT_TWO_STEP,
    "two roundings, both ties toward +inf" },
  { "D1", LPT_SCALE_F64_OF_F32, LPT_MULTIPLIER_Q31, LPT_REQUANT_SINGLE,
    "SNPS: double scales, one rounding" },
  { "D2", LPT_SCALE_F64_OF_F32, LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
    "SNPS: double scales, two roundings" },
  { "F2", LPT_SCALE_F32_PRODUCT, LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
    "SNPS: float32 product of scales, two roundings" },
  { "caffe2", LPT_SCALE_F32, LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
    "float32 scales throughout, two roundings" },
  { "qnnpack", LPT_SCALE_F32, LPT_MULTIPLIER_MANTISSA24, LPT_REQUANT_QNNPACK,
    "24-bit mantissa, two roundings, ties by the accumulator's sign" },
  { "float", LPT_SCALE_F32, LPT_MULTIPLIER_FLOAT, LPT_REQUANT_FLOAT,
    "float32 multiplication, ties to even" },
  { "tpu", LPT_SCALE_F64_TO_F32, LPT_MULTIPLIER_TPU32, LPT_REQUANT_SINGLE,
    "searched 32-bit multiplier and right shift, ties toward +inf" },
  { "tpu8", LPT_SCALE_F64_TO_F32, LPT_MULTIPLIER_TPU8, LPT_REQUANT_SINGLE,
    "searched 8-bit multiplier and right shift, ties toward +inf" },
  { "cv18xx", LPT_SCALE_F64_TO_F32, LPT_MULTIPLIER_CV18XX, LPT_REQUANT_SINGLE,
    "truncated 8-bit multiplier and right shift, ties toward +inf" },
  { NULL }
};

const LptRequantMethod *
lpt_requant_methods (void)
{
  return methods;
}

const LptRequantMethod *
lpt_requant_method_find (const char *name)
{
  for (const LptRequantMethod *method = methods; method->name != NULL; method++)
    if (strcmp (method->name, name) == 0)
      return method;

  return NULL;
}

double
lpt_requant_scale (LptScaleArith arith,
                   double        input,
                   double        weight,
                   double        output)
{
  const float in = (float) input, w = (float) weight, out = (float) output;
  const float product = in * w;

  switch (arith)
    {
    case LPT_SCALE_F64:         return input * weight / output;
    case LPT_SCALE_F64_OF_F32:  return (double) in * (double) w / (double) out;
    case LPT_SCALE_F32_PRODUCT: return (double) product / (double) out;
    case LPT_SCALE_F32:         return product / out;
    case LPT_SCALE_F32_RATIO:   return in / out * w;
    case LPT_SCALE_F64_TO_F32:  return (float) (input * weight / output);
    }

  g_return_val_if_reached (0.0);
}

static void
make_q31 (double         real,
          gboolean       bounded,
          LptMultiplier *out)
{
  int s;
  gint64 m;

  if (isinf (real))
    {
      out->m = real > 0 ? G_MAXINT32 : -G_MAXINT32;
      out->s = 30;
      return;
    }

  m = (gint64) round (frexp (real, &s) * 2147483648.0);
  if (m == (gint64) 1 << 31)
    {
      m /= 2;
      s++;
    }
  if (s < -31 || m == 0)
    m = s = 0;
  if (bounded && s > 30)
    {
      m = m > 0 ? G_MAXINT32 : -G_MAXINT32;
      s = 30;
    }

  out->m = (gint32) m;
  out->s = MIN (s, Q31_SHIFT_MAX);
}

/* Left shift = biased exponent - 126, which [2^-32, 1) keeps in [-31, 0]. */
static gboolean
make_mantissa24 (float          real,
                 LptMultiplier *out)
{
  guint32 bits;

  if (!(real >= 0x1p-32f && real < 1.0f))
    return FALSE;

  memcpy (&bits, &real, sizeof bits);
  out->m = (gint32) (((bits & 0x7fffff) | 0x800000) << 7);
  out->s = (gint) (bits >> 23) - 126;

  return TRUE;
}

static void
make_tpu (float          real,
          gint           first_shift,
          double         limit,
          LptMultiplier *out)
{
  float best = INFINITY;

  /* What stays when no shift brings the value below the limit. */
  out->m = (gint32) copysign (limit - 1, real);
  out->s = 31 - first_shift;

  for (gint n = first_shift; n <= TPU_SHIFT_MAX; n++)
    {
      const double m = round (ldexp (real, n));
      const float error = (float) fabs (ldexp (m, -n) - real);

      if (error < best && fabs (m) < limit)
        {
          best = error;
          out->m = (gint32) m;
          out->s = 31 - n;
        }
    }
}

/* The smallest right shift that leaves no bit of the 7 unused; the multiplier is truncated. */
static void
make_cv18xx (float          real,
             LptMultiplier *out)
{
  const double size = fabs (real);
  gint r = 0;

  while (r < 62 && ldexp (size, r + 1) < CV18XX_FULL)
    r++;

  if (size > 0.0)
    {
      out->m = (gint32) CLAMP (ldexp (real, r), -(double) G_MAXINT32, (double) G_MAXINT32);
      out->s = 31 - r;
    }
}

/* (acc m + 128) >> 8 */
static void
make_q8 (float          real,
         LptMultiplier *out)
{
  out->m = (gint32) rintf (CLAMP (real, -0x1p22f, 0x1p22f) * 256.0f);
  out->s = 31 - 8;
}

gboolean
lpt_multiplier_make (LptMultiplierForm  form,
                     LptRequantScheme        rounding,
                     double             real,
                     LptMultiplier     *out)
{
  *out = (LptMultiplier) { .rounding = rounding };
  if (isnan (real))
    return TRUE;

  switch (form)
    {
    case LPT_MULTIPLIER_Q31:            make_q31 (real, FALSE, out); break;
    case LPT_MULTIPLIER_Q31_BOUNDED:    make_q31 (real, TRUE, out); break;
    case LPT_MULTIPLIER_MANTISSA24:     return make_mantissa24 ((float) real, out);
    case LPT_MULTIPLIER_FLOAT:          out->f = (float) CLAMP (real, -G_MAXFLOAT, G_MAXFLOAT); break;
    case LPT_MULTIPLIER_TPU32:          make_tpu ((float) real, TPU_SHIFT_MIN, G_MAXINT32, out); break;
    case LPT_MULTIPLIER_TPU8:           make_tpu ((float) real, TPU_SHIFT_MIN, TPU_LIMIT_8, out); break;
    case LPT_MULTIPLIER_TPU32_POSITIVE: make_tpu ((float) real, 0, G_MAXINT32, out); break;
    case LPT_MULTIPLIER_TPU8_POSITIVE:  make_tpu ((float) real, 0, TPU_LIMIT_8, out); break;
    case LPT_MULTIPLIER_CV18XX:         make_cv18xx ((float) real, out); break;
    case LPT_MULTIPLIER_Q8:             make_q8 ((float) real, out); break;
    }

  return TRUE;
}

gboolean
lpt_requant_multiplier (const LptRequantMethod *method,
                        double                  input,
                        double                  weight,
                        double                  output,
                        LptMultiplier          *out)
{
  const double real = lpt_requant_scale (method->arith, input, weight, output);

  return lpt_multiplier_make (method->form, method->rounding, real, out);
}

gint32
lpt_multiplier_apply (const LptMultiplier *multiplier,
                      gint32               acc)
{
  const gint32 m = multiplier->m;
  const gint s = multiplier->s;

  switch (multiplier->rounding)
    {
    case LPT_REQUANT_SINGLE:   return lpt_requant_single (acc, m, s);
    case LPT_REQUANT_DOUBLE:   return lpt_requant_double (acc, m, s);
    case LPT_REQUANT_TWO_STEP: return lpt_requant_two_step (acc, m, s);
    case LPT_REQUANT_QNNPACK:  return lpt_requant_qnnpack (acc, m, s);
    default:                   break;      /* FLOAT */
    }

  /* The clamp comes before the rounding, and float32 has no 2^31 - 1. */
  if ((float) acc * multiplier->f >= 0x1p31f)
    return G_MAXINT32;

  return lpt_requant_float (acc, multiplier->f, G_MININT32, G_MAXINT32 - 127);
}

gint32
lpt_multiplier_apply_acc64 (const LptMultiplier *multiplier,
                            gint64               acc)
{
  const gint32 m = multiplier->m;
  const gint32 m16 = m >= 0x7fff0000 ? 0x7fff : (m + (1 << 15)) >> 16;

  return lpt_requant_sat32 (lpt_requant_round_shift (acc * m16, 15 - multiplier->s));
}

/* acc m = high 2^31 + low, both within 64 bits */
gint32
lpt_multiplier_apply_wide (const LptMultiplier *multiplier,
                           gint64               acc)
{
  const gint64 m = multiplier->m;
  const gint shift = 31 - multiplier->s;
  gint64 high, low;

  /* Multipliers from 1 on saturate beyond 32 bits. */
  if (shift < 31)
    return lpt_multiplier_apply (multiplier, lpt_requant_sat32 (acc));

  high = (acc >> 31) * m;
  low = (acc & 0x7fffffff) * m + (G_GINT64_CONSTANT (1) << (MIN (shift, 62) - 1));

  return lpt_requant_sat32 ((high + (low >> 31)) >> MIN (shift - 31, 31));
}

gint32
lpt_saturating_rounding_doubling_high_mul (gint32 a,
                                           gint32 b)
{
  return lpt_requant_srdhm (a, b);
}

gint32
lpt_rounding_divide_by_pot (gint32 x,
                            gint   exponent)
{
  g_return_val_if_fail (exponent >= 0, x);

  return exponent > 31 ? 0 : lpt_requant_rdbpot (x, exponent);
}
