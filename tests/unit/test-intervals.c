/* test-intervals.c - the intervals of FakeQuantize: where zero lies in them, and which scale comes back from them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-quantize-details.h"

static const struct { float low, high; guint64 levels; gboolean whole; double zero; } rows[] = {
  { 0, 2.55f, 256, TRUE, 0 },
  { -1.28f, 1.27f, 256, TRUE, 128 },
  { -0.1f * 127, 0.1f * 127, 255, TRUE, 127 },
  { 1.1f * -100, 1.1f * 155, 256, TRUE, 100 },
  { -32.768f, 32.767f, 65536, TRUE, 32768 },
  { 2.55f - 255 * 0.01f, 2.55f, 256, TRUE, 0 },      /* what a difference leaves of 0 */
  { 8, 3e38f, 256, TRUE, 0 },                        /* less than the last bit of the other end */
  { -1, 1, 256, FALSE, 127.5 },
  { 1, 1e6f, 256, FALSE, 0 },
  { -1e6f, -1, 256, FALSE, 255 },
  { -1, 1e6f, 9, FALSE, 0 },
};

static void
test_rows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      double zero;
      const gboolean whole = lpt_quantize_whole_zero (rows[i].low, rows[i].high, rows[i].levels, &zero);
      g_assert_cmpint (whole, ==, rows[i].whole);
      if (whole)
        g_assert_cmpfloat (zero, ==, rows[i].zero);
      else
        g_assert_cmpfloat_with_epsilon (zero, rows[i].zero, 1e-3);
    }
}

/* The step of the ends as OpenVINO computes it, in single precision. */
static float
step_of (double low,
         double high,
         double steps)
{
  return ((float) high - (float) low) / (float) steps;
}

/* Rounded ends lose 17 of 100 of these scales; 1 of 100 is the step of no interval. */
static void
test_scales (void)
{
  enum { DRAWN = 10000 };
  const double steps = 255;
  guint lost = 0, i;

  for (i = 0; i < DRAWN; i++)
    {
      const double min = i % 2 == 0 ? 0 : -128, max = min + steps;
      const double zero = i % 5 == 0 ? min : i % 7 == 0 ? max : min + g_test_rand_int_range (0, 256);
      const double scale = (float) pow (2, g_test_rand_double_range (-20, 4));
      double low, high, offset;

      lpt_quantize_ends (scale, zero, min, max, &low, &high);
      g_assert_cmpfloat (low, ==, (float) low);
      g_assert_cmpfloat (high, ==, (float) high);
      g_assert_true ((zero == min) == (low == 0) && (zero == max) == (high == 0));
      g_assert_cmpfloat_with_epsilon (low, (min - zero) * scale, scale * 1e-4);
      g_assert_cmpfloat_with_epsilon (high, (max - zero) * scale, scale * 1e-4);
      g_assert_true (lpt_quantize_whole_zero (low, high, 256, &offset));
      g_assert_cmpfloat (offset, ==, zero - min);
      if (step_of (low, high, steps) == (float) scale)
        continue;
      lost++;
      low = (float) ((min - zero) * scale);
      high = (float) ((max - zero) * scale);
      g_assert_cmpfloat (step_of (low, high, steps), !=, (float) scale);
    }
  g_assert_cmpuint (lost, <, DRAWN / 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/intervals/zero", test_rows);
  g_test_add_func ("/intervals/scales", test_scales);
  return g_test_run ();
}
