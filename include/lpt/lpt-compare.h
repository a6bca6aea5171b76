/* lpt-compare.h - two models, value by value
 *
 * Values are matched by their place in the model (what they are computed from, by what ops), not by their names alone,
 * so that a float graph can be held against its integer form, or one format against another. Integers are compared as
 * the real numbers that they stand for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_COMPARE_H
#define LPT_COMPARE_H

#include <lpt/lpt-eval.h>

G_BEGIN_DECLS

/* One value that both have. SQNR in dB, HUGE_VAL where they are equal; NaN elements count apart. Plain
 * data; names are owned. */
typedef struct
{
  char    *a, *b;               /* the names of the values */
  const char *op;               /* that computes it in the first model */
  LptDType type_a, type_b;      /* of their elements */
  double   max, mean, sqnr, cosine;
  gint64   count, nan_a, nan_b;
  gboolean fitted;              /* the integers of a lowered graph stand for other multiples there: b was scaled and shifted to fit a */
} LptValueDistance;

/**
 * LptComparison:
 * @rows: LptValueDistance *, in the order of the first model
 * @only_a, @only_b: char *, values without a counterpart: computed inside of another op there, or nothing says which it
 *   is
 * @n_unsure: so many of them at most may be the same value after all; of the others it is known that the other model
 *   does not have them
 * One thread at a time; owns its lists.
 */
typedef struct
{
  GPtrArray *rows, *only_a, *only_b;
  guint      n_samples;
  guint      n_unsure;
} LptComparison;

LPT_EXPORT void           lpt_comparison_free (LptComparison *comparison);   /* NULL allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptComparison, lpt_comparison_free)

/* The number of values that both have: what can be matched at most. */
LPT_EXPORT guint          lpt_comparison_n_both (const LptComparison *comparison);

/**
 * LptCompareOptions:
 * @reference: run scalar and unfused
 * @limit: samples at most, 0 = all
 * Plain data.
 */
typedef struct
{
  gboolean        reference;
  guint           threads, limit;
  LptProgressFunc progress;     /* nullable */
  gpointer        progress_data;
} LptCompareOptions;

/* Runs both on the samples of @data, which has the inputs of @a; those of @b are the ones of the same names, or in the
 * same order. NULL + error. */
LPT_EXPORT LptComparison *lpt_compare_values  (LptGraph *a, LptGraph *b, LptData *data, const LptCompareOptions *options, GError **error);

/* Samples from arrays, one for each input of a model, stacked along the first axis or not (transfer full); NULL +
 * error. */
LPT_EXPORT LptData       *lpt_data_from_arrays (LptGraph *graph, LptTensor *const *tensors, GError **error);

G_END_DECLS

#endif
