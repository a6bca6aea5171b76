/* test-exec-signal.c - bags, segments, slices, attention against their definitions
 *
 * Each op is computed a second time here by the formula of its specification, element by element, on numbers drawn from
 * a seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/formula-case.h"

/* --- bags and segments --- */

static void
mean (LptNode *node)
{
  LPT_ATTRS (node, LptEmbeddingBagAttrs)->reduction = LPT_BAG_MEAN;
}

static void
test_bags (void)
{
  static const gint64 indices[6] = { 0, 2, 3, 4, 4, 1 }, offsets[4] = { 0, 2, 2, 5 }, ids[6] = { 0, 0, 2, 2, 2, 3 };
  static const gint64 ends[5] = { 0, 2, 2, 5, 6 };

  for (int mode = 0; mode < 5; mode++)      /* plain, with default and weights, mean, -3, segments */
    {
      Case c = { .n = 0 };
      gboolean weighted = mode == 1 || mode == 4;
      gint64 fallback = mode == 1 || mode == 4 ? 3 : -1, bags = mode == 4 ? 5 : 4;
      LptTensor *y;

      add_input (&c, draw ("5,2,3"));
      add_input (&c, ints (6, indices));
      add_input (&c, mode == 4 ? ints (6, ids) : ints (4, offsets));
      if (mode == 4)
        add_input (&c, whole (bags));
      if (fallback >= 0)
        add_input (&c, whole (fallback));
      if (weighted)
        add_input (&c, draw ("6"));
      y = run (&c, mode == 4 ? LPT_OP_EMBEDDING_SEGMENTS_SUM : mode == 3 ? LPT_OP_EMBEDDING_BAG_OFFSETS_SUM : LPT_OP_EMBEDDING_BAG_OFFSETS,
               mode == 2 ? mean : NULL);
      has_shape (y, mode == 4 ? "5,2,3" : "4,2,3");
      for (gint64 b = 0; b < bags; b++)
        for (gint64 e = 0; e < 6; e++)
          {
            double wanted = 0;
            gint64 from = b < 4 ? ends[b] : 6, end = b < 4 ? ends[b + 1] : 6;

            for (gint64 i = from; i < end; i++)
              wanted += at (c.in[0], indices[i] * 6 + e) * (weighted ? at (c.in[c.n - 1], i) : 1);
            if (from == end)
              wanted = fallback >= 0 ? at (c.in[0], fallback * 6 + e) : 0;
            else if (mode == 2)
              wanted /= (double) (end - from);
            near_to (at (y, b * 6 + e), wanted);
          }
      done (&c, y);
    }

  for (int mode = 0; mode < 3; mode++)
    {
      Case c = { .n = 0 };
      LptTensor *y;

      add_input (&c, draw ("5,4"));
      add_input (&c, shaped (ints (6, indices), "3,2"));
      if (mode == 1)
        add_input (&c, draw ("3,2"));
      y = run (&c, mode == 0 ? LPT_OP_EMBEDDING_BAG_PACKED_SUM : LPT_OP_EMBEDDING_BAG_PACKED, mode == 2 ? mean : NULL);
      has_shape (y, "3,4");
      for (gint64 b = 0; b < 3; b++)
        for (gint64 e = 0; e < 4; e++)
          {
            double wanted = 0;

            for (gint64 i = 0; i < 2; i++)
              wanted += at (c.in[0], indices[b * 2 + i] * 4 + e) * (mode == 1 ? at (c.in[2], b * 2 + i) : mode == 2 ? 0.5 : 1);
            near_to (at (y, b * 4 + e), wanted);
          }
      done (&c, y);
    }
}

static void
lowest (LptNode *node)
{
  LPT_ATTRS (node, LptSegmentMaxAttrs)->fill_mode = LPT_SEGMENT_FILL_LOWEST;
}

static void
test_segment_max (void)
{
  static const gint64 ids[8] = { 0, 0, 0, 1, 1, 3, 5, 5 };

  for (int mode = 0; mode < 3; mode++)
    {
      Case c = { .n = 0 };
      gint64 n = mode == 2 ? 8 : 6;
      LptTensor *y;

      add_input (&c, draw ("8,3"));
      add_input (&c, ints (8, ids));
      if (mode == 2)
        add_input (&c, whole (n));
      y = run (&c, LPT_OP_SEGMENT_MAX, mode == 0 ? NULL : lowest);
      has_shape (y, mode == 2 ? "8,3" : "6,3");
      for (gint64 s = 0; s < n; s++)
        for (gint64 e = 0; e < 3; e++)
          {
            double wanted = -INFINITY;

            for (gint64 i = 0; i < 8; i++)
              if (ids[i] == s)
                wanted = MAX (wanted, at (c.in[0], i * 3 + e));
            if (isinf (wanted))
              wanted = mode == 0 ? 0 : -(double) G_MAXFLOAT;
            g_assert_cmpfloat (at (y, s * 3 + e), ==, wanted);
          }
      done (&c, y);
    }
}

