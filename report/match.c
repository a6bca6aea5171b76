/* match.c - which values of two graphs are the same place of one model
 *
 * Roots of trails first (match-roots.c). Values of matched trails are the same
 * place where an op that is matched reads them, at results, and between, where
 * both trails take the same steps: what one graph computes inside of another op
 * (a Relu in the clamp of a convolution) has no counterpart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/match.h"

#include "report/halves.h"
#include "report/match-roots.h"
#include "report/norms.h"

#include <string.h>

/* The steps of @longer are those of @shorter and clamps behind them. */
static gboolean
adds_clamps (const LptTrail *shorter, const LptTrail *longer)
{
  if (longer->n_steps > LPT_TRAIL_STEPS || shorter->n_steps >= longer->n_steps ||
      memcmp (shorter->steps, longer->steps, shorter->n_steps * sizeof shorter->steps[0]) != 0)
    return FALSE;
  for (guint i = shorter->n_steps; i < longer->n_steps; i++)
    if (!lpt_match_is_clamp (longer->steps[i]))
      return FALSE;
  return TRUE;
}

static gboolean
ends_in_table (const LptTrail *trail)
{
  return trail->n_steps > 0 && trail->n_steps <= LPT_TRAIL_STEPS && trail->steps[trail->n_steps - 1] == LPT_OP_TABLE;
}

/* Does a clamp stand behind an op that moves what is on the trail? Passes take
 * it to the other side. */
static gboolean
clamp_follows (const LptMatchSide *side, const LptTrail *trail)
{
  GPtrArray *readers = g_hash_table_lookup (side->readers, trail->root);
  for (guint i = 0; readers != NULL && i < readers->len; i++)
    {
      const LptNode *node = ((const LptUse *) readers->pdata[i])->node;
      if ((node->info->flags & LPT_OP_F_PRESERVES) != 0 && g_hash_table_contains (side->clamped, &node->out[0]))
        return TRUE;
    }
  return FALSE;
}

/* Are values that stand at the same place of matched trails the same but for
 * rounding? */
static gboolean
are_alike (const LptMatcher *m, const LptTrail *a, const LptTrail *b, gboolean *doubtful)
{
  const LptTrail *shorter = a->n_steps < b->n_steps ? a : b, *longer = shorter == a ? b : a;
  gboolean bounded = lpt_value_floor (a->value) >= 0.0, other = lpt_value_floor (b->value) >= 0.0;
  *doubtful = FALSE;
  if (a->coded || b->coded)
    return FALSE;
  if (lpt_trail_equal (a, b))
    {
      *doubtful = g_hash_table_contains (m->named, a->root);
      *doubtful |= bounded != other && (clamp_follows (&m->a, a) || clamp_follows (&m->b, b));
      return TRUE;
    }
  if (adds_clamps (shorter, longer))
    {
      *doubtful = !(lpt_value_floor (shorter->value) >= 0.0);
      return TRUE;
    }
  return (ends_in_table (a) && b->n_steps > 0) || (ends_in_table (b) && a->n_steps > 0);
}

typedef struct
{
  LptMatcher *m;
  LptMatch *match;
  GHashTable *seen_a, *seen_b; /* places (char *) that are in a pair */
} Collector;

/* A place: root and steps. */
static char *
place_of (const LptTrail *trail)
{
  GString *s = g_string_new (NULL);
  g_string_append_printf (s, "%p", (gpointer) trail->root);
  for (guint i = 0; i < MIN (trail->n_steps, LPT_TRAIL_STEPS); i++)
    g_string_append_printf (s, " %d", trail->steps[i]);
  if (trail->n_steps > LPT_TRAIL_STEPS)
    g_string_append_printf (s, " %u", trail->n_steps);
  return g_string_free (s, FALSE);
}

static void
collect (Collector *c, const LptTrail *a, const LptTrail *b)
{
  LptValueMatch found = { NULL };
  if (a == NULL || b == NULL || g_hash_table_lookup (c->m->a.partner, a->root) != b->root ||
      !are_alike (c->m, a, b, &found.doubtful))
    return;
  g_autofree char *pa = place_of (a), *pb = place_of (b);
  if (g_hash_table_contains (c->seen_a, pa) || g_hash_table_contains (c->seen_b, pb))
    return;
  found.a = a->value;
  found.b = b->value;
  found.bounded =
      (lpt_value_floor (a->value) >= 0.0) != (lpt_value_floor (b->value) >= 0.0) &&
      (g_hash_table_contains (c->m->a.clamped, a->root) || g_hash_table_contains (c->m->b.clamped, b->root));
  g_hash_table_add (c->seen_a, g_steal_pointer (&pa));
  g_hash_table_add (c->seen_b, g_steal_pointer (&pb));
  g_array_append_val (c->match->pairs, found);
}

