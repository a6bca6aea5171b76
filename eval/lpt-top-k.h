/* lpt-top-k.h - the first of a line of reals in an order
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

/* A line: @length elements, @stride apart; what is kept is written as far apart. */
typedef struct
{
  const float *x;
  gint64       length, stride, n;   /* n <= length < 2^32 are kept */
  gboolean     greatest, by_index;  /* in which order; written in that of the places instead */
} LptTopLine;

/* The kept values and their places, of which one may be NULL; @keys: room for n. Equal elements keep the order of their
 * places; -0 equals 0, and no number comes behind all others. */
void lpt_top_reals (const LptTopLine *line, guint64 *keys, float *values, gint64 *places);
