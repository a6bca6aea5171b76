/* rnn.c - inference of LSTM, GRU and RNN cells and sequences
 *
 * Cells: X [B,I], H [B,S], (C [B,S]), W [gS,I], R [gS,S], (bias [gS]) -> [B,S] each.
 * Sequences: X [B,T,I], H [B,D,S], (C [B,D,S]), lengths [B], W [D,gS,I], R [D,gS,S], bias [D,gS]
 *   -> Y [B,D,T,S], last H (and C) [B,D,S].
 * g = 4, 3, 1 gates; D = 2 when bidirectional; the bias of linear_before_reset has one more gate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "ir/infer/lpt-infer-util.h"

/* Merges dimension @axis of input @i into *dim. */
static gboolean
merge_dim (LptNode    *node,
           guint       i,
           gint        axis,
           const char *what,
           gint64     *dim,
           GError    **error)
{
  LptShape shape = lpt_infer_shape_in (node, i);
  gint64 have = lpt_shape_dim (&shape, axis);

  if (!lpt_dim_merge (*dim, have, dim))
    return lpt_infer_fail (error, "%s is %" G_GINT64_FORMAT " by input %u, but %" G_GINT64_FORMAT, what, have, i, *dim);

  return TRUE;
}

/* W, R and the bias, whose last axes start at @axis. */
static gboolean
check_weights (LptNode   *node,
               guint      w,
               gint       axis,
               gint64     hidden,
               gboolean   linear,
               gint64     input_size,
               GError   **error)
{
  gint64 rows = 0, bias_rows = 0, gates = lpt_node_recurrent_gates (node);
  gint64 inputs = input_size;
  gint64 recurrent = hidden;

  if (!lpt_dim_mul (hidden, gates, &rows) || !lpt_dim_mul (hidden, gates + (linear ? 1 : 0), &bias_rows))
    return lpt_infer_fail (error, "hidden_size %" G_GINT64_FORMAT " overflows", hidden);

  return lpt_infer_want_rank (node, w, axis + 2, axis + 2, error) &&
         lpt_infer_want_rank (node, w + 1, axis + 2, axis + 2, error) &&
         lpt_infer_want_rank (node, w + 2, axis + 1, axis + 1, error) &&
         merge_dim (node, w, axis, "the number of rows of W", &rows, error) &&
         merge_dim (node, w, axis + 1, "the input size", &inputs, error) &&
         merge_dim (node, w + 1, axis, "the number of rows of R", &rows, error) &&
         merge_dim (node, w + 1, axis + 1, "the hidden size", &recurrent, error) &&
         (lpt_node_in (node, w + 2) == NULL ||
          merge_dim (node, w + 2, axis, "the length of the bias", &bias_rows, error));
}

gboolean
lpt_infer_rnn_cell (LptNode *node,
                    GError **error)
{
  const LptRnnCellAttrs *attrs = LPT_ATTRS (node, LptRnnCellAttrs);
  gint64 gates = lpt_node_recurrent_gates (node);
  guint states = gates == 4 ? 2 : 1;
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape out = { 2, { LPT_DYNAMIC, attrs->hidden_size } };
  LptDType dtype;

  if (attrs->hidden_size < 1)
    return lpt_infer_fail (error, "hidden_size is %" G_GINT64_FORMAT, attrs->hidden_size);
  if (!lpt_infer_same_types (node, 0, node->n_in - 1, &dtype, error))
    return FALSE;
  for (guint i = 0; i <= states; i++)
    if (!lpt_infer_want_rank (node, i, 2, 2, error) || !merge_dim (node, i, 0, "the batch", &out.dims[0], error) ||
        (i > 0 && !merge_dim (node, i, 1, "the hidden size", &out.dims[1], error)))
      return FALSE;
  if (!check_weights (node, 1 + states, 0, attrs->hidden_size, gates == 3 && attrs->linear_before_reset,
                      lpt_shape_dim (&x, 1), error))
    return FALSE;
  for (guint i = 0; i < states; i++)
    if (!lpt_infer_set (node, i, dtype, &out, error))
      return FALSE;

  return TRUE;
}

