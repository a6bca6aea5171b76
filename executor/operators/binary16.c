/* binary16.c - sums, products and extremes of two values of which one has 16-bit codes
 *
 * Piece by piece: both operands become numbers in the workspace, which the kernels' steps make into one, by the rule
 * that the op's integer form has. Operands repeat as shapes say. Exact.
 *
 * Not: scales for each channel and constants without one (affine.c); sums of TPU-MLIR.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/integer/lpt-int-elementwise.h"
#include "executor/operators/codes16.h"
#include "executor/operators/words.h"

#define PIECE LPT_CODES16_BLOCK

typedef enum { SUM, PRODUCT, EXTREME } Kind;

typedef struct
{
  const LptCodes16Kernel *kernel;
  Kind       kind;
  LptCodes16 in[2], out;
  LptSum16   sum;
  LptScale16 scales[2];              /* of operands of extremes; the first one of products */
  LptTake16  take;
  LptLoop    loop;
  gsize      pieces, units, per_task;
} Binary;

/* @n numbers of operand @k from element @at on. */
static void
read_numbers (const Binary *b,
              const guint8 *data,
              guint         k,
              gint64        at,
              gsize         n,
              gint32       *x)
{
  const gsize bytes = b->in[k].type < LPT_CODES16_I16 ? 1 : 2;
  gsize i;

  b->kernel->load (&b->in[k], b->loop.step[k] == 0 ? 1 : n, data + (gsize) at * bytes, x);
  for (i = 1; i < n && b->loop.step[k] == 0; i++)
    x[i] = x[0];
}

static void
make_numbers (const Binary *b,
              gsize         n,
              gint32       *x,
              gint32       *y)
{
  switch (b->kind)
    {
    case SUM:
      b->kernel->sum (&b->sum, n, x, y);
      break;
    case PRODUCT:
      b->kernel->multiply (n, x, y);
      b->kernel->rescale (&b->scales[0], n, x);
      break;
    default:
      if (b->scales[0].form != LPT_SCALE16_SAME)
        b->kernel->rescale (&b->scales[0], n, x);
      if (b->scales[1].form != LPT_SCALE16_SAME)
        b->kernel->rescale (&b->scales[1], n, y);
      b->kernel->take (b->take, n, x, y);
      break;
    }
}

static void
binary_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Binary *b = op->form.params;
  const gsize bytes = b->out.type < LPT_CODES16_I16 ? 1 : 2;
  gint32 *x = (gint32 *) (gpointer) data->workspace, *y = x + PIECE;
  gsize unit = task * b->per_task, last = MIN (end * b->per_task, b->units);

  for (; unit < last; unit++)
    {
      const gint64 first = (gint64) (unit % b->pieces) * PIECE;
      const gsize n = (gsize) MIN (b->loop.inner - first, PIECE);
      gint64 at[3];

      lpt_loop_at (&b->loop, (gint64) (unit / b->pieces), first, at);
      read_numbers (b, data->in[0], 0, at[0], n, x);
      read_numbers (b, data->in[1], 1, at[1], n, y);
      make_numbers (b, n, x, y);
      b->kernel->store (&b->out, n, x, data->out + (gsize) at[2] * bytes);
    }
}

/* --- rules --- */

/* TensorFlow Lite's: operands are shifted and rescaled, which may not leave 32 bits. */
static gboolean
stepped_sum (const LptIntSum *sum,
             Binary          *b)
{
  const gint64 limit = (gint64) G_MAXINT32 >> sum->left_shift;
  guint k;

  b->sum.form = LPT_SUM16_STEPPED;
  b->sum.left = sum->left_shift;
  b->sum.sign = sum->sign;
  for (k = 0; k < 2; k++)
    if (MAX (b->in[k].hi - b->in[k].zero, b->in[k].zero - b->in[k].lo) > limit || sum->m[k].s > 0)
      return FALSE;

  return lpt_rescale_make (&sum->m[0], &b->sum.r1) && lpt_rescale_make (&sum->m[1], &b->sum.r2) &&
         lpt_rescale_make (&sum->m[2], &b->sum.r);
}

