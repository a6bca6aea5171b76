/* lpt-equation.c - the equations of Einsum, read
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/scalar/lpt-equation.h"

#include <string.h>

static gboolean
read_term (const char *text,
           const char *end,
           LptTerm    *term,
           GError    **error)
{
  for (term->n = 0; text < end; text++)
    {
      char c = *text;

      if (c == ' ')
        continue;
      if (end - text >= 3 && strncmp (text, "...", 3) == 0 && !lpt_term_has_dots (term))
        {
          c = LPT_TERM_DOTS;
          text += 2;
        }
      else if (!g_ascii_isalpha (c))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "equation has an unexpected '%c'",
                       g_ascii_isprint (c) ? c : '?');
          return FALSE;
        }
      if (term->n == sizeof term->letters)
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "equation has a term of more than %u letters",
                       (guint) sizeof term->letters);
          return FALSE;
        }
      term->letters[term->n++] = c;
    }

  return TRUE;
}

static void
imply_result (const LptTerm *terms,
              guint          n,
              LptTerm       *result)
{
  guint count[LPT_TERM_N_LETTERS] = { 0 };

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < terms[i].n; k++)
      count[(guchar) terms[i].letters[k]]++;
  result->n = 0;
  if (count[LPT_TERM_DOTS] > 0)
    result->letters[result->n++] = LPT_TERM_DOTS;
  for (guint c = 'A'; c <= 'z'; c++)
    if (count[c] == 1)
      result->letters[result->n++] = (char) c;
}

gboolean
lpt_equation_read (const char *text,
                   guint       n,
                   LptTerm    *terms,
                   LptTerm    *result,
                   GError    **error)
{
  const char *arrow = strstr (text, "->"), *end = arrow != NULL ? arrow : text + strlen (text), *at = text;

  for (guint i = 0; i < n; i++)
    {
      const char *comma = memchr (at, ',', (gsize) (end - at)), *stop = comma != NULL ? comma : end;

      if ((i + 1 < n) != (comma != NULL))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "equation \"%s\" does not have %u terms", text, n);
          return FALSE;
        }
      if (!read_term (at, stop, &terms[i], error))
        return FALSE;
      at = comma != NULL ? comma + 1 : end;
    }
  if (arrow != NULL)
    return read_term (arrow + 2, arrow + strlen (arrow), result, error);
  imply_result (terms, n, result);

  return TRUE;
}

gboolean
lpt_term_has_dots (const LptTerm *term)
{
  return memchr (term->letters, LPT_TERM_DOTS, term->n) != NULL;
}

gint
lpt_term_dots (const LptTerm *term,
               gint           rank)
{
  const gboolean has = lpt_term_has_dots (term);
  const gint left = rank - (gint) term->n + has;

  return left < 0 || (!has && left != 0) ? -1 : left;
}

gboolean
lpt_term_axes (const LptTerm *term,
               gint           dots,
               LptTermAxes   *axes)
{
  axes->n = 0;
  for (guint i = 0; i < term->n; i++)
    {
      const gboolean is_dots = term->letters[i] == LPT_TERM_DOTS;

      for (gint k = is_dots ? dots : 1; k > 0; k--)
        {
          if (axes->n == LPT_MAX_RANK)
            return FALSE;
          axes->labels[axes->n++] = is_dots ? LPT_TERM_N_LETTERS + k - 1 : (guchar) term->letters[i];
        }
    }

  return TRUE;
}
