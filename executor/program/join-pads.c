/* join-pads.c - zeros that a Pad puts around an image are the padding of the convolution that reads it
 *
 *     Convolution (Pad (x, begin, end, 0), w)  =>  Convolution (x, w), pads larger by begin and end
 *
 * Keras writes its ZeroPadding2D so. Of codes the zero is their zero point. The same sums; the padded image is not made
 * where nothing else reads it.
 *
 * Left alone: padding of other axes than the window's, by another number, less than none, or as wide as the window;
 * codes whose zero point is computed, which the convolution pads with; transposed convolutions; weights that are not
 * constant and finite, as 0 times infinity is not 0. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-fold.h"
#include "ir/lpt-weighted.h"

/* Does @pad put numbers 0 around its data? */
static gboolean
pads_zeros (LptNode *pad)
{
  const LptValue *x = lpt_node_in (pad, 0), *value = pad->n_in > 3 ? lpt_node_in (pad, 3) : NULL;
  const LptTensor *number = value != NULL ? value->producer->data : NULL;

  if (LPT_ATTRS (pad, LptPadAttrs)->pad_mode != LPT_PAD_CONSTANT || !lpt_quant_equal (x->quant, pad->out[0].quant))
    return FALSE;
  if (value == NULL)
    return x->quant == NULL;
  if (number == NULL || lpt_tensor_count (number) != 1)
    return FALSE;
  if (x->quant == NULL)
    return value->quant == NULL && lpt_dtype_is_real (x->dtype) && lpt_tensor_get_f64 (number, 0) == 0;

  return x->quant->n == 1 && lpt_quant_equal (x->quant, value->quant) &&
         lpt_tensor_get_f64 (number, 0) == x->quant->zero_point[0];
}

/* Input @i of @pad: what it adds along each spatial axis; with the convolution's own less than a window is wide. */
static gboolean
read_pads (LptNode               *pad,
           guint                  i,
           const LptWeightedView *view,
           const LptShape        *weights,
           LptInts               *pads)
{
  const guint rank = (guint) lpt_node_in (pad, 0)->shape.rank;
  const LptInts *own = view->auto_pad == LPT_AUTO_PAD_VALID ? NULL : i == 1 ? view->pads_begin : view->pads_end;
  guint k;

  if (!lpt_value_ints (lpt_node_in (pad, i), pads) || pads->n != rank || pads->v[0] != 0 || pads->v[1] != 0)
    return FALSE;
  for (k = 2; k < rank; k++)
    {
      const gint64 most = (weights->dims[view->kernel + (gint) k - 2] - 1) * view->dilations->v[k - 2];

      if (pads->v[k] < 0 || pads->v[k] > most - (own != NULL ? own->v[k - 2] : 0))
        return FALSE;
    }

  return TRUE;
}

static void
join (LptNode *conv,
      LptNode *pad)
{
  g_autofree LptValue **in = g_new0 (LptValue *, conv->n_in + 1);
  g_auto (LptInts) begin = { 0 }, end = { 0 };
  const LptValue *w = lpt_node_in (conv, 1);
  LptWeightedView view;
  LptConvAttrs *attrs;
  LptNode *copy;
  guint i;

  if (!lpt_weighted_view (conv, &view) || !view.window || view.transposed || conv->n_out != 1 ||
      (view.auto_pad != LPT_AUTO_PAD_EXPLICIT && view.auto_pad != LPT_AUTO_PAD_VALID) ||
      (conv->n_in > view.zero && lpt_node_in (conv, view.zero) != NULL) ||
      w->producer->data == NULL || !pads_zeros (pad) || !read_pads (pad, 1, &view, &w->shape, &begin) ||
      !read_pads (pad, 2, &view, &w->shape, &end) || !lpt_tensor_is_finite (w->producer->data))
    return;
  for (i = 0; i < conv->n_in; i++)
    in[i] = lpt_node_in (conv, i);
  in[0] = lpt_node_in (pad, 0);
  copy = lpt_node_clone (conv, conv->name, conv->n_in, in);
  lpt_value_set_quant (&copy->out[0], conv->out[0].quant);
  attrs = LPT_ATTRS (copy, LptConvAttrs);
  for (i = 0; i + 2 < begin.n; i++)
    {
      const gboolean valid = view.auto_pad == LPT_AUTO_PAD_VALID;

      attrs->pads_begin.v[i] = (valid ? 0 : view.pads_begin->v[i]) + begin.v[i + 2];
      attrs->pads_end.v[i] = (valid ? 0 : view.pads_end->v[i]) + end.v[i + 2];
    }
  attrs->auto_pad = LPT_AUTO_PAD_EXPLICIT;
  if (!lpt_node_infer (copy, NULL) || !lpt_shape_equal (&copy->out[0].shape, &conv->out[0].shape))
    return;
  lpt_value_replace (lpt_node_out (conv), lpt_node_out (copy), NULL);
  lpt_node_take_name (copy, conv, "/valid");
}

static void
visit (LptNode *node)
{
  if ((node->info->flags & LPT_OP_F_WEIGHTED) != 0 && node->n_in > 1 && lpt_node_in (node, 0) != NULL &&
      lpt_node_in (node, 1) != NULL && lpt_node_in (node, 0)->producer->op == LPT_OP_PAD &&
      lpt_shape_is_static (&lpt_node_in (node, 0)->shape))
    join (node, lpt_node_in (node, 0)->producer);
}

gboolean
lpt_program_join_pads (LptProgram *program,
                       GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
