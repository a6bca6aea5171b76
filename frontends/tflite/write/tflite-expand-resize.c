/* tflite-expand-resize.c - Interpolate in the modes that RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR have not
 *
 * Every mode works along one axis after the other, and there y = M x, where M follows from the lengths alone: it is
 * what the mode makes of the unit matrix.
 *
 *     one 1 in each row         Gather; of codes, too
 *     up to four numbers        the sum of as many, each Gather times its column of factors
 *     more (wide filters)       MatMul
 *
 * Real numbers are rounded to single precision behind each axis. Refused: lengths that are not known, matrices of more
 * than 2^24 numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-expand.h"
#include "frontends/tflite/write/tflite-writer.h"

#include "eval/lpt-evaluate-node.h"

#define EMIT2(op, a, b) lpt_tfl_x_emit (x, LPT_OP_##op, 2, (a), (b))
#define MAX_TAPS 4

/* What stands in each row: up to MAX_TAPS numbers that are not 0, more where @taps is above. */
typedef struct
{
  gint64     taps;
  gboolean   moves;       /* one 1 in each row */
  LptTensor *matrix;      /* [rows, columns], f32 */
} Resizing;

static LptTensor *
unit (LptTflExpand *x, gint64 n)
{
  LptShape shape = lpt_shape_make (2, (gint64[]) { n, n });
  LptTensor *one = lpt_tensor_new (LPT_DTYPE_F32, &shape, &x->error);
  for (gint64 i = 0; one != NULL && i < n * n; i++)
    ((float *) lpt_tensor_writable (one))[i] = i % (n + 1) == 0;
  return one;
}

/* The node's own way along @axis, from @n to @m elements, on a matrix whose rows they are. */
static LptTensor *
make_matrix (LptTflExpand *x, gint axis, gint64 n, gint64 m, double scale)
{
  const LptInterpolateAttrs *from = LPT_ATTRS (x->node, LptInterpolateAttrs);
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 });
  LptValue *in[4] = { lpt_tfl_x_tensor (x, unit (x, n)), lpt_tfl_x_i64 (x, 1, &m),
                      lpt_tfl_x_tensor (x, lpt_tensor_from_f64 (LPT_DTYPE_F32, &one, &scale, NULL)),
                      lpt_tfl_x_i64 (x, 1, (gint64[]) { 0 }) };
  LptNode *node = lpt_tfl_x_add (x, LPT_OP_INTERPOLATE, 1, 4, in);
  LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  node->opset = 4;
  attrs->mode = from->mode;
  attrs->antialias = from->antialias;
  attrs->shape_calculation_mode = from->shape_calculation_mode;
  attrs->coordinate_transformation_mode = from->coordinate_transformation_mode;
  attrs->nearest_mode = from->nearest_mode;
  attrs->cube_coeff = from->cube_coeff;
  lpt_ints_set (&attrs->pads_begin, 2, (gint64[]) { lpt_ints_get (&from->pads_begin, (guint) axis, 0), 0 });
  lpt_ints_set (&attrs->pads_end, 2, (gint64[]) { lpt_ints_get (&from->pads_end, (guint) axis, 0), 0 });
  if (x->error == NULL)
    lpt_node_infer (node, &x->error);
  LptTensor *matrix = x->error == NULL ? lpt_node_evaluate_const (node, &x->error) : NULL;
  if (matrix != NULL && lpt_tensor_count (matrix) != n * m)
    {
      lpt_tfl_x_decline (x);
      g_clear_pointer (&matrix, lpt_tensor_unref);
    }
  return matrix;
}

static Resizing
read_matrix (LptTensor *matrix, gint64 rows, gint64 columns)
{
  Resizing r = { .moves = TRUE, .matrix = matrix };
  const float *numbers = lpt_tensor_data (matrix);
  for (gint64 i = 0; i < rows; i++)
    {
      gint64 taps = 0;
      for (gint64 k = 0; k < columns; k++)
        {
          taps += numbers[i * columns + k] != 0;
          r.moves = r.moves && (numbers[i * columns + k] == 0 || numbers[i * columns + k] == 1);
        }
      r.moves = r.moves && taps == 1;
      r.taps = MAX (r.taps, taps);
    }
  return r;
}

/* Tap @tap of each row: its column, and the number there. A row with fewer has its first column again, with 0. */
static void
find_tap (const Resizing *r, gint64 rows, gint64 columns, gint64 tap, gint64 *places, double *factors)
{
  const float *numbers = lpt_tensor_data (r->matrix);
  for (gint64 i = 0; i < rows; i++)
    {
      gint64 seen = 0, first = 0;
      places[i] = -1;
      for (gint64 k = 0; k < columns && places[i] < 0; k++)
        if (numbers[i * columns + k] != 0)
          {
            first = seen == 0 ? k : first;
            places[i] = seen++ == tap ? k : -1;
          }
      factors[i] = places[i] >= 0 ? numbers[i * columns + places[i]] : 0;
      places[i] = places[i] >= 0 ? places[i] : first;
    }
}

