/* bench/scaling/scaling.c - how much faster a model runs on two threads, while the machine really has two processors to
 * give
 *
 *     scaling [--seconds N] MODEL...        default: 20 seconds for each model
 *
 * Processors of a shared machine are not always there: others use the same cores, or both are halves of one core for a
 * while, and then two threads are as fast as one. So each round first runs a loop of registers only on one processor,
 * on the other, on both at a time, then the model with one thread on each and with two, and then the loop again. Rounds
 * count in which none of the loops took more than 1.15 times as long as the shortest of its kind. Printed: the quotient
 * of one thread's time, the mean of both processors', and two threads' time, median and quartiles of the rounds that
 * count; and of all rounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lpt/lpt-executor.h>

#include "cli/arrays.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"
#include "executor/runtime/lpt-parallel.h"
#include "executor/lpt-plan.h"

#define ALLOWED 1.15
/* Milliseconds that the runs of one kind take in a round. */
#define SLICE 5.0

enum { LOOP_FIRST, LOOP_SECOND, LOOP_BOTH, N_LOOPS };

typedef struct
{
  double loops[2][N_LOOPS];    /* ms, before and after */
  double one[2], two;
} Round;

typedef struct
{
  LptPlan        *plan;
  LptPlanContext *one, *two;   /* threads */
} Model;

static double
now_ms (void)
{
  return (double) g_get_monotonic_time () / 1e3;
}

/* --- processors --- */

static int processors[2];

static gboolean
find_processors (void)
{
  cpu_set_t set;
  int n = 0;

  if (sched_getaffinity (0, sizeof set, &set) != 0)
    return FALSE;
  for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
    if (CPU_ISSET (i, &set))
      processors[n++] = i;

  return n == 2;
}

static void
stay_on (int which)
{
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (processors[which], &set);
  sched_setaffinity (0, sizeof set, &set);
}

/* As many multiplications as both ports of a core take, for some 50 microseconds. */
static void
use_registers (void *data, size_t task, unsigned thread)
{
  typedef float Vector __attribute__ ((vector_size (16)));
  Vector sums[8], factor = { 0.5f, 0.5f, 0.5f, 0.5f };

  for (int k = 0; k < 8; k++)
    sums[k] = factor * (float) (k + 1);
  for (int i = 0; i < 20000; i++)
    for (int k = 0; k < 8; k++)
      {
        sums[k] = sums[k] * factor + factor;
        __asm__ volatile ("" : "+x" (sums[k]));
      }
}

static double
time_loop (LptPool *pool, size_t tasks)
{
  double begin, best = G_MAXDOUBLE;

  for (int i = 0; i < 4; i++)
    {
      begin = now_ms ();
      lpt_parallel_for (pool, tasks, use_registers, NULL);
      best = MIN (best, now_ms () - begin);
    }

  return best;
}

static void
time_loops (LptPool *pool, double *loops)
{
  stay_on (1);
  loops[LOOP_SECOND] = time_loop (NULL, 1);
  stay_on (0);
  loops[LOOP_FIRST] = time_loop (NULL, 1);
  loops[LOOP_BOTH] = time_loop (pool, 2);
}

/* --- models --- */

static gboolean
load (Model *model, const char *path, GError **error)
{
  g_autoptr (LptGraph) graph = cmd_load (path, error);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  if (graph == NULL || !cmd_lower (graph, error))
    return FALSE;
  model->plan = lpt_plan_new (graph, NULL, 0, error);
  if (model->plan == NULL)
    return FALSE;
  /* The helper stays where it begins. */
  stay_on (1);
  model->one = lpt_plan_context_new (model->plan, 1, error);
  model->two = lpt_plan_context_new (model->plan, 2, error);
  for (guint i = 0; model->one != NULL && model->two != NULL && i < graph->parameters->len; i++)
    {
      LptNode *parameter = g_ptr_array_index (graph->parameters, i);
      g_autoptr (LptTensor) tensor = cmd_arrays_random (parameter, NULL, CMD_DRAWN_BELOW, rand, error);

      if (tensor == NULL || !lpt_plan_context_set_input (model->one, i, tensor, error) ||
          !lpt_plan_context_set_input (model->two, i, tensor, error))
        return FALSE;
    }

  return model->one != NULL && model->two != NULL;
}

static void
clear (Model *model)
{
  lpt_plan_context_free (model->one);
  lpt_plan_context_free (model->two);
  lpt_plan_free (model->plan);
}

