/* executor/kernels/lstm/lstm.h - the step of an LSTM on integers, behind its products with input and hidden values
 *
 *   g = sat16 (sat16 (rescaled x sums) + rescaled h sums), of the gates i, f, c, o, Q3 numbers
 *   i = logistic (gi), or 32767 - f where the two are coupled; f = logistic (gf), c' = tanh (gc), o = logistic (go)
 *   cell = clip (sat16 (sat16 (f before / 2^15) + sat16 (i c' / 2^fresh))), ties away from 0
 *   hidden = clamp (rescaled (o tanh (cell)) - zero, -128, 127) + 128
 *
 * The functions are those of fixed16.h. Integers throughout: every row of the table gives the bytes of the scalar one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

#include "executor/kernels/lpt-rescale.h"

enum { LPT_LSTM_I, LPT_LSTM_F, LPT_LSTM_C, LPT_LSTM_O, LPT_LSTM_GATES };

/* Integer bits of a cell's fixed-point number at most. */
#define LPT_LSTM_MAX_BITS 6

typedef struct {
  size_t     cells;
  bool       coupled;                   /* there is no gate i: sums begin with f */
  LptRescale of_x[LPT_LSTM_GATES], of_h[LPT_LSTM_GATES], of_hidden;
  int        bits, fresh;               /* the cell is a Q(bits) number, 0 to LPT_LSTM_MAX_BITS; 15 to 30 */
  int32_t    clip, zero;                /* of the cell, 0: none; of the hidden values */
} LptLstm;

/* Gates that have sums. */
static inline size_t
lpt_lstm_gates (const LptLstm *p)
{
  return p->coupled ? LPT_LSTM_GATES - 1 : LPT_LSTM_GATES;
}

typedef struct {
  const char *name;
  LptCpu      needs;
  /* x, h: sums, [gates][cells], overwritten; room: LPT_LSTM_GATES * cells. */
  void      (*step) (const LptLstm *p, int32_t *x, int32_t *h, int16_t *room, const int16_t *before, int16_t *cell,
                     uint8_t *hidden);
} LptLstmKernel;

#define LPT_LSTM_KERNEL(needs, isa)                                                                       \
  void lpt_lstm_step__##isa (const LptLstm *p, int32_t *x, int32_t *h, int16_t *room, const int16_t *before, \
                             int16_t *cell, uint8_t *hidden);
#include "executor/kernels/lstm/lstm.def"
#undef LPT_LSTM_KERNEL

const LptLstmKernel *lpt_lstm_kernels (size_t *n);
const LptLstmKernel *lpt_lstm_kernel  (LptCpu cpu);
