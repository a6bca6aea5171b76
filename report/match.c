/* match.c - which values of two graphs are the same place of one model
 *
 * Roots of trails are matched first: inputs and outputs by their names; others of one op and as many elements by names that they or what follows on their
 * trail have in common; then neighbours of those that are matched, where one of each graph fits, or weights tell which of several does. Never
 * against what is matched in front of them. Values of matched trails are then matched where an op that is matched reads them, at results,
 * and between, where both trails take the same steps: what one graph computes inside of another op (a Relu in the clamp of a convolution) has no counterpart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/match.h"

#include "report/alike.h"
#include "report/norms.h"

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-work.h>

#include <math.h>
#include <string.h>

/* One of the two graphs. */
typedef struct
{
  LptGraph   *graph;
  LptTrails  *trails;
  GPtrArray  *roots;      /* LptValue * */
  GHashTable *names;      /* name (char *) -> root, or NULL where several have it */
  GHashTable *readers;    /* root -> GPtrArray of LptUse *: inputs of nodes that begin trails */
  GHashTable *partner;    /* root -> root of the other graph */
  GHashTable *clamped;    /* set of roots whose trails begin with a clamp */
} Side;

typedef struct { Side a, b; gboolean changed; } Matcher;

static gboolean
is_clamp (LptOp op)
{
  return op == LPT_OP_RELU || op == LPT_OP_CLAMP;
}

/* --- sides ---------------------------------------------------------------------- */

static void
add_name (Side *side, const char *name, LptValue *root)
{
  gpointer known;
  if (!g_hash_table_lookup_extended (side->names, name, NULL, &known))
    g_hash_table_insert (side->names, g_strdup (name), root);
  else if (known != root)
    g_hash_table_insert (side->names, g_strdup (name), NULL);
}

/* A pass renames what it takes a name from. */
static char *
plain_name (const LptNode *node)
{
  const char *name = node->origin != NULL ? node->origin : node->name;
  return g_str_has_suffix (name, "_original") ? g_strndup (name, strlen (name) - strlen ("_original")) : g_strdup (name);
}

static void
index_names (Side *side, const LptTrail *trail)
{
  const LptValue *value = trail->value;
  for (guint k = 0; value->names != NULL && k < value->names->len; k++)
    {
      g_autofree char *tensor = g_strconcat ("tensor ", (char *) g_ptr_array_index (value->names, k), NULL);
      add_name (side, tensor, trail->root);
    }
  g_autofree char *plain = plain_name (value->producer);
  g_autofree char *node = g_strdup_printf ("node %s.%u", plain, value->index);
  add_name (side, node, trail->root);
}

static void
index_readers (Side *side, LptNode *node)
{
  if (node->n_out == 0 || lpt_trail_of (side->trails, &node->out[0]) == NULL || lpt_trail_of (side->trails, &node->out[0])->root != &node->out[0])
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
      g_ptr_array_add (list, g_memdup2 (&(LptUse) { node, i }, sizeof (LptUse)));
    }
}

static gboolean
side_init (Side *side, LptGraph *graph, GError **error)
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
  for (guint i = 0; i < side->trails->values->len; i++)
    {
      const LptTrail *trail = g_ptr_array_index (side->trails->values, i);
      if (trail->root == trail->value)
        g_ptr_array_add (side->roots, trail->value);
      if (trail->n_steps > 0 && is_clamp (trail->steps[0]))
        g_hash_table_add (side->clamped, trail->root);
      index_names (side, trail);
      if (trail->value->index == 0)
        index_readers (side, trail->value->producer);
    }
  return TRUE;
}

static void
side_clear (Side *side)
{
  g_clear_pointer (&side->trails, lpt_trails_free);
  g_clear_pointer (&side->roots, g_ptr_array_unref);
  g_clear_pointer (&side->names, g_hash_table_unref);
  g_clear_pointer (&side->readers, g_hash_table_unref);
  g_clear_pointer (&side->partner, g_hash_table_unref);
  g_clear_pointer (&side->clamped, g_hash_table_unref);
}

