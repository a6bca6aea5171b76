/* test-exec-signal.c - transforms, bags, segments, slices, attention against their definitions
 *
 * Each op is computed a second time here by the formula of its specification, element by element, on numbers drawn from
 * a seed. Sums are in f64 on both sides; what f32 holds of the inputs and the result bounds the difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <complex.h>
#include <math.h>
#include <string.h>

#include <glib/gstdio.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>


#define BOUND 1e-5

/* --- running --- */

static char *folder;

typedef struct
{
  LptTensor *in[6];
  guint      n;
  LptNode   *node;
  LptGraph  *graph;
} Case;

static void
add_input (Case     *c,
           LptTensor *tensor)
{
  c->in[c->n++] = tensor;
}

static LptTensor *
shaped (LptTensor  *tensor,
        const char *dims)
{
  LptShape shape;
  LptTensor *result;

  g_assert_true (lpt_shape_from_string (dims, &shape, NULL));
  result = lpt_tensor_reshape (tensor, &shape, NULL);
  g_assert_nonnull (result);
  lpt_tensor_unref (tensor);

  return result;
}

/* Numbers in [-1, 1) of a shape such as "2,3". */
static LptTensor *
draw (const char *dims)
{
  LptShape shape;
  gint64 n = 0;
  g_autofree double *values = NULL;
  LptTensor *tensor;

  g_assert_true (lpt_shape_from_string (dims, &shape, NULL) && lpt_shape_count (&shape, &n));
  values = g_new (double, n + 1);
  for (gint64 i = 0; i < n; i++)
    values[i] = g_test_rand_double_range (-1, 1);
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);

  return tensor;
}

static LptTensor *
ints (guint n, const gint64 *values)
{
  return lpt_tensor_vector_i64 (n, values);
}

static LptTensor *
whole (gint64 value)
{
  return shaped (lpt_tensor_vector_i64 (1, &value), "");
}

/* Runs @op on the case's inputs, integers and booleans as constants, real numbers as parameters; @set sets
 * attributes. */
static LptTensor *
run (Case  *c,
     LptOp  op,
     void (*set) (LptNode *node))
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_new ("g"), again = NULL;
  g_autofree char *text = NULL, *text2 = NULL, *xml = NULL, *bin = NULL;
  LptValue *values[6] = { NULL };
  LptNode *node;
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  LptTensor *result;
  guint k = 0;

  for (guint i = 0; i < c->n; i++)
    {
      g_autofree char *name = g_strdup_printf ("i%u", i);

      if (c->in[i] == NULL)
        continue;
      if (!lpt_dtype_is_real (lpt_tensor_dtype (c->in[i])))
        node = lpt_graph_add_const (graph, name, c->in[i]);
      else
        {
          node = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, name, 0, NULL);
          LPT_ATTRS (node, LptParameterAttrs)->shape = *lpt_tensor_shape (c->in[i]);
          LPT_ATTRS (node, LptParameterAttrs)->element_type = lpt_tensor_dtype (c->in[i]);
        }
      values[i] = lpt_node_out (node);
    }
  node = lpt_graph_add (graph, op, 0, "y", c->n, values);
  if (set != NULL)
    set (node);
  values[0] = lpt_node_out (node);
  lpt_graph_add (graph, LPT_OP_RESULT, 0, "r", 1, values);
  g_assert_true (lpt_graph_infer (graph, &error));
  g_assert_no_error (error);

  /* The text form keeps all of it. */
  text = lpt_graph_to_text (graph, 0);
  again = lpt_graph_from_text (text, -1, NULL, &error);
  g_assert_no_error (error);
  text2 = lpt_graph_to_text (again, 0);
  g_assert_cmpstr (text, ==, text2);

  /* So does an IR. */
  xml = g_build_filename (folder, "m.xml", NULL);
  bin = g_build_filename (folder, "m.bin", NULL);
  g_assert_true (lpt_openvino_save (graph, xml, bin, &error));
  g_clear_pointer (&again, lpt_graph_free);
  again = lpt_openvino_load (xml, bin, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_shape_equal (&lpt_node_in (g_ptr_array_index (again->results, 0), 0)->shape,
                                  &lpt_node_out (node)->shape));
  for (const LptAttrField *field = node->info->attrs; field->name != NULL; field++)
    if (lpt_attr_field_applies (field, node->opset))
      {
        LptNode *read = lpt_node_in (g_ptr_array_index (again->results, 0), 0)->producer;

        g_assert_true (lpt_attr_equal (field, node->attrs, read->attrs));
      }

  plan = lpt_plan_new (again, NULL, LPT_PLAN_REFERENCE, &error);
  g_assert_no_error (error);
  context = lpt_plan_context_new (plan, 1, &error);
  for (guint i = 0; i < c->n; i++)
    if (c->in[i] != NULL && lpt_dtype_is_real (lpt_tensor_dtype (c->in[i])))
      g_assert_true (lpt_plan_context_set_input (context, k++, c->in[i], &error));
  g_assert_true (lpt_plan_run (plan, context, &error));
  result = lpt_plan_context_output (context, 0, &error);
  g_assert_no_error (error);

  return result;
}

