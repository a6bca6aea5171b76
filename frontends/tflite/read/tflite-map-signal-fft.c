/* tflite-map-signal-fft.c - SignalRfft: the Fourier transform of 16-bit integers of tflite-micro's front end
 *
 * Pairs of samples are complex numbers, n / 2 of them, which go through butterflies of four, and of two where that is
 * left. Before each, numbers are divided by 4 (by 2) as x 8191 / 32768 (16383); a product with a root of unity, 32767
 * times cosine and sine, is rounded to its upper 15 bits. Then the spectrum of the pairs is taken apart to that of the
 * samples. Sums wrap around at 16 bits. Real samples go through RDFT.
 *
 * The levels run from the innermost: the samples are put in the order in which their butterflies meet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "frontends/tflite/tflite-flex.h"

#include <math.h>

#define OP2(kind, a, b) lpt_tfl_emit (op, LPT_OP_##kind, 2, (a), (b))
#define NUMBER(n) lpt_tfl_scalar (op, LPT_DTYPE_I32, (n))

typedef struct { LptValue *re, *im; } Pair;

/* Upper bits of products, rounded half up. */
static LptValue *
rounded (LptTflOp *op, LptValue *x)
{
  return OP2 (BITWISE_RIGHT_SHIFT, OP2 (ADD, x, NUMBER (1 << 14)), NUMBER (15));
}

static LptValue *
wrapped (LptTflOp *op, LptValue *x)
{
  return lpt_tfl_convert (op, lpt_tfl_convert (op, x, LPT_DTYPE_I16), LPT_DTYPE_I32);
}

static Pair
sum (LptTflOp *op, Pair a, Pair b)
{
  return (Pair) { wrapped (op, OP2 (ADD, a.re, b.re)), wrapped (op, OP2 (ADD, a.im, b.im)) };
}

static Pair
difference (LptTflOp *op, Pair a, Pair b)
{
  return (Pair) { wrapped (op, OP2 (SUBTRACT, a.re, b.re)), wrapped (op, OP2 (SUBTRACT, a.im, b.im)) };
}

static Pair
product (LptTflOp *op, Pair a, Pair b)
{
  return (Pair) { rounded (op, OP2 (SUBTRACT, OP2 (MULTIPLY, a.re, b.re), OP2 (MULTIPLY, a.im, b.im))),
                  rounded (op, OP2 (ADD, OP2 (MULTIPLY, a.re, b.im), OP2 (MULTIPLY, a.im, b.re))) };
}

static Pair
divided (LptTflOp *op, Pair a, gint64 by)
{
  LptValue *factor = NUMBER ((double) (32767 / by));
  return (Pair) { rounded (op, OP2 (MULTIPLY, a.re, factor)), rounded (op, OP2 (MULTIPLY, a.im, factor)) };
}

/* exp (-2 pi i (k + shift) step / n) for k = 0 ... count - 1 */
static Pair
roots (LptTflOp *op, gint64 count, double shift, double step, double n)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { count });
  LptTensor *parts[2] = { NULL, NULL };
  for (guint p = 0; p < 2; p++)
    {
      parts[p] = op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I32, &shape, &op->error) : NULL;
      for (gint64 k = 0; parts[p] != NULL && k < count; k++)
        {
          double phase = -2 * G_PI * (((double) k + shift) * step / n);
          ((gint32 *) lpt_tensor_writable (parts[p]))[k]
              = (gint32) floor (0.5 + 32767 * (p == 0 ? cos (phase) : sin (phase)));
        }
    }
  LptValue *re = lpt_tfl_tensor_value (op, parts[0], NULL);
  return (Pair) { re, lpt_tfl_tensor_value (op, parts[1], NULL) };
}

/* Which number stands at each place before the innermost level: factors of four from the outside, a two last. */
static LptValue *
order_of (LptTflOp *op, gint64 n)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { n });
  LptTensor *order = op->error == NULL ? lpt_tensor_new (LPT_DTYPE_I64, &shape, &op->error) : NULL;
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
  return lpt_tfl_tensor_value (op, order, NULL);
}

/* Row @k of [blocks, p, m]: [blocks, m]. */
static Pair
row (LptTflOp *op, Pair x, gint64 k)
{
  return (Pair) { lpt_tfl_squeeze (op, lpt_tfl_slice (op, x.re, 1, k, k + 1), 1),
                  lpt_tfl_squeeze (op, lpt_tfl_slice (op, x.im, 1, k, k + 1), 1) };
}

