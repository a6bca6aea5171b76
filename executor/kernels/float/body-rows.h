/* executor/kernels/float/body-rows.h - softmax, reductions and normalisation of rows and columns; a part of body.h
 *
 * Sums are doubles, in sixteen lanes along a row, one behind the other along columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A few columns: every lane has a row. The sums are added in the order of sum_lanes (). */
#define SHORT_ROW 8

INLINE void
softmax_short (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo)
{
  float x[SHORT_ROW][WIDTH] = { { 0 } }, factor[WIDTH];
  V best = splat (-INFINITY), total;

  for (size_t j = 0; j < cols; j++)
    {
      V v;

      for (size_t i = 0; i < rows; i++)
        x[j][i] = in[i * ldi + j];
      memcpy (&v, x[j], sizeof v);
      best = greater (v, best);
    }
  for (size_t j = 0; j < cols; j++)
    store (x[j], exp_lanes (load (x[j], WIDTH, 0.0f) - best), WIDTH);
  for (int q = 0; q < 2; q++)
    {
      D sum[2 * SHORT_ROW];

      for (size_t j = 0; j < cols; j++)
        sum[j] = load_wide (x[j] + q * HALF, HALF, 0.0);
      for (size_t half = SHORT_ROW; half > 0; half /= 2)
        for (size_t j = 0; j < half && j + half < cols; j++)
          sum[j] += sum[j + half];
      store_narrow (factor + q * HALF, 1.0 / sum[0], HALF);
    }
  total = load (factor, WIDTH, 0.0f);
  for (size_t j = 0; j < cols; j++)
    {
      store (x[j], load (x[j], WIDTH, 0.0f) * total, WIDTH);
      for (size_t i = 0; i < rows; i++)
        out[i * ldo + j] = x[j][i];
    }
}

INLINE void
max_step (const float *in, size_t left, V best[PARTS])
{
  FOR_PARTS (q)
    {
      V x = load (in + q * WIDTH, part_size (left, q, WIDTH), -INFINITY);

      best[q] = greater (x, best[q]);
    }
}

/* Elements that a row does not have are -inf and add nothing; the sums read registers, not what was just stored. */
INLINE void
exp_step (const float *in, size_t left, float max, float *out, D sum[2 * PARTS])
{
  FOR_PARTS (q)
    {
      size_t n = part_size (left, q, WIDTH);
      V v = exp_lanes (load (in + q * WIDTH, n, -INFINITY) - max);
      H half[2];

      store (out + q * WIDTH, v, n);
      split_halves (v, half);
      sum[2 * q] += wide_half (half[0]);
      sum[2 * q + 1] += wide_half (half[1]);
    }
}

INLINE void
scale_step (float *out, size_t left, float factor)
{
  FOR_PARTS (q)
    {
      size_t n = part_size (left, q, WIDTH);

      store (out + q * WIDTH, load (out + q * WIDTH, n, 0.0f) * factor, n);
    }
}

void
LPT_FN (lpt_float_softmax) (size_t rows, size_t cols, const float *in, size_t ldi, float *out, size_t ldo)
{
  if (cols - 1 < SHORT_ROW)
    {
      for (size_t i = 0; i < rows; i += WIDTH)
        softmax_short (rows - i < WIDTH ? rows - i : WIDTH, cols, in + i * ldi, ldi, out + i * ldo, ldo);
      return;
    }
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      V best[PARTS];
      D sum[2 * PARTS];
      float factor;

      FOR_PARTS (q)
        best[q] = splat (-INFINITY);
      FOR_HALVES (q)
        sum[q] = (D) { 0 };
      EACH_SIXTEEN (cols, max_step (in + j, left, best));
      const float max = greatest_lane (best);

      EACH_SIXTEEN (cols, exp_step (in + j, left, max, out + j, sum));
      factor = (float) (1.0 / sum_lanes (sum));
      EACH_SIXTEEN (cols, scale_step (out + j, left, factor));
    }
}

LPT_TILE void
softmax_lanes (size_t n, size_t cols, const float *in, size_t ld, float *out)
{
  V best = splat (-INFINITY), factors;
  D sum[2] = { { 0 } };
  float factor[WIDTH];

  for (size_t i = 0; i < n; i++)
    {
      V x = load (in + i * ld, cols, -INFINITY);

      best = greater (x, best);
    }
  for (size_t i = 0; i < n; i++)
    {
      V v = exp_lanes (load (in + i * ld, cols, 0.0f) - best);
      H half[2];

      split_halves (v, half);
      for (int q = 0; q < 2; q++)
        sum[q] += wide_half (half[q]);
      store (out + i * ld, v, cols);
    }
  for (int q = 0; q < 2; q++)
    store_narrow (factor + q * HALF, 1.0 / sum[q], HALF);
  factors = load (factor, WIDTH, 0.0f);
  for (size_t i = 0; i < n; i++)
    store (out + i * ld, load (out + i * ld, cols, 0.0f) * factors, cols);
}

