/* test-intervals.c - where zero lies in the intervals of FakeQuantize
 *
 * SPDX-License-Identifier: Apache-2.0
 */

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/intervals/zero", test_rows);
  return g_test_run ();
}