static gboolean
sum_rule (const LptProgramOp *op,
          Binary             *b)
{
  const LptIntSum *sum = (const LptIntSum *) op->integer;
  const LptSum64 *s = &sum->sum;

  b->sum = (LptSum16) { .low = b->out.lo - b->out.zero, .high = b->out.hi - b->out.zero, .m1 = s->m[0], .m2 = s->m[1],
                        .bias = s->bias, .shift = s->shift, .s1 = sum->s1, .s2 = sum->s2, .to = sum->sy };
  if (sum->algorithm == LPT_ALGO_LITERT)
    return stepped_sum (sum, b);
  if (sum->algorithm == LPT_ALGO_SUM64 || sum->algorithm == LPT_ALGO_XNNPACK)
    {
      b->sum.form = LPT_SUM16_SINGLE;
      if (sum->algorithm == LPT_ALGO_SUM64)
        b->in[0].zero = b->in[1].zero = 0;       /* the bias has them */
      if (s->shift < 1 || ABS (s->bias) > (G_GINT64_CONSTANT (1) << 61))
        return FALSE;
      b->sum.bias += G_GINT64_CONSTANT (1) << (s->shift - 1);
      return TRUE;
    }
  b->sum.form = sum->algorithm == LPT_ALGO_FLOAT_AWAY ? LPT_SUM16_REALS_AWAY : LPT_SUM16_REALS;

  return sum->algorithm == LPT_ALGO_FLOAT || sum->algorithm == LPT_ALGO_FLOAT_AWAY;
}

static gboolean
product_rule (const LptProgramOp *op,
              Binary             *b)
{
  const LptIntProduct *p = (const LptIntProduct *) op->integer;

  if (!lpt_scale16_make (&p->m, &b->out, &b->scales[0]))
    return FALSE;
  if (p->zero_in_float)
    {
      b->scales[0].form = LPT_SCALE16_FLOAT_ZERO;
      b->scales[0].zero = (float) p->y.zero;
      b->scales[0].low = b->out.lo;
      b->scales[0].high = b->out.hi;
      b->out.zero = 0;
    }

  return TRUE;
}

static gboolean
extreme_rule (const LptProgramOp *op,
              Binary             *b)
{
  const LptIntExtreme *e = (const LptIntExtreme *) op->integer;

  b->take = e->minimum ? LPT_TAKE16_LEAST : LPT_TAKE16_MOST;

  return lpt_scale16_of (&e->a, &b->out, &b->scales[0]) && lpt_scale16_of (&e->b, &b->out, &b->scales[1]);
}

/* --- preparing --- */

static gboolean
prepare (LptProgram   *program,
         LptProgramOp *op,
         Kind          kind,
         gboolean    (*rule) (const LptProgramOp *op, Binary *b))
{
  Binary b = { .kernel = program->kernels.codes16, .kind = kind };

  if (!lpt_codes16_takes (op->in[0], op->in[1]) && !lpt_codes16_takes (op->out[0], NULL))
    return FALSE;
  if (!lpt_codes16_of (op->in[0], &b.in[0]) || !lpt_codes16_of (op->in[1], &b.in[1]))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[1]));
  if (!lpt_codes16_of (op->out[0], &b.out))
    return lpt_refuse (op, lpt_remark_of_codes (op->out[0], op->out[0]));
  if (!lpt_operands_loop (op, 2, &b.loop))
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (!rule (op, &b))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  b.pieces = ((gsize) b.loop.inner + PIECE - 1) / PIECE;
  b.units = lpt_program_count (op->out[0]) / (gsize) b.loop.inner * b.pieces;
  b.per_task = MAX (LPT_CODES16_TASK / MIN ((gsize) b.loop.inner, PIECE), 1);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = binary_run, .params = g_memdup2 (&b, sizeof b), .kernel = b.kernel->name,
    .tasks = (b.units + b.per_task - 1) / b.per_task, .workspace = 2 * PIECE * sizeof (gint32), .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED }, { op->in[1], LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}

gboolean
lpt_prepare_sum16 (LptProgram   *program,
                   LptProgramOp *op)
{
  return !lpt_int_is_affine (op->node) && prepare (program, op, SUM, sum_rule);
}

gboolean
lpt_prepare_product16 (LptProgram   *program,
                       LptProgramOp *op)
{
  return !lpt_int_is_affine (op->node) && prepare (program, op, PRODUCT, product_rule);
}

gboolean
lpt_prepare_extreme16 (LptProgram   *program,
                       LptProgramOp *op)
{
  return prepare (program, op, EXTREME, extreme_rule);
}
