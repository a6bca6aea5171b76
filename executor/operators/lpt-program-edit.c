/* lpt-program-edit.c - see lpt-program-edit.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-work.h>

#include "executor/operators/lpt-program-edit.h"

static void
free_value (LptProgramValue *value)
{
  lpt_array_clear (&value->array);
  g_ptr_array_unref (value->uses);
  g_free (value);
}

static void
free_op (LptProgramOp *op)
{
  lpt_program_drop_form (op);
  lpt_int_op_free (op->integer);
  g_free (op->in);
  g_free (op->out);
  g_free (op->kernel);
  g_free (op->table);
  g_free (op);
}

LptProgram *
lpt_program_new (LptGraph *graph,
                 guint     flags,
                 LptPack  *pack)
{
  LptProgram *program = g_new0 (LptProgram, 1);

  program->graph = graph;
  program->flags = flags;
  program->pack = lpt_pack_ref (pack);
  program->values = g_ptr_array_new_with_free_func ((GDestroyNotify) free_value);
  program->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) free_op);
  program->ops = g_ptr_array_new ();
  program->overlaps = g_array_new (FALSE, FALSE, sizeof (LptOverlap));
  program->value_of = g_hash_table_new (NULL, NULL);
  program->n_inputs = graph->parameters->len;
  program->n_outputs = graph->results->len;
  program->inputs = g_new0 (LptProgramValue *, program->n_inputs + 1);
  program->outputs = g_new0 (LptProgramValue *, program->n_outputs + 1);

  return program;
}

void
lpt_program_free (LptProgram *program)
{
  if (program == NULL)
    return;
  g_array_unref (program->overlaps);
  g_ptr_array_unref (program->ops);
  g_ptr_array_unref (program->nodes);
  g_ptr_array_unref (program->values);
  g_hash_table_unref (program->value_of);
  g_free (program->inputs);
  g_free (program->outputs);
  lpt_pack_unref (program->pack);
  lpt_graph_free (program->graph);
  g_free (program);
}

/* --- values --- */

LptProgramValue *
lpt_program_add_value (LptProgram    *program,
                       LptValue      *origin,
                       LptStorageKind kind,
                       LptProgramOp  *def)
{
  LptProgramValue *value = g_new0 (LptProgramValue, 1);

  value->index = program->values->len;
  value->origin = origin;
  value->kind = kind;
  value->def = def;
  value->uses = g_ptr_array_new ();
  value->array.declared = origin->dtype;
  value->array.dtype = lpt_storage_dtype (origin->dtype, origin->quant);
  value->array.shape = origin->shape;
  value->array.quant = origin->quant;
  g_ptr_array_add (program->values, value);

  return value;
}

LptProgramValue *
lpt_program_copy_value (LptProgram      *program,
                        LptProgramValue *value,
                        LptValueLayout   layout)
{
  LptProgramValue *copy = lpt_program_add_value (program, value->origin, LPT_STORAGE_DYNAMIC, NULL);

  copy->array = value->array;
  copy->array.data = NULL;
  copy->array.owned = FALSE;
  copy->layout = layout;
  copy->pitch = lpt_program_channels (value);

  return copy;
}

LptProgramOp *
lpt_program_reader (const LptProgramValue *value)
{
  return value->uses->len == 1 && value->n_outputs == 0 ? value->uses->pdata[0] : NULL;
}

guint
lpt_program_n_uses (const LptProgramValue *value)
{
  return value->uses->len + value->n_outputs;
}

gsize
lpt_program_count (const LptProgramValue *value)
{
  return (gsize) lpt_array_count (&value->array);
}

gsize
lpt_program_pixels (const LptShape *shape)
{
  gsize n = 1;
  gint i;

  for (i = 2; i < shape->rank; i++)
    n *= (gsize) shape->dims[i];

  return n;
}

gsize
lpt_program_channels (const LptProgramValue *value)
{
  const LptShape *shape = &value->array.shape;

  return shape->rank > 1 && lpt_shape_is_static (shape) ? (gsize) shape->dims[1] : 1;
}

gboolean
lpt_program_is_codes (const LptProgramValue *value)
{
  const LptArray *array = &value->array;

  return (array->dtype == LPT_DTYPE_U8 || array->dtype == LPT_DTYPE_I8) && array->quant != NULL &&
         array->quant->n == 1 && lpt_shape_is_static (&array->shape);
}

