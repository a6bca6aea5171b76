/* onnx-map-pulp-rows.c - integer networks of PULP's tools: softmax and norms along the last axis
 *
 * x are codes of 8 bits, n = n_levels, m the largest of a row, N its length; divisions go down if nothing else is said:
 *
 *   iSoftmax    y = e (n - 1) / sum of e;  e = (coeffA (p + coeffB)^2 + coeffC) / 2^z,  z = min ((m - x) / log2, 31),
 *               p = x - m + z log2
 *   ITAMax      y = (256 (n - 1) / sum of 2^(8 - s)) / 2^s;  s = (m - x + 16) / 32
 *   ITAPartialMax  the same with 256 (n / 2 - 1), and a sum that goes through groups of group_width: behind each m is
 *               the largest up to there, and what was summed before is divided by 2^t, t = (m - m before + 16) / 32
 *   iRMSNorm    y = clamp ((x w / r) / D, -n / 2, n / 2 - 1);  r = the root of (sum of x^2) / N + 1
 *   iLayerNorm  y = clamp (((x - u) w / r + b) / D, ...);  u = (sum of x) / N, r of x - u; these quotients, by N and by
 *               r, are cut towards 0
 *
 * What depends on m - x alone is read from a table of its 256 values; the rest is computed in 64-bit integers: exact.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-pulp.h"

#include <math.h>

#define CODES 256
#define MAX_LEVELS 65536
#define MAX_GROUPS 256
#define MAX_FACTOR 2147483648.0
#define MAX_TERM 9007199254740992.0      /* 2^53: doubles count up to it */

/* --- functions of the distance to the largest ------------------------------------------------ */

static LptValue *
reduced (LptOnnxNode *on,
         LptOp        op,
         LptValue    *x)
{
  const gint64 last = lpt_onnx_rank (on, x) - 1;

  return lpt_onnx_reduce (on, op, x, lpt_onnx_i64 (on, 1, &last), TRUE);
}

/* @table at the distances from @x up to @largest. */
static LptValue *
looked_up (LptOnnxNode  *on,
           LptValue     *x,
           LptValue     *largest,
           const gint64 *table)
{
  LptValue *distance = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, largest, x);

  distance = lpt_onnx_pulp_with (on, LPT_OP_MINIMUM, lpt_onnx_convert (on, distance, LPT_DTYPE_I64), CODES - 1);
  return lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_i64 (on, CODES, table), distance, lpt_onnx_i64_scalar (on, 0));
}

void
lpt_onnx_map_integer_softmax (LptOnnxNode *on)
{
  const double a = (double) lpt_onnx_pulp_whole (on, "coeffA", 0, MAX_FACTOR);
  const double b = (double) lpt_onnx_pulp_whole (on, "coeffB", -MAX_FACTOR, MAX_FACTOR);
  const double c = (double) lpt_onnx_pulp_whole (on, "coeffC", 0, MAX_FACTOR);
  const double log2 = (double) lpt_onnx_pulp_whole (on, "log2", 1, MAX_FACTOR);
  const double top = (double) lpt_onnx_pulp_whole (on, "n_levels", 2, MAX_LEVELS) - 1;
  gint64 table[CODES];
  LptValue *x = lpt_onnx_in (on, 0), *e, *y;

  for (gint i = 0; i < CODES; i++)
    {
      const double z = MIN (floor (i / log2), 31), p = z * log2 - i + b, term = a * p * p + c;

      if (term > MAX_TERM)
        lpt_onnx_unsupported (on, "exponential of %g", term);
      table[i] = (gint64) (MIN (term, MAX_TERM) / ldexp (1, (int) z));
    }
  if (table[0] < 1)
    lpt_onnx_unsupported (on, "exponential that is 0 at 0");
  e = looked_up (on, x, reduced (on, LPT_OP_REDUCE_MAX, x), table);
  y = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_pulp_with (on, LPT_OP_MULTIPLY, e, top),
                     reduced (on, LPT_OP_REDUCE_SUM, e));
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, y, 0, top));
}

/* 2^(8 - s) */
static void
fill_powers (gint64 *table)
{
  for (gint i = 0; i < CODES; i++)
    table[i] = 256 >> ((i + 16) >> 5);
}

