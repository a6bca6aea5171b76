/* places.c - the values of a graph before and after a change, place by place
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/places.h"

#include "cli/values.h"

#include <lpt/lpt-body.h>
#include <lpt/lpt-text.h>

#include <string.h>

/* A node of one of the two graphs. */
typedef struct
{
  LptNode    *node;
  LptTensor **values;     /* n_out; NULL = not computed (yet) */
  guint       n_out;
  LptNode    *twin;       /* after: the node as it was; NULL = it is new, or another one now */
  gboolean    matched;    /* after: computes what it did, on what it did */
  gboolean    honest;     /* after: matched on the same bits, or its values were computed from such alone */
  LptValue  **stands;     /* after, not matched: for which value of before each output was accepted; NULL = none */
} Cell;

struct _CmdPlaces
{
  LptGraph   *graph;      /* the one that changes */
  LptGraph   *before;     /* as it was */
  GHashTable *cells;      /* LptNode * of @before -> Cell */
  GHashTable *twins;      /* id in @graph -> LptNode * of @before */
  GHashTable *now;        /* LptNode * of @graph -> Cell, during a step */
  GHashTable *asked;      /* LptValue * of @graph -> GPtrArray of LptValue * of @before that it is read in place of */
  GHashTable *verdicts;   /* Pair -> verdict */
  GPtrArray  *inputs;
  LptTensor  *was, *is;   /* of the output that was lost last */
};

typedef struct { LptValue *before, *after; } Pair;

static guint
pair_hash (gconstpointer data)
{
  const Pair *pair = data;
  return g_direct_hash (pair->before) * 31 + g_direct_hash (pair->after);
}

static gboolean
pair_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Pair)) == 0;
}

static void
cell_free (Cell *cell)
{
  for (guint i = 0; i < cell->n_out; i++)
    g_clear_pointer (&cell->values[i], lpt_tensor_unref);
  g_free (cell->values);
  g_free (cell->stands);
  g_free (cell);
}

static Cell *
cell_of (GHashTable *cells, LptNode *node)
{
  Cell *cell = g_hash_table_lookup (cells, node);
  if (cell != NULL)
    return cell;
  cell = g_new0 (Cell, 1);
  cell->node = node;
  cell->n_out = node->n_out;
  cell->values = g_new0 (LptTensor *, node->n_out + 1);
  cell->stands = g_new0 (LptValue *, node->n_out + 1);
  g_hash_table_insert (cells, node, cell);
  return cell;
}

static GHashTable *
new_cells (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) cell_free);
}

/* --- as it was --- */

/* Copies the graph; what @places->now holds of honest values goes along. */
static void
take_snapshot (CmdPlaces *places)
{
  LptGraph *copy = lpt_graph_copy (places->graph);
  GHashTable *cells = new_cells ();
  g_hash_table_remove_all (places->twins);
  for (guint i = 0; i < copy->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (places->graph->nodes, i), *twin = g_ptr_array_index (copy->nodes, i);
      Cell *old = places->now != NULL ? g_hash_table_lookup (places->now, node) : NULL;
      g_hash_table_insert (places->twins, GUINT_TO_POINTER (node->id), twin);
      if (old == NULL || !old->honest)
        continue;
      Cell *cell = cell_of (cells, twin), *from = old->matched ? g_hash_table_lookup (places->cells, old->twin) : old;
      for (guint k = 0; from != NULL && k < cell->n_out; k++)
        cell->values[k] = from->values[k] != NULL ? lpt_tensor_ref (from->values[k]) : NULL;
    }
  g_clear_pointer (&places->cells, g_hash_table_unref);
  lpt_graph_free (places->before);
  places->cells = cells;
  places->before = copy;
}

static void
forget_lost (CmdPlaces *places)
{
  g_clear_pointer (&places->was, lpt_tensor_unref);
  g_clear_pointer (&places->is, lpt_tensor_unref);
}

void
cmd_places_free (CmdPlaces *places)
{
  if (places == NULL)
    return;
  g_clear_pointer (&places->cells, g_hash_table_unref);
  g_clear_pointer (&places->twins, g_hash_table_unref);
  g_clear_pointer (&places->inputs, g_ptr_array_unref);
  forget_lost (places);
  lpt_graph_free (places->before);
  g_free (places);
}

