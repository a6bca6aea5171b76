/* test-eval.c - intervals, tests, metrics against values worked out by hand
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/metric.h"
#include "quantize/statistics.h"

#include <math.h>

static LptTensor *
tensor (LptDType dtype, gint rank, const gint64 *dims, const double *values)
{
  LptShape shape = lpt_shape_make (rank, dims);
  return lpt_tensor_from_f64 (dtype, &shape, values, NULL);
}

/* One sample more for @metric; a label of rank 1. */
static void
add (LptMetric *metric, LptTensor *output, LptTensor *label)
{
  g_autoptr (GError) error = NULL;
  LptAnswer answer = { &output, 1, label, 0 };
  metric->kind->add (metric, &answer, &error);
  g_assert_no_error (error);
  lpt_tensor_unref (output);
  lpt_tensor_unref (label);
}

static void
near (double a, double b, double tolerance)
{
  g_assert_cmpfloat_with_epsilon (a, b, tolerance);
}

static void
test_statistics (void)
{
  static const struct { gint64 k, n; double low, high; } wilson[] = { { 522, 900, 0.547, 0.612 }, { 9893, 10000, 0.9871, 0.9911 }, { 10, 10, 0.722, 1.0 }, { 0, 10, 0.0, 0.278 } };
  static const struct { gint64 b, c; double p; } pairs[] = { { 60, 38, 0.033 }, { 21, 13, 0.23 }, { 19, 25, 0.45 }, { 5, 0, 0.0625 }, { 6, 0, 0.03125 }, { 0, 0, 1.0 }, { 3, 3, 1.0 } };
  for (guint i = 0; i < G_N_ELEMENTS (wilson); i++)
    {
      double low, high;
      lpt_stat_wilson (wilson[i].k, wilson[i].n, &low, &high);
      near (low, wilson[i].low, 6e-4);
      near (high, wilson[i].high, 6e-4);
    }
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    near (lpt_stat_mcnemar (pairs[i].b, pairs[i].c), pairs[i].p, 5e-3);
}

static void
test_top (void)
{
  g_autoptr (LptMetric) one = lpt_metric_new (lpt_metric_find ("top1")),
                        five = lpt_metric_new (lpt_metric_find ("top5"));
  const double scores[7] = { 1, 5, 5, 2, 3, 4, 0 };
  /* Of two equal ones the first is the answer. */
  for (gint64 label = 0; label < 7; label++)
    {
      double l = (double) label;
      add (one, tensor (LPT_DTYPE_F32, 2, (gint64[]) { 1, 7 }, scores), tensor (LPT_DTYPE_I64, 0, NULL, &l));
      add (five, tensor (LPT_DTYPE_F32, 4, (gint64[]) { 1, 7, 1, 1 }, scores), tensor (LPT_DTYPE_I64, 0, NULL, &l));
    }
  LptScore score = lpt_metric_score (one);
  g_assert_cmpint (score.count, ==, 7);
  near (score.value, 1.0 / 7.0, 1e-12);
  near (lpt_metric_score (five).value, 5.0 / 7.0, 1e-12);
  g_assert_cmpint (one->hits->data[1], ==, 1);
  g_assert_cmpint (one->hits->data[2], ==, 0);
  /* A label outside. */
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) output = tensor (LPT_DTYPE_F32, 2, (gint64[]) { 1, 7 }, scores),
                        label = lpt_tensor_scalar (LPT_DTYPE_I64, 7);
  LptAnswer answer = { &output, 1, label, 0 };
  g_assert_false (one->kind->add (one, &answer, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
}

/* Two places of two classes: -ln 3/4 and -ln 1/4. */
static void
test_entropy (void)
{
  g_autoptr (LptMetric) entropy = lpt_metric_new (lpt_metric_find ("cross-entropy")),
                        perplexity = lpt_metric_new (lpt_metric_find ("perplexity"));
  const double scores[4] = { log (3.0), 0.0, 1000.0 + log (3.0), 1000.0 }, labels[2] = { 0, 1 };
  LptMetric *both[] = { entropy, perplexity };
  for (guint i = 0; i < 2; i++)
    add (both[i], tensor (LPT_DTYPE_F32, 3, (gint64[]) { 1, 2, 2 }, scores),
         tensor (LPT_DTYPE_I64, 1, (gint64[]) { 2 }, labels));
  near (lpt_metric_score (entropy).value, -(log (0.75) + log (0.25)) / 2.0, 1e-4);
  near (lpt_metric_score (perplexity).value, 1.0 / sqrt (0.75 * 0.25), 1e-3);
}

/* Label 0 0 1 1, answer 0 1 1 ignored: IoU of 0 is 1/2, of 1 is 1/2 (pixel 3 counts nowhere); class 2 is nowhere. */
static void
test_miou (void)
{
  g_autoptr (LptMetric) metric = lpt_metric_new (lpt_metric_find ("miou"));
  const double scores[12] = { 1, 0, 0, 0, 0, 1, 1, 0, -1, -1, -1, 5 }, mask[4] = { 0, 0, 1, 255 };
  add (metric, tensor (LPT_DTYPE_F32, 4, (gint64[]) { 1, 3, 2, 2 }, scores),
       tensor (LPT_DTYPE_U8, 2, (gint64[]) { 2, 2 }, mask));
  near (metric->kind->value (metric, NULL), 0.5, 1e-12);
  near (metric->kind->value (metric, (guint32[]) { 3 }), 0.5, 1e-12);
}

static void
test_auc (void)
{
  g_autoptr (LptMetric) metric = lpt_metric_new (lpt_metric_find ("auc"));
  const double scores[5] = { 0.1, 0.4, 0.4, 0.8, 0.2 }, labels[5] = { 0, 0, 1, 1, 1 };
  for (guint i = 0; i < 5; i++)
    add (metric, tensor (LPT_DTYPE_F32, 1, (gint64[]) { 1 }, &scores[i]), tensor (LPT_DTYPE_I64, 0, NULL, &labels[i]));
  near (metric->kind->value (metric, NULL), 4.5 / 6.0, 1e-12);
}

/* A detection that fits to IoU 0.8, one in the void that is less sure, one of a class without boxes: precision 1 up to
 * recall 1/2 at the thresholds to 0.8, 51 of 101 points. */
static void
test_map (void)
{
  g_autoptr (LptMetric) metric = lpt_metric_new (lpt_metric_find ("map"));
  const double found[21] = { 0, 1, 0.9, 0.0, 0.0, 0.8, 1.0, 0, 1, 0.8, 5.0, 5.0, 6.0, 6.0, 0, 2, 0.7, 0.0, 0.0, 1.0, 1.0 };
  const double boxes[12] = { 0, 0, 1, 1, 1, 0, 2, 2, 1, 1, 1, 0 };
  add (metric, tensor (LPT_DTYPE_F32, 4, (gint64[]) { 1, 1, 3, 7 }, found),
       tensor (LPT_DTYPE_F64, 2, (gint64[]) { 2, 6 }, boxes));
  near (metric->kind->value (metric, NULL), 7.0 / 10.0 * 51.0 / 101.0, 1e-6);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/eval/statistics", test_statistics);
  g_test_add_func ("/eval/top", test_top);
  g_test_add_func ("/eval/entropy", test_entropy);
  g_test_add_func ("/eval/miou", test_miou);
  g_test_add_func ("/eval/auc", test_auc);
  g_test_add_func ("/eval/map", test_map);
  return g_test_run ();
}