static LptValue *
root_of (const Side *side, const LptValue *value)
{
  const LptTrail *trail = lpt_trail_of (side->trails, value);
  return trail != NULL ? trail->root : NULL;
}

/* --- which roots fit ------------------------------------------------------------ */

/* Nothing says that the two are different places: unmatched, or matched with each other. */
static gboolean
may_pair (const Matcher *m, LptValue *a, LptValue *b)
{
  LptValue *pa = g_hash_table_lookup (m->a.partner, a), *pb = g_hash_table_lookup (m->b.partner, b);
  return (pa == NULL && pb == NULL) || (pa == b && pb == a);
}

static gboolean
ports_fit (const Matcher *m, const LptNode *a, const LptNode *b, gboolean swapped)
{
  for (guint i = 0; i < MIN (a->n_in, b->n_in); i++)
    {
      guint k = swapped && i < 2 ? 1 - i : i;
      LptValue *ra = root_of (&m->a, a->in[i].value), *rb = k < b->n_in ? root_of (&m->b, b->in[k].value) : NULL;
      if (ra != NULL && rb != NULL && !may_pair (m, ra, rb))
        return FALSE;
    }
  return TRUE;
}

/* Do both read what may be the same? @swapped: in the other order. */
static gboolean
inputs_fit (const Matcher *m, const LptNode *a, const LptNode *b, gboolean *swapped)
{
  *swapped = FALSE;
  if (ports_fit (m, a, b, FALSE))
    return TRUE;
  *swapped = (a->info->flags & LPT_OP_F_COMMUTES) != 0;
  return *swapped && ports_fit (m, a, b, TRUE);
}

/* One op that may be the same op of both graphs. */
static gboolean
roots_fit (const Matcher *m, LptValue *a, LptValue *b)
{
  gboolean swapped;
  return g_hash_table_lookup (m->a.partner, a) == NULL && g_hash_table_lookup (m->b.partner, b) == NULL && a->producer->info == b->producer->info
         && a->index == b->index && lpt_value_count (a) == lpt_value_count (b) && inputs_fit (m, a->producer, b->producer, &swapped)
         && !lpt_moves_otherwise (a->producer, b->producer);
}

static void
pair (Matcher *m, LptValue *a, LptValue *b)
{
  g_hash_table_insert (m->a.partner, a, b);
  g_hash_table_insert (m->b.partner, b, a);
  m->changed = TRUE;
}

/* --- anchors -------------------------------------------------------------------- */

static void
pair_inputs (Matcher *m)
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
pair_names (Matcher *m)
{
  for (guint i = 0; i < m->a.trails->values->len; i++)
    {
      const LptTrail *trail = g_ptr_array_index (m->a.trails->values, i);
      g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *plain = plain_name (trail->value->producer);
      for (guint k = 0; trail->value->names != NULL && k < trail->value->names->len; k++)
        g_ptr_array_add (keys, g_strconcat ("tensor ", (char *) g_ptr_array_index (trail->value->names, k), NULL));
      g_ptr_array_add (keys, g_strdup_printf ("node %s.%u", plain, trail->value->index));
      for (guint k = 0; k < keys->len; k++)
        {
          LptValue *b = g_hash_table_lookup (m->b.names, keys->pdata[k]);
          if (b != NULL && g_hash_table_lookup (m->a.names, keys->pdata[k]) == trail->root && roots_fit (m, trail->root, b))
            pair (m, trail->root, b);
        }
    }
}

/* The result of @b that is called as @result, or stands where it does. */
static LptNode *
result_for (const Matcher *m, guint i)
{
  GPtrArray *as = m->a.graph->results, *bs = m->b.graph->results;
  for (guint k = 0; k < bs->len; k++)
    if (g_strcmp0 (lpt_result_name (as->pdata[i]), lpt_result_name (bs->pdata[k])) == 0)
      return bs->pdata[k];
  return as->len == bs->len ? bs->pdata[i] : NULL;
}

