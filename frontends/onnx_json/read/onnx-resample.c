/* onnx-resample.c - Resize by hand, where Interpolate has no such mode
 *
 * Resize is separable: one axis after the other,
 *
 *     y[o] = sum over the taps k of w_k[o] * x[clamp (i[o] + k, 0, L - 1)]
 *
 * with c[o] the place of o in x, as sums of Gather times a vector along the axis. Lengths may be known at run time
 * only.
 * L is the length of x, s the scale, M = L s (or the size asked for), N the number of o: floor (M), and with a scale
 * that keeps the aspect ratio round (M):
 *
 *     half_pixel            c = (o + 1/2) / s - 1/2
 *     asymmetric            c = o / s
 *     half_pixel_symmetric  the same + (1 - N / M) L / 2
 *     align_corners         c = o (L - 1) / (M - 1), 0 where M = 1; Interpolate has floor (M) there
 *     tf_crop_and_resize    c = a (L - 1) + o (b - a) (L - 1) / (M - 1), (a + b) (L - 1) / 2 where M = 1, of a region [a, b]
 *
 *     linear   i = floor (c), f = c - i: taps 0, 1 with 1 - f, f
 *     cubic    taps -1 ... 2 with the weights of Keys' kernel for the distances 1 + f, f, 1 - f, 2 - f
 *     nearest  i = c rounded, one tap
 *
 * exclude_outside gives taps outside of [0, L - 1] the weight 0 and divides by the sum of the others. What
 * tf_crop_and_resize asks for outside of [0, L - 1] on any axis is the extrapolation value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-resample.h"

#define MAX_TAPS 4

/* One axis. */
typedef struct
{
  LptOnnxNode           *on;
  const LptOnnxResample *r;
  gint                   axis, rank;
  LptValue              *last;     /* L - 1 */
  LptValue              *place;    /* c */
} Axis;

static LptValue *
binary (LptOnnxNode *on,
        LptOp        op,
        LptValue    *a,
        LptValue    *b)
{
  return lpt_onnx_emit (on, op, 2, a, b);
}

static LptValue *
with (LptOnnxNode *on,
      LptOp        op,
      LptValue    *a,
      double       b)
{
  return binary (on, op, a, lpt_onnx_like (on, a, b));
}

/* Element @i of a vector, as a scalar. */
static LptValue *
element (LptOnnxNode *on,
         LptValue    *vector,
         gint64       i)
{
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, vector, lpt_onnx_i64_scalar (on, i), lpt_onnx_i64_scalar (on, 0));
}

static LptValue *
real (LptOnnxNode *on,
      LptValue    *value)
{
  return lpt_onnx_convert (on, value, LPT_DTYPE_F32);
}

/* numbers / (M - 1); @single where M = 1 */
static LptValue *
per_step (LptOnnxNode *on,
          LptValue    *numbers,
          LptValue    *length,
          LptValue    *single)
{
  LptValue *is_one = with (on, LPT_OP_EQUAL, length, 1);
  LptValue *steps = lpt_onnx_emit (on, LPT_OP_SELECT, 3, is_one, lpt_onnx_like (on, length, 1),
                                   with (on, LPT_OP_SUBTRACT, length, 1));

  return lpt_onnx_emit (on, LPT_OP_SELECT, 3, is_one, single, binary (on, LPT_OP_DIVIDE, numbers, steps));
}

