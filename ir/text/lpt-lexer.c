/* lpt-lexer.c - tokens of the text form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "ir/text/lpt-lexer.h"

void
lpt_lexer_init (LptLexer   *lexer,
                const char *text,
                gsize       len)
{
  *lexer = (LptLexer) { text, text + len, text, text, 1, { .text = g_string_new (NULL) } };
  lpt_lexer_next (lexer);
}

void
lpt_lexer_clear (LptLexer *lexer)
{
  g_string_free (lexer->token.text, TRUE);
}

static gboolean
is_name_char (char c)
{
  return g_ascii_isalnum (c) || (c != '\0' && strchr ("_./+-", c) != NULL);
}

static gboolean
is_word_char (char c)
{
  return g_ascii_isalnum (c) || (c != '\0' && strchr ("_.+-?", c) != NULL);
}

/* Space and comments; TRUE when a line ended. */
static gboolean
skip_space (LptLexer *lexer)
{
  gboolean ended = lexer->p == lexer->line_start;

  while (lexer->p < lexer->end)
    {
      char c = *lexer->p;

      if (c == '\n')
        {
          lexer->p++;
          lexer->line++;
          lexer->line_start = lexer->p;
          ended = TRUE;
        }
      else if (c == ' ' || c == '\t' || c == '\r')
        lexer->p++;
      else if (c == '#' && (lexer->end - lexer->p < 2 || lexer->p[1] != '{'))
        while (lexer->p < lexer->end && *lexer->p != '\n')
          lexer->p++;
      else
        break;
    }

  return ended;
}

static void
bad (LptLexer   *lexer,
     const char *what)
{
  lexer->token.kind = LPT_TOKEN_BAD;
  g_string_assign (lexer->token.text, what);
}

/* The opening quote is current. */
static void
read_string (LptLexer *lexer)
{
  GString *text = lexer->token.text;

  for (lexer->p++; lexer->p < lexer->end && *lexer->p != '"' && *lexer->p != '\n'; lexer->p++)
    {
      const char *run = lexer->p;

      while (lexer->p < lexer->end && *lexer->p != '"' && *lexer->p != '\\' && *lexer->p != '\n' && *lexer->p != '\0')
        lexer->p++;
      g_string_append_len (text, run, lexer->p - run);
      if (lexer->p == lexer->end || *lexer->p == '"' || *lexer->p == '\n')
        break;
      if (*lexer->p == '\0' || lexer->end - lexer->p < 2)
        {
          bad (lexer, "the string has a zero byte or is not closed");
          return;
        }
      lexer->p++;
      switch (*lexer->p)
        {
        case 'n':
          g_string_append_c (text, '\n');
          break;
        case 't':
          g_string_append_c (text, '\t');
          break;
        case 'x':
          if (lexer->end - lexer->p < 3 || !g_ascii_isxdigit (lexer->p[1]) || !g_ascii_isxdigit (lexer->p[2]) ||
              (lexer->p[1] == '0' && lexer->p[2] == '0'))
            {
              bad (lexer, "\\x takes two hexadecimal digits, not 00");
              return;
            }
          g_string_append_c (text,
                             (char) (g_ascii_xdigit_value (lexer->p[1]) * 16 + g_ascii_xdigit_value (lexer->p[2])));
          lexer->p += 2;
          break;
        case '"':
        case '\\':
          g_string_append_c (text, *lexer->p);
          break;
        default:
          bad (lexer, "unknown escape in a string");
          return;
        }
    }
  if (lexer->p == lexer->end || *lexer->p != '"')
    {
      bad (lexer, "the string is not closed");
      return;
    }
  lexer->p++;
  lexer->token.kind = LPT_TOKEN_STRING;
}

/* Digits at @p up to the end of the name, as an output number; -1 when they are not one. */
static gint64
read_index (const char *p)
{
  gint64 index = 0;

  if (*p == '\0')
    return -1;
  for (; *p != '\0'; p++)
    {
      if (!g_ascii_isdigit (*p) || index > G_MAXINT32)
        return -1;
      index = index * 10 + (*p - '0');
    }

  return index;
}

