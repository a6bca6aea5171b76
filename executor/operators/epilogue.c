/* epilogue.c - what follows a product, done while its sums are stored
 *
 * A product begins with its own store: codes by its requantization, or int32. What follows is taken in by the pass
 * fuse-epilogues, product after product:
 *
 *   codes   clamps, functions of one input and requantizations become one 256-entry table, or only its bounds;
 *           a sum with a second tensor of codes becomes the residual, with a table of its own behind it
 *   int32   Dequantize, then a constant per channel, then Relu: the store of floats, and behind it a function of them
 *           (x * Sigmoid (x), too) where the form finishes its tiles; sums with other readers are stored as they are,
 *           and a Dequantize by itself is the same store
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/operators/float.h"
#include "executor/operators/rows.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-weighted.h"

/* The op that alone reads @value and whose work neither a form of its own nor another op does yet, or NULL. */
static LptProgramOp *
only_reader (const LptProgramValue *value)
{
  LptProgramOp *reader = lpt_program_reader (value);

  return reader != NULL && lpt_program_is_free (reader) ? reader : NULL;
}

/* --- tables --- */

/* Tables behind @value that alone read it are composed into @table. Returns the value behind them. */
static LptProgramValue *
compose_tables (LptProgramOp    *owner,
                LptProgramValue *value,
                guint8          *table,
                LptProgramOp   **last)
{
  LptProgramOp *reader;
  guint k;

  while ((reader = only_reader (value)) != NULL && reader->table != NULL)
    {
      for (k = 0; k < 256; k++)
        table[k] = reader->table->codes[table[k]];
      lpt_program_fuse (reader, owner, last);
      value = reader->out[0];
    }

  return value;
}

/* @resize repeats codes: what tables behind it do is done before it, on fewer of them. Its input is then another value,
 *   with the
 * codes of its output. */
static LptProgramValue *
move_tables (LptProgram      *program,
             LptProgramOp    *resize,
             LptProgramValue *value,
             guint8          *table)
{
  LptProgramOp *last = resize;
  LptProgramValue *out = compose_tables (resize, resize->out[0], table, &last), *before;

  if (out == resize->out[0])
    return value;
  before = lpt_program_copy_value (program, value, value->layout);
  before->array.declared = out->array.declared;
  before->array.dtype = out->array.dtype;
  before->array.quant = out->array.quant;
  before->def = value->def;
  g_ptr_array_add (before->uses, resize);
  resize->in[0] = before;
  resize->out[0] = out;

  return before;
}

LptProgramValue *
lpt_fused_tables (LptProgram      *program,
                  LptProgramOp    *owner,
                  LptProgramValue *value,
                  guint8          *table,
                  LptProgramOp   **last)
{
  LptProgramOp *reader;
  guint k;

  for (k = 0; k < 256; k++)
    table[k] = (guint8) k;
  value = compose_tables (owner, value, table, last);
  reader = only_reader (value);

  return reader != NULL && lpt_is_repeating (reader) ? move_tables (program, reader, value, table) : value;
}

/* Is @table the identity between two bounds? They narrow [lo, hi]. */
static gboolean
is_clamp (const guint8 *table,
          gint32       *lo,
          gint32       *hi)
{
  guint first = table[0], top = table[255], k;

  if (first > top)
    return FALSE;
  for (k = 0; k < 256; k++)
    if (table[k] != CLAMP (k, first, top))
      return FALSE;
  *lo = CLAMP (*lo, (gint32) first, (gint32) top);
  *hi = CLAMP (*hi, (gint32) first, (gint32) top);

  return TRUE;
}

/* --- a second tensor --- */

/* The sum of the epilogue's codes and those of another value, of a rule that kernels have. */
static gboolean
residual_sum (const LptProgramOp    *op,
              const LptProgramValue *value,
              const LptProgramValue *other,
              LptAdd                *add)
{
  const LptArray *x = &value->array, *r = &other->array, *y = &op->out[0]->array;

  return lpt_program_is_codes (value) && lpt_program_is_codes (other) && lpt_program_is_codes (op->out[0]) &&
         lpt_shape_equal (&x->shape, &y->shape) && lpt_shape_equal (&r->shape, &y->shape) &&
         lpt_sum_of (op, op->in[0] == value ? 0 : 1, add);
}

