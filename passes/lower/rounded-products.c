/* rounded-products.c - products of data that is rounded at run time, as TensorFlow Lite's hybrid operators round it
 *
 *     MatMul (DynamicFakeQuantize (x), w)       =>  BlockMatMul (codes, codes of w, s, scales of w, z)
 *     Convolution (DynamicFakeQuantize (x), w)  =>  Convolution (codes, codes of w, z) * (s * scales of w)
 *     codes, s, z = DynamicQuantize (x), of the same rows and by the same rule
 *
 * w are constant codes of 8 bits with a scale for each output, a matrix's also of 4 bits, and with a scale for each
 * block of a row; the rows are those of the matrix, or the images of the convolution. TensorFlow Lite's kernels compute
 * so: in real numbers it is the same, and sums of codes are exact, where sums of rounded numbers are rounded in f32.
 * So a file's hybrid operators run on integers. Others (rows of another axis, weights that are computed or have fewer
 * scales than outputs have parts) stay real.
 *
 * Part of weight-only.c, which finds the products. The way back: raise-rounded.c.
 *
 * Golden tests: tests/golden/weight-only/rounded-*.lpt
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "ir/scalar/lpt-loop.h"
#include "passes/lower/weight-only.h"

LptNode *
lpt_rounded_source (const LptValue *x)
{
  LptNode *node = x->producer;

  return node->op == LPT_OP_DYNAMIC_FAKE_QUANTIZE && x->dtype == LPT_DTYPE_F32 &&
                 lpt_node_in (node, 0)->dtype == LPT_DTYPE_F32 && lpt_node_in (node, 0)->shape.rank > 0
             ? node
             : NULL;
}

LptNode *
lpt_rounded_codes (LptWeightOnly *u,
                   LptNode       *source)
{
  const LptDynamicFakeQuantizeAttrs *from = LPT_ATTRS (source, LptDynamicFakeQuantizeAttrs);
  g_autofree char *key = g_strdup_printf ("%p rounded", (gpointer) source);
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  LptNode *node = g_hash_table_lookup (u->codes, key);
  LptValue *x = lpt_node_in (source, 0);
  LptDynamicQuantizeAttrs *attrs;

  if (node != NULL)
    return node;
  node = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_DYNAMIC_QUANTIZE, 0, NULL, 1, &x);
  attrs = LPT_ATTRS (node, LptDynamicQuantizeAttrs);
  attrs->axis = from->axis;
  attrs->symmetric = from->symmetric;
  attrs->litert = TRUE;
  node->requant = g_strdup (source->requant);
  lpt_node_set_origin (node, source->origin);
  lpt_node_take_name (node, source, "/real");
  lpt_value_set_quant (&node->out[0], unit);
  lpt_value_set_quant (&node->out[2], unit);
  g_hash_table_insert (u->codes, g_steal_pointer (&key), lpt_rewriter_infer (u->rw, node));

  return node;
}

void
lpt_rounded_name_weights (LptValue *codes,
                          LptValue *real)
{
  LptNode *node = real->producer;

  if (lpt_value_n_uses (real) == 1 && node->op == LPT_OP_DEQUANTIZE && lpt_value_n_uses (lpt_node_in (node, 0)) == 1 &&
      lpt_node_const_in (node, 0) != NULL)
    lpt_node_take_name (codes->producer, lpt_node_src (node, 0), "/real");
}

gboolean
lpt_rounded_matmul (LptWeightOnly        *u,
                    LptNode              *source,
                    const LptWeightCodes *w,
                    LptValue            **in,
                    gint64               *block)
{
  const LptDynamicFakeQuantizeAttrs *attrs = LPT_ATTRS (source, LptDynamicFakeQuantizeAttrs);
  const gint rank = lpt_node_out (source)->shape.rank;
  LptNode *codes;
  gint axis;

  if (rank < 2 || !lpt_axis_normalize (attrs->axis, rank, &axis) || axis != rank - 1 || *block == 0)
    return FALSE;
  codes = lpt_rounded_codes (u, source);
  in[0] = &codes->out[0];
  in[2] = &codes->out[1];
  in[6] = attrs->symmetric ? NULL : &codes->out[2];
  if (w->block == 0)
    *block = MIN ((w->k + 15) / 16 * 16, LPT_BLOCK_MATMUL_MAX_BLOCK);

  return TRUE;
}