static void
done (Case      *c,
      LptTensor *result)
{
  for (guint i = 0; i < c->n; i++)
    g_clear_pointer (&c->in[i], lpt_tensor_unref);
  c->n = 0;
  lpt_tensor_unref (result);
}

static double
at (LptTensor *tensor,
    gint64     i)
{
  return lpt_tensor_get_f64 (tensor, i);
}

static void
near_to (double is,
         double wanted)
{
  if (!(fabs (is - wanted) <= BOUND * (1 + fabs (wanted))))
    g_error ("%.9g where %.9g is wanted", is, wanted);
}

static void
has_shape (LptTensor  *tensor,
           const char *dims)
{
  g_autofree char *text = lpt_shape_to_string (lpt_tensor_shape (tensor));

  g_assert_cmpstr (text, ==, dims);
}

/* --- Fourier --- */

/* Element (k, l) of the transform of a field of @n by @m whose elements are x[j * m + i], by the double sum. */
static double complex
sum2 (const double complex *x,
      gint64                n,
      gint64                m,
      gint64                k,
      gint64                l,
      int                   sign)
{
  double complex sum = 0;

  for (gint64 j = 0; j < n; j++)
    for (gint64 i = 0; i < m; i++)
      sum += x[j * m + i] *
             cexp (sign * 2 * G_PI * I * ((double) (j * k) / (double) n + (double) (i * l) / (double) m));

  return sign > 0 ? sum / (double) (n * m) : sum;
}

