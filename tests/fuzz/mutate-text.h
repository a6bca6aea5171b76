/* mutate-text.h - words and numbers in a statement, and the drawing of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include <glib.h>

typedef struct { gsize from, to; } Span;

static inline gboolean
chance (GRand *rand, guint percent)
{
  return (guint) g_rand_int_range (rand, 0, 100) < percent;
}

static inline guint
draw (GRand *rand, guint n)
{
  return (guint) g_rand_int_range (rand, 0, (gint32) MAX (n, 1));
}

static inline gboolean
is_name (char c)
{
  return g_ascii_isalnum (c) || strchr ("_./+-", c) != NULL;
}

/* "%name" or %"na me" at @p: its length, else 0. */
static inline gsize
value_length (const char *p)
{
  gsize n = 1;
  if (p[0] != '%')
    return 0;
  if (p[1] == '"')
    {
      for (n = 2; p[n] != '\0' && p[n] != '"'; n++)
        if (p[n] == '\\' && p[n + 1] != '\0')
          n++;
      return p[n] == '"' ? n + 1 : 0;
    }
  while (p[n] != '\0' && is_name (p[n]))
    n++;
  return n > 1 ? n : 0;
}

static inline gsize
number_length (const char *p)
{
  gsize n = p[0] == '-' ? 1 : 0;
  if (!g_ascii_isdigit (p[n]))
    return 0;
  while (g_ascii_isdigit (p[n]) || p[n] == '.' || p[n] == 'e' || ((p[n] == '-' || p[n] == '+') && p[n - 1] == 'e'))
    n++;
  return n;
}

static inline gsize
word_length (const char *p)
{
  gsize n = 0;
  while (g_ascii_isalnum (p[n]) || p[n] == '_')
    n++;
  return n;
}

typedef enum { VALUES, NUMBERS, WORDS } Kind;

/* All pieces of a kind behind the "=" of a statement; values: those that it reads. */
static inline GArray *
find (const char *line, Kind kind)
{
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (Span));
  const char *start = strchr (line, '=');
  const char *p = kind == VALUES && start != NULL && strchr (line, '%') < start ? start : line;
  while (*p != '\0')
    {
      gsize value = value_length (p), number = value == 0 ? number_length (p) : 0;
      gsize word = value + number == 0 ? word_length (p) : 0;
      gsize n = value + number + word;
      if ((kind == VALUES && value > 0) || (kind == NUMBERS && number > 0) || (kind == WORDS && word > 0))
        {
          Span span = { (gsize) (p - line), (gsize) (p - line) + n };
          g_array_append_val (spans, span);
        }
      p += MAX (n, 1);
    }
  return spans;
}

static inline void
replace (GPtrArray *lines, guint i, Span span, const char *text)
{
  char *line = lines->pdata[i];
  lines->pdata[i] = g_strdup_printf ("%.*s%s%s", (int) span.from, line, text, line + span.to);
  g_free (line);
}
