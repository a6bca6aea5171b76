/* binary.c - sums and products of codes, the greater or lesser of codes of one step
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include "eval/integer/lpt-int.h"
#include "executor/kernels/requant/requant-scalar.h"
#include "executor/operators/indexed.h"
#include "executor/operators/lpt-operators.h"

#define CHUNK 32768
/* Rows below this length are joined to as many elements as this. */
#define SHORT 32
#define SPREAD 512

/* --- sums --- */

/* What TensorFlow Lite subtracts is rescaled by a multiplier that is not negative, which rounds ties the other way: the
 * negative *m does the same where none of the codes is one. */
static gboolean
negate (const LptAdd *add,
        gint32        zero,
        gint32       *m,
        gint          s)
{
  gint32 (*rescale) (gint32, gint32, int) = add->step == LPT_REQUANT_SINGLE ? lpt_requant_single : lpt_requant_double;
  gint32 code;

  for (code = 0; code < 256; code++)
    {
      const gint32 x = (code - zero) * (1 << add->left);

      if (rescale (x, -*m, s) != -rescale (x, *m, s))
        return FALSE;
    }
  *m = -*m;

  return TRUE;
}

/* TensorFlow Lite's sums and differences. */
static gboolean
stepped_sum (const LptRequantRule *rule,
             double                sa,
             double                sb,
             double                sy,
             LptAdd               *add)
{
  LptMultiplier m[3];

  if (rule->rounding != LPT_REQUANT_SINGLE && rule->rounding != LPT_REQUANT_DOUBLE)
    return FALSE;
  lpt_int_sum_steps (rule, fabs (sa), fabs (sb), sy, LPT_INT_ADD_LEFT_SHIFT, m);
  add->form = LPT_ADD_STEPPED;
  add->step = (LptRequantScheme) rule->rounding;
  add->left = LPT_INT_ADD_LEFT_SHIFT;
  add->m1 = m[0].m;
  add->s1 = m[0].s;
  add->m2 = m[1].m;
  add->s2 = m[1].s;
  add->mo = m[2].m;
  add->so = m[2].s;

  return (sa > 0 || negate (add, add->za, &add->m1, add->s1)) && (sb > 0 || negate (add, add->zb, &add->m2, add->s2));
}

/* XNNPACK's. */
static void
shifted_sum (double  sa,
             double  sb,
             double  sy,
             LptAdd *add)
{
  LptSum64 sum;

  lpt_int_sum_shifted (fabs (sa), fabs (sb), sy, 1, &sum);
  add->form = LPT_ADD_SINGLE;
  add->m1 = sa < 0 ? -sum.m[0] : sum.m[0];
  add->m2 = sb < 0 ? -sum.m[1] : sum.m[1];
  add->bias = -((gint64) add->m1 * add->za + (gint64) add->m2 * add->zb);
  add->shift = (int) sum.shift;
}

