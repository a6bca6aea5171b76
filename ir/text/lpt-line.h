/* lpt-line.h - the line of a text that a place in it is on
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

/* Of @at, counted from 1; at most that of the last of @length bytes. @at NULL: the first. */
static inline guint
lpt_line_of (const char *text,
             gsize       length,
             const char *at)
{
  guint line = 1;

  for (const char *p = text; at != NULL && p < at && p < text + length; p++)
    line += *p == '\n';

  return line;
}
