/* executor/kernels/float/body-gelu.h - GELU in its parts; a part of body.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* As Power has it: in double, rounded once more. */
INLINE V
cube_lanes (V x)
{
  H h[2];

  split_halves (x, h);
  for (int q = 0; q < 2; q++)
    {
      const D d = wide_half (h[q]);

      h[q] = narrow_half (d * d * d);
    }
  return join_halves (h[0], h[1]);
}

INLINE V
gelu_lanes (const LptFloatGelu *g, bool by_tanh, bool divides, V x)
{
  V t = by_tanh ? x + cube_lanes (x) * g->cubic : x;

  t = divides ? t / splat (g->factor) : t * g->factor;
  t = by_tanh ? tanh_lanes (t) : erf_lanes (t);
  return x * g->before * ((t + 1.0f) * g->between) * g->after;
}

LPT_TILE void
gelu_all (const LptFloatGelu *g, bool by_tanh, bool divides, size_t n, const float *in, float *out)
{
  const LptFloatGelu own = *g;
  size_t i = 0;

  for (; i + WIDTH <= n; i += WIDTH)
    store (out + i, gelu_lanes (&own, by_tanh, divides, load (in + i, WIDTH, 0.0f)), WIDTH);
  if (i < n)
    store (out + i, gelu_lanes (&own, by_tanh, divides, load (in + i, n - i, 0.0f)), n - i);
}

void
LPT_FN (lpt_float_gelu) (const LptFloatGelu *g, size_t n, const float *in, float *out)
{
  if (g->by_tanh)
    gelu_all (g, true, false, n, in, out);
  else if (g->divides)
    gelu_all (g, false, true, n, in, out);
  else
    gelu_all (g, false, false, n, in, out);
}
