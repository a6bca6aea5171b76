/* onnx-write-fuse.c - what runtimes fuse only where it stands as they expect it
 *
 * ONNX Runtime, TensorRT and others run DequantizeLinear, Conv, QuantizeLinear as one convolution of integers where
 * nothing else stands between them. So what can be said by the convolution is:
 *   - a constant added per channel to what one reader alone takes from a convolution is its bias;
 *   - codes of weights by groups have the shape that Conv reads, and one scale axis, their channels in order;
 *   - a Clamp in front of FakeQuantize that give its ends the least and greatest codes anyway is left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/write/onnx-write-ops.h"
#include "ir/lpt-quantize-details.h"

#include <string.h>

/* --- biases ---------------------------------------------------------------------------- */

static gboolean
is_convolution (const LptNode *node)
{
  const LptOnnxWriteRow *row = lpt_onnx_w_row (node->op);

  return row != NULL && row->write == lpt_onnx_write_conv;
}

/* Operand @i as a number for each channel, or NULL. */
static LptTensor *
channel_terms (LptNode *add,
               guint    i)
{
  const LptShape *shape = &lpt_node_out (add)->shape;
  LptTensor *terms = lpt_node_in (add, i)->quant == NULL ? lpt_node_const_in (add, i) : NULL;
  const LptShape *own = terms != NULL ? lpt_tensor_shape (terms) : NULL;

  if (own == NULL || own->rank > shape->rank || shape->rank < 3 || shape->dims[1] <= 0 ||
      lpt_tensor_dtype (terms) != LPT_DTYPE_F32 || lpt_tensor_count (terms) != shape->dims[1])
    return NULL;
  for (gint k = 0; k < own->rank; k++)
    if (own->dims[k] != 1 && k + shape->rank - own->rank != 1)
      return NULL;
  return terms;
}

LptNode *
lpt_onnx_w_bias_reader (LptNode *conv)
{
  LptValue *out = lpt_node_out (conv);
  const gboolean back = (conv->info->flags & LPT_OP_F_TRANSPOSED) != 0;
  LptNode *add = lpt_value_n_uses (out) == 1 ? lpt_value_use (out, 0)->node : NULL;
  guint other;

  if (add == NULL || add->op != LPT_OP_ADD || add->graph != conv->graph || out->quant != NULL ||
      out->dtype != LPT_DTYPE_F32 || lpt_node_in (conv, back ? 3 : 2) != NULL ||
      lpt_node_out (add)->quant != NULL || lpt_node_out (add)->dtype != LPT_DTYPE_F32 ||
      ((conv->flags | add->flags) & LPT_NODE_RELAXED) != 0)
    return NULL;
  other = lpt_node_in (add, 0) == out ? 1 : 0;
  if (!lpt_shape_equal (&lpt_node_out (add)->shape, &out->shape) || channel_terms (add, other) == NULL)
    return NULL;
  return add;
}

const char *
lpt_onnx_w_added_bias (LptOnnxWriter *w,
                       LptNode       *add)
{
  const guint other = lpt_node_const_in (add, 0) != NULL ? 0 : 1;
  LptTensor *terms = channel_terms (add, other);
  const LptShape flat = lpt_shape_make (1, (gint64[]) { lpt_tensor_count (terms) });

  return lpt_onnx_w_tensor (w, "bias", lpt_tensor_reshape (terms, &flat, NULL));
}

gboolean
lpt_onnx_w_is_bias (LptNode *add)
{
  for (guint i = 0; add->op == LPT_OP_ADD && i < 2; i++)
    {
      LptNode *source = lpt_node_src (add, i);

      if (source != NULL && is_convolution (source) && lpt_onnx_w_bias_reader (source) == add)
        return TRUE;
    }
  return FALSE;
}

/* --- weights of groups ---------------------------------------------------------------------- */

