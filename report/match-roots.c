/* match-roots.c - which roots of trails of two graphs are the same place of one
 * model
 *
 * Inputs and outputs by their names; others of one op and as many elements by
 * names that they or what follows on their trail have in common; then
 * neighbours of those that are matched, where one of each graph fits, or
 * weights tell which of several does; then values that hold the same elements
 * of a matched one in the same order, by whatever ops that move. Never against
 * what is matched in front of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/match-roots.h"

#include "report/alike.h"
#include "report/moves.h"

#include <math.h>
#include <string.h>

/* --- which roots fit ------------------------------------------------------------------ */

/* Nothing says that the two are different places: unmatched, or matched with
 * each other. */
static gboolean
may_pair (const LptMatcher *m, LptValue *a, LptValue *b)
{
  LptValue *pa = g_hash_table_lookup (m->a.partner, a), *pb = g_hash_table_lookup (m->b.partner, b);
  return (pa == NULL && pb == NULL) || (pa == b && pb == a);
}

static gboolean
ports_fit (const LptMatcher *m, const LptNode *a, const LptNode *b, gboolean swapped)
{
  for (guint i = 0; i < MIN (a->n_in, b->n_in); i++)
    {
      guint k = swapped && i < 2 ? 1 - i : i;
      LptValue *ra = lpt_match_root_of (&m->a, a->in[i].value),
               *rb = k < b->n_in ? lpt_match_root_of (&m->b, b->in[k].value) : NULL;
      if (ra != NULL && rb != NULL && !may_pair (m, ra, rb))
        return FALSE;
    }
  return TRUE;
}

gboolean
lpt_match_inputs_fit (const LptMatcher *m, const LptNode *a, const LptNode *b, gboolean *swapped)
{
  *swapped = FALSE;
  if (ports_fit (m, a, b, FALSE))
    return TRUE;
  *swapped = (a->info->flags & LPT_OP_F_COMMUTES) != 0;
  return *swapped && ports_fit (m, a, b, TRUE);
}

/* One op that may be the same op of both graphs. */
static gboolean
roots_fit (const LptMatcher *m, LptValue *a, LptValue *b)
{
  gboolean swapped;
  return g_hash_table_lookup (m->a.partner, a) == NULL && g_hash_table_lookup (m->b.partner, b) == NULL &&
         a->producer->info == b->producer->info && a->index == b->index && lpt_value_count (a) == lpt_value_count (b) &&
         lpt_match_inputs_fit (m, a->producer, b->producer, &swapped) &&
         !lpt_moves_otherwise (a->producer, b->producer);
}

static void
pair (LptMatcher *m, LptValue *a, LptValue *b)
{
  g_hash_table_insert (m->a.partner, a, b);
  g_hash_table_insert (m->b.partner, b, a);
  m->changed = TRUE;
}

/* --- anchors -------------------------------------------------------------------------- */

static void
pair_inputs (LptMatcher *m)
{
  GPtrArray *as = m->a.graph->parameters, *bs = m->b.graph->parameters;
  for (guint i = 0; i < as->len; i++)
    {
      LptNode *a = as->pdata[i], *b = lpt_graph_find_parameter (m->b.graph, a->name);
      if (b == NULL && as->len == bs->len)
        b = bs->pdata[i];
      if (b != NULL && roots_fit (m, &a->out[0], &b->out[0]))
        pair (m, &a->out[0], &b->out[0]);
    }
}

/* In topological order: what is in front is known. */
static void
pair_names (LptMatcher *m)
{
  for (guint i = 0; i < m->a.trails->values->len; i++)
    {
      const LptTrail *trail = g_ptr_array_index (m->a.trails->values, i);
      g_autoptr (GPtrArray) keys = lpt_match_names (trail);
      for (guint k = 0; k < keys->len; k++)
        {
          LptValue *b = g_hash_table_lookup (m->b.names, keys->pdata[k]);
          if (b != NULL && g_hash_table_lookup (m->a.names, keys->pdata[k]) == trail->root &&
              roots_fit (m, trail->root, b))
            pair (m, trail->root, b);
        }
    }
}

