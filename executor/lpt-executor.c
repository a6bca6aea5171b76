/* lpt-executor.c - whole runs on arrays: shapes from the inputs, stacked batches
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>

#include "executor/lpt-plan.h"

/* How many times the model's first axis @tensor has; 1 also where it has to be the model's shape itself; 0 = no fit. */
gint64
lpt_input_times (const LptShape *model,
                 const LptShape *has,
                 LptShape       *shape)
{
  LptShape rest_model, rest_has;

  *shape = *has;
  if (lpt_shape_compatible (model, has))
    return 1;
  if (model->rank < 1 || model->rank != has->rank || model->dims[0] < 1 || has->dims[0] < 1)
    return 0;
  rest_model = lpt_shape_make (model->rank - 1, model->dims + 1);
  rest_has = lpt_shape_make (has->rank - 1, has->dims + 1);
  if (!lpt_shape_compatible (&rest_model, &rest_has) || has->dims[0] % model->dims[0] != 0)
    return 0;
  shape->dims[0] = model->dims[0];

  return has->dims[0] / model->dims[0];
}

gint64
lpt_plan_stack (LptGraph         *graph,
                LptTensor *const *tensors,
                LptShape         *shapes,
                GError          **error)
{
  gint64 n_runs = 1;
  guint i;

  for (i = 0; i < graph->parameters->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->parameters, i);
      const LptShape *model = &LPT_ATTRS (node, LptParameterAttrs)->shape, *has = lpt_tensor_shape (tensors[i]);
      gint64 n = lpt_input_times (model, has, &shapes[i]);

      if (n == 0)
        {
          g_autofree char *is = lpt_shape_to_string (has), *wanted = lpt_shape_to_string (model);

          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" has shape [%s], the model takes [%s]",
                       node->name, is, wanted);
          return 0;
        }
      if (n > 1 && n_runs > 1 && n != n_runs)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" is stacked %" G_GINT64_FORMAT
                       " times, another %" G_GINT64_FORMAT " times", node->name, n, n_runs);
          return 0;
        }
      n_runs = MAX (n_runs, n);
    }

  return n_runs;
}

/* Part @run of a tensor that holds several of @shape. */
static LptTensor *
slice (LptTensor      *tensor,
       const LptShape *shape,
       gint64          run,
       GError        **error)
{
  gint64 count;
  gsize size;

  if (lpt_shape_equal (lpt_tensor_shape (tensor), shape))
    return lpt_tensor_ref (tensor);
  if (!lpt_shape_count (shape, &count) || !lpt_tensor_byte_size (lpt_tensor_dtype (tensor), count, &size) ||
      size > lpt_tensor_size (tensor) || (gsize) run > lpt_tensor_size (tensor) / MAX (size, 1) - 1)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the array is too short for %" G_GINT64_FORMAT " runs",
                   run + 1);
      return NULL;
    }

  return lpt_tensor_new_copy (lpt_tensor_dtype (tensor), shape,
                              (const char *) lpt_tensor_data (tensor) + (gsize) run * size, error);
}

static gboolean
same_dtype (GPtrArray *parts)
{
  guint i;

  for (i = 1; i < parts->len; i++)
    if (lpt_tensor_dtype (g_ptr_array_index (parts, i)) != lpt_tensor_dtype (g_ptr_array_index (parts, 0)))
      return FALSE;

  return TRUE;
}

/* One tensor from the outputs of all runs; f32 when one of them is f32, for integers that do not fit their type. */
static LptTensor *
join (GPtrArray *parts,
      GError   **error)
{
  LptTensor *first = g_ptr_array_index (parts, 0), *joined;
  LptShape shape = *lpt_tensor_shape (first);
  LptDType dtype;
  char *to;
  guint i;

  if (parts->len == 1)
    return lpt_tensor_ref (first);
  if (shape.rank == 0)
    {
      shape.rank = 1;
      shape.dims[0] = 1;
    }
  for (i = 1; i < parts->len; i++)
    {
      LptShape own = *lpt_tensor_shape (g_ptr_array_index (parts, i));

      if (own.rank == 0)
        own = lpt_shape_make (1, (gint64[]) { 1 });
      if (own.rank != shape.rank ||
          memcmp (own.dims + 1, shape.dims + 1, sizeof (gint64) * (gsize) (shape.rank - 1)) != 0)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                       "the outputs of the runs differ in shape: they cannot be stacked");
          return NULL;
        }
      shape.dims[0] += own.dims[0];
    }

  dtype = same_dtype (parts) ? lpt_tensor_dtype (first) : LPT_DTYPE_F32;
  joined = lpt_tensor_new (dtype, &shape, error);
  if (joined == NULL)
    return NULL;
  to = lpt_tensor_writable (joined);
  for (i = 0; i < parts->len; i++)
    {
      g_autoptr (LptTensor) part = lpt_tensor_convert (g_ptr_array_index (parts, i), dtype, error);

      if (part == NULL)
        {
          lpt_tensor_unref (joined);
          return NULL;
        }
      memcpy (to, lpt_tensor_data (part), lpt_tensor_size (part));
      to += lpt_tensor_size (part);
    }

  return joined;
}

static gboolean
run_once (const LptPlan    *plan,
          LptPlanContext   *context,
          LptTensor *const *tensors,
          gint64            run,
          GPtrArray       **parts,
          GError          **error)
{
  guint i;

  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    {
      g_autoptr (LptTensor) tensor = slice (tensors[i], lpt_plan_input_shape (plan, i), run, error);

      if (tensor == NULL || !lpt_plan_context_set_input (context, i, tensor, error))
        {
          g_prefix_error (error, "input \"%s\": ", lpt_plan_input_name (plan, i));
          return FALSE;
        }
    }
  if (!lpt_plan_run (plan, context, error))
    return FALSE;
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      LptTensor *output = lpt_plan_context_output (context, i, error);

      if (output == NULL)
        return FALSE;
      g_ptr_array_add (parts[i], output);
    }

  return TRUE;
}

GPtrArray *
lpt_plan_run_stacked (const LptPlan    *plan,
                      LptPlanContext   *context,
                      LptTensor *const *tensors,
                      gint64            n_runs,
                      GError          **error)
{
  guint i, n = lpt_plan_n_outputs (plan);
  g_autofree GPtrArray **parts = g_new (GPtrArray *, n + 1);
  g_autoptr (GPtrArray) outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  gboolean ok = TRUE;
  gint64 run;

  for (i = 0; i < n; i++)
    parts[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (run = 0; run < n_runs && ok; run++)
    ok = run_once (plan, context, tensors, run, parts, error);
  for (i = 0; i < n; i++)
    {
      LptTensor *joined = ok ? join (parts[i], error) : NULL;

      ok = joined != NULL;
      if (ok)
        g_ptr_array_add (outputs, joined);
      g_ptr_array_unref (parts[i]);
    }

  return ok ? g_steal_pointer (&outputs) : NULL;
}
