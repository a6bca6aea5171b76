/* hold-restrictions.c - a lowered graph keeps the restrictions of its configuration
 *
 *     op on integers that its restriction does not allow  =>  Quantize (op (Dequantize (...)))
 *     its int32 accumulators                              =>  real values, for their readers, too
 *
 * Lowering asks before it emits an op, so that little is left: what lowering itself and the demands of a target add
 * (Requantize, Reinterpret, Clamp, ReLU). An op that moves integers without quantization does so in f32. What
 * cannot be real (integers that the model itself computes with) is an error that names the node.
 *
 * Golden tests: tests/golden/hold-restrictions/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/lower/unlower.h"
#include "passes/support/lpt-restricted.h"

static char *
breach_of (LptRewriter *rw,
           LptNode     *node)
{
  return lpt_config_node_breach (lpt_rewriter_config (rw), node);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_autoptr (GPtrArray) left = NULL;

  if (config->restrictions->len == 0 && config->granularity->len == 0)
    return TRUE;
  if (!lpt_unlower_where (rw, graph, breach_of, error))
    return FALSE;

  left = lpt_config_check (config, graph);
  if (left->len > 0)
    {
      const LptViolation *first = left->pdata[0];

      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                   "node \"%s\": unsupported: %s: %s, and it cannot be real: the model itself has these integers",
                   first->node->name, first->node->info->name, first->what);
      return FALSE;
    }

  return TRUE;
}

const LptPass lpt_pass_hold_restrictions =
{
  .name      = "hold-restrictions",
  .doc       = "What lowering adds keeps the restrictions, too: else it computes on real values",
  .stage     = LPT_STAGE_LOWER,
  .run       = run,
  .exactness = LPT_ROUNDS,
};
