/* float-epilogue.c - what follows products of reals, done while their sums are stored
 *
 * What kernels do before they store: a factor and a term for each column, a value of the same shape, two bounds. What
 * is done to their result as long as it is in the cache: a function, then an addition; a rounding to f16 or bf16, then
 * bounds where there were none before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/float.h"
#include "executor/operators/rows.h"
#include "ir/scalar/lpt-loop.h"

/* One element for each column, or one for all; NULL: it is something else. */
static float *
read_bias (const LptProgramValue *value,
           const LptShape        *shape,
           gint                   axis,
           gsize                  columns)
{
  const LptArray *array = &value->array;
  gsize n = lpt_program_count (value), i;
  gint64 strides[LPT_MAX_RANK];
  float *bias;

  if ((n != 1 && n != columns) || array->shape.rank > shape->rank)
    return NULL;
  lpt_broadcast_strides (&array->shape, shape, strides);
  if (n > 1 && strides[axis] != 1)
    return NULL;
  bias = lpt_program_array (columns, sizeof *bias);
  for (i = 0; i < columns && bias != NULL; i++)
    bias[i] = ((const float *) array->data)[n > 1 ? i : 0];

  return bias;
}

/* A constant by which sums are multiplied that nothing was added to. */
static gboolean
take_factor (LptFloatEpilogue *e,
             LptProgramOp     *op)
{
  const LptProgramValue *other = op->in[op->in[0] == e->out ? 1 : 0];

  if (e->factor != NULL || e->bias != NULL || e->maps != NULL || e->residual != NULL || e->end.clamps ||
      other->kind != LPT_STORAGE_CONST)
    return FALSE;
  e->end.factor = e->factor = read_bias (other, &e->out->array.shape, e->axis, e->columns);

  return e->factor != NULL;
}

/* Bounds, or those of what has bounds: of x clamped to [a, b], then to [c, d], they are a and b clamped to [c, d]. */
static void
take_bounds (LptFloatEpilogue *e,
             const LptRun     *run)
{
  e->end.lo = e->end.clamps ? MIN (MAX (e->end.lo, run->lo), run->hi) : run->lo;
  e->end.hi = e->end.clamps ? MIN (MAX (e->end.hi, run->lo), run->hi) : run->hi;
  e->end.clamps = TRUE;
}

/* Bounds behind a rounding, in front of which there are none. */
static gboolean
take_bounds_of_rounded (LptFloatEpilogue *e,
                        const LptRun     *run)
{
  if (e->maps != NULL || (e->end.clamps && !e->bounds_last))
    return FALSE;
  e->bounds_last = TRUE;
  take_bounds (e, run);

  return TRUE;
}

/* Takes the op in; FALSE: it stays outside. */
static gboolean
take (LptFloatEpilogue *e,
      const LptProgram *program,
      LptProgramOp     *op)
{
  const LptShape *shape = &e->out->array.shape;
  LptProgramValue *other;
  LptRun run;

  if (!lpt_rows_read_op (op, &run) || !lpt_shape_equal (&op->out[0]->array.shape, shape))
    return FALSE;
  if (run.kind == LPT_RUN_RENAME)
    return TRUE;
  if (e->rounds != NULL)
    return run.kind == LPT_RUN_CLAMP && take_bounds_of_rounded (e, &run);
  if (run.kind == LPT_RUN_MAP && lpt_map_rounds (run.map))
    {
      e->rounds = program->kernels.floats;
      e->round = run.map;
      return TRUE;
    }
  if (run.kind == LPT_RUN_MAP && e->maps == NULL && !e->after)
    {
      e->maps = program->kernels.floats;
      e->map = run.map;
      return TRUE;
    }
  if (run.kind == LPT_RUN_CLAMP && e->maps == NULL)
    {
      take_bounds (e, &run);
      return TRUE;
    }
  if (run.kind == LPT_RUN_BINARY && run.binary == LPT_BINARY_MULTIPLY)
    return take_factor (e, op);
  if (run.kind != LPT_RUN_BINARY || run.binary != LPT_BINARY_ADD || e->residual != NULL ||
      (e->end.clamps && e->maps == NULL))
    return FALSE;
  other = op->in[op->in[0] == e->out ? 1 : 0];
  if (other->kind == LPT_STORAGE_CONST)
    {
      if (e->bias != NULL || e->maps != NULL)
        return FALSE;
      e->end.bias = e->bias = read_bias (other, shape, e->axis, e->columns);
      return e->bias != NULL;
    }
  if (!lpt_shape_equal (&other->array.shape, shape))
    return FALSE;
  e->residual = other;
  e->after = e->maps != NULL;

  return TRUE;
}

