/* tests/kernels/test-eltwise.c - element-wise, transpose and float rows against the definitions and against scalar
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include <math.h>

#include "executor/kernels/eltwise/eltwise.h"
#include "executor/kernels/float/float.h"
#include "executor/kernels/transpose/transpose.h"

static int32_t
random_mult (void)
{
  return random_range (1 << 30, INT32_MAX) * (random_u32 () % 8 ? 1 : -1);
}

static LptAdd
random_add (void)
{
  LptAdd p = { .form = (LptAddForm) (random_u32 () % 3), .xor_a = random_u32 () % 2 ? 0x80 : 0,
               .xor_b = random_u32 () % 2 ? 0x80 : 0, .zp = random_range (-20, 100), .lo = random_u32 () % 2 ? -128 : -10,
               .hi = random_u32 () % 2 ? 127 : 60, .za = random_range (0, 255), .zb = random_range (0, 255),
               .step = random_u32 () % 2 ? LPT_REQUANT_SINGLE : LPT_REQUANT_DOUBLE, .left = 20,
               .s1 = -random_range (0, 8), .s2 = -random_range (0, 8), .so = -random_range (16, 22),
               .mo = random_range (1 << 30, INT32_MAX), .sa = (float) random_range (1, 1000) / 997.0f,
               .sb = (float) random_range (-1000, 1000) / 499.0f, .sc = (float) random_range (1, 1000) / 503.0f };

  p.m1 = random_mult ();
  p.m2 = random_mult ();
  p.shift = random_range (24, 36);
  if (p.form == LPT_ADD_SINGLE && random_u32 () % 2)
    {
      p.m1 >>= random_range (1, 20);
      p.m2 >>= random_range (1, 20);
      p.shift = random_range (1, 31);
    }
  p.bias = -(int64_t) p.m1 * p.za - (int64_t) p.m2 * p.zb + (random_u32 () % 2 ? (int64_t) (int32_t) random_u32 () : 0);
  return p;
}

static LptMul
random_mul (void)
{
  return (LptMul) { .scheme = (LptRequantScheme) (random_u32 () % LPT_REQUANT_N_SCHEMES), .zp_in_float = random_u32 () % 2,
                    .xor_a = random_u32 () % 2 ? 0x80 : 0, .xor_b = random_u32 () % 2 ? 0x80 : 0,
                    .zp = random_range (0, 255), .lo = random_range (0, 60), .hi = random_range (200, 255),
                    .za = random_range (0, 255), .zb = random_range (0, 255), .mult = random_range (1 << 30, INT32_MAX),
                    .shift = -random_range (0, 12), .scale = (float) random_range (1, 100000) / 1.0e6f };
}

/* Shapes of the second operand: whole, per column, per row, scalar; either side may be it. */
static bool
run_binary (const LptEltwiseKernel *row, bool multiply)
{
  size_t rows = (size_t) random_range (1, 5), cols = (size_t) random_range (1, 300),
         ldo = cols + (size_t) random_range (0, 3);
  size_t lda = cols + 1, a_step = 1, ldb = cols + 2, b_step = 1;
  bool ok = true;

  switch (random_u32 () % 6)
    {
    case 0: ldb = 0; break;
    case 1: ldb = 1, b_step = 0; break;
    case 2: ldb = 0, b_step = 0; break;
    case 3: lda = 1, a_step = 0; break;
    default: break;
    }

  uint8_t *a = exact_bytes ((rows - 1) * lda + (a_step ? cols : 1)),
          *b = exact_bytes ((rows - 1) * ldb + (b_step ? cols : 1));
  Buffer out = buffer_new ((rows - 1) * ldo + cols);
  LptAdd add = random_add ();
  LptMul mul = random_mul ();

  if (multiply)
    row->mul (&mul, rows, cols, a, lda, a_step, b, ldb, b_step, out.data, ldo);
  else
    row->add (&add, rows, cols, a, lda, a_step, b, ldb, b_step, out.data, ldo);
  for (size_t i = 0; i < rows && ok; i++)
    for (size_t j = 0; j < ldo && (i + 1 < rows || j < cols) && ok; j++)
      {
        uint8_t qa = j < cols ? a[i * lda + j * a_step] : 0, qb = j < cols ? b[i * ldb + j * b_step] : 0;
        uint8_t want = j >= cols ? 0xA5 : multiply ? (uint8_t) lpt_mul_code (&mul, qa, qb) : (uint8_t) lpt_add_code (&add, qa, qb);

        if (out.data[i * ldo + j] != want)
          {
            printf ("# %s form %d cols %zu steps %zu %zu: element %zu %zu is %u, not %u\n", multiply ? "mul" : "add",
                    multiply ? (int) mul.scheme : (int) add.form, cols, a_step, b_step, i, j, out.data[i * ldo + j],
                    want);
            ok = false;
          }
      }
  ok = ok && buffer_guards_hold (&out);
  bytes_free (a);
  bytes_free (b);
  buffer_free (&out);
  return ok;
}

