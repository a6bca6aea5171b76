/* lpt-int-litert.c - TensorFlow Lite's own integer functions: Sigmoid, Tanh, Softmax of 16 bits, Abs, Rsqrt,
 * SquaredDifference
 *
 *   Sigmoid, Tanh   a table of the sigmoid in 24ths from 0 to 10.6 in 2^-16, interpolated; at the scale 2^-12, Tanh
 *                   at 2^-11 as well, in 16-bit fixed point
 *   Softmax         tables of e^x and 1 / (1 + x) of 513 numbers in 2^-15, interpolated
 *   Abs             rescale (|q - Z|, Sx / Sy) + Zy; with equal scales |q - Z| + Zy
 *   SquaredDifference   T = 2 max (S1, S2); a = rescale (x1 << 7, S1 / T), b likewise; rescale ((a - b)^2, T^2 / (2^14 Sy)) + Zy
 *   Rsqrt           1 / sqrt (q - Z) as a multiplier, in 2^-20, times 1 / (sqrt (Sx) Sy); 0 gives the greatest code
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-litert.h"
#include "eval/integer/lpt-int-pairs.h"
#include "executor/kernels/lstm/fixed16.h"

#include <math.h>

#define SIGMOID_STEPS 256
#define LUT_STEPS     513

/* --- sigmoid in 16 bits -------------------------------------------------------- */

/* The sigmoid of i / 24 in 2^-16, found by what TensorFlow Lite 2.9 makes of all 16-bit codes: within 1.5 of the
 * function. */
static const guint16 sigmoid_table[SIGMOID_STEPS] = {
  32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794, 41432,
  42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475,
  49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485,
  55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544, 58800, 59048, 59288, 59519,
  59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279, 61441, 61599, 61750, 61896, 62036,
  62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990, 63090, 63186, 63279, 63368, 63454, 63536,
  63615, 63691, 63765, 63835, 63903, 63968, 64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405,
  64450, 64494, 64536, 64576, 64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900,
  64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179,
  65194, 65208, 65221, 65234, 65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337,
  65345, 65352, 65360, 65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425,
  65429, 65433, 65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474,
  65476, 65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
  65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516, 65517,
  65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524, 65525, 65525,
  65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529, 65529, 65530, 65530,
  65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533,
  65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534,
  65534, 65534, 65534, 65535
};

/* @q in steps of 1 / (3 * 4096). */
static gint32
third_steps (const LptIntScale *x, gint32 q)
{
  gint shift = 0;
  double multiplier = (double) (float) x->scale * 4096.0 * 3.0;
  while (multiplier <= 32767.0 / 2.0 && shift <= 30)
    {
      shift++;
      multiplier *= 2.0;
    }
  gint64 round = shift > 0 ? (gint64) 1 << (shift - 1) : 0;
  return (gint32) (((gint64) q * (gint32) multiplier + round) >> shift);
}

gint32
lpt_int_litert_sigmoid16 (gint32 v)
{
  gint64 a = v < 0 ? -(gint64) v : v, high = a >> 9, result;
  if (high >= SIGMOID_STEPS - 1)
    result = (gint64) 0x7fff << 10;
  else
    {
      gint64 ua = sigmoid_table[high], ub = sigmoid_table[high + 1];
      result = (ua << 9) + (a & 0x1ff) * (ub - ua);
    }
  result = v >= 0 ? result + (1 << 9) : (1 << 25) - result + (1 << 9) - 1;
  return (gint32) (result >> 10);
}

gint32
lpt_int_litert_tanh16 (gint32 v)
{
  gint64 a = v < 0 ? -(gint64) v : v, high = a >> 8, result;
  if (high >= SIGMOID_STEPS - 1)
    result = (gint64) 0xffff << 8;
  else
    {
      gint64 ua = sigmoid_table[high], ub = sigmoid_table[high + 1];
      result = (ua << 8) + (a & 0xff) * (ub - ua);
    }
  result = v >= 0 ? result - (1 << 23) + (1 << 7) : -result + (1 << 23) + (1 << 7) - 1;
  return (gint32) (result >> 8);
}

/* --- Abs, Rsqrt ------------------------------------------------------------------ */

gint32
lpt_int_litert_absolute (const LptIntScale *x, const LptIntScale *y, gint32 q)
{
  gint32 v = ABS (q - x->zero);
  LptMultiplier m;
  if ((float) x->scale != (float) y->scale)
    {
      lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, (double) ((float) x->scale / (float) y->scale), &m);
      v = lpt_multiplier_apply (&m, v);
    }
  return lpt_int_clamp ((gint64) v + y->zero, y->lo, y->hi);
}

gint32
lpt_int_litert_inverse_root (const LptIntScale *x, const LptIntScale *y, gint32 q)
{
  LptMultiplier inverse = { .rounding = LPT_REQUANT_DOUBLE }, scale;
  gint32 v = q - x->zero;
  gint shift;
  if (v <= 0)
    return y->hi;
  lpt_int_inverse_root (v, &inverse.m, &shift);
  inverse.s = shift + 20;
  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
                       1.0 / (double) (sqrtf ((float) x->scale) * (float) y->scale), &scale);
  scale.s -= 20;
  return lpt_int_clamp ((gint64) lpt_multiplier_apply (&scale, lpt_multiplier_apply (&inverse, 1)) + y->zero, y->lo,
                        y->hi);
}

gint32
lpt_int_litert_sigmoid (const LptIntScale *x, const LptIntScale *y, gint32 q)
{
  gint32 v = x->scale == 0x1p-12 ? lpt_fixed16_logistic ((gint16) q, 3) : lpt_int_litert_sigmoid16 (third_steps (x, q));
  return lpt_int_clamp (v, y->lo, y->hi);
}

