/* match.h - which values of two graphs are the same place of one model
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "report/trail.h"

/* A value of each graph. */
typedef struct
{
  LptValue *a, *b;
  gboolean  doubtful;    /* a clamp may stand in front of the one and behind the other: only numbers tell */
  gboolean  bounded;     /* one holds nothing below 0 and a clamp follows: the other may be what the clamp gets, this one
                          * what it gives */
} LptValueMatch;

typedef struct
{
  GArray    *pairs;          /* of LptValueMatch, in the order of the first graph */
  GPtrArray *only_a, *only_b; /* LptValue *: places without a counterpart */
  guint      n_unsure;        /* so many of them at most may be one place after all: nothing says that they are not */
} LptMatch;

LptMatch *lpt_match_new  (LptGraph *a, LptGraph *b, GError **error);
void      lpt_match_free (LptMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptMatch, lpt_match_free)