/* What a Const or a Parameter holds; NULL: it has to be computed. */
static LptTensor *
given (CmdPlaces *places, LptNode *node)
{
  guint at;
  if (lpt_node_is_const (node))
    return node->data;
  return node->op == LPT_OP_PARAMETER && g_ptr_array_find (node->graph->parameters, node, &at)
             ? g_ptr_array_index (places->inputs, at)
             : NULL;
}

/* The values of a node of @before, computed with those that it needs. */
static Cell *
compute_before (CmdPlaces *places, LptNode *node, GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_ptr_array_add (stack, node);
  while (stack->len > 0)
    {
      LptNode *top = g_ptr_array_index (stack, stack->len - 1);
      Cell *cell = cell_of (places->cells, top);
      LptTensor *tensor = given (places, top);
      guint waiting = stack->len;
      if (tensor != NULL && cell->values[0] == NULL)
        cell->values[0] = lpt_tensor_ref (tensor);
      for (guint i = 0; top->n_out > 0 && cell->values[0] == NULL && i < top->n_in; i++)
        if (lpt_node_src (top, i) != NULL && cell_of (places->cells, lpt_node_src (top, i))->values[0] == NULL)
          g_ptr_array_add (stack, lpt_node_src (top, i));
      if (stack->len > waiting)
        continue;
      if (top->n_out > 0 && cell->values[0] == NULL)
        {
          g_autofree LptTensor **in = g_new0 (LptTensor *, top->n_in + 1);
          for (guint i = 0; i < top->n_in; i++)
            if (top->in[i].value != NULL)
              in[i] = cell_of (places->cells, lpt_node_src (top, i))->values[top->in[i].value->index];
          if (!cmd_values_run (top, in, cell->values, error))
            return NULL;
        }
      g_ptr_array_set_size (stack, waiting - 1);
    }
  return cell_of (places->cells, node);
}

CmdPlaces *
cmd_places_new (LptGraph *graph, LptTensor *const *inputs, GError **error)
{
  g_autoptr (CmdPlaces) places = g_new0 (CmdPlaces, 1);
  places->graph = graph;
  places->twins = g_hash_table_new (NULL, NULL);
  places->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < graph->parameters->len; i++)
    g_ptr_array_add (places->inputs, lpt_tensor_ref (inputs[i]));
  take_snapshot (places);
  for (guint i = 0; i < places->before->results->len; i++)
    if (compute_before (places, lpt_node_src (g_ptr_array_index (places->before->results, i), 0), error) == NULL)
      return NULL;
  return g_steal_pointer (&places);
}

/* --- as it is --- */

/* Does @now do to its inputs what @old did? */
static gboolean
is_as_it_was (LptNode *old, LptNode *now)
{
  if (old->info != now->info || old->n_in != now->n_in || old->n_out != now->n_out || old->opset != now->opset ||
      ((old->flags ^ now->flags) & LPT_NODE_RELAXED) || !lpt_attrs_equal (now->info, old->attrs, now->attrs) ||
      g_strcmp0 (old->requant, now->requant) != 0 || lpt_node_n_bodies (old) != lpt_node_n_bodies (now) ||
      (old->data != now->data && (old->data == NULL || now->data == NULL || !lpt_tensor_equal (old->data, now->data))))
    return FALSE;
  for (guint i = 0; i < now->n_in; i++)
    if ((old->in[i].value == NULL) != (now->in[i].value == NULL) || old->in[i].compute != now->in[i].compute)
      return FALSE;
  for (guint i = 0; i < now->n_out; i++)
    if (old->out[i].dtype != now->out[i].dtype || !lpt_quant_equal (old->out[i].quant, now->out[i].quant))
      return FALSE;
  for (guint i = 0; i < lpt_node_n_bodies (now); i++)
    {
      g_autofree char *was = lpt_graph_to_text (lpt_node_body (old, i), 0),
                      *is = lpt_graph_to_text (lpt_node_body (now, i), 0);
      if (!g_str_equal (was, is))
        return FALSE;
    }
  return TRUE;
}

static LptNode *
twin_of (CmdPlaces *places, LptNode *node)
{
  return g_hash_table_lookup (places->twins, GUINT_TO_POINTER (node->id));
}

