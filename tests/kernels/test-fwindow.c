/* test-fwindow.c - float windows: every row gives the bits of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "kernel-test.h"

#include "executor/kernels/fwindow/fwindow.h"

#define MAX_TAPS 9

typedef enum { MAX, MEAN } Form;

/* Numbers with some that compare in no order, or equal with other bits. */
static void
fill (float *p, size_t n, bool odd)
{
  static const float values[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, FLT_MAX };

  for (size_t i = 0; i < n; i++)
    p[i] = odd && random_range (0, 9) == 0 ? values[random_range (0, 5)] : (float) random_range (-1000, 1000) / 333.0f;
}

static float
expected_pool (Form form, const LptFwindowTile *t, double divisor, size_t p, size_t c)
{
  float max = -INFINITY, first = -FLT_MAX;
  double sum = 0;

  for (size_t tap = 0; tap < t->taps; tap++)
    {
      float x = t->x[tap][p * t->step + c];

      first = tap == 0 ? x : first;
      max = x > max ? x : max;
      sum += x;
    }
  return form == MAX ? (max > -INFINITY ? max : first) : divisor > 0 ? (float) (sum / divisor) : 0;
}

/* Result of @sum at pixel @p, channel @c. */
static float
ended (const LptFgemmEnd *end, float sum, size_t p, size_t c)
{
  if (end->factor)
    sum *= end->factor[c];
  if (end->bias)
    sum += end->bias[c];
  if (end->residual)
    sum += end->residual[p * end->ldr + c];
  return end->clamps ? (sum < end->lo ? end->lo : end->hi < sum ? end->hi : sum) : sum;
}

static float
expected_conv (const LptFwindowLine *t, const LptFgemmEnd *end, size_t p, size_t c)
{
  float sum = 0;

  for (size_t row = 0; row < t->rows; row++)
    for (size_t tap = 0; tap < t->taps; tap++)
      {
        ptrdiff_t at = t->first + (ptrdiff_t) (p * t->stride) + (ptrdiff_t) tap * t->dilation;

        if (at >= 0 && at < (ptrdiff_t) t->width)
          sum = fmaf (t->x[row][(size_t) at * t->step + c], t->w[row][tap * t->ldw + c], sum);
      }
  return ended (end, sum, p, c);
}

/* Element (@p, @c) of @y, which has @channels in a row: @want, or untouched behind the row. */
static bool
holds (const Buffer *y, size_t ldy, size_t channels, size_t p, size_t c, float want)
{
  float got;

  memcpy (&got, y->data + (p * ldy + c) * sizeof got, sizeof got);
  if (c >= channels)
    return memcmp (&got, (uint8_t[]) { 0xA5, 0xA5, 0xA5, 0xA5 }, sizeof got) == 0;
  return memcmp (&got, &want, sizeof got) == 0 || (isnan (got) && isnan (want));
}

static bool
check_pool (const LptFwindowKernel *kernel, Form form, size_t n, size_t channels, size_t taps, unsigned forms)
{
  size_t step = channels + forms % 3, ldy = channels + 2, size = (n - 1) * step + channels;
  float *x[MAX_TAPS];
  Buffer y = buffer_new (n * ldy * sizeof (float));
  LptFwindowTile t = { n, step, taps, channels, (const float *const *) x, (float *) y.data, ldy };
  double divisor = forms % 5 == 4 ? 0 : (double) taps + forms % 2;
  bool ok = true;

  for (size_t tap = 0; tap < MAX_TAPS; tap++)
    {
      x[tap] = (float *) exact_bytes (size * sizeof (float));
      fill (x[tap], size, true);
    }
  if (form == MAX)
    kernel->max (&t);
  else
    kernel->mean (&t, divisor);
  for (size_t p = 0; p < n && ok; p++)
    for (size_t c = 0; c < ldy && ok; c++)
      ok = holds (&y, ldy, channels, p, c, c < channels ? expected_pool (form, &t, divisor, p, c) : 0);
  ok = ok && buffer_guards_hold (&y);
  for (size_t tap = 0; tap < MAX_TAPS; tap++)
    bytes_free (x[tap]);
  buffer_free (&y);
  return ok;
}

