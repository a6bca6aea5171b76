/* test-opset-definition.c - ops whose defaults or meaning differ between opsets, against their definitions
 *
 * Every op is computed here from what the specification of its opset says, over drawn attributes, and compared with what
 * the executor gives. Nothing of the executor is used: what both have in common would not be tested. An attribute that is
 * drawn to be absent has the default that the specification names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT], more_values[MAX_COUNT];

static void
draw_dims (gint64 *dims,
           gint    rank,
           gint    most)
{
  gint i;

  for (i = 0; i < rank; i++)
    dims[i] = draw (1, most);
}

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
  static const double bounds[] = { -INFINITY, -1e300, -9.3e18, -300, -5.5, -1, 0, 0.5, 5, 7.25, 200, 300, 1e19, 1e300, INFINITY, NAN };
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
        in_values[i] = t == 4 ? draw (-160, 160) / 16.0 : draw ((gint) fmax (types[t].low, -400), (gint) fmin (types[t].high, 400));
      for (i = 0; i < n; i++)
        out_values[i] = t == 4 ? (float) fmin (fmax (in_values[i], min), max) : clamp_integer (in_values[i], min, max, types[t].low, types[t].high);
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
      gint64 dims[4], at, k, index[4], other[4];
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

/* --- Gather, GatherND ------------------------------------------------------------ */

static void
test_gather (void)
{
  guint round;

  for (round = 0; round < rounds (150); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = (gint[]) { 1, 7, 8 }[draw (0, 2)], rank = draw (1, 4), axis = draw (0, rank - 1);
      const gint batch = version > 1 ? draw (0, axis) : 0, more = draw (0, 2), n_index = batch + more, n_out = rank - 1 + more;
      gint64 dims[8], index_dims[8], out_dims[8], at, k[8], from[8], to[8];
      gint i;

      draw_dims (dims, rank, 4);
      draw_dims (index_dims, n_index, 3);
      memcpy (index_dims, dims, (gsize) batch * sizeof *dims);
      memcpy (out_dims, dims, (gsize) axis * sizeof *dims);
      memcpy (out_dims + axis, index_dims + batch, (gsize) more * sizeof *dims);
      memcpy (out_dims + axis + more, dims + axis + 1, (gsize) (rank - axis - 1) * sizeof *dims);
      draw_reals (in_values, product (dims, rank));
      for (at = 0; at < product (index_dims, n_index); at++)
        more_values[at] = draw (version == 8 ? -(gint) dims[axis] : 0, (gint) dims[axis] - 1);
      for (at = 0; at < product (out_dims, n_out); at++)
        {
          unravel (at, out_dims, n_out, to);
          memcpy (k, to, (gsize) batch * sizeof *k);
          memcpy (k + batch, to + axis, (gsize) more * sizeof *k);
          for (i = 0; i < axis; i++)
            from[i] = to[i];
          from[axis] = (gint64) more_values[ravel (k, index_dims, n_index)];
          from[axis] += from[axis] < 0 ? dims[axis] : 0;
          for (i = axis + 1; i < rank; i++)
            from[i] = to[i - 1 + more];
          out_values[at] = in_values[ravel (from, dims, rank)];
        }
      add_const (text, "x", "f32", rank, dims, in_values);
      add_const (text, "xi", toss () ? "i32" : "i64", n_index, index_dims, more_values);
      add_scalar (text, "a", "i64", toss () ? axis : axis - rank);
      g_string_append_printf (text, "%%y = Gather@%d(%%x, %%xi, %%a)", version);
      if (batch > 0)
        g_string_append_printf (text, " {batch_dims=%d}", version == 8 && more > 0 && toss () ? batch - n_index : batch);
      g_string_append (text, "\nResult(%y)\n");
      expect_one (text, n_out, out_dims, out_values, 0, "f32");
    }
}