/* Milliseconds of a run: the mean of a slice, after a slice that is not counted. */
static double
time_runs (const Model *model, LptPlanContext *context)
{
  double begin, took = 0;
  guint n;

  for (int k = 0; k < 2; k++)
    for (begin = now_ms (), n = 0; n == 0 || took < SLICE; took = now_ms () - begin)
      {
        lpt_plan_run (model->plan, context, NULL);
        n++;
      }

  return took / n;
}

/* --- results --- */

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static double
quotient (const Round *r)
{
  return (r->one[0] + r->one[1]) / 2 / r->two;
}

static gboolean
counts (const Round *r, const double *least)
{
  for (int k = 0; k < N_LOOPS; k++)
    if (r->loops[0][k] > ALLOWED * least[k] || r->loops[1][k] > ALLOWED * least[k])
      return FALSE;

  return TRUE;
}

static void
print_quartiles (const char *which, GArray *q)
{
  qsort (q->data, q->len, sizeof (double), compare);
  if (q->len > 0)
    printf ("  %-36s %4u  median %.3f, quartiles %.3f and %.3f\n", which, q->len, g_array_index (q, double, q->len / 2),
            g_array_index (q, double, q->len / 4), g_array_index (q, double, q->len * 3 / 4));
  else
    printf ("  %-36s none\n", which);
}

static void
report (const char *path, GArray *rounds)
{
  g_autoptr (GArray) good = g_array_new (FALSE, FALSE, sizeof (double)),
                     all = g_array_new (FALSE, FALSE, sizeof (double));
  double least[N_LOOPS], one = G_MAXDOUBLE, two = G_MAXDOUBLE;

  for (int k = 0; k < N_LOOPS; k++)
    least[k] = G_MAXDOUBLE;
  for (guint i = 0; i < rounds->len; i++)
    {
      const Round *r = &g_array_index (rounds, Round, i);

      for (int k = 0; k < N_LOOPS; k++)
        least[k] = MIN (least[k], MIN (r->loops[0][k], r->loops[1][k]));
      one = MIN (one, MIN (r->one[0], r->one[1]));
      two = MIN (two, r->two);
    }
  /* Both at a time are no slower than one. */
  least[LOOP_BOTH] = MIN (least[LOOP_BOTH], MIN (least[LOOP_FIRST], least[LOOP_SECOND]));
  for (guint i = 0; i < rounds->len; i++)
    {
      const Round *r = &g_array_index (rounds, Round, i);
      double q = quotient (r);

      g_array_append_val (all, q);
      if (counts (r, least))
        g_array_append_val (good, q);
    }
  printf ("%s: one thread / two threads, least %.3f / %.3f ms = %.3f\n", path, one, two, one / two);
  print_quartiles ("rounds with two whole processors", good);
  print_quartiles ("all rounds", all);
}

static gboolean
measure (const char *path, double seconds, GError **error)
{
  g_autoptr (GArray) rounds = g_array_new (FALSE, FALSE, sizeof (Round));
  Model model = { NULL };
  LptPool *pool;
  double begin;

  if (!load (&model, path, error))
    {
      clear (&model);
      return FALSE;
    }
  pool = lpt_pool_new (2);     /* its helper stays with the model's */
  for (begin = now_ms (); now_ms () - begin < 1e3 * seconds; )
    {
      Round r;

      time_loops (pool, r.loops[0]);
      for (int which = 1; which >= 0; which--)
        {
          stay_on (which);
          r.one[which] = time_runs (&model, model.one);
        }
      r.two = time_runs (&model, model.two);
      time_loops (pool, r.loops[1]);
      g_array_append_val (rounds, r);
    }
  report (path, rounds);
  lpt_pool_free (pool);
  clear (&model);

  return TRUE;
}

int
main (int argc, char **argv)
{
  double seconds = 20;
  int i = 1;

  if (argc > 2 && strcmp (argv[1], "--seconds") == 0)
    {
      seconds = g_ascii_strtod (argv[2], NULL);
      i = 3;
    }
  if (i >= argc || !(seconds > 0))
    {
      fprintf (stderr, "usage: scaling [--seconds N] MODEL...\n");
      return 2;
    }
  if (!find_processors ())
    {
      fprintf (stderr, "scaling: this process has not two processors\n");
      return 2;
    }
  for (; i < argc; i++)
    {
      g_autoptr (GError) error = NULL;

      if (!measure (argv[i], seconds, &error))
        {
          fprintf (stderr, "scaling: %s: %s\n", argv[i], error->message);
          return 1;
        }
      fflush (stdout);
    }

  return 0;
}