gboolean
lpt_fuse_silu (LptProgramValue **out,
               LptProgramOp     *owner,
               LptProgramOp    **last)
{
  LptProgramOp *sigmoid = NULL, *product;
  LptRun run;
  guint i;

  if (lpt_program_n_uses (*out) != 2)
    return FALSE;
  for (i = 0; i < (*out)->uses->len && sigmoid == NULL; i++)
    {
      LptProgramOp *reader = (*out)->uses->pdata[i];

      if (reader->node->op == LPT_OP_SIGMOID && reader->in[0] == *out)
        sigmoid = reader;
    }
  if (sigmoid == NULL || !lpt_rows_read_op (sigmoid, &run) || sigmoid->fused_into != NULL)
    return FALSE;
  product = lpt_program_reader (sigmoid->out[0]);
  if (product == NULL || product->fused_into != NULL || !lpt_rows_read_op (product, &run) ||
      run.kind != LPT_RUN_BINARY || run.binary != LPT_BINARY_MULTIPLY ||
      (product->in[0] != *out && product->in[1] != *out))
    return FALSE;
  lpt_program_fuse (sigmoid, owner, last);
  lpt_program_fuse (product, owner, last);
  *out = product->out[0];

  return TRUE;
}

static gboolean
take_silu (LptFloatEpilogue *e,
           const LptProgram *program,
           LptProgramOp     *owner)
{
  if (e->maps != NULL || e->rounds != NULL || !lpt_fuse_silu (&e->out, owner, &e->last))
    return FALSE;
  e->maps = program->kernels.floats;
  e->map = LPT_MAP_SILU;

  return TRUE;
}

void
lpt_float_epilogue_init (LptFloatEpilogue *e,
                         LptProgramOp     *op,
                         guint             bias,
                         gint              axis,
                         gsize             columns)
{
  *e = (LptFloatEpilogue) { .axis = axis, .columns = columns, .out = op->out[0], .last = op };
  if (op->n_in <= bias || op->in[bias] == NULL)
    return;
  e->end.bias = e->bias = lpt_program_array (columns, sizeof (float));
  if (e->bias != NULL)
    memcpy (e->bias, op->in[bias]->array.data, columns * sizeof (float));
}

void
lpt_float_epilogue_clear (LptFloatEpilogue *e)
{
  lpt_aligned_free (e->bias);
  lpt_aligned_free (e->factor);
}

/* The next op of those that only read the result; FALSE: it stays outside. */
static gboolean
take_next (LptFloatEpilogue *e,
           LptProgram       *program,
           LptProgramOp     *owner)
{
  LptProgramOp *reader = lpt_program_reader (e->out);

  if (take_silu (e, program, owner))
    return TRUE;
  if (reader == NULL || reader->fused_into != NULL || !take (e, program, reader))
    return FALSE;
  lpt_program_fuse (reader, owner, &e->last);
  e->out = reader->out[0];

  return TRUE;
}

void
lpt_float_epilogue_follow (LptFloatEpilogue *e,
                           LptProgram       *program,
                           LptProgramOp     *op)
{
  LptOpForm form = op->form;
  g_autofree LptOperand *in = g_new0 (LptOperand, form.n_in + 1);

  if (!take_next (e, program, op))
    return;
  while (take_next (e, program, op))
    ;
  memcpy (in, form.in, form.n_in * sizeof *in);
  form.in = in;
  form.out = e->out;
  form.last = e->last;
  if (e->residual != NULL)
    {
      e->port = form.n_in++;
      in[e->port] = (LptOperand) { e->residual, form.out_layout };
    }
  lpt_program_set_form (op, &form);
}

LptFgemmEnd
lpt_float_epilogue_at (const LptFloatEpilogue *end,
                       guint8 *const          *in,
                       gsize                   row,
                       gsize                   ldr,
                       gsize                   column)
{
  LptFgemmEnd e = end->end;

  e.bias = e.bias != NULL ? e.bias + column : NULL;
  e.factor = e.factor != NULL ? e.factor + column : NULL;
  e.residual = end->residual != NULL && !end->after ? (const float *) (gconstpointer) in[end->port] + row * ldr + column
                                                    : NULL;
  e.ldr = ldr;
  e.clamps = e.clamps && !end->bounds_last;

  return e;
}

void
lpt_float_epilogue_finish (const LptFloatEpilogue *end,
                           guint8 *const          *in,
                           const LptFloatBlock    *block)
{
  gsize count = block->n == block->ldr ? block->m * block->n : block->n, r;

  for (r = 0; (end->maps != NULL || end->rounds != NULL) && r < block->m * block->n / count; r++)
    {
      float *y = block->y + r * block->ldr;

      if (end->maps != NULL)
        end->maps->map (end->map, count, y, y);
      if (end->after)
        end->maps->binary (LPT_BINARY_ADD, count, y, 1, (const float *) (gconstpointer) in[end->port] +
                           (block->row + r) * block->ldr + block->column, 1, y);
      if (end->rounds != NULL)
        end->rounds->map (end->round, count, y, y);
      if (end->bounds_last)
        end->rounds->clamp (count, y, end->end.lo, end->end.hi, y);
    }
}
