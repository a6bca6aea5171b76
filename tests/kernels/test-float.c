/* tests/kernels/test-float.c - float rows against the definitions and against scalar
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include <math.h>

#include "executor/kernels/float/float.h"

/* Sums of lines: bits equal scalar's and values near a sum in order; of columns: bits equal scalar's. */
static bool
run_reductions (const LptFloatKernel *row, const LptFloatKernel *scalar, size_t rows, size_t cols, const float *in)
{
  double want[400], got[400];
  bool ok = true;

  for (int r = 0; r < LPT_N_REDUCES; r++)
    {
      scalar->reduce_lines ((LptFloatReduce) r, rows, cols, in, cols, want);
      row->reduce_lines ((LptFloatReduce) r, rows, cols, in, cols, got);
      ok = ok && memcmp (want, got, rows * sizeof *want) == 0;
      for (size_t i = 0; i < rows; i++)
        {
          double sum = r == LPT_REDUCE_PRODUCT ? 1 : r == LPT_REDUCE_MAXIMUM ? -INFINITY : r == LPT_REDUCE_MINIMUM ? INFINITY : 0, size = 0;

          for (size_t j = 0; j < cols; j++)
            {
              double x = in[i * cols + j];

              size += r == LPT_REDUCE_SQUARES ? x * x : fabs (x);
              switch (r)
                {
                case LPT_REDUCE_SUM:        sum += x; break;
                case LPT_REDUCE_MAGNITUDES: sum += fabs (x); break;
                case LPT_REDUCE_SQUARES:    sum += x * x; break;
                case LPT_REDUCE_PRODUCT:    sum *= x; break;
                case LPT_REDUCE_MAXIMUM:    sum = x > sum ? x : sum; break;
                default:                    sum = x < sum ? x : sum;
                }
            }
          ok = ok && (!isfinite (sum) || fabs (got[i] - sum) <= (r == LPT_REDUCE_PRODUCT ? fabs (sum) : size) * 1e-12);
        }
      for (size_t j = 0; j < cols; j++)
        want[j] = got[j] = in[j];
      for (size_t i = 1; i < rows; i++)
        scalar->reduce_columns ((LptFloatReduce) r, 1, cols, in + i * cols, 0, want);
      row->reduce_columns ((LptFloatReduce) r, rows - 1, cols, in + cols, cols, got);
      ok = ok && memcmp (want, got, cols * sizeof *want) == 0;
    }
  if (!ok)
    printf ("# reductions of %zu rows of %zu\n", rows, cols);
  return ok;
}

/* Sums from the first row on, or from the last, against those of each column alone. */
static bool
run_accumulate (const LptFloatKernel *row)
{
  const size_t rows = (size_t) random_range (1, 20), cols = (size_t) random_range (1, 40);
  const size_t ld = cols + (size_t) random_range (0, 3), size = ((rows - 1) * ld + cols) * 4;
  const bool before = random_u32 () % 2, back = random_u32 () % 2;
  const size_t first = back ? (rows - 1) * ld : 0;
  float *in = (float *) exact_bytes (size);
  Buffer got = buffer_new (size);
  bool ok;

  for (size_t i = 0; i < size / 4; i++)
    in[i] = (float) random_range (-(1 << 20), 1 << 20) / 65536.0f;
  row->accumulate (rows, cols, in + first, back ? -(ptrdiff_t) ld : (ptrdiff_t) ld, before,
                   (float *) (void *) got.data + first);
  ok = buffer_guards_hold (&got);
  for (size_t c = 0; c < cols; c++)
    {
      double sum = 0;

      for (size_t i = 0; i < rows; i++)
        {
          const size_t at = (back ? rows - 1 - i : i) * ld + c;
          const double x = in[at];
          const float want = (float) (before ? sum : sum + x);

          ok = ok && memcmp (&want, (float *) (void *) got.data + at, sizeof want) == 0;
          sum += x;
        }
    }
  if (!ok)
    printf ("# sums of %zu rows of %zu\n", rows, cols);
  bytes_free (in);
  buffer_free (&got);
  return ok;
}

