/* verify.c - running a model before and after every change of a pass
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/verify.h"

#include "cli/arrays.h"
#include "cli/progress.h"
#include "cli/run.h"

#include <math.h>
#include <stdio.h>

typedef struct { const LptPass *pass; guint steps; double max, mean; } Moved;

struct _CmdVerify
{
  LptGraph  *graph;
  GPtrArray *tensors;
  CmdOutputs before;
  GArray    *moved;      /* of Moved, in order of appearance */
  guint      steps;
};

CmdVerify *
cmd_verify_new (LptGraph *graph, GError **error)
{
  g_autoptr (CmdVerify) verify = g_new0 (CmdVerify, 1);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  verify->graph = graph;
  verify->moved = g_array_new (FALSE, FALSE, sizeof (Moved));
  verify->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      LptTensor *tensor = cmd_arrays_random (g_ptr_array_index (graph->parameters, i), rand, error);
      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (verify->tensors, tensor);
    }
  progress ("running the source", 0, 0);
  gboolean ok = cmd_run (verify->graph, verify->tensors, LPT_PLAN_REFERENCE, 1, &verify->before, error);
  progress_end ();
  return ok ? g_steal_pointer (&verify) : NULL;
}

void
cmd_verify_free (CmdVerify *verify)
{
  if (verify == NULL)
    return;
  g_clear_pointer (&verify->tensors, g_ptr_array_unref);
  g_clear_pointer (&verify->moved, g_array_unref);
  cmd_outputs_clear (&verify->before);
  g_free (verify);
}

static Moved *
moved_by (CmdVerify *verify, const LptPass *pass)
{
  for (guint i = 0; i < verify->moved->len; i++)
    if (g_array_index (verify->moved, Moved, i).pass == pass)
      return &g_array_index (verify->moved, Moved, i);
  Moved fresh = { .pass = pass };
  g_array_append_val (verify->moved, fresh);
  return &g_array_index (verify->moved, Moved, verify->moved->len - 1);
}

static double
greatest (LptTensor *tensor)
{
  double max = 0.0;
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    {
      double x = fabs (lpt_tensor_get_f64 (tensor, i));
      if (isfinite (x))
        max = fmax (max, x);
    }
  return max;
}

gboolean
cmd_verify_step (CmdVerify *verify, const LptPass *pass, const char *node, GError **error)
{
  g_auto (CmdOutputs) after = { NULL };
  const char *at = node != NULL ? node : verify->graph->name;
  progress (pass->name, verify->steps++, 0);
  if (!cmd_run (verify->graph, verify->tensors, LPT_PLAN_REFERENCE, 1, &after, error))
    {
      g_prefix_error (error, "after %s at \"%s\": ", pass->name, at);
      return FALSE;
    }
  Moved *moved = moved_by (verify, pass);
  moved->steps++;
  for (guint i = 0; i < verify->before.tensors->len && i < after.tensors->len; i++)
    {
      CmdDistance d;
      const char *name = verify->before.names->pdata[i];
      double scale = fmax (greatest (verify->before.tensors->pdata[i]), greatest (after.tensors->pdata[i]));
      if (!cmd_distance (verify->before.tensors->pdata[i], after.tensors->pdata[i], &d))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s at \"%s\" changed the shape of output \"%s\"", pass->name, at, name);
          return FALSE;
        }
      if (scale > 0.0)
        {
          moved->max = fmax (moved->max, d.max / scale);
          moved->mean = fmax (moved->mean, d.mean / scale);
        }
      if ((pass->exactness == LPT_EXACT && !(d.max == 0.0)) || (pass->exactness == LPT_EXACT_REAL && !(d.mean <= 1e-3 * scale)))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s at \"%s\" changed output \"%s\" by up to %g (mean %g), which it must not", pass->name, at, name, d.max, d.mean);
          return FALSE;
        }
    }
  cmd_outputs_clear (&verify->before);
  verify->before = after;
  after = (CmdOutputs) { NULL };
  return TRUE;
}

void
cmd_verify_print (CmdVerify *verify)
{
  printf ("%-46s %8s %14s %14s\n", "verified", "changes", "max, relative", "mean, relative");
  for (guint i = 0; i < verify->moved->len; i++)
    {
      const Moved *m = &g_array_index (verify->moved, Moved, i);
      printf ("%-46s %8u %14.6g %14.6g\n", m->pass->name, m->steps, m->max, m->mean);
    }
}
