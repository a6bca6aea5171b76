/* passes/align-quantization-intervals.c - the combined output interval of FakeQuantizes that meet
 *
 * Each FakeQuantize with constant, finite, rising, per-tensor output interval starts a box: its interval (times
 * the scale of a chain right below it), its levels and preferred type. Operations that preserve precision
 * join the boxes of their sources: the union of the intervals, the narrowest of them, and how many levels
 * the narrowest keeps in the union. Without a Concat nothing can meet and nothing is
 * done. Marks only; no value changes.
 *
 * Golden tests: tests/golden/align-quantization-intervals/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-quantize-details.h"
#include "passes/core/lpt-markup.h"

static gboolean
all_equal (const float *v,
           guint        n)
{
  guint i;

  for (i = 1; i < n; i++)
    if (v[i] != v[0])
      return FALSE;

  return isfinite (v[0]);
}

static void
create (LptRewriter *rw,
        LptNode     *fq)
{
  g_auto (LptQuantizeDetails) details = { 0 };
  LptPrecisionDetails preferred;
  LptInterval *interval;
  LptDequant below;
  float scale = 1;
  LptBox box;

  if (!lpt_quantize_is_supported (fq) || !lpt_quantize_details_read (fq, &details) ||
      !all_equal (details.out_low, details.n_out) || !all_equal (details.out_high, details.n_out) ||
      details.out_low[0] > details.out_high[0])
    return;
  if (lpt_dequant_find_below (fq, TRUE, &below))
    scale = (float) lpt_tensor_get_f64 (lpt_dequant_scale (&below), 0);
  preferred = lpt_quantize_precision (&details);

  box = lpt_box_new (fq->graph, LPT_BOX_INTERVAL);
  interval = &lpt_box (fq->graph, box)->interval;
  interval->low = interval->min_low = details.out_low[0] * scale;
  interval->high = interval->min_high = details.out_high[0] * scale;
  interval->levels = interval->min_levels = details.levels;
  if (preferred.dtype != LPT_DTYPE_UNDEFINED)
    lpt_type_list_add (&interval->preferred, preferred.dtype);
  fq->mark.interval = box;
  lpt_rewriter_changed (rw, fq);
}

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  if (lpt_config_vetoes (lpt_rewriter_config (rw), "align-quantization-intervals", node))
    return;
  if (node->op == LPT_OP_FAKE_QUANTIZE)
    create (rw, node);
  else
    lpt_markup_spread (rw, node, LPT_SPREAD_INTERVAL);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  return !lpt_graph_has (graph, LPT_OP_CONCAT) || lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_align_quantization_intervals = {
  .name      = "align-quantization-intervals",
  .doc       = "Collect the intervals of FakeQuantizes that meet in a Concat",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