static void
read_value (LptLexer *lexer)
{
  LptToken *token = &lexer->token;
  char *dot;

  lexer->p++;
  if (lexer->p < lexer->end && *lexer->p == '"')
    {
      token->quoted = TRUE;
      read_string (lexer);
      if (token->kind == LPT_TOKEN_BAD)
        return;
      if (lexer->end - lexer->p >= 2 && lexer->p[0] == '.' && g_ascii_isdigit (lexer->p[1]))
        {
          token->index = 0;
          for (lexer->p++; lexer->p < lexer->end && g_ascii_isdigit (*lexer->p); lexer->p++)
            token->index = MIN (token->index * 10 + (*lexer->p - '0'), G_MAXINT32);
        }
    }
  else
    {
      const char *run = lexer->p;

      while (lexer->p < lexer->end && is_name_char (*lexer->p))
        lexer->p++;
      g_string_append_len (token->text, run, lexer->p - run);
      dot = strrchr (token->text->str, '.');
      if (dot != NULL && (token->index = read_index (dot + 1)) >= 0)
        g_string_truncate (token->text, (gsize) (dot - token->text->str));
    }
  token->kind = LPT_TOKEN_VALUE;
  if (token->text->len == 0)
    bad (lexer, "a name is missing behind %");
  else if ((guchar) token->text->str[0] == 1)
    bad (lexer, "a name begins with \\x01");
}

void
lpt_lexer_next (LptLexer *lexer)
{
  LptToken *token = &lexer->token;
  const char *run;

  g_string_truncate (token->text, 0);
  token->index = -1;
  token->quoted = FALSE;
  token->first = skip_space (lexer);
  token->line = lexer->line;
  token->column = (guint) (lexer->p - lexer->line_start) + 1;
  run = lexer->start = lexer->p;

  if (lexer->p == lexer->end)
    token->kind = LPT_TOKEN_END;
  else if (*lexer->p == '%')
    read_value (lexer);
  else if (*lexer->p == '"')
    read_string (lexer);
  else if (lexer->end - lexer->p >= 2 &&
           (strncmp (lexer->p, "#{", 2) == 0 || strncmp (lexer->p, "->", 2) == 0 || strncmp (lexer->p, "<-", 2) == 0))
    {
      token->kind = LPT_TOKEN_PUNCT;
      lexer->p += 2;
      g_string_append_len (token->text, run, 2);
    }
  else if (is_word_char (*lexer->p))
    {
      token->kind = LPT_TOKEN_WORD;
      while (lexer->p < lexer->end && is_word_char (*lexer->p))
        lexer->p++;
      g_string_append_len (token->text, run, lexer->p - run);
    }
  else if (strchr ("(){}[]=:,|@", *lexer->p) != NULL && *lexer->p != '\0')
    {
      token->kind = LPT_TOKEN_PUNCT;
      g_string_append_c (token->text, *lexer->p++);
    }
  else
    bad (lexer, "unexpected character");
}

LptLexerPlace
lpt_lexer_place (const LptLexer *lexer)
{
  /* No token spans a line end. */
  return (LptLexerPlace) { lexer->start, lexer->line_start, lexer->line, lexer->token.first };
}

void
lpt_lexer_go (LptLexer      *lexer,
              LptLexerPlace  place)
{
  lexer->p = place.p;
  lexer->line_start = place.line_start;
  lexer->line = place.line;
  lpt_lexer_next (lexer);
  lexer->token.first = place.first;
}

gboolean
lpt_lexer_is (const LptLexer *lexer,
              const char     *text)
{
  return (lexer->token.kind == LPT_TOKEN_PUNCT || lexer->token.kind == LPT_TOKEN_WORD) &&
         strcmp (lexer->token.text->str, text) == 0;
}
