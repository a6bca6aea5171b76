/* lpt-recurrent.h - LSTM, GRU and Elman networks: gates and states of one step
 *
 * Gates in the order of the weights' rows:
 *   LSTM  f i c o   f, i, o = f1 (x W + h R + b), c' = f2 (...);  C = f C + i c',  H = o f3 (C)
 *   GRU   z r h     z, r = f1 (...);  h' = f2 (x W + (r H) R + b), or with linear_before_reset
 *                   f2 (x W + r (H R + bR) + bW);  H = (1 - z) h' + z H
 *   RNN             H = f1 (x W + h R + b)
 *
 * Products are chains of fused multiply-adds in float32; x W + b is rounded, then h R is added to it. What follows is
 * float32, each operation rounded; sigmoid, tanh and ReLU are those of executor/kernels/float, rarer functions go
 * through f64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-graph.h>

#include "executor/kernels/float/float.h"

typedef enum { LPT_RECURRENT_LSTM, LPT_RECURRENT_GRU, LPT_RECURRENT_RNN } LptRecurrentKind;

typedef struct
{
  LptFloatMap map;                                   /* LPT_N_MAPS: `func` */
  double    (*func) (double x, double a, double b);
  double      a, b;
} LptRecurrentGate;

typedef struct
{
  LptRecurrentKind kind;
  gboolean         cell;             /* one step: inputs and outputs have no axis of time */
  gboolean         linear_before_reset, clips;
  guint            states, directions;
  gint64           gates, bias_gates, inputs, hidden;
  float            clip;
  LptRecurrentGate f[3];
} LptRecurrent;

/* Of a cell or sequence with @inputs features. FALSE + error: an activation that is not known. */
gboolean lpt_recurrent_init    (LptRecurrent *net, const LptNode *node, gint64 inputs, guint direction, GError **error);
/* Does direction @direction begin with the last element of each sequence? */
gboolean lpt_recurrent_reverse (const LptNode *node, guint direction);
/* Indices of the node's inputs. */
guint    lpt_recurrent_lengths (const LptRecurrent *net);
guint    lpt_recurrent_weights (const LptRecurrent *net);

/* May weights of @shape, [directions, rows, k] or [rows, k] of a cell, be codes with the scales of @quant: one, one for
 * each row of all directions, or one for each direction? */
gboolean lpt_recurrent_scales_fit (const LptQuant *quant, const LptShape *shape);
/* Which of them row @row of a direction has. */
guint    lpt_recurrent_scale_of   (const LptQuant *quant, const LptShape *shape, gsize direction, gsize row);

/* GRU, before lpt_recurrent_next(): gates z and r from the first two thirds of @sums. @other is r * h then; with
 * linear_before_reset it holds h R + bR, which goes into the last third. */
void     lpt_recurrent_reset   (const LptRecurrent *net, const LptFloatKernel *floats, float *sums, const float *h, float *other);
/* The next states, from all sums of a step, which are overwritten. */
void     lpt_recurrent_next    (const LptRecurrent *net, const LptFloatKernel *floats, float *sums, float *h, float *c);
