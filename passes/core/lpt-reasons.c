/* lpt-reasons.c - the row of lpt-reasons.def that a reason is worded by
 *
 * Where several fit, the one with the most letters of its own is meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-explain.h>

typedef struct
{
  const char *group, *title, *remedy;     /* of a group; NULL = a row */
  const char *code, *wording;
} Line;

static const Line lines[] = {
#define LPT_REASON_GROUP(group, title, remedy) { group, title, remedy, NULL, NULL },
#define LPT_REASON(code, wording) { NULL, NULL, NULL, code, wording },
#include "passes/core/lpt-reasons.def"
#undef LPT_REASON_GROUP
#undef LPT_REASON
};

static LptReason *
make_rows (guint *n)
{
  LptReason *rows = g_new0 (LptReason, G_N_ELEMENTS (lines));
  const Line *group = NULL;
  guint i;

  *n = 0;
  for (i = 0; i < G_N_ELEMENTS (lines); i++)
    if (lines[i].group != NULL)
      group = &lines[i];
    else
      rows[(*n)++] = (LptReason) { lines[i].code, lines[i].wording, group->group, group->title, group->remedy };

  return rows;
}

const LptReason *
lpt_reasons (guint *n)
{
  static gsize made;
  static LptReason *rows;
  static guint n_rows;

  if (g_once_init_enter (&made))
    {
      rows = make_rows (&n_rows);
      g_once_init_leave (&made, 1);
    }
  *n = n_rows;

  return rows;
}

/* "*" is anything. */
static gboolean
fits (const char *wording,
      const char *text)
{
  const char *star = NULL, *retry = NULL;

  while (*text != '\0')
    {
      if (*wording == '*')
        {
          star = ++wording;
          retry = text;
        }
      else if (*wording == *text)
        {
          wording++;
          text++;
        }
      else if (star != NULL)
        {
          wording = star;
          text = ++retry;
        }
      else
        return FALSE;
    }
  while (*wording == '*')
    wording++;

  return *wording == '\0';
}

const LptReason *
lpt_reason_find (const char *text)
{
  guint n, i;
  const LptReason *rows = lpt_reasons (&n), *best = &rows[n - 1];
  gsize most = 0;

  for (i = 0; i < n; i++)
    {
      gsize length = 0;
      const char *p;

      for (p = rows[i].wording; *p != '\0'; p++)
        length += *p != '*';
      if (length > most && fits (rows[i].wording, text))
        {
          most = length;
          best = &rows[i];
        }
    }

  return best;
}
