/* lpt-int-softmax.c - Softmax and LogSoftmax on integers, along one axis
 *
 * Softmax
 *   MICRO  (m, s) = Q31 of min (Sx 2^26, 2^31 - 1); d = q - max; below -floor (31 * 2^26 / 2^s) it
 *          counts as nothing; e = exp of the Q5 number srdhm (d << s, m); sum of e >> 12 (rounded);
 *          e times the reciprocal of the sum. With the output 1/256, -128 the result is shifted to
 *          8 bits at once; another output rescales the Q0 probability.
 *   FLOAT  float32: exp (Sx d) / sum / Sy, half to even (or away)
 *   LITERT the same as exp (Sx d) times 1 / (sum Sy), half away: TensorFlow Lite 2.9, whose codes differ from those of
 *          MICRO in one of a hundred thousand
 *   16-bit codes in the modes of TensorFlow Lite: lpt-int-litert.c
 * LogSoftmax
 *   MICRO  a table of exp (Sx d) in 2^-40, their 64-bit sum, its logarithm bit by bit:
 *          y = Zy - (Sx (max - q) + ln sum) / Sy, rounded once
 *   FLOAT, LITERT  the same in float32
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-softmax.h"

#include <math.h>

#include "eval/integer/lpt-int-fixed.h"
#include "eval/integer/lpt-int-litert.h"

#define EXP_BITS 40      /* of LogSoftmax's table: 2^23 elements do not overflow the sum */
#define LOG_BITS 24      /* fraction of logarithms, in units of the output */

typedef struct
{
  LptIntOp      op;
  gint64        axis;
  gboolean      logarithm;
  LptAlgorithm  algorithm;
  LptIntScale   x, y;
  gint32        m;               /* Softmax MICRO: Q31, left shift s */
  gint          s;
  gint32        least;           /* difference below which exp counts as 0 */
  LptMultiplier from_q0;         /* probability in Q0 to the output */
  gint64       *exps;            /* LogSoftmax MICRO: by max - q */
  gint64       *steps;           /* Sx (max - q) / Sy in 2^-LOG_BITS */
  gint64        log2_step;       /* ln (2) / Sy in 2^-LOG_BITS */
  gint32       *fixed, *rounded; /* 8-bit codes, Softmax MICRO: e^(Sx d) by -d, and what of it is summed; */
  gboolean      falls;           /* no exponential is larger than that of a smaller difference */
  float        *floats, *scaled; /* FLOAT: the same, and Sx q by q in u8 form */
  LptIntSoftmax16 *wide;         /* Softmax of 16-bit codes in the modes of TensorFlow Lite */
} Softmax;

static void
softmax_clear (gpointer data)
{
  Softmax *sm = data;

  g_free (sm->exps);
  g_free (sm->steps);
  g_free (sm->wide);
  g_free (sm->fixed);
  g_free (sm->rounded);
  g_free (sm->floats);
  g_free (sm->scaled);
}

/* A row of the axis inside an array. */
typedef struct
{
  const LptIntArray *x, *y;
  gint64             base, step, n;
  gint32             greatest;
} Row;

static gint32
row_at (const Row *row,
        gint64     i)
{
  return lpt_int_at (row->x, row->base + i * row->step);
}

static void
row_put (const Row *row,
         gint64     i,
         gint32     q)
{
  lpt_int_put (row->y, row->base + i * row->step, q);
}

static gint32
exp_of (const Softmax *sm,
        gint32         difference)
{
  return sm->fixed != NULL ? sm->fixed[-difference] : lpt_fixed_exp (lpt_requant_single (difference, sm->m, sm->s), 5);
}

/* What the sum of the exponentials makes of each. */
typedef struct
{
  gboolean to_8_bits;
  gint     over;
  gint32   scale;
} Share;

static Share
share_of (const Softmax *sm,
          gint64         sum)
{
  Share share = { .to_8_bits = sm->y.scale == 1.0 / 256 && sm->y.zero == sm->y.lo && sm->y.hi - sm->y.lo == 255 };
  gint headroom = 0;

  sum = MIN (sum, G_MAXINT32);
  while (headroom < 31 && ((guint32) sum << headroom & 0x80000000u) == 0)
    headroom++;
  share.over = 12 - headroom;
  share.scale = lpt_fixed_reciprocal ((gint32) (((guint32) sum << headroom) - 0x80000000u));

  return share;
}

