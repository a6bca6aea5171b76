/* tflite-map-signal-fft.c - SignalRfft, SignalIrfft: Fourier transforms of integers of tflite-micro's front end
 *
 * Pairs of samples are complex numbers, n / 2 of them, which go through butterflies of four, and of two where that is
 * left. Before each, numbers are divided by 4 (by 2): times m / 4, m the greatest number of the type, without what is
 * behind the point. A product with m or less, as with a root of unity, m times cosine and sine, is rounded to its upper
 * bits: 15 of 16, 31 of 32. Then the spectrum of the pairs is taken apart to that of the samples; the inverse puts it
 * together first, and its roots turn the other way. Sums wrap around in the type. Nothing is divided by n but by the
 * butterflies. Real samples go through RDFT, IRDFT.
 *
 * The levels run from the innermost: the samples are put in the order in which their butterflies meet. All numbers are
 * [rows, ...], each row a transform of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-signal.h"

#include "frontends/tflite/tflite-flex.h"

#include <math.h>

#define OP2(kind, a, b) lpt_tfl_emit (t->op, LPT_OP_##kind, 2, (a), (b))
#define NUMBER(n) number (t, (n))

/* Numbers of @code are computed in @wide, which has their products. */
typedef struct
{
  LptTflOp *op;
  LptDType  code, wide;
  gint      bits;           /* behind the point */
  gboolean  inverse;
} Transform;

typedef struct { LptValue *re, *im; } Pair;

static Transform
transform_of (LptTflOp *op, LptDType code, gboolean inverse)
{
  gboolean narrow = code == LPT_DTYPE_I16;
  return (Transform) { op, code, narrow ? LPT_DTYPE_I32 : LPT_DTYPE_I64, narrow ? 15 : 31, inverse };
}

static LptValue *
number (const Transform *t, gint64 n)
{
  return lpt_tfl_convert (t->op, lpt_tfl_i64_scalar (t->op, n), t->wide);
}

/* Upper bits of products, rounded half up. */
static LptValue *
rounded (const Transform *t, LptValue *x)
{
  return OP2 (BITWISE_RIGHT_SHIFT, OP2 (ADD, x, NUMBER ((gint64) 1 << (t->bits - 1))), NUMBER (t->bits));
}

static LptValue *
wrapped (const Transform *t, LptValue *x)
{
  return lpt_tfl_convert (t->op, lpt_tfl_convert (t->op, x, t->code), t->wide);
}

static Pair
sum (const Transform *t, Pair a, Pair b)
{
  return (Pair) { wrapped (t, OP2 (ADD, a.re, b.re)), wrapped (t, OP2 (ADD, a.im, b.im)) };
}

static Pair
difference (const Transform *t, Pair a, Pair b)
{
  return (Pair) { wrapped (t, OP2 (SUBTRACT, a.re, b.re)), wrapped (t, OP2 (SUBTRACT, a.im, b.im)) };
}

static Pair
product (const Transform *t, Pair a, Pair b)
{
  return (Pair) { rounded (t, OP2 (SUBTRACT, OP2 (MULTIPLY, a.re, b.re), OP2 (MULTIPLY, a.im, b.im))),
                  rounded (t, OP2 (ADD, OP2 (MULTIPLY, a.re, b.im), OP2 (MULTIPLY, a.im, b.re))) };
}

static Pair
divided (const Transform *t, Pair a, gint64 by)
{
  LptValue *factor = NUMBER ((((gint64) 1 << t->bits) - 1) / by);
  return (Pair) { rounded (t, OP2 (MULTIPLY, a.re, factor)), rounded (t, OP2 (MULTIPLY, a.im, factor)) };
}

