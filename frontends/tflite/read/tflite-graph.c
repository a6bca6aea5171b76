/* tflite-graph.c - subgraphs of a .tflite file: operators in order, each by its row
 *
 * Operators are mapped in the file's order as far as each stands behind those whose tensors it reads; one that does
 * not waits for them. What the rows lack (custom operators, Flex, strings) becomes an Opaque node with the name of
 * the operator, which prints and cannot run.
 *
 * Refused: indices of tensors, operator codes or subgraphs that are not there, tensors that two operators write,
 * circles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include "ir/lpt-memory.h"

#include <lpt/lpt-tflite.h>
#include <string.h>

#define MAX_NESTING 16
#define MAX_OPS (1u << 18)

static const LptTflRow rows[] = {
#define TFL_OP(number, NAME, map, argument, OP, write, types) { number, #NAME, lpt_tfl_map_##map, argument },
#define TFL_CUSTOM(name, map, argument) { 32, name, lpt_tfl_map_##map, argument },
#define TFL_NO_OP(number, NAME) { number, #NAME, NULL, 0 },
#include "frontends/tflite/tflite-ops.def"
};

const LptTflRow *
lpt_tfl_find_row (gint64 code, const char *custom)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].code == code && (custom == NULL || g_str_equal (rows[i].name, custom)))
      return &rows[i];
  return NULL;
}

/* --- scopes ------------------------------------------------------------------ */

LptTflVector
lpt_tfl_scope_list (const LptTflScope *scope, LptTflField field)
{
  return lpt_tfl_vector (&scope->import->file->flat, scope->table, field);
}

void
lpt_tfl_scope_free (LptTflScope *scope)
{
  for (guint i = 0; i < scope->n_tensors; i++)
    {
      lpt_quant_unref (scope->tensors[i].quant);
      g_clear_pointer (&scope->tensors[i].data, lpt_tensor_unref);
    }
  g_clear_pointer (&scope->locals, g_ptr_array_unref);
  g_free (scope->tensors);
  g_free (scope);
}

LptTflScope *
lpt_tfl_scope_new (LptTflImport *import, LptGraph *graph, guint index, const char *prefix, GError **error)
{
  const LptTflFile *file = import->file;
  g_autoptr (LptTflScope) scope = g_new0 (LptTflScope, 1);
  if (index >= file->subgraphs.n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "subgraph %u of %u", index, file->subgraphs.n);
      return NULL;
    }
  scope->import = import;
  scope->graph = graph;
  scope->index = index;
  scope->prefix = prefix;
  scope->table = lpt_tfl_item (&file->subgraphs, index);
  LptTflVector tensors = lpt_tfl_scope_list (scope, TFL_SubGraph_tensors);
  scope->tensors = lpt_memory_try (MAX (tensors.n, 1), sizeof (LptTflTensor), error);
  if (scope->tensors == NULL)
    return NULL;
  memset (scope->tensors, 0, MAX (tensors.n, 1) * sizeof (LptTflTensor));
  scope->n_tensors = tensors.n;
  for (guint i = 0; i < tensors.n; i++)
    if (!lpt_tfl_scope_tensor (scope, i, error))
      return NULL;
  return g_steal_pointer (&scope);
}

/* --- operators --------------------------------------------------------------- */

/* The tensors of @field; FALSE + error: one is not there. Only inputs may be absent (-1). */
static gboolean
read_tensors (LptTflOp *op, LptTflField field, gboolean optional, guint *n, gint **list)
{
  LptTflVector vector = lpt_tfl_vector (op->flat, op->table, field);
  if (vector.n > G_MAXUINT16)
    {
      lpt_tfl_invalid (op, "%u tensors", vector.n);
      return FALSE;
    }
  *n = vector.n;
  *list = g_new (gint, vector.n + 1);
  for (guint i = 0; i < vector.n; i++)
    {
      gint64 index = lpt_tfl_item_int (&vector, i);
      (*list)[i] = (gint) index;
      if (index >= op->scope->n_tensors || index < (optional ? -1 : 0))
        {
          lpt_tfl_invalid (op, "there is no tensor %" G_GINT64_FORMAT, index);
          return FALSE;
        }
    }
  return TRUE;
}

static void
read_options (LptTflOp *op)
{
  static const LptTflField fields[] = { TFL_Operator_builtin_options, TFL_Operator_builtin_options_2 };
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      LptTflTableId id = lpt_tfl_union (op->flat, op->table, fields[i]);
      if (id == TFLT_None)
        continue;
      op->options_id = id;
      op->options = lpt_tfl_table (op->flat, op->table, fields[i]);
    }
}