gboolean
lpt_sum_of (const LptProgramOp *step,
            guint               first,
            LptAdd             *add)
{
  const LptRequantRule *rule = lpt_requant_node_rule (step->node);
  const LptFloats *shift = &LPT_ATTRS (step->node, LptBinaryAttrs)->shift;
  const LptProgramValue *a = step->in[first], *b = step->in[1 - first];
  const LptArray *y = &step->out[0]->array;
  const double sign = step->node->op == LPT_OP_SUBTRACT ? -1 : 1;
  const double sa = a->array.quant->scale[0] * (first == 1 ? sign : 1);
  const double sb = b->array.quant->scale[0] * (first == 0 ? sign : 1);
  const double sy = y->quant->scale[0];
  const gint32 zeros[2] = { lpt_program_zero (a), lpt_program_zero (b) };
  const gint32 offset = lpt_program_offset (y->dtype);

  if (rule == NULL || shift->n > 1)
    return FALSE;
  *add = (LptAdd) { .zp = lpt_program_zero (step->out[0]), .lo = (gint32) lpt_dtype_min (y->dtype) + offset,
                    .hi = (gint32) lpt_dtype_max (y->dtype) + offset, .za = zeros[0], .zb = zeros[1] };
  if (rule->algorithm == LPT_ALGO_SUM64)
    {
      LptSum64 sum;

      lpt_sum64_make (&sum, 2, (double[]) { sa / sy, sb / sy }, zeros, lpt_int_shift (step->node, 0));
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
  if (rule->algorithm == LPT_ALGO_XNNPACK && shift->n == 0)
    {
      shifted_sum (sa, sb, sy, add);
      return TRUE;
    }

  return rule->algorithm == LPT_ALGO_LITERT && shift->n == 0 && stepped_sum (rule, sa, sb, sy, add);
}

/* --- products --- */

/* Parameters of the product of @op in the form of its rule. */
static gboolean
product_of (const LptProgramOp *op,
            LptMul             *mul)
{
  const LptRequantRule *rule = lpt_requant_node_rule (op->node);
  const LptArray *a = &op->in[0]->array, *b = &op->in[1]->array;
  const LptArray *y = &op->out[0]->array;
  const gboolean zero_in_float = rule != NULL && rule->algorithm == LPT_ALGO_FLOAT_ZERO;
  /* A float sum with another zero point would round elsewhere: there the codes stay their own. */
  const gint32 offset = zero_in_float ? 0 : lpt_program_offset (y->dtype);
  LptMultiplier m;

  if (rule == NULL || lpt_int_is_affine (op->node))
    return FALSE;
  m = lpt_requant_rule_multiplier (rule, a->quant->scale[0], b->quant->scale[0], y->quant->scale[0]);
  *mul = (LptMul) { .scheme = (LptRequantScheme) m.rounding, .zp_in_float = zero_in_float,
                    .zp = y->quant->zero_point[0] + offset, .lo = (gint32) lpt_dtype_min (y->dtype) + offset,
                    .hi = (gint32) lpt_dtype_max (y->dtype) + offset, .za = lpt_program_zero (op->in[0]),
                    .zb = lpt_program_zero (op->in[1]), .mult = m.m, .shift = m.s, .scale = m.f };

  return TRUE;
}

/* --- the greater, the lesser --- */

typedef guint8 Codes __attribute__ ((vector_size (16)));

/* Codes compare as what they stand for where all three have one step and zero point. */
static gboolean
is_one_step (const LptProgramOp *op)
{
  const LptArray *y = &op->out[0]->array;
  guint k;

  for (k = 0; k < 2; k++)
    {
      const LptArray *x = &op->in[k]->array;

      if (x->dtype != y->dtype || x->quant->n != 1 || y->quant->n != 1 || x->quant->scale[0] != y->quant->scale[0] ||
          x->quant->zero_point[0] != y->quant->zero_point[0])
        return FALSE;
    }

  return y->quant->scale[0] > 0;
}

/* Of a row; out may be one of the operands. */
static void
extreme_row (gboolean      least,
             gsize         n,
             const guint8 *a,
             gsize         step_a,
             const guint8 *b,
             gsize         step_b,
             guint8       *out)
{
  gsize i = 0;

  for (; step_a == 1 && step_b == 1 && i + sizeof (Codes) <= n; i += sizeof (Codes))
    {
      Codes u, v, first;

      memcpy (&u, a + i, sizeof u);
      memcpy (&v, b + i, sizeof v);
      first = (Codes) (least ? u < v : u > v);
      u = (u & first) | (v & ~first);
      memcpy (out + i, &u, sizeof u);
    }
  for (; i < n; i++)
    {
      const guint8 u = a[i * step_a], v = b[i * step_b];

      out[i] = least == (u < v) ? u : v;
    }
}

/* --- all, with operands that repeat --- */

/* A dimension of the result and how far the operands move along it. */
typedef struct
{
  gsize size, a, b;
} Dim;

typedef struct
{
  const LptEltwiseKernel *kernel;
  gboolean product, flip;          /* flip: results are made as i8 */
  gboolean extreme, least;
  LptAdd   add;
  LptMul   mul;
  guint    n;                      /* dimensions, the last one without gaps */
  Dim      dims[LPT_MAX_RANK];
  LptShape out, in[2];
  gsize    count, cols, ldo;       /* elements; of a row; from row to row of the result */
  gsize    rows, per_task;
  gboolean is_short;
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

/* @rows rows that follow each other by @ld, of elements @step apart, 1 or 0, as one without gaps: themselves or @room. */
static const guint8 *
spread (const guint8 *x,
        gsize         rows,
        gsize         cols,
        gsize         ld,
        gsize         step,
        guint8       *room)
{
  gsize r;

  if (step == 1 && ld == cols)
    return x;
  for (r = 0; r < rows; r++, x += ld)
    {
      const guint64 same = G_GUINT64_CONSTANT (0x0101010101010101) * *x;
      gsize k;

      if (step == 1)
        lpt_copy_few (room + r * cols, x, cols);
      else
        for (k = 0; k < cols; k += sizeof same)
          memcpy (room + r * cols + k, &same, sizeof same);
    }

  return room;
}

/* Rows that are shorter than a vector, of which one operand repeats elements or rows: some of them together. */
static void
run_short (const Binary *s,
           gsize         rows,
           const guint8 *a,
           const guint8 *b,
           guint8       *out)
{
  const Dim *last = &s->dims[s->n - 1], *line = last - 1;
  guint8 room[2][SPREAD + sizeof (guint64)];
  gsize r, n;

  for (r = 0; r < rows; r += n)
    {
      const guint8 *x, *y;

      n = MIN (SPREAD / s->cols, rows - r);
      x = spread (a + r * line->a, n, s->cols, line->a, last->a, room[0]);
      y = spread (b + r * line->b, n, s->cols, line->b, last->b, room[1]);
      if (s->product)
        s->kernel->mul (&s->mul, 1, n * s->cols, x, 0, 1, y, 0, 1, out + r * s->cols, 0);
      else
        s->kernel->add (&s->add, 1, n * s->cols, x, 0, 1, y, 0, 1, out + r * s->cols, 0);
    }
}

static void
binary_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Binary *s = op->form.params;
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
      if (s->extreme)
        for (i = 0; i < run; i++)
          extreme_row (s->least, cols, data->in[0] + a + i * (line != NULL ? line->a : 0), last->a,
                       data->in[1] + b + i * (line != NULL ? line->b : 0), last->b, out + i * s->ldo);
      else if (s->is_short)
        run_short (s, run, data->in[0] + a, data->in[1] + b, out);
      else if (s->product)
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

/* Dimensions of the result in the order that it has, merged where operands and result go on evenly; pitches: of values
 * with the channels last, known when the program is. */
static void
set_dims (const LptProgramOp *op)
{
  Binary *s = op->form.params;
  const LptShape *out = &s->out;
  gboolean is_last = op->form.out_layout >= LPT_LAYOUT_CODES_LAST && out->rank > 2;
  gsize step[2] = { 1, 1 };
  gint i, k;

  s->n = LPT_MAX_RANK;
  for (i = 0; i < out->rank; i++)
    {
      /* From the innermost: with the channels last, axis 1 comes first and then the spatial ones. */
      gint axis = !is_last ? out->rank - 1 - i : i == 0 ? 1 : i == out->rank - 1 ? 0 : out->rank - i;
      Dim dim = { (gsize) out->dims[axis], 0, 0 };
      gsize *stride[2] = { &dim.a, &dim.b };
      gboolean gap = is_last && s->n == LPT_MAX_RANK - 1 && op->form.out->pitch > (gsize) out->dims[1];

      for (k = 0; k < 2; k++)
        {
          gint own = axis - (out->rank - s->in[k].rank);

          if (is_last && i == 1 && op->form.in[k].layout == LPT_LAYOUT_CODES_PITCHED)
            step[k] = op->form.in[k].value->pitch;
          if (own >= 0 && s->in[k].dims[own] > 1)
            {
              *stride[k] = step[k];
              step[k] *= (gsize) s->in[k].dims[own];
            }
        }
      if (dim.size == 1)
        continue;
      if (!gap && s->n < LPT_MAX_RANK && dim.a == s->dims[s->n].a * s->dims[s->n].size &&
          dim.b == s->dims[s->n].b * s->dims[s->n].size)
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
binary_bind (LptProgramOp *op)
{
  Binary *s = op->form.params;

  set_dims (op);
  if (!s->product && !s->extreme)
    lpt_add_to_single (&s->add);
  s->cols = s->n > 1 ? s->dims[s->n - 1].size : MIN (CHUNK, s->count);
  s->ldo = op->form.out_layout == LPT_LAYOUT_CODES_PITCHED ? op->form.out->pitch : s->cols;
  s->is_short = s->n > 1 && s->cols < SHORT && s->ldo == s->cols;
  s->rows = (s->count + s->cols - 1) / s->cols;
  s->per_task = MAX (CHUNK / s->cols, 1);
  op->form.tasks = (s->rows + s->per_task - 1) / s->per_task;
}

/* Of operands with more than two dimensions, repeated in some of them, all. */
static LptOpSpan
binary_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const Binary *s = op->form.params;
  const Dim *last = &s->dims[s->n - 1];
  gsize row = task * s->per_task, end = MIN (row + s->per_task, s->rows), step;

  if (s->n == 1)
    return k == op->form.n_in || (k == 0 ? last->a : last->b) != 0
               ? lpt_span (row * s->cols, MIN (end * s->cols, s->count), 1)
               : lpt_span (0, 1, 1);
  if (k == op->form.n_in)
    return lpt_span_columns (row, end, 0, s->cols, s->ldo);
  step = k == 0 ? last[-1].a : last[-1].b;
  if (s->n > 2 || step < s->cols)
    return lpt_span (0, G_MAXSIZE, 1);

  return lpt_span_columns (row, end, 0, s->cols, step);
}

static gboolean
is_operand (const LptProgramValue *value)
{
  return value != NULL && lpt_program_is_codes (value) && lpt_program_count (value) > 0;
}

/* What the op has. */
typedef struct
{
  gboolean        product, extreme;
  LptAdd          add;
  LptMul          mul;
  const LptShape *out, *in[2];
  LptValueLayout  layout;    /* of all three */
} Operands;

static gboolean
match (LptProgramOp *op,
       gboolean      extreme,
       Operands     *f)
{
  guint k;

  *f = (Operands) { .product = op->node->op == LPT_OP_MULTIPLY, .extreme = extreme, .layout = LPT_LAYOUT_CODES };
  if (!is_operand (op->in[0]) || !is_operand (op->in[1]))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[1]));
  if (!is_operand (op->out[0]))
    return lpt_refuse (op, lpt_remark_of_codes (op->out[0], op->out[0]));
  if (!(f->extreme ? is_one_step (op) : f->product ? product_of (op, &f->mul) : lpt_sum_of (op, 0, &f->add)))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  f->out = &op->out[0]->array.shape;
  for (k = 0; k < 2; k++)
    {
      f->in[k] = &op->in[k]->array.shape;
      if (lpt_shape_equal (f->in[k], f->out))
        f->layout = MAX (f->layout, lpt_codes_layout (op->in[k]));
    }
  /* Fewer axes than the result stand for its last ones: only one element is the same with the channels last. */
  for (k = 0; k < 2; k++)
    if (f->in[k]->rank != f->out->rank && lpt_program_count (op->in[k]) > 1)
      f->layout = LPT_LAYOUT_CODES;

  return TRUE;
}

static gboolean
prepare (LptProgram   *program,
         LptProgramOp *op,
         gboolean      extreme)
{
  Operands f;
  Binary *s;

  if (!match (op, extreme, &f))
    return FALSE;
  s = g_new0 (Binary, 1);
  s->kernel = program->kernels.eltwise;
  s->product = f.product;
  s->extreme = f.extreme;
  s->least = op->node->op == LPT_OP_MINIMUM;
  s->flip = f.product && f.mul.lo < 0;
  s->add = f.add;
  s->mul = f.mul;
  s->out = *f.out;
  s->in[0] = *f.in[0];
  s->in[1] = *f.in[1];
  s->count = lpt_program_count (op->out[0]);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = binary_run, .access = binary_access, .bind = binary_bind, .params = s,
    .kernel = f.extreme ? "extreme_u8" : f.product ? "mul_u8" : "add_u8", .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], f.layout, .pitched = TRUE, .overwritten = lpt_shape_equal (f.in[0], f.out) },
                        { op->in[1], f.layout, .pitched = TRUE, .overwritten = lpt_shape_equal (f.in[1], f.out) }),
    .out = op->out[0], .out_layout = f.layout, .out_pitched = TRUE });

  return TRUE;
}

gboolean
lpt_prepare_binary (LptProgram   *program,
                    LptProgramOp *op)
{
  return prepare (program, op, FALSE);
}

gboolean
lpt_prepare_extreme (LptProgram   *program,
                     LptProgramOp *op)
{
  return prepare (program, op, TRUE);
}
