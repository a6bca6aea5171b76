/* test-opset-definition-boxes.c - detection ops of all opsets, against their definitions
 *
 * As test-opset-definition-elementwise.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT];

/* --- PriorBox, PriorBoxClustered -------------------------------------------------- */

static gint64
put_box (gint64  at,
         double  cx,
         double  cy,
         double  w,
         double  h,
         double  image_w,
         double  image_h)
{
  out_values[at] = (cx - w / 2) / image_w;
  out_values[at + 1] = (cy - h / 2) / image_h;
  out_values[at + 2] = (cx + w / 2) / image_w;
  out_values[at + 3] = (cy + h / 2) / image_h;

  return at + 4;
}

/* Clips, then the variances behind the boxes. */
static void
finish_boxes (gint64        n,
              gboolean      clip,
              gint          n_variance,
              const double *variance)
{
  gint64 i;

  for (i = 0; i < n; i++)
    {
      if (clip)
        out_values[i] = CLAMP (out_values[i], 0, 1);
      out_values[n + i] = n_variance == 0 ? 0.1 : variance[n_variance == 1 ? 0 : i % 4];
    }
}

static void
test_prior_box (void)
{
  guint round;

  for (round = 0; round < rounds (200); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 8, n_min = draw (1, 2), n_ratio = draw (0, 2),
                 n_variance = (gint[]) { 0, 1, 4 }[draw (0, 2)];
      const gboolean flip = toss (), clip = toss (), all = toss () || version == 1,
                     says_order = version == 8 && toss ();
      const gint n_max = all ? draw (0, n_min) : 0;
      const gboolean max_first = !says_order || toss ();
      const double offset = draw (0, 4) / 4.0, step = toss () ? draw (4, 16) : 0;
      const double map[2] = { draw (1, 3), draw (1, 3) }, image[2] = { draw (20, 60), draw (20, 60) };
      double min[2], max[2], ratio[2], all_ratios[4], variance[4];
      gint64 at = 0, dims[2] = { 2, 0 };
      gint s, r, n_all = 0, y, x;

      for (s = 0; s < 2; s++)
        {
          min[s] = draw (2, 10);
          max[s] = min[s] + draw (1, 10);
          ratio[s] = 2 + s + draw (0, 1) / 2.0;
        }
      for (s = 0; s < 4; s++)
        variance[s] = draw (1, 8) / 8.0;
      for (r = 0; r < n_ratio; r++)
        {
          all_ratios[n_all++] = ratio[r];
          if (flip)
            all_ratios[n_all++] = 1 / ratio[r];
        }
      for (y = 0; y < (gint) map[0]; y++)
        for (x = 0; x < (gint) map[1]; x++)
          {
            const double cx = step == 0 ? (x + 0.5) * image[1] / map[1] : (x + offset) * step;
            const double cy = step == 0 ? (y + 0.5) * image[0] / map[0] : (y + offset) * step;

            for (s = 0; s < n_min; s++)
              {
                const double wide = all ? 1 : image[0], size = min[s] * wide, ratio_size = min[all ? s : 0] * wide;
                gint part;

                /* step is in fractions of the image as well */
                const double ax = all || step == 0 ? cx : (x + offset) * step * image[0];
                const double ay = all || step == 0 ? cy : (y + offset) * step * image[0];

                at = put_box (at, ax, ay, size, size, image[1], image[0]);
                for (part = 0; part < 2; part++)
                  if ((part == 0) == max_first)
                    {
                      if (s < n_max)
                        at = put_box (at, ax, ay, sqrt (min[s] * max[s]), sqrt (min[s] * max[s]), image[1], image[0]);
                    }
                  else if (all || s == n_min - 1)
                    for (r = 0; r < n_all; r++)
                      at = put_box (at, ax, ay, ratio_size * sqrt (all_ratios[r]), ratio_size / sqrt (all_ratios[r]),
                                    image[1], image[0]);
              }
          }
      dims[1] = at;
      finish_boxes (at, clip, n_variance, variance);
      add_list (text, "m", "i64", 2, map);
      add_list (text, "i", "i64", 2, image);
      g_string_append_printf (text, "%%y = PriorBox@%d(%%m, %%i) {", version);
      append_list (text, "min_size", n_min, min);
      append_list (text, ", max_size", n_max, max);
      append_list (text, ", aspect_ratio", n_ratio, ratio);
      append_list (text, ", variance", n_variance, variance);
      g_string_append_printf (text, ", offset=%g, step=%g%s%s%s%s}\nResult(%%y)\n", offset, step,
                              flip ? ", flip=true" : "", clip ? ", clip=true" : "",
                              all ? "" : ", scale_all_sizes=false",
                              !says_order ? ""
                              : max_first ? ", min_max_aspect_ratios_order=true"
                                          : ", min_max_aspect_ratios_order=false");
      expect_one (text, 2, dims, out_values, 1e-5, "f32");
    }
}