/* What matched ops read. */
static void
collect_read (Collector *c)
{
  for (guint i = 0; i < c->m->a.roots->len; i++)
    {
      const LptValue *a = c->m->a.roots->pdata[i], *b = g_hash_table_lookup (c->m->a.partner, a);
      gboolean swapped;
      if (b == NULL || !lpt_match_inputs_fit (c->m, a->producer, b->producer, &swapped))
        continue;
      for (guint k = 0; k < MIN (a->producer->n_in, b->producer->n_in); k++)
        collect (c, lpt_trail_of (c->m->a.trails, a->producer->in[k].value),
                 lpt_trail_of (c->m->b.trails, b->producer->in[swapped && k < 2 ? 1 - k : k].value));
    }
}

static void
collect_results (Collector *c)
{
  for (guint i = 0; i < c->m->a.graph->results->len; i++)
    {
      LptNode *b = lpt_match_result_for (c->m, i);
      if (b != NULL)
        collect (c, lpt_trail_of (c->m->a.trails, lpt_node_in (c->m->a.graph->results->pdata[i], 0)),
                 lpt_trail_of (c->m->b.trails, lpt_node_in (b, 0)));
    }
}

/* The last value of each place, in topological order: place -> LptTrail *. */
static GHashTable *
last_of_places (const LptMatchSide *side, GPtrArray *order)
{
  GHashTable *last = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < side->trails->values->len; i++)
    {
      LptTrail *trail = g_ptr_array_index (side->trails->values, i);
      char *place = place_of (trail);
      /* What nothing reads (the last state of a recurrent layer) is computed by
     * neither. */
      if (trail->coded || lpt_value_n_uses (trail->value) == 0)
        {
          g_free (place);
          continue;
        }
      if (!g_hash_table_contains (last, place))
        g_ptr_array_add (order, g_strdup (place));
      g_hash_table_insert (last, place, trail);
    }
  return last;
}

/* Is @trail a place that one of the two graphs may have inside of an op: the
 * sigmoid of a swish? */
static gboolean
is_inside (GHashTable *last, const char *place, const LptTrail *trail)
{
  g_autofree char *whole = g_strdup_printf ("%s %d", place, LPT_OP_MULTIPLY);
  return trail->n_steps > 0 && trail->n_steps < LPT_TRAIL_STEPS &&
         lpt_trail_may_be_part (trail->steps[trail->n_steps - 1]) && g_hash_table_contains (last, whole);
}

/* Number of places by root. */
static GHashTable *
places_by_root (GHashTable *last)
{
  GHashTable *counts = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer place, trail;
  g_hash_table_iter_init (&iter, last);
  while (g_hash_table_iter_next (&iter, &place, &trail))
    {
      if (is_inside (last, place, trail))
        continue;
      LptValue *root = ((const LptTrail *) trail)->root;
      g_hash_table_insert (counts, root, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (counts, root)) + 1));
    }
  return counts;
}

/* Between: where both trails have as many places, those of the same steps; and
 * what is left over. */
static void
collect_rest (Collector *c)
{
  g_autoptr (GPtrArray) order_a = g_ptr_array_new_with_free_func (g_free),
                        order_b = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) last_a = last_of_places (&c->m->a, order_a), last_b = last_of_places (&c->m->b, order_b);
  g_autoptr (GHashTable) count_a = places_by_root (last_a), count_b = places_by_root (last_b);
  for (guint i = 0; i < order_a->len; i++)
    {
      const LptTrail *a = g_hash_table_lookup (last_a, order_a->pdata[i]);
      LptTrail same = *a;
      same.root = g_hash_table_lookup (c->m->a.partner, a->root);
      g_autofree char *place = same.root != NULL ? place_of (&same) : NULL;
      const LptTrail *b = place != NULL ? g_hash_table_lookup (last_b, place) : NULL;
      if (b != NULL && g_hash_table_lookup (count_a, a->root) == g_hash_table_lookup (count_b, b->root))
        collect (c, a, b);
      if (!g_hash_table_contains (c->seen_a, order_a->pdata[i]))
        g_ptr_array_add (c->match->only_a, a->value);
    }
  for (guint i = 0; i < order_b->len; i++)
    if (!g_hash_table_contains (c->seen_b, order_b->pdata[i]))
      g_ptr_array_add (c->match->only_b, ((const LptTrail *) g_hash_table_lookup (last_b, order_b->pdata[i]))->value);
}

static gint
compare_order (gconstpointer x, gconstpointer y, gpointer data)
{
  guint i = GPOINTER_TO_UINT (g_hash_table_lookup (data, ((const LptValueMatch *) x)->a)),
        k = GPOINTER_TO_UINT (g_hash_table_lookup (data, ((const LptValueMatch *) y)->a));
  return i < k ? -1 : i > k;
}

