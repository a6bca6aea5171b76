/* lpt-quantize-details.c - what a FakeQuantize quantizes to
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <stdlib.h>

/* With 16 bits, what float32 leaves of the ends is more of a step than a zero point may be off by. */
#define WHOLE_ZERO 2e-3

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-quantize-details.h"

#define ZERO_THRESHOLD      1e-6f
#define ASYMMETRY_THRESHOLD 0.002f
#define POW_2_16 G_GUINT64_CONSTANT (65536)
#define POW_2_32 G_GUINT64_CONSTANT (4294967296)

static guint
level_bits (guint64 levels)
{
  switch (levels)
    {
    case 15: case 16:
      return 4;
    case 255: case 256:
      return 8;
    case POW_2_16 - 1: case POW_2_16:
      return 16;
    case POW_2_32 - 1: case POW_2_32:
      return 32;
    default:
      return 0;
    }
}

/* An even count uses the whole range of the type, an odd one leaves out the lowest value. */
static gboolean
levels_are_full (guint64 levels)
{
  return levels % 2 == 0;
}

gboolean
lpt_levels_are_supported (guint64 levels)
{
  return level_bits (levels) != 0;
}

gboolean
lpt_levels_fit (LptDType dtype,
                guint64  levels)
{
  switch (dtype)
    {
    case LPT_DTYPE_I4: case LPT_DTYPE_U4:
      return level_bits (levels) == 4;
    case LPT_DTYPE_I8: case LPT_DTYPE_U8:
      return level_bits (levels) == 8 || level_bits (levels) == 4;
    case LPT_DTYPE_I16: case LPT_DTYPE_U16:
      return level_bits (levels) == 16;
    case LPT_DTYPE_I32: case LPT_DTYPE_U32:
      return level_bits (levels) == 32;
    default:
      return FALSE;
    }
}

LptTypeList
lpt_levels_types (guint64 levels)
{
  LptTypeList list = { 0 };

  switch (level_bits (levels))
    {
    case 4: case 8:
      lpt_type_list_add (&list, LPT_DTYPE_U8);
      lpt_type_list_add (&list, LPT_DTYPE_I8);
      break;
    case 16:
      lpt_type_list_add (&list, LPT_DTYPE_U16);
      lpt_type_list_add (&list, LPT_DTYPE_I16);
      break;
    case 32:
      lpt_type_list_add (&list, LPT_DTYPE_U32);
      lpt_type_list_add (&list, LPT_DTYPE_I32);
      break;
    default:
      break;
    }

  return list;
}

/* The bits that the levels need, in types that are wider than that (4-bit levels in 8-bit types). */
static guint
used_bits (LptDType dtype,
           guint64  levels)
{
  guint bits = level_bits (levels);

  return bits == 4 ? 4 : lpt_dtype_bits (dtype);
}

double
lpt_levels_min (LptDType dtype,
                guint64  levels)
{
  if (lpt_dtype_kind (dtype) != LPT_KIND_SINT)
    return 0;

  return -ldexp (1, (int) used_bits (dtype, levels) - 1) + (levels_are_full (levels) ? 0 : 1);
}

double
lpt_levels_max (LptDType dtype,
                guint64  levels)
{
  guint bits = used_bits (dtype, levels);

  if (lpt_dtype_kind (dtype) == LPT_KIND_SINT)
    return ldexp (1, (int) bits - 1) - 1;

  /* As many integers as levels: a longer range would put the levels between the integers. */
  return ldexp (1, (int) bits) - (levels_are_full (levels) ? 1 : 2);
}