void
lpt_tfl_keep (LptTflOp *op)
{
  g_autofree LptValue **in = g_new0 (LptValue *, op->n_in + 1);
  g_autofree char *type = g_markup_escape_text (op->type, -1);
  for (guint i = 0; i < op->n_in; i++)
    {
      LptTflTensor *t = lpt_tfl_in_tensor (op, i);
      /* A constant of strings has no value: it stays in the file. So does scratch memory, which nothing writes. */
      gboolean has_value = t != NULL && (t->value != NULL || (t->dtype != LPT_DTYPE_STRING
                                                           && t->dtype != LPT_DTYPE_UNDEFINED));
      GError *cause = NULL;
      if (has_value && t->value == NULL && lpt_tfl_scope_data (op->scope, op->in[i], &cause) == NULL && cause == NULL)
        has_value = FALSE;
      g_clear_error (&cause);   /* said again below */
      if (has_value)
        in[i] = lpt_tfl_in (op, i);
    }
  if (op->error != NULL)
    return;
  LptNode *node = lpt_graph_add_full (op->scope->graph, lpt_op_info (LPT_OP_OPAQUE), 0, op->name, op->n_in, in,
                                      op->n_out);
  node->raw = g_strdup_printf ("<layer type=\"%s\" version=\"tflite\"/>", type);
  for (guint o = 0; o < op->n_out; o++)
    {
      LptTflTensor *t = lpt_tfl_out_tensor (op, o);
      node->out[o].dtype = t->dtype != LPT_DTYPE_UNDEFINED ? t->dtype : LPT_DTYPE_STRING;
      /* What nobody computed may have any shape where the file gives none. */
      node->out[o].shape = t->shape.rank == 0 && lpt_tfl_int (op->flat, t->table, TFL_Tensor_has_rank) == 0
                               ? LPT_SHAPE_ANY
                               : t->shape;
      lpt_value_set_quant (&node->out[o], t->quant);
      if (*t->name != '\0')
        lpt_value_add_name (&node->out[o], t->name);
      t->value = &node->out[o];
    }
}

/* Complex numbers have an axis of two behind the others, which few operators know of. */
static gboolean
takes_complex (const LptTflRow *row)
{
  return row == NULL || row->map == NULL || row->map == lpt_tfl_map_reshape || row->map == lpt_tfl_map_complex_part
         || row->map == lpt_tfl_map_complex_abs;
}

static void
map_op (LptTflOp *op, const LptTflRow *row)
{
  for (guint i = 0; i < op->n_in && !takes_complex (row); i++)
    if (lpt_tfl_in_tensor (op, i) != NULL && lpt_tfl_in_tensor (op, i)->type == TFL_TYPE_COMPLEX64)
      row = NULL;
  for (guint o = 0; o < op->n_out; o++)
    if (lpt_tfl_out_tensor (op, o)->value != NULL)
      lpt_tfl_invalid (op, "tensor %d is written a second time", op->out[o]);
  for (guint i = 0; i < op->n_in; i++)
    if (lpt_tfl_in_tensor (op, i) != NULL && lpt_tfl_in_tensor (op, i)->dtype == LPT_DTYPE_STRING)
      row = NULL;
  if (op->error != NULL)
    return;
  if (row == NULL || row->map == NULL)
    {
      lpt_tfl_keep (op);
      return;
    }
  op->argument = row->argument;
  row->map (op);
  for (guint o = 0; o < op->n_out && op->error == NULL; o++)
    {
      LptTflTensor *t = lpt_tfl_out_tensor (op, o);
      if (t->value == NULL && t->resource == NULL && !t->is_filled)
        lpt_tfl_unsupported (op, "output %u", o);
    }
}

