/* passes/fake-quantize-decomposition.c - split FakeQuantize into quantize and dequantize
 *
 *     FakeQuantize (x, il, ih, ol, oh)
 *  => Multiply (Subtract (Convert (FakeQuantize (x, il, ih, min, max) : u8|i8), zp), scale)
 *     scale = (oh - ol) / (max - min)     zp = (min oh - max ol) / (oh - ol)
 *
 * The type is what the consumers' lists leave (the first that fits, the preferred one if it is
 * there); it is then fixed for all FakeQuantizes that share the list. Where a region needs one scale
 * (a per-tensor consumer behind a Concat) the combined interval of the region is used instead, the
 * output interval becomes a part of min..max and the levels shrink accordingly.
 * A chain Convert -> Subtract -> Multiply that is there already with another type is taken back first; a
 * FakeQuantize that is integer already and stays so fixes the type as well.
 *
 * Exact in real arithmetic; the aligned form coarsens to the combined interval's step.
 *
 * Refused when
 *   - an interval is not constant, or the number of levels is not supported;
 *   - it stands on weights: the operation that reads them does this. A constant that a Concat joins with data is none,
 *     nor are those that products with computed weights take as data, or weights of matrix products whose codes need a
 *     zero point: these become codes;
 *   - the list of types is empty (consumers disagree), absent, or has no type for the levels;
 *   - its output is integer already and of the right type, or no chain follows;
 *   - the channel axis is dynamic and the interval is per channel;
 *   - the narrowest interval of a region would keep two levels or fewer.
 *
 * Golden tests: tests/golden/fake-quantize-decomposition/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-weighted.h"
#include "passes/support/lpt-decompose.h"
#include "passes/support/lpt-weightable.h"

/* A Convert to u8 or i8 that is the only reader becomes the output type. */
static LptNode *
fuse_convert (LptRewriter *rw,
              LptNode     *fq)
{
  g_autofree LptValue **in = NULL;
  LptNode *convert, *fresh;
  LptUse *use;

  if (lpt_value_n_uses (&fq->out[0]) != 1)
    return fq;
  use = lpt_value_use (&fq->out[0], 0);
  convert = use->node;
  if (convert->op != LPT_OP_CONVERT ||
      (convert->out[0].dtype != LPT_DTYPE_U8 && convert->out[0].dtype != LPT_DTYPE_I8))
    return fq;
  in = lpt_layer_inputs (fq);
  fresh = lpt_layer_clone (rw, fq, fq->n_in, in, convert->out[0].dtype);
  lpt_node_take_name (fresh, fq, "/replaced");
  lpt_rewriter_replace (rw, &convert->out[0], &fresh->out[0], NULL);
  lpt_rewriter_visit (rw, fresh);

  return fresh;
}

/* The box of the region that needs one scale, when there is one. */
static gboolean
needs_alignment (LptNode *fq)
{
  guint i;

  for (i = 0; i < lpt_value_n_uses (&fq->out[0]); i++)
    {
      LptNode *reader = lpt_value_use (&fq->out[0], i)->node;
      LptBoxValue *box = lpt_box (fq->graph, reader->mark.alignment);

      if (box != NULL && box->flag)
        return TRUE;
    }

  return FALSE;
}

/* Chooses the type and leaves it alone in the shared list. */
static gboolean
choose (LptRewriter              *rw,
        LptNode                  *fq,
        const LptQuantizeDetails *details,
        LptDataPrecision         *precision)
{
  LptTypeList level_types = lpt_levels_types (details->levels);
  LptPrecisionDetails preferred = lpt_quantize_precision (details);
  LptBoxValue *box = lpt_box (fq->graph, fq->out[0].mark.precisions);
  LptTypeList allowed = lpt_type_list_intersect (&box->types, &level_types);
  LptTypeList one = { 0 };
  gboolean symmetric = lpt_type_list_has (&allowed, preferred.dtype);

  if (allowed.n == 0)
    return lpt_rewriter_decline (rw, fq, "no type that its consumers take fits %" G_GUINT64_FORMAT " levels",
                                 details->levels);
  precision->dtype = symmetric ? preferred.dtype : (LptDType) allowed.v[0];
  precision->has_zp = !symmetric || preferred.has_zp;
  precision->min = lpt_levels_min (precision->dtype, details->levels);
  precision->max = lpt_levels_max (precision->dtype, details->levels);
  lpt_type_list_add (&one, precision->dtype);
  box->types = one;

  return TRUE;
}

/* It stays integer: its type is that of all FakeQuantizes that share the list, as if it had been chosen now. */
static gboolean
keep_type (LptNode  *fq,
           gboolean  changed)
{
  LptBoxValue *box = lpt_box (fq->graph, fq->out[0].mark.precisions);
  LptTypeList one = { 0 };

  if (lpt_type_list_has (&box->types, fq->out[0].dtype))
    {
      lpt_type_list_add (&one, fq->out[0].dtype);
      box->types = one;
    }

  return changed;
}