/* Two axes in any order, sizes that cut and fill. */
static void
test_dft (void)
{
  static const struct { gint64 axes[2]; gint64 sizes[2]; } cases[] = {
    { { 1, 2 }, { -1, -1 } }, { { -1, 1 }, { 7, 4 } }, { { 2, 1 }, { 3, 8 } }, { { 1, -1 }, { 1, 12 } },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    for (int inverse = 0; inverse < 2; inverse++)
      {
        Case c = { .n = 0 };
        g_autofree char *dims = NULL;
        gint64 size[3] = { 2, 5, 6 }, old[3] = { 2, 5, 6 };
        g_autofree double complex *x = NULL;
        LptTensor *y;

        for (guint i = 0; i < 2; i++)
          if (cases[k].sizes[i] >= 0)
            size[cases[k].axes[i] < 0 ? cases[k].axes[i] + 3 : cases[k].axes[i]] = cases[k].sizes[i];
        add_input (&c, draw ("2,5,6,2"));
        add_input (&c, ints (2, cases[k].axes));
        add_input (&c, ints (2, cases[k].sizes));
        y = run (&c, inverse ? LPT_OP_IDFT : LPT_OP_DFT, NULL);
        dims = g_strdup_printf ("2,%d,%d,2", (int) size[1], (int) size[2]);
        has_shape (y, dims);
        x = g_new (double complex, size[1] * size[2]);
        for (gint64 b = 0; b < 2; b++)
          {
            for (gint64 j = 0; j < size[1]; j++)
              for (gint64 i = 0; i < size[2]; i++)
                {
                  gint64 from = 2 * ((b * old[1] + j) * old[2] + i);

                  x[j * size[2] + i] = j < old[1] && i < old[2] ? at (c.in[0], from) + at (c.in[0], from + 1) * I : 0;
                }
            for (gint64 j = 0; j < size[1]; j++)
              for (gint64 i = 0; i < size[2]; i++)
                {
                  double complex wanted = sum2 (x, size[1], size[2], j, i, inverse ? 1 : -1);
                  gint64 to = 2 * ((b * size[1] + j) * size[2] + i);

                  near_to (at (y, to), creal (wanted));
                  near_to (at (y, to + 1), cimag (wanted));
                }
          }
        done (&c, y);
      }
}

/* RDFT is half of the DFT along its last axis; IRDFT brings the real field back, for odd lengths with its size. */
static void
test_rdft (void)
{
  for (gint64 m = 1; m < 9; m++)
    for (gint64 filled = m; filled < m + 3; filled++)
      {
        static const gint64 axes[2] = { 0, 1 };
        gint64 sizes[2] = { 4, filled };
        Case c = { .n = 0 }, back = { .n = 0 };
        g_autofree char *dims = g_strdup_printf ("3,%d", (int) m),
                        *out = g_strdup_printf ("4,%d,2", (int) filled / 2 + 1);
        g_autofree char *real = g_strdup_printf ("4,%d", (int) filled);
        g_autofree double complex *x = g_new (double complex, 4 * filled);
        LptTensor *y, *z;

        add_input (&c, draw (dims));
        add_input (&c, ints (2, axes));
        add_input (&c, ints (2, sizes));
        y = run (&c, LPT_OP_RDFT, NULL);
        has_shape (y, out);
        for (gint64 j = 0; j < 4; j++)
          for (gint64 i = 0; i < filled; i++)
            x[j * filled + i] = j < 3 && i < m ? at (c.in[0], j * m + i) : 0;
        for (gint64 j = 0; j < 4; j++)
          for (gint64 i = 0; i < filled / 2 + 1; i++)
            {
              double complex wanted = sum2 (x, 4, filled, j, i, -1);

              near_to (at (y, 2 * (j * (filled / 2 + 1) + i)), creal (wanted));
              near_to (at (y, 2 * (j * (filled / 2 + 1) + i) + 1), cimag (wanted));
            }

        add_input (&back, lpt_tensor_ref (y));
        add_input (&back, ints (2, axes));
        if (filled % 2 != 0 || filled == 2)
          add_input (&back, ints (2, sizes));
        z = run (&back, LPT_OP_IRDFT, NULL);
        has_shape (z, real);
        for (gint64 i = 0; i < 4 * filled; i++)
          near_to (at (z, i), creal (x[i]));
        done (&back, z);
        done (&c, y);
      }
}

static void
exchanged (LptNode *node)
{
  LPT_ATTRS (node, LptStftAttrs)->transpose_frames = TRUE;
}

static void
centered (LptNode *node)
{
  LPT_ATTRS (node, LptIstftAttrs)->center = TRUE;
}

static void
normalized (LptNode *node)
{
  LPT_ATTRS (node, LptIstftAttrs)->normalized = TRUE;
}

/* The specification's example: 56 samples, frames of 11 every 3, a window of 7; and the way back. */
static void
test_stft (void)
{
  for (int mode = 0; mode < 4; mode++)
    {
      gint64 size = 11, step = 3, length = 56, frames = 16, bins = 6, batch = 2;
      Case c = { .n = 0 }, back = { .n = 0 };
      double window[11] = { 0 };
      LptTensor *y, *z;

      add_input (&c, draw ("2,56"));
      add_input (&c, draw ("7"));
      add_input (&c, whole (size));
      add_input (&c, whole (step));
      for (gint64 i = 0; i < 7; i++)
        window[i + 2] = at (c.in[1], i);
      y = run (&c, LPT_OP_STFT, mode == 0 ? NULL : exchanged);
      has_shape (y, mode == 0 ? "2,16,6,2" : "2,6,16,2");
      for (gint64 b = 0; b < batch; b++)
        for (gint64 t = 0; t < frames; t++)
          for (gint64 k = 0; k < bins; k++)
            {
              gint64 to = 2 * (b * frames * bins + (mode == 0 ? t * bins + k : k * frames + t));
              double complex wanted = 0;

              for (gint64 i = 0; i < size; i++)
                wanted += window[i] * at (c.in[0], b * length + t * step + i) *
                          cexp (-2 * G_PI * I * (double) (i * k) / (double) size);
              near_to (at (y, to), creal (wanted));
              near_to (at (y, to + 1), cimag (wanted));
            }
      if (mode > 0)
        {
          gint64 margin = mode == 2 ? 5 : 0, n = mode == 2 ? 45 : mode == 3 ? 60 : 56;

          add_input (&back, lpt_tensor_ref (y));
          add_input (&back, lpt_tensor_ref (c.in[1]));
          add_input (&back, whole (size));
          add_input (&back, whole (step));
          if (mode == 3)
            add_input (&back, whole (n));
          z = run (&back, LPT_OP_ISTFT, mode == 2 ? centered : mode == 3 ? normalized : NULL);
          has_shape (z, mode == 1 ? "2,56" : mode == 2 ? "2,45" : "2,60");
          for (gint64 b = 0; b < batch; b++)
            for (gint64 i = 0; i < n; i++)
              {
                double weight = 0, scale = mode == 3 ? sqrt (11) : 1;
                gint64 from = i + margin;

                for (gint64 t = 0; t < frames; t++)
                  if (from >= t * step && from < t * step + size)
                    weight += window[from - t * step];
                /* A sum of windows near 0 makes the quotient uncertain. */
                if (weight == 0 || from >= length)
                  near_to (at (z, b * n + i), 0);
                else if (fabs (weight) > 0.1)
                  g_assert_cmpfloat (fabs (at (z, b * n + i) - scale * at (c.in[0], b * length + from)), <, 1e-3);
              }
          done (&back, z);
        }
      done (&c, y);
    }
}

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
  int result;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("lpt-signal-XXXXXX", NULL);
  g_test_add_func ("/exec/signal/dft", test_dft);
  g_test_add_func ("/exec/signal/rdft", test_rdft);
  g_test_add_func ("/exec/signal/stft", test_stft);
  g_test_add_func ("/exec/signal/bags", test_bags);
  g_test_add_func ("/exec/signal/segment-max", test_segment_max);
  g_test_add_func ("/exec/signal/search-sorted", test_search_sorted);
  g_test_add_func ("/exec/signal/slice-scatter", test_slice_scatter);
  g_test_add_func ("/exec/signal/col2im", test_col2im);
  g_test_add_func ("/exec/signal/attention", test_attention);
  g_test_add_func ("/exec/signal/identity", test_identity);

  result = g_test_run ();
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *file = g_build_filename (folder, i == 0 ? "m.xml" : "m.bin", NULL);

      g_unlink (file);
    }
  g_rmdir (folder);
  g_free (folder);

  return result;
}
