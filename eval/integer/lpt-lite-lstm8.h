/* lpt-lite-lstm8.h - sizes and multipliers of a LiteLSTMCell8, for its function (lpt-lite-lstm8.c) and its operator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-lite-lstm.h"

/* Of a gate: the product with x and the one with h are codes of 8 bits each, and these make their sum. */
typedef struct
{
  LptMultiplier of_x, of_h;              /* sums of products, to codes */
  gint32        zero_x, zero_h;          /* of those codes */
  LptMultiplier from_x, from_h;          /* from them to numbers of 16 bits */
  float         norm, bias;              /* steps of the layer norm's factors and of what it adds */
} LptLiteGate8;

typedef struct
{
  gint64        batch, inputs, cells, outputs;
  LptLiteGate8  gate[4];                 /* i f c o; that of i is empty */
  LptMultiplier of_projection;
  gint32        clip, projection_clip;   /* 0: none */
} LptLiteLstm8;

/* @in: LPT_LSTM_N_IN arrays, NULL where there is none. */
LptLiteLstm8 lpt_lite_lstm8      (LptNode *node, const LptArray *const *in);
/* One gate's @n numbers: layer norm, then its function, in place; @gate is 1 f, 2 c, 3 o. */
void         lpt_lite_lstm8_gate (const LptLiteLstm8 *s, guint gate, const gint16 *norm, const gint32 *bias, gint16 *v);
/* New cells and hidden values from the gates f, c, o; @hidden may be @f. */
void         lpt_lite_lstm8_cell (const LptLiteLstm8 *s, const gint16 *f, const gint16 *c, const gint16 *o,
                                  const gint16 *before, gint16 *cell, gint16 *hidden);
