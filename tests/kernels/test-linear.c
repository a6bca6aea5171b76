/* test-linear.c - linear attention: every row gives the bits of the formula
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel-test.h"

#include "executor/kernels/linear/linear.h"

/* One state; gates: 1 a decay, 2 one for each number of a key, 4 a beta. */
typedef struct {
  size_t   tokens, key, value, queries;
  unsigned gates;
} Case;

/* What is read and written; as many floats between tokens as there are, and three more. */
typedef struct {
  float    *q, *k, *v, *decay, *beta, *past, *state, *y;
  LptLinear p;
} Numbers;

static float *
draw (size_t n)
{
  float *x = (float *) region_place (n * sizeof *x + (n == 0), 4);

  for (size_t i = 0; i < n; i++)
    x[i] = (float) random_range (-1000, 1000) / 777.0f;
  return x;
}

static Numbers
make (const Case *c)
{
  const size_t decays = c->gates & 2 ? c->key : 1, gap = 3;
  Numbers n = { draw (c->tokens * (c->queries * c->key + gap)), draw (c->tokens * (c->key + gap)),
                draw (c->tokens * (c->value + gap)), draw (c->tokens * (decays + gap)), draw (c->tokens * (1 + gap)),
                draw (c->key * c->value), draw (c->key * c->value), draw (c->tokens * (c->queries * c->value + gap)) };

  n.p = (LptLinear) {
    .tokens = c->tokens, .key = c->key, .value = c->value, .queries = c->queries, .query_next = c->key,
    .y_next = c->value, .q = { n.q, c->queries * c->key + gap }, .k = { n.k, c->key + gap },
    .v = { n.v, c->value + gap }, .decay = { c->gates & 3 ? n.decay : NULL, decays + gap },
    .beta = { c->gates & 4 ? n.beta : NULL, 1 + gap }, .decay_next = decays > 1, .past = n.past, .state = n.state,
    .y = n.y, .y_token = c->queries * c->value + gap };
  return n;
}

/* Column j by the formula: state and y. */
static void
column (const LptLinear *p, size_t j, float *state, float *y)
{
  for (size_t i = 0; i < p->key; i++)
    state[i * p->value + j] = p->past[i * p->value + j];
  for (size_t t = 0; t < p->tokens; t++)
    {
      const float *q = p->q.at + t * p->q.token, *k = p->k.at + t * p->k.token;
      volatile float d = p->v.at[t * p->v.token + j], sum = 0;

      for (size_t i = 0; i < p->key; i++)
        {
          float *s = &state[i * p->value + j];
          volatile float product;

          if (p->decay.at != NULL)
            *s *= p->decay.at[t * p->decay.token + i * p->decay_next];
          product = k[i] * *s;
          sum = sum + product;
        }
      if (p->beta.at != NULL)
        {
          d = d - sum;
          d = p->beta.at[t * p->beta.token] * d;
        }
      for (size_t i = 0; i < p->key; i++)
        {
          volatile float product = k[i] * d;

          state[i * p->value + j] += product;
        }
      for (size_t g = 0; g < p->queries; g++)
        {
          sum = 0;
          for (size_t i = 0; i < p->key; i++)
            {
              volatile float product = q[g * p->query_next + i] * state[i * p->value + j];

              sum = sum + product;
            }
          y[t * p->y_token + g * p->y_next + j] = sum;
        }
    }
}

static bool
check (const LptLinearKernel *kernel, const Case *c)
{
  Numbers n = make (c);
  const size_t of_state = c->key * c->value * sizeof (float), of_y = c->tokens * n.p.y_token * sizeof (float);
  float *state = malloc (of_state), *y = malloc (of_y + 1);
  bool ok;

  memcpy (y, n.y, of_y);                /* what is between the tokens stays */
  for (size_t j = 0; j < c->value; j++)
    column (&n.p, j, state, y);
  for (size_t j = 0; j < c->value; j += LPT_LINEAR_PART)
    kernel->run (&n.p, j, j + LPT_LINEAR_PART < c->value ? j + LPT_LINEAR_PART : c->value);
  ok = memcmp (state, n.state, of_state) == 0 && memcmp (y, n.y, of_y) == 0;

  free (state);
  free (y);
  bytes_free (n.q);
  bytes_free (n.k);
  bytes_free (n.v);
  bytes_free (n.decay);
  bytes_free (n.beta);
  bytes_free (n.past);
  bytes_free (n.state);
  bytes_free (n.y);
  return ok;
}

int
main (void)
{
  static const size_t values[] = { 1, 3, 8, 16, 17, 31, 48, 64, 65, 80, 130 };
  LptCpu cpu = lpt_cpu_detect ();
  size_t n_kernels;
  const LptLinearKernel *kernels = lpt_linear_kernels (&n_kernels);

  for (size_t i = 0; i < n_kernels; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, kernels[i].needs))
        {
          test_skip (kernels[i].name);
          continue;
        }
      for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
        for (size_t tokens = 0; tokens <= 5; tokens++)
          for (unsigned gates = 0; gates < 8; gates++)
            ok = check (&kernels[i], &(Case) { tokens, (size_t) random_range (1, 20), values[v], 1 + tokens % 3,
                                               gates }) && ok;
      test_report (ok, "%s", kernels[i].name);
    }

  return test_end ();
}
