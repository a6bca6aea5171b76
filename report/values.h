/* values.h - values of a graph, sample by sample
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"
#include "ir/lpt-value-name.h"
#include "quantize/evaluate.h"

typedef struct
{
  LptGraph   *graph;       /* set by the caller, with threads and flags of the runner */
  LptRunner   runner;
  LptGraph   *watched;     /* what runs: the graph with more results */
  GHashTable *at;          /* name of a value -> its place among the results + 1 */
} LptValueRun;

/* The real numbers that a value held in the last run, read in blocks. */
#define LPT_VIEW_BLOCK 1024
typedef struct
{
  const LptArray *held;
  const LptQuant *quant;        /* NULL: the numbers are what they stand for */
  gint64          n, inner;     /* inner: elements behind each other of one channel */
  float          *own;          /* numbers that are held in a rare form */
  float           table[256];   /* what the bytes of one unit stand for */
} LptValueView;

/* @value (nullable) is to be looked at; all that are, before the first sample. */
void       lpt_value_run_watch  (LptValueRun *run, const LptValue *value);
gboolean   lpt_value_run_sample (LptValueRun *run, LptTensor *const *tensors, GError **error);
/* What @value held in the last run, as it is held; NULL: nothing reads it, or it was not to be looked at. */
const LptArray *lpt_value_run_held (LptValueRun *run, const LptValue *value);
/* The same as real numbers; FALSE without an error: NULL above. */
gboolean   lpt_value_run_view   (LptValueRun *run, const LptValue *value, LptValueView *view, GError **error);
/* @n <= LPT_VIEW_BLOCK numbers from @first on: in @to, or where they are held. */
const float *lpt_value_view_read (const LptValueView *view, gint64 first, gint64 n, float *to);
void       lpt_value_view_clear (LptValueView *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LptValueView, lpt_value_view_clear)
void       lpt_value_run_clear  (LptValueRun *run);
/* What went wrong in @n tasks, each of which had its own place: the first goes to @error, all are freed. FALSE: there
 * was one. */
gboolean   lpt_take_problems    (GError **problems, guint n, GError **error);
/* The inputs of @b made of @tensors, those of @a: of the same names, or in the same order; as codes where one takes
 * these and the other does not (transfer full,
   lpt_samples_clear()); FALSE + error. */
gboolean   lpt_samples_inputs_for (LptGraph *a, LptTensor *const *tensors, LptGraph *b, LptTensor **inputs, GError **error);
/* The inputs of @graph get the shapes that these samples, made for @given, have, so that what depends on them is known;
 * FALSE + error. */
gboolean   lpt_samples_fix_shapes (LptGraph *graph, LptGraph *given, LptTensor *const *tensors, GError **error);