static LptValue *
sum_of_taps (LptTflExpand *x, LptValue *v, gint axis, const Resizing *r, gint64 rows)
{
  LptShape shape = { .rank = v->shape.rank - axis };
  gint64 columns = v->shape.dims[axis];
  g_autofree gint64 *places = g_new (gint64, (gsize) rows);
  g_autofree double *factors = g_new (double, (gsize) rows);
  LptValue *sum = NULL;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = i == 0 ? rows : 1;
  for (gint64 tap = 0; tap < MAX (r->taps, 1); tap++)
    {
      find_tap (r, rows, columns, tap, places, factors);
      LptValue *part = lpt_tfl_x_gather (x, v, lpt_tfl_x_i64 (x, (guint) rows, places), axis);
      if (!r->moves)
        part = EMIT2 (MULTIPLY, part,
                      lpt_tfl_x_tensor (x, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, factors, NULL)));
      sum = sum == NULL ? part : EMIT2 (ADD, sum, part);
    }
  return sum;
}

/* The axis behind the others, and back. */
static LptValue *
product (LptTflExpand *x, LptValue *v, gint axis, const Resizing *r)
{
  gint rank = v->shape.rank;
  gint64 order[LPT_MAX_RANK];
  for (gint i = 0; i < rank; i++)
    order[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
  v = axis == rank - 1 ? v : lpt_tfl_x_transpose (x, v, (guint) rank, order);
  v = lpt_tfl_x_matmul (x, v, lpt_tfl_x_tensor (x, lpt_tensor_ref (r->matrix)), TRUE);
  return axis == rank - 1 ? v : lpt_tfl_x_transpose (x, v, (guint) rank, order);
}

/* Scales of all axes, and which are resized; FALSE: they are computed. */
static gboolean
read_scales (LptNode *node, gint rank, gboolean *resized, double *scales)
{
  const LptInterpolateAttrs *attrs = LPT_ATTRS (node, LptInterpolateAttrs);
  guint version = lpt_op_version (node->info, node->opset), at = version >= 11 ? 2 : 3;
  gboolean given = attrs->shape_calculation_mode == LPT_INTERPOLATE_SCALES;
  LptTensor *data = lpt_node_const_in (node, version >= 11 ? 1 : 2);
  LptInts axes = { 0 };
  gboolean all = lpt_node_in (node, at) == NULL, ok = all || lpt_node_ints_in (node, at, &axes);
  gint n = all ? rank : (gint) axes.n;
  ok = ok && version >= 4 && (!given || (data != NULL && lpt_tensor_count (data) >= n));
  for (gint i = 0; i < n && ok; i++)
    {
      gint axis = i;
      ok = all || lpt_axis_normalize (axes.v[i], rank, &axis);
      if (!ok)
        break;
      resized[axis] = TRUE;
      scales[axis] = given ? lpt_tensor_get_f64 (data, i) : 1;
    }
  lpt_ints_clear (&axes);
  return ok;
}

void
lpt_tfl_expand_resize (LptTflExpand *x)
{
  LptValue *v = lpt_tfl_x_raw (x, 0);
  LptShape out = lpt_tfl_x_shape (x, lpt_node_out (x->node)), in = lpt_tfl_x_shape (x, v);
  gboolean resized[LPT_MAX_RANK] = { FALSE }, moves = TRUE;
  double scales[LPT_MAX_RANK];
  Resizing ways[LPT_MAX_RANK] = { 0 };
  if (x->declined || lpt_tfl_w_resizes (x->node, NULL, NULL) || !read_scales (x->node, in.rank, resized, scales))
    return;
  for (gint i = 0; i < in.rank && !x->declined && x->error == NULL; i++)
    {
      gint64 n = in.dims[i], m = out.dims[i];
      /* Borders of zeros along an axis that keeps its length otherwise are left. */
      if (n < 1 || m < 1 || n > 1 << 12 || m > 1 << 12 || (!resized[i] && n != m))
        lpt_tfl_x_decline (x);
      else if (resized[i])
        ways[i].matrix = make_matrix (x, i, n, m, scales[i]);
      if (ways[i].matrix != NULL)
        ways[i] = read_matrix (ways[i].matrix, m, n);
      moves = moves && (ways[i].matrix == NULL || ways[i].moves);
    }
  /* Codes of another quantization are those of the numbers. */
  if (!moves || (v->quant != NULL && (v->quant->n > 1 || !lpt_quant_equal (v->quant, lpt_node_out (x->node)->quant))))
    v = lpt_tfl_x_in (x, 0);
  for (gint i = 0; i < in.rank && !x->declined && x->error == NULL; i++)
    if (ways[i].matrix != NULL)
      v = ways[i].taps <= MAX_TAPS ? sum_of_taps (x, v, i, &ways[i], out.dims[i]) : product (x, v, i, &ways[i]);
  for (gint i = 0; i < in.rank; i++)
    g_clear_pointer (&ways[i].matrix, lpt_tensor_unref);
  if (v != lpt_tfl_x_raw (x, 0))
    lpt_tfl_x_set (x, 0, v);
}