gboolean
lpt_quantize_intervals_are_constant (LptNode *fq)
{
  guint i;

  if (fq->n_in != 5)
    return FALSE;
  for (i = 1; i < 5; i++)
    {
      LptNode *source = lpt_node_src (fq, i);

      if (source == NULL ||
          !(lpt_node_is_const (source) ||
            (source->op == LPT_OP_CONVERT && lpt_node_is_const (lpt_node_src (source, 0)))))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_quantize_is_supported (LptNode *fq)
{
  return lpt_levels_are_supported ((guint64) LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels) &&
         lpt_quantize_intervals_are_constant (fq);
}

/* Inputs @index and @index + 1 in one shape. */
static gboolean
read_side (LptNode   *fq,
           guint      index,
           LptShape  *shape,
           guint     *n,
           float    **low,
           float    **high)
{
  g_autoptr (LptTensor) a = lpt_fold_value (lpt_node_in (fq, index));
  g_autoptr (LptTensor) b = lpt_fold_value (lpt_node_in (fq, index + 1));
  g_autoptr (LptTensor) wide_a = NULL;
  g_autoptr (LptTensor) wide_b = NULL;

  if (a == NULL || b == NULL || !lpt_shape_broadcast (lpt_tensor_shape (a), lpt_tensor_shape (b), shape))
    return FALSE;
  wide_a = lpt_fold_broadcast (a, shape);
  wide_b = lpt_fold_broadcast (b, shape);
  if (wide_a == NULL || wide_b == NULL || lpt_tensor_count (wide_a) == 0)
    return FALSE;
  *n = (guint) lpt_tensor_count (wide_a);
  *low = lpt_tensor_to_f32 (wide_a, NULL);
  *high = lpt_tensor_to_f32 (wide_b, NULL);

  return *low != NULL && *high != NULL;
}

gboolean
lpt_quantize_details_read (LptNode            *fq,
                           LptQuantizeDetails *details)
{
  *details = (LptQuantizeDetails) { .levels = (guint64) LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels };
  /* Intervals that make the data larger are no quantization of it. */
  if (fq->n_in == 5 && lpt_shape_compatible (&lpt_node_in (fq, 0)->shape, &fq->out[0].shape) &&
      read_side (fq, 1, &details->in_shape, &details->n_in, &details->in_low, &details->in_high) &&
      read_side (fq, 3, &details->out_shape, &details->n_out, &details->out_low, &details->out_high))
    return TRUE;
  lpt_quantize_details_clear (details);

  return FALSE;
}

void
lpt_quantize_details_clear (LptQuantizeDetails *details)
{
  g_clear_pointer (&details->in_low, g_free);
  g_clear_pointer (&details->in_high, g_free);
  g_clear_pointer (&details->out_low, g_free);
  g_clear_pointer (&details->out_high, g_free);
}

/* What counts as 0: a millionth, or a quarter of a step of 8 bits where all ends are small. A channel that is dead
 * beside others is none in a layer of such numbers. */
static float
zero_of (const LptQuantizeDetails *details)
{
  float most = 0;
  guint i;

  for (i = 0; i < details->n_out; i++)
    most = fmaxf (most, fmaxf (fabsf (details->out_low[i]), fabsf (details->out_high[i])));

  return most > 0 ? fminf (ZERO_THRESHOLD, most * 1e-3f) : ZERO_THRESHOLD;
}

LptPrecisionDetails
lpt_quantize_precision (const LptQuantizeDetails *details)
{
  LptPrecisionDetails result = { LPT_DTYPE_UNDEFINED, FALSE, FALSE };
  gboolean signed_ok = TRUE, unsigned_ok = TRUE, seen = FALSE, negative = FALSE;
  float full = -(float) details->levels / ((float) details->levels - 2.0f);
  float expected = levels_are_full (details->levels) ? full : -1.0f;
  LptTypeList types = lpt_levels_types (details->levels);
  const float nothing = zero_of (details);
  guint i;

  for (i = 0; i < details->n_out; i++)
    {
      float low = details->out_low[i], high = details->out_high[i];
      gboolean low_not_zero = fabsf (low) >= nothing;

      negative |= low < 0;
      if (!low_not_zero && fabsf (high) < nothing)
        continue;                      /* a dead channel */
      seen = TRUE;
      if (signbit (low) != signbit (high) && low_not_zero)
        {
          unsigned_ok = FALSE;
          result.has_negative = TRUE;
          if (high != 0.0f)
            {
              float ratio = low / high;

              if (fabsf ((ratio - expected) / MIN (ratio, expected)) > ASYMMETRY_THRESHOLD)
                result.has_zp = TRUE;
            }
          else
            result.has_zp = TRUE;
        }
      else
        {
          signed_ok = FALSE;
          if (low_not_zero)
            result.has_zp = TRUE;
        }
    }
  if (!seen)
    {
      signed_ok = negative;
      unsigned_ok = !negative;
    }
  if (!result.has_zp && signed_ok != unsigned_ok && types.n == 2)
    result.dtype = (LptDType) types.v[signed_ok ? 1 : 0];

  return result;
}

LptDataPrecision
lpt_quantize_data_precision (const LptQuantizeDetails *details,
                             const LptTypeList        *required)
{
  LptPrecisionDetails preferred = lpt_quantize_precision (details);
  LptDataPrecision result = { LPT_DTYPE_UNDEFINED };

  if (required->n > 0)
    {
      LptDType dtype = (LptDType) required->v[0];

      if (preferred.dtype != LPT_DTYPE_UNDEFINED && lpt_type_list_has (required, preferred.dtype))
        dtype = preferred.dtype;
      if (!lpt_levels_fit (dtype, details->levels))
        return result;
      result.dtype = dtype;
      result.has_zp = dtype == preferred.dtype ? preferred.has_zp : TRUE;
    }
  else if (preferred.dtype != LPT_DTYPE_UNDEFINED)
    {
      result.dtype = preferred.dtype;
      result.has_zp = preferred.has_zp;
    }
  else
    return result;
  result.min = lpt_levels_min (result.dtype, details->levels);
  result.max = lpt_levels_max (result.dtype, details->levels);

  return result;
}

gboolean
lpt_quantize_zero_point_fits (const LptQuantizeDetails *details,
                              const LptDataPrecision   *precision)
{
  guint i;

  if (!precision->has_zp)
    return TRUE;
  for (i = 0; i < details->n_out; i++)
    {
      double low = details->out_low[i], high = details->out_high[i];
      double shift = (precision->min * high - precision->max * low) / (high - low);

      if (low != high &&
          !(shift >= lpt_dtype_min (precision->dtype) - 0.5 && shift <= lpt_dtype_max (precision->dtype) + 0.5))
        return FALSE;
    }

  return TRUE;
}

gboolean
lpt_quantize_whole_zero (double   low,
                         double   high,
                         guint64  levels,
                         double  *zero)
{
  const double step = (high - low) / ((double) levels - 1), exact = low == 0 ? 0 : -low / step;
  const double noise = fmax (fabs (low), fabs (high)) / fabs (step) / (1 << 22);

  *zero = exact;
  if (!isfinite (exact) || !(fabs (exact - round (exact)) <= fmin (noise, WHOLE_ZERO)))
    return FALSE;
  *zero = round (exact);
  return TRUE;
}

LptAlignedInterval
lpt_quantize_align (float min,
                    float max,
                    float combined_low,
                    float combined_high,
                    float low,
                    float high)
{
  LptAlignedInterval result;
  float q_mul, q_sub;

  if (combined_low == combined_high)
    return (LptAlignedInterval) { combined_low, combined_low, 0, 1, 1 };

  q_mul = (max - min) / (combined_high - combined_low);
  result.scale = (combined_high - combined_low) / (max - min);
  q_sub = combined_low - min * result.scale;
  result.shift = roundf (-q_sub * q_mul);
  result.low = roundf ((low - q_sub) * q_mul);
  result.high = roundf ((high - q_sub) * q_mul);
  result.levels = (guint64) fabsf (result.high - result.low) + 1;

  return result;
}

/* @x moved by @places units of its last place. */
static float
moved (float x,
       gint  places)
{
  for (; places > 0; places--)
    x = nextafterf (x, INFINITY);
  for (; places < 0; places++)
    x = nextafterf (x, -INFINITY);

  return x;
}

/* Is the step of [@low, @high] for codes from @min to @max just @scale, in single precision or rounded to it? */
static gboolean
has_step (float low,
          float high,
          float min,
          float max,
          float scale)
{
  return (high - low) / (max - min) == scale && (float) (((double) high - low) / ((double) max - min)) == scale;
}

void
lpt_quantize_ends (double  scale,
                   double  zero,
                   double  min,
                   double  max,
                   double *low,
                   double *high)
{
  const float first = (float) ((min - zero) * scale), last = (float) ((max - zero) * scale);
  float off = INFINITY;
  gint far, i, sign;

  *low = first;
  *high = last;
  for (far = 0; far <= 4 && off > 0; far++)
    for (i = -far; i <= far; i++)
      for (sign = -1; sign <= 1; sign += 2)
        {
          const float l = moved (first, i), h = moved (last, sign * (far - abs (i)));
          const float beside = fabsf (((float) min * h - (float) max * l) / (h - l) - (float) zero);

          /* An end that is 0 says which numbers there are. */
          if ((first == 0 && l != 0) || (last == 0 && h != 0) || !(beside < off) ||
              !has_step (l, h, (float) min, (float) max, (float) scale))
            continue;
          off = beside;
          *low = l;
          *high = h;
        }
}