/* Bits equal scalar's, and values near a double evaluation: exp and the sums err by a few ulp (2^-23) each. */
static bool
run_float (const LptFloatKernel *row, const LptFloatKernel *scalar)
{
  size_t rows = (size_t) random_range (1, 40), cols = (size_t) random_range (1, random_u32 () % 2 ? 400 : 20);
  float *in = (float *) exact_bytes (rows * cols * 4);
  Buffer want = buffer_new (rows * cols * 4), got = buffer_new (rows * cols * 4);
  bool ok, outside = random_u32 () % 2, variance = random_u32 () % 4 != 0;

  for (size_t i = 0; i < rows * cols; i++)
    in[i] = (float) random_range (-(1 << 20), 1 << 20) / 65536.0f;
  if (random_u32 () % 4 == 0)
    in[random_u32 () % (rows * cols)] = -INFINITY;
  scalar->softmax (rows, cols, in, cols, (float *) (void *) want.data, cols);
  row->softmax (rows, cols, in, cols, (float *) (void *) got.data, cols);
  ok = memcmp (want.all, got.all, want.size + 2 * GUARD) == 0;
  for (size_t i = 0; i < rows && ok; i++)
    {
      double max = -INFINITY, sum = 0;

      for (size_t j = 0; j < cols; j++)
        max = in[i * cols + j] > max ? in[i * cols + j] : max;
      for (size_t j = 0; j < cols; j++)
        sum += exp (in[i * cols + j] - max);
      for (size_t j = 0; j < cols && ok && max > -INFINITY; j++)
        {
          double right = exp (in[i * cols + j] - max) / sum, have = ((float *) (void *) got.data)[i * cols + j];

          /* exp 2 ulp, reciprocal and product one half each. */
          ok = fabs (have - right) <= right * 3 * ldexp (1, -23) + 1e-37;
          if (!ok)
            printf ("# softmax of %zu: %g, not %g\n", cols, have, right);
        }
    }
  for (size_t i = 0; i < rows * cols; i++)
    if (in[i] < -1000)
      in[i] = 0;
  ok = ok && run_reductions (row, scalar, rows, cols, in);
  scalar->normalize (rows, cols, in, cols, 1e-5, outside, variance,
                     (float *) (void *) want.data, cols);
  row->normalize (rows, cols, in, cols, 1e-5, outside, variance,
                  (float *) (void *) got.data, cols);
  ok = ok && memcmp (want.all, got.all, want.size + 2 * GUARD) == 0;
  for (size_t i = 0; i < rows && ok; i++)
    {
      double mean = 0, var = 0;

      for (size_t j = 0; j < cols; j++)
        mean += in[i * cols + j] / (double) cols;
      for (size_t j = 0; j < cols; j++)
        var += (in[i * cols + j] - mean) * (in[i * cols + j] - mean) / (double) cols;
      for (size_t j = 0; j < cols && ok; j++)
        {
          double right = (in[i * cols + j] - mean) / (!variance ? 1 : outside ? sqrt (var) + 1e-5 : sqrt (var + 1e-5));
          double have = ((float *) (void *) got.data)[i * cols + j];

          ok = fabs (have - right) <= fabs (right) * ldexp (1, -23) + 1e-10;
          if (!ok)
            printf ("# normalization of %zu: %.9g, not %.9g\n", cols, have, right);
        }
    }
  bytes_free (in);
  buffer_free (&want);
  buffer_free (&got);
  return ok;
}

static bool
same_bits (float a, float b)
{
  return isnan (a) ? isnan (b) : memcmp (&a, &b, sizeof a) == 0;
}