gboolean
lpt_infer_rnn_sequence (LptNode *node,
                        GError **error)
{
  const LptRnnSequenceAttrs *attrs = LPT_ATTRS (node, LptRnnSequenceAttrs);
  gint64 gates = lpt_node_recurrent_gates (node);
  guint states = gates == 4 ? 2 : 1;
  gint64 directions = attrs->direction == LPT_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  LptShape x = lpt_infer_shape_in (node, 0);
  LptShape state = { 3, { LPT_DYNAMIC, directions, attrs->hidden_size } };
  LptShape y;
  LptDType dtype = lpt_infer_dtype_in (node, 0);
  guint lengths = 1 + states;

  if (attrs->hidden_size < 1)
    return lpt_infer_fail (error, "hidden_size is %" G_GINT64_FORMAT, attrs->hidden_size);
  if (!lpt_infer_want_real (node, 0, error) || !lpt_infer_want_integer (node, lengths, "lengths", error) ||
      !lpt_infer_want_rank (node, lengths, 1, 1, error))
    return FALSE;
  for (guint i = 0; i <= states; i++)
    if (!lpt_infer_want_rank (node, i, 3, 3, error) || !merge_dim (node, i, 0, "the batch", &state.dims[0], error) ||
        (i > 0 && (!merge_dim (node, i, 1, "the number of directions", &state.dims[1], error) ||
                   !merge_dim (node, i, 2, "the hidden size", &state.dims[2], error))))
      return FALSE;
  for (guint i = 1; i <= lengths + 3; i++)
    if (i != lengths && !lpt_infer_want_real (node, i, error))
      return FALSE;
  for (guint i = lengths + 1; i <= lengths + 3; i++)
    if (lpt_node_in (node, i) != NULL && !merge_dim (node, i, 0, "the number of directions", &directions, error))
      return FALSE;
  if (!merge_dim (node, lengths, 0, "the batch", &state.dims[0], error) ||
      !check_weights (node, lengths + 1, 1, attrs->hidden_size, gates == 3 && attrs->linear_before_reset,
                      lpt_shape_dim (&x, 2), error))
    return FALSE;

  y = (LptShape) { 4, { state.dims[0], state.dims[1], lpt_shape_dim (&x, 1), state.dims[2] } };
  if (!lpt_infer_set (node, 0, dtype, &y, error))
    return FALSE;
  for (guint i = 1; i <= states; i++)
    if (!lpt_infer_set (node, i, dtype, &state, error))
      return FALSE;

  return TRUE;
}

