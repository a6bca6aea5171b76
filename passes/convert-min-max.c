/* passes/convert-min-max.c - write Maximum and Minimum with a constant number as Clamp
 *
 *     Maximum (x, c)  =>  Clamp (x, c, infinity)      Relu (x) where c is 0
 *     Minimum (x, c)  =>  Clamp (x, -infinity, c)
 *
 * so that dequantization moves through it, the interval of a FakeQuantize takes the bound, and a product in front ends
 * with it. The constant may be on either side. Exact.
 *
 * Left alone without a remark: integers, a constant of several elements or more axes than the data, one that is no
 * number, or of another type than the data.
 *
 * Golden tests: tests/golden/convert-min-max/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "passes/support/lpt-layer.h"

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  const guint k = lpt_node_const_in (node, 1) != NULL ? 1 : 0;
  LptTensor *constant = lpt_node_const_in (node, k);
  LptValue *x = lpt_node_in (node, 1 - k);
  const LptDType dtype = node->out[0].dtype;
  const gboolean least = node->op == LPT_OP_MAXIMUM;
  LptClampAttrs *attrs;
  LptNode *fresh;
  double bound;

  if (constant == NULL || lpt_node_is_const (x->producer) || !lpt_dtype_is_real (dtype) || x->dtype != dtype ||
      lpt_tensor_dtype (constant) != dtype || lpt_tensor_count (constant) != 1 || x->shape.rank < 0 ||
      lpt_tensor_shape (constant)->rank > x->shape.rank)
    return FALSE;
  bound = lpt_tensor_get_f64 (constant, 0);
  if (isnan (bound))
    return FALSE;
  fresh = lpt_rewriter_add (rw, least && bound == 0 ? LPT_OP_RELU : LPT_OP_CLAMP, node->name, 1, &x);
  if (fresh->op == LPT_OP_CLAMP)
    {
      attrs = fresh->attrs;
      attrs->min = least ? bound : -INFINITY;
      attrs->max = least ? INFINITY : bound;
    }
  lpt_node_take_over (fresh, node, "/replaced");
  lpt_rewriter_replace (rw, &node->out[0], &fresh->out[0], NULL);
  lpt_rewriter_visit (rw, fresh);

  return TRUE;
}

const LptPass lpt_pass_convert_min_max = {
  .name      = "convert-min-max",
  .doc       = "Write Maximum and Minimum with a constant number as Clamp",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_MAXIMUM, LPT_OP_MINIMUM),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
