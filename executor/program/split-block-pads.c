/* split-block-pads.c - SpaceToBatch of padded data is a Pad, and a SpaceToBatch that only moves
 *
 *     SpaceToBatch (x, block, begin, end)  =>  SpaceToBatch (Pad (x, begin, end, 0), block, 0, 0)
 *
 * Both have kernels: what only moves lies evenly in memory. Of codes the zero is their zero point. The same bytes. What
 * stood around a convolution has become its dilation before (join-dilations.c).
 *
 * Left alone: borders that are computed; several quantizations. The graph is the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "executor/program/lpt-program-passes.h"
#include "ir/infer/lpt-evaluate.h"
#include "ir/infer/lpt-infer-util.h"
#include "ir/lpt-quant-plain.h"

/* 0 in the type of @x, or its zero point; NULL: there is none for all of it, or the zero point is no code. */
static LptValue *
zero_of (LptGraph       *graph,
         const LptValue *x)
{
  g_autoptr (LptTensor) number = NULL;
  LptValue *value;

  if (x->quant != NULL && (x->quant->n != 1 || !lpt_quant_zeros_fit (x->quant, x->dtype)))
    return NULL;
  number = lpt_tensor_scalar (x->dtype, x->quant != NULL ? x->quant->zero_point[0] : 0);
  if (number == NULL)
    return NULL;
  value = lpt_node_out (lpt_graph_add_const (graph, NULL, number));
  lpt_value_set_quant (value, x->quant);

  return value;
}

/* Some element of the constant @value is not 0; FALSE: or it is computed, or of another rank than @rank. */
static gboolean
has_border (LptValue *value,
            gint      rank,
            gboolean *any)
{
  g_auto (LptInts) border = { 0 };

  if (value == NULL || !lpt_value_ints (value, &border) || (gint) border.n != rank)
    return FALSE;
  for (guint i = 0; i < border.n; i++)
    {
      if (border.v[i] == LPT_UNKNOWN || border.v[i] < 0)
        return FALSE;
      *any = *any || border.v[i] != 0;
    }

  return TRUE;
}

static void
split (LptGraph *graph,
       LptNode  *node)
{
  LptValue *x = lpt_node_in (node, 0), *in[4] = { x, lpt_node_in (node, 2), lpt_node_in (node, 3), NULL }, *none;
  const gint64 zeros[LPT_MAX_RANK] = { 0 };
  g_autoptr (LptTensor) border = NULL;
  gboolean any = FALSE;
  LptNode *pad;

  if (!lpt_shape_is_static (&x->shape) || !has_border (in[1], x->shape.rank, &any) ||
      !has_border (in[2], x->shape.rank, &any) || !any || (in[3] = zero_of (graph, x)) == NULL)
    return;
  pad = lpt_graph_add (graph, LPT_OP_PAD, 0, NULL, 4, in);
  LPT_ATTRS (pad, LptPadAttrs)->pad_mode = LPT_PAD_CONSTANT;
  lpt_value_set_quant (lpt_node_out (pad), x->quant);
  lpt_node_set_origin (pad, node->origin);
  if (!lpt_node_infer (pad, NULL))
    return;
  border = lpt_tensor_vector_i64 ((guint) x->shape.rank, zeros);
  none = lpt_node_out (lpt_graph_add_const (graph, NULL, border));
  lpt_node_set_input (node, 0, lpt_node_out (pad));
  lpt_node_set_input (node, 2, none);
  lpt_node_set_input (node, 3, none);
}

static void
visit (LptNode *node)
{
  if (node->op == LPT_OP_SPACE_TO_BATCH && node->n_in == 4)
    split (node->graph, node);
}

gboolean
lpt_program_split_block_pads (LptProgram *program,
                              GError    **error)
{
  return lpt_program_visit (program, visit, error);
}