/* One scale for the region. */
static gboolean
decompose_aligned (LptRewriter              *rw,
                   LptNode                  *fq,
                   const LptQuantizeDetails *details,
                   const LptDataPrecision   *precision,
                   LptDecomposition         *parts,
                   guint64                  *levels)
{
  const LptInterval *interval = &lpt_box (fq->graph, fq->mark.interval)->interval;
  LptAlignedInterval aligned = lpt_quantize_align ((float) precision->min, (float) precision->max,
                                                   interval->low, interval->high,
                                                   details->out_low[0], details->out_high[0]);

  *parts = (LptDecomposition) { NULL };
  if (aligned.levels <= 2)
    return lpt_rewriter_decline (rw, fq,
                                 "it would keep %" G_GUINT64_FORMAT " levels in the interval that its region shares",
                                 aligned.levels);
  parts->low = lpt_tensor_scalar (LPT_DTYPE_F32, aligned.low);
  parts->high = lpt_tensor_scalar (LPT_DTYPE_F32, aligned.high);
  parts->scale = lpt_tensor_scalar (LPT_DTYPE_F32, aligned.scale);
  if (fabsf (aligned.shift) > 1e-6f)
    parts->zp = lpt_tensor_scalar (LPT_DTYPE_F32, aligned.shift);
  *levels = aligned.levels;

  return TRUE;
}

/* The chain behind @fresh, in place of @old. */
static void
put_chain (LptRewriter            *rw,
           LptNode                *old,
           LptNode                *fresh,
           const LptDecomposition *parts)
{
  LptDType deq = lpt_rewriter_config (rw)->deq_precision;
  LptDType out = old->out[0].dtype;
  g_autofree char *name = g_strdup (old->name);
  LptValue *tail;

  if (!lpt_rewriter_config (rw)->update_precisions)
    deq = out;
  tail = lpt_layer_chain (rw, &fresh->out[0], deq, parts->zp, parts->scale, out, name);
  lpt_dequant_rewire (rw, &old->out[0], &fresh->out[0], tail);
}

/* Does the interval that the chain @below restores ask for another type than @fq has? */
static gboolean
takes_other_type (LptNode                  *fq,
                  const LptQuantizeDetails *details,
                  const LptTypeList        *types,
                  LptDequant               *below)
{
  LptDataPrecision wanted;

  if (!lpt_dequant_find_below (fq, TRUE, below))
    return FALSE;
  wanted = lpt_quantize_data_precision (details, types);

  return wanted.dtype != LPT_DTYPE_UNDEFINED && wanted.dtype != fq->out[0].dtype;
}

/* Its interval is per channel, and how many channels there are is not known. */
static gboolean
has_unknown_channels (const LptNode            *fq,
                      const LptQuantizeDetails *details)
{
  const LptShape *shape = &fq->out[0].shape;

  return details->n_out > 1 && (shape->rank < 0 || (shape->rank > 1 && shape->dims[1] < 0));
}

/* @why it stays; TRUE when it is not what was @given any more. */
static gboolean
leave (LptRewriter *rw,
       LptNode     *fq,
       LptNode     *given,
       const char  *why)
{
  lpt_rewriter_decline (rw, fq, "%s", why);

  return fq != given;
}

/* Constants that a Concat joins with data, as a state that begins with zeros: they are data, too. */
static gboolean
is_part_of_data (LptNode *fq)
{
  guint i, k;

  for (i = 0; i < lpt_value_n_uses (&fq->out[0]); i++)
    {
      LptNode *reader = lpt_value_use (&fq->out[0], i)->node;

      for (k = 0; k < reader->n_in && reader->op == LPT_OP_CONCAT; k++)
        if (!lpt_value_is_constant_path (lpt_node_in (reader, k)))
          return TRUE;
    }

  return FALSE;
}

/* Does it stand on constants that products with quantized data take as codes with a chain, as files give them? Those on
 * the left, which are data of one scale, and weights of matrix products whose codes need a zero point. Convolutions
 * take the FakeQuantize of their weights as it is. */
static gboolean
is_taken_as_codes (LptRewriter *rw,
                   LptNode     *fq)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_auto (LptQuantizeDetails) details = { 0 };
  gboolean first = FALSE;
  LptDataPrecision precision;
  LptWeightedView view;

  for (guint i = 0; i < lpt_value_n_uses (&fq->out[0]); i++)
    {
      const LptUse *use = lpt_value_use (&fq->out[0], i);

      if (use->index > 1 || !lpt_weighted_view (use->node, &view) || (view.window && use->index == 1) ||
          !lpt_value_is_quantized (lpt_node_in (use->node, 1 - use->index), &config->default_precisions))
        return FALSE;
      first |= use->index == 0;
    }

  return config->update_precisions && lpt_value_n_uses (&fq->out[0]) > 0 && lpt_quantize_details_read (fq, &details) &&
         (first ? details.n_out == 1 : lpt_weights_precision (rw, fq, &details, &precision) && precision.has_zp);
}

