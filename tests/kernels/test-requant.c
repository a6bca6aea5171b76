/* tests/kernels/test-requant.c - every epilogue against the scalar one
 *
 * All schemes, stores and residual forms, per-channel parameters with multipliers from 2^-31 to 2^31 and
 * accumulators at the limits, odd sizes, channel offsets, guard bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include "executor/kernels/requant/requant.h"

#include <fenv.h>

#define CHANNELS 176

static int32_t *bias, *wzp, *mult, *shift, *rest;
static float *scale, *fbias;
static uint8_t *table, *table2;

/* As kernels get them: exactly as long as they have to be. */
static void
make_parameters (void)
{
  int32_t **words[] = { &bias, &wzp, &mult, &shift, &rest };

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    *words[i] = (int32_t *) (void *) exact_bytes (CHANNELS * 4);
  scale = (float *) (void *) exact_bytes (CHANNELS * 4);
  fbias = (float *) (void *) exact_bytes (CHANNELS * 4);
  table = exact_bytes (256);
  table2 = exact_bytes (256);
}

static int32_t
interesting_i32 (void)
{
  static const int32_t edge[] = { 0, 1, -1, 127, -128, 255, 1 << 24, (1 << 24) + 1, -(1 << 24) - 1, 1 << 30, -(1 << 30),
                                  INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1, 0x55555555, 3 << 29 };

  switch (random_u32 () % 4)
    {
    case 0: return edge[random_u32 () % (sizeof edge / sizeof edge[0])];
    case 1: return random_range (-40000, 40000);
    case 2: return random_range (-20000000, 20000000);
    default: return (int32_t) random_u32 ();
    }
}

static void
fill_parameters (LptRequantScheme scheme, bool wide)
{
  for (int c = 0; c < CHANNELS; c++)
    {
      bias[c] = interesting_i32 ();
      wzp[c] = random_range (-128, 127);
      rest[c] = interesting_i32 ();
      mult[c] = random_u32 () % 8 == 0 ? 1 << 30 : random_range (1 << 30, INT32_MAX);
      if (random_u32 () % 16 == 0)
        mult[c] = random_u32 () % 2 ? INT32_MAX : -random_range (1 << 30, INT32_MAX);
      if (wide && random_u32 () % 8 == 0)
        mult[c] = random_u32 () % 2 ? INT32_MIN : random_range (0, 200);
      shift[c] = -random_range (wide ? 0 : 1, 20);
      if (random_u32 () % 8 == 0)
        shift[c] = -31;
      if (wide && scheme != LPT_REQUANT_QNNPACK && random_u32 () % 3 == 0)
        shift[c] = scheme == LPT_REQUANT_SINGLE ? random_range (-31, 63) : random_range (-31, 31);
      scale[c] = ldexpf ((float) random_range (1 << 22, 1 << 24), -24 - random_range (0, 20));
      if (wide)
        scale[c] = ldexpf (scale[c], random_range (-30, 60)) * (random_u32 () % 4 ? 1.0f : -1.0f);
      fbias[c] = ldexpf ((float) random_range (-(1 << 23), 1 << 23), -20);
    }
  for (int i = 0; i < 256; i++)
    {
      table[i] = (uint8_t) random_u32 ();
      table2[i] = (uint8_t) random_u32 ();
    }
}