/* Values without a counterpart: roots of matched trails -> how many, those of
 * the first graph by their partner. Returns how many others of them may have
 * one. */
static guint
count_left (const LptMatchSide *side, const GPtrArray *only, gboolean by_partner, GHashTable *counts)
{
  guint others = 0;
  for (guint i = 0; i < only->len; i++)
    {
      LptValue *root = lpt_match_root_of (side, only->pdata[i]), *partner = g_hash_table_lookup (side->partner, root);
      gpointer key = by_partner ? partner : root;
      if (partner != NULL)
        g_hash_table_insert (counts, key, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (counts, key)) + 1));
      else if (!g_hash_table_contains (side->moved, root))
        others++;
    }
  return others;
}

/* A place on a matched trail may be one on its partner, and no other. */
static guint
count_unsure (const LptMatcher *m, const LptMatch *match)
{
  g_autoptr (GHashTable) left_a = g_hash_table_new (NULL, NULL), left_b = g_hash_table_new (NULL, NULL);
  guint a = count_left (&m->a, match->only_a, TRUE, left_a), b = count_left (&m->b, match->only_b, FALSE, left_b),
        n = MIN (a, b);
  GHashTableIter iter;
  gpointer root, count;
  g_hash_table_iter_init (&iter, left_a);
  while (g_hash_table_iter_next (&iter, &root, &count))
    n += MIN (GPOINTER_TO_UINT (count), GPOINTER_TO_UINT (g_hash_table_lookup (left_b, root)));
  return n;
}

static LptMatch *
collect_all (LptMatcher *m)
{
  LptMatch *match = g_new0 (LptMatch, 1);
  g_autoptr (GHashTable) seen_a = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                         seen_b = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL);
  Collector c = { m, match, seen_a, seen_b };
  match->pairs = g_array_new (FALSE, FALSE, sizeof (LptValueMatch));
  match->only_a = g_ptr_array_new ();
  match->only_b = g_ptr_array_new ();
  collect_read (&c);
  collect_results (&c);
  collect_rest (&c);
  match->n_unsure = count_unsure (m, match);
  for (guint i = 0; i < m->a.trails->values->len; i++)
    g_hash_table_insert (at, ((LptTrail *) m->a.trails->values->pdata[i])->value, GUINT_TO_POINTER (i));
  g_array_sort_with_data (match->pairs, compare_order, at);
  return match;
}

/* --- all of it ------------------------------------------------------------------------ */

/* @value of a copy, in @graph; NULL: it is not there. */
static LptValue *
value_in (LptGraph *graph, const LptValue *value)
{
  LptNode *node = lpt_graph_find (graph, value->producer->name);
  return node != NULL && value->index < node->n_out ? &node->out[value->index] : NULL;
}

/* From values of copies to those of the graphs. */
static void
take_back (LptMatch *match, LptGraph *a, LptGraph *b)
{
  for (guint i = match->pairs->len; i-- > 0;)
    {
      LptValueMatch *pair = &g_array_index (match->pairs, LptValueMatch, i);
      pair->a = value_in (a, pair->a);
      pair->b = value_in (b, pair->b);
      if (pair->a == NULL || pair->b == NULL)
        g_array_remove_index (match->pairs, i);
    }
  for (guint i = 0; i < 2; i++)
    {
      GPtrArray *rest = i == 0 ? match->only_a : match->only_b;
      for (guint k = rest->len; k-- > 0;)
        if ((rest->pdata[k] = value_in (i == 0 ? a : b, rest->pdata[k])) == NULL)
          g_ptr_array_remove_index (rest, k);
    }
}

LptMatch *
lpt_match_new (LptGraph *a, LptGraph *b, GError **error)
{
  LptMatcher m = { .named = g_hash_table_new (NULL, NULL) };
  LptMatch *match = NULL;
  g_autoptr (LptGraph) left = lpt_graph_copy (a), right = lpt_graph_copy (b);
  if (lpt_norms_join (left, error) && lpt_norms_join (right, error) && lpt_halves_join (left, error) &&
      lpt_halves_join (right, error) && lpt_match_side_init (&m.a, left, error) &&
      lpt_match_side_init (&m.b, right, error))
    {
      lpt_match_roots (&m);
      match = collect_all (&m);
      take_back (match, a, b);
    }
  lpt_match_side_clear (&m.a);
  lpt_match_side_clear (&m.b);
  g_hash_table_unref (m.named);
  return match;
}

void
lpt_match_free (LptMatch *match)
{
  if (match == NULL)
    return;
  g_array_unref (match->pairs);
  g_ptr_array_unref (match->only_a);
  g_ptr_array_unref (match->only_b);
  g_free (match);
}
