/* test-opset-definition-window.c - pools, Pad and DeformableConvolution of all opsets, against their definitions
 *
 * As test-opset-definition-elementwise.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT], more_values[MAX_COUNT];

/* --- pools -------------------------------------------------------------------- */

static gint64
pool_length (gint64 in,
             gint64 kernel,
             gint64 stride,
             gint64 dilation,
             gint64 begin,
             gint64 end,
             gint   rounding)      /* floor, ceil, ceil_torch */
{
  const gint64 room = in + begin + end - (kernel - 1) * dilation - 1;
  gint64 out = (rounding > 0 ? (room + stride - 1) / stride : room / stride) + 1;

  if (rounding == 2 && (out - 1) * stride >= in + begin)
    out--;

  return out;
}

typedef struct
{
  double kernel[2], stride[2], begin[2], end[2], dilation[2];
  gint   rounding, axis;
} Window;

static void
append_window (GString      *text,
               const Window *w)
{
  static const char *const roundings[] = { "floor", "ceil", "ceil_torch" };

  append_list (text, "kernel", 2, w->kernel);
  append_list (text, ", strides", 2, w->stride);
  append_list (text, ", pads_begin", 2, w->begin);
  append_list (text, ", pads_end", 2, w->end);
  if (w->dilation[0] + w->dilation[1] > 2)
    append_list (text, ", dilations", 2, w->dilation);
  if (w->rounding > 0 || toss ())
    g_string_append_printf (text, ", rounding_type=%s", roundings[w->rounding]);
  if (w->axis > 0)
    g_string_append_printf (text, ", axis=%d", w->axis);
}

static void
test_pools (void)
{
  guint round;

  for (round = 0; round < rounds (200); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gboolean max = toss (), exclude = toss ();
      const gint version = max ? (gint[]) { 1, 8, 14 }[draw (0, 2)] : (gint[]) { 1, 14, 16 }[draw (0, 2)];
      const gboolean dilates = version == 16 || (max && version >= 8);
      Window w = { .rounding = draw (0, version >= 14 ? 2 : 1) };
      gint64 dims[4], out_dims[4], index[4], at, y, x;
      gint d;

      w.axis = max && version >= 8 ? draw (0, 3) : 0;
      draw_dims (dims, 4, 3);
      for (d = 0; d < 2; d++)
        {
          dims[2 + d] = draw (5, 8);
          w.kernel[d] = draw (1, 3);
          w.stride[d] = draw (1, 3);
          w.dilation[d] = dilates && toss () ? 2 : 1;
          w.begin[d] = draw (0, (gint) w.kernel[d] - 1);
          w.end[d] = draw (0, (gint) w.kernel[d] - 1);
          out_dims[2 + d] = pool_length (dims[2 + d], (gint64) w.kernel[d], (gint64) w.stride[d],
                                         (gint64) w.dilation[d], (gint64) w.begin[d], (gint64) w.end[d], w.rounding);
        }
      memcpy (out_dims, dims, 2 * sizeof *dims);
      draw_reals (in_values, product (dims, 4));
      for (at = 0; at < product (out_dims, 4); at++)
        {
          double best = -INFINITY, sum = 0, inside = 0, padded = 0, place = 0;

          unravel (at, out_dims, 4, index);
          for (y = 0; y < (gint64) w.kernel[0]; y++)
            for (x = 0; x < (gint64) w.kernel[1]; x++)
              {
                gint64 from[4] = { index[0], index[1],
                                   index[2] * (gint64) w.stride[0] - (gint64) w.begin[0] + y * (gint64) w.dilation[0],
                                   index[3] * (gint64) w.stride[1] - (gint64) w.begin[1] + x * (gint64) w.dilation[1] };

                padded += from[2] < dims[2] + (gint64) w.end[0] && from[3] < dims[3] + (gint64) w.end[1];
                if (from[2] < 0 || from[3] < 0 || from[2] >= dims[2] || from[3] >= dims[3])
                  continue;
                inside++;
                sum += in_values[ravel (from, dims, 4)];
                if (in_values[ravel (from, dims, 4)] > best)
                  {
                    best = in_values[ravel (from, dims, 4)];
                    place = (double) (ravel (from, dims, 4) % product (dims + w.axis, 4 - w.axis));
                  }
              }
          if (inside == 0)
            break;
          out_values[at] = max ? best : sum / (exclude ? inside : padded);
          more_values[at] = place;
        }
      if (at < product (out_dims, 4))
        continue;      /* a window over padding alone is not defined */
      add_const (text, "x", "f32", 4, dims, in_values);
      g_string_append_printf (text, "%%y = %s@%d(%%x) {", max ? "MaxPool" : "AvgPool", version);
      append_window (text, &w);
      if (!max)
        g_string_append_printf (text, ", exclude-pad=%s", exclude ? "true" : "false");
      if (max && version >= 8)
        {
          const gboolean narrow = toss ();

          g_string_append_printf (text, "%s} : f32[...], %s[...]\nResult(%%y)\nResult(%%y.1)\n",
                                  narrow ? ", index_element_type=i32" : "", narrow ? "i32" : "i64");
          expect (text, 2,
                  (Want[]) { { 4, out_dims, out_values, 1e-6, "f32" },
                             { 4, out_dims, more_values, 0, narrow ? "i32" : "i64" } });
        }
      else
        {
          g_string_append (text, "}\nResult(%y)\n");
          expect_one (text, 4, out_dims, out_values, 1e-6, "f32");
        }
    }
}