void
LPT_FN (lpt_float_softmax_columns) (size_t n, size_t cols, const float *in, size_t ld, float *out)
{
  size_t c = 0;

  for (; c + WIDTH <= cols; c += WIDTH)
    softmax_lanes (n, WIDTH, in + c, ld, out + c);
  if (c < cols)
    softmax_lanes (n, cols - c, in + c, ld, out + c);
}

INLINE void
sum_step (const float *in, size_t left, D sum[2 * PARTS])
{
  FOR_HALVES (q)
    sum[q] += load_wide (in + q * HALF, part_size (left, q, HALF), 0.0);
}

typedef int64_t L __attribute__ ((vector_size (HALF * 8)));

/* A step of a reduction along a line, in lanes that are joined in the order of sum_lanes (). */
INLINE void
reduce_step (LptFloatReduce reduce, const float *in, size_t left, D sum[2 * PARTS])
{
  const double none = reduce == LPT_REDUCE_PRODUCT ? 1.0 : 0.0;

  FOR_HALVES (q)
    {
      D x = load_wide (in + q * HALF, part_size (left, q, HALF), none);

      if (reduce == LPT_REDUCE_PRODUCT)
        sum[q] *= x;
      else if (reduce == LPT_REDUCE_MAGNITUDES)
        sum[q] += (D) ((L) x & INT64_MAX);
      else
        sum[q] += reduce == LPT_REDUCE_SQUARES ? x * x : x;
    }
}

/* The same of columns, each in a lane of its own; the extremes pass over a NaN. */
INLINE void
column_step (LptFloatReduce reduce, const float *in, size_t left, D sum[2 * PARTS])
{
  if (reduce != LPT_REDUCE_MAXIMUM && reduce != LPT_REDUCE_MINIMUM)
    reduce_step (reduce, in, left, sum);
  else
    FOR_HALVES (q)
      {
        D x = load_wide (in + q * HALF, part_size (left, q, HALF), 0.0);
        L taken = reduce == LPT_REDUCE_MAXIMUM ? (L) (x > sum[q]) : (L) (x < sum[q]);

        sum[q] = (D) (((L) x & taken) | ((L) sum[q] & ~taken));
      }
}

/* Sixteen columns at most. */
LPT_TILE void
reduce_block (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld, double *sums)
{
  double lanes[16] = { 0 };
  D sum[2 * PARTS];

  memcpy (lanes, sums, cols * sizeof *sums);
  memcpy (sum, lanes, sizeof lanes);
  for (size_t i = 0; i < rows; i++, in += ld)
    column_step (reduce, in, cols, sum);
  memcpy (lanes, sum, sizeof lanes);
  memcpy (sums, lanes, cols * sizeof *sums);
}

INLINE void
reduce_blocks (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld, double *sums)
{
  size_t c = 0;

  for (; c + 16 <= cols; c += 16)
    reduce_block (reduce, rows, 16, in + c, ld, sums + c);
  if (c < cols)
    reduce_block (reduce, rows, cols - c, in + c, ld, sums + c);
}

void
LPT_FN (lpt_float_reduce_columns) (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld,
                                   double *sums)
{
  switch (reduce)
    {
#define BLOCKS(name) case name: reduce_blocks (name, rows, cols, in, ld, sums); break;
    BLOCKS (LPT_REDUCE_SUM)
    BLOCKS (LPT_REDUCE_MAGNITUDES)
    BLOCKS (LPT_REDUCE_SQUARES)
    BLOCKS (LPT_REDUCE_PRODUCT)
    BLOCKS (LPT_REDUCE_MAXIMUM)
    default:
    BLOCKS (LPT_REDUCE_MINIMUM)
#undef BLOCKS
    }
}

LPT_TILE double
reduce_line (LptFloatReduce reduce, size_t cols, const float *in)
{
  const double none = reduce == LPT_REDUCE_PRODUCT ? 1.0 : 0.0;
  D sum[2 * PARTS];
  double lanes[16];

  FOR_HALVES (q)
    sum[q] = (D) { 0 } + none;
  EACH_SIXTEEN (cols, reduce_step (reduce, in + j, left, sum));
  if (reduce != LPT_REDUCE_PRODUCT)
    return sum_lanes (sum);
  memcpy (lanes, sum, sizeof lanes);
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; i++)
      lanes[i] *= lanes[i + half];
  return lanes[0];
}

/* Of the negative numbers the maximum is the minimum, and back. */
INLINE void
extreme_step (const float *in, size_t left, float sign, V best[PARTS])
{
  FOR_PARTS (q)
    {
      V x = load (in + q * WIDTH, part_size (left, q, WIDTH), -INFINITY * sign) * sign;

      best[q] = greater (x, best[q]);
    }
}

LPT_TILE double
extreme_line (size_t cols, const float *in, float sign)
{
  V best[PARTS];

  FOR_PARTS (q)
    best[q] = splat (-INFINITY);
  EACH_SIXTEEN (cols, extreme_step (in + j, left, sign, best));
  return (double) greatest_lane (best) * sign;
}

