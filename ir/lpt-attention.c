/* lpt-attention.c - attention as products and a Softmax
 *
 *     ScaledDotProductAttention (q, k, v, mask, scale)
 *     =>  MatMul (Softmax (MatMul (q * scale, k') + mask), v)
 *
 * on the last two axes, in the type of q; 1 / sqrt (E) where no scale is given; Select (mask, .., -inf) where the mask
 * is boolean, or causal: key j for query i where j <= i.
 *
 * For execution the queries are cut in blocks where the scores would be large, so that some MB of them are there at a
 * time, and where the mask is causal: a block of queries meets the keys up to its last one alone, half of all.
 *
 * Left alone: mixed types; unknown ranks; no scale and a width that is not known, a causal mask and lengths that are
 * not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-composite.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

/* Bytes of scores that are there at a time, and queries of a block under a causal mask. */
#define MOST_BYTES ((gint64) 64 << 20)
#define BLOCK      128

/* Rows of the queries from @from on that are done together, and the keys that they meet. */
typedef struct
{
  gint64 from, n, keys;
} Block;

/* True for the keys that each query of @block may see; NULL: too large. */
static LptValue *
causal_mask (LptSpeller  *s,
             const Block *block)
{
  const LptShape shape = lpt_shape_make (2, (gint64[]) { block->n, block->keys });
  LptTensor *mask = lpt_tensor_new (LPT_DTYPE_BOOL, &shape, NULL);
  guint8 *to;

  if (mask == NULL)
    return NULL;
  to = lpt_tensor_writable (mask);
  for (gint64 i = 0; i < block->n; i++)
    for (gint64 j = 0; j < block->keys; j++)
      *to++ = j <= block->from + i;

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

/* Elements [@from, @from + @n) of axis @axis, counted from behind, of @x; @x where these are all. */
static LptValue *
part_of (LptSpeller *s,
         LptValue   *x,
         gint        axis,
         gint64      from,
         gint64      n)
{
  const gint64 at = x->shape.rank - axis, end = from + n, one = 1;

  if (at < 0 || (from == 0 && x->shape.dims[at] == n))
    return x;

  return lpt_speller_emit (s, LPT_OP_SLICE, "Slice", 5, (LptValue *[]) {
    x, lpt_speller_constant (s, "from", lpt_tensor_vector_i64 (1, &from)),
    lpt_speller_constant (s, "end", lpt_tensor_vector_i64 (1, &end)),
    lpt_speller_constant (s, "step", lpt_tensor_vector_i64 (1, &one)),
    lpt_speller_constant (s, "axis", lpt_tensor_vector_i64 (1, &at)) });
}

/* What stands beside @block of the mask, which may have one row or column for all. */
static LptValue *
part_of_mask (LptSpeller  *s,
              LptValue    *mask,
              const Block *block)
{
  const gint rank = mask->shape.rank;

  if (rank > 1 && mask->shape.dims[rank - 2] != 1)
    mask = part_of (s, mask, 2, block->from, block->n);

  return rank > 0 && mask->shape.dims[rank - 1] != 1 ? part_of (s, mask, 1, 0, block->keys) : mask;
}

/* The answers to queries that are scaled. */
static LptValue *
attend (LptSpeller *s,
        LptValue   *q,
        LptValue   *k,
        LptValue   *v,
        LptValue   *mask)
{
  LptValue *scores = lpt_speller_product (s, "scores", q, k, TRUE);
  LptNode *softmax;

  if (mask != NULL && mask->dtype == LPT_DTYPE_BOOL)
    scores = only_seen (s, mask, scores);
  else if (mask != NULL)
    scores = lpt_speller_emit (s, LPT_OP_ADD, "Add", 2, (LptValue *[]) { scores, mask });
  softmax = lpt_speller_start (s, LPT_OP_SOFTMAX, "Softmax", 1, &scores);
  LPT_ATTRS (softmax, LptSoftMaxAttrs)->axis = -1;

  return lpt_speller_product (s, "MatMul", lpt_speller_done (s, softmax), v, FALSE);
}

/* Those to @block of them; NULL: its mask could not be made. */
static LptValue *
attend_block (LptSpeller  *s,
              LptValue    *q,
              const Block *block)
{
  const gboolean causal = LPT_ATTRS (s->from, LptAttentionAttrs)->causal;
  LptValue *mask = lpt_node_in (s->from, 3);

  if (causal)
    mask = causal_mask (s, block);
  else if (mask != NULL)
    mask = part_of_mask (s, mask, block);
  if (causal && mask == NULL)
    return NULL;

  return attend (s, part_of (s, q, 2, block->from, block->n),
                 part_of (s, lpt_node_in (s->from, 1), 2, 0, block->keys),
                 part_of (s, lpt_node_in (s->from, 2), 2, 0, block->keys), mask);
}

/* Queries of a block; as many as there are, or -1: they are not known, and one block. */
static gint64
block_length (LptSpeller *s)
{
  const LptShape *q = &lpt_node_in (s->from, 0)->shape, *k = &lpt_node_in (s->from, 1)->shape;
  const gint64 queries = q->dims[q->rank - 2], keys = k->dims[k->rank - 2];
  const LptValue *mask = lpt_node_in (s->from, 3);
  LptShape heads = s->from->out[0].shape;
  gint64 n, most;

  if (queries < 1 || keys < 1)
    return queries;
  heads.rank -= 2;
  if (s->purpose != LPT_SPELL_FOR_RUN || !lpt_shape_count (&heads, &n) ||
      (mask != NULL && !lpt_shape_is_static (&mask->shape)))
    return queries;
  most = MAX (MOST_BYTES / (gint64) sizeof (float) / MAX (n, 1) / keys / 16 * 16, 16);
  if (LPT_ATTRS (s->from, LptAttentionAttrs)->causal)
    most = MIN (most, BLOCK);

  return MIN (queries, most);
}

LptValue *
lpt_attention_spell (LptSpeller *s)
{
  LptValue *q = lpt_node_in (s->from, 0), *scale = lpt_node_in (s->from, 4);
  const gboolean causal = LPT_ATTRS (s->from, LptAttentionAttrs)->causal;
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  gint64 queries, keys, step;
  LptNode *join;

  if (!can_spell (s->from))
    return NULL;
  queries = q->shape.dims[q->shape.rank - 2];
  keys = lpt_node_in (s->from, 1)->shape.dims[lpt_node_in (s->from, 1)->shape.rank - 2];
  step = block_length (s);
  if (scale == NULL)
    scale = lpt_speller_constant (s, "scale",
                                  lpt_tensor_scalar (q->dtype, 1 / sqrt ((double) q->shape.dims[q->shape.rank - 1])));
  q = lpt_speller_emit (s, LPT_OP_MULTIPLY, "Multiply", 2, (LptValue *[]) { q, scale });
  /* Lengths that are not known, which no mask follows from, stay whole. */
  if (!causal && (step < 1 || step == queries))
    return attend (s, q, lpt_node_in (s->from, 1), lpt_node_in (s->from, 2), lpt_node_in (s->from, 3));
  if (step < 1 || step == queries)
    return attend_block (s, q, &(Block) { 0, queries, keys });
  for (gint64 from = 0; from < queries; from += step)
    {
      const gint64 n = MIN (step, queries - from);
      LptValue *part = attend_block (s, q, &(Block) { from, n, causal ? MIN (keys, from + n) : keys });

      if (part == NULL)
        return NULL;
      g_ptr_array_add (parts, part);
    }
  join = lpt_speller_start (s, LPT_OP_CONCAT, "Concat", parts->len, (LptValue **) parts->pdata);
  LPT_ATTRS (join, LptAxisAttrs)->axis = -2;

  return lpt_speller_done (s, join);
}