/* --- Pad ------------------------------------------------------------------------ */

static void
test_pad (void)
{
  static const char *const modes[] = { "constant", "edge", "reflect", "symmetric" };
  guint round;

  for (round = 0; round < rounds (150); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 12, rank = draw (1, 3), mode = draw (0, 3);
      const double value = draw (0, 1) * 7;
      gint64 dims[3], out_dims[3], at, index[3];
      double begin[3], end[3];
      gint d;

      for (d = 0; d < rank; d++)
        {
          dims[d] = draw (3, 5);
          begin[d] = draw (version == 12 && toss () ? -1 : 0, 2);
          end[d] = draw (version == 12 && toss () ? -1 : 0, 2);
          out_dims[d] = dims[d] + (gint64) begin[d] + (gint64) end[d];
        }
      draw_reals (in_values, product (dims, rank));
      for (at = 0; at < product (out_dims, rank); at++)
        {
          gboolean outside = FALSE;

          unravel (at, out_dims, rank, index);
          for (d = 0; d < rank; d++)
            {
              index[d] -= (gint64) begin[d];
              if (index[d] >= 0 && index[d] < dims[d])
                continue;
              outside = TRUE;
              if (mode == 1)
                index[d] = CLAMP (index[d], 0, dims[d] - 1);
              else
                index[d] = index[d] < 0 ? -index[d] - (mode == 3) : 2 * dims[d] - index[d] - 2 + (mode == 3);
            }
          out_values[at] = outside && mode == 0 ? value : in_values[ravel (index, dims, rank)];
        }
      add_const (text, "x", "f32", rank, dims, in_values);
      add_list (text, "b", "i64", rank, begin);
      add_list (text, "e", "i64", rank, end);
      if (mode == 0 && value != 0)
        add_scalar (text, "xv", "f32", value);
      g_string_append_printf (text, "%%y = Pad@%d(%%x, %%b, %%e%s) {pad_mode=%s}\nResult(%%y)\n", version,
                              mode == 0 && value != 0 ? ", %xv" : "", modes[mode]);
      expect_one (text, rank, out_dims, out_values, 0, "f32");
    }
}

/* --- DeformableConvolution ----------------------------------------------------------- */

/* The plane at a fractional place. Opset 1: outside of the plane is 0, between its last element and its end that
 * element. Opset 8 with bilinear_interpolation_pad: the plane has zeros around it. */
static double
sample (const double *plane,
        gint64        h,
        gint64        w,
        double        y,
        double        x,
        gboolean      padded)
{
  double sum = 0;
  gint64 i, j;

  if (!padded && (y < 0 || x < 0 || y >= (double) h || x >= (double) w))
    return 0;
  if (!padded)
    {
      y = MIN (y, (double) (h - 1));
      x = MIN (x, (double) (w - 1));
    }
  for (i = 0; i < h; i++)
    for (j = 0; j < w; j++)
      sum += MAX (0, 1 - fabs (y - (double) i)) * MAX (0, 1 - fabs (x - (double) j)) * plane[i * w + j];

  return sum;
}

