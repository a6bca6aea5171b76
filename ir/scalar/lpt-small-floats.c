/* lpt-small-floats.c - floats of 8 and 4 bits: what a code means, and the code of a number
 *
 * All but two are sign, exponent, mantissa, and differ in what their last codes are:
 *   IEEE     the highest exponent holds infinities and NaNs (e5m2)
 *   FN       finite: all ones is NaN, the rest of the highest exponent are numbers (e4m3)
 *   FNUZ     finite, one zero: minus zero is the only NaN (e4m3fnuz, e5m2fnuz)
 *   NUMBERS  nothing but numbers (e2m1)
 * e8m0 is a power of two without sign and zero; nf4 is a table of quantiles of the normal distribution.
 *
 * Numbers round half to even from f64. One that is too large becomes infinity, else NaN, else the largest number;
 * whoever wants it limited clamps before. In e8m0, what is negative or too small is its smallest number; nf4 takes the
 * nearest entry, the lower of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-types.h>

typedef enum { IEEE, FN, FNUZ, NUMBERS } Specials;

typedef struct
{
  LptDType dtype;
  gint     mantissa;      /* bits */
  gint     exponent;
  gint     bias;
  Specials specials;
  double   max;
} Format;

static const Format formats[] =
{
  { LPT_DTYPE_F8E4M3,     3, 4, 7,  FN,      448 },
  { LPT_DTYPE_F8E4M3FNUZ, 3, 4, 8,  FNUZ,    240 },
  { LPT_DTYPE_F8E5M2,     2, 5, 15, IEEE,    57344 },
  { LPT_DTYPE_F8E5M2FNUZ, 2, 5, 16, FNUZ,    57344 },
  { LPT_DTYPE_F4E2M1,     1, 2, 1,  NUMBERS, 6 },
};

static const float nf4[16] =
{
  -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f, -0.18477343022823334f,
  -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
  0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f,
};

/* Above which a number takes the next entry: the middle of the two as OpenVINO has it, a few in the last bit of f32
 * beside it. */
static const float nf4_limits[15] =
{
  -0.8480964004993439f, -0.6106329262256622f, -0.4599952697753906f, -0.33967943489551544f, -0.23460740596055984f,
  -0.13791173323988914f, -0.045525018125772476f, 0.03979014977812767f, 0.1202552504837513f, 0.2035212516784668f,
  0.2920137718319893f, 0.3893125355243683f, 0.5016634166240692f, 0.6427869200706482f, 0.8614784181118011f,
};

#define E8M0_BIAS 127
#define E8M0_NAN  255

static const Format *
find_format (LptDType dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].dtype == dtype)
      return &formats[i];

  g_return_val_if_reached (&formats[0]);
}

static guint
sign_bit (const Format *f)
{
  return 1u << (f->mantissa + f->exponent);
}

/* The code of NaN, without sign where that has one. */
static guint
nan_code (const Format *f)
{
  switch (f->specials)
    {
    case IEEE:
      return sign_bit (f) - (1u << (f->mantissa - 1));      /* the first bit of the mantissa: a quiet NaN */
    case FN:
      return sign_bit (f) - 1;
    case FNUZ:
    case NUMBERS:      /* has none: minus zero stands for it */
      break;
    }

  return sign_bit (f);
}

static gboolean
is_nan_code (const Format *f,
             guint         code)
{
  guint magnitude = code & (sign_bit (f) - 1);

  switch (f->specials)
    {
    case IEEE:
      return magnitude > ((1u << f->exponent) - 1) << f->mantissa;
    case FN:
      return magnitude == sign_bit (f) - 1;
    case FNUZ:
      return code == sign_bit (f);
    case NUMBERS:
      break;
    }

  return FALSE;
}

double
lpt_float_decode (LptDType dtype,
                  guint    code)
{
  const Format *f;
  gint exponent, mantissa;
  double value;

  if (dtype == LPT_DTYPE_NF4)
    return nf4[code & 15];
  if (dtype == LPT_DTYPE_F8E8M0)
    return code == E8M0_NAN ? NAN : ldexp (1, (gint) code - E8M0_BIAS);

  f = find_format (dtype);
  mantissa = (gint) (code & ((1u << f->mantissa) - 1));
  exponent = (gint) (code >> f->mantissa & ((1u << f->exponent) - 1));
  if (is_nan_code (f, code))
    value = NAN;
  else if (f->specials == IEEE && exponent == (1 << f->exponent) - 1)
    value = INFINITY;
  else if (exponent == 0)
    value = ldexp (mantissa, 1 - f->bias - f->mantissa);
  else
    value = ldexp (mantissa + (1 << f->mantissa), exponent - f->bias - f->mantissa);

  return (code & sign_bit (f)) != 0 && !(f->specials == FNUZ && isnan (value)) ? -value : value;
}

static guint
encode_nf4 (double value)
{
  guint code = 0;

  while (code < 15 && value > nf4_limits[code])
    code++;

  return code;
}

static guint
encode_e8m0 (double        value,
             LptPowerRound round)
{
  gint exponent;
  double fraction;      /* in [1, 2) */
  gboolean up;

  if (isnan (value))
    return E8M0_NAN;
  if (value <= 0x1p-127)
    return 0;
  if (isinf (value))
    return E8M0_NAN - 1;
  fraction = frexp (value, &exponent) * 2;
  exponent += E8M0_BIAS - 1;
  up = round == LPT_POWER_ROUND_UP ? fraction > 1
       : round == LPT_POWER_ROUND_NEAREST_UP ? fraction >= 1.5
       : round == LPT_POWER_ROUND_EVEN && (fraction > 1.5 || (fraction == 1.5 && (exponent & 1) != 0));

  return (guint) CLAMP (exponent + up, 0, E8M0_NAN - 1);
}

guint
lpt_float_encode (LptDType      dtype,
                  double        value,
                  LptPowerRound round)
{
  const Format *f;
  double magnitude = fabs (value);
  guint sign;
  gint exponent, least;

  if (dtype == LPT_DTYPE_NF4)
    return encode_nf4 (value);
  if (dtype == LPT_DTYPE_F8E8M0)
    return encode_e8m0 (value, round);

  f = find_format (dtype);
  least = 1 - f->bias;
  sign = signbit (value) ? sign_bit (f) : 0;
  if (isnan (value))
    return f->specials == FNUZ || f->specials == NUMBERS ? nan_code (f) : sign | nan_code (f);

  /* A whole number of the steps that its exponent has. */
  frexp (magnitude, &exponent);
  exponent = magnitude > 0 ? MAX (exponent - 1, least) : least;
  if (isfinite (value))
    magnitude = rint (ldexp (magnitude, f->mantissa - exponent));
  if (!isfinite (value) || ldexp (magnitude, exponent - f->mantissa) > f->max)
    {
      if (f->specials == NUMBERS)
        return sign | (sign_bit (f) - 1);
      if (f->specials == IEEE)
        return sign | ((1u << f->exponent) - 1) << f->mantissa;
      return f->specials == FNUZ ? nan_code (f) : sign | nan_code (f);
    }
  /* Steps below 2^mantissa are subnormal; those of 2^(mantissa + 1) carry into the exponent by themselves. */
  magnitude += ldexp (exponent - least, f->mantissa);
  if (f->specials == FNUZ && magnitude == 0)
    return 0;

  return sign | (guint) magnitude;
}

double
lpt_float_max (LptDType dtype)
{
  if (dtype == LPT_DTYPE_NF4)
    return 1;

  return dtype == LPT_DTYPE_F8E8M0 ? 0x1p127 : find_format (dtype)->max;
}
