/* test-fold.c - FakeQuantize of constants: the codes that are stored are the real results, cut to the type and rounded
 * half to even
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-graph.h>
#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"

enum { ROWS = 7, COLUMNS = 1100 };

/* Values in and around the interval of each row, its ends and halves of levels, what is far away, what is no number. */
static LptTensor *
draw (GRand       *rand,
      const float *low,
      const float *high,
      gint         steps)
{
  LptShape shape = { 2, { ROWS, COLUMNS } };
  LptTensor *tensor = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);
  float *x = lpt_tensor_writable (tensor);
  gint r, c;

  for (r = 0; r < ROWS; r++)
    for (c = 0; c < COLUMNS; c++)
      {
        float width = high[r] - low[r], *at = &x[r * COLUMNS + c];

        switch (c % 5)
          {
          case 0: *at = low[r] + width * (float) g_rand_double_range (rand, -0.2, 1.2); break;
          case 1: *at = low[r] + width * ((float) (c % (steps + 1)) + 0.5f) / (float) steps; break;
          case 2: *at = low[r] + width * (float) (c % (steps + 1)) / (float) steps; break;
          case 3: *at = c % 2 ? low[r] : high[r]; break;
          default: *at = c % 3 == 0 ? 1e30f : c % 3 == 1 ? -INFINITY : (float) c / 7; break;
          }
      }
  x[17] = x[2 * COLUMNS + 1] = NAN;

  return tensor;
}

static LptTensor *
ends (const float *values)
{
  LptShape shape = { 2, { ROWS, 1 } };

  return lpt_tensor_from_f32 (&shape, values, NULL);
}

static void
check (LptDType dtype,
       gint64   levels,
       float    out_low,
       float    out_high,
       GRand   *rand)
{
  const float low[ROWS] = { -1, -0.3f, 0, 1, 2.5f, -1e-3f, -100 }, high[ROWS] = { 1, 0.7f, 2, -1, 7, 1e-3f, 3 };
  g_autoptr (LptGraph) graph = lpt_graph_new ("fold");
  g_autoptr (LptTensor) x = draw (rand, low, high, (gint) levels - 1), lows = ends (low), highs = ends (high);
  g_autoptr (LptTensor) to_low = lpt_tensor_scalar (LPT_DTYPE_F32, out_low),
                        to_high = lpt_tensor_scalar (LPT_DTYPE_F32, out_high);
  g_autoptr (LptTensor) codes = NULL, reals = NULL;
  LptTensor *in[] = { x, lows, highs, to_low, to_high };
  LptValue *values[5];
  LptNode *fq;
  double least = (double) lpt_dtype_min (dtype), most = (double) lpt_dtype_max (dtype);
  gint64 i;
  guint k;

  for (k = 0; k < 5; k++)
    values[k] = lpt_node_out (lpt_graph_add_const (graph, "c", in[k]));
  fq = lpt_graph_add (graph, LPT_OP_FAKE_QUANTIZE, 0, "fq", 5, values);
  ((LptFakeQuantizeAttrs *) fq->attrs)->levels = levels;
  codes = lpt_fold_fake_quantize_to (fq, to_low, to_high, dtype, TRUE);
  reals = lpt_fold_fake_quantize_to (fq, to_low, to_high, LPT_DTYPE_F32, FALSE);
  g_assert_nonnull (codes);
  g_assert_nonnull (reals);
  g_assert_cmpint (lpt_tensor_dtype (codes), ==, dtype);
  for (i = 0; i < lpt_tensor_count (codes); i++)
    {
      double real = lpt_tensor_get_f64 (reals, i), wanted = isnan (real) ? 0 : nearbyint (CLAMP (real, least, most));

      g_assert_cmpfloat (lpt_tensor_get_f64 (codes, i), ==, wanted);
    }
}

static void
test_codes (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  check (LPT_DTYPE_I8, 255, -127, 127, rand);
  check (LPT_DTYPE_I8, 256, -128, 127, rand);
  check (LPT_DTYPE_U8, 256, 0, 255, rand);
  check (LPT_DTYPE_U8, 16, 3, 18, rand);
  /* Levels that are not the codes: half-way, coarser, finer, past the type, backwards, more than a byte has. */
  check (LPT_DTYPE_I8, 255, -127.5f, 126.5f, rand);
  check (LPT_DTYPE_I8, 255, -12, 13, rand);
  check (LPT_DTYPE_I8, 16, -120, 120, rand);
  check (LPT_DTYPE_I8, 256, 0, 255, rand);
  check (LPT_DTYPE_U8, 256, 255, 0, rand);
  check (LPT_DTYPE_I8, 1024, -128, 127, rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fold/fake-quantize-codes", test_codes);

  return g_test_run ();
}
