/* test-fast-roi-align.c - ROIAlign by tasks, turned and of pyramids too, gives the bytes of the plain op
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
  const gboolean turned = round % 4 == 3;
  const gint columns = turned ? 5 : 4;
  const LptShape image = { .rank = 4, .dims = { n, c, h, w } }, boxes = { .rank = 2, .dims = { regions, columns } };
  g_autofree double *at = g_new (double, regions * columns);
  g_autofree char *text = NULL, *attributes = NULL;
  gint i;

  for (i = 0; i < regions; i++)
    g_string_append_printf (images, "%s%d", i > 0 ? ", " : "", g_rand_int_range (rand, 0, n));
  for (i = 0; i < regions * columns; i++)
    {
      at[i] = g_rand_double_range (rand, -2, 14);
      if (g_rand_int_range (rand, 0, 30) == 0)
        at[i] = (double[]) { NAN, INFINITY, -1e9, 1e5 }[g_rand_int_range (rand, 0, 4)];
    }
  attributes = turned ? g_strdup_printf ("clockwise_mode=%s", round % 2 ? "true" : "false")
                      : g_strdup_printf ("mode=%s, aligned_mode=%s", round % 2 ? "avg" : "max", modes[round % 3]);
  text = g_strdup_printf ("%%x = Parameter : f32[%d,%d,%d,%d]\n%%b = Parameter : f32[%d,%d]\n"
                          "%%i = Const {%s} : i64[%d]\n"
                          "%%y = %s(%%x, %%b, %%i) {pooled_h=%d, pooled_w=%d, sampling_ratio=%d, "
                          "spatial_scale=0.75, %s}\nResult(%%y)\n", n, c, h, w, regions, columns, images->str, regions,
                          turned ? "ROIAlignRotated" : "ROIAlign", g_rand_int_range (rand, 1, 6),
                          g_rand_int_range (rand, 1, 6), g_rand_int_range (rand, 0, 4), attributes);
  graph = fast_case_graph (text, "roi-align");
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &image, -3, 3, rand));
  g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &boxes, at, NULL));
  fast_case_compare_inputs (graph, inputs);
}

/* Regions of all sizes in two levels, of no size and no numbers. */
static void
check_pyramid (GRand *rand,
               gint   round)
{
  const gint c = g_rand_int_range (rand, 1, 10), h = g_rand_int_range (rand, 1, 12);
  const gint regions = g_rand_int_range (rand, 1, 20);
  const LptShape low = { .rank = 4, .dims = { 1, c, h, 7 } }, high = { .rank = 4, .dims = { 1, c, 3, h } };
  const LptShape boxes = { .rank = 2, .dims = { regions, 4 } };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autofree double *at = g_new (double, regions * 4);
  g_autoptr (LptGraph) graph = NULL;
  g_autofree char *text = NULL;
  gint i;

  for (i = 0; i < regions * 4; i++)
    {
      at[i] = g_rand_double_range (rand, -20, 140);
      if (g_rand_int_range (rand, 0, 30) == 0)
        at[i] = (double[]) { NAN, INFINITY, -1e9, 1e5 }[g_rand_int_range (rand, 0, 4)];
    }
  text = g_strdup_printf ("%%b = Parameter : f32[%d,4]\n%%x = Parameter : f32[1,%d,%d,7]\n"
                          "%%z = Parameter : f32[1,%d,3,%d]\n"
                          "%%y = ExperimentalDetectronROIFeatureExtractor(%%b, %%x, %%z) {output_size=%d, "
                          "sampling_ratio=%d, pyramid_scales=[8, 40], aligned=%s}\nResult(%%y)\n%s", regions, c, h, c,
                          h, g_rand_int_range (rand, 1, 6), g_rand_int_range (rand, 0, 4), round % 2 ? "true" : "false",
                          round % 3 ? "" : "Result(%y.1)\n");
  graph = fast_case_graph (text, "roi-pyramid");
  g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &boxes, at, NULL));
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &low, -3, 3, rand));
  g_ptr_array_add (inputs, fast_random_tensor (LPT_DTYPE_F32, &high, -3, 3, rand));
  fast_case_compare_inputs (graph, inputs);
}

static void
test_pyramid (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (43);
  gint round;

  for (round = 0; round < 60; round++)
    check_pyramid (rand, round);
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
  g_test_add_func ("/fast/roi-align/pyramid", test_pyramid);

  return g_test_run ();
}
