/* lpt-fast-eltwise.c - sums and products of codes
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

/* --- products --- */

/* Parameters of the product of @step in the form of its rule. */
static gboolean
product_of (const LptPlan *plan,
            const LptStep *step,
            LptMul        *mul)
{
  const LptRequantRule *rule = lpt_requant_node_rule (step->node);
  const LptArray *a = &lpt_plan_slot (plan, step->in[0])->array, *b = &lpt_plan_slot (plan, step->in[1])->array;
  const LptArray *y = &lpt_plan_slot (plan, step->out[0])->array;
  const gboolean zero_in_float = rule != NULL && rule->algorithm == LPT_ALGO_FLOAT_ZERO;
  /* A float sum with another zero point would round elsewhere: there the codes stay their own. */
  const gint32 offset = zero_in_float ? 0 : lpt_fast_offset (y->dtype);
  LptMultiplier m;

  if (rule == NULL || lpt_int_is_affine (step->node))
    return FALSE;
  m = lpt_requant_rule_multiplier (rule, a->quant->scale[0], b->quant->scale[0], y->quant->scale[0]);
  *mul = (LptMul) { .scheme = (LptRequantScheme) m.rounding, .zp_in_float = zero_in_float,
                    .zp = y->quant->zero_point[0] + offset, .lo = (gint32) lpt_dtype_min (y->dtype) + offset,
                    .hi = (gint32) lpt_dtype_max (y->dtype) + offset, .za = lpt_fast_zero (plan, step->in[0]),
                    .zb = lpt_fast_zero (plan, step->in[1]), .mult = m.m, .shift = m.s, .scale = m.f };

  return TRUE;
}

/* --- both, with operands that repeat --- */

/* A dimension of the result and how far the operands move along it. */
typedef struct
{
  gsize size, a, b;
} Dim;

typedef struct
{
  LptFastOp op;
  const LptEltwiseKernel *kernel;
  gboolean product, flip;          /* flip: results are made as i8 */
  LptAdd   add;
  LptMul   mul;
  guint    n;                      /* dimensions, the last one without gaps */
  Dim      dims[LPT_MAX_RANK];
  LptShape out, in[2];
  gsize    count, cols, ldo;       /* elements; of a row; from row to row of the result */
  gsize    rows, per_task;
} Binary;

static void
flip_rows (gsize   rows,
           gsize   cols,
           guint8 *out,
           gsize   ldo)
{
  if (ldo == cols)
    lpt_flip_signs (rows * cols, out, out);
  else
    for (; rows > 0; rows--, out += ldo)
      lpt_flip_signs (cols, out, out);
}

static void
binary_run (const LptFastOp   *op,
            const LptFastData *data,
            gsize              task,
            gsize              end)
{
  const Binary *s = (const Binary *) op;
  const Dim *last = &s->dims[s->n - 1], *line = s->n > 1 ? last - 1 : NULL;
  gsize row = task * s->per_task, last_row = MIN (end * s->per_task, s->rows);

  while (row < last_row)
    {
      gsize a = 0, b = 0, rest = row, run = 1, cols = MIN (s->cols, s->count - row * s->cols);
      guint8 *out = data->out + row * s->ldo;
      guint i;

      if (line == NULL)
        {
          a = row * s->cols * last->a;
          b = row * s->cols * last->b;
        }
      else
        run = MIN (line->size - row % line->size, last_row - row);
      for (i = s->n - 1; i-- > 0; )
        {
          a += rest % s->dims[i].size * s->dims[i].a;
          b += rest % s->dims[i].size * s->dims[i].b;
          rest /= s->dims[i].size;
        }
      if (s->product)
        s->kernel->mul (&s->mul, run, cols, data->in[0] + a, line != NULL ? line->a : 0, last->a,
                        data->in[1] + b, line != NULL ? line->b : 0, last->b, out, s->ldo);
      else
        s->kernel->add (&s->add, run, cols, data->in[0] + a, line != NULL ? line->a : 0, last->a,
                        data->in[1] + b, line != NULL ? line->b : 0, last->b, out, s->ldo);
      if (s->flip)
        flip_rows (run, cols, out, s->ldo);
      row += run;
    }
}

/* Dimensions of the result in the order that it has, merged where operands and result go on evenly; pitches: of values with the
 * channels last, known when the program is. */