static LptAdd
random_add (int form)
{
  LptAdd a = { .form = (LptAddForm) (form % 3), .xor_a = random_u32 () % 2 ? 0x80 : 0, .xor_b = random_u32 () % 2 ? 0x80 : 0,
               .zp = random_range (0, 255), .lo = 0, .hi = 255, .za = random_range (0, 255), .zb = random_range (0, 255) };

  if (random_u32 () % 3 == 0)
    {
      a.zp -= 128;
      a.lo = random_range (-128, 0);
      a.hi = random_range (1, 127);
    }
  if (a.form == LPT_ADD_SINGLE)
    {
      int bits = random_range (10, 31);

      a.m1 = (int32_t) (random_u32 () >> (32 - bits)) * (random_u32 () % 4 ? 1 : -1);
      a.m2 = (int32_t) (random_u32 () >> (32 - random_range (10, 31))) * (random_u32 () % 4 ? 1 : -1);
      a.shift = random_range (1, 40);
      if (random_u32 () % 2)
        a.shift = bits - 1;
      a.bias = -(int64_t) a.m1 * a.za - (int64_t) a.m2 * a.zb;
      if (random_u32 () % 8 == 0)
        a.bias += (int64_t) (int32_t) random_u32 () * ((int64_t) 1 << random_range (0, 25));
    }
  else if (a.form == LPT_ADD_STEPPED)
    {
      a.step = random_u32 () % 2 ? LPT_REQUANT_SINGLE : LPT_REQUANT_DOUBLE;
      a.left = random_u32 () % 4 ? 20 : 0;
      a.m1 = random_range (1 << 30, INT32_MAX);
      a.m2 = random_range (1 << 30, INT32_MAX) * (random_u32 () % 4 ? 1 : -1);
      a.mo = random_range (1 << 30, INT32_MAX);
      a.s1 = -random_range (0, 6);
      a.s2 = -random_range (0, 6);
      a.so = a.left ? -random_range (15, 22) : random_range (-3, 3);
    }
  else
    {
      a.sa = ldexpf ((float) random_range (1 << 22, 1 << 24), -28);
      a.sb = ldexpf ((float) random_range (1 << 22, 1 << 24), -28) * (random_u32 () % 4 ? 1 : -1);
      a.sc = ldexpf ((float) random_range (1 << 22, 1 << 24), -28);
    }
  return a;
}

/* Codes, now and then words; what is not given stays out. @add: that of a residual, of a drawn @kind. */
static void
random_epilogue (LptEpilogue *e, LptRequantScheme scheme, LptAdd *add, int kind)
{
  *e = (LptEpilogue) { .store = LPT_STORE_Q8, .scheme = scheme, .zp = random_range (0, 255), .lo = 0, .hi = 255,
                       .flo = -INFINITY, .fhi = INFINITY, .bias = bias, .mult = mult, .shift = shift, .scale = scale };
  if (random_u32 () % 2)
    {
      e->zp -= 128;
      e->lo = random_u32 () % 2 ? -128 : e->zp;
      e->hi = random_u32 () % 2 ? 127 : random_range (e->zp, 127);
      if (e->lo > e->hi)
        e->lo = e->hi;
    }
  if (random_u32 () % 8 == 0)
    e->store = random_u32 () % 2 ? LPT_STORE_I32 : LPT_STORE_F32;
  if (random_u32 () % 4 == 0)
    e->bias = NULL;
  if (random_u32 () % 4 == 0)
    e->weight_zp = wzp;
  if (random_u32 () % 2 == 0)
    e->rest = rest;
  if (random_u32 () % 2 == 0)
    e->fbias = fbias;
  if (random_u32 () % 3 == 0)
    e->flo = 0.0f, e->fhi = 6.0f;
  if (random_u32 () % 4 == 0)
    e->table = table;
  if (random_u32 () % 3 == 0)
    {
      *add = random_add (kind);
      e->add = add;
      if (random_u32 () % 4 == 0)
        e->add_table = table2;
    }
}

static void
test_row (const LptEpilogueKernel *row)
{
  enum { MAX_ROWS = 14, STRIDE = 64 };
  const LptEpilogueKernel *scalar;
  size_t n_rows, cases = 0;
  bool ok = true;

  scalar = lpt_epilogue_kernels (&n_rows);
  scalar += n_rows - 1;

  for (int round = 0; round < 1500 && ok; round++)
    {
      LptRequantScheme scheme = (LptRequantScheme) (round % LPT_REQUANT_N_SCHEMES);
      bool wide = round / LPT_REQUANT_N_SCHEMES % 3 == 0;
      LptEpilogue e;
      size_t rows = (size_t) random_range (1, MAX_ROWS), channels = (size_t) random_range (1, 64);
      size_t channel0 = (size_t) random_range (0, 6) * 16, width;
      int32_t *acc = (int32_t *) (void *) exact_bytes ((rows * STRIDE + 16) * 4);
      int32_t *row_sum = (int32_t *) (void *) exact_bytes (rows * 4);
      LptAdd add;

      fill_parameters (scheme, wide);
      random_epilogue (&e, scheme, &add, round / 7);
      if (random_u32 () % 8)
        lpt_epilogue_prepare (&e, CHANNELS, 0);
      for (size_t i = 0; i < rows * STRIDE + 16; i++)
        acc[i] = interesting_i32 ();
      for (size_t i = 0; i < rows; i++)
        row_sum[i] = random_range (0, 1 << 20);

      width = channels * (e.store == LPT_STORE_Q8 ? 1 : 4);
      size_t ldo = (width + (size_t) random_range (0, 70)) / 4 * 4 +
                   (e.store == LPT_STORE_Q8 && random_u32 () % 2 ? 5 : 4);
      size_t ldr = channels + (size_t) random_range (0, 9);
      Buffer want = buffer_new (ldo * (rows - 1) + width), got = buffer_new (ldo * (rows - 1) + width);
      uint8_t *residual = exact_bytes (ldr * (rows - 1) + channels);

      scalar->run (&e, rows, channels, channel0, acc, STRIDE, row_sum, want.data, ldo, residual, ldr);
      row->run (&e, rows, channels, channel0, acc, STRIDE, row_sum, got.data, ldo, residual, ldr);
      if (memcmp (want.all, got.all, want.size + 2 * GUARD) != 0)
        {
          const ptrdiff_t at = buffer_difference (&want, &got);

          printf ("# scheme %d store %d add %d table %d fast %d wide %d rows %zu channels %zu: byte %zd is %u, not %u\n",
                  scheme, e.store, e.add ? (int) add.form : -1, e.table != NULL, e.fast, wide, rows, channels,
                  at, got.data[at], want.data[at]);
          ok = false;
        }
      cases++;
      buffer_free (&want);
      buffer_free (&got);
      bytes_free (residual);
      bytes_free (acc);
      bytes_free (row_sum);
    }
  test_report (ok, "%s: %zu cases equal scalar", row->name, cases);
}

