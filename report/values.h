/* values.h - every value of a graph, sample by sample
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "ir/lpt-value-name.h"
#include "quantize/evaluate.h"

typedef struct
{
  LptGraph   *graph;       /* set by the caller, with threads and flags of the runner */
  LptRunner   runner;
  LptGraph   *watched;     /* what runs: the graph with more results */
  GHashTable *at;          /* name of a value -> its place among the results + 1 */
} LptValueRun;

gboolean   lpt_value_run_sample (LptValueRun *run, LptTensor *const *tensors, GError **error);
/* What @value held in the last run, as it is held (transfer full); NULL without an error: nothing reads it. */
LptTensor *lpt_value_run_held   (LptValueRun *run, const LptValue *value, GError **error);
/* The same as real numbers, *n of them (transfer full, g_free). */
float     *lpt_value_run_real   (LptValueRun *run, const LptValue *value, gint64 *n, GError **error);
void       lpt_value_run_clear  (LptValueRun *run);
/* What went wrong in @n tasks, each of which had its own place: the first goes to @error, all are freed. FALSE: there
 * was one. */
gboolean   lpt_take_problems    (GError **problems, guint n, GError **error);
/* The inputs of @b made of @tensors, those of @a: of the same names, or in the same order; as codes where one takes
 * these and the other does not (transfer full,
   lpt_samples_clear()); FALSE + error. */
gboolean   lpt_samples_inputs_for (LptGraph *a, LptTensor *const *tensors, LptGraph *b, LptTensor **inputs, GError **error);
void       lpt_samples_clear      (LptTensor **tensors, guint n);
/* The inputs of @graph get the shapes that these samples, made for @given, have, so that what depends on them is known;
 * FALSE + error. */
gboolean   lpt_samples_fix_shapes (LptGraph *graph, LptGraph *given, LptTensor *const *tensors, GError **error);