/* Is @before the value that @after was before the change? */
static gboolean
is_same_place (CmdPlaces *places, LptValue *before, LptValue *after)
{
  return twin_of (places, after->producer) == before->producer && before->index == after->index;
}

LptTensor *
cmd_places_value (CmdPlaces *places, LptValue *value, GError **error)
{
  Cell *cell = value->producer->graph == places->before ? compute_before (places, value->producer, error) : NULL;
  if (value->producer->graph == places->before)
    return cell != NULL ? cell->values[value->index] : NULL;
  cell = cell_of (places->now, value->producer);
  if (cell->matched)
    return cmd_places_value (places, &cell->twin->out[value->index], error);
  return cell->stands[value->index] != NULL ? cmd_places_value (places, cell->stands[value->index], error)
                                            : cell->values[value->index];
}

/* CmdPlaceVerdict of @after in place of @before, asked once; -1 + error. */
static int
verdict_of (CmdPlaces *places, LptValue *before, LptValue *after, CmdPlaceJudge judge, gpointer data, GError **error)
{
  Pair pair = { before, after };
  Cell *cell = cell_of (places->now, after->producer);
  gpointer known;
  if (cell->matched && is_same_place (places, before, after))
    return cell->honest ? CMD_PLACE_SAME : CMD_PLACE_ACCEPTED;
  if (g_hash_table_lookup_extended (places->verdicts, &pair, NULL, &known))
    return GPOINTER_TO_INT (known);
  CmdPlace place = { before, after, cmd_places_value (places, before, error), NULL };
  place.is = cell->matched ? cmd_places_value (places, after, error) : cell->values[after->index];
  if (place.was == NULL || place.is == NULL)
    return -1;
  int verdict = judge (places, &place, data);
  if (verdict == CMD_PLACE_SAME && !cell->honest)
    verdict = CMD_PLACE_ACCEPTED;
  g_hash_table_insert (places->verdicts, g_memdup2 (&pair, sizeof pair), GINT_TO_POINTER (verdict));
  return verdict;
}

static void
ask (CmdPlaces *places, LptValue *before, LptValue *after)
{
  GPtrArray *list = g_hash_table_lookup (places->asked, after);
  if (list == NULL)
    {
      list = g_ptr_array_new ();
      g_hash_table_insert (places->asked, after, list);
    }
  if (!g_ptr_array_find (list, before, NULL))
    g_ptr_array_add (list, before);
}

/* The nodes that outputs and states need, in their order (transfer full), each with a cell; what is read in place of
 * what. */
static GPtrArray *
survey (CmdPlaces *places, GError **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (places->graph, error);
  g_autoptr (GPtrArray) needed = g_ptr_array_new ();
  g_autoptr (GHashTable) reached = g_hash_table_new (NULL, NULL);
  if (order == NULL)
    return NULL;
  for (guint i = order->len; i-- > 0; )
    {
      LptNode *node = g_ptr_array_index (order, i), *twin = twin_of (places, node);
      if ((node->flags & LPT_NODE_DEAD) ||
          !((node->info->flags & LPT_OP_F_SINK) || g_hash_table_contains (reached, node)))
        continue;
      Cell *cell = cell_of (places->now, node);
      for (guint k = 0; k < node->n_in; k++)
        if (lpt_node_src (node, k) != NULL)
          g_hash_table_add (reached, lpt_node_src (node, k));
      g_ptr_array_add (needed, node);
      if (twin == NULL || !is_as_it_was (twin, node))
        continue;
      cell->twin = twin;
      for (guint k = 0; k < node->n_in; k++)
        if (node->in[k].value != NULL)
          ask (places, twin->in[k].value, node->in[k].value);
    }
  for (guint i = 0; i < places->graph->results->len && i < places->before->results->len; i++)
    ask (places, lpt_node_in (g_ptr_array_index (places->before->results, i), 0),
         lpt_node_in (g_ptr_array_index (places->graph->results, i), 0));
  for (guint i = 0; i < needed->len / 2; i++)
    {
      gpointer last = needed->pdata[needed->len - 1 - i];
      needed->pdata[needed->len - 1 - i] = needed->pdata[i];
      needed->pdata[i] = last;
    }
  return g_steal_pointer (&needed);
}

