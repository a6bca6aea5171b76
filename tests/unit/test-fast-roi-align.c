/* test-fast-roi-align.c - ROIAlign by tasks gives the bytes of the plain op
 *
 * Regions inside the image, over its edge, of no size and no numbers; channels that make whole blocks and others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "fast-case.h"

static void
check (GRand *rand,
       gint   round)
{
  static const char *const modes[] = { "asymmetric", "half_pixel_for_nn", "half_pixel" };
  const gint n = g_rand_int_range (rand, 1, 3), c = g_rand_int_range (rand, 1, 10), h = g_rand_int_range (rand, 1, 12);
  const gint w = g_rand_int_range (rand, 1, 12), regions = g_rand_int_range (rand, 1, 20);
  g_autoptr (GString) images = g_string_new (NULL);
  g_autoptr (LptGraph) graph = NULL;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  const LptShape image = { .rank = 4, .dims = { n, c, h, w } }, boxes = { .rank = 2, .dims = { regions, 4 } };
  g_autofree double *at = g_new (double, regions * 4);
  g_autofree char *text = NULL;
  gint i;

  for (i = 0; i < regions; i++)
    g_string_append_printf (images, "%s%d", i > 0 ? ", " : "", g_rand_int_range (rand, 0, n));
  for (i = 0; i < regions * 4; i++)
    {
      at[i] = g_rand_double_range (rand, -2, 14);
      if (g_rand_int_range (rand, 0, 30) == 0)
        at[i] = (double[]) { NAN, INFINITY, -1e9, 1e5 }[g_rand_int_range (rand, 0, 4)];
    }
  text = g_strdup_printf ("%%x = Parameter : f32[%d,%d,%d,%d]\n%%b = Parameter : f32[%d,4]\n"
                          "%%i = Const {%s} : i64[%d]\n"
                          "%%y = ROIAlign(%%x, %%b, %%i) {pooled_h=%d, pooled_w=%d, sampling_ratio=%d, "
                          "spatial_scale=0.75, mode=%s, aligned_mode=%s}\nResult(%%y)\n", n, c, h, w, regions,
                          images->str, regions, g_rand_int_range (rand, 1, 6), g_rand_int_range (rand, 1, 6),
                          g_rand_int_range (rand, 0, 4), round % 2 ? "avg" : "max", modes[round % 3]);
  graph = fast_case_graph (text, "roi-align");
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &image, -3, 3, rand));
  g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &boxes, at, NULL));
  fast_case_compare_inputs (graph, inputs);
}

static void
test_regions (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (41);
  gint round;

  for (round = 0; round < 60; round++)
    check (rand, round);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/fast/roi-align/regions", test_regions);

  return g_test_run ();
}
