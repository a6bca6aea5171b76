/* executor/kernels/codes16/body-lines.h - windows, averages, real numbers, functions and neighbours along lines
 *
 * Part of body.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* --- windows --- */

INLINE void
windows_by (LptTake16 take, size_t n, size_t taps, size_t stride, size_t apart, const int32_t *line, int32_t *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = line[i * stride];
  for (size_t t = 1; t < taps; t++)
    for (size_t i = 0; i < n; i++)
      out[i] = of_two (take, out[i], line[i * stride + t * apart]);
}

INLINE void
windows_of (LptTake16 take, size_t n, size_t taps, size_t stride, size_t apart, const int32_t *line, int32_t *out)
{
  if (stride == 1)
    windows_by (take, n, taps, 1, apart, line, out);
  else if (stride == 2)
    windows_by (take, n, taps, 2, apart, line, out);
  else
    windows_by (take, n, taps, stride, apart, line, out);
}

void
LPT_FN (lpt_codes16_windows) (LptTake16 take, size_t n, size_t taps, size_t stride, size_t apart, const int32_t *line,
                              int32_t *out)
{
  switch (take)
    {
    case LPT_TAKE16_SUM:  windows_of (LPT_TAKE16_SUM, n, taps, stride, apart, line, out); break;
    case LPT_TAKE16_MOST: windows_of (LPT_TAKE16_MOST, n, taps, stride, apart, line, out); break;
    default:              windows_of (LPT_TAKE16_LEAST, n, taps, stride, apart, line, out); break;
    }
}

/* A quotient of such integers in doubles is cut where the exact one is: it lies 1 / by or more
 * from the next integer. */
void
LPT_FN (lpt_codes16_average) (int32_t by, size_t n, int32_t *x)
{
  const double divisor = by, half = by / 2;

  for (size_t i = 0; i < n; i++)
    x[i] = (int32_t) (((double) x[i] + (x[i] > 0 ? half : -half)) / divisor);
}

/* --- real numbers --- */

/* Away from zero by the reciprocal, as the 8-bit kernel has it (eltwise/body.h): of magnitudes up to 2^17 the product
 * lies less than 2^-34 from the quotient, which is half of an integer or 2^-26 and more from it. */
INLINE void
quantize_double (const LptQuantize16 *p, size_t n, const float *in, int32_t *x)
{
  const double reciprocal = 1.0 / (double) p->scale, low = p->low, high = p->high, nan = p->nan, over = 0.5 + 0x1p-30;

  for (size_t i = 0; i < n; i++)
    {
      double v = (double) in[i] * reciprocal;

      v = v == v ? v : nan;
      v = v > low ? v : low;
      v = v < high ? v : high;
      x[i] = (int32_t) (v + copysign (over, v));
    }
}

INLINE void
quantize_single (const LptQuantize16 *p, LptQuantize16Form form, size_t n, const float *in, int32_t *x)
{
  const bool from_zero = form == LPT_QUANTIZE16_DIVIDE_AWAY || form == LPT_QUANTIZE16_LINE_AWAY;
  const float scale = p->scale, zero = p->zero, low = (float) p->low, high = (float) p->high, nan = (float) p->nan;

  for (size_t i = 0; i < n; i++)
    {
      float v = form == LPT_QUANTIZE16_MULTIPLY    ? in[i] * scale
                : form == LPT_QUANTIZE16_LINE_AWAY ? in[i] * scale + zero
                                                   : in[i] / scale;

      v = v == v ? v : nan;
      v = v > low ? v : low;
      v = v < high ? v : high;
      x[i] = rounded (v, from_zero);
    }
}

