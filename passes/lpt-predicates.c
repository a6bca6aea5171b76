/* lpt-predicates.c - named questions about a node, for the callbacks of targets
 *
 * TRUE = the pass leaves the node alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "passes/lpt-predicates.h"

/* An Add of a bias behind a weighted op (MarkupBias). */
static gboolean
bias_add (LptNode  *node,
          gpointer  data)
{
  return (node->flags & LPT_NODE_BIAS) != 0;
}

static const struct
{
  const char      *name;
  LptPassCallback  callback;
} predicates[] =
{
  { "bias-add", bias_add },
};

LptPassCallback
lpt_predicate_find (const char *name)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (predicates); i++)
    if (strcmp (predicates[i].name, name) == 0)
      return predicates[i].callback;

  return NULL;
}
