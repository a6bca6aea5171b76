/* lpt-lite-lstm.h - sizes and multipliers of a LiteLSTMCell, for its function (lpt-lite-recurrent.c) and its kernels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"
#include "eval/requant/lpt-multiplier.h"

/* Inputs of the op; those of gate g (i, f, c, o) begin there. */
enum
{
  LPT_LSTM_IN_X = 0, LPT_LSTM_IN_WX = 1, LPT_LSTM_IN_WH = 5, LPT_LSTM_IN_PEEPHOLE = 9, LPT_LSTM_IN_BIAS = 12,
  LPT_LSTM_IN_PROJECTION = 16, LPT_LSTM_IN_PROJECTION_BIAS = 17, LPT_LSTM_IN_H = 18, LPT_LSTM_IN_C = 19,
  LPT_LSTM_IN_NORM = 20, LPT_LSTM_N_IN = 24
};

typedef struct
{
  gint64        batch, inputs, cells, outputs;
  gboolean      coupled;               /* no weights of gate i */
  gboolean      micro;                 /* functions by tflite-micro's table */
  LptMultiplier of_x[4], of_h[4], of_hidden;
  gint          power;                 /* the cell's scale is 2^power */
  gint32        clip;                  /* of the cell, 0: none */
} LptLiteLstm;

/* @in: LPT_LSTM_N_IN arrays, NULL where there is none. */
LptLiteLstm lpt_lite_lstm (LptNode *node, const LptArray *const *in);