/* The codes of weights as a constant with a chain that nobody folds, as files have them. */
static void
evaluate (LptRewriter *rw,
          LptNode     *fq)
{
  LptTensor *codes = lpt_fold_fake_quantize (fq, fq->out[0].dtype, TRUE);
  LptValue *constant;

  if (codes == NULL)
    return;
  for (guint i = 0; i < lpt_value_n_uses (&fq->out[0]); i++)
    lpt_value_use (&fq->out[0], i)->node->flags |= LPT_NODE_KEEP_CONST;
  constant = lpt_rewriter_const (rw, fq->name, codes);
  lpt_node_take_name (constant->producer, fq, "/replaced");
  lpt_rewriter_replace (rw, &fq->out[0], constant, NULL);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *fq)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_auto (LptQuantizeDetails) details = { 0 };
  g_auto (LptDecomposition) parts = { NULL };
  LptNode *given = fq;
  LptDataPrecision precision = { LPT_DTYPE_UNDEFINED };
  LptBoxValue *box;
  guint64 levels = 0;
  LptNode *fresh;
  gboolean ok, weights;

  if (!lpt_levels_are_supported ((guint64) LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels))
    return lpt_rewriter_decline (rw, fq, "FakeQuantize has %" G_GINT64_FORMAT " levels",
                                 LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels);
  if (!lpt_quantize_is_supported (fq))
    return lpt_rewriter_decline (rw, fq, "an interval of the FakeQuantize is not constant");
  fq = fuse_convert (rw, fq);
  weights = lpt_value_is_constant_path (lpt_node_in (fq, 0)) && is_taken_as_codes (rw, fq);
  if (lpt_value_is_constant_path (lpt_node_in (fq, 0)) && !is_part_of_data (fq) && !weights)
    return fq != given;
  box = lpt_box (fq->graph, fq->out[0].mark.precisions);
  if (box == NULL || box->types.n == 0)
    return leave (rw, fq, given, box == NULL ? "no types were propagated to the FakeQuantize"
                                             : "the consumers of the FakeQuantize need different types");
  if (!lpt_quantize_details_read (fq, &details))
    return leave (rw, fq, given, "the intervals of the FakeQuantize do not fit together");
  if (has_unknown_channels (fq, &details))
    return leave (rw, fq, given, "its interval is per channel and the number of channels is dynamic");

  if (lpt_dtype_is_low (fq->out[0].dtype))
    {
      LptDequant below;

      if (!takes_other_type (fq, &details, &box->types, &below))
        return keep_type (fq, fq != given);
      fresh = lpt_quantize_compose (rw, fq, &below);
      if (fresh == NULL)
        return leave (rw, fq, given, "the dequantization behind the FakeQuantize cannot be taken into its interval");
      fq = fresh;
      lpt_quantize_details_clear (&details);
      if (!lpt_quantize_details_read (fq, &details))
        return TRUE;
    }
  if (!choose (rw, fq, &details, &precision))
    return fq != given;

  if (needs_alignment (fq) && fq->mark.interval != 0)
    {
      const LptInterval *interval = &lpt_box (fq->graph, fq->mark.interval)->interval;

      if (interval->min_levels <= 2)
        {
          lpt_rewriter_decline (rw, fq, "the narrowest interval of its region would keep %" G_GUINT64_FORMAT " levels",
                                interval->min_levels);
          return fq != given;
        }
      ok = decompose_aligned (rw, fq, &details, &precision, &parts, &levels);
    }
  else if (!lpt_decompose (&details, &precision, &parts))
    return leave (rw, fq, given, "a step of the FakeQuantize is not within 1e-32 and 1e32");
  else
    ok = TRUE;
  if (!ok || (!config->update_precisions && lpt_decomposition_is_identity (&parts)))
    return fq != given;

  fresh = lpt_quantize_rebuild (rw, fq, parts.low, parts.high,
                                config->update_precisions ? precision.dtype : fq->out[0].dtype, levels);
  if (fresh == NULL)
    return fq != given;
  put_chain (rw, fq, fresh, &parts);
  if (weights)
    evaluate (rw, fresh);
  else
    lpt_rewriter_visit (rw, fresh);

  return TRUE;
}

const LptPass lpt_pass_fake_quantize_decomposition = {
  .name      = "fake-quantize-decomposition",
  .doc       = "Split FakeQuantize into quantize and dequantize",
  .stage     = LPT_STAGE_DECOMPOSE,
  .roots     = LPT_ROOTS (LPT_OP_FAKE_QUANTIZE),
  .rewrite   = rewrite,
  .exactness = LPT_COARSENS,
};