gint32
lpt_int_litert_tanh (const LptIntScale *x, const LptIntScale *y, gint32 q)
{
  gint32 v = x->scale == 0x1p-12   ? lpt_fixed16_tanh ((gint16) q, 3)
             : x->scale == 0x1p-11 ? lpt_fixed16_tanh (lpt_fixed16_shl ((gint16) q, 1), 3)
                                   : lpt_int_litert_tanh16 (third_steps (x, q));
  return lpt_int_clamp (v, y->lo, y->hi);
}

/* --- Softmax ----------------------------------------------------------------------- */

static double exp_of (double x) { return exp (x); }
static double inverse_of (double x) { return 1.0 / (1.0 + x); }

/* Numbers that a line between two of them errs least from. */
static void
make_lut (double (*f) (double), double min, double max, gint16 *table)
{
  double step = (max - min) / (LUT_STEPS - 1);
  for (gint i = 0; i < LUT_STEPS - 1; i++)
    {
      double sample = round (f (min + i * step) * 32768.0);
      double line = round ((f (min + (i + 1) * step) * 32768.0 + sample) / 2.0);
      double middle = round (f (min + i * step + step / 2.0) * 32768.0);
      table[i] = (gint16) CLAMP (sample - round ((line - middle) / 2.0), -32768.0, 32767.0);
    }
  table[LUT_STEPS - 1] = (gint16) CLAMP (round (f (max) * 32768.0), -32768.0, 32767.0);
}

static gint16
look_up (const gint16 *table, gint32 value)
{
  gint32 v = CLAMP (value, -32768, 32767), i = 256 + (v >> 7);
  return (gint16) (table[i] + (((table[i + 1] - table[i]) * (v & 0x7f) + 64) >> 7));
}

void
lpt_int_softmax16_init (LptIntSoftmax16 *sm, double scale)
{
  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, (double) (float) scale / (10.0 / 65535.0), &sm->scale);
  make_lut (exp_of, -10.0, 0.0, sm->exps);
  make_lut (inverse_of, 0.0, 1.0, sm->inverses);
}

void
lpt_int_softmax16_row (const LptIntSoftmax16 *sm, const gint16 *x, gint16 *y, gint64 n, gint64 step)
{
  gint32 max = G_MININT16;
  gint64 sum = 0;
  for (gint64 i = 0; i < n; i++)
    max = MAX (max, x[i * step]);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 scaled = (gint64) lpt_multiplier_apply (&sm->scale, x[i * step] - max) + 32767;
      y[i * step] = look_up (sm->exps, (gint32) CLAMP (scaled, -32768, 32767));
      sum += y[i * step];
    }
  sum = CLAMP (sum, 1, G_MAXINT32);
  gint headroom = __builtin_clz ((guint32) sum), right = 31 - headroom;
  gint32 shifted = (gint32) (((sum << (headroom > 0 ? headroom - 1 : 0)) + (1 << 13)) >> 14);
  gint64 inverse = look_up (sm->inverses, shifted - ((1 << 15) + (1 << 16))),
         round = right > 0 ? (gint64) 1 << (right - 1) : 0;
  for (gint64 i = 0; i < n; i++)
    y[i * step] = (gint16) CLAMP ((y[i * step] * inverse + round) >> right, 0, 32767);
}

/* --- SquaredDifference --------------------------------------------------------------- */

#define DIFFERENCE_SHIFT 7

typedef struct
{
  LptIntOp      op;
  LptIntScale   a, b, y;
  LptMultiplier m1, m2, my;
} Squares;

static void
squares_row (const LptIntOp *op, const LptIntRow *row)
{
  const Squares *s = (const Squares *) op;

  for (gint64 i = 0; i < row->n; i++)
    {
      gint64 u = lpt_multiplier_apply (&s->m1, (row->a[i * row->step_a] - s->a.zero) * (1 << DIFFERENCE_SHIFT));
      gint64 v = lpt_multiplier_apply (&s->m2, (row->b[i * row->step_b] - s->b.zero) * (1 << DIFFERENCE_SHIFT));
      gint32 square = lpt_requant_sat32 ((u - v) * (u - v));

      row->y[i] = lpt_int_clamp ((gint64) lpt_multiplier_apply (&s->my, square) + s->y.zero, s->y.lo, s->y.hi);
    }
}

LptIntOp *
lpt_int_squared_difference_new (LptNode *node, const LptRequantRule *rule, GError **error)
{
  Squares *s = g_new0 (Squares, 1);
  g_autoptr (LptIntOp) op = &s->op;
  op->run = lpt_int_pairs_run;
  op->row = squares_row;
  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the first input", &s->a, error) ||
      !lpt_int_scale_of (lpt_node_in (node, 1), "the second input", &s->b, error) ||
      !lpt_int_scale_of (lpt_node_out (node), "the output", &s->y, error))
    return NULL;
  if (!lpt_int_is_litert (rule) || s->a.hi - s->a.lo != 255 || s->b.hi - s->b.lo != 255)
    {
      lpt_int_refuse (error, "SquaredDifference of these codes in this mode");
      return NULL;
    }
  double twice = 2.0 * MAX ((float) s->a.scale, (float) s->b.scale);
  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, (float) s->a.scale / twice, &s->m1);
  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, (float) s->b.scale / twice, &s->m2);
  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE,
                       twice * twice / ((double) (1 << (2 * DIFFERENCE_SHIFT)) * (float) s->y.scale), &s->my);
  return g_steal_pointer (&op);
}
