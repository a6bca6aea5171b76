/* run.h - one run of a model, and how far two results are apart
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_RUN_H
#define LPTC_RUN_H

#include <lpt/lpt-executor.h>

typedef struct
{
  GPtrArray *names;      /* char * */
  GPtrArray *tensors;    /* LptTensor * */
} CmdOutputs;

void     cmd_outputs_clear (CmdOutputs *outputs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CmdOutputs, cmd_outputs_clear)

/* Plans and runs @graph once on @tensors (one per parameter). */
gboolean cmd_run (LptGraph *graph, GPtrArray *tensors, guint flags, guint threads, CmdOutputs *outputs, GError **error);
/* The same; *plan and what is returned (transfer full) still have the values of the run. NULL + error: it failed, and
 * *plan is to be freed where it is there. */
LptPlanContext *cmd_run_context (LptGraph *graph, GPtrArray *tensors, guint flags, guint threads, LptPlan **plan,
                                 CmdOutputs *outputs, GError **error);

/**
 * CmdDistance:
 * Of b from a. Elements that are NaN or the same infinity in both do not differ.
 * @nan_a, @nan_b: elements that are NaN
 * @max: greatest |a - b|; NaN where only one of them is NaN
 * @sqnr: 10 log10 (sum a^2 / sum (a - b)^2) dB; infinite where they are equal
 * @cosine: of the angle between a and b; 1 where both are 0
 */
typedef struct { double max, mean, sqnr, cosine; gint64 nan_a, nan_b; } CmdDistance;

/* FALSE when the shapes have different numbers of elements. */
gboolean cmd_distance (LptTensor *a, LptTensor *b, CmdDistance *distance);

#endif