static LptProgramValue *
follow_residual (LptFusedEpilogue *epilogue,
                 LptProgram       *program,
                 LptProgramOp     *owner,
                 LptProgramValue  *value)
{
  LptProgramOp *op = only_reader (value);
  LptProgramValue *other;

  if (op == NULL || (op->node->op != LPT_OP_ADD && op->node->op != LPT_OP_SUBTRACT) || op->integer == NULL ||
      op->table != NULL || op->in[0] == op->in[1])
    return value;
  other = op->in[0] == value ? op->in[1] : op->in[0];
  if (other == NULL || other->kind != LPT_STORAGE_DYNAMIC || !residual_sum (op, value, other, &epilogue->add))
    return value;

  lpt_program_fuse (op, owner, &epilogue->last);
  epilogue->residual = other;
  epilogue->e.add = &epilogue->add;
  value = lpt_fused_tables (program, owner, op->out[0], epilogue->add_table, &epilogue->last);
  if (!is_clamp (epilogue->add_table, &epilogue->add.lo, &epilogue->add.hi))
    epilogue->e.add_table = epilogue->add_table;

  return value;
}

/* --- floats --- */

/* A float constant, one for all or one per channel along @axis of the value's shape. */
static const float *
channel_constant (const LptProgramValue *constant,
                  const LptShape        *shape,
                  gint                   axis,
                  gsize                  channels,
                  gsize                 *n)
{
  const LptShape *own;
  gint i;

  if (constant == NULL || constant->kind != LPT_STORAGE_CONST || constant->array.dtype != LPT_DTYPE_F32)
    return NULL;
  own = &constant->array.shape;
  *n = (gsize) lpt_array_count (&constant->array);
  if (*n == 1 && own->rank <= shape->rank)
    return constant->array.data;
  for (i = 0; i < own->rank; i++)
    if (own->dims[i] != 1 && i + shape->rank - own->rank != axis)
      return NULL;

  return *n == channels && own->rank <= shape->rank ? constant->array.data : NULL;
}

/* Into the epilogue of @owner, whose result is then that of @op. */
static void
take (LptFusedEpilogue *epilogue,
      LptProgramOp     *owner,
      LptProgramOp     *op)
{
  if (op != owner)
    lpt_program_fuse (op, owner, &epilogue->last);
  epilogue->out = op->out[0];
}

/* The constant for each channel that is added to floats, and a clamp. */
static void
follow_floats (LptFusedEpilogue *epilogue,
               LptProgramOp     *owner)
{
  const LptShape *shape = &epilogue->out->array.shape;
  LptProgramOp *op = only_reader (epilogue->out);
  gsize c, n;

  if (op != NULL && op->node->op == LPT_OP_ADD && op->n_in == 2)
    {
      const float *values = channel_constant (op->in[op->in[0] == epilogue->out ? 1 : 0], shape, epilogue->axis,
                                              epilogue->channels, &n);

      if (values != NULL && lpt_shape_equal (&op->out[0]->array.shape, shape))
        {
          for (c = 0; c < epilogue->channels; c++)
            epilogue->fbias[c] = values[n == 1 ? 0 : c];
          epilogue->e.fbias = epilogue->fbias;
          take (epilogue, owner, op);
          op = only_reader (epilogue->out);
        }
    }
  if (op != NULL && op->node->op == LPT_OP_RELU)
    {
      epilogue->e.flo = 0;
      take (epilogue, owner, op);
    }
}

