/* bench/peers/run-lpt.c - ours: run-lpt MODEL THREADS [--float]
 *
 * As lptc bench does it: load, transform and lower unless the model is lowered, plan. With --float the model runs as it
 * is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lpt/lpt-executor.h>

#include "bench/peers/runner.h"
#include "cli/arrays.h"
#include "cli/files.h"
#include "cli/pipeline-args.h"

typedef struct
{
  LptPlan        *plan;
  LptPlanContext *context;
  GError         *error;
} Model;

static bool
run (void *data)
{
  Model *model = data;

  if (!lpt_plan_run (model->plan, model->context, &model->error))
    fprintf (stderr, "run-lpt: %s\n", model->error->message);
  return model->error == NULL;
}

/* Drawing the inputs is no part of being ready: @start moves by the time that it takes. */
static gboolean
load (Model *model, const char *path, guint threads, gboolean real, RunnerTime *start)
{
  g_autoptr (LptGraph) graph = cmd_load (path, &model->error);
  g_autofree LptShape *shapes = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  if (graph == NULL || (!real && !cmd_lower (graph, &model->error)))
    return FALSE;

  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  RunnerTime before = runner_now (), after;

  shapes = g_new0 (LptShape, graph->parameters->len + 1);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      LptTensor *tensor = cmd_arrays_random (g_ptr_array_index (graph->parameters, i), NULL, CMD_DRAWN_BELOW, rand,
                                             &model->error);

      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (inputs, tensor);
      shapes[i] = *lpt_tensor_shape (tensor);
    }
  after = runner_now ();
  start->wall += after.wall - before.wall;
  start->cpu += after.cpu - before.cpu;
  model->plan = lpt_plan_new (graph, shapes, 0, &model->error);
  if (model->plan == NULL)
    return FALSE;
  g_clear_pointer (&graph, lpt_graph_free);
  model->context = lpt_plan_context_new (model->plan, threads, &model->error);
  for (guint i = 0; model->context != NULL && i < inputs->len; i++)
    if (!lpt_plan_context_set_input (model->context, i, g_ptr_array_index (inputs, i), &model->error))
      return FALSE;
  return model->context != NULL;
}

int
main (int argc, char **argv)
{
  Model model = { NULL };
  RunnerTime start = runner_now ();

  if (argc < 3)
    {
      fprintf (stderr, "usage: run-lpt MODEL THREADS [--float]\n");
      return 2;
    }
  if (!load (&model, argv[1], (guint) atoi (argv[2]), argc > 3 && strcmp (argv[3], "--float") == 0, &start))
    {
      fprintf (stderr, "run-lpt: %s\n", model.error->message);
      return 1;
    }
  return runner_serve (LPT_VERSION, start, runner_now (), run, &model);
}
