/* tflite-write-detection.c - NonMaxSuppression as NON_MAX_SUPPRESSION_V4 and V5
 *
 * One for each image and class: places, up to the number that was found, beside two columns that say image and class.
 * With a sigma it is V5, which has the scores, too. The operator drops boxes that overlap as much as the threshold; the
 * IR's those that overlap more: the number above the threshold.
 *
 * Refused: centres and sizes, the order of scores over several classes, more than 256 images times classes, unknown
 * shapes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/write/tflite-writer.h"

#include <math.h>

#define MAX_RUNS 256

typedef struct { gint boxes, scores, most, overlap, least, sigma; gint64 length; } Inputs;

/* Of one class. */
typedef struct { gint rows, scores, count; } Found;

static gint
new_tensor (LptTflWriter *w, const char *what, LptDType dtype, gint rank, const gint64 *dims)
{
  LptShape shape = lpt_shape_make (rank, dims);
  return lpt_tfl_w_tensor (w, what, dtype, &shape, NULL);
}

/* Element @at of the first axis of @tensor, [n, ..] -> [..]. */
static gint
part (LptTflWriter *w, gint tensor, gint64 at)
{
  LptShape shape = lpt_tfl_w_get (w, tensor)->shape;
  if (shape.rank < 2)
    return tensor;
  shape.rank--;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = shape.dims[i + 1];
  gint out = lpt_tfl_w_like (w, "part", tensor, &shape);
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_GATHER, 2, (gint[]) { tensor, lpt_tfl_w_i32 (w, "at", at) }, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (GatherOptions, axis, 0));
  return out;
}

/* A number of rank 0; @fallback where the node has none. */
static gint
number (LptTflWriter *w, guint i, double fallback)
{
  const LptShape scalar = LPT_SHAPE_SCALAR;
  LptValue *value = lpt_node_in (w->node, i);
  LptTensor *data = value != NULL ? value->producer->data : NULL;
  if (value == NULL || (data != NULL && lpt_tensor_count (data) == 0))
    return lpt_tfl_w_f32 (w, "number", fallback);
  gint tensor = lpt_tfl_w_cast (w, lpt_tfl_w_in (w, i, LPT_TFL_PLAIN), LPT_DTYPE_F32);
  return lpt_tfl_w_reshape (w, tensor, &scalar, NULL, -1);
}

/* The number above threshold @i, 0 where there is none, which drops nothing where it is 1. */
static gint
just_above (LptTflWriter *w, guint i)
{
  LptTensor *data = lpt_node_const_in (w->node, i);
  if (lpt_node_in (w->node, i) == NULL || data != NULL)
    {
      double known = data != NULL && lpt_tensor_count (data) > 0 ? lpt_tensor_get_f64 (data, 0) : 0;
      return lpt_tfl_w_f32 (w, "overlap", nextafterf ((float) known, INFINITY));
    }
  gint threshold = number (w, i, 0);
  gint wide = lpt_tfl_w_step (w, TFL_MUL, "wide", threshold, 2,
                              (gint[]) { threshold, lpt_tfl_w_f32 (w, "more", 1 + 0x1p-23) });
  return lpt_tfl_w_step (w, TFL_ADD, "overlap", threshold, 2, (gint[]) { wide, lpt_tfl_w_f32 (w, "least", 1e-38) });
}

/* The first @count of a vector (a tensor of rank 0), as a column. */
static gint
column (LptTflWriter *w, gint vector, gint count)
{
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 }), open = lpt_shape_make (1, (gint64[]) { LPT_DYNAMIC });
  const LptShape tall = lpt_shape_make (2, (gint64[]) { LPT_DYNAMIC, 1 });
  gint size = lpt_tfl_w_reshape (w, count, &one, NULL, -1);
  gint out = lpt_tfl_w_like (w, "found", vector, &open);
  lpt_tfl_w_op (w, TFL_SLICE, 3, (gint[]) { vector, lpt_tfl_w_i32s (w, "zero", 1, (gint64[]) { 0 }), size }, out);
  return lpt_tfl_w_reshape (w, out, &tall, NULL, -1);
}

/* [count, 1] of one number. */
static gint
filled (LptTflWriter *w, gint like, gint64 value)
{
  gint zeros = lpt_tfl_w_step (w, TFL_ZEROS_LIKE, "zeros", like, 1, &like);
  gint number = lpt_tfl_w_number (w, "value", like, (double) value);
  return lpt_tfl_w_step (w, TFL_ADD, "name", like, 2, (gint[]) { zeros, number });
}

static gint
joined (LptTflWriter *w, gint64 axis, guint n, const gint *parts, gint like, gint64 columns)
{
  const LptShape shape = lpt_shape_make (2, (gint64[]) { LPT_DYNAMIC, columns });
  if (n == 1)
    return parts[0];
  gint out = lpt_tfl_w_like (w, "rows", like, &shape);
  LptTflWOp *op = lpt_tfl_w_op (w, TFL_CONCATENATION, n, parts, out);
  lpt_tfl_w_set (op, LPT_TFL_INT (ConcatenationOptions, axis, axis));
  return out;
}

