/* lpt-parse.h - what the files of the text parser share
 *
 * Every function that reads returns FALSE with the error set; none leaves the
 * lexer in front of the error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PARSE_H
#define LPT_PARSE_H

#include <lpt/lpt-text.h>

#include "ir/text/lpt-lexer.h"

G_BEGIN_DECLS

typedef struct
{
  LptLexer    lexer;
  const char *filename;
  guint       depth;         /* of bodies */
  GError    **error;
} LptParser;

/* One graph that is being read: the file's, or a body. */
typedef struct
{
  LptGraph   *graph;
  GHashTable *boxes;         /* number in the text -> LptBox */
  GPtrArray  *results;       /* kept until all names are taken */
} LptParseScope;

/* Sets the error at the current token (or at @line, @column); returns FALSE. */
gboolean lpt_parse_fail    (LptParser *parser, const char *format, ...) G_GNUC_PRINTF (2, 3);
gboolean lpt_parse_fail_at (LptParser *parser, guint line, guint column, const char *format, ...) G_GNUC_PRINTF (4, 5);
/* "... is expected, not ...", or what is wrong with the current token; returns FALSE. */
gboolean lpt_parse_expected (LptParser *parser, const char *what);
/* Takes this punctuation or word. */
gboolean lpt_parse_expect  (LptParser *parser, const char *text);
/* Takes it when it is there, on the same line. */
gboolean lpt_parse_accept  (LptParser *parser, const char *text);
gboolean lpt_parse_string  (LptParser *parser, char **out);     /* (transfer full) */
gboolean lpt_parse_int     (LptParser *parser, gint64 *out);
gboolean lpt_parse_double  (LptParser *parser, double *out);
gboolean lpt_parse_strings (LptParser *parser, GHashTable *into);   /* {"key"="value", ...} */

/* The part behind "#{"; @flags and @requant are NULL where a node's flags are not allowed. */
gboolean lpt_parse_flag    (LptParser *parser, gboolean *flag);      /* true or false */
gboolean lpt_parse_mark    (LptParser *parser, LptParseScope *scope, LptMark *mark, guint32 *flags, char **requant);
/* The part behind "q". */
gboolean lpt_parse_quant   (LptParser *parser, LptQuant **out);
/* The part behind "{" of a constant, up to "}". */
gboolean lpt_parse_data    (LptParser *parser, LptDType dtype, const LptShape *shape, LptTensor **out);

/* --- a statement, before it is a node --- */

typedef struct
{
  char *name;
  char *text;             /* as lpt_attr_parse() reads it */
  gboolean is_list;
  guint line, column;
} LptAttrText;

typedef struct
{
  LptDType   dtype;
  LptShape   shape;
  LptQuant  *quant;
  LptMark    mark;
  GPtrArray *names;
} LptTypeText;

typedef struct
{
  char            *name;          /* NULL: none is written */
  guint            line, column;
  const LptOpInfo *info;
  guint            opset;
  GArray          *inputs;        /* of LptInput */
  GArray          *attrs;         /* of LptAttrText */
  GArray          *types;         /* of LptTypeText */
  GPtrArray       *controls;
  GHashTable      *rt_info;
  LptMark          mark;
  guint32          flags;
  char            *requant;
  LptTensor       *data;
} LptStatement;

void          lpt_attr_text_clear (LptAttrText *attr);
LptStatement *lpt_statement_new   (void);
void          lpt_statement_free  (LptStatement *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptStatement, lpt_statement_free)

/* Behind "{": name=value, ... } */
gboolean lpt_parse_attrs     (LptParser *parser, GArray *attrs);
/* From its name (or op) up to its types; bodies are the caller's. */
gboolean lpt_parse_statement (LptParser *parser, LptParseScope *scope, LptStatement *s);

G_END_DECLS

#endif
