/* onnx-map-random.c - ONNX RandomUniform, RandomNormal, and those of the shape of an input; Bernoulli, Multinomial
 *
 * ONNX does not say how numbers are drawn.
 *
 *   with a seed     constants, those of ONNX Runtime's first run: Park and Miller's generator x' = 16807 x mod
 *                   (2^31 - 1) from x = seed (1 for 0), each number u = (x - 1) / (2^31 - 2) in float32 arithmetic;
 *                   normal ones by Marsaglia's polar method, the second of a pair first. Only of float32 and of a
 *                   known shape.
 *   without one     RandomUniform of the graph, whose numbers depend on the node's name and are the same in each run;
 *                   normal ones sqrt (-2 ln (1 - u)) cos (2 pi v) of two of them
 *
 * Bernoulli is 1 where u < p; Multinomial how many sums p[0] + ... + p[c], p the softmax of its input, are not above u.
 *
 * Refused: a seed of the last two (ONNX Runtime 1.30 gives 1 with the probability 1 - p), a seed that is no whole
 * number below 2^32, or has another type, a computed shape, more than MOST_NUMBERS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#include <math.h>

#define MOST_NUMBERS (1 << 24)

/* --- with a seed ------------------------------------------------------------------------- */

#define MODULUS 2147483647u

static float
draw (guint32 *state)
{
  float u;

  *state = (guint32) ((guint64) *state * 16807 % MODULUS);
  u = (float) (*state - 1) / (float) (MODULUS - 1);
  return u < 1 ? u : nextafterf (1, 0);
}

static void
fill_uniform (guint32 state,
              gint64  n,
              float   low,
              float   high,
              float  *out)
{
  for (gint64 i = 0; i < n; i++)
    out[i] = draw (&state) * (high - low) + low;
}

static void
fill_normal (guint32 state,
             gint64  n,
             float   mean,
             float   scale,
             float  *out)
{
  float x = 0, y = 0, square = 0, factor;

  for (gint64 i = 0; i < n; i += 2)
    {
      do
        {
          x = 2 * draw (&state) - 1;
          y = 2 * draw (&state) - 1;
          square = x * x + y * y;
        }
      while (square > 1 || square == 0);
      factor = sqrtf (-2 * logf (square) / square);
      out[i] = y * factor * scale + mean;
      if (i + 1 < n)
        out[i + 1] = x * factor * scale + mean;
    }
}

/* --- either way ---------------------------------------------------------------------------- */

typedef struct
{
  gboolean        normal;
  float           a, b;         /* low and high, or mean and scale */
  LptDType        dtype;
  const LptShape *shape;        /* static, or NULL */
  LptValue       *lengths;
} Numbers;

static void
set_seeded (LptOnnxNode   *on,
            const Numbers *r,
            double         seed)
{
  gint64 count = -1;
  g_autofree float *numbers = NULL;
  guint32 state;

  if (r->shape == NULL || !lpt_shape_count (r->shape, &count))
    count = -1;
  if (!(seed >= 0 && seed <= G_MAXUINT32 && seed == floor (seed)))
    lpt_onnx_unsupported (on, "seed %g", seed);
  else if (r->dtype != LPT_DTYPE_F32 || count < 0 || count > MOST_NUMBERS)
    lpt_onnx_unsupported (on, "seed with numbers that are not known to be at most %d of float32", MOST_NUMBERS);
  else if ((numbers = g_try_new (float, (gsize) count + 1)) == NULL)
    lpt_onnx_fail (on, LPT_ERROR_MEMORY, "no memory for the numbers");
  if (on->error != NULL)
    return;
  state = (guint32) seed % MODULUS;
  (r->normal ? fill_normal : fill_uniform) (state != 0 ? state : 1, count, r->a, r->b, numbers);
  lpt_onnx_set (on, 0, lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (r->shape, numbers, NULL)));
}

static LptValue *
uniform (LptOnnxNode   *on,
         const Numbers *r,
         double         low,
         double         high,
         guint          stream)
{
  LptNode *node = lpt_onnx_add (on, LPT_OP_RANDOM_UNIFORM, 3, r->lengths, lpt_onnx_scalar (on, LPT_DTYPE_F32, low),
                                lpt_onnx_scalar (on, LPT_DTYPE_F32, high));
  LptRandomUniformAttrs *attrs = LPT_ATTRS (node, LptRandomUniformAttrs);

  attrs->output_type = LPT_DTYPE_F32;
  attrs->global_seed = 1 + stream;
  attrs->op_seed = g_str_hash (on->name);
  return lpt_onnx_done (on, node);
}

static void
set_any (LptOnnxNode   *on,
         const Numbers *r)
{
  LptValue *y, *angle;

  if (!r->normal)
    {
      lpt_onnx_set (on, 0, lpt_onnx_convert (on, uniform (on, r, r->a, r->b, 0), r->dtype));
      return;
    }
  y = uniform (on, r, 0, 1, 0);
  y = lpt_onnx_emit (on, LPT_OP_LOG, 1, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, y, 1), y));
  y = lpt_onnx_emit (on, LPT_OP_SQRT, 1, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, lpt_onnx_like (on, y, -2)));
  angle = lpt_onnx_emit (on, LPT_OP_COS, 1, uniform (on, r, 0, 2 * G_PI, 1));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, angle),
                     lpt_onnx_like (on, y, r->b));
  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_like (on, y, r->a));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, r->dtype));
}