/* opset5 makes one axis of the batch, opset8 leaves its axes. */
static void
test_gather_nd (void)
{
  guint round;

  for (round = 0; round < rounds (100); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 5 : 8, rank = draw (1, 4), batch = draw (0, MIN (rank - 1, 2)), tuple = draw (1, rank - batch);
      const gint more = draw (0, 1), n_index = batch + more + 1, n_out = batch + more + rank - batch - tuple;
      gint64 dims[8], index_dims[8], out_dims[8], merged[8], at, to[8], k[8], from[8];
      gint i, n_merged = 0;

      draw_dims (dims, rank, 3);
      draw_dims (index_dims, n_index, 3);
      memcpy (index_dims, dims, (gsize) batch * sizeof *dims);
      index_dims[n_index - 1] = tuple;
      memcpy (out_dims, index_dims, (gsize) (batch + more) * sizeof *dims);
      memcpy (out_dims + batch + more, dims + batch + tuple, (gsize) (rank - batch - tuple) * sizeof *dims);
      draw_reals (in_values, product (dims, rank));
      for (at = 0; at < product (index_dims, n_index); at++)
        more_values[at] = draw (0, (gint) dims[batch + at % tuple] - 1);
      for (at = 0; at < product (out_dims, n_out); at++)
        {
          unravel (at, out_dims, n_out, to);
          memcpy (k, to, (gsize) (batch + more) * sizeof *k);
          memcpy (from, to, (gsize) batch * sizeof *k);
          for (i = 0; i < tuple; i++)
            {
              k[n_index - 1] = i;
              from[batch + i] = (gint64) more_values[ravel (k, index_dims, n_index)];
            }
          for (i = batch + tuple; i < rank; i++)
            from[i] = to[i - tuple + more];
          out_values[at] = in_values[ravel (from, dims, rank)];
        }
      if (version == 5 && batch > 1)
        merged[n_merged++] = product (out_dims, batch);
      for (i = n_merged > 0 ? batch : 0; i < n_out; i++)
        merged[n_merged++] = out_dims[i];
      add_const (text, "x", "f32", rank, dims, in_values);
      add_const (text, "xi", "i64", n_index, index_dims, more_values);
      g_string_append_printf (text, "%%y = GatherND@%d(%%x, %%xi)", version);
      if (batch > 0 || toss ())
        g_string_append_printf (text, " {batch_dims=%d}", batch);
      g_string_append (text, "\nResult(%y)\n");
      expect_one (text, n_merged, merged, out_values, 0, "f32");
    }
}

/* --- TopK ---------------------------------------------------------------------- */

static void
test_top_k (void)
{
  guint round;

  for (round = 0; round < rounds (150); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = (gint[]) { 1, 3, 11 }[draw (0, 2)], rank = draw (1, 3), axis = draw (0, rank - 1);
      const gboolean max = toss (), by_index = toss (), wide = toss ();
      gint64 dims[3], out_dims[3], at, index[3], i, j, k;

      draw_dims (dims, rank, 6);
      k = draw (1, (gint) dims[axis]);
      memcpy (out_dims, dims, sizeof dims);
      out_dims[axis] = k;
      for (at = 0; at < product (dims, rank); at++)
        in_values[at] = draw (-3, 3);
      for (at = 0; at < product (out_dims, rank); at++)
        {
          gint64 best[8], n = dims[axis];

          /* Equal elements in the order that they have; then the first k, by value or by place. */
          unravel (at, out_dims, rank, index);
          for (i = 0; i < n; i++)
            best[i] = i;
          for (i = 1; i < n; i++)
            for (j = i; j > 0; j--)
              {
                gint64 a[3], b[3], swap = best[j];

                memcpy (a, index, sizeof a);
                memcpy (b, index, sizeof b);
                a[axis] = best[j - 1];
                b[axis] = best[j];
                if (max ? in_values[ravel (a, dims, rank)] >= in_values[ravel (b, dims, rank)]
                        : in_values[ravel (a, dims, rank)] <= in_values[ravel (b, dims, rank)])
                  break;
                best[j] = best[j - 1];
                best[j - 1] = swap;
              }
          for (i = 0; by_index && i < k; i++)
            for (j = 0; j + 1 < k - i; j++)
              if (best[j] > best[j + 1])
                {
                  gint64 swap = best[j];

                  best[j] = best[j + 1];
                  best[j + 1] = swap;
                }
          more_values[at] = (double) best[index[axis]];
          index[axis] = best[index[axis]];
          out_values[at] = in_values[ravel (index, dims, rank)];
        }
      add_const (text, "x", "f32", rank, dims, in_values);
      add_scalar (text, "k", "i64", (double) k);
      g_string_append_printf (text, "%%y = TopK@%d(%%x, %%k) {axis=%d, mode=%s, sort=%s%s%s}\nResult(%%y)\nResult(%%y.1)\n", version,
                              toss () ? axis : axis - rank, max ? "max" : "min", by_index ? "index" : "value",
                              wide ? ", index_element_type=i64" : "", version == 11 ? ", stable=true" : "");
      expect (text, 2, (Want[]) { { rank, out_dims, out_values, 0, "f32" }, { rank, out_dims, more_values, 0, wide ? "i64" : "i32" } });
    }
}

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