/* The Dequantize @op and what follows it; FALSE: it has another form. */
static gboolean
follow_dequantize (LptFusedEpilogue *epilogue,
                   LptProgramOp     *owner,
                   LptProgramOp     *op)
{
  const LptQuant *quant = op->in[0]->array.quant;
  gsize c;

  if (quant == NULL || op->integer == NULL || lpt_quant_has_zero_points (quant) ||
      (quant->n > 1 && (quant->axis != epilogue->axis || quant->n != epilogue->channels)))
    return FALSE;

  take (epilogue, owner, op);
  epilogue->e.store = LPT_STORE_F32;
  for (c = 0; c < epilogue->channels; c++)
    epilogue->scale[c] = (float) quant->scale[quant->n == 1 ? 0 : c];
  follow_floats (epilogue, owner);

  return TRUE;
}

/* Is @scale of sums of @shape one number, or one for each channel, of all images or of each? */
static gboolean
scales_fit (const LptFusedEpilogue *epilogue,
            const LptShape         *shape,
            const LptProgramValue  *scale)
{
  const LptShape *own = &scale->array.shape;
  const gsize n = lpt_program_count (scale);

  for (gint i = 0; i < own->rank && n > 1; i++)
    {
      const gint axis = i + shape->rank - own->rank;

      if (axis == epilogue->axis ? own->dims[i] != (gint64) epilogue->channels
                                 : own->dims[i] != 1 && (axis != 0 || !epilogue->images))
        return FALSE;
    }

  return n == 1 || n % epilogue->channels == 0;
}

/* A Convert of int32 to float (or a Dequantize by 1), the computed scale that multiplies it, and what follows; FALSE:
 * it has another form. */
static gboolean
follow_scale (LptFusedEpilogue *epilogue,
              LptProgramOp     *owner,
              LptProgramOp     *convert)
{
  const LptShape *shape = &convert->in[0]->array.shape;
  LptProgramOp *product = convert->n_out == 1 ? only_reader (convert->out[0]) : NULL;
  LptProgramValue *scale;

  if ((convert->node->op != LPT_OP_CONVERT && convert->node->op != LPT_OP_DEQUANTIZE) ||
      !lpt_program_is_real (convert->out[0]) || product == NULL || product->node->op != LPT_OP_MULTIPLY ||
      product->n_in != 2 || !lpt_quant_is_plain (convert->in[0]->array.quant))
    return FALSE;
  scale = product->in[product->in[0] == convert->out[0] ? 1 : 0];
  if (!lpt_program_is_real (scale) || scale == convert->out[0] ||
      !lpt_shape_equal (&product->out[0]->array.shape, shape))
    return FALSE;
  if (!scales_fit (epilogue, shape, scale))
    return FALSE;
  epilogue->run_scale = scale;
  epilogue->e.store = LPT_STORE_F32;
  take (epilogue, owner, convert);
  take (epilogue, owner, product);
  follow_floats (epilogue, owner);

  return TRUE;
}

/* Sums that become real numbers: at once, or once a Reinterpret has said what they mean. */
static gboolean
follow_sums (LptFusedEpilogue *epilogue,
             LptProgramOp     *owner)
{
  LptProgramOp *op = only_reader (epilogue->out);
  LptProgramOp *name = op != NULL && op->node->op == LPT_OP_REINTERPRET && op->n_out == 1 ? op : NULL;

  if (name != NULL)
    op = only_reader (name->out[0]);
  if (op == NULL || !(follow_scale (epilogue, owner, op) ||
                      (op->node->op == LPT_OP_DEQUANTIZE && follow_dequantize (epilogue, owner, op))))
    return FALSE;
  if (name != NULL)
    lpt_program_fuse (name, owner, &epilogue->last);

  return TRUE;
}

/* A function of the floats that are stored; FALSE: there is none. */
static gboolean
follow_function (LptFusedEpilogue *epilogue,
                 const LptProgram *program,
                 LptProgramOp     *owner)
{
  LptProgramOp *op = only_reader (epilogue->out);
  LptRun run;

  if (epilogue->maps != NULL || !epilogue->finishes)
    return FALSE;
  if (lpt_fuse_silu (&epilogue->out, owner, &epilogue->last))
    epilogue->map = LPT_MAP_SILU;
  else if (op != NULL && lpt_rows_read_op (op, &run) && run.kind == LPT_RUN_MAP && !lpt_map_rounds (run.map) &&
           lpt_shape_equal (&op->out[0]->array.shape, &epilogue->out->array.shape))
    {
      epilogue->map = run.map;
      take (epilogue, owner, op);
    }
  else
    return FALSE;
  epilogue->maps = program->kernels.floats;

  return TRUE;
}

