/* lpt-run-body.c - bodies of ops, planned when the shapes of their inputs are known
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-body.h>

#include "executor/lpt-context.h"

/* Plans of one body that a context keeps, a loop whose values grow needing a new one each time, and the most memory of
 * their values while there are several. */
#define MAX_PLANS 32
#define MAX_BYTES (64 << 20)

static void
body_run_free (LptBodyRun *run)
{
  guint k;

  for (k = 0; run->own != NULL && k < lpt_plan_n_inputs (run->plan); k++)
    lpt_array_clear (&run->own[k]);
  g_free (run->own);
  lpt_aligned_free (run->held);
  lpt_plan_context_free (run->context);
  lpt_plan_free (run->plan);
  g_free (run->out);
  g_free (run);
}

GPtrArray *
lpt_run_bodies_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) body_run_free);
}

static LptBodyRun *
find_body (LptPlanContext *context,
           const LptNode  *node,
           guint           body,
           const LptArray *in,
           guint           n_in)
{
  guint i, k;

  for (i = 0; i < context->bodies->len; i++)
    {
      LptBodyRun *run = g_ptr_array_index (context->bodies, i);
      gboolean fits = run->node == node && run->body == body;

      for (k = 0; k < n_in && fits; k++)
        fits = lpt_shape_equal (&in[k].shape, lpt_plan_input_shape (run->plan, k));
      if (fits)
        return run;
    }

  return NULL;
}

/* The packed weights that plans of the body share, whatever their shapes; NULL: it has none yet. */
static LptPack *
find_pack (LptPlanContext *context,
           const LptNode  *node,
           guint           body)
{
  guint i;

  for (i = 0; i < context->bodies->len; i++)
    {
      const LptBodyRun *run = g_ptr_array_index (context->bodies, i);

      if (run->node == node && run->body == body)
        return run->plan->program->pack;
    }

  return NULL;
}

/* Room for another plan of the body: the oldest go, where there are many. */
static void
make_room (LptPlanContext *context,
           const LptNode  *node,
           guint           body)
{
  gsize bytes = 0;
  guint i, n = 0;

  for (i = context->bodies->len; i-- > 0;)
    {
      const LptBodyRun *run = g_ptr_array_index (context->bodies, i);

      if (run->node != node || run->body != body)
        continue;
      bytes += run->plan->program->arena_size;
      if (++n >= MAX_PLANS || (n > 1 && bytes > MAX_BYTES))
        g_ptr_array_remove_index (context->bodies, i);
    }
}

static LptBodyRun *
plan_body (LptPlanContext *context,
           LptNode        *node,
           guint           body,
           const LptArray *in,
           guint           n_in,
           GError        **error)
{
  g_autofree LptShape *shapes = g_new (LptShape, n_in + 1);
  const LptProgram *program = context->plan->program;
  LptBodyRun *run = g_new0 (LptBodyRun, 1);
  LptPlanOptions options;
  guint k;

  for (k = 0; k < n_in; k++)
    shapes[k] = in[k].shape;
  run->node = node;
  run->body = body;
  options = (LptPlanOptions) { .flags = program->flags & (LPT_PLAN_REFERENCE | LPT_PLAN_ORDERED), .shapes = shapes,
                               .pack = find_pack (context, node, body),
                               .level = lpt_cpu_level_name (program->kernels.cpu) };
  run->plan = lpt_plan_new_full (lpt_node_body (node, body), &options, error);
  if (run->plan != NULL)
    run->context = lpt_plan_context_new_on (run->plan, context->pool, error);
  if (run->context == NULL)
    {
      body_run_free (run);
      return NULL;
    }
  run->context->trips = context->trips;
  run->out = g_new0 (const LptArray *, lpt_plan_n_outputs (run->plan) + 1);
  make_room (context, node, body);
  g_ptr_array_add (context->bodies, run);

  return run;
}

LptBodyRun *
lpt_body_run_get (LptPlanContext *context,
                  LptNode        *node,
                  guint           body,
                  const LptArray *in,
                  guint           n_in,
                  GError        **error)
{
  LptBodyRun *run = find_body (context, node, body, in, n_in);

  return run != NULL ? run : plan_body (context, node, body, in, n_in, error);
}

gboolean
lpt_run_body (LptCall         *call,
              guint            body,
              const LptArray  *in,
              guint            n_in,
              const LptArray **out,
              GError         **error)
{
  LptPlanContext *context = call->body_data;
  LptBodyRun *run = lpt_body_run_get (context, call->node, body, in, n_in, error);
  guint i;

  if (run == NULL)
    return FALSE;
  for (i = 0; i < n_in; i++)
    if (!lpt_plan_context_set_array (run->context, i, &in[i], error))
      return FALSE;
  if (!lpt_plan_run (run->plan, run->context, error))
    return FALSE;
  for (i = 0; i < lpt_plan_n_outputs (run->plan); i++)
    out[i] = lpt_plan_context_output_array (run->context, i);

  return TRUE;
}
