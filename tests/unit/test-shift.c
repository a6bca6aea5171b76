/* test-shift.c - whether a shift of a sum or product of codes can change a code: rows worked out by hand
 *
 * A sum is f0 (a - z0) + f1 (b - z1) in steps of its codes, a product f0 (a - z0) (b - z1), for all codes a and b. A
 * shift shows where one of these lies within it of k + 1/2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/lower/lower.h"

#define SMALL 1e-4
#define U8 LPT_DTYPE_U8
#define I8 LPT_DTYPE_I8
#define I16 LPT_DTYPE_I16
#define I32 LPT_DTYPE_I32

/* Scales are f of the text above where the step is 1. */
static const struct
{
  const char *why;
  LptOp       op;
  LptDType    dtype[2];
  double      scale[2];
  gint32      zero[2];
  double      step, shift;
  gboolean    shows;
} rows[] = {
  { "whole numbers", LPT_OP_ADD, { U8, U8 }, { 1, 1 }, { 0, 0 }, 1, SMALL, FALSE },
  { "halves", LPT_OP_ADD, { U8, U8 }, { 0.5, 1 }, { 0, 0 }, 1, SMALL, TRUE },
  { "halves of the second", LPT_OP_ADD, { I8, U8 }, { 1, 0.5 }, { 0, 0 }, 1, SMALL, TRUE },
  { "thirds", LPT_OP_ADD, { I8, I8 }, { 1.0 / 3, 1.0 / 3 }, { 5, -7 }, 1, SMALL, FALSE },
  { "a large shift is not tried", LPT_OP_ADD, { U8, U8 }, { 1, 1 }, { 0, 0 }, 1, 0.01, TRUE },
  { "nor one below", LPT_OP_ADD, { U8, U8 }, { 1, 1 }, { 0, 0 }, 1, -0.01, TRUE },
  { "a small one below", LPT_OP_ADD, { U8, U8 }, { 0.5, 1 }, { 0, 0 }, 1, -SMALL, TRUE },
  { "no shift", LPT_OP_ADD, { U8, U8 }, { 0.5, 1 }, { 0, 0 }, 1, 0, FALSE },
  { "1 1/2 and its multiples, not 1/2", LPT_OP_ADD, { U8, U8 }, { 1.5, 3 }, { 0, 0 }, 1, SMALL, TRUE },
  { "steps of 2", LPT_OP_ADD, { U8, U8 }, { 1, 2 }, { 0, 0 }, 2, SMALL, TRUE },
  { "whole steps of 2", LPT_OP_ADD, { U8, U8 }, { 2, 4 }, { 0, 0 }, 2, SMALL, FALSE },
  { "the last of a", LPT_OP_ADD, { U8, U8 }, { 0.5 / 255, 1 }, { 0, 0 }, 1, SMALL, TRUE },
  { "the last of b", LPT_OP_ADD, { U8, U8 }, { 1, 0.5 / 255 }, { 0, 0 }, 1, SMALL, TRUE },
  { "one code less", LPT_OP_ADD, { U8, U8 }, { 0.5 / 256, 1 }, { 0, 0 }, 1, SMALL, FALSE },
  { "from the zero point it is there", LPT_OP_ADD, { U8, U8 }, { 0.5 / 256, 1 }, { -1, 0 }, 1, SMALL, TRUE },
  { "the first of a", LPT_OP_ADD, { I8, U8 }, { 0.5 / 128, 1 }, { 0, 0 }, 1, SMALL, TRUE },
  { "the first of b", LPT_OP_ADD, { U8, I8 }, { 1, 0.5 / 128 }, { 0, 0 }, 1, SMALL, TRUE },
  { "one code before it", LPT_OP_ADD, { I8, U8 }, { 0.5 / 129, 1 }, { 0, 0 }, 1, SMALL, FALSE },
  { "within the shift", LPT_OP_ADD, { U8, U8 }, { 0.49995 / 255, 1 }, { 0, 0 }, 1, SMALL, TRUE },
  { "not within it", LPT_OP_ADD, { U8, U8 }, { 0.4998 / 255, 1 }, { 0, 0 }, 1, SMALL, FALSE },
  { "differences of halves", LPT_OP_SUBTRACT, { U8, U8 }, { 1, 0.5 }, { 0, 0 }, 1, SMALL, TRUE },
  { "whole differences", LPT_OP_SUBTRACT, { U8, U8 }, { 3, 2 }, { 0, 0 }, 1, SMALL, FALSE },
  { "whole products", LPT_OP_MULTIPLY, { U8, I8 }, { 1, 1 }, { 3, 4 }, 1, SMALL, FALSE },
  { "halves of products", LPT_OP_MULTIPLY, { U8, I8 }, { 1, 0.5 }, { 3, 4 }, 1, SMALL, TRUE },
  { "products in steps of 2", LPT_OP_MULTIPLY, { U8, I8 }, { 2, 1 }, { 3, 4 }, 2, SMALL, FALSE },
  { "products in steps of 4", LPT_OP_MULTIPLY, { U8, I8 }, { 2, 1 }, { 3, 4 }, 4, SMALL, TRUE },
  { "the last product", LPT_OP_MULTIPLY, { U8, U8 }, { 0.5 / (255 * 255), 1 }, { 0, 0 }, 1, 1e-6, TRUE },
  { "wide codes are not tried", LPT_OP_ADD, { I32, U8 }, { 1, 1 }, { 0, 0 }, 1, SMALL, TRUE },
  { "nor beside others", LPT_OP_ADD, { U8, I16 }, { 1, 1 }, { 0, 0 }, 1, SMALL, TRUE },
};