static void
test_prior_box_clustered (void)
{
  guint round;

  for (round = 0; round < rounds (60); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint n = draw (1, 3), n_variance = (gint[]) { 0, 1, 4 }[draw (0, 2)];
      const gboolean clip = toss ();
      const double offset = draw (0, 4) / 4.0, step = toss () ? draw (4, 16) : 0, step_w = toss () ? draw (4, 16) : 0,
                   step_h = toss () ? draw (4, 16) : 0;
      const double map[2] = { draw (1, 3), draw (1, 3) }, image[2] = { draw (20, 60), draw (20, 60) };
      const double sx = step_w != 0 ? step_w : step != 0 ? step : image[1] / map[1], sy = step_h != 0 ? step_h : step != 0 ? step : image[0] / map[0];
      double width[3], height[3], variance[4];
      gint64 at = 0, dims[2] = { 2, 0 };
      gint k, y, x;

      for (k = 0; k < 3; k++)
        {
          width[k] = draw (2, 30);
          height[k] = draw (2, 30);
        }
      for (k = 0; k < 4; k++)
        variance[k] = draw (1, 8) / 8.0;
      for (y = 0; y < (gint) map[0]; y++)
        for (x = 0; x < (gint) map[1]; x++)
          for (k = 0; k < n; k++)
            at = put_box (at, (x + offset) * sx, (y + offset) * sy, width[k], height[k], image[1], image[0]);
      dims[1] = at;
      finish_boxes (at, clip, n_variance, variance);
      add_list (text, "m", "i64", 2, map);
      add_list (text, "i", "i64", 2, image);
      g_string_append (text, "%y = PriorBoxClustered(%m, %i) {");
      append_list (text, "width", n, width);
      append_list (text, ", height", n, height);
      append_list (text, ", variance", n_variance, variance);
      g_string_append_printf (text, ", offset=%g, step=%g, step_w=%g, step_h=%g%s}\nResult(%%y)\n", offset, step,
                              step_w, step_h, clip ? ", clip=true" : "");
      expect_one (text, 2, dims, out_values, 1e-5, "f32");
    }
}

/* --- NonMaxSuppression ------------------------------------------------------------- */