/* exp (-2 pi i (k + shift) step / n) for k = 0 ... count - 1; of the inverse its conjugate */
static Pair
roots (const Transform *t, gint64 count, double shift, double step, double n)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { count });
  LptTensor *parts[2] = { NULL, NULL };
  double most = (double) (((gint64) 1 << t->bits) - 1), turn = t->inverse ? 2 * G_PI : -2 * G_PI;
  for (guint p = 0; p < 2; p++)
    {
      parts[p] = t->op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &t->op->error) : NULL;
      for (gint64 k = 0; parts[p] != NULL && k < count; k++)
        {
          double phase = turn * (((double) k + shift) * step / n);
          ((gint64 *) lpt_tensor_writable (parts[p]))[k]
              = (gint64) floor (0.5 + most * (p == 0 ? cos (phase) : sin (phase)));
        }
    }
  LptValue *re = lpt_tfl_convert (t->op, lpt_tfl_tensor_value (t->op, parts[0], NULL), t->wide);
  return (Pair) { re, lpt_tfl_convert (t->op, lpt_tfl_tensor_value (t->op, parts[1], NULL), t->wide) };
}

/* Which number stands at each place before the innermost level: factors of four from the outside, a two last. */
static LptValue *
order_of (const Transform *t, gint64 n)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { n });
  LptTensor *order = t->op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &t->op->error) : NULL;
  for (gint64 i = 0; order != NULL && i < n; i++)
    {
      gint64 from = 0, place = i, stride = 1;
      for (gint64 rest = n; rest > 1;)
        {
          gint64 p = rest % 4 == 0 ? 4 : 2;
          rest /= p;
          from += place / rest * stride;
          place %= rest;
          stride *= p;
        }
      ((gint64 *) lpt_tensor_writable (order))[i] = from;
    }
  return lpt_tfl_tensor_value (t->op, order, NULL);
}

/* Number @k of axis 2, which goes. */
static Pair
row (const Transform *t, Pair x, gint64 k)
{
  return (Pair) { lpt_tfl_squeeze (t->op, lpt_tfl_slice (t->op, x.re, 2, k, k + 1), 2),
                  lpt_tfl_squeeze (t->op, lpt_tfl_slice (t->op, x.im, 2, k, k + 1), 2) };
}

static Pair
stacked (const Transform *t, guint p, const Pair *rows)
{
  LptValue *re[4], *im[4];
  for (guint k = 0; k < p; k++)
    {
      re[k] = lpt_tfl_unsqueeze (t->op, rows[k].re, 2);
      im[k] = lpt_tfl_unsqueeze (t->op, rows[k].im, 2);
    }
  return (Pair) { lpt_tfl_concat (t->op, 2, p, re), lpt_tfl_concat (t->op, 2, p, im) };
}

/* One level: butterflies of @p numbers that are @m apart. */
static Pair
level (const Transform *t, Pair x, gint64 n, gint64 p, gint64 m)
{
  gint64 blocks = n / (p * m);
  const gint64 dims[] = { -1, blocks, p, m };
  Pair f[4], y[4];
  x = (Pair) { lpt_tfl_reshape (t->op, x.re, 4, dims), lpt_tfl_reshape (t->op, x.im, 4, dims) };
  for (gint64 k = 0; k < p; k++)
    {
      f[k] = divided (t, row (t, x, k), p);
      if (k > 0)
        f[k] = product (t, f[k], roots (t, m, 0, (double) (blocks * k), (double) n));
    }
  if (p == 2)
    {
      y[0] = sum (t, f[0], f[1]);
      y[1] = difference (t, f[0], f[1]);
      return stacked (t, 2, y);
    }
  Pair apart = difference (t, f[0], f[2]), even = sum (t, f[0], f[2]);
  Pair odd = sum (t, f[1], f[3]), turn = difference (t, f[1], f[3]);
  y[0] = sum (t, even, odd);
  y[2] = difference (t, even, odd);
  Pair clockwise = { wrapped (t, OP2 (ADD, apart.re, turn.im)), wrapped (t, OP2 (SUBTRACT, apart.im, turn.re)) };
  Pair back = { wrapped (t, OP2 (SUBTRACT, apart.re, turn.im)), wrapped (t, OP2 (ADD, apart.im, turn.re)) };
  y[1] = t->inverse ? back : clockwise;
  y[3] = t->inverse ? clockwise : back;
  return stacked (t, 4, y);
}