/* Data and weights of as many lines as a window has, of @size and @size_w numbers. */
static void
lines_new (float *x[3], float *w[3], size_t size, size_t size_w, unsigned forms)
{
  for (size_t row = 0; row < 3; row++)
    {
      x[row] = (float *) exact_bytes (size * sizeof (float));
      w[row] = (float *) exact_bytes (size_w * sizeof (float));
      fill (x[row], size, forms % 7 == 3);
      fill (w[row], size_w, forms % 7 == 5);
    }
}

static void
lines_free (float *x[3], float *w[3])
{
  for (size_t row = 0; row < 3; row++)
    {
      bytes_free (x[row]);
      bytes_free (w[row]);
    }
}

/* A line whose windows begin before it and end behind it, or lie outside; @padded: by no more than half a window, as
 * those of most layers do. */
static bool
check_conv (const LptFwindowKernel *kernel, size_t n, size_t channels, size_t taps, unsigned forms, bool padded)
{
  static const ptrdiff_t dilations[] = { 1, 1, 2, -1, 3 };
  const int half = (int) taps / 2, before = random_range (0, half);
  const size_t stride = forms % 3 + 1, rows = forms % 4,
               width = padded ? (n - 1) * stride + taps - (size_t) before - (size_t) random_range (0, half)
                       : (size_t) random_range (1, (int) (n * stride + 8)),
               step = channels + forms % 2, ldw = channels + forms % 3, ldy = channels + 2,
               size = (width - 1) * step + channels, size_w = (taps - 1) * ldw + channels;
  const ptrdiff_t dilation = padded ? 1 : dilations[forms % 5];
  float *x[3], *w[3], *bias = (float *) exact_bytes (channels * sizeof (float));
  float *residual = (float *) exact_bytes (n * channels * sizeof (float));
  Buffer y = buffer_new (n * ldy * sizeof (float));
  LptFwindowLine t = { n, channels, rows, taps, (const float *const *) x, width, step, 0, stride, dilation,
                       (const float *const *) w, ldw, (float *) y.data, ldy, forms % 7 };
  LptFgemmEnd end = { forms & 1 ? bias : NULL, forms & 2 ? residual : NULL, channels, forms & 4, -1.0f,
                      forms & 64 ? -2.5f : 2.5f, forms & 8 ? residual : NULL };
  bool ok = true;

  t.first = padded ? -before : random_range (-8, 4) + (dilation < 0 ? (ptrdiff_t) taps : 0);
  fill (bias, channels, false);
  fill (residual, n * channels, false);
  lines_new (x, w, size, size_w, forms);
  kernel->dwconv (&t, &end);
  for (size_t p = 0; p < n && ok; p++)
    for (size_t c = 0; c < ldy && ok; c++)
      ok = holds (&y, ldy, channels, p, c, c < channels ? expected_conv (&t, &end, p, c) : 0);
  ok = ok && buffer_guards_hold (&y);
  lines_free (x, w);
  bytes_free (bias);
  bytes_free (residual);
  buffer_free (&y);
  return ok;
}

/* Numbers of pixel @p, channel @o; weights of a tap are @ldw apart. */
static float
expected_planes (const LptFwindowPlanes *t, size_t stride, size_t ldw, const LptFgemmEnd *end, size_t p, size_t o)
{
  float sum = 0;

  for (size_t row = 0; row < t->rows; row++)
    for (size_t tap = 0; tap < t->taps; tap++)
      sum = fmaf (t->x[row][p * stride + t->at[tap]], t->w[row][tap * ldw + o], sum);
  return ended (end, sum, p, o);
}

/* A residual that the result takes the place of, too. @stride 0: neighbours in lanes, else channels, and pixels so far
 * apart. */
