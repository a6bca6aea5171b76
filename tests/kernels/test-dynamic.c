/* test-dynamic.c - intervals: every row gives the numbers of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/dynamic/dynamic.h"

static float
draw (bool odd)
{
  static const float values[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, FLT_MAX };

  return odd && random_range (0, 9) == 0 ? values[random_range (0, 5)] : (float) random_range (-1000, 1000) / 333.0f;
}

static bool
check (const LptDynamicKernel *kernel, size_t n, bool odd, float shift)
{
  float *x = (float *) exact_bytes (n * sizeof (float)), range[2] = { -1, 1 }, lo = 0, hi = 0;
  bool ok;

  for (size_t i = 0; i < n; i++)
    {
      x[i] = draw (odd) + shift;
      lo = x[i] < lo ? x[i] : lo;
      hi = x[i] > hi ? x[i] : hi;
    }
  kernel->range (n, x, range);
  ok = range[0] == lo && range[1] == hi;
  bytes_free (x);
  return ok;
}

/* Codes and steps of blocks by the formula, of 8 or 16 bits. */
static bool
check_blocks (const LptDynamicKernel *kernel, size_t n, size_t block, bool odd, bool words)
{
  const float limit = words ? 32767.0f : 127.0f;
  const size_t blocks = (n + block - 1) / block;
  float *x = (float *) exact_bytes (n * sizeof (float)), *steps = (float *) exact_bytes (blocks * sizeof (float));
  uint8_t *codes = exact_bytes (words ? n * sizeof (int16_t) : n);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    x[i] = i / block % 5 == 3 ? 0.0f : draw (odd);
  if (words)
    kernel->words (n, block, x, (int16_t *) (void *) codes);
  else
    kernel->codes (n, block, x, codes);
  kernel->steps (n, block, limit, x, steps);
  for (size_t b = 0; b < blocks; b++)
    {
      float most = 0, step;

      for (size_t i = b * block; i < n && i < (b + 1) * block; i++)
        most = fabsf (x[i]) > most ? fabsf (x[i]) : most;
      step = most > 0 ? most / limit : 1.0f;
      ok = ok && memcmp (&step, steps + b, sizeof step) == 0;
      for (size_t i = b * block; i < n && i < (b + 1) * block; i++)
        {
          float code = x[i] * (most > 0 ? limit / most : 0.0f);

          code = code > -limit ? code < limit ? rintf (code) : limit : -limit;
          ok = ok && (words ? ((const int16_t *) (const void *) codes)[i] == (int) code
                            : codes[i] == (uint8_t) ((int) code + 128));
        }
    }
  bytes_free (x);
  bytes_free (steps);
  bytes_free (codes);
  return ok;
}

/* Ranges and codes of blocks that lie anywhere, by the formula. */
static bool
check_lifted (const LptDynamicKernel *kernel, size_t n, size_t block, bool odd, float shift)
{
  const size_t blocks = (n + block - 1) / block;
  float *x = (float *) exact_bytes (n * sizeof (float)), *ranges = (float *) exact_bytes (2 * blocks * sizeof (float));
  uint8_t *codes = exact_bytes (n);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    x[i] = i / block % 5 == 3 ? 0.0f : draw (odd) + shift;
  kernel->ranges (n, block, x, ranges);
  kernel->lift (n, block, x, ranges, codes);
  for (size_t b = 0; b < blocks; b++)
    {
      const size_t end = n < (b + 1) * block ? n : (b + 1) * block;
      float lo = 0, hi = 0, inverse, zero;

      for (size_t i = b * block; i < end; i++)
        {
          lo = x[i] < lo ? x[i] : lo;
          hi = x[i] > hi ? x[i] : hi;
        }
      ok = ok && ranges[2 * b] == lo && ranges[2 * b + 1] == hi;
      inverse = 1.0f / (hi != lo ? (hi - lo) / 255.0f : 1.0f);
      zero = -lo * inverse;
      zero = zero > 0 ? zero < 255 ? rintf (zero) : 255.0f : 0.0f;
      for (size_t i = b * block; i < end; i++)
        {
          float code = x[i] * inverse;

          code = code > -zero ? code < 255 - zero ? rintf (code) : 255 - zero : -zero;
          ok = ok && codes[i] == (uint8_t) (code + zero);
        }
    }
  bytes_free (x);
  bytes_free (ranges);
  bytes_free (codes);
  return ok;
}

