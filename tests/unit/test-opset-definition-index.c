/* test-opset-definition-index.c - ops that gather, scatter and sort, of all opsets, against their definitions
 *
 * As test-opset-definition-elementwise.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "opset-case.h"

static double in_values[MAX_COUNT], out_values[MAX_COUNT], more_values[MAX_COUNT];

/* --- Gather, GatherND ------------------------------------------------------------ */

static void
test_gather (void)
{
  guint round;

  for (round = 0; round < rounds (150); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = (gint[]) { 1, 7, 8 }[draw (0, 2)], rank = draw (1, 4), axis = draw (0, rank - 1);
      const gint batch = version > 1 ? draw (0, axis) : 0, more = draw (0, 2), n_index = batch + more,
                 n_out = rank - 1 + more;
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
        g_string_append_printf (text, " {batch_dims=%d}",
                                version == 8 && more > 0 && toss () ? batch - n_index : batch);
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
      const gint version = toss () ? 5 : 8, rank = draw (1, 4), batch = draw (0, MIN (rank - 1, 2)),
                 tuple = draw (1, rank - batch);
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
      gint64 dims[3] = { 0 }, out_dims[3], at, index[3], i, j, k;

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
      g_string_append_printf (text,
                              "%%y = TopK@%d(%%x, %%k) {axis=%d, mode=%s, sort=%s%s%s}\nResult(%%y)\nResult(%%y.1)\n",
                              version, toss () ? axis : axis - rank, max ? "max" : "min", by_index ? "index" : "value",
                              wide ? ", index_element_type=i64" : "", version == 11 ? ", stable=true" : "");
      expect (text, 2,
              (Want[]) { { rank, out_dims, out_values, 0, "f32" },
                         { rank, out_dims, more_values, 0, wide ? "i64" : "i32" } });
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
      const gint version = toss () ? 3 : 12, rank = draw (1, 3), axis = draw (0, rank - 1),
                 reduction = version == 12 ? draw (0, 5) : 0;
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

/* --- ScatterNDUpdate ---------------------------------------------------------------- */

static double
reduce (gint   how,
        double old,
        double update)
{
  switch (how)
    {
    case 1:
      return old + update;
    case 2:
      return old - update;
    case 3:
      return old * update;
    case 4:
      return MIN (old, update);
    case 5:
      return MAX (old, update);
    default:
      return update;
    }
}

/* Slices at tuples of indices, which may be negative from opset 15 on; opset 3 replaces, from 15 on they may be
 * joined. */
static void
test_scatter_nd (void)
{
  static const char *const names[] = { "none", "sum", "sub", "prod", "min", "max" };
  guint round;

  for (round = 0; round < rounds (100); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint rank = draw (1, 4), depth = draw (1, rank), version = toss () ? 3 : 15;
      const gint how = version == 15 ? draw (0, 5) : 0;
      const gint64 n = draw (1, 3);
      gint64 dims[4], shape[5], slice;
      double tuples[12];
      gboolean taken[MAX_COUNT] = { FALSE };
      gint64 i, k;
      gint d;

      draw_dims (dims, rank, 4);
      slice = product (dims + depth, rank - depth);
      draw_reals (in_values, product (dims, rank));
      draw_reals (more_values, n * slice);
      memcpy (out_values, in_values, sizeof out_values);
      for (i = 0; i < n; i++)
        {
          gint64 at = 0;

          for (d = 0; d < depth; d++)
            {
              const gint64 index = draw (0, (gint) dims[d] - 1);

              at = at * dims[d] + index;
              tuples[i * depth + d] = (double) (version == 15 && toss () ? index - dims[d] : index);
            }
          /* The order of updates of one place is open where they replace: they agree. */
          if (how == 0 && taken[at])
            memcpy (more_values + i * slice, out_values + at * slice, (gsize) slice * sizeof (double));
          taken[at] = TRUE;
          for (k = 0; k < slice; k++)
            out_values[at * slice + k] = reduce (how, out_values[at * slice + k], more_values[i * slice + k]);
        }
      shape[0] = n;
      memcpy (shape + 1, dims + depth, (gsize) (rank - depth) * sizeof (gint64));
      add_const (text, "x", "f32", rank, dims, in_values);
      add_const (text, "i", "i64", 2, (gint64[]) { n, depth }, tuples);
      add_const (text, "xu", "f32", 1 + rank - depth, shape, more_values);
      g_string_append_printf (text, "%%y = ScatterNDUpdate@%d(%%x, %%i, %%xu)", version);
      if (how > 0 || (version == 15 && toss ()))
        g_string_append_printf (text, " {reduction=%s}", names[how]);
      g_string_append (text, "\nResult(%y)\n");
      expect_one (text, rank, dims, out_values, 1e-5, "f32");
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/gather", test_gather);
  g_test_add_func ("/opset/gather-nd", test_gather_nd);
  g_test_add_func ("/opset/top-k", test_top_k);
  g_test_add_func ("/opset/scatter-elements", test_scatter_elements);
  g_test_add_func ("/opset/scatter-nd", test_scatter_nd);

  return g_test_run ();
}