static bool
check_planes (const LptFwindowKernel *kernel, size_t n, size_t outs, size_t taps, size_t stride, unsigned forms)
{
  const size_t rows = forms % 4, dilation = forms % 3 + 1, ldy = outs + forms % 2, step = stride ? stride : 1;
  const size_t size = (n - 1) * step + 1 + (taps - 1) * dilation;
  const size_t ldw = stride ? (outs + LPT_FWINDOW_LANES - 1) / LPT_FWINDOW_LANES * LPT_FWINDOW_LANES : outs;
  const bool in_place = forms % 16 == 6;
  float *x[3], *w[3], *bias = (float *) exact_bytes (outs * sizeof (float));
  float *residual = (float *) exact_bytes (n * ldy * sizeof (float));
  Buffer y = buffer_new (n * ldy * sizeof (float));
  size_t at[8];
  LptFwindowPlanes t = { n, outs, rows, taps, (const float *const *) x, at, (const float *const *) w,
                         (float *) y.data, ldy };
  LptFgemmEnd end = { forms & 1 ? bias : NULL, forms & 2 ? residual : NULL, ldy, forms & 4, -1.0f, 2.5f,
                      forms & 8 ? bias : NULL };
  bool ok = true;

  /* Taps in another order, too. */
  for (size_t tap = 0; tap < taps; tap++)
    at[tap] = (forms & 1 ? taps - 1 - tap : tap) * dilation;
  fill (bias, outs, false);
  fill (residual, n * ldy, false);
  lines_new (x, w, size, taps * ldw, forms);
  if (in_place)
    {
      for (size_t p = 0; p < n; p++)
        memcpy (y.data + p * ldy * sizeof (float), residual + p * ldy, outs * sizeof (float));
      end.residual = (const float *) y.data;
    }
  if (stride)
    kernel->channels (&(LptFwindowChannels) { n, outs, stride, rows, taps, t.x, at, t.w, ldw, t.y, ldy }, &end);
  else
    kernel->planes (&t, &end);
  end.residual = forms & 2 ? residual : NULL;
  for (size_t p = 0; p < n && ok; p++)
    for (size_t o = 0; o < ldy && ok; o++)
      ok = holds (&y, ldy, outs, p, o, o < outs ? expected_planes (&t, step, ldw, &end, p, o) : 0);
  ok = ok && buffer_guards_hold (&y);
  lines_free (x, w);
  bytes_free (bias);
  bytes_free (residual);
  buffer_free (&y);
  return ok;
}

static void
check_kernel (const LptFwindowKernel *kernel)
{
  static const char *const names[] = { "max", "mean" };
  bool ok = true;
  unsigned forms = 0;

  for (size_t n = 1; n <= 180 && ok; n += n < 40 ? 1 : 7)
    for (size_t outs = 1; outs <= LPT_FWINDOW_OUTS && ok; outs++)
      for (size_t taps = 1; taps <= 7 && ok; taps++, forms++)
        ok = check_planes (kernel, n, outs, taps, 0, forms);
  test_report (ok, "%s planes", kernel->name);
  ok = true;
  for (size_t n = 1; n <= 37 && ok; n++)
    for (size_t outs = 1; outs <= 50 && ok; outs += outs < 18 ? 1 : 5)
      for (size_t taps = 1; taps <= 7 && ok; taps++, forms++)
        ok = check_planes (kernel, n, outs, taps, forms % 3 + 1, forms);
  test_report (ok, "%s channels", kernel->name);
  ok = true;

  for (size_t n = 1; n <= 37 && ok; n++)
    for (size_t channels = 1; channels <= 50 && ok; channels += channels < 18 ? 1 : 5)
      for (size_t taps = 1; taps <= MAX_TAPS && ok; taps++, forms++)
        ok = check_conv (kernel, n, channels, taps, forms, false);
  test_report (ok, "%s dwconv", kernel->name);
  ok = true;
  for (size_t n = 1; n <= 37 && ok; n++)
    for (size_t channels = 1; channels <= 50 && ok; channels += channels < 18 ? 1 : 5)
      for (size_t taps = 3; taps <= 7 && ok; taps += 2)
        for (size_t more = 0; more < 3 && ok; more++, forms++)
          ok = check_conv (kernel, n, channels, taps, forms, true);
  test_report (ok, "%s padded dwconv", kernel->name);
  for (Form form = MAX; form <= MEAN; form++)
    {
      ok = true;
      for (size_t n = 1; n <= 21 && ok; n++)
        for (size_t channels = 1; channels <= 50 && ok; channels += channels < 18 ? 1 : 5)
          for (size_t taps = 0; taps <= MAX_TAPS && ok; taps += 3, forms++)
            ok = check_pool (kernel, form, n, channels, taps, forms);
      test_report (ok, "%s %s", kernel->name, names[form]);
    }
}

int
main (void)
{
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptFwindowKernel *kernels = lpt_fwindow_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    if (lpt_cpu_has (cpu, kernels[i].needs))
      check_kernel (&kernels[i]);
    else
      test_skip (kernels[i].name);

  return test_end ();
}
