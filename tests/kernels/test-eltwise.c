/* tests/kernels/test-eltwise.c - element-wise rows of codes against the definitions
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include <math.h>

#include "executor/kernels/eltwise/eltwise.h"

static int32_t
random_mult (void)
{
  const int32_t least = random_u32 () % 4 ? 1 << 30 : INT32_MAX - 70000;

  return random_range (least, INT32_MAX) * (random_u32 () % 8 ? 1 : -1);
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
static int64_t
shift_up (int64_t x, int shift)
{
  return shift == 0 ? x : (x + ((int64_t) 1 << (shift - 1))) >> shift;
}

static bool
run_shares (const LptEltwiseKernel *row)
{
  const LptShares p = { .scale = random_range (0, INT32_MAX), .zero = random_range (-128, 128),
                        .mult = random_u32 () % 2 ? 1 : random_range (1 << 30, INT32_MAX),
                        .lo = random_u32 () % 2 ? -128 : 0, .hi = random_range (100, 255),
                        .over = random_range (0, 12), .shift = random_range (0, 62) };
  size_t n = (size_t) random_range (1, 300);
  int32_t *in = (int32_t *) (void *) exact_bytes (n * 4);
  Buffer out = buffer_new (n);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    in[i] = random_u32 () % 8 ? (int32_t) (random_u32 () >> (1 + random_u32 () % 31)) : INT32_MAX;
  row->shares (&p, n, in, out.data);
  for (size_t i = 0; i < n && ok; i++)
    {
      const int64_t share = shift_up (((int64_t) in[i] * p.scale + (1 << 30)) >> 31, p.over);
      int64_t q = shift_up (share * p.mult, p.shift) + p.zero;

      q = q < p.lo ? p.lo : q > p.hi ? p.hi : q;
      ok = out.data[i] == (uint8_t) q;
    }
  ok = ok && buffer_guards_hold (&out);
  bytes_free ((uint8_t *) in);
  buffer_free (&out);
  return ok;
}

static bool
run_ends (const LptEltwiseKernel *row)
{
  size_t n = (size_t) random_range (1, 300);
  uint8_t *in = exact_bytes (n), flip = random_u32 () % 2 ? 0x80 : 0, low = 255, high = 0, least, greatest;

  for (size_t i = 0; i < n; i++)
    {
      in[i] = (uint8_t) random_range (20, 200);
      low = (in[i] ^ flip) < low ? in[i] ^ flip : low;
      high = (in[i] ^ flip) > high ? in[i] ^ flip : high;
    }
  row->ends (n, in, flip, &least, &greatest);
  bytes_free (in);
  return least == low && greatest == high;
}

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

/* The product of the scale and a half, or a float beside it. */
static float
near_tie (float scale)
{
  float tie = ((float) random_range (-260, 260) + 0.5f) * scale;

  switch (random_u32 () % 3)
    {
    case 0:  return tie;
    case 1:  return nextafterf (tie, -INFINITY);
    default: return nextafterf (tie, INFINITY);
    }
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
      if (random_u32 () % 4 == 0)
        scale[i] = ldexpf ((float) random_range (1 << 23, 1 << 24), random_range (-171, 60));
      zp[i] = random_range (0, 255);
    }
  for (size_t i = 0; i < rows * cols; i++)
    in[i] = random_u32 () % 2 ? random_float () : near_tie (scale[i / cols * step[0] + i % cols * step[1]]);
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

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptEltwiseKernel *rows = lpt_eltwise_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool add = true, mul = true, affine = true, conversions = true, table = true, softmax = true;

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
          softmax = run_shares (&rows[i]) && run_ends (&rows[i]) && softmax;
        }
      test_report (add, "%s add: 1000 cases", rows[i].name);
      test_report (mul, "%s mul: 1000 cases", rows[i].name);
      test_report (affine, "%s affine: 1000 cases", rows[i].name);
      test_report (conversions, "%s quantize, dequantize: 1000 cases", rows[i].name);
      test_report (table, "%s table: 1000 cases", rows[i].name);
      test_report (softmax, "%s shares, ends: 1000 cases", rows[i].name);
    }

  return test_end ();
}
