/* passes/quantize-grid-weights.c - real weights that are multiples of a step, beside quantized data
 *
 *     op (x, w)  =>  op (x, FakeQuantize (w, L s, H s, L s, H s) of H - L + 1 levels)
 *
 * where x comes from a FakeQuantize or a dequantization and every weight is a whole number between L and H times s: one
 * step for all, or one for each output channel. Files whose quantizer was evaluated when they were written have such
 * weights. s is the greatest step that fits: the largest magnitude by 1, 2, 3, ... L and H are -127 and 127, or -128
 * and 127, or else 255 steps apart with 0 among them.
 *
 * Rounds: a weight counts as a multiple when it is one but for what single precision leaves of it, 2^-22 of the span of
 * the codes (lpt_same_code()): what is more adds up where weights of both signs cancel out.
 *
 * Left alone are weights on no grid, channels of fewer than four weights, which nearly always are on one, and
 * operations that a restriction keeps real.
 *
 * Golden tests: tests/golden/quantize-grid-weights/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "ir/lpt-memory.h"
#include "ir/lpt-weighted.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/support/lpt-same-code.h"

#define FEWEST 4
#define SPAN 255.0

/* The step of one channel and the whole numbers that its weights are, 0 among them. */
typedef struct { double step, low, high; } Grid;

/* The weights as [outer, channels, inner]; a number for each channel as [shape]. */
typedef struct { gint64 outer, channels, inner; LptShape shape; } Channels;

static gboolean
is_grid (const double *values,
         gint64        n,
         double        step,
         Grid         *grid)
{
  *grid = (Grid) { step, 0, 0 };
  for (gint64 i = 0; i < n; i++)
    {
      const double code = values[i] / step, whole = rint (code);

      if (!lpt_same_code (code, whole, LPT_DTYPE_I8))
        return FALSE;
      grid->low = MIN (grid->low, whole);
      grid->high = MAX (grid->high, whole);
    }

  return grid->high - grid->low <= SPAN;
}

/* The greatest step. Zeros alone have step 0. */
static gboolean
find_grid (const double *values,
           gint64        n,
           Grid         *grid)
{
  double most = 0;

  for (gint64 i = 0; i < n; i++)
    most = MAX (most, fabs (values[i]));
  if (most == 0)
    {
      *grid = (Grid) { 0 };
      return TRUE;
    }
  for (gint k = 1; k <= SPAN && isfinite (most); k++)
    if (is_grid (values, n, most / k, grid))
      return TRUE;

  return FALSE;
}

static void
channels_along (Channels       *channels,
                const LptShape *weights,
                gint            first,
                gint            last)
{
  *channels = (Channels) { 1, 1, 1, *weights };
  for (gint d = 0; d < weights->rank; d++)
    {
      *(d < first ? &channels->outer : d > last ? &channels->inner : &channels->channels) *= weights->dims[d];
      if (d < first || d > last)
        channels->shape.dims[d] = 1;
    }
}

/* The output channels of the weights. FALSE: no neighbouring axes are theirs. */
static gboolean
channels_of (LptNode        *node,
             const LptShape *weights,
             Channels       *channels)
{
  LptWeightedView view;

  if (!lpt_weighted_view (node, &view) || weights->rank < 2 || (view.grouped && view.transposed))
    return FALSE;
  if (view.window)
    channels_along (channels, weights, view.grouped ? 0 : view.out, view.out);
  else
    {
      const gint axis = weights->rank - (LPT_ATTRS (node, LptMatMulAttrs)->transpose_b ? 2 : 1);

      channels_along (channels, weights, axis, axis);
    }

  return TRUE;
}

/* A grid for each channel in place of one for all (g_free); NULL: not all have one. */
static Grid *
find_grids (const double   *values,
            const Channels *channels)
{
  const gint64 n = channels->outer * channels->inner;
  g_autofree double *of_one = lpt_memory_try ((gsize) n, sizeof *of_one, NULL);
  g_autofree Grid *grids = lpt_memory_try ((gsize) channels->channels, sizeof *grids, NULL);

  if (n < FEWEST || of_one == NULL || grids == NULL)
    return NULL;
  for (gint64 c = 0; c < channels->channels; c++)
    {
      for (gint64 o = 0; o < channels->outer; o++)
        for (gint64 i = 0; i < channels->inner; i++)
          of_one[o * channels->inner + i] = values[(o * channels->channels + c) * channels->inner + i];
      if (!find_grid (of_one, n, &grids[c]))
        return NULL;
    }

  return g_steal_pointer (&grids);
}