/* --- the whole --- */

/* FALSE: no memory. */
static gboolean
alloc_parameters (LptFusedEpilogue *epilogue,
                  LptProgramOp     *op,
                  gsize             channels)
{
  epilogue->residual = NULL;
  epilogue->last = op;
  epilogue->bias = lpt_program_array (channels, sizeof (gint32));
  epilogue->weight_zp = lpt_program_array (channels, sizeof (gint32));
  epilogue->mult = lpt_program_array (channels, sizeof (gint32));
  epilogue->shift = lpt_program_array (channels, sizeof (gint32));
  epilogue->rest = lpt_program_array (channels, sizeof (gint32));
  epilogue->scale = lpt_program_array (channels, sizeof (float));
  epilogue->fbias = lpt_program_array (channels, sizeof (float));
  epilogue->fma = (LptRequantFma) { lpt_program_array (channels, sizeof (gint32)),
                                    lpt_program_array (channels, sizeof (float)),
                                    lpt_program_array (channels, sizeof (float)),
                                    lpt_program_array (channels, sizeof (float)) };
  epilogue->e = (LptEpilogue) { .store = LPT_STORE_Q8, .flo = -INFINITY, .fhi = INFINITY, .bias = epilogue->bias,
                             .mult = epilogue->mult, .shift = epilogue->shift, .scale = epilogue->scale, .fma = epilogue->fma };

  return epilogue->bias != NULL && epilogue->weight_zp != NULL && epilogue->mult != NULL && epilogue->shift != NULL &&
         epilogue->rest != NULL && epilogue->scale != NULL && epilogue->fbias != NULL && epilogue->fma.offset != NULL &&
         epilogue->fma.high != NULL && epilogue->fma.low != NULL && epilogue->fma.half != NULL;
}

gboolean
lpt_fused_epilogue_words (LptFusedEpilogue *epilogue,
                          LptProgramOp     *op,
                          gint              axis,
                          gsize             channels)
{
  if (!alloc_parameters (epilogue, op, channels))
    return lpt_refuse (op, LPT_REMARK_MEMORY);
  epilogue->axis = axis;
  epilogue->channels = channels;
  if (!follow_dequantize (epilogue, op, op))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);
  epilogue->e.bias = NULL;

  return TRUE;
}

