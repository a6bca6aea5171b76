/* lpt-word-rows.h - elementwise ops on rows of 64-bit integers
 *
 * From element to element an operand goes on by a step, 0 where it broadcasts; results lie one behind the other. The
 * usual steps have loops of their own, which the compiler vectorises. Nothing is cut to the bits of a type here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-op.h>

typedef void (*LptBinaryRow) (gconstpointer x, gint64 sx, gconstpointer y, gint64 sy, gpointer z, gint64 n);
typedef void (*LptUnaryRow)  (const gint64 *x, gint64 n, gint64 *y);

#define LPT_BINARY_ROW(name, IN, OUT, expression) \
  static void \
  name (gconstpointer px, gint64 sx, gconstpointer py, gint64 sy, gpointer pz, gint64 n) \
  { \
    const IN *x = px, *y = py; \
    OUT *z = pz; \
    gint64 i; \
\
    if (sx == 1 && sy == 1) \
      for (i = 0; i < n; i++) { IN a = x[i], b = y[i]; z[i] = expression; } \
    else if (sx == 1 && sy == 0) \
      for (i = 0; i < n; i++) { IN a = x[i], b = y[0]; z[i] = expression; } \
    else if (sx == 0 && sy == 1) \
      for (i = 0; i < n; i++) { IN a = x[0], b = y[i]; z[i] = expression; } \
    else \
      for (i = 0; i < n; i++) { IN a = x[i * sx], b = y[i * sy]; z[i] = expression; } \
  }

/* Of an op of two integers, where divisors are not 0; Divide rounds down. NULL: there is none. */
LptBinaryRow lpt_word_binary (LptOp op);
/* Divide towards 0. */
LptBinaryRow lpt_word_divide (void);
/* Of an op that makes an integer of an integer, Clamp not among them. NULL: there is none. */
LptUnaryRow  lpt_word_unary  (LptOp op);
/* x[0] != 0 ? x[1] : x[2] */
void         lpt_word_select (const gint64 *const *x, const gint64 *step, gint64 n, gint64 *z);
