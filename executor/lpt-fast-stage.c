/* lpt-fast-stage.c - what follows a product, done while its sums are stored
 *
 *   codes   clamps, functions of one input and requantizations become one 256-entry table, or only its bounds;
 *           a sum with a second tensor of codes becomes the residual, with a table of its own behind it
 *   int32   Dequantize, then a constant per channel, then Relu: the store of floats; sums with other readers are stored as
 *           they are, and a Dequantize by itself is the same store
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "executor/lpt-fast.h"

/* Elements of a task of the ops that stand by themselves. */
#define CHUNK 65536

/* The step that alone reads @slot, or NULL. */
static const LptStep *
only_reader (LptFastBuilder *b,
             guint           slot,
             guint          *index)
{
  *index = b->reader[slot];
  if (*index == LPT_NO_SLOT || b->covered[*index] != LPT_NO_SLOT)
    return NULL;

  return lpt_plan_step (b->plan, *index);
}

/* Regions behind @slot that map codes to codes: composed into @table. Returns the last slot. */
static guint
compose_tables (LptFastBuilder *b,
                guint           owner,
                guint           slot,
                guint8         *table,
                guint          *last)
{
  const LptFastRegion *region;
  guint k;

  while ((region = lpt_fast_region_behind (b, slot, &slot)) != NULL)
    {
      for (k = 0; k < 256; k++)
        table[k] = region->table[table[k]];
      for (k = 0; k < region->n_steps; k++)
        b->covered[region->steps[k]] = owner;
      *last = MAX (*last, region->steps[region->n_steps - 1]);
    }

  return slot;
}

/* The same for a table that begins as the identity. What lies behind a Resize that repeats codes is done before it, on fewer of
 * them: the slot that is returned then has other codes than its own step would give, and the Resize makes the last slot. */
