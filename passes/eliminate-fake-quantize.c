/* passes/eliminate-fake-quantize.c - drop a FakeQuantize that changes nothing
 *
 *     FakeQuantize (x : T, ...) : T  =>  x
 *
 * Integer types: the output interval is the type's range for the levels, and the input interval is so close to it that
 * its ends are quantized to the ends: every integer comes out as it went in. Real types: the input interval equals the
 * output interval, and x stands on that lattice already, since it comes from a FakeQuantize of the same intervals and
 * levels; or from several that a Concat joins, or through other moves of its elements, where one interval holds for all
 * of them. So QuantizeLinear and DequantizeLinear behind Reshape, Transpose, Split do nothing.
 *
 * Exact in real numbers. In single precision the highest level is low + (high - low), which may lie some last bits
 * above high, and is high to a second FakeQuantize. All others come out as they went in.
 *
 * Refused when
 *   - the element types differ, or an interval is not constant;
 *   - the output interval is not the whole range of the type, or the input interval is farther than half a step off;
 *   - what stands between the two adds elements of its own: Pad, SpaceToBatch.
 *
 * Golden tests: tests/golden/eliminate-fake-quantize/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "passes/support/lpt-decompose.h"

/* Between two FakeQuantize, all together: Concats of Concats would be walked again and again. */
#define MAX_MOVES 64

static gboolean
is_identity_on_integers (LptNode                  *fq,
                         const LptQuantizeDetails *details)
{
  LptDType dtype = fq->out[0].dtype;
  float min = (float) lpt_levels_min (dtype, details->levels);
  float max = (float) lpt_levels_max (dtype, details->levels);
  guint i;

  if (!lpt_levels_fit (dtype, details->levels) || max - min != (float) (details->levels - 1))
    return FALSE;
  for (i = 0; i < details->n_out; i++)
    if (details->out_low[i] != min || details->out_high[i] != max)
      return FALSE;
  /* Every integer stays: the map is (x - il) / (ih - il) * (max - min), off by less than half a step at both ends. */
  for (i = 0; i < details->n_in; i++)
    if (!(fabsf (details->in_low[i] - min) < 0.5f && fabsf (details->in_high[i] - max) < 0.5f))
      return FALSE;

  return TRUE;
}

/* Is @above, a FakeQuantize, one with the lattice of @fq? */
static gboolean
has_same_lattice (LptNode *fq,
                  LptNode *above)
{
  guint i;

  if (LPT_ATTRS (above, LptFakeQuantizeAttrs)->levels != LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels)
    return FALSE;
  for (i = 1; i < 5; i++)
    {
      LptTensor *a = lpt_node_const_in (above, i < 3 ? i + 2 : i), *b = lpt_node_const_in (fq, i);

      if (a == NULL || b == NULL || !lpt_tensor_equal (a, b))
        return FALSE;
    }

  return TRUE;
}

/* Are all elements of the output elements of the inputs as they are? */
static gboolean
only_moves (const LptNode *node)
{
  return (node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_UNARY | LPT_OP_F_COMPUTE)) == LPT_OP_F_PRESERVES &&
         node->op != LPT_OP_PAD && node->op != LPT_OP_SPACE_TO_BATCH;
}

/* Does @x stand on the lattice of @fq? Behind moves only if @moved; @left: how many of them are looked through. */
static gboolean
is_on_lattice (LptNode        *fq,
               const LptValue *x,
               gboolean        moved,
               guint          *left)
{
  LptNode *node = x->producer;
  const guint n = node->op == LPT_OP_CONCAT ? node->n_in : 1;
  guint i = 0;

  if (node->op == LPT_OP_FAKE_QUANTIZE)
    return has_same_lattice (fq, node);
  if (!moved || *left == 0 || !only_moves (node) || node->n_in == 0)
    return FALSE;
  (*left)--;
  while (i < n && node->in[i].value != NULL && is_on_lattice (fq, node->in[i].value, moved, left))
    i++;

  return i == n;
}

static gboolean
is_same_lattice (LptNode                  *fq,
                 const LptQuantizeDetails *details)
{
  guint left = MAX_MOVES;

  return details->n_in == details->n_out && is_on_lattice (fq, lpt_node_in (fq, 0), details->n_in == 1, &left);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *fq)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  LptValue *x = lpt_node_in (fq, 0);

  if (x->dtype != fq->out[0].dtype || !lpt_quantize_is_supported (fq) || !lpt_quantize_details_read (fq, &details))
    return FALSE;
  if (!lpt_shape_equal (&x->shape, &fq->out[0].shape))
    return lpt_rewriter_decline (rw, fq, "it broadcasts its data");
  if (lpt_dtype_is_real (x->dtype) ? !is_same_lattice (fq, &details) : !is_identity_on_integers (fq, &details))
    return lpt_rewriter_decline (rw, fq, "it changes its data");
  lpt_rewriter_replace (rw, &fq->out[0], x, NULL);

  return TRUE;
}

const LptPass lpt_pass_eliminate_fake_quantize = {
  .name      = "eliminate-fake-quantize",
  .doc       = "Drop a FakeQuantize that changes nothing",
  .stage     = LPT_STAGE_CLEANUP,
  .roots     = LPT_ROOTS (LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
