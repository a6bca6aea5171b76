/* page-memory.c - the plan of a model: what is fused into what, and what lies where in the arena from which op to which
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "report/page.h"

#include "executor/lpt-plan.h"
#include "report/json.h"

/* Blocks that are drawn; the smallest of more are left out. */
#define MOST 1500

static LptShape *
input_shapes (LptGraph *graph)
{
  LptShape *shapes = g_new0 (LptShape, graph->parameters->len + 1);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      shapes[i] = lpt_node_out (graph->parameters->pdata[i])->shape;
      for (gint k = 0; k < shapes[i].rank; k++)
        if (shapes[i].dims[k] == LPT_DYNAMIC)
          shapes[i].dims[k] = 1;
    }
  return shapes;
}

static gint
compare_sizes (gconstpointer a, gconstpointer b)
{
  const LptProgramValue *x = *(LptProgramValue *const *) a, *y = *(LptProgramValue *const *) b;
  return x->size != y->size ? (x->size > y->size ? -1 : 1) : x->index < y->index ? -1 : x->index > y->index;
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const LptProgramValue *x = *(LptProgramValue *const *) a, *y = *(LptProgramValue *const *) b;
  return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->index < y->index ? -1 : x->index > y->index;
}

static void
note_fused (const LptPage *page, const LptProgram *program)
{
  for (guint i = 0; i < program->nodes->len; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];
      LptPageNode *node = lpt_page_find (page, op->node->name);
      const LptPageNode *into = op->fused_into != NULL ? lpt_page_find (page, lpt_program_owner (op)->node->name) : NULL;
      /* What else stands for the op says nothing of it. */
      if (node != NULL && node != into && node->now != NULL &&
          g_str_equal (node->now->producer->name, op->node->name))
        node->within = into;
    }
}

gboolean
lpt_page_memory (const LptPage *page, GString *out, GError **error)
{
  g_autofree LptShape *shapes = input_shapes (page->lowered);
  g_autoptr (LptPlan) plan = lpt_plan_new (page->lowered, shapes, 0, error);
  if (plan == NULL)
    return FALSE;
  const LptProgram *program = plan->program;
  note_fused (page, program);
  g_autoptr (GPtrArray) blocks = g_ptr_array_new ();
  for (guint i = 0; i < program->values->len; i++)
    {
      LptProgramValue *value = program->values->pdata[i];
      if (value->kind == LPT_STORAGE_ARENA && value->size > 0)
        g_ptr_array_add (blocks, value);
    }
  g_ptr_array_sort (blocks, compare_sizes);
  if (blocks->len > MOST)
    g_ptr_array_set_size (blocks, MOST);
  g_ptr_array_sort (blocks, compare_places);
  lpt_page_json_key (out, "memory");
  g_string_append_c (out, '{');
  lpt_page_json_int (out, "ops", program->ops->len);
  lpt_page_json_int (out, "size", (gint64) program->arena_size);
  lpt_page_json_int (out, "bound", (gint64) program->arena_bound);
  lpt_page_json_key (out, "blocks");
  g_string_append_c (out, '[');
  for (guint i = 0; i < blocks->len; i++)
    {
      const LptProgramValue *value = blocks->pdata[i];
      lpt_page_json_next (out);
      g_string_append_c (out, '[');
      lpt_page_json_text (out, value->origin != NULL ? value->origin->producer->name : "");
      g_string_append_printf (out, ",%u,%u,%" G_GSIZE_FORMAT ",%" G_GSIZE_FORMAT "]", value->first,
                              MIN (value->last, program->ops->len), value->offset, value->size);
    }
  g_string_append (out, "]}");
  return TRUE;
}