static Pair
stacked (LptTflOp *op, guint p, const Pair *rows)
{
  LptValue *re[4], *im[4];
  for (guint k = 0; k < p; k++)
    {
      re[k] = lpt_tfl_unsqueeze (op, rows[k].re, 1);
      im[k] = lpt_tfl_unsqueeze (op, rows[k].im, 1);
    }
  return (Pair) { lpt_tfl_concat (op, 1, p, re), lpt_tfl_concat (op, 1, p, im) };
}

/* One level: butterflies of @p numbers that are @m apart. */
static Pair
level (LptTflOp *op, Pair x, gint64 n, gint64 p, gint64 m)
{
  gint64 blocks = n / (p * m);
  const gint64 dims[] = { blocks, p, m };
  Pair f[4], y[4];
  x = (Pair) { lpt_tfl_reshape (op, x.re, 3, dims), lpt_tfl_reshape (op, x.im, 3, dims) };
  for (gint64 k = 0; k < p; k++)
    {
      f[k] = divided (op, row (op, x, k), p);
      if (k > 0)
        f[k] = product (op, f[k], roots (op, m, 0, (double) (blocks * k), (double) n));
    }
  if (p == 2)
    {
      y[0] = sum (op, f[0], f[1]);
      y[1] = difference (op, f[0], f[1]);
      return stacked (op, 2, y);
    }
  Pair apart = difference (op, f[0], f[2]), even = sum (op, f[0], f[2]);
  Pair odd = sum (op, f[1], f[3]), turn = difference (op, f[1], f[3]);
  y[0] = sum (op, even, odd);
  y[2] = difference (op, even, odd);
  y[1] = (Pair) { wrapped (op, OP2 (ADD, apart.re, turn.im)), wrapped (op, OP2 (SUBTRACT, apart.im, turn.re)) };
  y[3] = (Pair) { wrapped (op, OP2 (SUBTRACT, apart.re, turn.im)), wrapped (op, OP2 (ADD, apart.im, turn.re)) };
  return stacked (op, 4, y);
}

static LptValue *
half (LptTflOp *op, LptValue *x)
{
  return wrapped (op, OP2 (BITWISE_RIGHT_SHIFT, x, NUMBER (1)));
}

static Pair
part (LptTflOp *op, Pair x, gint64 from, gint64 to)
{
  return (Pair) { lpt_tfl_slice (op, x.re, 0, from, to), lpt_tfl_slice (op, x.im, 0, from, to) };
}

static LptValue *
reversed (LptTflOp *op, LptValue *x)
{
  LptNode *node = lpt_tfl_add (op, LPT_OP_REVERSE, 2, x, lpt_tfl_i64_one (op, 0));
  LPT_ATTRS (node, LptReverseAttrs)->mode = LPT_REVERSE_INDEX;
  return lpt_tfl_done (op, node);
}

/* The spectrum of 2 n samples from that of n pairs: bins 0 and n, then k and n - k together, the middle one from k. */
static Pair
spectrum (LptTflOp *op, Pair x, gint64 n)
{
  Pair first = divided (op, part (op, x, 0, 1), 2);
  LptValue *none = lpt_tfl_broadcast (op, NUMBER (0), lpt_tfl_i64_one (op, 1));
  LptValue *low = wrapped (op, OP2 (ADD, first.re, first.im)), *high = wrapped (op, OP2 (SUBTRACT, first.re, first.im));
  if (n == 1)
    return (Pair) { lpt_tfl_concat (op, 0, 2, (LptValue *[]) { low, high }),
                    lpt_tfl_concat (op, 0, 2, (LptValue *[]) { none, none }) };
  gint64 middle = n / 2;
  Pair near = divided (op, part (op, x, 1, middle + 1), 2), far = part (op, x, n - middle, n);
  far = (Pair) { reversed (op, far.re), wrapped (op, OP2 (SUBTRACT, NUMBER (0), reversed (op, far.im))) };
  far = divided (op, far, 2);
  Pair both = sum (op, near, far);
  Pair turned = product (op, difference (op, near, far), roots (op, middle, 1 + (double) n / 2, 0.5, (double) n));
  Pair up = { half (op, OP2 (ADD, both.re, turned.re)), half (op, OP2 (ADD, both.im, turned.im)) };
  Pair down = { half (op, OP2 (SUBTRACT, both.re, turned.re)), half (op, OP2 (SUBTRACT, turned.im, both.im)) };
  /* The middle bin is written twice, the second time as n - k. */
  up = part (op, up, 0, middle - 1);
  LptValue *re[] = { low, up.re, reversed (op, down.re), high }, *im[] = { none, up.im, reversed (op, down.im), none };
  return (Pair) { lpt_tfl_concat (op, 0, 4, re), lpt_tfl_concat (op, 0, 4, im) };
}