static gint32
code_of (const Softmax *sm,
         const Share   *share,
         gint32         d)
{
  gint64 q = 0;

  if (d >= sm->least)
    {
      const gint32 p = lpt_requant_srdhm (share->scale, exp_of (sm, d));

      /* Of many equal elements less than half a step is left: a shift by more bits than there are. */
      q = share->to_8_bits ? (share->over > 8 ? 0 : lpt_requant_rdbpot (p, share->over + 31 - 8))
                           : lpt_multiplier_apply (&sm->from_q0, share->over >= 0 ? lpt_requant_rdbpot (p, share->over)
                                                                                  : lpt_fixed_shl (p, -share->over));
    }

  return lpt_int_clamp (q + sm->y.zero, sm->y.lo, sm->y.hi);
}

static void
softmax_micro (const Softmax *sm,
               const Row     *row)
{
  gint64 sum = 0;
  Share share;

  for (gint64 i = 0; i < row->n; i++)
    {
      const gint32 d = row_at (row, i) - row->greatest;

      if (d >= sm->least)
        sum += lpt_requant_rdbpot (exp_of (sm, d), 12);
    }
  share = share_of (sm, sum);
  for (gint64 i = 0; i < row->n; i++)
    row_put (row, i, code_of (sm, &share, row_at (row, i) - row->greatest));
}

/* The same where one shift rounds: exponentials and their shares are not negative, so that halves go up, and no product
 * reaches 2^62. */
gboolean
lpt_int_softmax_shares (const LptIntOp *op,
                        gint64          sum,
                        LptShares      *shares)
{
  const Softmax *sm = (const Softmax *) op;
  const Share share = share_of (sm, sum);
  const gint shift = 31 - sm->from_q0.s;

  if (share.over < 0)
    return FALSE;
  *shares = (LptShares) { .scale = share.scale, .zero = sm->y.zero, .lo = sm->y.lo, .hi = sm->y.hi };
  shares->over = share.to_8_bits ? 0 : share.over;
  shares->mult = share.to_8_bits ? 1 : sm->from_q0.m;
  shares->shift = share.to_8_bits ? share.over + 31 - 8 : shift;

  return share.to_8_bits || (sm->from_q0.rounding == LPT_REQUANT_SINGLE && shift >= 1 && shift <= 62);
}

void
lpt_int_softmax_codes (const LptIntOp *op,
                       gint64          sum,
                       gint            reach,
                       guint8         *codes)
{
  const Softmax *sm = (const Softmax *) op;
  const Share share = share_of (sm, sum);
  gint32 code = 0;
  gint d;

  for (d = 0; d <= reach; d++)
    {
      /* Smaller exponentials give no larger codes. */
      if (d == 0 || !sm->falls || code > MAX (sm->y.zero, sm->y.lo))
        code = code_of (sm, &share, -d);
      codes[d] = (guint8) code;
    }
}

/* e^(Sx d) */
static float
float_exp (const Softmax *sm,
           gint32         difference)
{
  return sm->floats != NULL ? sm->floats[-difference] : expf ((float) difference * (float) sm->x.scale);
}

/* Of the exponentials of a row, from its first element to its last. */
static float
float_sum (const Softmax *sm,
           const Row     *row)
{
  float sum = 0.0f;

  for (gint64 i = 0; i < row->n; i++)
    sum += float_exp (sm, row_at (row, i) - row->greatest);

  return sum;
}

static void
softmax_float (const Softmax *sm,
               const Row     *row)
{
  const float sum = float_sum (sm, row);

  for (gint64 i = 0; i < row->n; i++)
    row_put (row, i, lpt_int_code (float_exp (sm, row_at (row, i) - row->greatest) / sum / (float) sm->y.scale,
                                   &sm->y, sm->algorithm == LPT_ALGO_FLOAT_AWAY));
}

static void
softmax_litert (const Softmax *sm,
                const Row     *row)
{
  const float share = 1.0f / (float_sum (sm, row) * (float) sm->y.scale);

  for (gint64 i = 0; i < row->n; i++)
    row_put (row, i, lpt_int_code (float_exp (sm, row_at (row, i) - row->greatest) * share, &sm->y, TRUE));
}