static void
find_places (Axis     *a,
             LptValue *x,
             guint     i)
{
  LptOnnxNode *on = a->on;
  const LptOnnxResample *r = a->r;
  LptValue *length = real (on, lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, a->axis), 0));
  LptValue *target = element (on, r->target, i), *scale, *resized, *whole, *count, *o,
           *zero = lpt_onnx_scalar (on, LPT_DTYPE_F32, 0);

  a->last = with (on, LPT_OP_SUBTRACT, length, 1);
  if (lpt_dtype_is_real (target->dtype))
    {
      scale = real (on, target);
      resized = binary (on, LPT_OP_MULTIPLY, length, scale);
      whole = lpt_onnx_emit (on, LPT_OP_FLOOR, 1, resized);
    }
  else
    {
      whole = real (on, target);
      scale = r->scale != NULL ? r->scale : binary (on, LPT_OP_DIVIDE, whole, length);
      resized = r->scale != NULL ? binary (on, LPT_OP_MULTIPLY, length, scale) : whole;
    }
  count = lpt_onnx_convert (on, whole, LPT_DTYPE_I64);
  o = real (on, lpt_onnx_range (on, lpt_onnx_i64_scalar (on, 0), count, lpt_onnx_i64_scalar (on, 1)));

  if (r->coordinate == LPT_COORD_ALIGN_CORNERS)
    a->place = per_step (on, binary (on, LPT_OP_MULTIPLY, o, a->last), resized, zero);
  else if (r->coordinate == LPT_COORD_ASYMMETRIC)
    a->place = binary (on, LPT_OP_DIVIDE, o, scale);
  else if (r->coordinate == LPT_ONNX_COORD_CROP)
    {
      LptValue *from = real (on, element (on, r->roi, i)), *to = real (on, element (on, r->roi, i + r->n));
      LptValue *span = binary (on, LPT_OP_MULTIPLY, binary (on, LPT_OP_SUBTRACT, to, from), a->last);

      a->place = per_step (on, binary (on, LPT_OP_MULTIPLY, o, span), resized, with (on, LPT_OP_MULTIPLY, span, 0.5));
      a->place = binary (on, LPT_OP_ADD, a->place, binary (on, LPT_OP_MULTIPLY, from, a->last));
    }
  else
    {
      a->place = with (on, LPT_OP_SUBTRACT, binary (on, LPT_OP_DIVIDE, with (on, LPT_OP_ADD, o, 0.5), scale), 0.5);
      if (r->coordinate == LPT_ONNX_COORD_SYMMETRIC)
        {
          LptValue *missing = binary (on, LPT_OP_SUBTRACT, lpt_onnx_like (on, whole, 1),
                                      binary (on, LPT_OP_DIVIDE, whole, resized));

          a->place = binary (on, LPT_OP_ADD, a->place,
                             with (on, LPT_OP_MULTIPLY, binary (on, LPT_OP_MULTIPLY, missing, length), 0.5));
        }
    }
}

/* A vector along the axis, shaped to broadcast with x. */
static LptValue *
along (const Axis *a,
       LptValue   *vector)
{
  gint64 dims[LPT_MAX_RANK];

  for (gint i = 0; i < a->rank; i++)
    dims[i] = i == a->axis ? -1 : 1;
  return lpt_onnx_reshape (a->on, vector, (guint) a->rank, dims);
}

static LptValue *
inside (const Axis *a,
        LptValue   *place)
{
  return binary (a->on, LPT_OP_LOGICAL_AND, with (a->on, LPT_OP_GREATER_EQUAL, place, 0),
                 binary (a->on, LPT_OP_LESS_EQUAL, place, a->last));
}

/* Keys' kernel at distance @d, with the polynomials for d < 1 (@near) and for 1 <= d < 2 in Horner form. */
static LptValue *
cubic (const Axis *a,
       LptValue   *d,
       gboolean    near)
{
  double c = a->r->cube_coeff;
  double factors[2][4] = { { c, -5 * c, 8 * c, -4 * c }, { c + 2, -(c + 3), 0, 1 } };
  LptValue *sum = lpt_onnx_like (a->on, d, factors[near][0]);

  for (guint i = 1; i < 4; i++)
    sum = with (a->on, LPT_OP_ADD, binary (a->on, LPT_OP_MULTIPLY, sum, d), factors[near][i]);
  return sum;
}

