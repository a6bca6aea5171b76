/* recurrent.c - weights of recurrent layers
 *
 *     LSTMSequence (x, h, c, lengths, w, r, b)
 *  => LSTMSequence (x, h, c, lengths, FakeQuantize (w), FakeQuantize (r), b)
 *
 * Signed codes of one scale for all of w and one for all of r, chosen as those of products (lattices.c): gates stand in
 * another order in ONNX, where codes of one scale are moved as they are. Data and states stay real, for what comes back
 * through the state is rounded at every step; the executor makes 16-bit codes of each of their rows.
 *
 * Refused: weights that are not constant; targets with rules for codes, which have no such operator; what the target
 * keeps real.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "quantize/quantizer.h"

#include <lpt/lpt-work.h>

/* Weights [(directions,) rows, columns] on @port as one matrix with one scale. FALSE: they are not constant. */
static gboolean
view (LptNode *node, guint port, LptLayer *layer)
{
  LptTensor *w = lpt_node_const_in (node, port);
  if (w == NULL || lpt_tensor_count (w) == 0 || lpt_tensor_shape (w)->rank < 2
      || !lpt_dtype_is_real (lpt_tensor_dtype (w)))
    return FALSE;
  *layer = (LptLayer) { .node = node, .weights_port = port, .groups = 1, .outputs = 1, .inputs = 1, .n_scale = 1,
                        .places = lpt_tensor_count (w), .dtype = LPT_DTYPE_I8, .low = -127, .high = 127 };
  return TRUE;
}

const char *
lpt_quantize_add_recurrent (LptQuantizer *q, LptNode *node)
{
  guint first = lpt_node_recurrent_weights (node);
  LptLayer layers[2];
  if (q->options->config->quant_rules != LPT_QUANT_RULES_NONE)
    return "a recurrent layer: the target has no integers for it";
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    if (!view (node, first + i, &layers[i]))
      return "a recurrent layer: its weights are not constant";
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    g_ptr_array_add (q->recurrent, g_memdup2 (&layers[i], sizeof layers[i]));
  return NULL;
}