/* x [B,n], ..., h 18 [B,outputs], c 19 [B,cells]; weights [cells,n], [cells,outputs], [outputs,cells]. */
gboolean
lpt_infer_lite_lstm_cell (LptNode *node,
                          GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0), h = lpt_infer_shape_in (node, 18), c = lpt_infer_shape_in (node, 19);
  gint64 inputs = lpt_shape_dim (&x, 1), outputs = lpt_shape_dim (&h, 1), cells = lpt_shape_dim (&c, 1),
         batch = lpt_shape_dim (&x, 0);

  if (node->n_in < 20 || lpt_node_in (node, 18) == NULL || lpt_node_in (node, 19) == NULL)
    return lpt_infer_fail (error, "the state is missing");
  if (!lpt_infer_want_rank (node, 0, 2, 2, error) || !lpt_infer_want_rank (node, 18, 2, 2, error) ||
      !lpt_infer_want_rank (node, 19, 2, 2, error) || !merge_dim (node, 18, 0, "the batch", &batch, error) ||
      !merge_dim (node, 19, 0, "the batch", &batch, error))
    return FALSE;
  for (guint g = 0; g < 4; g++)
    {
      if ((lpt_node_in (node, 1 + g) == NULL || lpt_node_in (node, 5 + g) == NULL) && g > 0)
        return lpt_infer_fail (error, "weights of gate %u are missing", g);
      if (lpt_node_in (node, 1 + g) != NULL && (!lpt_infer_want_rank (node, 1 + g, 2, 2, error) ||
                                                !merge_dim (node, 1 + g, 0, "the number of cells", &cells, error) ||
                                                !merge_dim (node, 1 + g, 1, "the input size", &inputs, error) ||
                                                !lpt_infer_want_rank (node, 5 + g, 2, 2, error) ||
                                                !merge_dim (node, 5 + g, 0, "the number of cells", &cells, error) ||
                                                !merge_dim (node, 5 + g, 1, "the output size", &outputs, error)))
        return FALSE;
    }
  for (guint i = 9; i < node->n_in; i++)
    if (lpt_node_in (node, i) != NULL && (i < 16 || i >= 20) &&
        (!lpt_infer_want_rank (node, i, 1, 1, error) || !merge_dim (node, i, 0, "the number of cells", &cells, error)))
      return FALSE;
  if (lpt_node_in (node, 16) != NULL ? !lpt_infer_want_rank (node, 16, 2, 2, error) ||
                                           !merge_dim (node, 16, 0, "the output size", &outputs, error) ||
                                           !merge_dim (node, 16, 1, "the number of cells", &cells, error)
                                     : !merge_dim (node, 18, 1, "the number of cells", &cells, error))
    return FALSE;
  if (lpt_node_in (node, 17) != NULL &&
      (!lpt_infer_want_rank (node, 17, 1, 1, error) || !merge_dim (node, 17, 0, "the output size", &outputs, error)))
    return FALSE;
  h = lpt_shape_make (2, (gint64[]) { batch, outputs });
  c = lpt_shape_make (2, (gint64[]) { batch, cells });

  return lpt_infer_set (node, 0, LPT_DTYPE_I8, &h, error) && lpt_infer_set (node, 1, LPT_DTYPE_I16, &c, error);
}

/* x [B,n], features [F,n], time [F,memory], bias [F/rank], state [B,F memory]. */
gboolean
lpt_infer_lite_svdf (LptNode *node,
                     GError **error)
{
  LptShape x = lpt_infer_shape_in (node, 0), wf = lpt_infer_shape_in (node, 1), wt = lpt_infer_shape_in (node, 2), y;
  gint64 rank = LPT_ATTRS (node, LptLiteSvdfAttrs)->rank, batch = lpt_shape_dim (&x, 0),
         filters = lpt_shape_dim (&wf, 0), memory = lpt_shape_dim (&wt, 1);
  gint64 inputs = lpt_shape_dim (&wf, 1), length = 0, units;

  if (node->n_in < 5 || lpt_node_in (node, 4) == NULL)
    return lpt_infer_fail (error, "the state is missing");
  for (guint i = 0; i < 5; i++)
    if (i != 3 && !lpt_infer_want_rank (node, i, 2, 2, error))
      return FALSE;
  if (!merge_dim (node, 2, 0, "the number of filters", &filters, error))
    return FALSE;
  if (rank < 1 || filters == 0 || (filters > 0 && filters % rank != 0) || memory == 0)
    return lpt_infer_fail (error, "rank %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " filters", rank, filters);
  if (filters < 0 || memory < 0)
    length = LPT_DYNAMIC;
  else if (!lpt_dim_mul (filters, memory, &length))
    return lpt_infer_fail (error, "a memory of %" G_GINT64_FORMAT " steps overflows", memory);
  units = filters < 0 ? LPT_DYNAMIC : filters / rank;
  if (!merge_dim (node, 0, 1, "the input size", &inputs, error) ||
      !merge_dim (node, 4, 1, "the length of the state", &length, error) ||
      !merge_dim (node, 4, 0, "the batch", &batch, error))
    return FALSE;
  if (lpt_node_in (node, 3) != NULL &&
      (!lpt_infer_want_rank (node, 3, 1, 1, error) || !merge_dim (node, 3, 0, "the number of units", &units, error)))
    return FALSE;
  y = lpt_shape_make (2, (gint64[]) { batch, units });
  x = lpt_shape_make (2, (gint64[]) { batch, length });

  return lpt_infer_set (node, 0, LPT_DTYPE_I8, &y, error) && lpt_infer_set (node, 1, LPT_DTYPE_I16, &x, error);
}