gboolean
lpt_program_is_f32 (const LptProgramValue *value)
{
  const LptArray *array = value != NULL ? &value->array : NULL;

  return array != NULL && array->dtype == LPT_DTYPE_F32 && array->quant == NULL &&
         lpt_shape_is_static (&array->shape) && lpt_array_count (array) > 0;
}

gboolean
lpt_program_is_real (const LptProgramValue *value)
{
  return lpt_program_is_f32 (value) && lpt_dtype_is_real (value->array.declared);
}

gint32
lpt_program_zero (const LptProgramValue *value)
{
  return value->array.quant->zero_point[0] + lpt_program_offset (value->array.dtype);
}

LptValueLayout
lpt_program_layout (const LptProgramValue *value,
                    LptValueLayout         layout)
{
  const LptArray *array = &value->array;
  gboolean same_order = array->shape.rank < 3 || lpt_program_pixels (&array->shape) == 1 || array->shape.dims[1] == 1;

  if (layout == LPT_LAYOUT_WORDS_LAST && same_order)
    return LPT_LAYOUT_TYPED;
  if (layout == LPT_LAYOUT_CODES_LAST && same_order)
    layout = LPT_LAYOUT_CODES;
  if (layout == LPT_LAYOUT_CODES && array->dtype == LPT_DTYPE_U8)
    return LPT_LAYOUT_TYPED;

  return layout;
}

LptProgramValue *
lpt_program_storage (LptProgramValue *value,
                     gsize           *offset)
{
  *offset = 0;
  for (; value->kind == LPT_STORAGE_VIEW; value = value->in)
    *offset += value->offset;

  return value;
}

/* --- ops --- */

LptProgramOp *
lpt_program_add_op (LptProgram *program,
                    LptNode    *node,
                    guint       index)
{
  LptProgramOp *op = g_new0 (LptProgramOp, 1);

  op->node = node;
  op->row = lpt_exec_node (node);
  op->index = index;
  g_ptr_array_add (program->nodes, op);

  return op;
}

void
lpt_program_drop_form (LptProgramOp *op)
{
  if (!op->has_form)
    return;
  if (op->form.clear != NULL)
    op->form.clear (op->form.params);
  g_free (op->form.params);
  g_free (op->form.in);
  op->form = (LptOpForm) { 0 };
  op->has_form = FALSE;
}

void
lpt_program_set_form (LptProgramOp    *op,
                      const LptOpForm *form)
{
  LptOperand *old = op->form.in;
  guint k;

  op->has_form = TRUE;
  op->form = *form;
  op->form.in = g_memdup2 (form->in, form->n_in * sizeof *form->in);
  g_free (old);
  if (op->form.last == NULL)
    op->form.last = op;
  for (k = 0; k < form->n_in; k++)
    op->form.in[k].layout = lpt_program_layout (form->in[k].value, form->in[k].layout);
  op->form.out_layout = lpt_program_layout (form->out, form->out_layout);
  /* What readers had better ask for. */
  form->out->layout = op->form.out_layout != LPT_LAYOUT_CODES_PITCHED ? op->form.out_layout : LPT_LAYOUT_CODES_LAST;
}

static guint
position (const LptProgramOp *op)
{
  return op->has_form ? op->form.last->index : op->index;
}

static int
by_position (const void *a,
             const void *b)
{
  const LptProgramOp *x = *(LptProgramOp *const *) a, *y = *(LptProgramOp *const *) b;

  return position (x) != position (y) ? (position (x) < position (y) ? -1 : 1) : y->leads - x->leads;
}

GPtrArray *
lpt_program_order (const LptProgram *program)
{
  GPtrArray *order = g_ptr_array_new ();
  guint i;

  for (i = 0; i < program->nodes->len; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (!op->folded && op->fused_into == NULL)
        g_ptr_array_add (order, op);
    }
  g_ptr_array_sort (order, by_position);

  return order;
}

gboolean
lpt_program_keeps_reals (const LptProgramOp *op)
{
  const LptArray *x, *y;

  if ((op->node->op != LPT_OP_CONVERT && op->node->op != LPT_OP_CONVERT_LIKE) || op->n_in == 0 || op->in[0] == NULL)
    return FALSE;
  x = &op->in[0]->array;
  y = &op->out[0]->array;

  return x->dtype == LPT_DTYPE_F32 && y->dtype == LPT_DTYPE_F32 && x->quant == NULL && y->quant == NULL &&
         (y->declared == LPT_DTYPE_F32 || y->declared == LPT_DTYPE_F64 ||
          lpt_value_is_rounded (lpt_node_in (op->node, 0), y->declared));
}

