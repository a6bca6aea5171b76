/* tflite-flex.h - options of custom operators: FlexBuffers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_FLEX_H
#define LPT_TFLITE_FLEX_H

#include <glib.h>

/* The number or boolean @key of a map; @fallback where it is not there, no number, or the buffer is broken. */
double lpt_tfl_flex_number (const guint8 *data, gsize size, const char *key, double fallback);

/* How many whole numbers the list @key of a map has; 0: it has no such list. */
guint lpt_tfl_flex_count (const guint8 *data, gsize size, const char *key);

/* The @n whole numbers of list @key of a map; FALSE: it has no such list. */
gboolean lpt_tfl_flex_list (const guint8 *data, gsize size, const char *key, guint n, gint64 *numbers);

/* Is the string @key of a map @text? */
gboolean lpt_tfl_flex_is (const guint8 *data, gsize size, const char *key, const char *text);

/* A number of a map that is written. */
typedef struct { const char *key; gboolean whole; double number; } LptTflFlexPair;

/* A map of numbers, whose keys are in order (transfer full). */
GBytes *lpt_tfl_flex_map (guint n, const LptTflFlexPair *pairs);

#endif