void
LPT_FN (lpt_codes16_quantize) (const LptQuantize16 *p, size_t n, const float *in, int32_t *x)
{
  switch (p->form)
    {
    case LPT_QUANTIZE16_DOUBLE:      quantize_double (p, n, in, x); break;
    case LPT_QUANTIZE16_DIVIDE:      quantize_single (p, LPT_QUANTIZE16_DIVIDE, n, in, x); break;
    case LPT_QUANTIZE16_DIVIDE_AWAY: quantize_single (p, LPT_QUANTIZE16_DIVIDE_AWAY, n, in, x); break;
    case LPT_QUANTIZE16_MULTIPLY:    quantize_single (p, LPT_QUANTIZE16_MULTIPLY, n, in, x); break;
    default:                         quantize_single (p, LPT_QUANTIZE16_LINE_AWAY, n, in, x); break;
    }
}

void
LPT_FN (lpt_codes16_reals) (float scale, size_t n, const int32_t *x, float *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = (float) x[i] * scale;
}

/* --- functions --- */

void
LPT_FN (lpt_codes16_table) (const uint16_t *table, size_t n, const uint16_t *in, uint16_t *out)
{
  for (size_t i = 0; i < n; i++)
    out[i] = table[in[i]];
}

INLINE int32_t
on_line (const LptLines16 *f, int32_t v)
{
  const int32_t i = 256 + (v >> 7);

  return (int16_t) (f->at[i] + ((f->step[i] * (v & 127) + 64) >> 7));
}

static void
exponentials (const LptSoftmax16 *p, size_t n, int32_t *e)
{
  lpt_rescale_all (&p->scale, n, e, -65535, 0);
  for (size_t i = 0; i < n; i++)
    e[i] = on_line (&p->exps, e[i] + 32767);
}

void
LPT_FN (lpt_codes16_softmax) (const LptSoftmax16 *p, size_t n, const int16_t *x, int16_t *y, int32_t *e)
{
  int32_t most = INT16_MIN;
  int64_t sum = 0;

  for (size_t i = 0; i < n; i++)
    most = x[i] > most ? x[i] : most;
  for (size_t i = 0; i < n; i++)
    e[i] = x[i] - most;
  exponentials (p, n, e);
  for (size_t i = 0; i < n; i++)
    sum += e[i];
  sum = sum < 1 ? 1 : sum > INT32_MAX ? INT32_MAX : sum;

  const int headroom = __builtin_clz ((uint32_t) sum), right = 31 - headroom;
  const int32_t shifted = (int32_t) (((sum << (headroom > 0 ? headroom - 1 : 0)) + (1 << 13)) >> 14) - (1 << 15) -
                          (1 << 16);
  const int32_t inverse = on_line (&p->inverses, shifted < -32768 ? -32768 : shifted > 32767 ? 32767 : shifted);
  const int32_t half = right > 0 ? 1 << (right - 1) : 0;

  for (size_t i = 0; i < n; i++)
    {
      int64_t v = lpt_rescale_shift ((int64_t) e[i] * inverse + half, right);

      v = v < 0 ? 0 : v;
      y[i] = (int16_t) (v > 32767 ? 32767 : v);
    }
}

/* --- neighbours --- */

void
LPT_FN (lpt_codes16_blend) (size_t n, int32_t *x, int32_t a, const int32_t *y, int32_t b)
{
  for (size_t i = 0; i < n; i++)
    x[i] = x[i] * a + y[i] * b;
}

void
LPT_FN (lpt_codes16_between) (const LptBetween16 *p, size_t n, const int32_t *line, int32_t *out)
{
  const uint32_t *lower = p->lower, *upper = p->upper;
  const int32_t *weight = p->weight, one = p->one;
  const int64_t half = ((int64_t) 1 << (p->shift - 1)) - p->even, back = p->away ? 1 : 0, low = p->low, high = p->high;
  const int64_t even = p->even ? 1 : 0, odd = p->odd;
  const int shift = p->shift;

  for (size_t i = 0; i < n; i++)
    {
      int64_t v = (int64_t) line[lower[i]] * (one - weight[i]) + (int64_t) line[upper[i]] * weight[i];

      v = lpt_rescale_shift (v + half - (v < 0 ? back : 0) + ((lpt_rescale_shift (v, shift) ^ odd) & even), shift);
      v = v < low ? low : v;
      out[i] = (int32_t) (v > high ? high : v);
    }
}
