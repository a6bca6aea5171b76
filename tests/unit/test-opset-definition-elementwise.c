/* test-opset-definition-elementwise.c - elementwise ops, Softmax and normalizations whose defaults or meaning differ
 * between opsets, against their definitions
 *
 * Every op is computed here from what the specification of its opset says, over drawn attributes, and compared with
 * what the executor gives. Nothing of the executor is used: what both have in common would not be tested. An attribute
 * that is drawn to be absent has the default that the specification names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT];

/* --- Clamp ------------------------------------------------------------------- */

/* Bounds are rounded inwards and saturate at the type; the lower one comes first. NaN bounds nothing. */
static double
clamp_integer (double x,
               double min,
               double max,
               double low,
               double high)
{
  double v = x;

  if (!isnan (min) && v < ceil (min))
    v = CLAMP (ceil (min), low, high);
  if (!isnan (max) && v > floor (max))
    v = CLAMP (floor (max), low, high);

  return v;
}

static void
test_clamp (void)
{
  static const double bounds[] = { -INFINITY, -1e300, -9.3e18, -300, -5.5, -1,    0,        0.5,
                                   5,         7.25,   200,     300,  1e19, 1e300, INFINITY, NAN };
  static const struct { const char *name; double low, high; } types[] =
    { { "i64", -0x1p63, 0x1p63 }, { "i32", -0x1p31, 0x1p31 - 1 }, { "u8", 0, 255 }, { "i8", -128, 127 }, { "f32", -INFINITY, INFINITY } };
  guint round, i;

  for (round = 0; round < rounds (300); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const double min = bounds[draw (0, G_N_ELEMENTS (bounds) - 1)], max = bounds[draw (0, G_N_ELEMENTS (bounds) - 1)];
      const guint t = (guint) draw (0, G_N_ELEMENTS (types) - 1);
      const gint64 n = 9;

      for (i = 0; i < n; i++)
        in_values[i] = t == 4 ? draw (-160, 160) / 16.0
                              : draw ((gint) fmax (types[t].low, -400), (gint) fmin (types[t].high, 400));
      for (i = 0; i < n; i++)
        out_values[i] = t == 4 ? (float) fmin (fmax (in_values[i], min), max)
                               : clamp_integer (in_values[i], min, max, types[t].low, types[t].high);
      add_list (text, "x", types[t].name, n, in_values);
      g_string_append (text, "%y = Clamp(%x) {min=");
      append_number (text, min);
      g_string_append (text, ", max=");
      append_number (text, max);
      g_string_append (text, "}\nResult(%y)\n");
      expect_one (text, 1, &n, out_values, t == 4 ? 1e-6 : 0, types[t].name);
    }
}

/* --- Softmax ------------------------------------------------------------------- */

static void
test_softmax (void)
{
  guint round;

  for (round = 0; round < rounds (60); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 8, rank = draw (2, 4);
      gint64 dims[4], at, k, index[4] = { 0 }, other[4];
      gint axis = 1;

      draw_dims (dims, rank, 4);
      draw_reals (in_values, product (dims, rank));
      add_const (text, "x", "f32", rank, dims, in_values);
      g_string_append_printf (text, "%%y = Softmax@%d(%%x)", version);
      if (toss ())
        {
          axis = draw (0, rank - 1);
          g_string_append_printf (text, " {axis=%d}", version == 8 && toss () ? axis - rank : axis);
        }
      g_string_append (text, "\nResult(%y)\n");
      for (at = 0; at < product (dims, rank); at++)
        {
          double sum = 0;

          unravel (at, dims, rank, index);
          memcpy (other, index, sizeof other);
          for (k = 0; k < dims[axis]; k++)
            {
              other[axis] = k;
              sum += exp (in_values[ravel (other, dims, rank)]);
            }
          out_values[at] = exp (in_values[at]) / sum;
        }
      expect_one (text, rank, dims, out_values, 1e-6, "f32");
    }
}

/* --- normalizations, Gelu ---------------------------------------------------------- */

