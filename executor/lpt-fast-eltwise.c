/* lpt-fast-eltwise.c - sums of codes, codes side by side
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/lpt-fast.h"

#define CHUNK 32768

/* --- sums --- */

gboolean
lpt_fast_add (const LptPlan *plan,
              const LptStep *step,
              guint          first,
              LptAdd        *add)
{
  const LptRequantRule *rule = lpt_requant_node_rule (step->node);
  const LptFloats *shift = &LPT_ATTRS (step->node, LptBinaryAttrs)->shift;
  const guint a = step->in[first], b = step->in[1 - first];
  const LptArray *y = &lpt_plan_slot (plan, step->out[0])->array;
  const double sign = step->node->op == LPT_OP_SUBTRACT ? -1 : 1;
  const double sa = lpt_plan_slot (plan, a)->array.quant->scale[0] * (first == 1 ? sign : 1);
  const double sb = lpt_plan_slot (plan, b)->array.quant->scale[0] * (first == 0 ? sign : 1);
  const double sy = y->quant->scale[0];
  const gint32 zeros[2] = { lpt_fast_zero (plan, a), lpt_fast_zero (plan, b) };
  const gint32 offset = lpt_fast_offset (y->dtype);

  if (rule == NULL || shift->n > 1)
    return FALSE;
  *add = (LptAdd) { .zp = lpt_fast_zero (plan, step->out[0]), .lo = (gint32) lpt_dtype_min (y->dtype) + offset,
                    .hi = (gint32) lpt_dtype_max (y->dtype) + offset, .za = zeros[0], .zb = zeros[1] };
  if (rule->algorithm == LPT_ALGO_SUM64)
    {
      LptSum64 sum;

      lpt_sum64_make (&sum, 2, (double[]) { sa / sy, sb / sy }, zeros, shift->n == 1 ? shift->v[0] : 0.0);
      add->form = LPT_ADD_SINGLE;
      add->m1 = sum.m[0];
      add->m2 = sum.m[1];
      add->bias = sum.bias;
      add->shift = sum.shift;
      return TRUE;
    }
  if (rule->algorithm == LPT_ALGO_FLOAT && shift->n == 0)
    {
      add->form = LPT_ADD_FLOAT;
      add->sa = (float) sa;
      add->sb = (float) sb;
      add->sc = (float) sy;
      return TRUE;
    }

  return FALSE;
}

typedef struct
{
  LptFastOp op;
  const LptEltwiseKernel *kernel;
  LptAdd add;
  gsize  n;
} Sum;

static void
sum_chunk (void    *data,
           size_t   task,
           unsigned thread)
{
  gpointer *job = data;
  const Sum *s = job[0];
  gsize at = task * CHUNK, n = MIN (CHUNK, s->n - at);

  s->kernel->add (&s->add, 1, n, (const guint8 *) job[1] + at, n, 1, (const guint8 *) job[2] + at, n, 1, (guint8 *) job[3] + at, n);
}

static void
sum_run (const LptFastOp     *op,
         const guint8 *const *in,
         guint8              *out,
         LptPool             *pool,
         guint8              *workspace)
{
  gpointer job[4] = { (gpointer) op, (gpointer) in[0], (gpointer) in[1], out };

  lpt_parallel_for (pool, (((const Sum *) op)->n + CHUNK - 1) / CHUNK, sum_chunk, job);
}

LptFastOp *
lpt_fast_make_sum (LptFastBuilder *b,
                   guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  Sum *s;
  LptAdd add;
  guint k;

  for (k = 0; k < 2; k++)
    if (step->in[k] == LPT_NO_SLOT || lpt_plan_slot (b->plan, step->in[k])->kind == LPT_SLOT_CONST ||
        !lpt_fast_is_codes (b->plan, step->in[k]) ||
        !lpt_shape_equal (&lpt_plan_slot (b->plan, step->in[k])->array.shape, &lpt_plan_slot (b->plan, step->out[0])->array.shape))
      return NULL;
  if (!lpt_fast_is_codes (b->plan, step->out[0]) || !lpt_fast_add (b->plan, step, 0, &add))
    return NULL;
  s = g_new0 (Sum, 1);
  s->op = (LptFastOp) { .run = sum_run, .kernel = "add_u8", .n_in = 2, .in = { step->in[0], step->in[1] },
                        .in_repr = { LPT_REPR_LAST8, LPT_REPR_LAST8 }, .out = step->out[0], .out_repr = LPT_REPR_LAST8, .last = i };
  s->kernel = b->kernels.eltwise;
  s->add = add;
  s->n = lpt_fast_count (b->plan, step->out[0]);

  return &s->op;
}

/* --- Concat --- */

typedef struct
{
  LptFastOp op;
  gsize     pixels;
  gsize     length[LPT_FAST_MAX_IN], total;
} Concat;

static void
concat_run (const LptFastOp     *op,
            const guint8 *const *in,
            guint8              *out,
            LptPool             *pool,
            guint8              *workspace)
{
  const Concat *c = (const Concat *) op;
  gsize at = 0, p;
  guint k;

  for (k = 0; k < op->n_in; k++)
    {
      for (p = 0; p < c->pixels; p++)
        memcpy (out + p * c->total + at, in[k] + p * c->length[k], c->length[k]);
      at += c->length[k];
    }
}

/* Along the channels, all inputs with the output's quantization. */
LptFastOp *
lpt_fast_make_concat (LptFastBuilder *b,
                      guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptArray *y = &lpt_plan_slot (b->plan, step->out[0])->array;
  Concat *c;
  gint axis;
  guint k;

  if (step->n_in == 0 || step->n_in > LPT_FAST_MAX_IN || y->shape.rank < 2 || !lpt_fast_is_codes (b->plan, step->out[0]) ||
      !lpt_axis_normalize (LPT_ATTRS (step->node, LptAxisAttrs)->axis, y->shape.rank, &axis) || axis != 1)
    return NULL;
  for (k = 0; k < step->n_in; k++)
    {
      const LptSlot *x = step->in[k] != LPT_NO_SLOT ? lpt_plan_slot (b->plan, step->in[k]) : NULL;

      if (x == NULL || x->kind == LPT_SLOT_CONST || x->array.dtype != y->dtype || !lpt_quant_equal (x->array.quant, y->quant) ||
          !lpt_fast_is_codes (b->plan, step->in[k]))
        return NULL;
    }
  c = g_new0 (Concat, 1);
  c->op = (LptFastOp) { .run = concat_run, .kernel = "concat_u8", .n_in = step->n_in, .out = step->out[0],
                        .out_repr = LPT_REPR_LAST8, .last = i };
  for (k = 0; k < step->n_in; k++)
    {
      c->op.in[k] = step->in[k];
      c->op.in_repr[k] = LPT_REPR_LAST8;
      c->length[k] = (gsize) lpt_plan_slot (b->plan, step->in[k])->array.shape.dims[1];
      c->total += c->length[k];
    }
  c->pixels = c->total > 0 ? lpt_fast_count (b->plan, step->out[0]) / c->total : 0;

  return &c->op;
}
