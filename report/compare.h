/* compare.h - comparing values while others look at the same runs
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-compare.h>

#include "report/values.h"

/* Looks at each sample when both models have run on it. */
typedef struct
{
  /* Before the first sample: what is to be looked at, nullable. */
  void     (*watch) (LptValueRun *a, LptValueRun *b, gpointer data);
  gboolean (*visit) (LptValueRun *a, LptValueRun *b, guint sample, LptTensor *const *tensors, gpointer data,
                     GError **error);
  gpointer   data;
} LptCompareVisitor;

/* lpt_compare_values() with a @visitor, nullable. */
LptComparison *lpt_compare_visited (LptGraph *a, LptGraph *b, LptData *data, const LptCompareOptions *options,
                                    const LptCompareVisitor *visitor, GError **error);