static double
overlap (const double *a,
         const double *b)
{
  const double h = fmin (a[2], b[2]) - fmax (a[0], b[0]), w = fmin (a[3], b[3]) - fmax (a[1], b[1]);
  const double both = h > 0 && w > 0 ? h * w : 0;

  return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

typedef struct { gint image, label, box; double score; } Row;

/* @boxes as corners, and as they are written: corners in any order; or centre and size, x first. */
static void
draw_boxes (gint     n,
            gboolean center,
            double  *boxes,
            double  *written)
{
  gint i;

  for (i = 0; i < n; i++)
    {
      const double y = draw (0, 6), x = draw (0, 6), h = draw (1, 5), w = draw (1, 5);

      memcpy (boxes + 4 * i, (double[]) { y, x, y + h, x + w }, 4 * sizeof *boxes);
      memcpy (written + 4 * i, center ? (double[]) { x + w / 2, y + h / 2, w, h }
              : toss () ? (double[]) { y + h, x, y, x + w } : (double[]) { y, x, y + h, x + w }, 4 * sizeof *boxes);
    }
}

/* All different. */
static void
draw_scores (gint    n,
             double *scores)
{
  gint i;

  for (i = 0; i < n; i++)
    scores[i] = (i + 1) / 32.0;
  for (i = n - 1; i > 0; i--)
    {
      const double swap = scores[i];
      const gint j = draw (0, i);

      scores[i] = scores[j];
      scores[j] = swap;
    }
}

/* @most of @n boxes by their scores, above @thresholds[1]; none overlaps one before it by more than @thresholds[0].
 * Returns how many. */
static gint
take_boxes (gint          n,
            gint          most,
            const double *thresholds,
            const double *scores,
            const double *boxes,
            gint         *taken)
{
  gboolean gone[8] = { FALSE };
  gint n_taken = 0, i;

  while (n_taken < most)
    {
      gint best = -1;

      for (i = 0; i < n; i++)
        if (!gone[i] && scores[i] > thresholds[1] && (best < 0 || scores[i] > scores[best]))
          best = i;
      if (best < 0)
        break;
      taken[n_taken++] = best;
      gone[best] = TRUE;
      for (i = 0; i < n; i++)
        gone[i] = gone[i] || overlap (boxes + 4 * i, boxes + 4 * best) > thresholds[0];
    }

  return n_taken;
}

/* Opsets 1 to 4 give all rows that there can be, the unused ones -1; from 5 on those that there are, with scores and
 * count. */
static void
test_nms (void)
{
  guint round;

  for (round = 0; round < rounds (200); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = (gint[]) { 1, 3, 4, 5, 9 }[draw (0, 4)], images = version >= 4 ? draw (1, 2) : 1,
                 labels = draw (1, 2), n = draw (1, 6);
      const gint n_limits = draw (0, 3);      /* how many of count, overlap and score are given */
      const gint most = n_limits > 0 ? draw (0, n) : 0;
      const gboolean sorted = toss (), narrow = version >= 3 && toss (), center = toss ();
      const double limit = n_limits > 1 ? draw (1, 7) / 8.0 : 0, least = n_limits > 2 ? draw (0, 3) / 4.0 : 0;
      const char *type = narrow ? "i32" : "i64";
      double boxes[64], written[64], scores[64], rows[3 * 32], row_scores[3 * 32];
      Row found[32];
      gint64 dims[2] = { 0, 3 }, one = 1;
      gint b, c, i, j, k, n_found = 0;

      draw_boxes (images * n, center, boxes, written);
      draw_scores (images * labels * n, scores);
      for (b = 0; b < images; b++)
        for (c = 0; c < labels; c++)
          {
            const double *s = scores + (b * labels + c) * n, thresholds[2] = { limit, least };
            gint taken[8];
            const gint n_taken = take_boxes (n, most, thresholds, s, boxes + 4 * b * n, taken);

            for (i = 0; i < n_taken; i++)
              found[n_found++] = (Row) { b, c, taken[i], s[taken[i]] };
          }
      for (i = 1; i < n_found && sorted; i++)
        for (j = i; j > 0 && found[j].score > found[j - 1].score; j--)
          {
            Row swap = found[j];

            found[j] = found[j - 1];
            found[j - 1] = swap;
          }
      dims[0] = version >= 5 ? n_found : MIN (n, most) * labels * (version == 4 ? images : 1);
      for (k = 0; k < (gint) dims[0]; k++)
        {
          const gboolean real = k < n_found;
          const double row[3] = { real ? found[k].image : -1, real ? found[k].label : -1, real ? found[k].box : -1 };

          memcpy (rows + 3 * k, row, sizeof row);
          memcpy (row_scores + 3 * k, row, sizeof row);
          row_scores[3 * k + 2] = real ? found[k].score : -1;
        }
      add_const (text, "xb", "f32", 3, (gint64[]) { images, n, 4 }, written);
      add_const (text, "xs", "f32", 3, (gint64[]) { images, labels, n }, scores);
      add_scalar (text, "m", "i64", most);
      add_scalar (text, "o", "f32", limit);
      add_scalar (text, "s", "f32", least);
      g_string_append_printf (text, "%%y = NonMaxSuppression@%d(%%xb, %%xs%s) {box_encoding=%s%s%s}%s\n", version,
                              (const char *[]) { "", ", %m", ", %m, %o", ", %m, %o, %s" }[n_limits], center ? "center" : "corner",
                              sorted && toss () ? "" : sorted ? ", sort_result_descending=true" : ", sort_result_descending=false",
                              narrow ? ", output_type=i32" : "", version >= 5 ? (narrow ? " : i32[...], f32[...], i32[...]" : " : i64[...], f32[...], i64[...]") : "");
      if (version >= 5)
        {
          const double count = n_found;

          g_string_append (text, "Result(%y)\nResult(%y.1)\nResult(%y.2)\n");
          expect (text, 3,
                  (Want[]) {
                      { 2, dims, rows, 0, type }, { 2, dims, row_scores, 1e-6, "f32" }, { 1, &one, &count, 0, type } });
        }
      else
        {
          g_string_append (text, "Result(%y)\n");
          expect_one (text, 2, dims, rows, 0, type);
        }
    }
}

/* --- DetectionOutput ------------------------------------------------------------------ */

/* Boxes that do not overlap: decoded, above the threshold, by class and falling score; opset8 counts the classes
 * itself. */
static void
test_detection_output (void)
{
  guint round;

  for (round = 0; round < rounds (80); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 8, n = draw (1, 4), classes = draw (2, 3), keep = n * classes;
      const gboolean encoded = toss (), says_threshold = toss ();
      const double threshold = says_threshold ? draw (0, 12) / 16.0 : 0;
      double priors[2][16], deltas[16], scores[12];
      gint64 dims[4] = { 1, 1, keep, 7 };
      gint i, j, k, c, rows = 0;

      for (i = 0; i < 4 * n; i++)
        {
          priors[0][i] = (i / 4) / 4.0 + (i % 4 >= 2 ? 0.125 : 0.03125);
          priors[1][i] = draw (1, 2) / 8.0;
          deltas[i] = draw (-2, 2) / 32.0;    /* priors 5/32 apart stay apart */
        }
      for (i = 0; i < n * classes; i++)
        scores[i] = (i + 1) / 16.0;
      for (i = n * classes - 1; i > 0; i--)
        {
          double swap = scores[i];

          j = draw (0, i);
          scores[i] = scores[j];
          scores[j] = swap;
        }
      for (c = 1; c < classes; c++)
        {
          double before = INFINITY;

          for (k = 0; k < n; k++)
            {
              gint best = -1;

              for (i = 0; i < n; i++)
                if (scores[i * classes + c] > threshold && scores[i * classes + c] < before &&
                    (best < 0 || scores[i * classes + c] > scores[best * classes + c]))
                  best = i;
              if (best < 0)
                break;
              before = scores[best * classes + c];
              out_values[rows * 7] = 0;
              out_values[rows * 7 + 1] = c;
              out_values[rows * 7 + 2] = before;
              for (i = 0; i < 4; i++)
                out_values[rows * 7 + 3 + i] = priors[0][best * 4 + i] +
                                               deltas[best * 4 + i] * (encoded ? 1 : priors[1][best * 4 + i]);
              rows++;
            }
        }
      for (i = rows * 7; i < keep * 7; i++)
        out_values[i] = i == rows * 7 ? -1 : 0;
      add_const (text, "xd", "f32", 2, (gint64[]) { 1, 4 * n }, deltas);
      add_const (text, "xs", "f32", 2, (gint64[]) { 1, n * classes }, scores);
      memcpy (in_values, priors[0], (gsize) (4 * n) * sizeof *in_values);
      memcpy (in_values + 4 * n, priors[1], (gsize) (4 * n) * sizeof *in_values);
      add_const (text, "p", "f32", 3, (gint64[]) { 1, encoded ? 1 : 2, 4 * n }, in_values);
      g_string_append_printf (text, "%%y = DetectionOutput@%d(%%xd, %%xs, %%p) {keep_top_k=[%d], nms_threshold=0.5, normalized=true", version, keep);
      if (version == 1)
        g_string_append_printf (text, ", num_classes=%d", classes);
      g_string_append (text, encoded ? ", variance_encoded_in_target=true" : "");
      if (says_threshold)
        g_string_append_printf (text, ", confidence_threshold=%g", threshold);
      g_string_append (text, "}\nResult(%y)\n");
      expect_one (text, 4, dims, out_values, 1e-5, "f32");
    }
}

/* --- Proposal: opset1 has the regions without their scores ------------------------------ */

static void
test_proposal (void)
{
  guint round;

  for (round = 0; round < rounds (30); round++)
    {
      GPtrArray *outputs[2];
      double scores[2 * 6], deltas[4 * 6];
      gint i, v;

      for (i = 0; i < 12; i++)
        scores[i] = (i * 7 % 12 + 1) / 16.0;
      draw_reals (deltas, 24);
      for (i = 0; i < 24; i++)
        deltas[i] /= 16;
      for (v = 0; v < 2; v++)
        {
          g_autoptr (GString) text = g_string_new (NULL);

          add_const (text, "xs", "f32", 4, (gint64[]) { 1, 2, 2, 3 }, scores);
          add_const (text, "xd", "f32", 4, (gint64[]) { 1, 4, 2, 3 }, deltas);
          add_list (text, "i", "f32", 3, (double[]) { 60, 80, 1 });
          g_string_append_printf (text, "%%y = Proposal@%d(%%xs, %%xd, %%i) {base_size=16, pre_nms_topn=10, post_nms_topn=4, nms_thresh=0.7, "
                                  "feat_stride=16, min_size=1, ratio=[1], scale=[1]}%s\nResult(%%y)\n", v == 0 ? 1 : 4,
                                  v == 0 ? "" : " : f32[4,5], f32[4]");
          outputs[v] = run_text (text->str, round % 4);
        }
      g_assert_cmpuint (outputs[0]->len, ==, 1);
      g_assert_true (lpt_tensor_equal (g_ptr_array_index (outputs[0], 0), g_ptr_array_index (outputs[1], 0)));
      g_ptr_array_unref (outputs[0]);
      g_ptr_array_unref (outputs[1]);
    }
}

/* --- ROIAlign ---------------------------------------------------------------------------- */

static double
bilinear (const double *plane,
          gint          h,
          gint          w,
          double        y,
          double        x)
{
  gint y0, x0, y1, x1;

  if (y < -1 || y > h || x < -1 || x > w)
    return 0;
  y = CLAMP (y, 0, h - 1);
  x = CLAMP (x, 0, w - 1);
  y0 = (gint) y, x0 = (gint) x, y1 = MIN (y0 + 1, h - 1), x1 = MIN (x0 + 1, w - 1);

  return (y0 + 1 - y) * ((x0 + 1 - x) * plane[y0 * w + x0] + (x - x0) * plane[y0 * w + x1])
         + (y - y0) * ((x0 + 1 - x) * plane[y1 * w + x0] + (x - x0) * plane[y1 * w + x1]);
}

enum { ROI_H = 5, ROI_W = 6, ROI_PH = 2, ROI_PW = 3, ROI_S = 2 };

/* What the parts of @region are of one channel. */
static void
align_channel (const double *plane,
               const double *region,
               double        scale,
               gint          mode,
               gboolean      max,
               double       *out)
{
  const double before = mode == 2 ? 0.5 : 0, behind = mode > 0 ? 0.5 : 0;
  const double start_x = (region[0] + before) * scale - behind, start_y = (region[1] + before) * scale - behind;
  double width = (region[2] - region[0]) * scale, height = (region[3] - region[1]) * scale;
  gint part, i;

  if (mode == 0)
    {
      width = fmax (width, 1);
      height = fmax (height, 1);
    }
  for (part = 0; part < ROI_PH * ROI_PW; part++)
    {
      const gint py = part / ROI_PW, px = part % ROI_PW;
      double sum = 0, most = -INFINITY;

      for (i = 0; i < ROI_S * ROI_S; i++)
        {
          const double y = start_y + height / ROI_PH * (py + (i / ROI_S + 0.5) / ROI_S),
                       x = start_x + width / ROI_PW * (px + (i % ROI_S + 0.5) / ROI_S),
                       v = bilinear (plane, ROI_H, ROI_W, y, x);

          sum += v;
          most = fmax (most, v);
        }
      out[part] = max ? most : sum / (ROI_S * ROI_S);
    }
}

/* opset3 is opset9 with aligned_mode asymmetric. Several images, channels and regions. */
static void
test_roi_align (void)
{
  static const char *const modes[] = { "asymmetric", "half_pixel_for_nn", "half_pixel" };
  guint round;

  for (round = 0; round < rounds (80); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 3 : 9, mode = version == 9 ? draw (0, 2) : 0;
      const gboolean says = version == 9 && (mode > 0 || toss ()), max = toss ();
      const gint64 channels = draw (1, 9), n = draw (1, 6);
      const double scale = draw (1, 4) / 2.0;
      double regions[6][4], images[6];
      gint64 r, c;

      draw_reals (in_values, 2 * channels * ROI_H * ROI_W);
      for (r = 0; r < n; r++)
        {
          const double x0 = draw (0, 8) / 2.0, y0 = draw (0, 6) / 2.0;

          memcpy (regions[r], (double[]) { x0, y0, x0 + draw (1, 8) / 2.0, y0 + draw (1, 8) / 2.0 }, sizeof regions[r]);
          images[r] = draw (0, 1);
          for (c = 0; c < channels; c++)
            align_channel (in_values + ((gint64) images[r] * channels + c) * ROI_H * ROI_W, regions[r], scale, mode,
                           max, out_values + (r * channels + c) * ROI_PH * ROI_PW);
        }
      add_const (text, "x", "f32", 4, (gint64[]) { 2, channels, ROI_H, ROI_W }, in_values);
      add_const (text, "xr", "f32", 2, (gint64[]) { n, 4 }, regions[0]);
      add_const (text, "i", "i64", 1, &n, images);
      g_string_append_printf (text, "%%y = ROIAlign@%d(%%x, %%xr, %%i) {pooled_h=%d, pooled_w=%d, sampling_ratio=%d, "
                              "spatial_scale=%g, mode=%s", version, ROI_PH, ROI_PW, ROI_S, scale, max ? "max" : "avg");
      if (says)
        g_string_append_printf (text, ", aligned_mode=%s", modes[mode]);
      g_string_append (text, "}\nResult(%y)\n");
      expect_one (text, 4, (gint64[]) { n, channels, ROI_PH, ROI_PW }, out_values, 1e-5, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/prior-box", test_prior_box);
  g_test_add_func ("/opset/prior-box-clustered", test_prior_box_clustered);
  g_test_add_func ("/opset/nms", test_nms);
  g_test_add_func ("/opset/detection-output", test_detection_output);
  g_test_add_func ("/opset/proposal", test_proposal);
  g_test_add_func ("/opset/roi-align", test_roi_align);

  return g_test_run ();
}
