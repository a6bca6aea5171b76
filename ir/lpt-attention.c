/* lpt-attention.c - attention as products and a Softmax
 *
 *     ScaledDotProductAttention (q, k, v, mask, scale)
 *     =>  MatMul (Softmax (MatMul (q * scale, k') + mask), v)
 *
 * on the last two axes, in the type of q; 1 / sqrt (E) where no scale is given; Select (mask, .., -inf) where the mask
 * is boolean, or causal: key j for query i where j <= i.
 *
 * Left alone: mixed types; unknown ranks; no scale and a width that is not known, a causal mask and lengths that are
 * not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

/* True for the keys that each query may see; NULL: too large. */
static LptValue *
causal_mask (LptSpeller *s,
             gint64      queries,
             gint64      keys)
{
  const LptShape shape = lpt_shape_make (2, (gint64[]) { queries, keys });
  LptTensor *mask = lpt_tensor_new (LPT_DTYPE_BOOL, &shape, NULL);
  guint8 *to;

  if (mask == NULL)
    return NULL;
  to = lpt_tensor_writable (mask);
  for (gint64 i = 0; i < queries; i++)
    for (gint64 j = 0; j < keys; j++)
      *to++ = j <= i;

  return lpt_speller_constant (s, "causal", mask);
}

static LptValue *
only_seen (LptSpeller *s,
           LptValue   *mask,
           LptValue   *scores)
{
  LptValue *hidden = lpt_speller_constant (s, "hidden", lpt_tensor_scalar (scores->dtype, -INFINITY));

  return lpt_speller_emit (s, LPT_OP_SELECT, "Select", 3, (LptValue *[]) { mask, scores, hidden });
}

static gboolean
can_spell (LptNode *node)
{
  const LptValue *q = lpt_node_in (node, 0), *scale = lpt_node_in (node, 4), *mask = lpt_node_in (node, 3);
  const LptShape *keys = &lpt_node_in (node, 1)->shape;
  const gint rank = q->shape.rank;

  if (!lpt_dtype_is_real (q->dtype) || (mask != NULL && mask->dtype != LPT_DTYPE_BOOL && mask->dtype != q->dtype))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (lpt_node_in (node, i)->shape.rank < 2 || lpt_node_in (node, i)->dtype != q->dtype)
      return FALSE;
  if (scale != NULL ? scale->shape.rank < 0 || scale->dtype != q->dtype : q->shape.dims[rank - 1] < 1)
    return FALSE;

  return !LPT_ATTRS (node, LptAttentionAttrs)->causal ||
         (q->shape.dims[rank - 2] >= 0 && keys->dims[keys->rank - 2] >= 0);
}

LptValue *
lpt_attention_spell (LptSpeller *s)
{
  LptNode *node = s->from, *softmax;
  LptValue *q = lpt_node_in (node, 0), *k = lpt_node_in (node, 1), *v = lpt_node_in (node, 2), *scores;
  LptValue *mask = lpt_node_in (node, 3), *scale = lpt_node_in (node, 4);
  const gboolean causal = LPT_ATTRS (node, LptAttentionAttrs)->causal;

  if (!can_spell (node))
    return NULL;
  if (causal)
    mask = causal_mask (s, q->shape.dims[q->shape.rank - 2], k->shape.dims[k->shape.rank - 2]);
  if (causal && mask == NULL)
    return NULL;
  if (scale == NULL)
    scale = lpt_speller_constant (s, "scale",
                                  lpt_tensor_scalar (q->dtype, 1 / sqrt ((double) q->shape.dims[q->shape.rank - 1])));
  q = lpt_speller_emit (s, LPT_OP_MULTIPLY, "Multiply", 2, (LptValue *[]) { q, scale });
  scores = lpt_speller_product (s, "scores", q, k, TRUE);
  if (mask != NULL && mask->dtype == LPT_DTYPE_BOOL)
    scores = only_seen (s, mask, scores);
  else if (mask != NULL)
    scores = lpt_speller_emit (s, LPT_OP_ADD, "Add", 2, (LptValue *[]) { scores, mask });
  softmax = lpt_speller_start (s, LPT_OP_SOFTMAX, "Softmax", 1, &scores);
  LPT_ATTRS (softmax, LptSoftMaxAttrs)->axis = -1;

  return lpt_speller_product (s, "MatMul", lpt_speller_done (s, softmax), v, FALSE);
}