/* Computes a node that is not what it was, from what its inputs hold, and finds what its values stand for. */
static gboolean
compute_after (CmdPlaces *places, Cell *cell, CmdPlaceJudge judge, gpointer data, GError **error)
{
  LptNode *node = cell->node;
  g_autofree LptTensor **in = g_new0 (LptTensor *, node->n_in + 1);
  cell->honest = TRUE;
  if (given (places, node) != NULL)
    cell->values[0] = lpt_tensor_ref (given (places, node));
  else
    {
      for (guint i = 0; i < node->n_in; i++)
        if (node->in[i].value != NULL)
          {
            Cell *source = cell_of (places->now, lpt_node_src (node, i));
            in[i] = cmd_places_value (places, node->in[i].value, error);
            if (in[i] == NULL)
              return FALSE;
            cell->honest &= source->honest;
            if (source->stands[node->in[i].value->index] != NULL)
              cell->honest &= verdict_of (places, source->stands[node->in[i].value->index], node->in[i].value, judge,
                                          data, error) == CMD_PLACE_SAME;
          }
      if (!cmd_values_run (node, in, cell->values, error))
        return FALSE;
    }
  for (guint k = 0; k < node->n_out; k++)
    {
      GPtrArray *list = g_hash_table_lookup (places->asked, &node->out[k]);
      for (guint i = 0; list != NULL && i < list->len; i++)
        {
          LptValue *before = g_ptr_array_index (list, i);
          int verdict = verdict_of (places, before, &node->out[k], judge, data, error);
          if (verdict < 0)
            return FALSE;
          if (verdict != CMD_PLACE_OTHER && cell->stands[k] == NULL)
            cell->stands[k] = before;
        }
    }
  return TRUE;
}

static gboolean
visit (CmdPlaces *places, LptNode *node, CmdPlaceJudge judge, gpointer data, GError **error)
{
  Cell *cell = cell_of (places->now, node);
  gboolean matched = cell->twin != NULL, honest = TRUE;
  if (node->n_out == 0)
    return TRUE;
  for (guint i = 0; matched && i < node->n_in; i++)
    if (node->in[i].value != NULL)
      {
        int verdict = verdict_of (places, cell->twin->in[i].value, node->in[i].value, judge, data, error);
        if (verdict < 0)
          return FALSE;
        matched = verdict != CMD_PLACE_OTHER;
        honest &= verdict == CMD_PLACE_SAME;
      }
  cell->matched = matched;
  cell->honest = honest;
  return matched || compute_after (places, cell, judge, data, error);
}

static gboolean
walk (CmdPlaces *places, CmdPlaceJudge judge, gpointer data, CmdLost *lost, GError **error)
{
  g_autoptr (GPtrArray) nodes = survey (places, error);
  if (nodes == NULL)
    return FALSE;
  for (guint i = 0; i < nodes->len; i++)
    if (!visit (places, g_ptr_array_index (nodes, i), judge, data, error))
      return FALSE;
  for (guint i = 0; i < places->graph->results->len && i < places->before->results->len && lost->result == NULL; i++)
    {
      LptValue *was = lpt_node_in (g_ptr_array_index (places->before->results, i), 0);
      LptNode *result = g_ptr_array_index (places->graph->results, i);
      int verdict = verdict_of (places, was, lpt_node_in (result, 0), judge, data, error);
      if (verdict < 0)
        return FALSE;
      if (verdict != CMD_PLACE_OTHER)
        continue;
      places->was = lpt_tensor_ref (cmd_places_value (places, was, NULL));
      places->is = lpt_tensor_ref (cmd_places_value (places, lpt_node_in (result, 0), NULL));
      *lost = (CmdLost) { result, places->was, places->is };
    }
  return TRUE;
}

gboolean
cmd_places_step (CmdPlaces *places, CmdPlaceJudge judge, gpointer data, CmdLost *lost, GError **error)
{
  *lost = (CmdLost) { NULL };
  forget_lost (places);
  places->now = new_cells ();
  places->asked = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  places->verdicts = g_hash_table_new_full (pair_hash, pair_equal, g_free, NULL);
  gboolean ok = walk (places, judge, data, lost, error);
  if (ok)
    take_snapshot (places);
  g_clear_pointer (&places->now, g_hash_table_unref);
  g_clear_pointer (&places->asked, g_hash_table_unref);
  g_clear_pointer (&places->verdicts, g_hash_table_unref);
  return ok;
}
