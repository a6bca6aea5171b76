/* hold-restrictions.c - a lowered graph keeps the restrictions of its configuration
 *
 *     op on integers that its restriction does not allow  =>  Quantize (op (Dequantize (...)))
 *     its int32 accumulators                              =>  real values, for their readers, too
 *
 * Lowering asks before it emits an op, so that little is left: what lowering itself and the demands of a target add
 * (Requantize, Reinterpret, Clamp, ReLU). An op that moves integers without quantization does so in f32. What
 * cannot be real (integers that the model itself computes with, ops on integers alone) is an error that names the node.
 *
 * Golden tests: tests/golden/hold-restrictions/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/lower/unlower.h"
#include "passes/support/lpt-restricted.h"

/* Is the op one on integers alone (Table, steps of TensorFlow Lite's recurrent layers)? */
static gboolean
has_no_real_form (const LptNode *node)
{
  return (node->info->flags & LPT_OP_F_LOWERED) != 0 && (node->info->flags & LPT_OP_F_QUANTIZES) == 0;
}

/* Of what can be real. */
static char *
breach_of (LptRewriter *rw,
           LptNode     *node)
{
  return has_no_real_form (node) ? NULL : lpt_config_node_breach (lpt_rewriter_config (rw), node);
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
                   "node \"%s\": unsupported: %s: %s, and it cannot be real: %s", first->node->name,
                   first->node->info->name, first->what,
                   has_no_real_form (first->node) ? "the op has no real form" : "the model itself has these integers");
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