/* Levels for all channels: -127 to 127, -128 to 127, or 256 from the least of each. FALSE: there are zeros alone. */
static gboolean
choose_levels (Grid   *grids,
               gint64  n,
               gint64 *levels)
{
  double low = 0, high = 0, step = 0;

  for (gint64 c = 0; c < n; c++)
    {
      low = MIN (low, grids[c].low);
      high = MAX (high, grids[c].high);
      step = MAX (step, grids[c].step);
    }
  *levels = low >= -127 && high <= 127 ? 255 : 256;
  for (gint64 c = 0; c < n; c++)
    {
      if (grids[c].step == 0)
        grids[c].step = step;
      if (high <= 127 && low >= -128)
        grids[c].low = 128 - (double) *levels;
      grids[c].high = grids[c].low + (double) *levels - 1;
    }

  return step > 0;
}

static LptValue *
end_const (LptRewriter    *rw,
           const char     *base,
           const Grid     *grids,
           const LptShape *shape,
           gboolean        upper)
{
  g_autofree char *name = g_strconcat (base, upper ? "/high" : "/low", NULL);
  gint64 n = 1;

  lpt_shape_count (shape, &n);
  g_autofree double *ends = g_new (double, (gsize) n);
  for (gint64 c = 0; c < n; c++)
    ends[c] = grids[c].step * (upper ? grids[c].high : grids[c].low);

  return lpt_rewriter_const (rw, name, lpt_tensor_from_f64 (LPT_DTYPE_F32, shape, ends, NULL));
}

static gboolean
is_wanted (LptRewriter *rw,
           LptNode     *node)
{
  const LptRestriction *restriction = lpt_config_restriction (lpt_rewriter_config (rw), node);
  LptTensor *weights = (node->info->flags & LPT_OP_F_WEIGHTED) != 0 ? lpt_node_const_in (node, 1) : NULL;

  return weights != NULL && lpt_tensor_dtype (weights) == LPT_DTYPE_F32 && lpt_tensor_count (weights) >= FEWEST &&
         lpt_node_in (node, 1)->quant == NULL && lpt_node_in (node, 0) != NULL &&
         (restriction == NULL || !lpt_restriction_is_never (restriction)) &&
         lpt_value_is_quantized (lpt_node_in (node, 0), &lpt_rewriter_config (rw)->default_precisions);
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  LptTensor *weights = is_wanted (rw, node) ? lpt_node_const_in (node, 1) : NULL;
  g_autofree double *values = weights != NULL ? lpt_tensor_to_f64 (weights, NULL) : NULL;
  Channels channels = { 1, 1, 1, LPT_SHAPE_SCALAR };
  g_autofree Grid *grids = NULL;
  g_autofree char *name = NULL;
  LptValue *in[5];
  LptNode *fq;
  gint64 levels;
  Grid one;

  if (values == NULL)
    return FALSE;
  if (find_grid (values, lpt_tensor_count (weights), &one))
    grids = g_memdup2 (&one, sizeof one);
  else if (channels_of (node, lpt_tensor_shape (weights), &channels))
    grids = find_grids (values, &channels);
  if (grids == NULL || !choose_levels (grids, channels.channels, &levels))
    return FALSE;
  in[0] = lpt_node_in (node, 1);
  name = g_strconcat (in[0]->producer->name, "/grid", NULL);
  in[1] = in[3] = end_const (rw, name, grids, &channels.shape, FALSE);
  in[2] = in[4] = end_const (rw, name, grids, &channels.shape, TRUE);
  fq = lpt_graph_add (lpt_rewriter_graph (rw), LPT_OP_FAKE_QUANTIZE, 1, name, 5, in);
  LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels = levels;
  lpt_node_set_input (node, 1, &lpt_rewriter_infer (rw, fq)->out[0]);

  return TRUE;
}

const LptPass lpt_pass_quantize_grid_weights = {
  .name      = "quantize-grid-weights",
  .doc       = "Real weights that are multiples of a step, beside quantized data",
  .stage     = LPT_STAGE_PREPARE,
  .rewrite   = rewrite,
  .exactness = LPT_ROUNDS,
};