static void
test_definitions (void)
{
  bool ok = true;

  ok = ok && lpt_requant_srdhm (INT32_MIN, INT32_MIN) == INT32_MAX;
  ok = ok && lpt_requant_srdhm (1 << 30, 1) == 1 && lpt_requant_srdhm (-(1 << 30), 1) == 0;
  ok = ok && lpt_requant_rdbpot (-3, 1) == -2 && lpt_requant_rdbpot (3, 1) == 2 && lpt_requant_rdbpot (-5, 2) == -1;
  ok = ok && lpt_requant_single (-3, 1 << 30, 0) == -1 && lpt_requant_single (3, 1 << 30, 0) == 2;
  ok = ok && lpt_requant_single (INT32_MAX, INT32_MAX, 40) == INT32_MAX;
  ok = ok && lpt_requant_single (INT32_MIN, INT32_MAX, 63) == INT32_MIN;
  ok = ok && lpt_requant_double (-3, 1 << 30, 0) == -1 && lpt_requant_double (-6, 1 << 30, -1) == -2;
  ok = ok && lpt_requant_two_step (-6, 1 << 30, -1) == -1 &&
       lpt_requant_two_step (INT32_MAX, INT32_MAX, -1) == (1 << 30) - 1;
  ok = ok && lpt_requant_float (5, 0.5f, -128, 127) == 2 && lpt_requant_float (7, 0.5f, -128, 127) == 4;
  ok = ok && lpt_requant_float (0, NAN, -7, 9) == -7;
  ok = ok && lpt_requant_tpu (3, 1, 1) == 2 && lpt_requant_tpu (-3, 1, 1) == -1 && lpt_requant_tpu (3, 5, -2) == 60;
  test_report (ok, "definitions: ties, limits, saturation");
}

/* The form of LptRequantFma, as written down there. */
static int32_t
fma_code (const LptEpilogue *e, size_t c, int32_t acc)
{
  float f = (float) (int32_t) ((uint32_t) acc + (uint32_t) e->fma.offset[c]),
        inner = fmaf (f, e->fma.low[c], e->fma.half[c]);
  volatile double product = (double) f * (double) e->fma.high[c], sum;
  double v;

  /* The product is exact, and rounding down keeps the floor. */
  fesetround (FE_DOWNWARD);
  sum = product + (double) inner;
  fesetround (FE_TONEAREST);
  v = floor (sum) - lpt_u8_form (e->lo, 0);
  return v < e->lo ? e->lo : v > e->hi ? e->hi : (int32_t) v;
}

static int32_t
single_code (const LptEpilogue *e, size_t c, int32_t acc)
{
  int32_t v = lpt_requant_single_rest (acc, e->rest ? e->rest[c] : 0, e->mult[c], e->shift[c]);

  v = v < e->lo - e->zp ? e->lo - e->zp : v > e->hi - e->zp ? e->hi - e->zp : v;
  return v + e->zp;
}