/* Number of taps; places and weights of them. */
static guint
find_taps (const Axis  *a,
           LptValue   **places,
           LptValue   **weights)
{
  LptOnnxNode *on = a->on;
  LptValue *whole = lpt_onnx_emit (on, LPT_OP_FLOOR, 1, a->place);
  LptValue *f = binary (on, LPT_OP_SUBTRACT, a->place, whole),
           *rest = binary (on, LPT_OP_SUBTRACT, lpt_onnx_like (on, f, 1), f), *sum = NULL;
  guint n = a->r->mode == LPT_INTERPOLATE_CUBIC ? 4 : 2;

  if (n == 2)
    {
      weights[0] = rest;
      weights[1] = f;
    }
  else
    {
      weights[0] = cubic (a, with (on, LPT_OP_ADD, f, 1), FALSE);
      weights[1] = cubic (a, f, TRUE);
      weights[2] = cubic (a, rest, TRUE);
      weights[3] = cubic (a, with (on, LPT_OP_ADD, rest, 1), FALSE);
    }
  for (guint k = 0; k < n; k++)
    {
      places[k] = with (on, LPT_OP_ADD, whole, (double) k - (n == 4 ? 1 : 0));
      if (!a->r->exclude_outside)
        continue;
      weights[k] = lpt_onnx_emit (on, LPT_OP_SELECT, 3, inside (a, places[k]), weights[k],
                                  lpt_onnx_like (on, weights[k], 0));
      sum = sum == NULL ? weights[k] : binary (on, LPT_OP_ADD, sum, weights[k]);
    }
  for (guint k = 0; sum != NULL && k < n; k++)
    weights[k] = binary (on, LPT_OP_DIVIDE, weights[k], sum);
  return n;
}

static LptValue *
gather (const Axis *a,
        LptValue   *x,
        LptValue   *place)
{
  LptOnnxNode *on = a->on;
  LptValue *index = binary (on, LPT_OP_MAXIMUM, binary (on, LPT_OP_MINIMUM, place, a->last),
                            lpt_onnx_scalar (on, LPT_DTYPE_F32, 0));

  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, lpt_onnx_convert (on, index, LPT_DTYPE_I64),
                        lpt_onnx_i64_scalar (on, a->axis));
}

static LptValue *
nearest (const Axis *a,
         LptValue   *x)
{
  LptOnnxNode *on = a->on;
  LptValue *place = a->place;

  switch (a->r->rounding)
    {
    case LPT_NEAREST_ROUND_PREFER_FLOOR:
      place = lpt_onnx_emit (on, LPT_OP_CEILING, 1, with (on, LPT_OP_SUBTRACT, place, 0.5));
      break;
    case LPT_NEAREST_ROUND_PREFER_CEIL:
      place = lpt_onnx_emit (on, LPT_OP_FLOOR, 1, with (on, LPT_OP_ADD, place, 0.5));
      break;
    default:
      place = lpt_onnx_emit (on, a->r->rounding == LPT_NEAREST_CEIL ? LPT_OP_CEILING : LPT_OP_FLOOR, 1, place);
    }
  return gather (a, x, place);
}

static LptValue *
resample_axis (const Axis *a,
               LptValue   *x)
{
  LptValue *places[MAX_TAPS], *weights[MAX_TAPS], *sum = NULL;
  guint n;

  if (a->r->mode == LPT_INTERPOLATE_NEAREST)
    return nearest (a, x);
  n = find_taps (a, places, weights);
  for (guint k = 0; k < n; k++)
    {
      LptValue *part = binary (a->on, LPT_OP_MULTIPLY, gather (a, x, places[k]), along (a, weights[k]));

      sum = sum == NULL ? part : binary (a->on, LPT_OP_ADD, sum, part);
    }
  return sum;
}

LptValue *
lpt_onnx_resample (LptOnnxNode           *on,
                   LptValue              *x,
                   const LptOnnxResample *r)
{
  gint rank = lpt_onnx_rank (on, x);
  LptDType dtype = x->dtype;
  LptValue *y = x, *known = NULL;

  if (r->mode != LPT_INTERPOLATE_NEAREST)
    {
      if (!lpt_dtype_is_real (dtype))
        lpt_onnx_unsupported (on, "this coordinate_transformation_mode or exclude_outside on %s",
                              lpt_dtype_name (dtype));
      y = real (on, y);
    }
  for (guint i = 0; i < r->n && on->error == NULL; i++)
    {
      Axis a = { .on = on, .r = r, .axis = (gint) r->axes[i], .rank = rank };

      find_places (&a, x, i);
      if (r->coordinate == LPT_ONNX_COORD_CROP)
        {
          LptValue *mask = along (&a, inside (&a, a.place));

          known = known == NULL ? mask : binary (on, LPT_OP_LOGICAL_AND, known, mask);
        }
      y = resample_axis (&a, y);
    }
  if (known != NULL)
    y = lpt_onnx_emit (on, LPT_OP_SELECT, 3, known, y, lpt_onnx_like (on, y, r->extrapolation));
  return lpt_onnx_convert (on, y, dtype);
}