LptNode *
lpt_match_result_for (const LptMatcher *m, guint i)
{
  GPtrArray *as = m->a.graph->results, *bs = m->b.graph->results;
  for (guint k = 0; k < bs->len; k++)
    if (g_strcmp0 (lpt_result_name (as->pdata[i]), lpt_result_name (bs->pdata[k])) == 0)
      return bs->pdata[k];
  return as->len == bs->len ? bs->pdata[i] : NULL;
}

static void
pair_results (LptMatcher *m)
{
  for (guint i = 0; i < m->a.graph->results->len; i++)
    {
      LptNode *b = lpt_match_result_for (m, i);
      LptValue *ra = lpt_match_root_of (&m->a, lpt_node_in (m->a.graph->results->pdata[i], 0)),
               *rb = b != NULL ? lpt_match_root_of (&m->b, lpt_node_in (b, 0)) : NULL;
      if (ra != NULL && rb != NULL && roots_fit (m, ra, rb))
        pair (m, ra, rb);
    }
}

/* --- neighbours ----------------------------------------------------------------------- */

/* What reads the pair at the same input: the only two that fit, or those whose
 * weights say so. */
static void
pair_readers (LptMatcher *m, LptValue *a, LptValue *b)
{
  GPtrArray *as = g_hash_table_lookup (m->a.readers, a), *bs = g_hash_table_lookup (m->b.readers, b);
  for (guint i = 0; as != NULL && bs != NULL && i < as->len; i++)
    {
      const LptUse *x = as->pdata[i];
      LptValue *best = NULL;
      guint fit = 0, rivals = 0;
      double most = 0.5, likeness = NAN;
      for (guint k = 0; k < bs->len; k++)
        {
          const LptUse *y = bs->pdata[k];
          if (x->index != y->index || !roots_fit (m, &x->node->out[0], &y->node->out[0]))
            continue;
          fit++;
          likeness = lpt_weights_alike (x->node, y->node);
          if (best == NULL || likeness > most)
            best = &y->node->out[0];
          most = likeness > most ? likeness : most;
        }
      for (guint k = 0; k < as->len; k++)
        rivals += ((const LptUse *) as->pdata[k])->index == x->index && best != NULL &&
                  roots_fit (m, &((const LptUse *) as->pdata[k])->node->out[0], best);
      gboolean sure = fit == 1 && rivals == 1 ? !(likeness < 0.5) : most > 0.9;
      if (best != NULL && sure)
        for (guint k = 0; k < x->node->n_out; k++)
          if (k < best->producer->n_out && roots_fit (m, &x->node->out[k], &best->producer->out[k]))
            pair (m, &x->node->out[k], &best->producer->out[k]);
    }
}

/* What the pair reads. */
static void
pair_sources (LptMatcher *m, const LptNode *a, const LptNode *b)
{
  gboolean swapped;
  if (!lpt_match_inputs_fit (m, a, b, &swapped) || (a->info->flags & LPT_OP_F_COMMUTES) != 0)
    return;
  for (guint i = 0; i < MIN (a->n_in, b->n_in); i++)
    {
      LptValue *ra = lpt_match_root_of (&m->a, a->in[i].value), *rb = lpt_match_root_of (&m->b, b->in[i].value);
      if (ra != NULL && rb != NULL && roots_fit (m, ra, rb) && !(lpt_weights_alike (ra->producer, rb->producer) < 0.5))
        pair (m, ra, rb);
    }
}

static void
pair_neighbours (LptMatcher *m)
{
  do
    {
      m->changed = FALSE;
      for (guint i = 0; i < m->a.roots->len; i++)
        {
          LptValue *a = m->a.roots->pdata[i], *b = g_hash_table_lookup (m->a.partner, a);
          if (b == NULL)
            continue;
          pair_readers (m, a, b);
          pair_sources (m, a->producer, b->producer);
        }
    }
  while (m->changed);
}