/* Shifts, responses and places are exact: against C's own. */
static bool
run_places (const LptFloatKernel *row)
{
  size_t n = (size_t) random_range (1, 300);
  float *x = (float *) exact_bytes (n * 4), *best = (float *) exact_bytes (n * 4);
  int32_t *places = (int32_t *) exact_bytes (n * 4);
  double *sums = (double *) exact_bytes (n * 8), minus = random_range (-50, 50) / 7.0,
         factor = random_range (1, 50) / 3.0;
  const double betas[] = { 0.5, 0.75, 1, 0.9 }, beta = betas[random_u32 () % 4];
  Buffer out = buffer_new (n * 4);
  float *got = (float *) (void *) out.data;
  bool ok = true, least = random_u32 () % 2, last = random_u32 () % 2;

  for (size_t i = 0; i < n; i++)
    {
      x[i] = random_float ();
      best[i] = random_u32 () % 4 ? random_float () : x[i];
      places[i] = 5;
      sums[i] = random_range (0, 1 << 20) / 4096.0;
    }
  row->shift (n, x, minus, factor, 1.25, got);
  for (size_t i = 0; i < n; i++)
    ok = ok && same_bits ((float) ((x[i] - minus) * factor + 1.25), got[i]);
  row->respond (n, x, sums, 0.125, 1.5, beta, got);
  for (size_t i = 0; i < n; i++)
    {
      double d = 1.5 + 0.125 * sums[i], power = beta == 0.5 ? sqrt (d) : beta == 0.75 ? sqrt (d) * sqrt (sqrt (d)) : pow (d, beta);

      ok = ok && same_bits ((float) (x[i] / power), got[i]) && fabs (power - pow (d, beta)) <= 1e-15 * power;
    }
  memcpy (got, best, n * 4);
  row->places (n, x, 9, least, last, got, places);
  for (size_t i = 0; i < n; i++)
    {
      bool better = (least ? x[i] < best[i] : x[i] > best[i]) || (last && x[i] == best[i]);

      ok = ok && places[i] == (better ? 9 : 5) && same_bits (better ? x[i] : best[i], got[i]);
    }
  ok = ok && buffer_guards_hold (&out);
  bytes_free (x);
  bytes_free (best);
  bytes_free (places);
  bytes_free (sums);
  buffer_free (&out);
  return ok;
}

static float
exact_binary (LptFloatBinary op, float a, float b)
{
  switch (op)
    {
    case LPT_BINARY_ADD:      return a + b;
    case LPT_BINARY_SUBTRACT: return a - b;
    case LPT_BINARY_MULTIPLY: return a * b;
    case LPT_BINARY_DIVIDE:   return a / b;
    case LPT_BINARY_MAXIMUM:  return a > b || isnan (a) ? a : b;
    case LPT_BINARY_SQUARED_DIFFERENCE: return (a - b) * (a - b);
    case LPT_BINARY_PRELU:    return a < 0 ? a * b : a;
    case LPT_BINARY_EQUAL:    return a == b;
    case LPT_BINARY_NOT_EQUAL: return a != b;
    case LPT_BINARY_LESS:     return a < b;
    case LPT_BINARY_LESS_EQUAL: return a <= b;
    case LPT_BINARY_GREATER:  return a > b;
    case LPT_BINARY_GREATER_EQUAL: return a >= b;
    case LPT_BINARY_POWER:    return (float) (b == 2 ? (double) a * a : b == 3 ? (double) a * a * a : pow (a, b));
    default:                  return a < b || isnan (a) ? a : b;
    }
}

/* Intervals whose upper level the formula misses, and whose lower one it makes another zero, among others. */
static bool
run_levels (const LptFloatKernel *row, size_t n, const float *a, float lo, float hi, float *got)
{
  static const float steps[] = { 1, 2, 15, 255, 256, 1023, 32767, 65535, 1048575 };
  const float ends[][2] = { { -3, 7.5f }, { -0.0f, 1 }, { 0, 3 }, { -0.7f, 2.3456f }, { -1e-3f, 0.9171f }, { lo, hi } };
  float *x = (float *) exact_bytes (n * 4);
  bool ok = true;

  for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++)
      {
        const LptFloatLevels q = { lo, hi, ends[e][0], ends[e][1], steps[k] };

        for (size_t i = 0; i < n; i++)
          x[i] = i % 16 == 5 ? NAN : i % 16 == 9 ? lo : i % 16 == 10 ? hi : a[i];
        row->levels (&q, n, x, got);
        for (size_t i = 0; i < n; i++)
          ok = ok && same_bits (got[i], x[i] <= q.il ? q.ol : x[i] > q.ih ? q.oh :
                                nearbyintf ((x[i] - q.il) / (q.ih - q.il) * q.steps) / q.steps * (q.oh - q.ol) + q.ol);
      }
  bytes_free (x);
  return ok;
}