/* @x / 2^s, where @power is 2^(8 - s) */
static LptValue *
shifted (LptOnnxNode *on,
         LptValue    *x,
         LptValue    *power)
{
  return lpt_onnx_pulp_with (on, LPT_OP_DIVIDE, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, power), 256);
}

void
lpt_onnx_map_ita_max (LptOnnxNode *on)
{
  const double top = (double) lpt_onnx_pulp_whole (on, "n_levels", 2, MAX_LEVELS) - 1;
  gint64 table[CODES];
  LptValue *x = lpt_onnx_in (on, 0), *e, *y;

  fill_powers (table);
  e = looked_up (on, x, reduced (on, LPT_OP_REDUCE_MAX, x), table);
  y = reduced (on, LPT_OP_REDUCE_SUM, e);
  y = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_like (on, y, 256 * top), y);
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, shifted (on, y, e), 0, top));
}

void
lpt_onnx_map_ita_partial_max (LptOnnxNode *on)
{
  const double top = floor ((double) lpt_onnx_pulp_whole (on, "n_levels", 4, MAX_LEVELS) / 2) - 1;
  const gint64 width = lpt_onnx_pulp_whole (on, "group_width", 1, MAX_LEVELS);
  gint64 table[CODES], last, length;
  LptValue *x = lpt_onnx_in (on, 0), *largest = lpt_onnx_like (on, x, -128), *sum = lpt_onnx_i64_scalar (on, 0), *y;

  fill_powers (table);
  last = lpt_onnx_rank (on, x) - 1;
  length = last >= 0 ? x->shape.dims[last] : 0;
  if (length <= 0 || length % width != 0 || length / width > MAX_GROUPS)
    lpt_onnx_unsupported (on, "row that is no known number of groups of %" G_GINT64_FORMAT, width);
  for (gint64 from = 0; on->error == NULL && from < length; from += width)
    {
      LptValue *part = lpt_onnx_slice (on, x, last, from, from + width), *before = largest;

      largest = lpt_onnx_emit (on, LPT_OP_MAXIMUM, 2, before, reduced (on, LPT_OP_REDUCE_MAX, part));
      sum = shifted (on, sum, looked_up (on, before, largest, table));
      sum = lpt_onnx_emit (on, LPT_OP_ADD, 2, sum,
                           reduced (on, LPT_OP_REDUCE_SUM, looked_up (on, part, largest, table)));
    }
  y = lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, lpt_onnx_like (on, sum, 256 * top), sum);
  y = shifted (on, y, looked_up (on, x, largest, table));
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, y, 0, top));
}

/* --- norms ----------------------------------------------------------------------------------- */

/* The root of the mean square, at least 1, as a whole number. Squares of codes keep it exact in single precision. */
static LptValue *
spread (LptOnnxNode *on,
        LptValue    *x,
        LptValue    *count)
{
  LptValue *square = reduced (on, LPT_OP_REDUCE_SUM, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, x));

  square = lpt_onnx_pulp_with (on, LPT_OP_ADD, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, square, count), 1);
  square = lpt_onnx_emit (on, LPT_OP_SQRT, 1, lpt_onnx_convert (on, square, LPT_DTYPE_F32));
  return lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_FLOOR, 1, square), LPT_DTYPE_I64);
}

/* argument: iLayerNorm */
void
lpt_onnx_map_integer_norm (LptOnnxNode *on)
{
  const double divisor = (double) lpt_onnx_pulp_whole (on, "D", 1, MAX_FACTOR);
  const double n = (double) lpt_onnx_pulp_whole (on, "n_levels", 2, MAX_LEVELS), low = -floor (n / 2);
  LptValue *x = lpt_onnx_pulp_integers (on, 0), *y;
  LptValue *weight = lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_I64);
  const gint rank = lpt_onnx_rank (on, x);
  LptValue *count = lpt_onnx_reshape (on, lpt_onnx_dim (on, x, rank - 1), 0, NULL);

  if (on->argument)
    x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, lpt_onnx_pulp_cut (on, reduced (on, LPT_OP_REDUCE_SUM, x), count));
  y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, weight);
  y = lpt_onnx_pulp_cut (on, y, spread (on, x, count));
  if (on->argument)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_I64));
  y = lpt_onnx_pulp_with (on, LPT_OP_DIVIDE, y, divisor);
  lpt_onnx_set (on, 0, lpt_onnx_pulp_real (on, y, low, low + n - 1));
}