static void
test_rows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptQuant) first = lpt_quant_new_one (rows[i].scale[0], rows[i].zero[0]);
      g_autoptr (LptQuant) second = lpt_quant_new_one (rows[i].scale[1], rows[i].zero[1]);
      LptValue a = { .dtype = rows[i].dtype[0], .quant = first }, b = { .dtype = rows[i].dtype[1], .quant = second };
      double step = rows[i].step;
      const LptCodes codes = { .n = 1, .step = &step };

      if (lpt_shift_shows (rows[i].op, (LptValue *[]) { &a, &b }, &codes, 1, &rows[i].shift) != rows[i].shows)
        g_error ("%s: %d", rows[i].why, !rows[i].shows);
    }
}

/* Each channel by its own scales, zero points, steps and shifts; operands of one scale by it. */
static void
test_channels (void)
{
  g_autoptr (LptQuant) each = lpt_quant_new (1, 2, (double[]) { 1, 0.5 }, (gint32[]) { 0, 1 });
  g_autoptr (LptQuant) one = lpt_quant_new_one (1, 0);
  LptValue a = { .dtype = LPT_DTYPE_U8, .quant = each }, b = { .dtype = LPT_DTYPE_U8, .quant = one };
  LptValue bare = { .dtype = LPT_DTYPE_U8 };
  double steps[] = { 1, 0.5 };
  const double both[] = { SMALL, SMALL }, second[] = { 0, SMALL }, first[] = { SMALL, 0 }, large[] = { 0, 1 };
  const LptCodes same = { .n = 1, .step = steps }, own = { .n = 2, .step = steps };

  g_assert_true (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &a, &b }, &same, 2, both));
  g_assert_true (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &b, &a }, &same, 2, second));
  g_assert_false (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &a, &b }, &same, 2, first));
  g_assert_false (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &a, &b }, &own, 2, both));
  g_assert_true (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &a, &b }, &own, 2, large));
  g_assert_true (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &bare, &b }, &same, 1, first));
  g_assert_false (lpt_shift_shows (LPT_OP_ADD, (LptValue *[]) { &bare, &b }, &same, 0, first));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shift/rows", test_rows);
  g_test_add_func ("/shift/channels", test_channels);

  return g_test_run ();
}