static void
right (LptNode *node)
{
  LPT_ATTRS (node, LptSearchSortedAttrs)->right_mode = TRUE;
}

static void
test_search_sorted (void)
{
  static const double sorted[10] = { -1, 0, 0, 0, 2, -3, -2, 5, 5, 9 }, values[8] = { 0, -1, 7, -0.5, 5, -9, 9, 10 };

  for (int mode = 0; mode < 4; mode++)
    {
      LptShape two = { .rank = 2, .dims = { mode < 2 ? 2 : 5, 5 } }, v = { .rank = 2, .dims = { 2, 4 } };
      Case c = { .n = 0 };
      LptTensor *y;

      if (mode >= 2)
        two = (LptShape) { .rank = 1, .dims = { 5 } };
      add_input (&c, lpt_tensor_from_f64 (LPT_DTYPE_F32, &two, sorted, NULL));
      add_input (&c, lpt_tensor_from_f64 (LPT_DTYPE_F32, &v, values, NULL));
      y = run (&c, LPT_OP_SEARCH_SORTED, mode % 2 ? right : NULL);
      has_shape (y, "2,4");
      for (gint64 i = 0; i < 8; i++)
        {
          const double *s = sorted + (mode < 2 ? i / 4 * 5 : 0);
          gint64 wanted = 0;

          for (gint64 k = 0; k < 5; k++)
            wanted += mode % 2 ? s[k] <= values[i] : s[k] < values[i];
          g_assert_cmpint (lpt_tensor_get_i64 (y, i), ==, wanted);
        }
      done (&c, y);
    }
}

/* --- slices and windows --- */

static void
test_slice_scatter (void)
{
  static const struct { gint64 start[2], stop[2], step[2], axes[2]; const char *updates; gint64 rows[4], columns[4]; } cases[] = {
    { { 0, 1 }, { 3, 5 }, { 2, 2 }, { 0, 1 }, "2,2", { 0, 2 }, { 1, 3 } },
    { { -25, -1 }, { 25, -25 }, { 1, -2 }, { 0, -1 }, "3,3", { 0, 1, 2 }, { 4, 2, 0 } },
    { { 1, 1 }, { G_MAXINT64, 2 }, { 3, 1 }, { 1, 0 }, "1,2", { 1 }, { 1, 4 } },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      Case c = { .n = 0 };
      LptShape u;
      double wanted[15];
      LptTensor *y;

      add_input (&c, draw ("3,5"));
      add_input (&c, draw (cases[k].updates));
      add_input (&c, ints (2, cases[k].start));
      add_input (&c, ints (2, cases[k].stop));
      add_input (&c, ints (2, cases[k].step));
      if (k > 0)
        add_input (&c, ints (2, cases[k].axes));
      y = run (&c, LPT_OP_SLICE_SCATTER, NULL);
      has_shape (y, "3,5");
      u = *lpt_tensor_shape (c.in[1]);
      for (gint64 i = 0; i < 15; i++)
        wanted[i] = at (c.in[0], i);
      for (gint64 j = 0; j < u.dims[0]; j++)
        for (gint64 i = 0; i < u.dims[1]; i++)
          wanted[cases[k].rows[j] * 5 + cases[k].columns[i]] = at (c.in[1], j * u.dims[1] + i);
      for (gint64 i = 0; i < 15; i++)
        g_assert_cmpfloat (at (y, i), ==, wanted[i]);
      done (&c, y);
    }
}

static void
spread_out (LptNode *node)
{
  static const gint64 two[2] = { 2, 2 }, one[2] = { 1, 1 };

  lpt_ints_set (&LPT_ATTRS (node, LptCol2ImAttrs)->strides, 2, two);
  lpt_ints_set (&LPT_ATTRS (node, LptCol2ImAttrs)->dilations, 2, two);
  lpt_ints_set (&LPT_ATTRS (node, LptCol2ImAttrs)->pads_begin, 2, one);
  lpt_ints_set (&LPT_ATTRS (node, LptCol2ImAttrs)->pads_end, 2, one);
}

