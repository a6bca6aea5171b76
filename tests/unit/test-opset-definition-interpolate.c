/* test-opset-definition-interpolate.c - Interpolate of all opsets, against their definitions
 *
 * As test-opset-definition-elementwise.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT];

/* --- Interpolate ---------------------------------------------------------------------------- */

typedef enum { HALF_PIXEL, PYTORCH, ASYMMETRIC, TF_HALF, ALIGN } Coordinate;
typedef enum { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL, SIMPLE } Nearest;

static double
position (Coordinate c,
          double     o,
          double     in,
          double     out)
{
  if (in == out)
    return o;
  switch (c)
    {
    case PYTORCH: return out > 1 ? (o + 0.5) * in / out - 0.5 : 0;
    case ASYMMETRIC: return o * in / out;
    case TF_HALF: return (o + 0.5) * in / out;
    case ALIGN: return out == 1 ? 0 : o * (in - 1) / (out - 1);
    default: return (o + 0.5) * in / out - 0.5;
    }
}

static gint64
nearest (Nearest n,
         double  x,
         double  in,
         double  out)
{
  switch (n)
    {
    case PREFER_FLOOR: return (gint64) ceil (x - 0.5);
    case PREFER_CEIL: return (gint64) floor (x + 0.5);
    case FLOOR: return (gint64) floor (x);
    case CEIL: return (gint64) ceil (x);
    default: return (gint64) (out < in ? ceil (x) : trunc (x));
    }
}

/* out_values from in_values: each element from the corners around its place. */
static void
interpolate (gint          rank,
             const gint64 *dims,
             const gint64 *out_dims,
             gboolean      linear,
             Coordinate    c,
             Nearest       how)
{
  gint64 at, index[4], low[4];
  double a[4];
  gint d, corner;

  for (at = 0; at < product (out_dims, rank); at++)
    {
      double sum = 0;

      unravel (at, out_dims, rank, index);
      for (d = 0; d < rank; d++)
        {
          const double x = position (c, (double) index[d], (double) dims[d], (double) out_dims[d]);
          const gint64 n = linear ? (gint64) floor (CLAMP (x, 0, (double) dims[d] - 1))
                                  : nearest (how, x, (double) dims[d], (double) out_dims[d]);

          low[d] = CLAMP (n, 0, dims[d] - 1);
          a[d] = linear ? CLAMP (x, 0, (double) dims[d] - 1) - (double) low[d] : 0;
        }
      for (corner = 0; corner < 1 << rank; corner++)
        {
          gint64 from[4];
          double weight = 1;

          for (d = 0; d < rank; d++)
            {
              from[d] = MIN (low[d] + (corner >> d & 1), dims[d] - 1);
              weight *= corner >> d & 1 ? a[d] : 1 - a[d];
            }
          sum += weight * in_values[ravel (from, dims, rank)];
        }
      out_values[at] = sum;
    }
}

static void
test_interpolate (void)
{
  static const char *const coordinates[] = { "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn",
                                             "align_corners" };
  static const char *const roundings[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple" };
  guint round;

  for (round = 0; round < rounds (250); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = (gint[]) { 1, 4, 11 }[draw (0, 2)], rank = draw (3, 4), n_axes = draw (1, 2);
      const gboolean linear = toss (), by_scales = version > 1 && toss (), align = toss (),
                     says_align = align ? toss () : TRUE;
      const gboolean says_coordinate = toss (), says_nearest = toss ();
      const gint first = draw (rank - n_axes - 1, rank - n_axes);
      Coordinate c = says_coordinate ? (Coordinate) draw (0, 4) : HALF_PIXEL;
      Nearest how = says_nearest ? (Nearest) draw (0, 4) : PREFER_FLOOR;
      gint64 dims[4], out_dims[4];
      double sizes[2], scales[2], axes[2];
      gint d;

      for (d = 0; d < rank; d++)
        dims[d] = out_dims[d] = draw (1, 3);
      for (d = 0; d < n_axes; d++)
        {
          /* Ratios that have no error. */
          scales[d] = (double[]) { 0.5, 1, 2, 4 }[draw (0, 3)];
          dims[first + d] = 2 * draw (1, 2);
          sizes[d] = (double) dims[first + d] * scales[d];
          out_dims[first + d] = (gint64) sizes[d];
          axes[d] = first + d;
        }
      if (version == 1)
        {
          how = SIMPLE;
          c = align ? ALIGN : linear && !(rank == 4 && n_axes == 2 && first == 2) ? HALF_PIXEL : ASYMMETRIC;
        }
      draw_reals (in_values, product (dims, rank));
      interpolate (rank, dims, out_dims, linear, c, how);
      add_const (text, "x", "f32", rank, dims, in_values);
      add_list (text, "s", "i64", n_axes, sizes);
      add_list (text, "f", "f32", n_axes, scales);
      add_list (text, "a", "i64", n_axes, axes);
      g_string_append_printf (text, "%%y = Interpolate@%d(%s) {mode=%s", version, version == 1 ? "%x, %s" : version == 4 ? "%x, %s, %f, %a"
                              : by_scales ? "%x, %f, %a" : "%x, %s, %a", !linear ? "nearest" : version == 1 ? "linear" : "linear_onnx");
      if (version == 1)
        {
          append_list (text, ", axes", n_axes, axes);
          if (says_align)
            g_string_append_printf (text, ", align_corners=%s", align ? "true" : "false");
        }
      else
        {
          g_string_append_printf (text, ", shape_calculation_mode=%s", by_scales ? "scales" : "sizes");
          if (says_coordinate)
            g_string_append_printf (text, ", coordinate_transformation_mode=%s", coordinates[c]);
          if (says_nearest)
            g_string_append_printf (text, ", nearest_mode=%s", roundings[how]);
        }
      g_string_append (text, "}\nResult(%y)\n");
      expect_one (text, rank, out_dims, out_values, 1e-5, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/interpolate", test_interpolate);

  return g_test_run ();
}