gboolean
lpt_program_renames (const LptProgramOp *op,
                     LptValueLayout      layout)
{
  const LptArray *x, *y;

  if (op->has_form || op->n_in == 0 || op->in[0] == NULL || op->n_out != 1 || lpt_exec_is_held (op->node) ||
      ((op->row->flags & LPT_EXEC_ALIAS) == 0 && !lpt_program_keeps_reals (op)))
    return FALSE;
  x = &op->in[0]->array;
  y = &op->out[0]->array;

  return x->dtype == y->dtype && lpt_shape_is_static (&x->shape) && lpt_shape_is_static (&y->shape) &&
         (op->node->op == LPT_OP_REINTERPRET || lpt_array_keeps_codes (y, x)) &&
         lpt_program_layout (op->out[0], layout) == layout &&
         (layout < LPT_LAYOUT_CODES_LAST || lpt_shape_equal (&x->shape, &y->shape));
}

void
lpt_program_fuse (LptProgramOp  *op,
                  LptProgramOp  *into,
                  LptProgramOp **last)
{
  op->fused_into = into;
  if (last != NULL && op->index > (*last)->index)
    *last = op;
}

const LptProgramOp *
lpt_program_owner (const LptProgramOp *op)
{
  while (op->fused_into != NULL)
    op = op->fused_into;

  return op;
}

gboolean
lpt_program_is_free (const LptProgramOp *op)
{
  return op->fused_into == NULL && !op->has_form;
}

gint64
lpt_program_op_macs (const LptProgramOp *op)
{
  if (op->folded || op->n_in < 2 || op->n_out < 1 || op->in[0] == NULL || op->in[1] == NULL)
    return 0;

  return MAX (0,
              lpt_node_macs_for (op->node, &op->in[0]->array.shape, &op->in[1]->array.shape, &op->out[0]->array.shape));
}

/* --- memory of forms --- */

gpointer
lpt_program_array (gsize n,
                   gsize element)
{
  gsize size = (n + LPT_CHANNEL_PAD) * element;
  gpointer data = lpt_aligned_alloc (size, NULL);

  if (data != NULL)
    memset (data, 0, size);

  return data;
}

/* Weights that were folded from shapes are other ones in a plan for other shapes, which may share the pack. */
static void
name_shapes (GString            *name,
             const LptProgram   *program,
             const LptProgramOp *op)
{
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < op->n_in; i++)
    any |= op->in[i] != NULL && op->in[i]->by_shape;
  for (i = 0; i < program->n_inputs && any; i++)
    {
      g_autofree char *shape = lpt_shape_to_string (&program->inputs[i]->array.shape);

      g_string_append_printf (name, " [%s]", shape);
    }
}

LptPackedWeights
lpt_program_pack (LptProgram         *program,
                  const LptProgramOp *op,
                  const char         *kernel,
                  gconstpointer       key,
                  gsize               key_size,
                  gsize               size,
                  gsize               channels)
{
  static const char digits[] = "0123456789abcdef";
  g_autoptr (GString) name = g_string_new (kernel);
  gsize sums = ((channels + LPT_CHANNEL_PAD) * sizeof (gint32) + 63) & ~(gsize) 63, k;
  LptPackedWeights w;

  for (k = 0; k < key_size; k++)
    {
      guint8 byte = ((const guint8 *) key)[k];

      if (k == 0)
        g_string_append_c (name, ' ');
      g_string_append_c (name, digits[byte >> 4]);
      g_string_append_c (name, digits[byte & 15]);
    }
  g_string_append_c (name, ' ');
  g_string_append (name, op->node->name);
  name_shapes (name, program, op);
  /* Vectors may read past the end. */
  w.col_sum = lpt_pack_take (program->pack, name->str, sums + size + LPT_CHANNEL_PAD, &w.fresh);
  w.data = w.col_sum != NULL ? (guint8 *) w.col_sum + sums : NULL;
  w.fresh = w.fresh && w.data != NULL;

  return w;
}