/* log2 (sum / 2^EXP_BITS) in 2^-30: the integer part, then one bit per squaring. */
static gint64
log2_of (gint64 sum)
{
  gint64 result;
  guint64 x;
  gint e = 0;

  while (sum >> (e + 1) != 0)
    e++;
  result = (gint64) (e - EXP_BITS) << 30;
  x = e > 31 ? (guint64) sum >> (e - 31) : (guint64) sum << (31 - e);   /* in [2^31, 2^32) */

  for (gint bit = 29; bit >= 0; bit--)
    {
      x = (x * x) >> 31;
      if (x >= (guint64) 1 << 32)
        {
          x >>= 1;
          result += (gint64) 1 << bit;
        }
    }

  return result;
}

static void
log_softmax_fixed (const Softmax *sm,
                   const Row     *row)
{
  gint64 sum = 0, log_step;

  for (gint64 i = 0; i < row->n; i++)
    sum += sm->exps[row->greatest - row_at (row, i)];
  /* ln (sum) / Sy: a 30-bit fraction times one of LOG_BITS, the integer parts being small. */
  log_step = (log2_of (sum) >> 6) * (sm->log2_step >> 4) >> (LOG_BITS - 4);

  for (gint64 i = 0; i < row->n; i++)
    {
      const gint64 v = -(sm->steps[row->greatest - row_at (row, i)] + log_step);

      row_put (row, i, lpt_int_clamp (lpt_requant_round_shift (v, LOG_BITS) + sm->y.zero, sm->y.lo, sm->y.hi));
    }
}

static void
log_softmax_float (const Softmax *sm,
                   const Row     *row)
{
  const float scale = (float) sm->x.scale, total = scale * (float) row->greatest + logf (float_sum (sm, row));

  for (gint64 i = 0; i < row->n; i++)
    row_put (row, i, lpt_int_code ((scale * (float) row_at (row, i) - total) / (float) sm->y.scale, &sm->y,
                                   sm->algorithm == LPT_ALGO_FLOAT_AWAY));
}

static void
softmax_wide (const Softmax *sm,
              const Row     *row)
{
  lpt_int_softmax16_row (sm->wide, (const gint16 *) row->x->data + row->base, (gint16 *) row->y->data + row->base,
                         row->n, row->step);
}

void
lpt_int_softmax_rows (const LptIntOp    *op,
                      const LptIntArray *x,
                      const LptIntArray *y,
                      gint64             from,
                      gint64             to)
{
  const Softmax *sm = (const Softmax *) op;
  void (*run) (const Softmax *sm, const Row *row);
  gint64 outer, n, inner, o;
  gint axis;

  if (!lpt_axis_normalize (sm->axis, x->shape.rank, &axis))
    g_return_if_reached ();
  lpt_int_split_axis (&x->shape, axis, &outer, &n, &inner);
  if (sm->logarithm)
    run = sm->algorithm == LPT_ALGO_MICRO ? log_softmax_fixed : log_softmax_float;
  else
    run = sm->wide != NULL ? softmax_wide : sm->algorithm == LPT_ALGO_MICRO ? softmax_micro
          : sm->algorithm == LPT_ALGO_LITERT ? softmax_litert : softmax_float;

  for (o = from; n > 0 && o < to; o++)
    {
      Row row = { x, y, o / inner * n * inner + o % inner, inner, n, G_MININT32 };

      for (gint64 i = 0; i < n; i++)
        row.greatest = MAX (row.greatest, row_at (&row, i));
      run (sm, &row);
    }
}

void
lpt_int_softmax_rule (const LptIntOp    *op,
                      LptIntSoftmaxRule *rule)
{
  const Softmax *sm = (const Softmax *) op;
  const gboolean known = sm->algorithm == LPT_ALGO_FLOAT || sm->algorithm == LPT_ALGO_LITERT;

  *rule = (LptIntSoftmaxRule) { sm->logarithm, sm->axis, sm->algorithm == LPT_ALGO_LITERT && !sm->logarithm,
                                known ? sm->floats : NULL, sm->scaled, sm->fixed, sm->rounded, sm->x, sm->y, sm->wide };
}

