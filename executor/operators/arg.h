/* arg.h - places of the greatest or least elements of lines (arg.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/float/float.h"

#include <glib.h>

/* Lines of real numbers that are searched together. */
#define LPT_ARG_LINES 256

/* Lines of @length elements, @inner apart: with 1 they follow each other, else so many lie side by side. */
typedef struct
{
  const LptFloatKernel *floats;
  gsize    inner, length;
  gboolean least, last;            /* of equal ones the last */
} LptArgLines;

/* Where line @line begins. */
static inline gsize
lpt_arg_line_at (const LptArgLines *lines,
                 gsize              line)
{
  return line / lines->inner * lines->inner * lines->length + line % lines->inner;
}

/* How many lines from @line on, before @end, are searched together, @most at most: those side by side. */
static inline gsize
lpt_arg_lines_together (const LptArgLines *lines,
                        gsize              line,
                        gsize              end,
                        gsize              most)
{
  return lines->inner == 1 ? 1 : MIN (MIN (most, end - line), lines->inner - line % lines->inner);
}

/* The places in @n lines from @x on that are searched together. A NaN counts where it stands first alone. */
void lpt_arg_reals (const LptArgLines *lines, const float *x, gsize n, gint32 *places);