/* Ends that go along or stand still, in either order, or one number. */
static bool
run_intervals (const LptFloatKernel *row, size_t n, const float *a, float *got)
{
  static const float levels[] = { 1, 255, 65535, 2097151 };
  float *ends[4];
  size_t step[5] = { 1 };
  bool ok = true;

  for (size_t k = 0; k < 4; k++)
    {
      ends[k] = (float *) exact_bytes (n * 4);
      step[k + 1] = random_u32 () & 1;
      for (size_t i = 0; i < n; i++)
        ends[k][i] = k == 1 && random_u32 () % 8 == 0 ? ends[0][i] : (float) random_range (-60, 60) / 8;
    }
  for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++)
    {
      row->intervals (levels[k], n, (const float *const[]) { a, ends[0], ends[1], ends[2], ends[3] }, step, got);
      for (size_t i = 0; i < n; i++)
        {
          const float il = ends[0][i * step[1]], ih = ends[1][i * step[2]];
          const float ol = ends[2][i * step[3]], oh = ends[3][i * step[4]];

          ok = ok && same_bits (got[i], a[i] <= fminf (il, ih) ? ol : a[i] > fmaxf (il, ih) ? oh :
                                nearbyintf ((a[i] - il) / (ih - il) * levels[k]) / levels[k] * (oh - ol) + ol);
        }
    }
  for (size_t k = 0; k < 4; k++)
    bytes_free (ends[k]);
  return ok;
}

/* Of all codes of 16 bits, a little off their levels, and of a NaN. */
static bool
run_bytes (const LptFloatKernel *row, size_t n)
{
  const LptFloatHalves q = { .inverse = 1 / 3e-4f, .zero = 168, .high_zero = 128 + random_range (-128, 127), .nan = -512 };
  float *x = (float *) exact_bytes (n * 4);
  Buffer high = buffer_new (n), low = buffer_new (n);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    x[i] = i % 7 == 3 ? NAN : ((float) (random_range (0, 65535) - 256 * q.high_zero - q.zero) + 0.2f) * 3e-4f;
  row->halves (&q, n, x, high.data, low.data);
  for (size_t i = 0; i < n; i++)
    {
      const long code = x[i] == x[i] ? lrint ((double) x[i] / 3e-4) + q.zero : q.nan;
      const uint8_t h = (uint8_t) ((long) floor ((double) code / 256) + q.high_zero), l = (uint8_t) (code & 255);

      ok = ok && high.data[i] == h && low.data[i] == l;
    }
  ok = ok && buffer_guards_hold (&high) && buffer_guards_hold (&low);
  bytes_free (x);
  buffer_free (&high);
  buffer_free (&low);
  return ok;
}

/* Arithmetic is exact: every row against C's own. */
static bool
run_arithmetic (const LptFloatKernel *row)
{
  size_t n = (size_t) random_range (1, 100), steps = random_u32 () % 4;
  float *a = (float *) exact_bytes (n * 4), *b = (float *) exact_bytes (n * 4);
  int32_t *words = (int32_t *) exact_bytes (n * 4);
  Buffer out = buffer_new (n * 4);
  float *got = (float *) (void *) out.data, lo = (float) random_range (-100, 0), hi = (float) random_range (0, 100);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    {
      a[i] = random_u32 () % 4 ? random_float () : 0.0f;
      b[i] = random_u32 () % 8 ? random_float () : a[i];
      words[i] = (int32_t) random_u32 ();
    }
  for (int op = 0; op < LPT_N_BINARIES; op++)
    {
      size_t sa = steps & 1, sb = steps >> 1;

      row->binary ((LptFloatBinary) op, n, a, sa, b, sb, got);
      for (size_t i = 0; i < n; i++)
        ok = ok && same_bits (got[i], exact_binary ((LptFloatBinary) op, a[i * sa], b[i * sb]));
    }
  row->select (n, a, steps & 1, b, 1, a, steps >> 1, got);
  for (size_t i = 0; i < n; i++)
    ok = ok && same_bits (got[i], a[i * (steps & 1)] != 0 ? b[i] : a[i * (steps >> 1)]);
  row->clamp (n, a, lo, hi, got);
  for (size_t i = 0; i < n; i++)
    ok = ok && same_bits (got[i], a[i] < lo ? lo : a[i] > hi ? hi : a[i]);
  ok = ok && run_levels (row, n, a, lo, hi + 1, got);
  ok = ok && run_intervals (row, n, a, got) && run_bytes (row, n);
  row->words (n, words, b, steps & 1, got);
  for (size_t i = 0; i < n; i++)
    ok = ok && same_bits (got[i], (float) words[i] * b[i * (steps & 1)]);
  ok = ok && buffer_guards_hold (&out);
  bytes_free (a);
  bytes_free (b);
  bytes_free (words);
  buffer_free (&out);
  return ok;
}