/* Sums of one block join the results, by the formula; wide: of two lines each, but for the last rows. */
static bool
check_combine (const LptDynamicKernel *kernel, size_t rows, size_t n, bool zeros, bool first, bool lifted, bool wide)
{
  enum { STRIDE = 80, STEP = 3 };
  int32_t acc[14 * STRIDE], codes[14];
  int16_t colsum[64];
  float y[14 * STRIDE], want[14 * STRIDE], sb[64], zero[64], sa[14 * STEP], za[14 * STEP];
  bool ok = true;

  for (size_t i = 0; i < 14 * STRIDE; i++)
    {
      acc[i] = random_range (-4177920, 4177920);
      want[i] = y[i] = draw (false);
    }
  for (size_t c = 0; c < 64; c++)
    {
      colsum[c] = (int16_t) random_range (-32768, 32767);
      sb[c] = draw (false);
      zero[c] = draw (false);
    }
  for (size_t r = 0; r < 14; r++)
    {
      codes[r] = random_range (-65280, 65280);
      sa[r * STEP] = draw (false);
      za[r * STEP] = (float) random_range (0, 255);
    }
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < n; c++)
      {
        int32_t sum = acc[r * STRIDE + c] - (lifted ? (int32_t) za[r * STEP] : 128) * colsum[c];
        float t;

        if (wide)
          sum = (int32_t) (256 * (int64_t) acc[2 * r * STRIDE + c] + acc[(2 * r + 1) * STRIDE + c] -
                           32768 * (int64_t) colsum[c]);
        t = (float) sum;

        if (zeros)
          t = t - zero[c] * (float) codes[r];
        want[r * STRIDE + c] = fmaf (t, sa[r * STEP] * sb[c], first ? 0.0f : want[r * STRIDE + c]);
      }
  kernel->combine (&(LptDynamicBlock) { rows, n, acc, y, STRIDE, first, colsum, sb, zeros ? zero : NULL, sa, STEP,
                                        lifted ? za : NULL, codes, wide });
  ok = memcmp (y, want, sizeof y) == 0;
  return ok;
}

/* The formula, in plain floats; NaN counts as the lowest code. */
static bool
check_round (const LptDynamicKernel *kernel, size_t n, bool odd)
{
  float *x = (float *) exact_bytes (n * sizeof (float)), *y = (float *) exact_bytes (n * sizeof (float));
  uint8_t *codes = exact_bytes (n), *even = exact_bytes (n);
  const float zero = n % 3 ? (float) random_range (-128, 127) : 0.0f, add = n % 3 ? zero : -0.0f;
  const LptDynamicRound p = { 0.5f * (float) random_range (1, 90), add, n % 3 ? -128.0f : -127.0f, zero, 0.37f };
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    x[i] = i % 2 ? (float) random_range (-600, 600) / 2.0f / p.inverse : draw (odd);
  kernel->round (n, x, &p, y);
  kernel->encode (n, x, &p, codes);
  kernel->encode (n, x, &(LptDynamicRound) { .inverse = p.inverse, .less = p.less, .even = true }, even);
  for (size_t i = 0; i < n; i++)
    {
      float code = p.add + x[i] * p.inverse, want;

      code = code > p.least ? code < 127.0f ? roundf (code) : 127.0f : p.least;
      want = p.scale * (code - p.less);
      ok = ok && memcmp (&want, y + i, sizeof want) == 0 && codes[i] == (uint8_t) (code + 128.0f);
      code = x[i] * p.inverse;
      code = code > -128.0f - p.less ? code < 127.0f - p.less ? rintf (code) : 127.0f - p.less : -128.0f - p.less;
      ok = ok && even[i] == (uint8_t) (code + p.less + 128.0f);
    }
  bytes_free (x);
  bytes_free (y);
  bytes_free (codes);
  bytes_free (even);
  return ok;
}

/* What codes leave, those that fit and others; NaN counts as the lowest code. */
static bool
check_rest (const LptDynamicKernel *kernel, size_t n, bool odd)
{
  float *x = (float *) exact_bytes (n * sizeof (float));
  uint8_t *codes = exact_bytes (n), *rest = exact_bytes (n);
  const float scale = 0.01f * (float) random_range (1, 90), zero = (float) random_range (0, 255);
  bool ok = true;

  for (size_t i = 0; i < n; i++)
    {
      codes[i] = (uint8_t) random_range (0, 255);
      x[i] = i % 3 ? scale * ((float) codes[i] - zero + (float) random_range (-140, 140) / 256.0f) : draw (odd);
    }
  kernel->rest (n, x, codes, scale, zero, rest);
  for (size_t i = 0; i < n; i++)
    {
      float code = (x[i] - scale * ((float) codes[i] - zero)) * (256.0f / scale);

      code = code > -128.0f ? code < 127.0f ? rintf (code) : 127.0f : -128.0f;
      ok = ok && rest[i] == (uint8_t) (code + 128.0f);
    }
  bytes_free (x);
  bytes_free (codes);
  bytes_free (rest);
  return ok;
}