void
LPT_FN (lpt_float_reduce_lines) (LptFloatReduce reduce, size_t rows, size_t cols, const float *in, size_t ld, double *sums)
{
  for (size_t i = 0; i < rows; i++, in += ld)
    switch (reduce)
      {
#define LINE(name) case name: sums[i] = reduce_line (name, cols, in); break;
      LINE (LPT_REDUCE_SUM)
      LINE (LPT_REDUCE_MAGNITUDES)
      LINE (LPT_REDUCE_SQUARES)
      LINE (LPT_REDUCE_PRODUCT)
#undef LINE
      default:
        sums[i] = extreme_line (cols, in, reduce == LPT_REDUCE_MAXIMUM ? 1.0f : -1.0f);
      }
}

/* Sixteen columns at most. */
LPT_TILE void
accumulate_block (size_t rows, size_t cols, const float *in, ptrdiff_t ld, bool before, float *out)
{
  D sum[2 * PARTS];

  FOR_HALVES (q)
    sum[q] = (D) { 0 };
  for (size_t i = 0; i < rows; i++)
    FOR_HALVES (q)
      {
        const ptrdiff_t at = (ptrdiff_t) i * ld + q * HALF;
        const size_t n = part_size (cols, q, HALF);
        const D x = load_wide (in + at, n, 0.0);

        store_narrow (out + at, before ? sum[q] : sum[q] + x, n);
        sum[q] += x;
      }
}

void
LPT_FN (lpt_float_accumulate) (size_t rows, size_t cols, const float *in, ptrdiff_t ld, bool before, float *out)
{
  size_t c = 0;

  for (; c + 16 <= cols; c += 16)
    accumulate_block (rows, 16, in + c, ld, before, out + c);
  if (c < cols)
    accumulate_block (rows, cols - c, in + c, ld, before, out + c);
}

INLINE void
square_step (const float *in, size_t left, double mean, D sum[2 * PARTS])
{
  FOR_HALVES (q)
    {
      D d = load_wide (in + q * HALF, part_size (left, q, HALF), mean) - mean;

      sum[q] += d * d;
    }
}

INLINE void
normal_step (const float *in, size_t left, double mean, double factor, float *out)
{
  FOR_HALVES (q)
    {
      size_t n = part_size (left, q, HALF);

      store_narrow (out + q * HALF, (load_wide (in + q * HALF, n, 0.0) - mean) * factor, n);
    }
}

void
LPT_FN (lpt_float_normalize) (size_t rows, size_t cols, const float *in, size_t ldi, double eps, bool eps_outside,
                              bool variance, float *out, size_t ldo)
{
  for (size_t i = 0; i < rows; i++, in += ldi, out += ldo)
    {
      D sum[2 * PARTS], squares[2 * PARTS];
      double mean, factor = 1.0;

      FOR_HALVES (q)
        sum[q] = squares[q] = (D) { 0 };
      EACH_SIXTEEN (cols, sum_step (in + j, left, sum));
      mean = sum_lanes (sum) / (double) cols;
      if (variance)
        {
          double var;

          EACH_SIXTEEN (cols, square_step (in + j, left, mean, squares));
          var = sum_lanes (squares) / (double) cols;
          factor = 1.0 / (eps_outside ? sqrt (var) + eps : sqrt (var + eps));
        }
      EACH_SIXTEEN (cols, normal_step (in + j, left, mean, factor, out + j));
    }
}

void
LPT_FN (lpt_float_places) (size_t cols, const float *in, int32_t k, bool least, bool last, float *best, int32_t *places)
{
#define PLACES(better)                                                                                       \
  for (size_t c = 0; c < cols; c++)                                                                          \
    {                                                                                                        \
      const float x = in[c], y = best[c];                                                                    \
                                                                                                             \
      places[c] = (better) ? k : places[c];                                                                  \
      best[c] = (better) ? x : y;                                                                            \
    }
  if (least)
    {
      if (last)
        PLACES (x <= y)
      else
        PLACES (x < y)
    }
  else if (last)
    PLACES (x >= y)
  else
    PLACES (x > y)
#undef PLACES
}

void
LPT_FN (lpt_float_shift) (size_t n, const float *in, double minus, double factor, double plus, float *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = (float) ((in[i] - minus) * factor + plus);
}

void
LPT_FN (lpt_float_respond) (size_t n, const float *in, const double *sums, double alpha, double bias, double beta, float *out)
{
#define RESPOND(power)                                                                                       \
  for (size_t i = 0; i < n; i++)                                                                             \
    {                                                                                                        \
      double d = bias + alpha * sums[i];                                                                     \
                                                                                                             \
      out[i] = (float) (in[i] / (power));                                                                    \
    }
  if (beta == 0.75)
    RESPOND (sqrt (d) * sqrt (sqrt (d)))
  else if (beta == 0.5)
    RESPOND (sqrt (d))
  else if (beta == 1.0)
    RESPOND (d)
  else
    RESPOND (pow (d, beta))
#undef RESPOND
}
