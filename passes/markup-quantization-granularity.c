/* passes/markup-quantization-granularity.c - mark inputs that need one scale for the whole tensor
 *
 * The target's granularity restrictions go to the inputs that they name (all, when none is
 * named). Marks only; no value changes.
 *
 * Golden tests: tests/golden/markup-quantization-granularity/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "passes/core/lpt-markup.h"
#include "passes/support/lpt-restricted.h"

static void
mark (LptRewriter *rw,
      LptNode     *node)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  const LptGranularityRestriction *restriction = lpt_config_granularity (config, node);
  guint i;

  if (restriction == NULL || lpt_config_vetoes (config, "markup-quantization-granularity", node))
    return;
  for (i = 0; i < node->n_in; i++)
    if (lpt_granularity_is_about (restriction, i))
      node->in[i].mark.granularity = restriction->granularity;
  lpt_rewriter_changed (rw, node);
}

static gboolean
run (LptRewriter  *rw,
     LptGraph     *graph,
     GError      **error)
{
  if (lpt_rewriter_config (rw)->granularity->len == 0)
    return TRUE;

  return lpt_markup_each (rw, graph, mark, error);
}

const LptPass lpt_pass_markup_quantization_granularity = {
  .name      = "markup-quantization-granularity",
  .doc       = "Mark inputs that need one scale for the whole tensor",
  .stage     = LPT_STAGE_MARKUP,
  .run       = run,
  .exactness = LPT_EXACT,
};