static double
exact_map (LptFloatMap map, double x)
{
  switch (map)
    {
    case LPT_MAP_EXP:     return exp (x);
    case LPT_MAP_SIGMOID: return 1 / (1 + exp (-x));
    case LPT_MAP_SILU:    return x / (1 + exp (-x));
    case LPT_MAP_TANH:    return tanh (x);
    case LPT_MAP_ERF:     return erf (x);
    case LPT_MAP_GELU:    return x / 2 * (1 + erf (x / sqrt (2)));
    case LPT_MAP_GELU_TANH: return x / 2 * (1 + tanh (sqrt (2 / M_PI) * (x + 0.044715 * x * x * x)));
    case LPT_MAP_ELU:     return x > 0 ? x : expm1 (x);
    case LPT_MAP_HSWISH:  return x * fmax (0, fmin (x + 3, 6)) / 6;
    case LPT_MAP_HSIGMOID: return isnan (x) ? x : fmax (0, fmin (x + 3, 6)) / 6;
    case LPT_MAP_ABS:     return fabs (x);
    case LPT_MAP_MISH:    return x * tanh (x > 0 ? x + log1p (exp (-x)) : log1p (exp (x)));
    case LPT_MAP_SELU:    return LPT_SELU_SCALE * (x > 0 ? x : (double) LPT_SELU_ALPHA * expm1 (x));
    case LPT_MAP_SOFT_PLUS: return x > 0 ? x + log1p (exp (-x)) : log1p (exp (x));
    case LPT_MAP_SOFT_SIGN: return x / (1 + fabs (x));
    case LPT_MAP_LOG:     return log (x);
    case LPT_MAP_SIN:     return sin (x);
    case LPT_MAP_COS:     return cos (x);
    case LPT_MAP_SQRT:    return sqrt (x);
    case LPT_MAP_RSQRT:   return 1 / sqrt (x);
    case LPT_MAP_FLOOR:   return floor (x);
    case LPT_MAP_CEILING: return ceil (x);
    case LPT_MAP_ROUND:   return nearbyint (x);
    case LPT_MAP_SIGN:    return isnan (x) ? x : (x > 0) - (x < 0);
    case LPT_MAP_F16:     return nearest_float (x, 11, -14, 65520);
    case LPT_MAP_BF16:    return nearest_float (x, 8, -126, ldexp (511, 119));
    default:              return -x;
    }
}

/* Bits equal scalar's, errors within float.h's. */
static bool
run_maps (const LptFloatKernel *row, const LptFloatKernel *scalar, bool report)
{
  static const double relative[LPT_N_MAPS] =
      { 2, 4, 4, 4, 0, 0, 0, 4, 0, 0, 1, 1, 0, 6, 4, 6, 4, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 };
  enum { N = 4099 };
  static float in[N], want[N], got[N];
  bool ok = true;

  for (int i = 0; i < N; i++)
    in[i] = i < 64 ? ldexpf (i % 2 ? -1.3f : 1.7f, i * 4 - 128) : (float) (i - N / 2) * 0.0507f;
  in[0] = INFINITY;
  in[1] = -INFINITY;
  in[2] = NAN;
  in[3] = 0.0f;
  in[4] = 88.7f;
  in[5] = -87.4f;
  for (int map = 0; map < LPT_N_MAPS; map++)
    {
      double worst = 0;

      memset (got, 0xA5, sizeof got);
      scalar->map ((LptFloatMap) map, N, in, want);
      row->map ((LptFloatMap) map, N - 1, in, got);
      row->map ((LptFloatMap) map, 1, in + N - 1, got + N - 1);
      for (int i = 0; i < N; i++)
        {
          double x = in[i], right = exact_map ((LptFloatMap) map, x), unit, error;

          if (isnan (want[i]) ? !isnan (got[i]) : memcmp (&want[i], &got[i], 4) != 0)
            ok = false;
          if (isnan (right) || isinf (right) || right > 3.4e38)
            {
              /* -inf * 0 of SiLU and GELU is a NaN in both. */
              ok = ok && (isnan (right) ? isnan (got[i]) : isinf (got[i]));
              continue;
            }
          unit = relative[map] > 0 ? relative[map] * ldexp (fmax (fabs (right), ldexp (1, -126)), -23)
                 : map == LPT_MAP_ERF || map == LPT_MAP_HSIGMOID || map == LPT_MAP_SIN || map == LPT_MAP_COS
                     ? ldexp (1, -22) : ldexp (fmax (1, fabs (x)), -21);
          /* Results that should be denormal are 0. */
          error = fabs (got[i] - right) /
                  (unit +
                   (fabs (right) < ldexp (4, -126) * fmax (1, fabs (x)) ? ldexp (8, -126) * fmax (1, fabs (x)) : 0));
          if (error > worst)
            worst = error;
          if (error > 1 || isnan (got[i]))
            {
              printf ("# map %d of %.9g: %.9g, not %.9g\n", map, x, (double) got[i], right);
              ok = false;
              break;
            }
        }
      if (report)
        printf ("# map %d: %.2f of the bound\n", map, worst);
    }
  return ok;
}