static void
pair_results (Matcher *m)
{
  for (guint i = 0; i < m->a.graph->results->len; i++)
    {
      LptNode *b = result_for (m, i);
      LptValue *ra = root_of (&m->a, lpt_node_in (m->a.graph->results->pdata[i], 0)), *rb = b != NULL ? root_of (&m->b, lpt_node_in (b, 0)) : NULL;
      if (ra != NULL && rb != NULL && roots_fit (m, ra, rb))
        pair (m, ra, rb);
    }
}

/* --- neighbours ----------------------------------------------------------------- */

/* What reads the pair at the same input: the only two that fit, or those whose weights say so. */
static void
pair_readers (Matcher *m, LptValue *a, LptValue *b)
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
        rivals += ((const LptUse *) as->pdata[k])->index == x->index && best != NULL && roots_fit (m, &((const LptUse *) as->pdata[k])->node->out[0], best);
      gboolean sure = fit == 1 && rivals == 1 ? !(likeness < 0.5) : most > 0.9;
      if (best != NULL && sure)
        for (guint k = 0; k < x->node->n_out; k++)
          if (k < best->producer->n_out && roots_fit (m, &x->node->out[k], &best->producer->out[k]))
            pair (m, &x->node->out[k], &best->producer->out[k]);
    }
}

/* What the pair reads. */
static void
pair_sources (Matcher *m, const LptNode *a, const LptNode *b)
{
  gboolean swapped;
  if (!inputs_fit (m, a, b, &swapped) || (a->info->flags & LPT_OP_F_COMMUTES) != 0)
    return;
  for (guint i = 0; i < MIN (a->n_in, b->n_in); i++)
    {
      LptValue *ra = root_of (&m->a, a->in[i].value), *rb = root_of (&m->b, b->in[i].value);
      if (ra != NULL && rb != NULL && roots_fit (m, ra, rb) && !(lpt_weights_alike (ra->producer, rb->producer) < 0.5))
        pair (m, ra, rb);
    }
}

static void
pair_neighbours (Matcher *m)
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

/* --- values --------------------------------------------------------------------- */

/* The steps of @longer are those of @shorter and clamps behind them. */
static gboolean
adds_clamps (const LptTrail *shorter, const LptTrail *longer)
{
  if (longer->n_steps > LPT_TRAIL_STEPS || shorter->n_steps >= longer->n_steps || memcmp (shorter->steps, longer->steps, shorter->n_steps * sizeof shorter->steps[0]) != 0)
    return FALSE;
  for (guint i = shorter->n_steps; i < longer->n_steps; i++)
    if (!is_clamp (longer->steps[i]))
      return FALSE;
  return TRUE;
}

static gboolean
ends_in_table (const LptTrail *trail)
{
  return trail->n_steps > 0 && trail->n_steps <= LPT_TRAIL_STEPS && trail->steps[trail->n_steps - 1] == LPT_OP_TABLE;
}

/* Does a clamp stand behind an op that moves what is on the trail? Passes take it to the other side. */
static gboolean
clamp_follows (const Side *side, const LptTrail *trail)
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

