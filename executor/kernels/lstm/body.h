/* executor/kernels/lstm/body.h - loops over the cells: functions on sixteen at a time where there are such
 * vectors, the rest as compilers vectorise it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/lstm/fixed16.h"
#include "executor/kernels/lstm/lstm.h"

#define INLINE static inline __attribute__ ((always_inline))

/* Rescaled sums beyond it end beyond 16 bits, whatever is added of 16 bits. */
#define FAR (1 << 20)

#if defined (__AVX2__)
#include "executor/kernels/lstm/fixed16-256.h"
#else
static void
logistic (size_t n, int16_t *v)
{
  for (size_t k = 0; k < n; k++)
    v[k] = lpt_fixed16_logistic (v[k], 3);
}

/* `bits` is a constant. */
INLINE void
tanh_of (int bits, size_t n, const int16_t *x, int16_t *y)
{
  for (size_t k = 0; k < n; k++)
    y[k] = lpt_fixed16_tanh (x[k], bits);
}
#endif

static void
tanh_any (int bits, size_t n, const int16_t *x, int16_t *y)
{
  switch (bits)
    {
    case 0:  tanh_of (0, n, x, y); break;
    case 1:  tanh_of (1, n, x, y); break;
    case 2:  tanh_of (2, n, x, y); break;
    case 3:  tanh_of (3, n, x, y); break;
    case 4:  tanh_of (4, n, x, y); break;
    case 5:  tanh_of (5, n, x, y); break;
    default: tanh_of (LPT_LSTM_MAX_BITS, n, x, y); break;
    }
}

/* v / 2^e, ties away from 0. */
INLINE int32_t
divide (int32_t v, int e)
{
  const int32_t mask = (int32_t) ((UINT32_C (1) << e) - 1);

  return (v >> e) + ((v & mask) > (mask >> 1) + (v < 0));
}

static void
gate (const LptRescale *of_x, const LptRescale *of_h, size_t n, int32_t *x, int32_t *h, int16_t *v)
{
  lpt_rescale_all (of_x, n, x, INT16_MIN, INT16_MAX);
  lpt_rescale_all (of_h, n, h, -FAR, FAR);
  for (size_t k = 0; k < n; k++)
    v[k] = lpt_fixed16_sat (x[k] + h[k]);
}

static void
set_cell (const LptLstm *p, const int16_t *i, const int16_t *f, const int16_t *c, const int16_t *before, int16_t *cell)
{
  const int32_t clip = p->clip > 0 ? p->clip : INT16_MAX + 1;
  const int fresh = p->fresh;

  for (size_t k = 0; k < p->cells; k++)
    {
      int32_t v = lpt_fixed16_sat (lpt_fixed16_sat (divide (f[k] * before[k], 15)) +
                                   lpt_fixed16_sat (divide (i[k] * c[k], fresh)));

      cell[k] = (int16_t) (v < -clip ? -clip : v > clip ? clip : v);
    }
}

void
LPT_FN (lpt_lstm_step) (const LptLstm *p, int32_t *x, int32_t *h, int16_t *room, const int16_t *before, int16_t *cell,
                        uint8_t *hidden)
{
  const size_t n = p->cells, first = LPT_LSTM_GATES - lpt_lstm_gates (p);
  int16_t *i = room, *f = room + n, *c = room + 2 * n, *o = room + 3 * n;

  for (size_t g = first; g < LPT_LSTM_GATES; g++)
    gate (&p->of_x[g], &p->of_h[g], n, x + (g - first) * n, h + (g - first) * n, room + g * n);
  logistic (first == 0 ? 2 * n : n, first == 0 ? i : f);
  for (size_t k = 0; k < n && p->coupled; k++)
    i[k] = (int16_t) (INT16_MAX - f[k]);
  tanh_any (3, n, c, c);
  logistic (n, o);
  set_cell (p, i, f, c, before, cell);
  tanh_any (p->bits, n, cell, c);
  for (size_t k = 0; k < n; k++)
    x[k] = o[k] * c[k];
  lpt_rescale_all (&p->of_hidden, n, x, -FAR, FAR);
  for (size_t k = 0; k < n; k++)
    {
      const int32_t code = x[k] - p->zero;

      hidden[k] = (uint8_t) ((code < -128 ? -128 : code > 127 ? 127 : code) + 128);
    }
}
