/* executor/kernels/fourier/body.h - element k of all lines is a row, and loops over rows are what compilers vectorise
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/fourier/fourier.h"
#include "executor/kernels/lpt-isa.h"

#define LANES LPT_FOURIER_LANES

typedef struct {
  double re[LANES], im[LANES];
} Row;

/* Where lines begin, in numbers. */
typedef struct {
  size_t n, at[LANES];
  int    neighbours;                       /* one behind the other */
} Lines;

static Lines
lines_of (size_t first, size_t n, size_t inner, size_t length)
{
  Lines l = { .n = n };

  for (size_t j = 0; j < LANES; j++)
    {
      const size_t line = first + (j < n ? j : 0);

      l.at[j] = line / inner * length * inner + line % inner;
    }
  l.neighbours = n == LANES && l.at[LANES - 1] == l.at[0] + LANES - 1;
  return l;
}

static Lines
frames_of (const LptFourier *f, size_t first, size_t n)
{
  Lines l = { .n = n };

  for (size_t j = 0; j < LANES; j++)
    {
      const size_t frame = first + (j < n ? j : 0);

      l.at[j] = frame / f->frames * f->signal + frame % f->frames * f->hop;
    }
  return l;
}

static void
load_row (const float *x, size_t step, const Lines *l, int pairs, Row *row)
{
  if (l->neighbours && pairs)
    for (size_t j = 0; j < LANES; j++)
      {
        row->re[j] = x[2 * (l->at[0] + step + j)];
        row->im[j] = x[2 * (l->at[0] + step + j) + 1];
      }
  else if (l->neighbours)
    for (size_t j = 0; j < LANES; j++)
      {
        row->re[j] = x[l->at[0] + step + j];
        row->im[j] = 0;
      }
  else
    for (size_t j = 0; j < LANES; j++)
      {
        const size_t at = l->at[j] + step;

        row->re[j] = pairs ? x[2 * at] : x[at];
        row->im[j] = pairs ? x[2 * at + 1] : 0;
      }
}

static void
store_row (const LptFourier *f, const Row *row, size_t step, const Lines *l, float *y)
{
  Row r = *row;

  for (size_t j = 0; j < LANES && f->inverse; j++)
    {
      r.re[j] /= (double) f->size;
      r.im[j] /= (double) f->size;
    }
  for (size_t j = 0; j < l->n; j++)
    {
      const size_t at = l->at[j] + step;

      y[f->pairs_out ? 2 * at : at] = (float) r.re[j];
      if (f->pairs_out)
        y[2 * at + 1] = (float) r.im[j];
    }
}

static void
load (const LptFourier *f, const float *x, const Lines *l, Row *line)
{
  const size_t all = f->pairs_out ? f->size : f->size / 2 + 1, filled = f->length < all ? f->length : all;

  for (size_t k = 0; k < filled; k++)
    load_row (x, k * f->inner, l, f->pairs, &line[k]);
  for (size_t k = filled; k < f->size; k++)
    line[k] = (Row) { .re = { 0 } };
  for (size_t k = 1; k < filled && !f->pairs_out && 2 * k < f->size; k++)
    for (size_t j = 0; j < LANES; j++)
      {
        line[f->size - k].re[j] = line[k].re[j];
        line[f->size - k].im[j] = -line[k].im[j];
      }
}

/* *sum + *x times a root. */
static inline void
add_times (Row *restrict sum, const Row *restrict x, double re, double im)
{
  for (size_t j = 0; j < LANES; j++)
    {
      sum->re[j] += x->re[j] * re - x->im[j] * im;
      sum->im[j] += x->re[j] * im + x->im[j] * re;
    }
}

/* What is even, plus and minus what is odd times a root. */
static inline void
cross (Row *restrict even, Row *restrict odd, double re, double im)
{
  for (size_t j = 0; j < LANES; j++)
    {
      const double a = odd->re[j] * re - odd->im[j] * im, b = odd->re[j] * im + odd->im[j] * re;

      odd->re[j] = even->re[j] - a;
      odd->im[j] = even->im[j] - b;
      even->re[j] += a;
      even->im[j] += b;
    }
}

static inline void
two (const Row *restrict a, const Row *restrict b, Row *restrict sum, Row *restrict difference)
{
  for (size_t j = 0; j < LANES; j++)
    {
      sum->re[j] = a->re[j] + b->re[j];
      sum->im[j] = a->im[j] + b->im[j];
      difference->re[j] = a->re[j] - b->re[j];
      difference->im[j] = a->im[j] - b->im[j];
    }
}

/* y = transform of the n rows x[0], x[step], ... */
static void
transform (const LptFourier *f, const Row *x, size_t step, Row *y, size_t n)
{
  const size_t half = n / 2, turn = f->size / n;

  if (n == 1)
    y[0] = x[0];
  else if (n == 2)
    two (&x[0], &x[step], &y[0], &y[1]);
  else if (n % 2 != 0)
    for (size_t k = 0; k < n; k++)
      {
        Row sum = { .re = { 0 } };

        for (size_t j = 0, at = 0; j < n; j++, at = (at + k) % n)
          add_times (&sum, &x[j * step], f->roots[2 * at * turn], f->roots[2 * at * turn + 1]);
        y[k] = sum;
      }
  else
    {
      transform (f, x, 2 * step, y, half);
      transform (f, x + step, 2 * step, y + half, half);
      for (size_t k = 0; k < half; k++)
        cross (&y[k], &y[half + k], f->roots[2 * k * turn], f->roots[2 * k * turn + 1]);
    }
}

void
LPT_FN (lpt_fourier_lines) (const LptFourier *f, const float *x, float *y, size_t first, size_t n, double *work)
{
  const size_t beside = f->exchanged ? f->frames : f->inner;
  const Lines from = f->frames > 0 ? frames_of (f, first, n) : lines_of (first, n, f->inner, f->length),
              to = lines_of (first, n, beside, f->out);
  Row *line = (Row *) work, *result = line + f->size;

  load (f, x, &from, line);
  for (size_t k = 0; k < f->size && f->window; k++)
    for (size_t j = 0; j < LANES; j++)
      line[k].re[j] *= f->window[k];
  transform (f, line, 1, result, f->size);
  for (size_t k = 0; k < f->out; k++)
    store_row (f, &result[k], k * beside, &to, y);
}
