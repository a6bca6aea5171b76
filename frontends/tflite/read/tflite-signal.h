/* tflite-signal.h - parts of the audio front ends, of tflite-micro's operators and of AudioMicrofrontend
 *
 * Numbers are of 64 bits where nothing else is said, and of any shape.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_SIGNAL_H
#define LPT_TFLITE_SIGNAL_H

#include "frontends/tflite/read/tflite-import.h"

/* Channel c of n has the bins from starts[c + 1] on with their weights, and those from starts[c] on with rest. */
typedef struct { LptInts weights, rest, starts, places, widths; } LptTflBank;

/* An option that has to be a whole number from @min to @max. */
gint64    lpt_tfl_signal_option   (LptTflOp *op, const char *key, gint64 min, gint64 max);

void      lpt_tfl_bank_clear      (LptTflBank *bank);

/* Codes of 16 or 32 bits @x [rows, samples] as [rows, bins of re and im], in the type that computes them. */
LptValue *lpt_tfl_signal_rfft     (LptTflOp *op, LptValue *x, LptDType code, gint64 length);
/* How many bits a number has: the powers of two, up to 2^32, that are not above it. */
LptValue *lpt_tfl_signal_bits     (LptTflOp *op, LptValue *x);
/* x shifted to the left by n where that is more than 0, else to the right. */
LptValue *lpt_tfl_signal_shifted  (LptTflOp *op, LptValue *x, LptValue *n);
/* x [..., bins] -> [..., n] */
LptValue *lpt_tfl_signal_channels (LptTflOp *op, LptValue *x, const LptTflBank *bank, gint64 n);
LptValue *lpt_tfl_signal_root     (LptTflOp *op, LptValue *x);
/* @even, @odd, @even ...: the numbers of channels in turn. */
LptValue *lpt_tfl_signal_in_turn  (LptTflOp *op, gint64 n, gint64 even, gint64 odd);
/* @x times the gain for @noise, of @table. */
LptValue *lpt_tfl_signal_pcan     (LptTflOp *op, LptValue *x, LptValue *noise, LptValue *table, gint64 shift);
/* ln x, with 16 bits behind the point, times @scale / 65536. */
LptValue *lpt_tfl_signal_log      (LptTflOp *op, LptValue *x, gint64 scale);

#endif