static void
test_pools (void)
{
  static const char *const roundings[] = { "floor", "ceil", "ceil_torch" };
  guint round;

  for (round = 0; round < rounds (200); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gboolean max = toss (), exclude = toss ();
      const gint version = max ? (gint[]) { 1, 8, 14 }[draw (0, 2)] : (gint[]) { 1, 14, 16 }[draw (0, 2)];
      const gboolean dilates = version == 16 || (max && version >= 8);
      const gint rounding = draw (0, version >= 14 ? 2 : 1), axis = max && version >= 8 ? draw (0, 3) : 0;
      gint64 dims[4], out_dims[4], index[4], at, y, x;
      double kernel[2], stride[2], begin[2], end[2], dilation[2] = { 1, 1 };
      gint d;

      draw_dims (dims, 4, 3);
      for (d = 0; d < 2; d++)
        {
          dims[2 + d] = draw (5, 8);
          kernel[d] = draw (1, 3);
          stride[d] = draw (1, 3);
          dilation[d] = dilates && toss () ? 2 : 1;
          begin[d] = draw (0, (gint) kernel[d] - 1);
          end[d] = draw (0, (gint) kernel[d] - 1);
          out_dims[2 + d] = pool_length (dims[2 + d], (gint64) kernel[d], (gint64) stride[d], (gint64) dilation[d], (gint64) begin[d],
                                         (gint64) end[d], rounding);
        }
      memcpy (out_dims, dims, 2 * sizeof *dims);
      draw_reals (in_values, product (dims, 4));
      for (at = 0; at < product (out_dims, 4); at++)
        {
          double best = -INFINITY, sum = 0, inside = 0, padded = 0, place = 0;

          unravel (at, out_dims, 4, index);
          for (y = 0; y < (gint64) kernel[0]; y++)
            for (x = 0; x < (gint64) kernel[1]; x++)
              {
                gint64 from[4] = { index[0], index[1], index[2] * (gint64) stride[0] - (gint64) begin[0] + y * (gint64) dilation[0],
                                   index[3] * (gint64) stride[1] - (gint64) begin[1] + x * (gint64) dilation[1] };

                padded += from[2] < dims[2] + (gint64) end[0] && from[3] < dims[3] + (gint64) end[1];
                if (from[2] < 0 || from[3] < 0 || from[2] >= dims[2] || from[3] >= dims[3])
                  continue;
                inside++;
                sum += in_values[ravel (from, dims, 4)];
                if (in_values[ravel (from, dims, 4)] > best)
                  {
                    best = in_values[ravel (from, dims, 4)];
                    place = (double) (ravel (from, dims, 4) % product (dims + axis, 4 - axis));
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
      append_list (text, "kernel", 2, kernel);
      append_list (text, ", strides", 2, stride);
      append_list (text, ", pads_begin", 2, begin);
      append_list (text, ", pads_end", 2, end);
      if (dilation[0] + dilation[1] > 2)
        append_list (text, ", dilations", 2, dilation);
      if (rounding > 0 || toss ())
        g_string_append_printf (text, ", rounding_type=%s", roundings[rounding]);
      if (axis > 0)
        g_string_append_printf (text, ", axis=%d", axis);
      if (!max)
        g_string_append_printf (text, ", exclude-pad=%s", exclude ? "true" : "false");
      if (max && version >= 8)
        {
          const gboolean narrow = toss ();

          g_string_append_printf (text, "%s} : f32[...], %s[...]\nResult(%%y)\nResult(%%y.1)\n", narrow ? ", index_element_type=i32" : "",
                                  narrow ? "i32" : "i64");
          expect (text, 2, (Want[]) { { 4, out_dims, out_values, 1e-6, "f32" }, { 4, out_dims, more_values, 0, narrow ? "i32" : "i64" } });
        }
      else
        {
          g_string_append (text, "}\nResult(%y)\n");
          expect_one (text, 4, out_dims, out_values, 1e-6, "f32");
        }
    }
}

/* --- Pad, Broadcast, ShapeOf, Range -------------------------------------------- */

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
      g_string_append_printf (text, "%%y = Pad@%d(%%x, %%b, %%e%s) {pad_mode=%s}\nResult(%%y)\n", version, mode == 0 && value != 0 ? ", %xv" : "",
                              modes[mode]);
      expect_one (text, rank, out_dims, out_values, 0, "f32");
    }
}

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
      g_string_append_printf (text, "%%y = ShapeOf@%d(%%x)%s\nResult(%%y)\n", version, narrow ? " {output_type=i32}" : "");
      expect_one (text, 1, &two, (double[]) { (double) dims[0], (double) dims[1] }, 0, narrow ? "i32" : "i64");
    }
  for (round = 0; round < rounds (60); round++)
    {
      static const char *const types[] = { "i32", "i64", "f32" };
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 4, from = draw (-5, 5), step = toss () ? draw (1, 3) : draw (-3, -1), to = draw (-12, 12);
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

/* --- ScatterElementsUpdate ------------------------------------------------------- */

static void
test_scatter_elements (void)
{
  static const char *const names[] = { "none", "sum", "prod", "min", "max", "mean" };
  guint round;

  for (round = 0; round < rounds (150); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 3 : 12, rank = draw (1, 3), axis = draw (0, rank - 1), reduction = version == 12 ? draw (0, 5) : 0;
      const gboolean first = version == 3 || toss ();
      gint64 dims[3], index_dims[3], at, index[3], hits[MAX_COUNT];
      double updates[128], indices[128];
      gint d;

      draw_dims (dims, rank, 4);
      for (d = 0; d < rank; d++)
        index_dims[d] = draw (1, (gint) dims[d]);
      draw_reals (in_values, product (dims, rank));
      draw_reals (updates, product (index_dims, rank));
      for (at = 0; at < product (dims, rank); at++)
        {
          out_values[at] = in_values[at];
          hits[at] = first;
        }
      for (at = 0; at < product (index_dims, rank); at++)
        {
          gint64 to;

          indices[at] = draw (0, (gint) dims[axis] - 1);
          unravel (at, index_dims, rank, index);
          index[axis] = (gint64) indices[at];
          to = ravel (index, dims, rank);
          if (reduction == 0 || hits[to] == 0)
            out_values[to] = updates[at];
          else if (reduction == 2)
            out_values[to] *= updates[at];
          else if (reduction == 3 || reduction == 4)
            out_values[to] = reduction == 3 ? fmin (out_values[to], updates[at]) : fmax (out_values[to], updates[at]);
          else
            out_values[to] += updates[at];
          hits[to]++;
        }
      for (at = 0; at < product (dims, rank) && reduction == 5; at++)
        if (hits[at] > first)
          out_values[at] /= (double) hits[at];
      add_const (text, "x", "f32", rank, dims, in_values);
      add_const (text, "i", "i64", rank, index_dims, indices);
      add_const (text, "xu", "f32", rank, index_dims, updates);
      add_scalar (text, "a", "i64", axis);
      g_string_append_printf (text, "%%y = ScatterElementsUpdate@%d(%%x, %%i, %%xu, %%a)", version);
      if (version == 12 && (reduction > 0 || toss () || !first))
        g_string_append_printf (text, " {reduction=%s%s}", names[reduction], first ? "" : ", use_init_val=false");
      g_string_append (text, "\nResult(%y)\n");
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
          out_values[at] = (in_values[at] - mean) / (!variance ? 1 : outside ? sqrt (square) + 0.25 : sqrt (square + 0.25));
        }
      add_const (text, "x", "f32", rank, dims, in_values);
      if (version == 6)
        add_list (text, "a", "i64", n_axes, axes);
      g_string_append_printf (text, "%%y = MVN@%d(%%x%s) {eps=0.25, normalize_variance=%s%s%s}\nResult(%%y)\n", version,
                              version == 6 ? ", %a" : "", variance ? "true" : "false",
                              version == 6 ? (outside ? ", eps_mode=outside_sqrt" : ", eps_mode=inside_sqrt") : "",
                              version == 2 && said ? (across ? ", across_channels=true" : ", across_channels=false") : "");
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

          out_values[i] = tanhs ? x / 2 * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x))) : x / 2 * (1 + erf (x / sqrt (2)));
        }
      add_list (text, "x", "f32", n, in_values);
      g_string_append_printf (text, "%%y = Gelu@%d(%%x)%s\nResult(%%y)\n", version,
                              tanhs ? " {approximation_mode=tanh}" : version == 7 && toss () ? " {approximation_mode=erf}" : "");
      expect_one (text, 1, &n, out_values, 1e-6, "f32");
    }
}

