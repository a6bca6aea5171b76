/* match-side.c - what of a graph tells its values from each other: trails,
 * names, readers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/match-side.h"

#include <string.h>

gboolean
lpt_match_is_clamp (LptOp op)
{
  return op == LPT_OP_RELU || op == LPT_OP_CLAMP;
}

static void
add_name (LptMatchSide *side, const char *name, LptValue *root)
{
  gpointer known;
  if (!g_hash_table_lookup_extended (side->names, name, NULL, &known))
    g_hash_table_insert (side->names, g_strdup (name), root);
  else if (known != root)
    g_hash_table_insert (side->names, g_strdup (name), NULL);
}

/* A pass renames what it takes a name from (transfer full). */
static char *
plain_name (const LptNode *node)
{
  const char *name = node->origin != NULL ? node->origin : node->name;
  return g_str_has_suffix (name, "_original") ? g_strndup (name, strlen (name) - strlen ("_original"))
                                              : g_strdup (name);
}

GPtrArray *
lpt_match_names (const LptTrail *trail)
{
  const LptValue *value = trail->value;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *plain = plain_name (value->producer);
  for (guint k = 0; value->names != NULL && k < value->names->len; k++)
    g_ptr_array_add (names, g_strconcat ("tensor ", (char *) g_ptr_array_index (value->names, k), NULL));
  g_ptr_array_add (names, g_strdup_printf ("node %s.%u", plain, value->index));
  return names;
}

static void
index_names (LptMatchSide *side, const LptTrail *trail)
{
  g_autoptr (GPtrArray) names = lpt_match_names (trail);
  for (guint k = 0; k < names->len; k++)
    add_name (side, names->pdata[k], trail->root);
}

static void
index_readers (LptMatchSide *side, LptNode *node)
{
  if (node->n_out == 0 || lpt_trail_of (side->trails, &node->out[0]) == NULL ||
      lpt_trail_of (side->trails, &node->out[0])->root != &node->out[0])
    return;
  for (guint i = 0; i < node->n_in; i++)
    {
      const LptTrail *trail = lpt_trail_of (side->trails, node->in[i].value);
      if (trail == NULL)
        continue;
      GPtrArray *list = g_hash_table_lookup (side->readers, trail->root);
      if (list == NULL)
        {
          list = g_ptr_array_new_with_free_func (g_free);
          g_hash_table_insert (side->readers, trail->root, list);
        }
      g_ptr_array_add (list, g_memdup2 (&(LptUse){ node, i }, sizeof (LptUse)));
    }
}

gboolean
lpt_match_side_init (LptMatchSide *side, LptGraph *graph, GError **error)
{
  side->graph = graph;
  side->trails = lpt_trails_new (graph, error);
  if (side->trails == NULL)
    return FALSE;
  side->roots = g_ptr_array_new ();
  side->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  side->readers = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  side->partner = g_hash_table_new (NULL, NULL);
  side->clamped = g_hash_table_new (NULL, NULL);
  side->moved = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < side->trails->values->len; i++)
    {
      const LptTrail *trail = g_ptr_array_index (side->trails->values, i);
      if (trail->root == trail->value)
        g_ptr_array_add (side->roots, trail->value);
      if (trail->n_steps > 0 && lpt_match_is_clamp (trail->steps[0]))
        g_hash_table_add (side->clamped, trail->root);
      index_names (side, trail);
      if (trail->value->index == 0)
        index_readers (side, trail->value->producer);
    }
  return TRUE;
}

void
lpt_match_side_clear (LptMatchSide *side)
{
  g_clear_pointer (&side->trails, lpt_trails_free);
  g_clear_pointer (&side->roots, g_ptr_array_unref);
  g_clear_pointer (&side->names, g_hash_table_unref);
  g_clear_pointer (&side->readers, g_hash_table_unref);
  g_clear_pointer (&side->partner, g_hash_table_unref);
  g_clear_pointer (&side->clamped, g_hash_table_unref);
  g_clear_pointer (&side->moved, g_hash_table_unref);
}

LptValue *
lpt_match_root_of (const LptMatchSide *side, const LptValue *value)
{
  const LptTrail *trail = lpt_trail_of (side->trails, value);
  return trail != NULL ? trail->root : NULL;
}