gboolean
lpt_fused_epilogue_init (LptFusedEpilogue *epilogue,
                         LptProgramOp     *op,
                         gint              axis,
                         gsize             channels,
                         const double     *scales,
                         guint             n_scales)
{
  const LptRequantRule *rule = lpt_requant_node_rule (op->node);
  const LptArray *x = &op->in[0]->array, *y = &op->out[0]->array;
  LptWeightedView view;
  LptProgramValue *zero;
  gboolean any_rest = FALSE;
  gint32 offset = lpt_program_offset (y->dtype);
  gsize c;

  if (rule == NULL || rule->algorithm != LPT_ALGO_RESCALE)
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  lpt_weighted_view (op->node, &view);
  zero = op->n_in > view.zero ? op->in[view.zero] : NULL;
  if (view.rest->n > 1 && view.rest->n != channels)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if (!alloc_parameters (epilogue, op, channels))
    return lpt_refuse (op, LPT_REMARK_MEMORY);
  epilogue->out = op->out[0];
  epilogue->axis = axis;
  epilogue->channels = channels;
  if (y->dtype == LPT_DTYPE_I32)
    {
      epilogue->zero = zero;
      epilogue->offset = lpt_program_offset (x->dtype);
      epilogue->e.store = LPT_STORE_I32;
      return TRUE;
    }
  if (!lpt_program_is_codes (op->out[0]))
    return lpt_refuse (op, lpt_remark_of_codes (op->out[0], op->out[0]));
  if (zero != NULL)
    return lpt_refuse (op, LPT_REMARK_COMPUTED);

  epilogue->e.scheme = rule->rounding;
  epilogue->e.zp = lpt_program_zero (op->out[0]);
  epilogue->e.lo = (gint32) lpt_dtype_min (y->dtype) + offset;
  epilogue->e.hi = (gint32) lpt_dtype_max (y->dtype) + offset;
  for (c = 0; c < channels; c++)
    {
      LptMultiplier m = lpt_requant_rule_multiplier (rule, x->quant->scale[0], scales[n_scales == 1 ? 0 : c],
                                                     y->quant->scale[0]);
      double fraction = view.rest->n == 0 ? 0 : view.rest->v[view.rest->n == 1 ? 0 : c];

      if (m.rounding != rule->rounding)
        return lpt_refuse (op, LPT_REMARK_ROUNDING);
      epilogue->mult[c] = m.m;
      epilogue->shift[c] = m.s;
      epilogue->scale[c] = m.f;
      if (m.rounding == LPT_REQUANT_SINGLE)
        epilogue->rest[c] = (gint32) rint (CLAMP (fraction, -0.5, 0.5) * m.m);
      any_rest |= epilogue->rest[c] != 0;
    }
  if (any_rest)
    epilogue->e.rest = epilogue->rest;

  return TRUE;
}

gboolean
lpt_fused_epilogue_follow (LptFusedEpilogue *epilogue,
                           LptProgram       *program,
                           LptProgramOp     *op)
{
  const LptProgramValue *own = epilogue->out;
  LptProgramValue *value;

  if (epilogue->e.store == LPT_STORE_I32)
    {
      if (!follow_sums (epilogue, op))
        return FALSE;
      follow_function (epilogue, program, op);
      return TRUE;
    }
  value = lpt_fused_tables (program, op, epilogue->out, epilogue->table, &epilogue->last);
  if (!is_clamp (epilogue->table, &epilogue->e.lo, &epilogue->e.hi))
    epilogue->e.table = epilogue->table;
  epilogue->out = follow_residual (epilogue, program, op, value);

  return epilogue->out != own;
}

void
lpt_fused_epilogue_finish (const LptFusedEpilogue *epilogue,
                           guint8                 *out,
                           gsize                   ld,
                           gsize                   rows,
                           gsize                   c0,
                           gsize                   c1)
{
  const gsize columns = c1 - c0;
  const gsize count = ld == columns * sizeof (float) ? rows * columns : columns;      /* that follow each other */
  gsize r;

  for (r = 0; epilogue->maps != NULL && r < rows * columns / count; r++)
    {
      float *y = (float *) (gpointer) (out + r * ld) + c0;

      epilogue->maps->map (epilogue->map, count, y, y);
    }
}

void
lpt_fused_epilogue_bind (LptFusedEpilogue *epilogue,
                         LptEpilogue      *e,
                         gsize             channels,
                         double            bound)
{
  if (e->add != NULL)
    lpt_add_to_single (&epilogue->add);
  lpt_epilogue_to_single (e, channels, epilogue->shift, epilogue->rest);
  lpt_epilogue_prepare (e, channels, bound);
}

void
lpt_fused_epilogue_clear (LptFusedEpilogue *epilogue)
{
  lpt_aligned_free (epilogue->bias);
  lpt_aligned_free (epilogue->weight_zp);
  lpt_aligned_free (epilogue->mult);
  lpt_aligned_free (epilogue->shift);
  lpt_aligned_free (epilogue->rest);
  lpt_aligned_free (epilogue->scale);
  lpt_aligned_free (epilogue->fbias);
  lpt_aligned_free (epilogue->fma.offset);
  lpt_aligned_free (epilogue->fma.high);
  lpt_aligned_free (epilogue->fma.low);
  lpt_aligned_free (epilogue->fma.half);
}