static void
test_deformable (void)
{
  guint round;

  for (round = 0; round < rounds (60); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 8, group = draw (1, 2), deformable = draw (1, 2);
      const gboolean masked = version == 8 && toss (), padded = version == 8 && toss (), said = padded || toss ();
      const gint64 channels = 2 * group, outputs = 2 * group, h = draw (3, 5), w = draw (3, 5), kh = draw (1, 2),
                   kw = draw (1, 3);
      const gint64 stride = draw (1, 2), dilation = draw (1, 2), pad = draw (0, 1);
      const gint64 oh = (h + 2 * pad - (kh - 1) * dilation - 1) / stride + 1,
                   ow = (w + 2 * pad - (kw - 1) * dilation - 1) / stride + 1;
      const gint64 taps = kh * kw, size = oh * ow;
      double offsets[MAX_COUNT], mask[MAX_COUNT], weights[64];
      gint64 o, c, y, x, i, j;

      if (h + 2 * pad < (kh - 1) * dilation + 1 || w + 2 * pad < (kw - 1) * dilation + 1)
        continue;
      draw_reals (in_values, channels * h * w);
      draw_reals (weights, outputs * (channels / group) * taps);
      for (i = 0; i < deformable * taps * 2 * size; i++)
        offsets[i] = draw (-12, 12) / 8.0;
      for (i = 0; i < deformable * taps * size; i++)
        mask[i] = draw (0, 8) / 8.0;
      for (o = 0; o < outputs; o++)
        for (y = 0; y < oh; y++)
          for (x = 0; x < ow; x++)
            {
              double sum = 0;

              for (c = 0; c < channels / group; c++)
                for (i = 0; i < kh; i++)
                  for (j = 0; j < kw; j++)
                    {
                      const gint64 channel = o / (outputs / group) * (channels / group) + c;
                      const gint64 tap = channel / (channels / deformable) * taps + i * kw + j, at = y * ow + x;
                      const double py = (double) (y * stride - pad + i * dilation) + offsets[2 * tap * size + at];
                      const double px = (double) (x * stride - pad + j * dilation) + offsets[(2 * tap + 1) * size + at];

                      sum += sample (in_values + channel * h * w, h, w, py, px, padded) *
                             (masked ? mask[tap * size + at] : 1) *
                             weights[((o * (channels / group) + c) * kh + i) * kw + j];
                    }
              out_values[(o * oh + y) * ow + x] = sum;
            }
      add_const (text, "x", "f32", 4, (gint64[]) { 1, channels, h, w }, in_values);
      add_const (text, "xo", "f32", 4, (gint64[]) { 1, deformable * taps * 2, oh, ow }, offsets);
      add_const (text, "w", "f32", 4, (gint64[]) { outputs, channels / group, kh, kw }, weights);
      if (masked)
        add_const (text, "xm", "f32", 4, (gint64[]) { 1, deformable * taps, oh, ow }, mask);
      g_string_append_printf (text,
                              "%%y = DeformableConvolution@%d(%%x, %%xo, %%w%s) {strides=[%d,%d], pads_begin=[%d,%d], "
                              "pads_end=[%d,%d], dilations=[%d,%d]",
                              version, masked ? ", %xm" : "", (int) stride, (int) stride, (int) pad, (int) pad,
                              (int) pad, (int) pad, (int) dilation, (int) dilation);
      if (group > 1 || toss ())
        g_string_append_printf (text, ", group=%d", group);
      if (deformable > 1 || toss ())
        g_string_append_printf (text, ", deformable_group=%d", deformable);
      if (version == 8 && said)
        g_string_append_printf (text, ", bilinear_interpolation_pad=%s", padded ? "true" : "false");
      g_string_append (text, "}\nResult(%y)\n");
      expect_one (text, 4, (gint64[]) { 1, outputs, oh, ow }, out_values, 1e-5, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/pools", test_pools);
  g_test_add_func ("/opset/pad", test_pad);
  g_test_add_func ("/opset/deformable-convolution", test_deformable);

  return g_test_run ();
}
