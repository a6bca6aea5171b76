/* convert.c - Convert, ConvertLike, FakeQuantize, FakeConvert
 *
 * These are the ops that round in reference arithmetic:
 *   Convert       real to integer truncates, then saturates (4-bit types wrap); integer to narrower integer is
 *                 modulo; to f16, bf16 and the smaller floats nearest even. To 8 or 16 bits behind a FakeQuantize,
 *                 whose levels may have been moved on the way, it rounds half to even, as the FakeQuantize with that
 *                 output type does (LPT merges the two); elsewhere what is an integer up to the error of two roundings
 *                 to f32 (q / 255 * 255) counts as the integer: |x - n| <= 2^-22 |x|.
 *   FakeQuantize  in f32 and in the order that its definition gives, half to even; rounds to an integer and
 *                 saturates where its output type is one.
 *   FakeConvert   y = (f8 (x scale - shift) + shift) / scale, f8 nearest even and saturating.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/lpt-code-loops.h"
#include "eval/lpt-convert-bounds.h"
#include "eval/lpt-exec-ops.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/scalar/lpt-wrap.h"

#define MAX_MOVES 16

/* --- Convert --- */

static inline double
to_whole (double   x,
          double   slack,
          double   low,
          double   high)
{
  double near = nearbyint (x);

  if (isnan (x))
    return 0;
  x = fabs (x - near) <= slack ? near : trunc (x);

  return x < low ? low : x > high ? high : x;
}

/* Codes stand for numbers, which an output without quantization holds. */
static gboolean
reads_numbers (const LptCall *call)
{
  return call->in[0].quant != NULL && call->out[0].quant == NULL;
}

/* Levels of a FakeQuantize, maybe moved on the way? */
static gboolean
reads_levels (LptNode *node)
{
  LptNode *source = lpt_node_src (node, 0);

  for (guint steps = 0; steps < MAX_MOVES && source != NULL && (source->info->flags & LPT_OP_F_PRESERVES) != 0; steps++)
    source = lpt_node_src (source, 0);

  return source != NULL && source->op == LPT_OP_FAKE_QUANTIZE;
}

LptConvertNear
lpt_convert_near (LptNode *convert)
{
  if (lpt_dtype_bits (lpt_node_out (convert)->dtype) > 16)
    return (LptConvertNear) { 0, 0 };
  return reads_levels (convert) ? (LptConvertNear) { 0.5, 0 } : (LptConvertNear) { 0, 1.0 / (1 << 22) };
}

static gboolean
to_integer (LptCall *call,
            LptDType dtype,
            GError **error)
{
  gint64 i, count = lpt_array_count (&call->out[0]);
  gboolean from_integer = !lpt_dtype_is_real (call->in[0].declared) && !reads_numbers (call);
  double low = lpt_convert_low (dtype), high = lpt_convert_high (dtype);
  const LptConvertNear near = lpt_convert_near (call->node);
  gint64 *y = lpt_call_out_i64 (call, 0, error);

  if (y == NULL)
    return FALSE;
  if (lpt_dtype_bits (dtype) < 8)
    {
      low = -9.0e18;
      high = 9.0e18;
    }

  if (from_integer)
    {
      const gint64 *x = lpt_call_i64 (call, 0, error);

      if (x == NULL)
        return FALSE;
      memcpy (y, x, (gsize) count * sizeof *y);
      lpt_wrap_words (y, count, dtype);
      return TRUE;
    }
  else
    {
      const float *x = lpt_call_f32 (call, 0, error);

      for (i = 0; x != NULL && i < count; i++)
        y[i] = lpt_wrap ((gint64) to_whole (x[i], near.slack + near.share * fabs ((double) x[i]), low, high), dtype);
      return x != NULL;
    }
}

gboolean
lpt_run_convert (LptCall *call,
                 GError **error)
{
  LptDType dtype = call->out[0].declared;
  gint64 i, count = lpt_array_count (&call->out[0]);

  if (dtype == LPT_DTYPE_BOOL)
    {
      gint64 *y = lpt_call_out_i64 (call, 0, error);
      const gboolean words = lpt_call_is_i64 (call, 0) && !reads_numbers (call);
      const float *x = y == NULL || words ? NULL : lpt_call_f32 (call, 0, error);
      const gint64 *k = y != NULL && words ? call->in[0].data : NULL;

      if (y == NULL || (x == NULL && k == NULL))
        return FALSE;
      for (i = 0; i < count; i++)
        y[i] = x != NULL ? x[i] != 0 : k[i] != 0;
      return TRUE;
    }
  if (lpt_dtype_is_integer (dtype))
    return to_integer (call, dtype, error);

  {
    const float *x = lpt_call_f32 (call, 0, error);
    float *y = x != NULL ? lpt_call_out_f32 (call, 0, error) : NULL;

    if (dtype == LPT_DTYPE_F8E8M0 && call->node->op == LPT_OP_CONVERT)
      for (i = 0; y != NULL && i < count; i++)
        y[i] = (float)
            lpt_float_decode (dtype,
                              lpt_float_encode (dtype, x[i],
                                                (LptPowerRound) LPT_ATTRS (call->node, LptConvertAttrs)->power_round));
    else
      for (i = 0; y != NULL && i < count; i++)
        y[i] = dtype == LPT_DTYPE_F32 || dtype == LPT_DTYPE_F64 ? x[i] : (float) lpt_dtype_round (dtype, x[i]);

    return y != NULL;
  }
}