/* Rows (image, class, box) and, of V5, (image, class, score) of one class; how many. */
static Found
run (LptTflWriter *w, const Inputs *in, gint64 image, gint64 label)
{
  Found y = { -1, -1, -1 };
  gint tensors[] = { part (w, in->boxes, image), part (w, part (w, in->scores, image), label), in->most, in->overlap,
                     in->least, in->sigma };
  gboolean soft = in->sigma >= 0;
  gint places = new_tensor (w, "boxes", LPT_DTYPE_I32, 1, &in->length), found = -1;
  LptTflWOp *op = lpt_tfl_w_op (w, soft ? TFL_NON_MAX_SUPPRESSION_V5 : TFL_NON_MAX_SUPPRESSION_V4, soft ? 6 : 5,
                                tensors, places);
  if (soft)
    lpt_tfl_w_add_out (op, found = new_tensor (w, "scores", LPT_DTYPE_F32, 1, &in->length));
  y.count = new_tensor (w, "count", LPT_DTYPE_I32, 0, NULL);
  lpt_tfl_w_add_out (op, y.count);
  gint boxes = column (w, places, y.count);
  y.rows = joined (w, 1, 3, (gint[]) { filled (w, boxes, image), filled (w, boxes, label), boxes }, boxes, 3);
  if (!soft)
    return y;
  gint numbers = column (w, found, y.count);
  y.scores = joined (w, 1, 3, (gint[]) { filled (w, numbers, image), filled (w, numbers, label), numbers }, numbers, 3);
  return y;
}

static gboolean
is_read (LptNode *node, guint o)
{
  return o < node->n_out && lpt_value_n_uses (&node->out[o]) > 0;
}

static Inputs
read_inputs (LptTflWriter *w)
{
  LptTensor *limit = lpt_node_const_in (w->node, 2), *sigma = lpt_node_const_in (w->node, 5);
  gboolean soft = lpt_node_in (w->node, 5) != NULL
                  && (sigma == NULL || (lpt_tensor_count (sigma) > 0 && lpt_tensor_get_f64 (sigma, 0) != 0));
  const LptShape scalar = LPT_SHAPE_SCALAR;
  gint tensor;
  /* No more than there are: outputs are as long as this. */
  gint64 most = LPT_DYNAMIC;
  if (limit != NULL || lpt_node_in (w->node, 2) == NULL)
    {
      gint64 wanted = limit != NULL && lpt_tensor_count (limit) > 0 ? lpt_tensor_get_i64 (limit, 0) : 0;
      most = CLAMP (wanted, 0, MIN (lpt_node_in (w->node, 0)->shape.dims[1], G_MAXINT32));
      tensor = lpt_tfl_w_i32 (w, "most", most);
    }
  else
    tensor = lpt_tfl_w_reshape (w, lpt_tfl_w_in_i32 (w, 2), &scalar, NULL, -1);
  return (Inputs) { lpt_tfl_w_in (w, 0, LPT_TFL_PLAIN), lpt_tfl_w_in (w, 1, LPT_TFL_PLAIN),
                    tensor, just_above (w, 3), number (w, 4, 0),
                    soft || is_read (w->node, 1) ? number (w, 5, 0) : -1, most };
}

void
lpt_tfl_write_non_max_suppression (LptTflWriter *w, gint64 code)
{
  const LptNonMaxSuppressionAttrs *attrs = LPT_ATTRS (w->node, LptNonMaxSuppressionAttrs);
  const LptShape *boxes = &lpt_node_in (w->node, 0)->shape, *scores = &lpt_node_in (w->node, 1)->shape;
  LptNode *node = w->node;
  gint rows[MAX_RUNS], found[MAX_RUNS], counts[MAX_RUNS];
  if (attrs->box_encoding != LPT_BOX_CORNER)
    lpt_tfl_w_fail (w, "boxes by centre and size");
  if (lpt_op_version (node->info, node->opset) < 5)
    lpt_tfl_w_fail (w, "an older form");
  if (!lpt_shape_is_static (boxes) || !lpt_shape_is_static (scores) || boxes->rank != 3 || scores->rank != 3)
    lpt_tfl_w_fail (w, "boxes of unknown number");
  if (w->error != NULL)
    return;
  gint64 n = scores->dims[0] * scores->dims[1];
  if (n < 1 || n > MAX_RUNS)
    lpt_tfl_w_fail (w, "%" G_GINT64_FORMAT " images and classes", n);
  else if (attrs->sort_result_descending && n > 1)
    lpt_tfl_w_fail (w, "boxes of several classes in the order of their scores");
  Inputs in = w->error == NULL ? read_inputs (w) : (Inputs) { 0 };
  for (gint64 k = 0; k < n && w->error == NULL; k++)
    {
      Found y = run (w, &in, k / scores->dims[1], k % scores->dims[1]);
      rows[k] = y.rows;
      found[k] = y.scores;
      counts[k] = y.count;
    }
  if (w->error != NULL)
    return;
  lpt_tfl_w_alias (w, 0, LPT_TFL_PLAIN,
                   lpt_tfl_w_cast (w, joined (w, 0, (guint) n, rows, rows[0], 3), node->out[0].dtype), 1);
  if (is_read (node, 1))
    lpt_tfl_w_alias (w, 1, LPT_TFL_PLAIN, joined (w, 0, (guint) n, found, found[0], 3), 1);
  if (!is_read (node, 2))
    return;
  for (gint64 k = 1; k < n; k++)
    counts[0] = lpt_tfl_w_step (w, TFL_ADD, "count", counts[0], 2, (gint[]) { counts[0], counts[k] });
  const LptShape one = lpt_shape_make (1, (gint64[]) { 1 });
  lpt_tfl_w_alias (w, 2, LPT_TFL_PLAIN,
                   lpt_tfl_w_reshape (w, lpt_tfl_w_cast (w, counts[0], node->out[2].dtype), &one, NULL, -1), 1);
}
