/* lpt-lexer.h - tokens of the text form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_LEXER_H
#define LPT_LEXER_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

typedef enum
{
  LPT_TOKEN_END,
  LPT_TOKEN_VALUE,      /* %name: .text, and .index of %name.3 */
  LPT_TOKEN_WORD,       /* letters, digits, _ . + - ? */
  LPT_TOKEN_STRING,     /* "..." without the quotes and escapes */
  LPT_TOKEN_PUNCT,      /* one character, or "#{", "->", "<-" */
  LPT_TOKEN_BAD,        /* .text says what is wrong */
} LptTokenKind;

typedef struct
{
  LptTokenKind kind;
  GString     *text;
  gint64       index;         /* VALUE: -1 = not given */
  gboolean     quoted;        /* VALUE */
  gboolean     first;         /* the first token of its line */
  guint        line, column;  /* from 1 */
} LptToken;

typedef struct
{
  const char *p, *end;
  const char *start;          /* of the current token */
  const char *line_start;
  guint       line;
  LptToken    token;          /* the current one */
} LptLexer;

/* A token to return to. */
typedef struct { const char *p, *line_start; guint line; gboolean first; } LptLexerPlace;

void          lpt_lexer_init  (LptLexer *lexer, const char *text, gsize len);
void          lpt_lexer_clear (LptLexer *lexer);
void          lpt_lexer_next  (LptLexer *lexer);
LptLexerPlace lpt_lexer_place (const LptLexer *lexer);                   /* the current token */
void          lpt_lexer_go    (LptLexer *lexer, LptLexerPlace place);    /* makes it current again */
/* The current token is this punctuation or word. */
gboolean      lpt_lexer_is    (const LptLexer *lexer, const char *text);

G_END_DECLS

#endif