static LptValue *
filled_up (LptTflOp *op, LptValue *x, gint64 n)
{
  gint64 have = x->shape.dims[0];
  if (have >= n)
    return have > n ? lpt_tfl_slice (op, x, 0, 0, n) : x;
  LptValue *rest = lpt_tfl_broadcast (op, lpt_tfl_like (op, x, 0), lpt_tfl_i64_one (op, n - have));
  return lpt_tfl_concat (op, 0, 2, (LptValue *[]) { x, rest });
}

static LptValue *
interleaved (LptTflOp *op, Pair x)
{
  LptValue *parts[] = { lpt_tfl_unsqueeze (op, x.re, 1), lpt_tfl_unsqueeze (op, x.im, 1) };
  return lpt_tfl_reshape (op, lpt_tfl_concat (op, 1, 2, parts), 1, (gint64[]) { -1 });
}

static LptValue *
integer_transform (LptTflOp *op, LptValue *x, gint64 length)
{
  gint64 n = length / 2, levels[32], m = 1;
  guint count = 0;
  x = lpt_tfl_reshape (op, filled_up (op, lpt_tfl_convert (op, x, LPT_DTYPE_I32), length), 2, (gint64[]) { n, 2 });
  LptValue *order = order_of (op, n), *axis = lpt_tfl_i64_scalar (op, 0);
  Pair z = { lpt_tfl_squeeze (op, lpt_tfl_slice (op, x, 1, 0, 1), 1),
             lpt_tfl_squeeze (op, lpt_tfl_slice (op, x, 1, 1, 2), 1) };
  z.re = lpt_tfl_emit (op, LPT_OP_GATHER, 3, z.re, order, axis);
  z.im = lpt_tfl_emit (op, LPT_OP_GATHER, 3, z.im, order, axis);
  for (gint64 rest = n; rest > 1; rest /= levels[count - 1])
    levels[count++] = rest % 4 == 0 ? 4 : 2;
  while (count-- > 0)
    {
      z = level (op, z, n, levels[count], m);
      m *= levels[count];
    }
  z = (Pair) { lpt_tfl_reshape (op, z.re, 1, (gint64[]) { -1 }), lpt_tfl_reshape (op, z.im, 1, (gint64[]) { -1 }) };
  return interleaved (op, spectrum (op, z, n));
}

void
lpt_tfl_map_signal_rfft (LptTflOp *op)
{
  LptValue *x = lpt_tfl_codes (op, lpt_tfl_in (op, 0));
  LptTflVector bytes = lpt_tfl_vector (op->flat, op->table, TFL_Operator_custom_options);
  double size = bytes.n > 0 ? lpt_tfl_flex_number (op->flat->data + bytes.at, bytes.n, "fft_length", 0) : 0;
  gint64 length = size >= 2 && size <= 1 << 16 ? (gint64) size : 0;
  if (length == 0 || (length & (length - 1)) != 0)
    lpt_tfl_unsupported (op, "fft_length %g, not a power of two", size);
  else if (x->dtype != LPT_DTYPE_I16 && x->dtype != LPT_DTYPE_F32)
    lpt_tfl_unsupported (op, "samples of %s", lpt_dtype_name (x->dtype));
  else if (lpt_tfl_rank (op, x) != 1 || x->shape.dims[0] == LPT_DYNAMIC)
    lpt_tfl_unsupported (op, "samples of rank %d or of unknown number", x->shape.rank);
  if (op->error != NULL)
    return;
  LptValue *y;
  if (x->dtype == LPT_DTYPE_I16)
    y = lpt_tfl_convert (op, integer_transform (op, x, length), LPT_DTYPE_I16);
  else
    {
      y = lpt_tfl_emit (op, LPT_OP_RDFT, 3, x, lpt_tfl_i64_one (op, 0), lpt_tfl_i64_one (op, length));
      y = lpt_tfl_reshape (op, y, 1, (gint64[]) { -1 });
    }
  lpt_tfl_set (op, 0, y);
}