/* Sine and cosine in place, of numbers up to where C's functions take over and beyond, in lengths that blocks and
 * vectors do not divide: bits equal scalar's, errors within float.h's. */
static bool
run_waves (const LptFloatKernel *row, const LptFloatKernel *scalar)
{
  enum { N = 1027 };
  float in[N], want[N], got[N];
  bool ok = true;

  for (int k = 0; k < 60; k++)
    {
      const LptFloatMap map = k % 2 ? LPT_MAP_COS : LPT_MAP_SIN;
      const int n = N - k * 17;

      for (int i = 0; i < n; i++)
        {
          const int power = k / 4 + (i % 97 == 0 && k % 3 == 0 ? 12 : 0);

          in[i] = got[i] = ldexpf ((float) random_range (-1000000, 1000000) * 1e-6f, power);
        }
      scalar->map (map, (size_t) n, in, want);
      row->map (map, (size_t) n, got, got);
      for (int i = 0; i < n; i++)
        ok = ok && memcmp (&want[i], &got[i], sizeof *got) == 0 &&
             fabs (got[i] - exact_map (map, in[i])) <= ldexp (1, -22);
    }
  return ok;
}

/* Numbers of all signs, exponents and upper mantissas, with lower bits at the borders between two results: bits equal
 * the definition's, and those of a NaN scalar's. */
static bool
run_halves (const LptFloatKernel *row, const LptFloatKernel *scalar)
{
  static const uint32_t low[] = { 0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2fff, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff };
  enum { N = sizeof low / sizeof low[0] * 65536 };
  static uint32_t bits[N];
  static float in[N], want[N], got[N];
  bool ok = true;

  for (uint32_t i = 0; i < N; i++)
    bits[i] = i / (N / 65536) << 16 | low[i % (N / 65536)];
  memcpy (in, bits, sizeof in);
  for (int half = 0; half < 2; half++)
    {
      const LptFloatMap map = half ? LPT_MAP_BF16 : LPT_MAP_F16;

      scalar->map (map, N, in, want);
      row->map (map, N, in, got);
      ok = ok && memcmp (want, got, sizeof got) == 0;
      for (int i = 0; i < N && ok; i++)
        {
          const float right = (float) exact_map (map, in[i]);

          ok = isnan (in[i]) ? isnan (got[i]) : memcmp (&right, &got[i], sizeof right) == 0;
          if (!ok)
            printf ("# map %d of %a: %a, not %a\n", (int) map, (double) in[i], (double) got[i], (double) right);
        }
    }
  return ok;
}

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptFloatKernel *floats = lpt_float_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, floats[i].needs))
        {
          test_skip (floats[i].name);
          continue;
        }
      for (int j = 0; j < 500; j++)
        ok = run_float (&floats[i], &floats[n - 1]) && run_arithmetic (&floats[i]) && run_places (&floats[i])
             && run_accumulate (&floats[i]) && ok;
      test_report (ok, "%s rows, arithmetic: 500 cases", floats[i].name);
      test_report (run_maps (&floats[i], &floats[n - 1], i == 0), "%s functions", floats[i].name);
      test_report (run_halves (&floats[i], &floats[n - 1]), "%s rounding to f16 and bf16", floats[i].name);
      test_report (run_waves (&floats[i], &floats[n - 1]), "%s sine and cosine", floats[i].name);
    }

  return test_end ();
}
