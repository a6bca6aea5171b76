/* lpt-sorted.h - how many elements of a sequence that rises are below a number
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SORTED_H
#define LPT_SORTED_H

#include <glib.h>

/* Of @n elements that rise those below @x; @or_at: and those that are @x. */
#define LPT_SORTED_BELOW(name, type) \
  static inline gint64 name (const type *sorted, gint64 n, type x, gboolean or_at) \
  { \
    gint64 low = 0, high = n; \
    while (low < high) \
      { \
        const gint64 middle = low + (high - low) / 2; \
        if (or_at ? sorted[middle] <= x : sorted[middle] < x) \
          low = middle + 1; \
        else \
          high = middle; \
      } \
    return low; \
  }

LPT_SORTED_BELOW (lpt_sorted_below_f32, float)
LPT_SORTED_BELOW (lpt_sorted_below_i64, gint64)

#endif