/* At both sides of every step of both staircases' definition, and at random. */
static bool
same_steps (const LptEpilogue *e, size_t c, int32_t reach)
{
  for (int32_t code = e->lo + 1; code <= e->hi; code++)
    {
      int32_t below = -reach, at = reach;

      while ((int64_t) at - below > 1)
        {
          int32_t middle = (int32_t) (((int64_t) below + at) / 2);

          if (single_code (e, c, middle) >= code)
            at = middle;
          else
            below = middle;
        }
      if (fma_code (e, c, at) != single_code (e, c, at) || fma_code (e, c, at - 1) != single_code (e, c, at - 1))
        return false;
    }
  for (int i = 0; i < 200; i++)
    {
      int32_t acc = (int32_t) ((int64_t) interesting_i32 () * reach >> 31);

      if (fma_code (e, c, acc) != single_code (e, c, acc))
        return false;
    }
  return true;
}

static void
test_fma (void)
{
  enum { REACH = 1 << 30, ROUNDS = 40 };
  static int32_t offset[CHANNELS];
  static float high[CHANNELS], low[CHANNELS], half[CHANNELS];
  size_t taken = 0, usual = 0, cases = 0, large = 0, ones = 0;
  bool ok = true;

  for (int round = 0; round < ROUNDS && ok; round++)
    {
      LptEpilogue e = { .store = LPT_STORE_Q8, .scheme = LPT_REQUANT_SINGLE, .zp = random_range (0, 255), .hi = 255,
                        .rest = random_u32 () % 2 ? rest : NULL, .mult = mult, .shift = shift, .fma = { offset, high, low, half } };

      fill_parameters (LPT_REQUANT_SINGLE, round % 4 == 0);
      if (random_u32 () % 3 == 0)
        e.zp -= 128, e.lo -= 128, e.hi -= random_range (128, 200);
      for (size_t c = 0; c < CHANNELS; c++)
        {
          /* Multipliers of networks, and ties: few bits set. */
          bool ordinary = mult[c] >= 1 << 30 && shift[c] <= -1 && shift[c] >= -14;
          LptEpilogue one = e;

          if (random_u32 () % 4 == 0)
            mult[c] &= INT32_MIN >> random_range (4, 24);
          one.mult += c;
          one.shift += c;
          one.rest = e.rest ? rest + c : NULL;
          one.fma = (LptRequantFma) { offset + c, high + c, low + c, half + c };
          cases++;
          usual += ordinary;
          if (!lpt_requant_fma (&one, 1, REACH))
            continue;
          taken += ordinary;
          large += ordinary && shift[c] >= -8;
          ones += ordinary && shift[c] >= -8 && low[c] == 0.0f;
          if (!same_steps (&e, c, REACH))
            {
              printf ("# mult %d shift %d rest %d zp %d lo %d hi %d\n", mult[c], shift[c], e.rest ? rest[c] : 0, e.zp,
                      e.lo, e.hi);
              ok = false;
            }
        }
      /* Whatever the accumulator may wrap to is not this form's. */
      ok = ok && !lpt_requant_fma (&e, CHANNELS, 2147483648.0);
    }
  test_report (ok, "one or two multiply-adds give single rounding: %zu channels", cases);
  test_report (taken * 100 >= usual * 99, "of %zu usual channels %zu have that form", usual, taken);
  test_report (ones * 100 >= large * 98, "of %zu with a multiplier above 2^-9 %zu need one", large, ones);
}

/* TensorFlow Lite's sums and differences, their multipliers in its range. */
static void
test_sums (void)
{
  enum { ROUNDS = 300 };
  size_t taken = 0, simple = 0;
  bool ok = true;

  for (int round = 0; round < ROUNDS && ok; round++)
    {
      LptAdd p = random_add (LPT_ADD_STEPPED), single;

      p.left = 20;
      p.so = -random_range (16, 20);
      if (round % 8 == 0)
        p.m1 = p.m2 = 1 << 30, p.s1 = p.s2 = 0, p.mo = 3 << 29, simple++;
      p.lo = random_u32 () % 2 ? p.zp : p.lo;
      single = p;
      if (!lpt_add_to_single (&single))
        continue;
      taken += round % 8 != 0;
      for (int i = 0; i < 65536 && ok; i++)
        {
          const uint8_t a = (uint8_t) i, b = (uint8_t) (i >> 8);

          ok = lpt_add_code (&p, a, b) == lpt_add_code (&single, a, b);
        }
      if (!ok)
        printf ("# m %d %d %d s %d %d %d z %d %d %d lo %d\n", p.m1, p.m2, p.mo, p.s1, p.s2, p.so, p.za, p.zb, p.zp,
                p.lo);
    }
  test_report (ok, "single sums have the codes of the stepped ones");
  test_report (taken * 100 >= (ROUNDS - simple) * 80, "of %zu stepped sums %zu have that form", ROUNDS - simple, taken);
}