gboolean
lpt_onnx_w_is_for_groups (LptValue *weights)
{
  gboolean all = lpt_value_n_uses (weights) > 0 && weights->shape.rank > 3;

  for (guint i = 0; all && i < lpt_value_n_uses (weights); i++)
    {
      const LptUse *use = lpt_value_use (weights, i);

      all = use->index == 1 && is_convolution (use->node) && (use->node->info->flags & LPT_OP_F_GROUPED) != 0;
    }
  return all;
}

/* @shape, of an interval for data of @rank, with the first two axes of the data as one; @values for each pair. */
static gboolean
merge_interval (LptShape *shape,
                gint      rank,
                const LptShape *data,
                guint    *n,
                float   **low,
                float   **high)
{
  const gint64 groups = data->dims[0], each = data->dims[1];
  const gint at = rank - shape->rank;
  const gint64 g = at == 0 ? shape->dims[0] : 1, c = at <= 1 && shape->rank > 1 - at ? shape->dims[1 - at] : 1;

  for (gint i = MAX (2 - at, 0); i < shape->rank; i++)
    if (shape->dims[i] != 1)
      return *n == 1;
  if (*n == 1)
    return TRUE;
  float *a = g_new (float, (gsize) (groups * each)), *b = g_new (float, (gsize) (groups * each));
  for (gint64 i = 0; i < groups * each; i++)
    {
      const gint64 from = (g == 1 ? 0 : i / each) * c + (c == 1 ? 0 : i % each);

      a[i] = (*low)[from];
      b[i] = (*high)[from];
    }
  g_free (*low);
  g_free (*high);
  *low = a;
  *high = b;
  *n = (guint) (groups * each);
  *shape = lpt_shape_make (1, (gint64[]) { groups * each });
  for (gint i = 1; i < rank - 1; i++)
    shape->dims[shape->rank++] = 1;
  return TRUE;
}

LptTensor *
lpt_onnx_w_merge_details (LptTensor          *data,
                          LptQuantizeDetails *d)
{
  const LptShape *shape = lpt_tensor_shape (data);
  LptShape merged = *shape;

  if (!merge_interval (&d->in_shape, shape->rank, shape, &d->n_in, &d->in_low, &d->in_high) ||
      !merge_interval (&d->out_shape, shape->rank, shape, &d->n_out, &d->out_low, &d->out_high))
    return NULL;
  merged.dims[0] *= merged.dims[1];
  merged.rank--;
  memmove (merged.dims + 1, merged.dims + 2, (gsize) (merged.rank - 1) * sizeof *merged.dims);
  return lpt_tensor_reshape (data, &merged, NULL);
}

/* --- clamps ----------------------------------------------------------------------------------- */

/* Does @fq give all below @low its least code, and all above @high its greatest? Not half a step away, where rounding
 * decides. */
static gboolean
saturates (LptNode *fq,
           double   low,
           double   high)
{
  g_auto (LptQuantizeDetails) d = { 0 };
  gboolean all = lpt_quantize_details_read (fq, &d) && d.levels > 1;

  for (guint i = 0; all && i < d.n_in; i++)
    {
      const double step = ((double) d.in_high[i] - d.in_low[i]) / (double) (d.levels - 1);

      all = step > 0 && low <= d.in_low[i] + 0.45 * step && high >= d.in_high[i] - 0.45 * step;
    }
  return all;
}

gboolean
lpt_onnx_w_is_idle_clamp (LptNode *node)
{
  const LptClampAttrs *attrs = LPT_ATTRS (node, LptClampAttrs);
  LptValue *out = lpt_node_out (node);
  gboolean idle = lpt_value_n_uses (out) > 0 && out->dtype == LPT_DTYPE_F32 && out->quant == NULL &&
                  lpt_node_in (node, 0)->quant == NULL;

  for (guint i = 0; idle && i < lpt_value_n_uses (out); i++)
    {
      const LptUse *use = lpt_value_use (out, i);

      idle = use->index == 0 && use->node->op == LPT_OP_FAKE_QUANTIZE && saturates (use->node, attrs->min, attrs->max);
    }
  return idle;
}