/* --- LSTMCell -------------------------------------------------------------------- */

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* Gates in the order forget, input, cell, output. */
static void
test_lstm_cell (void)
{
  enum { BATCH = 2, IN = 3, HIDDEN = 2 };
  guint round;

  for (round = 0; round < rounds (30); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 4;
      const gboolean biased = toss ();
      double x[BATCH * IN], h[BATCH * HIDDEN], c[BATCH * HIDDEN], w[4 * HIDDEN * IN], r[4 * HIDDEN * HIDDEN], b[4 * HIDDEN];
      const gint64 state[2] = { BATCH, HIDDEN };
      gint n, j, k, g;

      draw_reals (x, BATCH * IN);
      draw_reals (h, BATCH * HIDDEN);
      draw_reals (c, BATCH * HIDDEN);
      draw_reals (w, 4 * HIDDEN * IN);
      draw_reals (r, 4 * HIDDEN * HIDDEN);
      draw_reals (b, 4 * HIDDEN);
      for (n = 0; n < BATCH; n++)
        for (j = 0; j < HIDDEN; j++)
          {
            double gate[4];

            for (g = 0; g < 4; g++)
              {
                gate[g] = biased ? b[g * HIDDEN + j] : 0;
                for (k = 0; k < IN; k++)
                  gate[g] += x[n * IN + k] * w[(g * HIDDEN + j) * IN + k];
                for (k = 0; k < HIDDEN; k++)
                  gate[g] += h[n * HIDDEN + k] * r[(g * HIDDEN + j) * HIDDEN + k];
              }
            more_values[n * HIDDEN + j] = sigmoid (gate[0]) * c[n * HIDDEN + j] + sigmoid (gate[1]) * tanh (gate[2]);
            out_values[n * HIDDEN + j] = sigmoid (gate[3]) * tanh (more_values[n * HIDDEN + j]);
          }
      add_const (text, "x", "f32", 2, (gint64[]) { BATCH, IN }, x);
      add_const (text, "xh", "f32", 2, state, h);
      add_const (text, "xc", "f32", 2, state, c);
      add_const (text, "w", "f32", 2, (gint64[]) { 4 * HIDDEN, IN }, w);
      add_const (text, "r", "f32", 2, (gint64[]) { 4 * HIDDEN, HIDDEN }, r);
      add_list (text, "b", "f32", 4 * HIDDEN, b);
      g_string_append_printf (text, "%%y = LSTMCell@%d(%%x, %%xh, %%xc, %%w, %%r%s) {hidden_size=%d}\nResult(%%y)\nResult(%%y.1)\n", version,
                              biased ? ", %b" : "", HIDDEN);
      expect (text, 2, (Want[]) { { 2, state, out_values, 1e-5, "f32" }, { 2, state, more_values, 1e-5, "f32" } });
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/clamp", test_clamp);
  g_test_add_func ("/opset/softmax", test_softmax);
  g_test_add_func ("/opset/gather", test_gather);
  g_test_add_func ("/opset/gather-nd", test_gather_nd);
  g_test_add_func ("/opset/top-k", test_top_k);
  g_test_add_func ("/opset/pools", test_pools);
  g_test_add_func ("/opset/pad", test_pad);
  g_test_add_func ("/opset/broadcast", test_broadcast);
  g_test_add_func ("/opset/shape-of-and-range", test_shape_of_and_range);
  g_test_add_func ("/opset/scatter-elements", test_scatter_elements);
  g_test_add_func ("/opset/batch-norm", test_batch_norm);
  g_test_add_func ("/opset/mvn", test_mvn);
  g_test_add_func ("/opset/gelu", test_gelu);
  g_test_add_func ("/opset/lstm-cell", test_lstm_cell);

  return g_test_run ();
}