/* Around every step of both: where the rounding's boundaries lie, by 2^31 before and behind in p = acc * mult. */
static bool
same_codes (const LptEpilogue *e, const LptEpilogue *single, size_t c)
{
  const int64_t step = (int64_t) 1 << (31 - e->shift[c]);

  for (int32_t n = e->lo - e->zp - 1; n <= e->hi - e->zp + 1 && e->mult[c] != 0; n++)
    {
      /* Of 64 bits where the step is large: then no sum of 32 bits comes near, and any end of the interval will do. */
      __int128 exact = ((__int128) n * step - step / 2) / e->mult[c];
      int64_t middle = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : (int64_t) exact;

      for (int64_t acc = middle - 5; acc <= middle + 5; acc++)
        if (acc >= INT32_MIN && acc <= INT32_MAX &&
            lpt_requant_code (e->scheme, (int32_t) acc, e->mult[c], e->shift[c], 0, e->zp, e->lo, e->hi) !=
              single_code (single, c, (int32_t) acc))
          return false;
    }
  for (int i = 0; i < 300; i++)
    {
      int32_t acc = interesting_i32 ();

      if (lpt_requant_code (e->scheme, acc, e->mult[c], e->shift[c], 0, e->zp, e->lo, e->hi) !=
          single_code (single, c, acc))
        return false;
    }
  return true;
}

static void
test_to_single (void)
{
  enum { ROUNDS = 60 };
  static int32_t own_shift[CHANNELS], own_rest[CHANNELS];
  size_t taken = 0, cut = 0;
  bool ok = true;

  for (int round = 0; round < ROUNDS && ok; round++)
    {
      const LptRequantScheme scheme = round % 2 ? LPT_REQUANT_TWO_STEP : LPT_REQUANT_DOUBLE;
      LptEpilogue e = { .store = LPT_STORE_Q8, .scheme = scheme, .zp = random_range (-128, 127), .lo = -128, .hi = 127,
                        .mult = mult, .shift = shift }, single;
      bool relu = random_u32 () % 2;

      fill_parameters (scheme, round % 3 == 0);
      for (size_t c = 0; c < CHANNELS && round % 6 < 3; c++)
        {
          shift[c] = mult[c] == 0 ? 0 : -random_range (1, 31);
          mult[c] = random_u32 () % 4 ? mult[c] : mult[c] & INT32_MIN >> random_range (4, 24);
          mult[c] = mult[c] == INT32_MIN ? 1 << 30 : mult[c];
        }
      e.lo = relu ? random_range (e.zp, 127) : e.lo;
      single = e;
      if (!lpt_epilogue_to_single (&single, CHANNELS, own_shift, own_rest))
        {
          ok = ok && single.scheme == scheme && single.rest == NULL && single.shift == shift;
          cut += scheme == LPT_REQUANT_DOUBLE && !relu;
          continue;
        }
      ok = ok && single.scheme == LPT_REQUANT_SINGLE && (scheme == LPT_REQUANT_TWO_STEP || e.lo >= e.zp);
      for (size_t c = 0; c < CHANNELS && ok; c++, taken++)
        if (!same_codes (&e, &single, c))
          {
            printf ("# scheme %d mult %d shift %d zp %d lo %d\n", scheme, mult[c], shift[c], e.zp, e.lo);
            ok = false;
          }
    }
  test_report (ok && taken > 20 * CHANNELS && cut > 0, "two-step and double as single rounding: %zu channels", taken);
}

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptEpilogueKernel *rows = lpt_epilogue_kernels (&n);

  make_parameters ();
  test_definitions ();
  test_fma ();
  test_to_single ();
  test_sums ();
  for (size_t i = 0; i < n; i++)
    if (lpt_cpu_has (cpu, rows[i].needs))
      test_row (&rows[i]);
    else
      test_skip (rows[i].name);
  return test_end ();
}
