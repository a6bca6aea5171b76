/* property.c - random graphs one after the other; a failing one made smaller as long as it fails in the same way
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/property.h"
#include "tests/unit/under-sanitizers.h"

#include <lpt/lpt-text.h>

#include <stdlib.h>
#include <string.h>

/* --- running --- */

static LptTensor *
input_tensor (LptNode *parameter, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + g_str_hash (parameter->name));
  LptTensor *tensor = lpt_tensor_new (LPT_DTYPE_F32, &lpt_node_out (parameter)->shape, NULL);
  float *data = lpt_tensor_writable (tensor);
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    data[i] = (float) g_rand_double_range (rand, -4.0, 4.0);
  return tensor;
}

GPtrArray *
property_run (const LptPlan *plan, LptPlanContext *context, LptGraph *graph, guint seed, GError **error)
{
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      g_autoptr (LptTensor) tensor = input_tensor (g_ptr_array_index (graph->parameters, i), seed);
      if (!lpt_plan_context_set_input (context, i, tensor, error))
        return NULL;
    }
  if (!lpt_plan_run (plan, context, error))
    return NULL;
  for (guint i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      LptTensor *tensor = lpt_plan_context_output (context, i, error);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (outputs, tensor);
    }
  return g_steal_pointer (&outputs);
}

/* --- reduction --- */

/* Variant @i of @graph, or NULL when it does not make one: an output dropped, an op bypassed, a cut at an op. */
static LptGraph *
variant (LptGraph *graph, guint i, gboolean *more)
{
  g_autoptr (LptGraph) copy = lpt_graph_copy (graph);
  guint n_results = copy->results->len, n = copy->nodes->len;
  *more = i < n_results + 2 * n;
  if (!*more)
    return NULL;
  if (i < n_results)
    {
      if (n_results == 1)
        return NULL;
      g_autofree char *name = g_strdup (lpt_node_src (g_ptr_array_index (copy->results, i), 0)->name);
      const char *names[] = { name, NULL };
      if (!lpt_graph_cut (copy, names, NULL))
        return NULL;
    }
  else
    {
      LptNode *node = g_ptr_array_index (copy->nodes, (i - n_results) / 2);
      LptValue *source = lpt_node_in (node, 0);
      if (source == NULL || node->n_out == 0 || lpt_node_const_in (node, 0) != NULL)
        return NULL;
      if ((i - n_results) % 2 == 0)
        {
          const char *names[] = { node->name, NULL };
          if (lpt_node_src (g_ptr_array_index (copy->results, 0), 0) == node || !lpt_graph_cut (copy, names, NULL))
            return NULL;
        }
      else if (!lpt_shape_equal (&source->shape, &lpt_node_out (node)->shape))
        return NULL;
      else
        lpt_value_replace (lpt_node_out (node), source, NULL);
    }
  lpt_graph_sweep (copy);
  return lpt_graph_infer (copy, NULL) ? g_steal_pointer (&copy) : NULL;
}

/* The smallest failing graph found; takes @graph and *@failure over. */
static LptGraph *
reduced (LptGraph *graph, guint seed, PropertyExamine examine, char **failure)
{
  gboolean more = TRUE;
  for (guint i = 0; more; i++)
    {
      g_autoptr (LptGraph) smaller = variant (graph, i, &more);
      if (smaller == NULL || smaller->nodes->len >= graph->nodes->len)
        continue;
      char *still = examine (smaller, seed);
      if (still == NULL || strcspn (still, ":") != strcspn (*failure, ":") ||
          strncmp (still, *failure, strcspn (still, ":")) != 0)
        {
          g_free (still);
          continue;
        }
      g_free (*failure);
      *failure = still;
      lpt_graph_free (graph);
      graph = g_steal_pointer (&smaller);
      i = (guint) -1;
    }
  return graph;
}

/* --- all of them --- */

void
property_check (guint usual, guint nightly, const RandomSizes *sizes, PropertyExamine examine)
{
  const char *some = g_getenv ("LPT_TEST_GRAPH"), *dash = some != NULL ? strchr (some, '-') : NULL;
  guint first = some != NULL ? (guint) atoi (some) : 0;
  guint all = g_getenv ("LPT_TEST_NIGHTLY") != NULL ? nightly : UNDER_SANITIZERS ? usual / 3 : usual;
  guint n = dash != NULL ? (guint) atoi (dash + 1) + 1 : some != NULL ? first + 1 : all;
  guint failures = 0;
  for (guint seed = first; seed < n && failures < 5; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      LptGraph *graph = random_graph_new (rand, sizes);
      char *failure = examine (graph, seed);
      if (failure != NULL)
        {
          graph = reduced (graph, seed, examine, &failure);
          g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
          g_test_message ("graph %u: %s\n%s", seed, failure, text);
          g_test_fail ();
          failures++;
        }
      g_free (failure);
      lpt_graph_free (graph);
    }
}