/* All levels, and the pairs in their order: x [rows, n], as what comes out. */
static Pair
butterflies (const Transform *t, Pair x, gint64 n)
{
  gint64 levels[32], m = 1;
  guint count = 0;
  LptValue *order = order_of (t, n), *axis = lpt_tfl_i64_scalar (t->op, 1);
  x.re = lpt_tfl_emit (t->op, LPT_OP_GATHER, 3, x.re, order, axis);
  x.im = lpt_tfl_emit (t->op, LPT_OP_GATHER, 3, x.im, order, axis);
  for (gint64 rest = n; rest > 1; rest /= levels[count - 1])
    levels[count++] = rest % 4 == 0 ? 4 : 2;
  while (count-- > 0)
    {
      x = level (t, x, n, levels[count], m);
      m *= levels[count];
    }
  const gint64 dims[] = { -1, n };
  return (Pair) { lpt_tfl_reshape (t->op, x.re, 2, dims), lpt_tfl_reshape (t->op, x.im, 2, dims) };
}

/* --- the spectrum of samples and that of their pairs ---------------------------------------- */

/* Numbers of 32 bits wrap around before they are halved. */
static LptValue *
half (const Transform *t, LptValue *x)
{
  return wrapped (t, OP2 (BITWISE_RIGHT_SHIFT, t->code == LPT_DTYPE_I32 ? wrapped (t, x) : x, NUMBER (1)));
}

static Pair
part (const Transform *t, Pair x, gint64 from, gint64 to)
{
  return (Pair) { lpt_tfl_slice (t->op, x.re, 1, from, to), lpt_tfl_slice (t->op, x.im, 1, from, to) };
}

static LptValue *
reversed (const Transform *t, LptValue *x)
{
  LptNode *node = lpt_tfl_add (t->op, LPT_OP_REVERSE, 2, x, lpt_tfl_i64_one (t->op, 1));
  LPT_ATTRS (node, LptReverseAttrs)->mode = LPT_REVERSE_INDEX;
  return lpt_tfl_done (t->op, node);
}

static LptValue *
negative (const Transform *t, LptValue *x)
{
  return wrapped (t, OP2 (SUBTRACT, NUMBER (0), x));
}

/* Bins k = 1 ... n / 2, and n - k with them: half of what is equal in both, and of what is not, turned. */
static void
even_and_odd (const Transform *t, Pair x, gint64 n, Pair *both, Pair *turned)
{
  Pair near = divided (t, part (t, x, 1, n / 2 + 1), 2), far = part (t, x, n - n / 2, n);
  far = divided (t, (Pair) { reversed (t, far.re), negative (t, reversed (t, far.im)) }, 2);
  *both = sum (t, near, far);
  *turned = product (t, difference (t, near, far), roots (t, n / 2, 1 + (double) n / 2, 0.5, (double) n));
  /* A spectrum of samples has no number that is turned out of the type. */
  if (t->inverse)
    *turned = (Pair) { wrapped (t, turned->re), wrapped (t, turned->im) };
}