static int64_t
affine_limit (int64_t x)
{
  return x < -LPT_AFFINE_LIMIT ? -LPT_AFFINE_LIMIT : x > LPT_AFFINE_LIMIT ? LPT_AFFINE_LIMIT : x;
}

/* Parameters for each column or one for all; operands of bytes and of int32. */
static bool
run_affine (const LptEltwiseKernel *row)
{
  size_t rows = (size_t) random_range (1, 4), cols = (size_t) random_range (1, 600),
         ldo = cols + (size_t) random_range (0, 3);
  LptAffine p = { .product = random_u32 () % 2, .same = random_u32 () % 2, .words_a = random_u32 () % 2, .words_b = random_u32 () % 2,
                  .lo = random_range (0, 20), .hi = random_range (200, 255) };
  size_t n = p.same ? 1 : cols, size[2] = { p.words_a ? 4 : 1, p.words_b ? 4 : 1 };
  int32_t *words[5];
  int64_t *longs[2];
  uint8_t *in[2];
  Buffer out = buffer_new ((rows - 1) * ldo + cols);
  bool ok = true;

  for (size_t k = 0; k < 5; k++)
    words[k] = (int32_t *) (void *) exact_bytes (n * 4);
  for (size_t k = 0; k < 2; k++)
    longs[k] = (int64_t *) (void *) exact_bytes (n * 8);
  for (size_t k = 0; k < 2; k++)
    in[k] = exact_bytes (rows * cols * size[k]);
  for (size_t c = 0; c < n; c++)
    {
      for (size_t k = 0; k < 3; k++)
        words[k][c] = random_range (0, 255);
      words[3][c] = random_mult ();
      words[4][c] = random_mult ();
      longs[1][c] = random_range (p.words_a || p.words_b ? 40 : 24, 55);
      longs[0][c] = ((int64_t) 1 << (longs[1][c] - 1)) + (int64_t) (int32_t) random_u32 () * 1000;
    }
  p.za = words[0], p.zb = words[1], p.zp = words[2], p.m1 = words[3], p.m2 = words[4];
  p.bias = longs[0], p.shift = longs[1];
  row->affine (&p, rows, cols, in[0], cols * size[0], in[1], cols * size[1], out.data, ldo);
  for (size_t i = 0; i < rows && ok; i++)
    for (size_t j = 0; j < cols && ok; j++)
      {
        const size_t c = p.same ? 0 : j, at = i * cols + j;
        const int64_t x = affine_limit ((p.words_a ? ((int32_t *) (void *) in[0])[at] : (int64_t) in[0][at]) - p.za[c]);
        const int64_t y = affine_limit ((p.words_b ? ((int32_t *) (void *) in[1])[at] : (int64_t) in[1][at]) - p.zb[c]);
        int64_t v = p.product ? p.m1[c] * affine_limit (x * y) : p.m1[c] * x + p.m2[c] * y;

        v = ((v + p.bias[c]) >> p.shift[c]) + p.zp[c];
        v = v < p.lo ? p.lo : v > p.hi ? p.hi : v;
        ok = out.data[i * ldo + j] == v;
        if (!ok)
          printf ("# affine product %d same %d words %d %d: element %zu %zu is %u, not %d\n", p.product, p.same,
                  p.words_a, p.words_b, i, j, out.data[i * ldo + j], (int) v);
      }
  ok = ok && buffer_guards_hold (&out);
  for (size_t k = 0; k < 5; k++)
    bytes_free ((uint8_t *) words[k]);
  for (size_t k = 0; k < 2; k++)
    {
      bytes_free ((uint8_t *) longs[k]);
      bytes_free (in[k]);
    }
  buffer_free (&out);
  return ok;
}

