/* refused.c - what a lowered graph has on integers, an integer op can run
 *
 *     op on integers that eval/integer has no rule for  =>  Quantize (op (Dequantize (...)))
 *     its int32 output                                  =>  real values, for their readers, too, where they are sums of
 *                                                           the output's steps; else Quantize behind it
 *
 * Lowering, the demands of targets and the readers of files on integers give an op the integers of its values; whether
 * there is a rule for its types, parameters and attributes, eval/integer alone knows (lpt_int_op_new()), so that all of
 * them end here. The reason that it gives is the reason why the node is real; a plan takes no node that is left
 * (lpt_int_op_of()).
 *
 * Golden tests: tests/golden/lower/refused-*.lpt
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"
#include "passes/core/lpt-rewriter.h"
#include "passes/lower/unlower.h"

static char *
refusal_of (LptRewriter *rw,
            LptNode     *node)
{
  g_autoptr (GError) why = NULL;

  if (lpt_int_wants (node))
    lpt_int_op_free (lpt_int_op_new (node, &why));

  return why != NULL ? g_strdup_printf ("the integer op refuses it: %s", why->message) : NULL;
}

gboolean
lpt_unlower_refused (LptRewriter *rw,
                     LptGraph    *graph,
                     GError     **error)
{
  return lpt_unlower_where (rw, graph, refusal_of, error);
}

gboolean
lpt_graph_unlower_refused (LptGraph *graph,
                           GError  **error)
{
  const LptPass *const passes[] = { NULL };
  g_autoptr (LptConfig) config = lpt_config_new ();
  LptRewriter rw = { .graph = graph, .config = config, .passes = passes };

  return lpt_unlower_refused (&rw, graph, error);
}
