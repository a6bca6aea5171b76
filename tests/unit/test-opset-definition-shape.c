/* test-opset-definition-shape.c - ops that make or change shapes, of all opsets, against their definitions
 *
 * As test-opset-definition-elementwise.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT];

/* --- Broadcast, ShapeOf, Range --------------------------------------------------- */

static void
test_broadcast (void)
{
  guint round;

  for (round = 0; round < rounds (100); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 3, mode = draw (0, version == 3 ? 2 : 1), n = draw (1, 4), rank = draw (1, n);
      gint64 dims[4], out_dims[4], at, index[4], from[4];
      double shape[4], mapping[4];
      gint d, next = 0;

      draw_dims (out_dims, n, 4);
      for (d = 0; d < rank; d++)
        {
          mapping[d] = mode == 1 ? draw (next, n - rank + d) : n - rank + d;
          next = (gint) mapping[d] + 1;
          dims[d] = toss () ? 1 : out_dims[(gint) mapping[d]];
        }
      for (d = 0; d < n; d++)
        shape[d] = (double) out_dims[d];
      /* Both ways: where the data is longer, the wish may be 1. */
      for (d = 0; d < rank && mode == 2; d++)
        if (dims[d] == out_dims[(gint) mapping[d]] && toss ())
          shape[(gint) mapping[d]] = 1;
      draw_reals (in_values, product (dims, rank));
      for (at = 0; at < product (out_dims, n); at++)
        {
          unravel (at, out_dims, n, index);
          for (d = 0; d < rank; d++)
            from[d] = dims[d] == 1 ? 0 : index[(gint) mapping[d]];
          out_values[at] = in_values[ravel (from, dims, rank)];
        }
      add_const (text, "x", "f32", rank, dims, in_values);
      add_list (text, "s", "i64", n, shape);
      if (mode == 1)
        add_list (text, "m", "i64", rank, mapping);
      g_string_append_printf (text, "%%y = Broadcast@%d(%%x, %%s%s)%s\nResult(%%y)\n", version, mode == 1 ? ", %m" : "",
                              mode == 1 ? " {mode=explicit}" : mode == 2 ? " {mode=bidirectional}" : toss () ? " {mode=numpy}" : "");
      expect_one (text, n, out_dims, out_values, 0, "f32");
    }
}

static void
test_shape_of_and_range (void)
{
  guint round, i;

  for (round = 0; round < rounds (40); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint64 dims[2] = { draw (1, 4), draw (1, 4) }, two = 2;
      const gint version = toss () ? 1 : 3;
      const gboolean narrow = version == 3 && toss ();

      draw_reals (in_values, dims[0] * dims[1]);
      add_const (text, "x", "f32", 2, dims, in_values);
      g_string_append_printf (text, "%%y = ShapeOf@%d(%%x)%s\nResult(%%y)\n", version,
                              narrow ? " {output_type=i32}" : "");
      expect_one (text, 1, &two, (double[]) { (double) dims[0], (double) dims[1] }, 0, narrow ? "i32" : "i64");
    }
  for (round = 0; round < rounds (60); round++)
    {
      static const char *const types[] = { "i32", "i64", "f32" };
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 4, from = draw (-5, 5), step = toss () ? draw (1, 3) : draw (-3, -1),
                 to = draw (-12, 12);
      const char *in = types[draw (0, 2)], *out = version == 1 ? in : types[draw (0, 2)];
      const gint64 n = MAX (0, (to - from + step - (step > 0 ? 1 : -1)) / step);

      for (i = 0; i < n; i++)
        out_values[i] = from + (double) i * step;
      add_scalar (text, "a", in, from);
      add_scalar (text, "b", in, to);
      add_scalar (text, "c", in, step);
      g_string_append_printf (text, "%%y = Range@%d(%%a, %%b, %%c)", version);
      if (version == 4)
        g_string_append_printf (text, " {output_type=%s}", out);
      g_string_append (text, "\nResult(%y)\n");
      expect_one (text, 1, &n, out_values, 0, out);
    }
}

/* --- Squeeze ----------------------------------------------------------------------- */

/* Without axes every length of one goes. Opset 15: allow_axis_skip may be given, and false is what opset 1 does. */
static void
test_squeeze (void)
{
  guint round;

  for (round = 0; round < rounds (100); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint rank = draw (1, 5), version = toss () ? 1 : 15;
      const gboolean all = toss ();
      gint64 dims[5], left[5];
      double axes[10];
      gint d, kept = 0, n = 0;

      for (d = 0; d < rank; d++)
        {
          gboolean goes;

          dims[d] = toss () ? 1 : draw (2, 3);
          goes = dims[d] == 1 && (all || toss ());
          if (goes && !all)
            axes[n++] = toss () ? d : d - rank;
          if (!goes)
            left[kept++] = dims[d];
        }
      /* An axis may be named twice; no axes at all are all of them. */
      if (n > 0 && toss ())
        {
          axes[n] = axes[0];
          n++;
        }
      if (n == 0)
        for (d = kept = 0; d < rank; d++)
          if (dims[d] != 1)
            left[kept++] = dims[d];
      draw_reals (in_values, product (dims, rank));
      add_const (text, "x", "f32", rank, dims, in_values);
      if (n > 0)
        add_list (text, "a", "i64", n, axes);
      g_string_append_printf (text, "%%y = Squeeze@%d(%%x%s)\nResult(%%y)\n", version, n > 0 ? ", %a" : "");
      expect_one (text, kept, left, in_values, 0, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/broadcast", test_broadcast);
  g_test_add_func ("/opset/shape-of-and-range", test_shape_of_and_range);
  g_test_add_func ("/opset/squeeze", test_squeeze);

  return g_test_run ();
}