static float
random_float (void)
{
  static const float special[] = { 0.0f,  -0.0f,  0.5f, -0.5f, 1.5f,     2.5f,      0.49999997f, -0.49999997f,
                                   1e30f, -1e30f, 3e9f, -3e9f, INFINITY, -INFINITY, NAN,         1e-40f };

  if (random_u32 () % 8 == 0)
    return special[random_u32 () % 16];
  if (random_u32 () % 3 == 0)
    return (float) random_range (-600, 600) * 0.5f;
  return (float) random_range (-(1 << 23), 1 << 23) / 32768.0f;
}

static uint8_t
quantize_reference (const LptQuantize *p, float x, float scale, int32_t zp)
{
  double v;

  if (x != x)
    return (uint8_t) (p->form != LPT_QUANTIZE_AWAY || zp < p->lo ? p->lo : zp > p->hi ? p->hi : zp);
  if (p->form == LPT_QUANTIZE_AWAY)
    v = round ((double) x / (double) scale) + zp;
  else
    v = (double) rintf (p->form == LPT_QUANTIZE_DIVIDE ? x / scale : x * scale) + zp;
  return (uint8_t) (int32_t) (v < p->lo ? p->lo : v > p->hi ? p->hi : v);
}

static bool
run_conversions (const LptEltwiseKernel *row)
{
  size_t rows = (size_t) random_range (1, 4), cols = (size_t) random_range (1, 200),
         steps[3][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
  size_t *step = steps[random_u32 () % 3], n_params = step[0] ? rows : step[1] ? cols : 1, ldo = cols + 1;
  float *in = (float *) exact_bytes (rows * cols * 4), *scale = (float *) exact_bytes (n_params * 4);
  int32_t *zp = (int32_t *) exact_bytes (n_params * 4);
  Buffer out = buffer_new (rows * ldo), back = buffer_new (rows * cols * 4);
  bool ok = true;
  LptQuantize q = { .form = (LptQuantizeForm) (random_u32 () % 3), .lo = random_u32 () % 2 ? 0 : 3, .hi = random_u32 () % 2 ? 255 : 200,
                    .scale = scale, .zp = zp, .row_step = step[0], .step = step[1] };
  LptDequantize d = { .flip = random_u32 () % 2 ? 0x80 : 0, .scale = scale, .zp = zp, .row_step = step[0], .step = step[1] };

  for (size_t i = 0; i < n_params; i++)
    {
      scale[i] = random_u32 () % 3 ? (float) random_range (1, 1 << 20) / 1048576.0f : 1.0f;
      zp[i] = random_range (0, 255);
    }
  for (size_t i = 0; i < rows * cols; i++)
    in[i] = random_float ();
  row->quantize (&q, rows, cols, in, cols * 4, out.data, ldo);
  for (size_t i = 0; i < rows * cols && ok; i++)
    {
      size_t at = i / cols * step[0] + i % cols * step[1];
      uint8_t want = quantize_reference (&q, in[i], scale[at], zp[at]), got = out.data[i / cols * ldo + i % cols];

      if (want != got)
        {
          printf ("# quantize form %d: %a by %a zp %d is %u, not %u\n", q.form, (double) in[i], (double) scale[at],
                  zp[at], got, want);
          ok = false;
        }
    }
  row->dequantize (&d, rows, cols, out.data, ldo, (float *) (void *) back.data, cols * 4);
  for (size_t i = 0; i < rows * cols && ok; i++)
    {
      size_t at = i / cols * step[0] + i % cols * step[1];
      float want = (float) ((out.data[i / cols * ldo + i % cols] ^ d.flip) - zp[at]) * scale[at], got;

      memcpy (&got, back.data + i * 4, 4);
      ok = want == got;
    }
  ok = ok && buffer_guards_hold (&out) && buffer_guards_hold (&back);
  bytes_free (in);
  bytes_free (scale);
  bytes_free (zp);
  buffer_free (&out);
  buffer_free (&back);
  return ok;
}

static bool
run_table (const LptEltwiseKernel *row)
{
  size_t rows = (size_t) random_range (1, 5), cols = (size_t) random_range (1, 200);
  size_t ldi = cols + random_u32 () % 2 * 7, ldo = cols + random_u32 () % 2 * 9;
  uint8_t *table = exact_bytes (256), *in = exact_bytes (ldi * (rows - 1) + cols);
  Buffer out = buffer_new (ldo * (rows - 1) + cols), want = buffer_new (ldo * (rows - 1) + cols);
  bool ok;

  row->table (table, rows, cols, in, ldi, out.data, ldo);
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < cols; i++)
      want.data[r * ldo + i] = table[in[r * ldi + i]];
  ok = memcmp (out.all, want.all, want.size + 2 * GUARD) == 0;
  bytes_free (table);
  bytes_free (in);
  buffer_free (&out);
  buffer_free (&want);
  return ok;
}

