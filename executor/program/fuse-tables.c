/* fuse-tables.c - element-wise ops between codes and codes that are one table
 *
 *     y[i] = f (r[i])     r and y of 8-bit codes, one scale each
 *
 * holds when every way from y back to the inputs passes r, and everything between is element-wise on values of one
 * shape: functions of one input, arithmetic of such values with each other, Quantize and Dequantize, integer ops of any
 * requant mode; their other operands are constants with one value. So SiLU (Sigmoid, Multiply), GELU (Erf, Add,
 * Multiply), HardSwish and chains of clamps are tables wherever somebody wrote them out.
 *
 * The table is what the ops themselves make of the 256 codes, so it is exact for integer rules of every mode as for
 * floats. r is the nearest value that qualifies. The op that makes y reads r alone then; what lies between and has
 * other readers stays for them, the rest is fused into it. Not: scales per channel, operands of another shape,
 * constants that vary.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

/* Constants beyond this are not looked through for one value. */
#define MAX_CONSTANT 65536
/* All codes at once, of up to eight bytes where they are reals. */
#define LANES 256
#define LANE_BYTES 8

/* --- which steps --- */

static gboolean
is_one_value (const LptArray *array)
{
  gint64 n = lpt_array_count (array), i;
  gsize size = lpt_storage_size (array->dtype);

  if (n < 1 || n > MAX_CONSTANT || (array->quant != NULL && array->quant->n > 1))
    return FALSE;
  for (i = 1; i < n; i++)
    if (memcmp (array->data, (const guint8 *) array->data + (gsize) i * size, size) != 0)
      return FALSE;

  return TRUE;
}

/* Integer arithmetic with a shift per channel. */
static gboolean
varies (const LptProgramOp *op)
{
  return (op->node->info->flags & LPT_OP_F_SHIFTED) != 0 &&
         LPT_ATTRS (op->node, LptBinaryAttrs)->shift.n > 1;
}

/* Output element i is a function of the elements i of the inputs that are no constants. */
static gboolean
is_elementwise (const LptProgramOp *op)
{
  const LptArray *y = op->n_out == 1 ? &op->out[0]->array : NULL;
  guint k;

  if (op->folded || y == NULL || (op->node->info->flags & LPT_OP_F_ELEMENTWISE) == 0 ||
      (op->node->info->flags & LPT_OP_F_RANDOM) != 0 || (op->row->flags & LPT_EXEC_SHAPE) != 0 ||
      !lpt_shape_is_static (&y->shape) || (y->quant != NULL && y->quant->n > 1) || varies (op))
    return FALSE;
  for (k = 0; k < op->n_in; k++)
    {
      const LptProgramValue *value = op->in[k];

      if (value == NULL)
        continue;
      if (value->kind == LPT_STORAGE_CONST
              ? value->array.shape.rank > MAX (y->shape.rank, 1) || !is_one_value (&value->array)
              : !lpt_shape_equal (&value->array.shape, &y->shape) ||
                    (value->array.quant != NULL && value->array.quant->n > 1))
        return FALSE;
    }

  return TRUE;
}

/* --- where the ways meet --- */

/* By value: the nearest codes that it is a function of, or NULL. */
typedef LptProgramValue **Roots;

static guint
writer_of (const LptProgramValue *value)
{
  return value->def != NULL ? value->def->index + 1 : 0;
}

static LptProgramValue *
meet (const Roots      roots,
      LptProgramValue *a,
      LptProgramValue *b)
{
  while (a != b && a != NULL && b != NULL)
    if (writer_of (a) > writer_of (b))
      a = roots[a->index];
    else
      b = roots[b->index];

  return a == b ? a : NULL;
}

static LptProgramValue *
root_of (const Roots         roots,
         const LptProgramOp *op)
{
  LptProgramValue *root = NULL;
  gboolean any = FALSE;
  guint k;

  if (!is_elementwise (op))
    return NULL;
  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      {
        LptProgramValue *codes = lpt_program_is_codes (op->in[k]) ? op->in[k] : roots[op->in[k]->index];

        root = any ? meet (roots, root, codes) : codes;
        any = TRUE;
      }

  return root;
}

static int
by_index (const void *a,
          const void *b)
{
  const LptProgramOp *x = *(LptProgramOp *const *) a, *y = *(LptProgramOp *const *) b;

  return x->index < y->index ? -1 : x->index > y->index;
}

/* Ops between @root and @last, which ends it, in order. */
static GPtrArray *
ops_between (const LptProgramValue *root,
             LptProgramOp          *last)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  GPtrArray *ops = g_ptr_array_new ();
  guint k;

  g_ptr_array_add (stack, last);
  while (stack->len > 0)
    {
      LptProgramOp *op = g_ptr_array_steal_index_fast (stack, stack->len - 1);

      if (!g_hash_table_add (seen, op))
        continue;
      g_ptr_array_add (ops, op);
      for (k = 0; k < op->n_in; k++)
        if (op->in[k] != NULL && op->in[k] != root && op->in[k]->def != NULL)
          g_ptr_array_add (stack, op->in[k]->def);
    }
  g_ptr_array_sort (ops, by_index);

  return ops;
}

