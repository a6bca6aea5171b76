/* lpt-unary-words.h - functions of one variable that integers have: the rows of a table
 *
 * ENUM, and an expression of a gint64 x, which wraps. Clamp, whose bounds depend on the type, is not among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

#define LPT_UNARY_WORDS(X) \
  X (ABS, x < 0 ? (gint64) (0 - (guint64) x) : x) \
  X (NEGATIVE, (gint64) (0 - (guint64) x)) \
  X (RELU, MAX (x, 0)) \
  X (SIGN, (x > 0) - (x < 0)) \
  X (LOGICAL_NOT, x == 0) \
  X (FLOOR, x) \
  X (CEILING, x) \
  X (ROUND, x)
