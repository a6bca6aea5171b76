/* onnx-lstm.h - functions of recurrent operators, and an LSTM step by step
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ONNX_LSTM_H
#define LPT_ONNX_LSTM_H

#include "frontends/onnx_json/read/onnx-import.h"

/* A function of gates or of a state; see onnx-activations.def. */
typedef struct _LptOnnxActivation LptOnnxActivation;
struct _LptOnnxActivation
{
  const char *name;
  LptValue  *(*build) (LptOnnxNode *on, const LptOnnxActivation *function, LptValue *x);
  LptOp       op;
  guint       numbers;
  double      alpha, beta;
};

/* "activations" with their numbers: @n in each of @directions. A list for one direction stands for both; FALSE: the
 * node names none, these are its own. */
gboolean  lpt_onnx_activations (LptOnnxNode *on, guint n, guint directions, LptOnnxActivation *list);
/* Does the node give numbers, "activation_alpha" or "activation_beta"? */
gboolean  lpt_onnx_activation_numbers (LptOnnxNode *on);

typedef struct
{
  gint64            hidden;
  gint64            directions;
  gboolean          backwards;       /* a single direction */
  gboolean          coupled;         /* input_forget: f = 1 - i */
  double            clip;            /* 0 = none */
  LptOnnxActivation activation[6];   /* of the gates, the candidate and the cell; three of each direction */
} LptOnnxLstm;

/* What a direction starts from, in this order also the parameters of its body. */
enum
{
  LPT_ONNX_LSTM_STEP,        /* [T, B, 4 S]: i o f c, products of X with their bias */
  LPT_ONNX_LSTM_POSITION,    /* set by lpt_onnx_lstm_run() */
  LPT_ONNX_LSTM_HIDDEN,      /* [B, S] */
  LPT_ONNX_LSTM_CELL,
  LPT_ONNX_LSTM_LAST_HIDDEN, /* set by lpt_onnx_lstm_run() */
  LPT_ONNX_LSTM_LAST_CELL,
  LPT_ONNX_LSTM_WEIGHTS,     /* [4 S, S]; with a scale [S, 4 S] */
  LPT_ONNX_LSTM_SCALE,       /* of codes of the weights: each step quantizes the state anew; NULL = real weights */
  LPT_ONNX_LSTM_LENGTHS,     /* [B] or NULL = all steps */
  LPT_ONNX_LSTM_PEEPHOLES,   /* [3 S]: i o f, or NULL */
  LPT_ONNX_LSTM_INPUTS
};

/* direction, clip, input_forget, activations and hidden_size, which is @hidden where the node does not say; FALSE +
 * error of the node. */
gboolean  lpt_onnx_lstm_read      (LptOnnxNode *on, LptOnnxLstm *lstm, gint64 hidden);
/* Element @d of axis 0, without the axis; NULL stays NULL. */
LptValue *lpt_onnx_of_direction   (LptOnnxNode *on, LptValue *x, gint64 d);
/* Direction @d: @in as above -> @out: [T, B, S], state and cell [B, S]. */
void      lpt_onnx_lstm_run       (LptOnnxNode *on, const LptOnnxLstm *lstm, gint64 d, LptValue **in, LptValue **out);
/* Sets the operator's outputs from those of each direction. */
void      lpt_onnx_lstm_set       (LptOnnxNode *on, const LptOnnxLstm *lstm, LptValue *(*out)[3]);

#endif