static guint
follow_tables (LptFastBuilder *b,
               guint           owner,
               guint           slot,
               guint8         *table,
               guint          *last)
{
  guint k, resize, behind = 0;

  for (k = 0; k < 256; k++)
    table[k] = (guint8) k;
  slot = compose_tables (b, owner, slot, table, last);
  resize = lpt_fast_resize_behind (b, slot);
  if (resize != LPT_NO_SLOT)
    {
      guint out = lpt_plan_step (b->plan, resize)->out[0];

      b->moved[out] = compose_tables (b, resize, out, table, &behind);
    }

  return slot;
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

/* Mode single's sum of this stage's codes and those of another slot. */
static gboolean
residual_sum (LptFastBuilder *b,
              const LptStep  *step,
              guint           slot,
              guint           other,
              LptAdd         *add)
{
  const LptArray *x = &lpt_plan_slot (b->plan, slot)->array, *r = &lpt_plan_slot (b->plan, other)->array;
  const LptArray *y = &lpt_plan_slot (b->plan, step->out[0])->array;

  return lpt_fast_is_codes (b->plan, slot) && lpt_fast_is_codes (b->plan, other) && lpt_fast_is_codes (b->plan, step->out[0]) &&
         lpt_shape_equal (&x->shape, &y->shape) && lpt_shape_equal (&r->shape, &y->shape) &&
         lpt_fast_add (b->plan, step, step->in[0] == slot ? 0 : 1, add);
}

static guint
follow_residual (LptFastStage   *stage,
                 LptFastBuilder *b,
                 guint           owner,
                 guint           slot)
{
  guint index;
  const LptStep *step = only_reader (b, slot, &index);
  guint other;

  if (step == NULL || (step->node->op != LPT_OP_ADD && step->node->op != LPT_OP_SUBTRACT) || step->integer == NULL ||
      step->in[0] == step->in[1])
    return slot;
  other = step->in[0] == slot ? step->in[1] : step->in[0];
  if (other == LPT_NO_SLOT || lpt_plan_slot (b->plan, other)->kind != LPT_SLOT_DYNAMIC || !residual_sum (b, step, slot, other, &stage->add))
    return slot;

  b->covered[index] = owner;
  stage->residual = other;
  stage->last = MAX (stage->last, index);
  stage->e.add = &stage->add;
  slot = follow_tables (b, owner, step->out[0], stage->add_table, &stage->last);
  if (!is_clamp (stage->add_table, &stage->add.lo, &stage->add.hi))
    stage->e.add_table = stage->add_table;

  return slot;
}

/* --- floats --- */

/* A float constant, one for all or one per channel along @axis of the slot's shape. */
static const float *
channel_constant (LptFastBuilder *b,
                  guint           slot,
                  const LptShape *shape,
                  gint            axis,
                  gsize           channels,
                  gsize          *n)
{
  const LptSlot *constant = slot != LPT_NO_SLOT ? lpt_plan_slot (b->plan, slot) : NULL;
  const LptShape *own;
  gint i;

  if (constant == NULL || constant->kind != LPT_SLOT_CONST || constant->array.dtype != LPT_DTYPE_F32)
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

/* The Dequantize @index and what follows it: TRUE, covered, or FALSE. */
static gboolean
follow_floats (LptFastStage   *stage,
               LptFastBuilder *b,
               guint           owner,
               guint           index,
               gint            axis,
               gsize           channels)
{
  const LptStep *step = lpt_plan_step (b->plan, index);
  const LptQuant *quant = lpt_plan_slot (b->plan, step->in[0])->array.quant;
  const LptShape *shape = &lpt_plan_slot (b->plan, step->in[0])->array.shape;
  gsize c, n;

  if (quant == NULL || step->integer == NULL || (quant->n > 1 && (quant->axis != axis || quant->n != channels)))
    return FALSE;
  for (c = 0; c < quant->n; c++)
    if (quant->zero_point[c] != 0)
      return FALSE;

  b->covered[index] = owner;
  stage->last = MAX (stage->last, index);
  stage->out = step->out[0];
  stage->e.store = LPT_STORE_F32;
  for (c = 0; c < channels; c++)
    stage->scale[c] = (float) quant->scale[quant->n == 1 ? 0 : c];

  step = only_reader (b, stage->out, &index);
  if (step != NULL && step->node->op == LPT_OP_ADD && step->n_in == 2)
    {
      guint other = step->in[0] == stage->out ? step->in[1] : step->in[0];
      const float *values = channel_constant (b, other, shape, axis, channels, &n);

      if (values != NULL && lpt_shape_equal (&lpt_plan_slot (b->plan, step->out[0])->array.shape, shape))
        {
          for (c = 0; c < channels; c++)
            stage->fbias[c] = values[n == 1 ? 0 : c];
          stage->e.fbias = stage->fbias;
          b->covered[index] = owner;
          stage->last = MAX (stage->last, index);
          stage->out = step->out[0];
          step = only_reader (b, stage->out, &index);
        }
    }
  if (step != NULL && step->node->op == LPT_OP_RELU)
    {
      stage->e.flo = 0;
      b->covered[index] = owner;
      stage->last = MAX (stage->last, index);
      stage->out = step->out[0];
    }

  return TRUE;
}

/* --- the whole --- */

/* FALSE: no memory. */
static gboolean
stage_alloc (LptFastStage *stage,
             guint         i,
             gsize         channels)
{
  stage->residual = LPT_NO_SLOT;
  stage->last = i;
  stage->bias = lpt_fast_array (channels, sizeof (gint32));
  stage->weight_zp = lpt_fast_array (channels, sizeof (gint32));
  stage->mult = lpt_fast_array (channels, sizeof (gint32));
  stage->shift = lpt_fast_array (channels, sizeof (gint32));
  stage->rest = lpt_fast_array (channels, sizeof (gint32));
  stage->scale = lpt_fast_array (channels, sizeof (float));
  stage->fbias = lpt_fast_array (channels, sizeof (float));
  stage->fma = (LptRequantFma) { lpt_fast_array (channels, sizeof (gint32)), lpt_fast_array (channels, sizeof (float)),
                                 lpt_fast_array (channels, sizeof (float)), lpt_fast_array (channels, sizeof (float)) };
  stage->e = (LptEpilogue) { .store = LPT_STORE_Q8, .flo = -INFINITY, .fhi = INFINITY, .bias = stage->bias,
                             .mult = stage->mult, .shift = stage->shift, .scale = stage->scale, .fma = stage->fma };

  return stage->bias != NULL && stage->weight_zp != NULL && stage->mult != NULL && stage->shift != NULL && stage->rest != NULL &&
         stage->scale != NULL && stage->fbias != NULL && stage->fma.offset != NULL && stage->fma.high != NULL &&
         stage->fma.low != NULL && stage->fma.half != NULL;
}

gboolean
lpt_fast_stage_init (LptFastStage    *stage,
                     LptFastBuilder  *b,
                     guint            i,
                     gint             axis,
                     gsize            channels,
                     const double    *weight_scales,
                     guint            n_scales,
                     double           input_scale,
                     const LptFloats *rest)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptRequantRule *rule = lpt_requant_node_rule (step->node);
  guint slot = step->out[0];
  const LptArray *y = &lpt_plan_slot (b->plan, slot)->array;
  gboolean any_rest = FALSE;
  gint32 offset = lpt_fast_offset (y->dtype);
  guint index;
  gsize c;

  if (rule == NULL || rule->algorithm != LPT_ALGO_RESCALE || (rest->n > 1 && rest->n != channels))
    return FALSE;
  if (!stage_alloc (stage, i, channels))
    return FALSE;
  stage->out = slot;
  if (y->dtype == LPT_DTYPE_I32)
    {
      const LptStep *next = only_reader (b, slot, &index);

      if (next == NULL || next->node->op != LPT_OP_DEQUANTIZE || !follow_floats (stage, b, i, index, axis, channels))
        stage->e.store = LPT_STORE_I32;
      return TRUE;
    }
  if (!lpt_fast_is_codes (b->plan, slot))
    return FALSE;

  /* Both enumerations name the same schemes in the same order. */
  G_STATIC_ASSERT ((int) LPT_ROUNDING_SINGLE == (int) LPT_REQUANT_SINGLE && (int) LPT_ROUNDING_DOUBLE == (int) LPT_REQUANT_DOUBLE &&
                   (int) LPT_ROUNDING_TWO_STEP == (int) LPT_REQUANT_TWO_STEP &&
                   (int) LPT_ROUNDING_QNNPACK == (int) LPT_REQUANT_QNNPACK && (int) LPT_ROUNDING_FLOAT == (int) LPT_REQUANT_FLOAT);
  stage->e.scheme = (LptRequantScheme) rule->rounding;
  stage->e.zp = lpt_fast_zero (b->plan, slot);
  stage->e.lo = (gint32) lpt_dtype_min (y->dtype) + offset;
  stage->e.hi = (gint32) lpt_dtype_max (y->dtype) + offset;
  for (c = 0; c < channels; c++)
    {
      LptMultiplier m = lpt_requant_rule_multiplier (rule, input_scale, weight_scales[n_scales == 1 ? 0 : c], y->quant->scale[0]);
      double fraction = rest->n == 0 ? 0 : rest->v[rest->n == 1 ? 0 : c];

      if (m.rounding != rule->rounding)
        return FALSE;
      stage->mult[c] = m.m;
      stage->shift[c] = m.s;
      stage->scale[c] = m.f;
      if (m.rounding == LPT_ROUNDING_SINGLE)
        stage->rest[c] = (gint32) rint (CLAMP (fraction, -0.5, 0.5) * m.m);
      any_rest |= stage->rest[c] != 0;
    }
  if (any_rest)
    stage->e.rest = stage->rest;

  slot = follow_tables (b, i, slot, stage->table, &stage->last);
  if (!is_clamp (stage->table, &stage->e.lo, &stage->e.hi))
    stage->e.table = stage->table;
  stage->out = follow_residual (stage, b, i, slot);

  return TRUE;
}

void
lpt_fast_stage_clear (LptFastStage *stage)
{
  lpt_aligned_free (stage->bias);
  lpt_aligned_free (stage->weight_zp);
  lpt_aligned_free (stage->mult);
  lpt_aligned_free (stage->shift);
  lpt_aligned_free (stage->rest);
  lpt_aligned_free (stage->scale);
  lpt_aligned_free (stage->fbias);
  lpt_aligned_free (stage->fma.offset);
  lpt_aligned_free (stage->fma.high);
  lpt_aligned_free (stage->fma.low);
  lpt_aligned_free (stage->fma.half);
}

/* --- a Dequantize of int32 by itself --- */

typedef struct
{
  LptFastOp    op;
  LptFastStage stage;
  const LptEpilogueKernel *kernel;
  gsize        rows, channels, per_task;
} Words;

static void
words_run (const LptFastOp   *op,
           const LptFastData *data,
           gsize              task,
           gsize              end)
{
  const Words *w = (const Words *) op;
  gsize row = task * w->per_task, n = MIN (end * w->per_task, w->rows) - row, rest = w->channels % LPT_CHANNEL_PAD;
  gsize whole = w->channels - rest, line = w->channels * sizeof (float);
  const gint32 *in = (const gint32 *) (gconstpointer) data->in[0] + row * w->channels;
  float *out = (float *) (gpointer) data->out + row * w->channels;
  gint32 tail[LPT_CHANNEL_PAD] = { 0 };

  if (rest == 0 || row + n < w->rows)
    {
      w->kernel->run (&w->stage.e, n, w->channels, 0, in, w->channels, NULL, out, line, NULL, 0);
      return;
    }
  /* Kernels read whole vectors: the end of the last row is copied. */
  n--;
  w->kernel->run (&w->stage.e, n, w->channels, 0, in, w->channels, NULL, out, line, NULL, 0);
  in += n * w->channels;
  out += n * w->channels;
  w->kernel->run (&w->stage.e, 1, whole, 0, in, w->channels, NULL, out, line, NULL, 0);
  memcpy (tail, in + whole, rest * sizeof *tail);
  w->kernel->run (&w->stage.e, 1, rest, whole, tail, LPT_CHANNEL_PAD, NULL, out + whole, line, NULL, 0);
}

static void
words_clear (gpointer op)
{
  lpt_fast_stage_clear (&((Words *) op)->stage);
}

/* One scale, or one per index of the last axis or of the channels. */
LptFastOp *
lpt_fast_make_dequantize_words (LptFastBuilder *b,
                                guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptArray *x = &lpt_plan_slot (b->plan, step->in[0])->array;
  gint axis = x->shape.rank - 1;
  LptRepr repr = LPT_REPR_PLAIN;
  Words *w;

  if (x->dtype != LPT_DTYPE_I32 || x->quant == NULL || axis < 0 || !lpt_shape_is_static (&x->shape) || lpt_array_count (x) == 0)
    return NULL;
  if (x->quant->n > 1 && x->quant->axis == 1 && axis > 1)
    {
      axis = 1;
      repr = LPT_REPR_LASTF;
    }
  w = g_new0 (Words, 1);
  w->kernel = b->kernels.epilogue;
  w->channels = (gsize) x->shape.dims[axis];
  w->rows = (gsize) lpt_array_count (x) / w->channels;
  w->per_task = MAX (CHUNK / w->channels, 1);
  if (!stage_alloc (&w->stage, i, w->channels) || !follow_floats (&w->stage, b, i, i, axis, w->channels))
    {
      words_clear (w);
      g_free (w);
      return NULL;
    }
  w->stage.e.bias = NULL;
  w->op = (LptFastOp) { .run = words_run, .clear = words_clear, .kernel = w->kernel->name,
                        .tasks = (w->rows + w->per_task - 1) / w->per_task, .n_in = 1, .in = { step->in[0] },
                        .in_repr = { repr }, .out = w->stage.out, .out_repr = repr, .last = w->stage.last };

  return &w->op;
}

/* --- a table by itself --- */

typedef struct
{
  LptFastOp op;
  const LptEltwiseKernel *kernel;
  gsize  rows, cols;         /* one row, or pixels where there is a pitch */
  gsize  channels;
  guint8 table[256];
} Table;

static void
table_run (const LptFastOp   *op,
           const LptFastData *data,
           gsize              task,
           gsize              end)
{
  const Table *t = (const Table *) op;
  gsize at = task * CHUNK, row = at / t->cols;

  if (t->rows == 1)
    t->kernel->table (t->table, 1, MIN (end * CHUNK, t->cols) - at, data->in[0] + at, 0, data->out + at, 0);
  else
    t->kernel->table (t->table, MIN (end * CHUNK / t->cols, t->rows) - row, t->cols, data->in[0] + row * op->in_pitch[0],
                      op->in_pitch[0], data->out + row * op->out_pitch, op->out_pitch);
}

static LptFastSpan
table_span (const LptFastOp *op,
            gsize            task,
            guint            k)
{
  const Table *t = (const Table *) op;
  gsize at = task * CHUNK, row = at / t->cols;

  if (t->rows == 1)
    return lpt_fast_span (at, MIN (at + CHUNK, t->cols), 1);

  return lpt_fast_span_columns (row, MIN ((at + CHUNK) / t->cols, t->rows), 0, t->cols, k == 0 ? op->in_pitch[0] : op->out_pitch);
}

static void
table_fit (LptFastOp *op)
{
  Table *t = (Table *) op;

  if (op->in_repr[0] != LPT_REPR_PART8 && op->out_repr != LPT_REPR_PART8)
    return;
  t->rows = t->cols / t->channels;
  t->cols = t->channels;
}

LptFastOp *
lpt_fast_make_table (LptFastBuilder *b,
                     guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptFastRegion *region = b->regions->pdata[step->out[0]];
  LptRepr repr = lpt_fast_layout (b, region->root);
  guint8 behind[256];
  guint last = i, out, k;
  Table *t;

  if (region->n_steps == 1 && step->node->op == LPT_OP_REINTERPRET)
    return NULL;      /* no more than another name */
  t = g_new0 (Table, 1);
  out = follow_tables (b, i, step->out[0], behind, &last);
  for (k = 0; k < 256; k++)
    t->table[k] = behind[region->table[k]];
  t->op = (LptFastOp) { .run = table_run, .kernel = "table_u8", .tasks = (lpt_fast_count (b->plan, out) + CHUNK - 1) / CHUNK,
                        .n_in = 1, .in = { region->root },
                        .in_repr = { repr }, .out = out, .out_repr = repr, .last = last, .takes_part = 1,
                        .makes_part = repr == LPT_REPR_LAST8, .in_place = 1, .fit = table_fit,
                        .span = table_span };
  t->kernel = b->kernels.eltwise;
  t->rows = 1;
  t->cols = lpt_fast_count (b->plan, out);
  t->channels = repr == LPT_REPR_LAST8 ? (gsize) lpt_plan_slot (b->plan, out)->array.shape.dims[1] : 1;

  return &t->op;
}