/* --- the table --- */

static LptShape
lanes_shape (gint   rank,
             gint64 n)
{
  LptShape shape = { .rank = MAX (rank, n > 1 ? 1 : 0) };
  gint i;

  for (i = 0; i < shape.rank; i++)
    shape.dims[i] = i == shape.rank - 1 ? n : 1;

  return shape;
}

/* Runs @op on all codes at once; @lanes: value -> its data. */
static gboolean
run_lanes (const LptProgramOp *op,
           GHashTable         *lanes,
           LptScratch         *scratch)
{
  g_autofree LptArray *in = g_new (LptArray, op->n_in + 1);
  LptArray out = op->out[0]->array;
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch,
                   .integer = op->integer };
  gint rank = out.shape.rank;
  guint k;

  for (k = 0; k < op->n_in; k++)
    {
      in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
      if (op->in[k] == NULL)
        continue;
      in[k] = op->in[k]->array;
      in[k].owned = FALSE;
      if (op->in[k]->kind == LPT_STORAGE_CONST)
        in[k].shape = lanes_shape (in[k].shape.rank, 1);
      else
        {
          in[k].shape = lanes_shape (rank, LANES);
          in[k].data = g_hash_table_lookup (lanes, op->in[k]);
        }
    }
  out.shape = lanes_shape (rank, LANES);
  out.owned = FALSE;
  out.data = g_malloc0 (LANES * LANE_BYTES);
  g_hash_table_insert (lanes, op->out[0], out.data);

  return lpt_call_run (&call, NULL);
}

/* What @ops, in order, make of the codes of @root (transfer full); NULL: they do not run on them. */
static LptTable *
table_new (LptProgramValue *root,
           const GPtrArray *ops)
{
  g_autoptr (GHashTable) lanes = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  const LptProgramValue *out = ((LptProgramOp *) ops->pdata[ops->len - 1])->out[0];
  guint8 *codes = g_malloc0 (LANES * LANE_BYTES);
  const guint8 *results;
  LptTable *table;
  guint i;

  g_hash_table_insert (lanes, root, codes);
  for (i = 0; i < LANES; i++)
    codes[i] = (guint8) (i ^ (guint) lpt_program_offset (root->array.dtype));
  for (i = 0; i < ops->len; i++)
    if (!run_lanes (ops->pdata[i], lanes, scratch))
      return NULL;
  results = g_hash_table_lookup (lanes, out);
  table = g_new0 (LptTable, 1);
  table->root = root;
  table->n_nodes = ops->len;
  for (i = 0; i < LANES; i++)
    table->codes[i] = (guint8) (results[i] ^ (guint) lpt_program_offset (out->array.dtype));

  return table;
}

/* --- the pass --- */

static void
drop_uses (LptProgramOp *op)
{
  guint k;

  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL)
      g_ptr_array_remove (op->in[k]->uses, op);
}

/* @ops: those of the table of @last, in order. What only they need is fused into it. */
static void
apply (LptProgramOp    *last,
       const GPtrArray *ops)
{
  guint i;

  drop_uses (last);
  g_ptr_array_add (last->table->root->uses, last);
  for (i = ops->len - 1; i-- > 0; )
    {
      LptProgramOp *op = ops->pdata[i];

      if (op->fused_into != NULL || lpt_program_n_uses (op->out[0]) > 0)
        continue;
      drop_uses (op);
      lpt_program_fuse (op, last, NULL);
    }
}

static void
free_ops (gpointer ops)
{
  if (ops != NULL)
    g_ptr_array_unref (ops);
}

gboolean
lpt_program_fuse_tables (LptProgram *program,
                         GError    **error)
{
  g_autofree LptProgramValue **roots = g_new0 (LptProgramValue *, program->values->len + 1);
  g_autoptr (GPtrArray) between = g_ptr_array_new_with_free_func (free_ops);
  guint i;

  g_ptr_array_set_size (between, (gint) program->n_nodes);
  for (i = 0; i < program->n_nodes; i++)
    {
      LptProgramOp *op = program->nodes->pdata[i];
      LptProgramValue *root = op->n_out == 1 ? roots[op->out[0]->index] = root_of (roots, op) : NULL;

      if (root == NULL || !lpt_program_is_codes (op->out[0]))
        continue;
      between->pdata[i] = ops_between (root, op);
      op->table = table_new (root, between->pdata[i]);
    }
  /* The outermost first. */
  for (i = program->n_nodes; i-- > 0; )
    {
      LptProgramOp *op = program->nodes->pdata[i];

      if (op->table != NULL && op->fused_into == NULL)
        apply (op, between->pdata[i]);
    }

  return TRUE;
}