static void
set_numbers (LptOnnxNode *on,
             Numbers     *r)
{
  LptDType dtype = lpt_onnx_dtype (on, "dtype");

  r->normal = on->argument != 0;
  r->a = (float) lpt_onnx_float (on, r->normal ? "mean" : "low", 0);
  r->b = (float) lpt_onnx_float (on, r->normal ? "scale" : "high", 1);
  r->dtype = dtype != LPT_DTYPE_UNDEFINED ? dtype : r->dtype;
  if (on->error == NULL && !lpt_dtype_is_real (r->dtype))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "random numbers of type %s", lpt_dtype_name (r->dtype));
  if (on->error == NULL && (!isfinite (r->a) || !isfinite (r->b) || (!r->normal && !(r->a < r->b))))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "random numbers of %g and %g", r->a, r->b);
  if (on->error != NULL)
    return;
  if (lpt_onnx_attr (on, "seed", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT) != NULL)
    set_seeded (on, r, lpt_onnx_float (on, "seed", 0));
  else
    set_any (on, r);
}

/* Argument: 0 uniform, 1 normal */
void
lpt_onnx_map_random (LptOnnxNode *on)
{
  Numbers r = { .dtype = LPT_DTYPE_F32 };
  LptInts lengths = { 0 };
  LptShape shape;

  if (!lpt_onnx_ints (on, "shape", &lengths) || lengths.n > LPT_MAX_RANK)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "has no shape");
  for (guint i = 0; i < lengths.n && on->error == NULL; i++)
    if (lengths.v[i] < 0)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "length %" G_GINT64_FORMAT, lengths.v[i]);
  if (on->error == NULL)
    {
      shape = lpt_shape_make ((gint) lengths.n, lengths.v);
      r.shape = &shape;
      r.lengths = lpt_onnx_i64_list (on, &lengths);
      set_numbers (on, &r);
    }
  lpt_ints_clear (&lengths);
}

void
lpt_onnx_map_random_like (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0);
  Numbers r = { .dtype = x->dtype };

  r.shape = lpt_shape_is_static (&x->shape) ? &x->shape : NULL;
  r.lengths = lpt_onnx_shape_of (on, x);
  set_numbers (on, &r);
}

/* --- draws -------------------------------------------------------------------------------- */

static void
refuse_seed (LptOnnxNode *on)
{
  if (lpt_onnx_attr (on, "seed", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT) != NULL)
    lpt_onnx_unsupported (on, "seed");
}

void
lpt_onnx_map_bernoulli (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_in (on, 0), *p = lpt_onnx_convert (on, x, LPT_DTYPE_F32);
  Numbers r = { .lengths = lpt_onnx_shape_of (on, x) };
  LptDType dtype = lpt_onnx_dtype (on, "dtype");

  refuse_seed (on);
  if (on->error == NULL)
    lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_LESS, 2, uniform (on, &r, 0, 1, 0), p),
                                           dtype != LPT_DTYPE_UNDEFINED ? dtype : x->dtype));
}

void
lpt_onnx_map_multinomial (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_F32), *shape[2], *sum, *index, *last;
  gint64 samples = lpt_onnx_int (on, "sample_size", 1), axis = 2;
  LptDType dtype = lpt_onnx_dtype (on, "dtype");
  LptNode *node;
  Numbers r = { 0 };

  refuse_seed (on);
  if (on->error == NULL && (lpt_onnx_rank (on, x) != 2 || samples < 1 || samples > MOST_NUMBERS))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input of rank %d, %" G_GINT64_FORMAT " samples", x->shape.rank, samples);
  if (on->error != NULL)
    return;
  shape[0] = lpt_onnx_dim (on, x, 0);
  shape[1] = lpt_onnx_i64 (on, 1, &samples);
  r.lengths = lpt_onnx_concat (on, 0, 2, shape);
  node = lpt_onnx_add (on, LPT_OP_SOFTMAX, 1, x);
  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = 1;
  sum = lpt_onnx_emit (on, LPT_OP_CUM_SUM, 2, lpt_onnx_done (on, node), lpt_onnx_i64_scalar (on, 1));
  index = lpt_onnx_emit (on, LPT_OP_GREATER_EQUAL, 2, lpt_onnx_unsqueeze (on, uniform (on, &r, 0, 1, 0), 2),
                         lpt_onnx_unsqueeze (on, sum, 1));
  index = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, lpt_onnx_convert (on, index, LPT_DTYPE_I64),
                           lpt_onnx_i64 (on, 1, &axis), FALSE);
  /* All sums may be a little below 1. */
  last = lpt_onnx_squeeze (on, lpt_onnx_dim (on, x, 1), 0);
  last = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, last, lpt_onnx_i64_scalar (on, 1));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, index, last),
                                         dtype != LPT_DTYPE_UNDEFINED ? dtype : LPT_DTYPE_I32));
}