/* Nibbles as they are packed, against the formula of LptDynamicBlock. */
static bool
check_nibble_row (const LptDynamicKernel *kernel, size_t blocks, size_t block, bool zeros)
{
  enum { N = LPT_NIBBLE_COLUMNS };
  const size_t scales = N * block / 2, size = scales + (1 + zeros) * N * sizeof (float);
  uint8_t *panel = exact_bytes (blocks * size), *a = exact_bytes (blocks * block);
  int32_t *sums = (int32_t *) exact_bytes (blocks * sizeof (int32_t));
  float *sa = (float *) exact_bytes (blocks * sizeof (float)), y[N];
  bool ok = true;

  for (size_t i = 0; i < blocks * size; i++)
    panel[i] = (uint8_t) random_range (0, 255);
  for (size_t i = 0; i < blocks; i++)
    {
      float *numbers = (float *) (void *) (panel + i * size + scales);

      for (size_t c = 0; c < N * (1u + zeros); c++)
        numbers[c] = draw (false);
      sa[i] = draw (false);
      sums[i] = 0;
      for (size_t k = 0; k < block; k++)
        {
          int code = random_range (0, 9) ? random_range (-127, 127) : -127;

          a[i * block + k] = (uint8_t) code;
          sums[i] += code;
        }
    }
  kernel->nibble_row (&(LptNibbleRow) { blocks, block, (const int8_t *) a, sums, sa, panel, size, scales,
                                        zeros ? scales + N * sizeof (float) : 0, y });
  for (size_t c = 0; c < N; c++)
    {
      float want = 0;

      for (size_t i = 0; i < blocks; i++)
        {
          const float *numbers = (const float *) (const void *) (panel + i * size + scales);
          int32_t acc = 0;
          float t;

          for (size_t k = 0; k < block; k++)
            {
              uint8_t pair = panel[i * size + (k % (block / 2)) / 4 * 4 * N + 4 * c + k % 4];

              acc += ((k < block / 2 ? pair & 15 : pair >> 4) - 8) * (int8_t) a[i * block + k];
            }
          t = (float) acc;
          if (zeros)
            t = t - numbers[N + c] * (float) sums[i];
          want = fmaf (t, sa[i] * numbers[c], want);
        }
      ok = ok && memcmp (&want, y + c, sizeof want) == 0;
    }
  bytes_free (panel);
  bytes_free (a);
  bytes_free (sums);
  bytes_free (sa);
  return ok;
}

int
main (void)
{
  size_t rows;
  const LptDynamicKernel *kernels = lpt_dynamic_kernels (&rows);

  for (size_t k = 0; k < rows; k++)
    {
      bool ok = true;

      if (!lpt_cpu_has (test_cpu (), kernels[k].needs))
        {
          test_skip (kernels[k].name);
          continue;
        }
      for (size_t n = 1; n < 300; n++)
        for (int odd = 0; odd < 2; odd++)
          for (int shift = -1; shift < 2; shift++)
            ok = check (&kernels[k], n, odd, 4.0f * (float) shift) && check_round (&kernels[k], n, odd) &&
                 check_rest (&kernels[k], n, odd) && check_blocks (&kernels[k], n, n, odd, shift < 0) &&
                 check_blocks (&kernels[k], n, shift < 0 ? 32 : 7, odd, false) &&
                 check_blocks (&kernels[k], n, shift < 0 ? 128 : 7, odd, true) &&
                 check_lifted (&kernels[k], n, shift < 0 ? 128 : n, odd, 4.0f * (float) shift) &&
                 check_lifted (&kernels[k], n, shift < 0 ? 32 : 7, odd, 0) && ok;
      for (size_t n = 16; n <= 64; n += 16)
        for (size_t r = 1; r <= 14; r++)
          for (int how = 0; how < 8; how++)
            ok = check_combine (&kernels[k], r, n, how & 1, how & 2, how & 4, false) &&
                 check_combine (&kernels[k], (r + 1) / 2, n, how & 1, how & 2, false, true) && ok;
      for (size_t block = 16; block <= 256; block += 16)
        for (size_t blocks = 1; blocks < 5; blocks++)
          ok = check_nibble_row (&kernels[k], blocks, block, false) &&
               check_nibble_row (&kernels[k], blocks, block, true) && ok;
      test_report (ok, "%s", kernels[k].name);
    }
  return test_end ();
}