static gboolean
run_op (LptTflScope *scope, guint index, LptTflTable table, GError **error)
{
  LptTflImport *import = scope->import;
  LptTflOp op = { .scope = scope, .flat = &import->file->flat, .table = table, .type = "?", .name = "" };
  const char *custom = NULL;
  gint64 version, code = lpt_tfl_file_code (import->file, lpt_tfl_int (op.flat, table, TFL_Operator_opcode_index),
                                            &custom, &version, &op.error);
  const LptTflRow *row = code >= 0 ? lpt_tfl_find_row (code, custom) : NULL;
  g_autofree char *number = g_strdup_printf ("operator %" G_GINT64_FORMAT, code), *unnamed = NULL, *valid = NULL;
  valid = custom != NULL ? g_utf8_make_valid (custom, -1) : NULL;
  op.type = valid != NULL ? valid : row != NULL ? row->name : number;
  if (op.error == NULL && row == NULL && custom == NULL)
    lpt_tfl_unsupported (
        &op, "builtin operator %" G_GINT64_FORMAT " (version %" G_GINT64_FORMAT "): it is newer than this program",
        code, version);
  gboolean ok = op.error == NULL && read_tensors (&op, TFL_Operator_inputs, TRUE, &op.n_in, &op.in)
                && read_tensors (&op, TFL_Operator_outputs, FALSE, &op.n_out, &op.out);
  unnamed = g_strdup_printf ("%s_%u", op.type, index);
  op.name = ok && op.n_out > 0 && *scope->tensors[op.out[0]].name != '\0' ? scope->tensors[op.out[0]].name : unnamed;
  g_autofree char *full = scope->prefix != NULL ? g_strconcat (scope->prefix, "/", op.name, NULL) : NULL;
  op.name = full != NULL ? full : op.name;
  op.first_id = scope->graph->next_id;
  if (++import->n_ops > MAX_OPS)
    lpt_tfl_unsupported (&op, ": more than %u operators", MAX_OPS);
  if (ok)
    {
      read_options (&op);
      map_op (&op, row);
    }
  g_free (op.in);
  g_free (op.out);
  if (op.error == NULL)
    return TRUE;
  g_propagate_prefixed_error (error, op.error, "subgraph %u: operator %u (%s, \"%s\"): ", scope->index, index, op.type,
                              op.name);
  return FALSE;
}

/* --- order ------------------------------------------------------------------- */

/* Which operator writes each tensor; -1 none. */
static gint *
writers_of (const LptTflScope *scope, const LptTflVector *ops)
{
  gint *writer = g_new (gint, MAX (scope->n_tensors, 1));
  for (guint i = 0; i < scope->n_tensors; i++)
    writer[i] = -1;
  for (guint i = 0; i < ops->n; i++)
    {
      LptTflVector outs = lpt_tfl_vector (ops->flat, lpt_tfl_item (ops, i), TFL_Operator_outputs);
      for (guint o = 0; o < outs.n; o++)
        {
          gint64 t = lpt_tfl_item_int (&outs, o);
          if (t >= 0 && t < scope->n_tensors)
            writer[t] = (gint) i;
        }
    }
  return writer;
}

/* Runs the operators that @index waits for, then it: an explicit stack, for files may be long. */
static gboolean
run_with_sources (LptTflScope *scope, const LptTflVector *ops, const gint *writer, guint8 *state, guint index,
                  GError **error)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));
  g_array_append_val (stack, index);
  while (stack->len > 0)
    {
      guint i = g_array_index (stack, guint, stack->len - 1), wait = G_MAXUINT;
      LptTflVector ins = lpt_tfl_vector (ops->flat, lpt_tfl_item (ops, i), TFL_Operator_inputs);
      state[i] = 1;
      for (guint k = 0; k < ins.n && wait == G_MAXUINT; k++)
        {
          gint64 t = lpt_tfl_item_int (&ins, k);
          gint from = t >= 0 && t < scope->n_tensors ? writer[t] : -1;
          /* State that an operator updates in place, is its own input. */
          if (from < 0 || (guint) from == i || state[from] == 2)
            continue;
          if (state[from] == 1)
            {
              g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "subgraph %u: operators %u and %d wait for each other",
                           scope->index, i, from);
              return FALSE;
            }
          wait = (guint) from;
        }
      if (wait != G_MAXUINT)
        {
          g_array_append_val (stack, wait);
          continue;
        }
      if (!run_op (scope, i, lpt_tfl_item (ops, i), error))
        return FALSE;
      state[i] = 2;
      g_array_set_size (stack, stack->len - 1);
    }
  return TRUE;
}

gboolean
lpt_tfl_scope_run (LptTflScope *scope, GError **error)
{
  LptTflVector ops = lpt_tfl_scope_list (scope, TFL_SubGraph_operators);
  if (scope->import->depth >= MAX_NESTING)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "subgraph %u: subgraphs that call each other deeper than %d, or in a circle", scope->index,
                   MAX_NESTING);
      return FALSE;
    }
  g_autofree gint *writer = writers_of (scope, &ops);
  g_autofree guint8 *state = g_malloc0 (MAX (ops.n, 1));
  gboolean ok = TRUE;
  scope->import->depth++;
  for (guint i = 0; ok && i < ops.n; i++)
    ok = state[i] == 2 || run_with_sources (scope, &ops, writer, state, i, error);
  scope->import->depth--;
  return ok;
}
