/* executor/kernels/linear/body.h - linear attention, compiled per instruction set
 *
 * Some vectors of columns go through all tokens before the next ones do, so that their part of the state stays in the
 * first cache. A pass over it does what token t leaves to be done (s + k d, its first query) and, as the numbers are in
 * registers, what token t + 1 begins with (s * decay, the sum with its key); the state is written once a token. Further
 * queries of a token read it before it decays: then these are passes of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>

#include "executor/kernels/linear/linear.h"
#include "executor/kernels/lpt-vector.h"

/* Vectors of columns side by side, so that chains of sums fill the time that one of them takes. */
#define MOST 4

/* What a pass does besides reading: constants where it is called. */
typedef struct {
  bool update, query, decay, recall;
} Does;

typedef struct {
  const LptLinear *p;
  size_t           column, last;      /* the first one, and how many are in the last vector */
  const float     *from;              /* the state that is read: the past, then what was written */
  V                d[MOST], y[MOST], r[MOST];
} Columns;

/* q: of the query; k: of the token; next: key, and decay, of the token behind it */
LPT_TILE void
pass (Columns *c, size_t vectors, Does does, const float *q, const float *k, const float *next, const float *decay)
{
  const size_t pitch = c->p->value, rows = c->p->key, step = c->p->decay_next;
  const float *from = c->from + c->column;
  float *to = c->p->state + c->column;
  V y[MOST] = { { 0 } }, r[MOST] = { { 0 } }, d[MOST];

  for (size_t j = 0; j < vectors; j++)
    d[j] = c->d[j];
  for (size_t i = 0; i < rows; i++, from += pitch, to += pitch)
    {
      /* Read before anything is written, for all vectors. */
      const V by_k = splat (does.update ? k[i] : 0), by_q = splat (does.query ? q[i] : 0);
      const V by_decay = splat (does.decay ? decay[i * step] : 0), by_next = splat (does.recall ? next[i] : 0);

      LPT_TILE_UNROLL
      for (size_t j = 0; j < vectors; j++)
        {
          const size_t n = j + 1 < vectors ? WIDTH : c->last;
          V s = load (from + j * WIDTH, n, 0);

          if (does.update)
            s = s + by_k * d[j];
          if (does.query)
            y[j] = y[j] + by_q * s;
          if (does.decay)
            s = s * by_decay;
          if (does.recall)
            r[j] = r[j] + by_next * s;
          if (does.update || does.decay)
            store (to + j * WIDTH, s, n);
        }
    }
  for (size_t j = 0; j < vectors; j++)
    {
      c->y[j] = y[j];
      c->r[j] = r[j];
    }
  if (does.update || does.decay)
    c->from = c->p->state;
}

/* The beginning of token @t alone; of one that does nothing there the state stays where it is. */
INLINE void
begin (Columns *c, size_t vectors, bool decays, bool recalls, size_t t)
{
  const LptLinear *p = c->p;
  const float *k = p->k.at + t * p->k.token, *decay = decays ? p->decay.at + t * p->decay.token : NULL;

  if (decays || recalls)
    pass (c, vectors, (Does) { .decay = decays, .recall = recalls }, NULL, NULL, k, decay);
}

/* d of token @t, from the sum that its beginning left */
INLINE void
difference (Columns *c, size_t vectors, bool recalls, size_t t)
{
  const LptLinear *p = c->p;
  const float *v = p->v.at + t * p->v.token + c->column;

  for (size_t j = 0; j < vectors; j++)
    {
      c->d[j] = load (v + j * WIDTH, j + 1 < vectors ? WIDTH : c->last, 0);
      if (recalls)
        c->d[j] = splat (p->beta.at[t * p->beta.token]) * (c->d[j] - c->r[j]);
    }
}

INLINE void
answer (const Columns *c, size_t vectors, size_t t, size_t query)
{
  float *y = c->p->y + t * c->p->y_token + query * c->p->y_next + c->column;

  for (size_t j = 0; j < vectors; j++)
    store (y + j * WIDTH, c->y[j], j + 1 < vectors ? WIDTH : c->last);
}

/* All tokens; all but @c are constants. */
INLINE void
through (Columns *c, size_t vectors, bool decays, bool recalls)
{
  const LptLinear *p = c->p;
  const bool alone = p->queries == 1;

  if (p->tokens > 0)
    begin (c, vectors, decays, recalls, 0);
  for (size_t t = 0; t < p->tokens; t++)
    {
      const float *q = p->q.at + t * p->q.token, *k = p->k.at + t * p->k.token;
      const bool more = t + 1 < p->tokens;

      difference (c, vectors, recalls, t);
      if (alone && more)
        pass (c, vectors, (Does) { true, true, decays, recalls }, q, k, k + p->k.token,
              decays ? p->decay.at + (t + 1) * p->decay.token : NULL);
      else
        pass (c, vectors, (Does) { .update = true, .query = true }, q, k, NULL, NULL);
      answer (c, vectors, t, 0);
      if (alone)
        continue;
      for (size_t i = 1; i < p->queries; i++)
        {
          pass (c, vectors, (Does) { .query = true }, q + i * p->query_next, NULL, NULL, NULL);
          answer (c, vectors, t, i);
        }
      if (more)
        begin (c, vectors, decays, recalls, t + 1);
    }
}

INLINE void
columns (const LptLinear *p, size_t vectors, size_t column, size_t last)
{
  Columns c = { .p = p, .column = column, .last = last, .from = p->past };
  const bool decays = p->decay.at != NULL, recalls = p->beta.at != NULL;

  if (decays && recalls)
    through (&c, vectors, true, true);
  else if (decays)
    through (&c, vectors, true, false);
  else if (recalls)
    through (&c, vectors, false, true);
  else
    through (&c, vectors, false, false);
  if (p->tokens == 0)
    for (size_t i = 0; i < p->key; i++)
      memcpy (p->state + i * p->value + column, p->past + i * p->value + column,
              ((vectors - 1) * WIDTH + last) * sizeof (float));
}

void
LPT_FN (lpt_linear_run) (const LptLinear *p, size_t first, size_t end)
{
  size_t j = first;

  for (; j + MOST * WIDTH <= end; j += MOST * WIDTH)
    columns (p, MOST, j, WIDTH);
  for (; j + WIDTH <= end; j += WIDTH)
    columns (p, 1, j, WIDTH);
  if (j < end)
    columns (p, 1, j, end - j);
}