/* The spectrum of 2 n samples from that of n pairs: bins 0 and n, then k and n - k together, the middle one from k. */
static Pair
spectrum (const Transform *t, Pair x, gint64 n)
{
  Pair first = divided (t, part (t, x, 0, 1), 2), both, turned;
  LptValue *none = OP2 (MULTIPLY, first.re, NUMBER (0));
  LptValue *low = wrapped (t, OP2 (ADD, first.re, first.im)), *high = wrapped (t, OP2 (SUBTRACT, first.re, first.im));
  if (n == 1)
    return (Pair) { lpt_tfl_concat (t->op, 1, 2, (LptValue *[]) { low, high }),
                    lpt_tfl_concat (t->op, 1, 2, (LptValue *[]) { none, none }) };
  even_and_odd (t, x, n, &both, &turned);
  Pair up = { half (t, OP2 (ADD, both.re, turned.re)), half (t, OP2 (ADD, both.im, turned.im)) };
  Pair down = { half (t, OP2 (SUBTRACT, both.re, turned.re)), half (t, OP2 (SUBTRACT, turned.im, both.im)) };
  /* The middle bin is written twice, the second time as n - k. */
  up = part (t, up, 0, n / 2 - 1);
  LptValue *re[] = { low, up.re, reversed (t, down.re), high }, *im[] = { none, up.im, reversed (t, down.im), none };
  return (Pair) { lpt_tfl_concat (t->op, 1, 4, re), lpt_tfl_concat (t->op, 1, 4, im) };
}

/* The spectrum of n pairs from that of 2 n samples: n + 1 bins, whose first and last are real. */
static Pair
paired (const Transform *t, Pair x, gint64 n)
{
  Pair low = part (t, x, 0, 1), high = part (t, x, n, n + 1), both, turned;
  Pair first = { wrapped (t, OP2 (ADD, low.re, high.re)), wrapped (t, OP2 (SUBTRACT, low.re, high.re)) };
  first = divided (t, first, 2);
  if (n == 1)
    return first;
  even_and_odd (t, part (t, x, 0, n), n, &both, &turned);
  Pair up = part (t, sum (t, both, turned), 0, n / 2 - 1), down = difference (t, both, turned);
  LptValue *re[] = { first.re, up.re, reversed (t, down.re) };
  LptValue *im[] = { first.im, up.im, negative (t, reversed (t, down.im)) };
  return (Pair) { lpt_tfl_concat (t->op, 1, 3, re), lpt_tfl_concat (t->op, 1, 3, im) };
}

/* [rows, have] -> [rows, n]: zeros behind, or without what is too much. */
static LptValue *
filled_up (const Transform *t, LptValue *x, gint64 n)
{
  gint64 have = x->shape.dims[1];
  if (have >= n)
    return have > n ? lpt_tfl_slice (t->op, x, 1, 0, n) : x;
  LptValue *shape = lpt_tfl_i64 (t->op, 2, (gint64[]) { x->shape.dims[0], n - have });
  LptValue *rest = lpt_tfl_broadcast (t->op, lpt_tfl_like (t->op, x, 0), shape);
  return lpt_tfl_concat (t->op, 1, 2, (LptValue *[]) { x, rest });
}

/* [rows, 2 n] <-> pairs of [rows, n] */
static Pair
split (const Transform *t, LptValue *x, gint64 n)
{
  x = lpt_tfl_reshape (t->op, x, 3, (gint64[]) { -1, n, 2 });
  return (Pair) { lpt_tfl_squeeze (t->op, lpt_tfl_slice (t->op, x, 2, 0, 1), 2),
                  lpt_tfl_squeeze (t->op, lpt_tfl_slice (t->op, x, 2, 1, 2), 2) };
}

static LptValue *
interleaved (const Transform *t, Pair x, gint64 n)
{
  LptValue *parts[] = { lpt_tfl_unsqueeze (t->op, x.re, 2), lpt_tfl_unsqueeze (t->op, x.im, 2) };
  return lpt_tfl_reshape (t->op, lpt_tfl_concat (t->op, 2, 2, parts), 2, (gint64[]) { -1, 2 * n });
}

LptValue *
lpt_tfl_signal_rfft (LptTflOp *op, LptValue *x, LptDType code, gint64 length)
{
  const Transform t = transform_of (op, code, FALSE);
  gint64 n = length / 2;
  x = filled_up (&t, lpt_tfl_convert (op, x, t.wide), length);
  return interleaved (&t, spectrum (&t, butterflies (&t, split (&t, x, n), n), n), n + 1);
}

