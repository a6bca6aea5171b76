/* lpt-mark.c - lists of types, marks, and the boxes that several marks share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-body.h>

/* --- lists of types --- */

gboolean
lpt_type_list_has (const LptTypeList *list,
                   LptDType           dtype)
{
  return memchr (list->v, (int) dtype, list->n) != NULL;
}

void
lpt_type_list_add (LptTypeList *list,
                   LptDType     dtype)
{
  if (!lpt_type_list_has (list, dtype) && list->n < LPT_MAX_TYPES)
    list->v[list->n++] = (guint8) dtype;
}

LptTypeList
lpt_type_list_intersect (const LptTypeList *order,
                         const LptTypeList *other)
{
  LptTypeList result = { 0 };
  guint i;

  for (i = 0; i < order->n; i++)
    if (lpt_type_list_has (other, (LptDType) order->v[i]))
      lpt_type_list_add (&result, (LptDType) order->v[i]);

  return result;
}

gboolean
lpt_type_list_equal (const LptTypeList *a,
                     const LptTypeList *b)
{
  return a->n == b->n && memcmp (a->v, b->v, a->n) == 0;
}

char *
lpt_type_list_to_string (const LptTypeList *list)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < list->n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "|" : "", lpt_dtype_name ((LptDType) list->v[i]));

  return g_string_free (text, FALSE);
}

gboolean
lpt_type_list_from_string (const char  *text,
                           LptTypeList *list)
{
  g_auto (GStrv) parts = g_strsplit_set (text, "|,", 0);
  guint i;

  *list = (LptTypeList) { 0 };
  for (i = 0; parts[i] != NULL; i++)
    {
      LptDType dtype = lpt_dtype_from_name (g_strstrip (parts[i]));

      if (*parts[i] == '\0' && parts[1] == NULL)
        return TRUE;
      if (lpt_dtype_bits (dtype) == 0 || list->n == LPT_MAX_TYPES)
        return FALSE;
      lpt_type_list_add (list, dtype);
    }

  return TRUE;
}

gboolean
lpt_mark_is_empty (const LptMark *mark)
{
  return mark->precisions == 0 && mark->preserved == 0 && mark->avg_pool == 0 &&
         mark->interval == 0 && mark->alignment == 0 && mark->granularity == LPT_GRANULARITY_NONE;
}

/* --- boxes --- */

LptBox
lpt_box_new (LptGraph  *graph,
             LptBoxKind kind)
{
  LptBoxValue value = { .parent = graph->boxes->len, .kind = kind };

  g_array_append_val (graph->boxes, value);

  return value.parent;
}

LptBox
lpt_box_root (LptGraph *graph,
              LptBox    box)
{
  LptBoxValue *boxes = (LptBoxValue *) (gpointer) graph->boxes->data;

  while (boxes[box].parent != box)
    {
      boxes[box].parent = boxes[boxes[box].parent].parent;
      box = boxes[box].parent;
    }

  return box;
}

LptBoxValue *
lpt_box (LptGraph *graph,
         LptBox    box)
{
  if (box == 0)
    return NULL;

  return &g_array_index (graph->boxes, LptBoxValue, lpt_box_root (graph, box));
}

void
lpt_box_share (LptGraph *graph,
               LptBox    into,
               LptBox    from)
{
  LptBox a = lpt_box_root (graph, into);
  LptBox b = lpt_box_root (graph, from);

  g_array_index (graph->boxes, LptBoxValue, b).parent = a;
}

void
lpt_graph_clear_marks (LptGraph *graph)
{
  const LptMark none = { 0 };
  guint i, k;

  for (i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);

      node->mark = none;
      node->flags &= ~(guint32) LPT_NODE_BIAS;
      for (k = 0; k < node->n_in; k++)
        node->in[k].mark = none;
      for (k = 0; k < node->n_out; k++)
        node->out[k].mark = none;
      for (k = 0; k < lpt_node_n_bodies (node); k++)
        lpt_graph_clear_marks (lpt_node_body (node, k));
    }
  g_array_set_size (graph->boxes, 1);
}
