/* rows-gelu.c - a GELU in its parts becomes one run of a program of rows
 *
 *     erf (x / c) or erf (x * c), or tanh (c * (x + b * x^3)); + 1; times x and times a constant, in any order
 *
 * with constants that are one number. The run rounds after each step as the parts do, so results are the same bits;
 * what it saves are passes over the tile, and a division waits beside the polynomials.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/rows.h"

/* The parts, by their place in the program. */
typedef struct
{
  guint            n, runs[12];
  LptProgramValue *x;
  LptFloatGelu     gelu;
} Parts;

static const LptRun *
run_at (const LptRowsMatch *m,
        gint                k)
{
  return k >= 0 ? &m->runs[k] : NULL;
}

static gboolean
is_binary (const LptRun  *run,
           LptFloatBinary binary)
{
  return run != NULL && run->kind == LPT_RUN_BINARY && run->binary == binary && !run->narrow;
}

/* The operand beside a constant of one number, which is *number; @ordered: the constant is the second. NULL: there is
 * none. */
static LptProgramValue *
beside_number (const LptRun *run,
               gboolean      ordered,
               float        *number)
{
  guint i;

  for (i = ordered ? 1 : 0; i < 2; i++)
    {
      const LptProgramValue *constant = run->op->in[i];

      if (constant->kind != LPT_STORAGE_CONST || lpt_program_count (constant) != 1)
        continue;
      *number = ((const float *) constant->array.data)[0];
      return run->op->in[1 - i];
    }

  return NULL;
}

/* The only run that reads what @k writes; -1: it is the result, or there are several. */
static gint
reader_of (const LptRowsMatch *m,
           guint               k)
{
  gint found = -1;
  guint j, i;

  for (j = k + 1; j < m->n_runs; j++)
    for (i = 0; i < m->runs[j].n; i++)
      if (m->runs[j].op->in[i] == m->runs[k].op->out[0])
        {
          if (found >= 0)
            return -1;
          found = (gint) j;
        }

  return found;
}

static void
add_part (Parts *parts,
          gint   k)
{
  parts->runs[parts->n++] = (guint) k;
}

/* The run that writes @value, when only one run reads that; -1: there is none. */
static gint
maker_of (const LptRowsMatch    *m,
          const LptProgramValue *value)
{
  gint k = value->def != NULL ? lpt_rows_find (m, value->def) : -1;

  return k >= 0 && reader_of (m, (guint) k) >= 0 ? k : -1;
}

/* What erf or tanh reads, back to x. */
static gboolean
find_argument (const LptRowsMatch *m,
               guint               map,
               Parts              *parts)
{
  LptFloatGelu *g = &parts->gelu;
  gint k = maker_of (m, m->runs[map].op->in[0]), i;
  LptProgramValue *value;
  float exponent;

  if (!is_binary (run_at (m, k), LPT_BINARY_MULTIPLY) &&
      (g->by_tanh || !is_binary (run_at (m, k), LPT_BINARY_DIVIDE)))
    return FALSE;
  g->divides = m->runs[k].binary == LPT_BINARY_DIVIDE;
  value = beside_number (&m->runs[k], g->divides, &g->factor);
  add_part (parts, k);
  if (value == NULL || !g->by_tanh)
    {
      parts->x = value;
      return value != NULL;
    }

  k = maker_of (m, value);
  if (!is_binary (run_at (m, k), LPT_BINARY_ADD))
    return FALSE;
  add_part (parts, k);
  for (i = 0; i < 2; i++)
    {
      gint product = maker_of (m, m->runs[k].op->in[i]), power;

      if (!is_binary (run_at (m, product), LPT_BINARY_MULTIPLY))
        continue;
      value = beside_number (&m->runs[product], FALSE, &g->cubic);
      power = value != NULL ? maker_of (m, value) : -1;
      parts->x = m->runs[k].op->in[1 - i];
      if (!is_binary (run_at (m, power), LPT_BINARY_POWER) ||
          beside_number (&m->runs[power], TRUE, &exponent) != parts->x || exponent != 3)
        continue;
      add_part (parts, product);
      add_part (parts, power);
      return TRUE;
    }

  return FALSE;
}

/* What follows erf or tanh: the last run is the last part. */
static gboolean
find_product (const LptRowsMatch *m,
              guint               map,
              Parts              *parts)
{
  LptFloatGelu *g = &parts->gelu;
  const LptProgramValue *other;
  gint k = reader_of (m, map), next, factor;
  float one;

  if (!is_binary (run_at (m, k), LPT_BINARY_ADD) || beside_number (&m->runs[k], FALSE, &one) == NULL || one != 1)
    return FALSE;
  add_part (parts, k);
  next = reader_of (m, (guint) k);
  if (!is_binary (run_at (m, next), LPT_BINARY_MULTIPLY))
    return FALSE;
  if (beside_number (&m->runs[next], FALSE, &g->between) != NULL)
    {
      add_part (parts, k = next);
      next = reader_of (m, (guint) k);
      if (!is_binary (run_at (m, next), LPT_BINARY_MULTIPLY))
        return FALSE;
    }
  other = m->runs[next].op->in[m->runs[next].op->in[0] == m->runs[k].op->out[0] ? 1 : 0];
  factor = other != parts->x ? maker_of (m, other) : -1;
  if (factor >= 0)
    {
      if (!is_binary (&m->runs[factor], LPT_BINARY_MULTIPLY) ||
          beside_number (&m->runs[factor], FALSE, &g->before) != parts->x)
        return FALSE;
      add_part (parts, factor);
    }
  else if (other != parts->x)
    return FALSE;
  k = reader_of (m, (guint) next);
  if (is_binary (run_at (m, k), LPT_BINARY_MULTIPLY) && beside_number (&m->runs[k], FALSE, &g->after) != NULL)
    {
      add_part (parts, next);
      next = k;
    }
  parts->runs[parts->n] = (guint) next;

  return TRUE;
}

/* The last part becomes the run, the others leave. */
static void
join_parts (LptRowsMatch *m,
            guint         map,
            const Parts  *parts)
{
  LptRun *last = &m->runs[parts->runs[parts->n]];
  gboolean leaves[LPT_ROWS_MAX_RUNS] = { FALSE };
  guint i, n = 0;

  *last = (LptRun) { .kind = LPT_RUN_GELU, .op = last->op, .n = 1, .only = parts->x, .axis = last->axis,
                     .gelu = parts->gelu };
  leaves[map] = TRUE;
  for (i = 0; i < parts->n; i++)
    leaves[parts->runs[i]] = TRUE;
  for (i = 0; i < m->n_runs; i++)
    if (!leaves[i])
      m->runs[n++] = m->runs[i];
  m->n_runs = n;
}

void
lpt_rows_join_gelus (LptRowsMatch *m)
{
  guint k;

  for (k = 0; k < m->n_runs; k++)
    {
      Parts parts = { .gelu = { .before = 1, .between = 1, .after = 1 } };

      if (m->runs[k].kind != LPT_RUN_MAP || m->runs[k].narrow ||
          (m->runs[k].map != LPT_MAP_ERF && m->runs[k].map != LPT_MAP_TANH))
        continue;
      parts.gelu.by_tanh = m->runs[k].map == LPT_MAP_TANH;
      if (!find_argument (m, k, &parts) || !find_product (m, k, &parts) || parts.x->kind == LPT_STORAGE_CONST ||
          !lpt_shape_equal (&parts.x->array.shape, &m->runs[parts.runs[parts.n]].op->out[0]->array.shape))
        continue;
      join_parts (m, k, &parts);
      k = 0;
    }
}