/* --- operators ------------------------------------------------------------------------------ */

/* fft_length, a power of two; 0 and an error where it, or the type or shape of @x, is another. */
static gint64
length_of (LptTflOp *op, LptValue *x)
{
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  double size = bytes.n > 0 ? lpt_tfl_flex_number (op->flat->data + bytes.at, bytes.n, "fft_length", 0) : 0;
  gint64 length = size >= 2 && size <= 1 << 16 ? (gint64) size : 0, count;
  if (length == 0 || (length & (length - 1)) != 0)
    lpt_tfl_unsupported (op, "fft_length %g, not a power of two", size);
  else if (x->dtype != LPT_DTYPE_I16 && x->dtype != LPT_DTYPE_I32 && x->dtype != LPT_DTYPE_F32)
    lpt_tfl_unsupported (op, "samples of %s", lpt_dtype_name (x->dtype));
  else if (lpt_tfl_rank (op, x) < 1 || !lpt_shape_count (&x->shape, &count) || count < 1)
    lpt_tfl_unsupported (op, "samples of rank %d or of unknown number", x->shape.rank);
  return op->error == NULL ? length : 0;
}

static void
set_last (LptTflOp *op, LptValue *y, const LptShape *shape, gint64 last)
{
  LptShape to = *shape;
  to.dims[to.rank - 1] = last;
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, y, (guint) to.rank, to.dims));
}

/* [..., samples] -> [..., bins of two numbers] */
void
lpt_tfl_map_signal_rfft (LptTflOp *op)
{
  LptValue *x = lpt_tfl_codes (op, lpt_tfl_in (op, 0)), *y;
  gint64 length = length_of (op, x);
  if (length == 0)
    return;
  const LptShape shape = x->shape;
  LptDType dtype = x->dtype;
  if (dtype == LPT_DTYPE_F32)
    y = lpt_tfl_emit (op, LPT_OP_RDFT, 3, x, lpt_tfl_i64_one (op, shape.rank - 1), lpt_tfl_i64_one (op, length));
  else
    {
      x = lpt_tfl_reshape (op, x, 2, (gint64[]) { -1, shape.dims[shape.rank - 1] });
      y = lpt_tfl_convert (op, lpt_tfl_signal_rfft (op, x, dtype, length), dtype);
    }
  set_last (op, y, &shape, length + 2);
}

/* [..., bins of two numbers] -> [..., samples]; of real numbers divided by their number. */
void
lpt_tfl_map_signal_irfft (LptTflOp *op)
{
  LptValue *x = lpt_tfl_codes (op, lpt_tfl_in (op, 0)), *y;
  gint64 length = length_of (op, x), n = length / 2;
  if (length == 0)
    return;
  const LptShape shape = x->shape;
  const Transform t = transform_of (op, x->dtype, TRUE);
  if (shape.dims[shape.rank - 1] != length + 2)
    lpt_tfl_invalid (op, "%d numbers are no spectrum of %d samples", (int) shape.dims[shape.rank - 1], (int) length);
  if (op->error != NULL)
    return;
  if (x->dtype == LPT_DTYPE_F32)
    {
      x = lpt_tfl_reshape (op, x, 3, (gint64[]) { -1, n + 1, 2 });
      y = lpt_tfl_emit (op, LPT_OP_IRDFT, 3, x, lpt_tfl_i64_one (op, 1), lpt_tfl_i64_one (op, length));
    }
  else
    {
      x = lpt_tfl_reshape (op, lpt_tfl_convert (op, x, t.wide), 2, (gint64[]) { -1, length + 2 });
      Pair z = split (&t, x, n + 1);
      y = lpt_tfl_convert (op, interleaved (&t, butterflies (&t, paired (&t, z, n), n), n), t.code);
    }
  set_last (op, y, &shape, length);
}