static bool
run_transpose (const LptTransposeKernel *row, size_t size)
{
  size_t rows = (size_t) random_range (1, 150), cols = (size_t) random_range (1, 150), ldi = cols + 3, ldo = rows + 2;
  uint8_t *in = exact_bytes (((rows - 1) * ldi + cols) * size);
  Buffer out = buffer_new (((cols - 1) * ldo + rows) * size);
  bool ok = true;

  if (size == 1)
    row->bytes (rows, cols, in, ldi, out.data, ldo);
  else
    row->words (rows, cols, (const uint32_t *) (const void *) in, ldi, (uint32_t *) (void *) out.data, ldo);
  for (size_t c = 0; c < cols; c++)
    for (size_t r = 0; r < ldo && (c + 1 < cols || r < rows); r++)
      for (size_t b = 0; b < size; b++)
        ok = ok && out.data[(c * ldo + r) * size + b] == (r < rows ? in[(r * ldi + c) * size + b] : 0xA5);
  ok = ok && buffer_guards_hold (&out);
  bytes_free (in);
  buffer_free (&out);
  return ok;
}

static bool
run_permute (const LptTransposeKernel *row)
{
  size_t rank = (size_t) random_range (0, 6), dims[8], order[8], stride[8], index[8] = { 0 }, total = 1;
  size_t element = (size_t) 1 << random_range (0, 3);
  bool ok = true;

  for (size_t i = 0; i < rank; i++)
    {
      dims[i] = (size_t) random_range (1, i < 3 ? 9 : 4);
      order[i] = i;
    }
  for (size_t i = rank; i-- > 0; )
    {
      stride[i] = total;
      total *= dims[i];
    }
  for (size_t i = rank; i > 1; i--)
    {
      size_t j = random_u32 () % i, t = order[i - 1];

      order[i - 1] = order[j];
      order[j] = t;
    }

  uint8_t *in = exact_bytes (total * element);
  Buffer out = buffer_new (total * element);

  lpt_permute (row, rank, dims, order, element, in, out.data);
  for (size_t i = 0; i < total && ok; i++)
    {
      size_t from = 0;

      for (size_t d = 0; d < rank; d++)
        from += index[d] * stride[order[d]];
      ok = memcmp (out.data + i * element, in + from * element, element) == 0;
      for (size_t d = rank; d-- > 0; )
        {
          if (++index[d] < dims[order[d]])
            break;
          index[d] = 0;
        }
    }
  ok = ok && buffer_guards_hold (&out);
  bytes_free (in);
  buffer_free (&out);
  return ok;
}

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
        {
          scalar->reduce_columns ((LptFloatReduce) r, cols, in + i * cols, want);
          row->reduce_columns ((LptFloatReduce) r, cols, in + i * cols, got);
        }
      ok = ok && memcmp (want, got, cols * sizeof *want) == 0;
    }
  if (!ok)
    printf ("# reductions of %zu rows of %zu\n", rows, cols);
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
  for (int k = 0; k < 3; k++)
    {
      const LptFloatLevels q = { lo, hi + 1, -3, 7.5f, k == 0 ? 1.0f : k == 1 ? 255.0f : 65535.0f };

      row->levels (&q, n, a, got);
      for (size_t i = 0; i < n; i++)
        ok = ok && same_bits (got[i], a[i] <= q.il ? q.ol : a[i] > q.ih ? q.oh :
                              nearbyintf ((a[i] - q.il) / (q.ih - q.il) * q.steps) / q.steps * (q.oh - q.ol) + q.ol);
    }
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
    case LPT_MAP_SQRT:    return sqrt (x);
    case LPT_MAP_RSQRT:   return 1 / sqrt (x);
    case LPT_MAP_FLOOR:   return floor (x);
    case LPT_MAP_CEILING: return ceil (x);
    case LPT_MAP_ROUND:   return nearbyint (x);
    default:              return -x;
    }
}