/* Are values that stand at the same place of matched trails the same but for rounding? */
static gboolean
are_alike (const Matcher *m, const LptTrail *a, const LptTrail *b, gboolean *doubtful)
{
  const LptTrail *shorter = a->n_steps < b->n_steps ? a : b, *longer = shorter == a ? b : a;
  gboolean bounded = lpt_value_floor (a->value) >= 0.0, other = lpt_value_floor (b->value) >= 0.0;
  *doubtful = FALSE;
  if (a->coded || b->coded)
    return FALSE;
  if (lpt_trail_equal (a, b))
    {
      *doubtful = bounded != other && (clamp_follows (&m->a, a) || clamp_follows (&m->b, b));
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
  Matcher    *m;
  LptMatch   *match;
  GHashTable *seen_a, *seen_b;    /* places (char *) that are in a pair */
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
  if (a == NULL || b == NULL || g_hash_table_lookup (c->m->a.partner, a->root) != b->root || !are_alike (c->m, a, b, &found.doubtful))
    return;
  g_autofree char *pa = place_of (a), *pb = place_of (b);
  if (g_hash_table_contains (c->seen_a, pa) || g_hash_table_contains (c->seen_b, pb))
    return;
  found.a = a->value;
  found.b = b->value;
  found.bounded = (lpt_value_floor (a->value) >= 0.0) != (lpt_value_floor (b->value) >= 0.0)
                  && (g_hash_table_contains (c->m->a.clamped, a->root) || g_hash_table_contains (c->m->b.clamped, b->root));
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
      if (b == NULL || !inputs_fit (c->m, a->producer, b->producer, &swapped))
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
      LptNode *b = result_for (c->m, i);
      if (b != NULL)
        collect (c, lpt_trail_of (c->m->a.trails, lpt_node_in (c->m->a.graph->results->pdata[i], 0)), lpt_trail_of (c->m->b.trails, lpt_node_in (b, 0)));
    }
}

/* The last value of each place, in topological order: place -> LptTrail *. */
static GHashTable *
last_of_places (const Side *side, GPtrArray *order)
{
  GHashTable *last = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < side->trails->values->len; i++)
    {
      LptTrail *trail = g_ptr_array_index (side->trails->values, i);
      char *place = place_of (trail);
      if (trail->coded)
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

/* Is @trail a place that one of the two graphs may have inside of an op: the sigmoid of a swish? */
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

/* Between: where both trails have as many places, those of the same steps; and what is left over. */
static void
collect_rest (Collector *c)
{
  g_autoptr (GPtrArray) order_a = g_ptr_array_new_with_free_func (g_free), order_b = g_ptr_array_new_with_free_func (g_free);
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

/* --- all of it ------------------------------------------------------------------ */

static gint
compare_order (gconstpointer x, gconstpointer y, gpointer data)
{
  guint i = GPOINTER_TO_UINT (g_hash_table_lookup (data, ((const LptValueMatch *) x)->a)), k = GPOINTER_TO_UINT (g_hash_table_lookup (data, ((const LptValueMatch *) y)->a));
  return i < k ? -1 : i > k;
}

static LptMatch *
collect_all (Matcher *m)
{
  LptMatch *match = g_new0 (LptMatch, 1);
  g_autoptr (GHashTable) seen_a = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), seen_b = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) at = g_hash_table_new (NULL, NULL);
  Collector c = { m, match, seen_a, seen_b };
  match->pairs = g_array_new (FALSE, FALSE, sizeof (LptValueMatch));
  match->only_a = g_ptr_array_new ();
  match->only_b = g_ptr_array_new ();
  collect_read (&c);
  collect_results (&c);
  collect_rest (&c);
  for (guint i = 0; i < m->a.trails->values->len; i++)
    g_hash_table_insert (at, ((LptTrail *) m->a.trails->values->pdata[i])->value, GUINT_TO_POINTER (i));
  g_array_sort_with_data (match->pairs, compare_order, at);
  return match;
}

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
  Matcher m = { .changed = FALSE };
  LptMatch *match = NULL;
  g_autoptr (LptGraph) left = lpt_graph_copy (a), right = lpt_graph_copy (b);
  if (lpt_norms_join (left, error) && lpt_norms_join (right, error) && side_init (&m.a, left, error) &&
      side_init (&m.b, right, error))
    {
      pair_inputs (&m);
      pair_names (&m);
      pair_results (&m);
      pair_neighbours (&m);
      match = collect_all (&m);
      take_back (match, a, b);
    }
  side_clear (&m.a);
  side_clear (&m.b);
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