/* --- FakeQuantize --- */

typedef struct
{
  float il, ih, ol, oh;
} Interval;

static inline float
fake_quantize (float           x,
               const Interval *q,
               float           steps)
{
  if (x <= MIN (q->il, q->ih))
    return q->ol;
  if (x > MAX (q->il, q->ih))
    return q->oh;

  return nearbyintf ((x - q->il) / (q->ih - q->il) * steps) / steps * (q->oh - q->ol) + q->ol;
}

gboolean
lpt_run_fake_quantize (LptCall *call,
                       GError **error)
{
  const LptShape *shape = &call->out[0].shape;
  LptDType dtype = call->out[0].declared;
  gint64 levels = LPT_ATTRS (call->node, LptFakeQuantizeAttrs)->levels;
  float steps = (float) (levels - 1);
  float low = (float) lpt_dtype_min (dtype), high = (float) lpt_dtype_max (dtype);
  gint64 strides[6][LPT_MAX_RANK], i;
  const float *in[5];
  float *y;
  LptLoop loop;
  guint k;

  if (levels < 2)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "levels is %" G_GINT64_FORMAT ", must be at least 2", levels);
      return FALSE;
    }
  for (k = 0; k < 5; k++)
    {
      in[k] = lpt_call_f32 (call, k, error);
      if (in[k] == NULL || !lpt_broadcast_check (&call->in[k].shape, shape, strides[k], error))
        return FALSE;
    }
  y = lpt_call_out_f32 (call, 0, error);
  if (y == NULL)
    return FALSE;
  lpt_shape_strides (shape, strides[5]);

  for (lpt_loop_init (&loop, shape, 6, strides); !loop.done; lpt_loop_next (&loop))
    for (i = 0; i < loop.inner; i++)
      {
        Interval q = { in[1][loop.offset[1] + i * loop.step[1]], in[2][loop.offset[2] + i * loop.step[2]],
                       in[3][loop.offset[3] + i * loop.step[3]], in[4][loop.offset[4] + i * loop.step[4]] };
        float v = fake_quantize (in[0][loop.offset[0] + i * loop.step[0]], &q, steps);

        if (lpt_dtype_is_integer (dtype) && !isnan (v))
          {
            v = nearbyintf (v);
            v = v < low ? low : v > high ? high : v;
          }
        y[loop.offset[5] + i * loop.step[5]] = v;
      }

  return TRUE;
}

/* --- FakeConvert --- */

/* Nearest value with @mantissa bits, exponents from @e_min on, magnitude up to @max. */
static float
round_f8 (float x,
          int   mantissa,
          int   e_min,
          float max)
{
  int e;
  double step;

  if (isnan (x))
    return x;
  if (fabsf (x) >= max)
    return copysignf (max, x);
  frexp (x, &e);
  step = ldexp (1, MAX (e - 1, e_min) - mantissa);
  x = (float) (nearbyint (x / step) * step);

  return fabsf (x) > max ? copysignf (max, x) : x;
}

gboolean
lpt_run_fake_convert (LptCall *call,
                      GError **error)
{
  gboolean e5m2 = LPT_ATTRS (call->node, LptFakeConvertAttrs)->destination_type == LPT_FAKE_CONVERT_E5M2;
  const LptShape *shape = &call->out[0].shape;
  gint64 strides[4][LPT_MAX_RANK], i;
  const float *in[3] = { NULL };
  float *y;
  LptLoop loop;
  guint k, n = lpt_call_has (call, 2) ? 3 : 2;

  memset (strides, 0, sizeof strides);
  for (k = 0; k < n; k++)
    {
      in[k] = lpt_call_f32 (call, k, error);
      if (in[k] == NULL || !lpt_broadcast_check (&call->in[k].shape, shape, strides[k], error))
        return FALSE;
    }
  y = lpt_call_out_f32 (call, 0, error);
  if (y == NULL)
    return FALSE;
  lpt_shape_strides (shape, strides[3]);

  for (lpt_loop_init (&loop, shape, 4, strides); !loop.done; lpt_loop_next (&loop))
    for (i = 0; i < loop.inner; i++)
      {
        float scale = in[1][loop.offset[1] + i * loop.step[1]];
        float shift = n > 2 ? in[2][loop.offset[2] + i * loop.step[2]] : 0;
        float v = in[0][loop.offset[0] + i * loop.step[0]] * scale - shift;

        v = e5m2 ? round_f8 (v, 2, -14, 57344) : round_f8 (v, 3, -6, 448);
        y[loop.offset[3] + i * loop.step[3]] = (v + shift) / scale;
      }

  return TRUE;
}