static void
test_batch_norm (void)
{
  guint round;

  for (round = 0; round < rounds (40); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 5;
      const double epsilon = toss () ? 0.25 : 0;
      double p[4][4];
      gint64 dims[3], at;
      gint k, c;

      draw_dims (dims, 3, 4);
      draw_reals (in_values, product (dims, 3));
      for (k = 0; k < 4; k++)
        for (c = 0; c < 4; c++)
          p[k][c] = draw (1, 40) / 8.0;
      for (at = 0; at < product (dims, 3); at++)
        {
          c = (gint) (at / dims[2] % dims[1]);
          out_values[at] = p[0][c] * (in_values[at] - p[2][c]) / sqrt (p[3][c] + epsilon) + p[1][c];
        }
      add_const (text, "x", "f32", 3, dims, in_values);
      add_list (text, "xg", "f32", dims[1], p[0]);
      add_list (text, "xb", "f32", dims[1], p[1]);
      add_list (text, "xm", "f32", dims[1], p[2]);
      add_list (text, "xv", "f32", dims[1], p[3]);
      g_string_append_printf (text, "%%y = BatchNormInference@%d(%s, %%xm, %%xv) {epsilon=%g}\nResult(%%y)\n", version,
                              version == 1 ? "%xg, %xb, %x" : "%x, %xg, %xb", epsilon);
      expect_one (text, 3, dims, out_values, 1e-5, "f32");
    }
}

/* opset2 has the axes as attributes and its eps inside the root. */
static void
test_mvn (void)
{
  guint round;

  for (round = 0; round < rounds (80); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 2 : 6, rank = draw (3, 4);
      const gboolean across = toss (), said = across || toss (), variance = toss (), outside = version == 6 && toss ();
      gboolean set[4] = { FALSE };
      double axes[4];
      gint64 dims[4], at, k, index[4], other[4], n_axes = 0;
      gint d;

      draw_dims (dims, rank, 4);
      for (d = 0; d < rank; d++)
        set[d] = version == 6 ? toss () : d >= (across ? 1 : 2);
      set[rank - 1] = TRUE;
      for (d = 0; d < rank; d++)
        if (set[d])
          axes[n_axes++] = toss () ? d : d - rank;
      draw_reals (in_values, product (dims, rank));
      for (at = 0; at < product (dims, rank); at++)
        {
          double n = 0, mean = 0, square = 0;
          gint pass;

          unravel (at, dims, rank, index);
          for (pass = 0; pass < 2; pass++)
            {
              for (k = 0; k < product (dims, rank); k++)
                {
                  gboolean same = TRUE;

                  unravel (k, dims, rank, other);
                  for (d = 0; d < rank; d++)
                    same = same && (set[d] || other[d] == index[d]);
                  if (same && pass == 0)
                    n++, mean += in_values[k];
                  else if (same)
                    square += (in_values[k] - mean) * (in_values[k] - mean);
                }
              if (pass == 0)
                mean /= n;
            }
          square /= n;
          out_values[at] = (in_values[at] - mean) / (!variance ? 1
                                                     : outside ? sqrt (square) + 0.25
                                                               : sqrt (square + 0.25));
        }
      add_const (text, "x", "f32", rank, dims, in_values);
      if (version == 6)
        add_list (text, "a", "i64", n_axes, axes);
      g_string_append_printf (text, "%%y = MVN@%d(%%x%s) {eps=0.25, normalize_variance=%s%s%s}\nResult(%%y)\n", version,
                              version == 6 ? ", %a" : "", variance ? "true" : "false",
                              version == 6 ? (outside ? ", eps_mode=outside_sqrt" : ", eps_mode=inside_sqrt") : "",
                              version == 2 && said ? (across ? ", across_channels=true" : ", across_channels=false")
                                                   : "");
      expect_one (text, rank, dims, out_values, 1e-5, "f32");
    }
}

static void
test_gelu (void)
{
  guint round, i;

  for (round = 0; round < rounds (20); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 2 : 7;
      const gboolean tanhs = version == 7 && toss ();
      const gint64 n = 20;

      draw_reals (in_values, n);
      for (i = 0; i < n; i++)
        {
          double x = in_values[i];

          out_values[i] = tanhs ? x / 2 * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)))
                                : x / 2 * (1 + erf (x / sqrt (2)));
        }
      add_list (text, "x", "f32", n, in_values);
      g_string_append_printf (text, "%%y = Gelu@%d(%%x)%s\nResult(%%y)\n", version,
                              tanhs ? " {approximation_mode=tanh}" : version == 7 && toss () ? " {approximation_mode=erf}" : "");
      expect_one (text, 1, &n, out_values, 1e-6, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/clamp", test_clamp);
  g_test_add_func ("/opset/softmax", test_softmax);
  g_test_add_func ("/opset/batch-norm", test_batch_norm);
  g_test_add_func ("/opset/mvn", test_mvn);
  g_test_add_func ("/opset/gelu", test_gelu);

  return g_test_run ();
}