/* Bits equal scalar's, errors within float.h's. */
static bool
run_maps (const LptFloatKernel *row, const LptFloatKernel *scalar, bool report)
{
  static const double relative[LPT_N_MAPS] = { 2, 4, 4, 4, 0, 0, 0, 4, 0, 0, 1, 1, 0, 6, 4, 6, 4, 1, 1, 1, 1, 1 };
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
                 : map == LPT_MAP_ERF || map == LPT_MAP_HSIGMOID ? ldexp (1, -22) : ldexp (fmax (1, fabs (x)), -21);
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

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptEltwiseKernel *rows = lpt_eltwise_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool add = true, mul = true, affine = true, conversions = true, table = true;

      if (!lpt_cpu_has (cpu, rows[i].needs))
        {
          test_skip (rows[i].name);
          continue;
        }
      for (int j = 0; j < 1000; j++)
        {
          add = run_binary (&rows[i], false) && add;
          mul = run_binary (&rows[i], true) && mul;
          affine = run_affine (&rows[i]) && affine;
          conversions = run_conversions (&rows[i]) && conversions;
          table = run_table (&rows[i]) && table;
        }
      test_report (add, "%s add: 1000 cases", rows[i].name);
      test_report (mul, "%s mul: 1000 cases", rows[i].name);
      test_report (affine, "%s affine: 1000 cases", rows[i].name);
      test_report (conversions, "%s quantize, dequantize: 1000 cases", rows[i].name);
      test_report (table, "%s table: 1000 cases", rows[i].name);
    }

  const LptTransposeKernel *transposes = lpt_transpose_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, transposes[i].needs))
        {
          test_skip (transposes[i].name);
          continue;
        }
      for (int j = 0; j < 300; j++)
        ok = run_transpose (&transposes[i], 1) && run_transpose (&transposes[i], 4) && run_permute (&transposes[i]) &&
             ok;
      test_report (ok, "%s: 300 cases", transposes[i].name);
    }

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
        ok = run_float (&floats[i], &floats[n - 1]) && run_arithmetic (&floats[i]) && run_places (&floats[i]) && ok;
      test_report (ok, "%s rows, arithmetic: 500 cases", floats[i].name);
      test_report (run_maps (&floats[i], &floats[n - 1], i == 0), "%s functions", floats[i].name);
    }
  return test_end ();
}