static void
set_dims (Binary *s)
{
  const LptShape *out = &s->out;
  gboolean is_last = s->op.out_repr >= LPT_REPR_LAST8 && out->rank > 2;
  gsize step[2] = { 1, 1 };
  gint i, k;

  s->n = LPT_MAX_RANK;
  for (i = 0; i < out->rank; i++)
    {
      /* From the innermost: with the channels last, axis 1 comes first and then the spatial ones. */
      gint axis = !is_last ? out->rank - 1 - i : i == 0 ? 1 : i == out->rank - 1 ? 0 : out->rank - i;
      Dim dim = { (gsize) out->dims[axis], 0, 0 };
      gsize *stride[2] = { &dim.a, &dim.b };
      gboolean gap = is_last && s->n == LPT_MAX_RANK - 1 && s->op.out_pitch > (gsize) out->dims[1];

      for (k = 0; k < 2; k++)
        {
          gint own = axis - (out->rank - s->in[k].rank);

          if (is_last && i == 1 && s->op.in_repr[k] == LPT_REPR_PART8)
            step[k] = s->op.in_pitch[k];
          if (own >= 0 && s->in[k].dims[own] > 1)
            {
              *stride[k] = step[k];
              step[k] *= (gsize) s->in[k].dims[own];
            }
        }
      if (dim.size == 1)
        continue;
      if (!gap && s->n < LPT_MAX_RANK && dim.a == s->dims[s->n].a * s->dims[s->n].size && dim.b == s->dims[s->n].b * s->dims[s->n].size)
        s->dims[s->n].size *= dim.size;
      else
        s->dims[--s->n] = dim;
    }
  if (s->n == LPT_MAX_RANK)
    s->dims[--s->n] = (Dim) { 1, 1, 1 };
  memmove (s->dims, s->dims + s->n, (LPT_MAX_RANK - s->n) * sizeof (Dim));
  s->n = LPT_MAX_RANK - s->n;
}

static void
binary_fit (LptFastOp *op)
{
  Binary *s = (Binary *) op;

  set_dims (s);
  s->cols = s->n > 1 ? s->dims[s->n - 1].size : MIN (CHUNK, s->count);
  s->ldo = op->out_repr == LPT_REPR_PART8 ? op->out_pitch : s->cols;
  s->rows = (s->count + s->cols - 1) / s->cols;
  s->per_task = MAX (CHUNK / s->cols, 1);
  op->tasks = (s->rows + s->per_task - 1) / s->per_task;
}

/* Of operands with more than two dimensions, repeated in some of them, all. */
static LptFastSpan
binary_span (const LptFastOp *op,
             gsize            task,
             guint            k)
{
  const Binary *s = (const Binary *) op;
  const Dim *last = &s->dims[s->n - 1];
  gsize row = task * s->per_task, end = MIN (row + s->per_task, s->rows), step;

  if (s->n == 1)
    return k == op->n_in || (k == 0 ? last->a : last->b) != 0 ? lpt_fast_span (row * s->cols, MIN (end * s->cols, s->count), 1)
                                                              : lpt_fast_span (0, 1, 1);
  if (k == op->n_in)
    return lpt_fast_span_columns (row, end, 0, s->cols, s->ldo);
  step = k == 0 ? last[-1].a : last[-1].b;
  if (s->n > 2 || step < s->cols)
    return lpt_fast_span (0, G_MAXSIZE, 1);

  return lpt_fast_span_columns (row, end, 0, s->cols, step);
}

static gboolean
is_operand (LptFastBuilder *b,
            guint           slot)
{
  return slot != LPT_NO_SLOT && lpt_fast_is_codes (b->plan, slot) && lpt_fast_count (b->plan, slot) > 0;
}

LptFastOp *
lpt_fast_make_binary (LptFastBuilder *b,
                      guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  gboolean product = step->node->op == LPT_OP_MULTIPLY;
  const LptShape *out, *in[2];
  LptRepr repr = LPT_REPR_U8;
  LptAdd add = { 0 };
  LptMul mul = { 0 };
  Binary *s;
  guint k;

  if (!is_operand (b, step->in[0]) || !is_operand (b, step->in[1]) || !lpt_fast_is_codes (b->plan, step->out[0]) ||
      lpt_fast_count (b->plan, step->out[0]) == 0 ||
      !(product ? product_of (b->plan, step, &mul) : lpt_fast_add (b->plan, step, 0, &add)))
    return NULL;
  out = &lpt_plan_slot (b->plan, step->out[0])->array.shape;
  for (k = 0; k < 2; k++)
    {
      in[k] = &lpt_plan_slot (b->plan, step->in[k])->array.shape;
      if (lpt_shape_equal (in[k], out))
        repr = MAX (repr, lpt_fast_layout (b, step->in[k]));
    }
  /* Fewer axes than the result stand for its last ones: only one element is the same with the channels last. */
  for (k = 0; k < 2; k++)
    if (in[k]->rank != out->rank && lpt_fast_count (b->plan, step->in[k]) > 1)
      repr = LPT_REPR_U8;

  s = g_new0 (Binary, 1);
  s->op = (LptFastOp) { .run = binary_run, .kernel = product ? "mul_u8" : "add_u8", .n_in = 2, .in = { step->in[0], step->in[1] },
                        .in_repr = { repr, repr }, .out = step->out[0], .out_repr = repr, .last = i, .fit = binary_fit, .span = binary_span,
                        .takes_part = 3, .makes_part = TRUE,
                        .in_place = (lpt_shape_equal (in[0], out) ? 1 : 0) | (lpt_shape_equal (in[1], out) ? 2 : 0) };
  s->kernel = b->kernels.eltwise;
  s->product = product;
  s->flip = product && mul.lo < 0;
  s->add = add;
  s->mul = mul;
  s->out = *out;
  s->in[0] = *in[0];
  s->in[1] = *in[1];
  s->count = lpt_fast_count (b->plan, step->out[0]);

  return &s->op;
}