/* --- elements in another order -------------------------------------------------------- */

/* Roots without a partner. */
static GPtrArray *
alone (const LptMatchSide *side)
{
  GPtrArray *list = g_ptr_array_new ();
  for (guint i = 0; i < side->roots->len; i++)
    if (!g_hash_table_contains (side->partner, side->roots->pdata[i]))
      g_ptr_array_add (list, side->roots->pdata[i]);
  return list;
}

/* Whose elements are those of a matched value, and which have no partner: there
 * is none. */
static void
note_moved (LptMatchSide *side, GHashTable *moves)
{
  GHashTableIter iter;
  gpointer root, moved;
  g_hash_table_iter_init (&iter, moves);
  while (g_hash_table_iter_next (&iter, &root, &moved))
    if (moved != NULL && g_hash_table_contains (side->partner, ((const LptMoved *) moved)->from->root))
      g_hash_table_add (side->moved, root);
}

static void
pair_moved (LptMatcher *m)
{
  g_autoptr (GPtrArray) as = alone (&m->a), bs = alone (&m->b);
  g_autoptr (GHashTable) moves_a = lpt_moves_new (m->a.trails, as), moves_b = lpt_moves_new (m->b.trails, bs);
  for (guint i = 0; i < as->len; i++)
    {
      const LptMoved *a = g_hash_table_lookup (moves_a, as->pdata[i]);
      const LptValue *from = a != NULL ? g_hash_table_lookup (m->a.partner, a->from->root) : NULL;
      for (guint k = 0; from != NULL && k < bs->len; k++)
        {
          const LptMoved *b = g_hash_table_lookup (moves_b, bs->pdata[k]);
          if (b == NULL || b->from->root != from || g_hash_table_contains (m->b.partner, b->value) ||
              !lpt_moved_alike (a, b))
            continue;
          pair (m, a->value, b->value);
          break;
        }
    }
  note_moved (&m->a, moves_a);
  note_moved (&m->b, moves_b);
}

/* --- what lowering made several ops of ---------------------------------------------- */

/* The root of the value that is called @name, which stands where its trail begins; NULL. */
static LptValue *
named_root (const LptMatchSide *side, const char *name)
{
  const LptTrail *trail = lpt_trail_of (side->trails, lpt_graph_find_value (side->graph, name));
  return trail != NULL && trail->n_steps == 0 && !trail->coded && !g_hash_table_contains (side->partner, trail->root)
             ? trail->root
             : NULL;
}

/* A product that reads codes made there, sums of two of them: another op writes what the file calls by the name. Only
 * numbers tell whether it is. */
static void
pair_named (LptMatcher *m)
{
  if (m->a.graph->lowered == m->b.graph->lowered)
    return;
  for (guint i = 0; i < m->a.trails->values->len; i++)
    {
      const LptTrail *trail = g_ptr_array_index (m->a.trails->values, i);
      const GPtrArray *names = trail->value->names;
      for (guint k = 0; names != NULL && k < names->len; k++)
        {
          LptValue *a = named_root (&m->a, names->pdata[k]), *b = named_root (&m->b, names->pdata[k]);
          if (a != trail->root || b == NULL || lpt_value_count (a) != lpt_value_count (b) || lpt_value_count (a) < 0)
            continue;
          pair (m, a, b);
          g_hash_table_add (m->named, a);
        }
    }
}

/* --- all of it ------------------------------------------------------------------------ */

void
lpt_match_roots (LptMatcher *m)
{
  pair_inputs (m);
  pair_names (m);
  pair_results (m);
  pair_neighbours (m);
  pair_moved (m);
  pair_neighbours (m);
  pair_named (m);
  pair_neighbours (m);
}
