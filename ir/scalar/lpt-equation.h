/* lpt-equation.h - the equations of Einsum
 *
 * "ab...,bc->a...c": a term for each operand, and one for the result. A letter names an axis, the same one wherever it
 * stands; "..." stands for the axes that the letters leave. Without "->" the result has the dots, where there are any,
 * and then the letters that stand once, in alphabetical order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-types.h>

#define LPT_TERM_DOTS      '.'
#define LPT_TERM_N_LETTERS 128
#define LPT_TERM_N_LABELS  (LPT_TERM_N_LETTERS + LPT_MAX_RANK)

/* The letters of a term, with one LPT_TERM_DOTS for "...". */
typedef struct
{
  guint n;
  char  letters[64];
} LptTerm;

/* A label for each axis: its letter; of the dots' axes LPT_TERM_N_LETTERS and more, counted from the last one. */
typedef struct
{
  gint n;
  gint labels[LPT_MAX_RANK];
} LptTermAxes;

/* @n terms of @text into @terms, and the result's into @result. */
gboolean lpt_equation_read (const char *text, guint n, LptTerm *terms, LptTerm *result, GError **error);
gboolean lpt_term_has_dots (const LptTerm *term);
/* How many axes of @rank the dots stand for; -1: the term has more or fewer. */
gint     lpt_term_dots     (const LptTerm *term, gint rank);
/* The dots stand for @dots axes. FALSE: there are more than LPT_MAX_RANK in all. */
gboolean lpt_term_axes     (const LptTerm *term, gint dots, LptTermAxes *axes);