/* Each element of a block goes where the window that the block is has it. */
static void
test_col2im (void)
{
  for (int mode = 0; mode < 2; mode++)
    {
      static const gint64 image[2] = { 6, 7 }, kernel[2] = { 2, 3 };
      gint64 stride = mode ? 2 : 1, dilation = mode ? 2 : 1, pad = mode ? 1 : 0, rows = mode ? 3 : 5,
             columns = mode ? 3 : 5;
      g_autofree char *dims = g_strdup_printf ("2,18,%d", (int) (rows * columns));
      g_autofree double *wanted = g_new0 (double, 2 * 3 * 42);
      Case c = { .n = 0 };
      LptTensor *y;

      add_input (&c, draw (dims));
      add_input (&c, ints (2, image));
      add_input (&c, ints (2, kernel));
      y = run (&c, LPT_OP_COL2IM, mode ? spread_out : NULL);
      has_shape (y, "2,3,6,7");
      for (gint64 p = 0; p < 6; p++)
        for (gint64 kr = 0; kr < 2; kr++)
          for (gint64 kc = 0; kc < 3; kc++)
            for (gint64 r = 0; r < rows; r++)
              for (gint64 q = 0; q < columns; q++)
                {
                  gint64 row = r * stride - pad + kr * dilation, column = q * stride - pad + kc * dilation;

                  if (row >= 0 && row < 6 && column >= 0 && column < 7)
                    wanted[p * 42 + row * 7 + column] += at (c.in[0], ((p * 2 + kr) * 3 + kc) * rows * columns +
                                                                          r * columns + q);
                }
      for (gint64 i = 0; i < 2 * 3 * 42; i++)
        near_to (at (y, i), wanted[i]);
      done (&c, y);
    }
}

/* --- attention --- */

static void
causal (LptNode *node)
{
  LPT_ATTRS (node, LptAttentionAttrs)->causal = TRUE;
}

static void
test_attention (void)
{
  for (int mode = 0; mode < 5; mode++)      /* plain, real mask, boolean mask and scale, causal, heads of the key shared */
    {
      Case c = { .n = 0 };
      gint64 l = 3, s = 4, e = 5, v = 2;
      LptTensor *y;

      add_input (&c, draw ("2,2,3,5"));
      add_input (&c, draw (mode == 4 ? "2,1,4,5" : "2,2,4,5"));
      add_input (&c, draw (mode == 4 ? "1,1,4,2" : "2,2,4,2"));
      if (mode == 1)
        add_input (&c, draw ("2,1,3,4"));
      if (mode == 2)
        {
          static const gint64 keep[12] = { 1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0 };
          g_autoptr (LptTensor) wide = shaped (ints (12, keep), "3,4");

          add_input (&c, lpt_tensor_convert (wide, LPT_DTYPE_BOOL, NULL));
          add_input (&c, shaped (draw ("1"), ""));
        }
      y = run (&c, LPT_OP_SCALED_DOT_PRODUCT_ATTENTION, mode == 3 ? causal : NULL);
      has_shape (y, "2,2,3,2");
      for (gint64 h = 0; h < 4; h++)
        for (gint64 i = 0; i < l; i++)
          {
            double p[4], sum = 0, scale = mode == 2 ? at (c.in[4], 0) : 1 / sqrt ((double) e);
            gint64 kh = mode == 4 ? h / 2 : h, vh = mode == 4 ? 0 : h;

            for (gint64 j = 0; j < s; j++)
              {
                double dot = 0;

                for (gint64 k = 0; k < e; k++)
                  dot += at (c.in[0], (h * l + i) * e + k) * at (c.in[1], (kh * s + j) * e + k);
                dot *= scale;
                if (mode == 1)
                  dot += at (c.in[3], (h / 2 * l + i) * s + j);
                p[j] = (mode == 2 && at (c.in[3], i * s + j) == 0) || (mode == 3 && j > i) ? 0 : exp (dot);
                sum += p[j];
              }
            for (gint64 k = 0; k < v; k++)
              {
                double wanted = 0;

                for (gint64 j = 0; j < s; j++)
                  wanted += p[j] / sum * at (c.in[2], (vh * s + j) * v + k);
                near_to (at (y, (h * l + i) * v + k), wanted);
              }
          }
      done (&c, y);
    }
}

static void
test_identity (void)
{
  Case c = { .n = 0 };
  LptTensor *y;

  add_input (&c, draw ("2,3"));
  y = run (&c, LPT_OP_IDENTITY, NULL);
  g_assert_true (lpt_tensor_equal (y, c.in[0]));
  done (&c, y);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  formula_begin ();
  g_test_add_func ("/exec/signal/bags", test_bags);
  g_test_add_func ("/exec/signal/segment-max", test_segment_max);
  g_test_add_func ("/exec/signal/search-sorted", test_search_sorted);
  g_test_add_func ("/exec/signal/slice-scatter", test_slice_scatter);
  g_test_add_func ("/exec/signal/col2im", test_col2im);
  g_test_add_func ("/exec/signal/attention", test_attention);
  g_test_add_func ("/exec/signal/identity", test_identity);

  return formula_end (g_test_run ());
}