static void
softmax_run (const LptIntOp           *op,
             const LptIntArray *const *in,
             guint                     n_in,
             const LptIntArray        *out)
{
  const Softmax *sm = (const Softmax *) op;
  gint64 outer, n, inner;
  gint axis;

  if (!lpt_axis_normalize (sm->axis, in[0]->shape.rank, &axis))
    g_return_if_reached ();
  lpt_int_split_axis (&in[0]->shape, axis, &outer, &n, &inner);
  lpt_int_softmax_rows (op, in[0], out, 0, outer * inner);
}

/* What depends on one 8-bit code. */
static void
prepare_tables (Softmax *sm)
{
  const float scale = (float) sm->x.scale;
  gint32 d;

  if (sm->x.hi - sm->x.lo > 255)
    return;
  if (sm->algorithm == LPT_ALGO_MICRO)
    {
      gint32 *fixed = g_new0 (gint32, 256);

      sm->rounded = g_new0 (gint32, 256);
      sm->falls = TRUE;
      for (d = 0; d < 256 && -d >= sm->least; d++)
        {
          fixed[d] = exp_of (sm, -d);
          sm->rounded[d] = lpt_requant_rdbpot (fixed[d], 12);
          sm->falls = sm->falls && (d == 0 || fixed[d] <= fixed[d - 1]);
        }
      sm->fixed = fixed;
      return;
    }
  sm->floats = g_new (float, 256);
  sm->scaled = g_new (float, 256);
  for (d = 0; d < 256; d++)
    {
      sm->floats[d] = expf ((float) -d * scale);
      sm->scaled[d] = scale * (float) (d + sm->x.lo);
    }
}

static void
prepare_softmax (Softmax              *sm,
                 const LptRequantRule *rule)
{
  LptMultiplier input;

  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, MIN ((float) sm->x.scale * 0x1p26, 2147483647.0),
                       &input);
  sm->m = input.m;
  sm->s = input.s;
  sm->least = -(gint32) MIN (floor (31.0 * ldexp (1.0, 26 - sm->s)), 1e9);
  sm->from_q0 = lpt_requant_rule_multiplier (rule, 0x1p-31, 1.0, sm->y.scale);
}

static void
prepare_log_softmax (Softmax *sm)
{
  const gint64 n = (gint64) sm->x.hi - sm->x.lo + 1;
  const double limit = 0x1p55;

  sm->exps = g_new (gint64, n);
  sm->steps = g_new (gint64, n);
  for (gint64 d = 0; d < n; d++)
    {
      sm->exps[d] = (gint64) round (exp (-sm->x.scale * d) * ldexp (1.0, EXP_BITS));
      sm->steps[d] = (gint64) round (MIN (sm->x.scale * d / sm->y.scale * ldexp (1.0, LOG_BITS), limit));
    }
  sm->log2_step = (gint64) round (MIN (G_LN2 / sm->y.scale * ldexp (1.0, LOG_BITS), 0x1p34));
}

LptIntOp *
lpt_int_softmax_new (LptNode              *node,
                     const LptRequantRule *rule,
                     GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  const gboolean logarithm = node->op == LPT_OP_LOG_SOFTMAX;
  Softmax *sm = g_new0 (Softmax, 1);

  op = &sm->op;
  op->run = softmax_run;
  op->clear = softmax_clear;
  sm->algorithm = rule->algorithm;
  sm->logarithm = logarithm;
  sm->axis = logarithm ? LPT_ATTRS (node, LptLogSoftmaxAttrs)->axis : LPT_ATTRS (node, LptSoftMaxAttrs)->axis;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the input", &sm->x, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &sm->y, error))
    return NULL;
  if ((gint64) sm->x.hi - sm->x.lo > G_MAXUINT16)
    {
      lpt_int_refuse (error, "a 32-bit input of an integer %s", node->info->name);
      return NULL;
    }

  if (logarithm)
    prepare_log_softmax (sm);
  else
    prepare_softmax (sm, rule);
  if (!logarithm || rule->algorithm != LPT_ALGO_MICRO)
    prepare_tables (sm);
  if (!logarithm && lpt_int_is_litert (rule) && lpt_node_in (node, 0)->dtype == LPT_DTYPE_I16 &&
      lpt_node_out (node)->dtype == LPT_DTYPE_I16)
    {
      sm->wide = g_new (LptIntSoftmax16, 1);
      lpt_int_softmax16_init (sm->wide, sm->x.scale);
    }

  return g_steal_pointer (&op);
}
