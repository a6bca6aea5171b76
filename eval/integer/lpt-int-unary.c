/* lpt-int-unary.c - functions of one input as tables over its codes; Relu and Clamp; PRelu
 *
 * Tables are built at preparation. How an entry is computed, by algorithm of the rule:
 *   FLOAT        rint (f (S (q - Z)) / Sy): double when the rule's scales are double, else float32
 *   FLOAT_AWAY   round-away (f (S (q - Z)) * (1 / Sy)) in float32
 *   XNNPACK      the same, ties to even
 *   MICRO        Sigmoid and Tanh in fixed point: a = rescale (q - Z, S 2^27) in Q4; beyond 15 they saturate
 *   LITERT       HSwish in 16 bits (below); in the modes of TensorFlow Lite what lpt-int-litert.c has
 *
 * Relu and Clamp: rescale (q - Z, Sx / Sy) + Zy, then between the codes of the bounds,
 * Zy + round-away (bound / Sy) in float32.
 *
 * PRelu: x = q - Z >= 0: rescale (x, Sx / Sy); else with a quantized slope rescale (x (a - Za), Sx Sa / Sy),
 * with a real one rescale (x, Sx a / Sy), where MICRO takes a negative slope's sign after the rounding.
 * TPU: one slope: 8-bit multiplier of a; many: truncate (a 2^r), r of the largest; x >= 0 stays when Sx = Sy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"
#include "ir/scalar/lpt-loop.h"

#include <math.h>

#include "eval/integer/lpt-int-fixed.h"
#include "eval/integer/lpt-int-function.h"
#include "eval/integer/lpt-int-litert.h"
#include "ir/lpt-clamp.h"

/* --- tables ------------------------------------------------------------------------- */

typedef struct
{
  LptIntOp op;
  gint32   lo;
  gint32  *table;
} Table;

static void
table_clear (gpointer data)
{
  g_free (((Table *) data)->table);
}

static void
table_run (const LptIntOp           *op,
           const LptIntArray *const *in,
           guint                     n_in,
           const LptIntArray        *out)
{
  const Table *t = (const Table *) op;

  for (gint64 i = 0, n = lpt_int_count (&out->shape); i < n; i++)
    lpt_int_put (out, i, t->table[lpt_int_at (in[0], i) - t->lo]);
}

typedef struct
{
  LptIntFunction        f;
  const LptRequantRule *rule;
  LptIntScale           x, y;
} Function;

static gint32
entry_float (const Function *f,
             gint32          q)
{
  const gboolean away = f->rule->algorithm == LPT_ALGO_FLOAT_AWAY;
  const gint32 x = q - f->x.zero;

  if (away || f->rule->algorithm == LPT_ALGO_XNNPACK)
    {
      const float y = lpt_int_function_f32 (&f->f, (float) f->x.scale * (float) x);

      return lpt_int_code (y * (1.0f / (float) f->y.scale), &f->y, away);
    }
  if (f->rule->arith == LPT_SCALE_F64)
    {
      const double y = rint (f->f.func (f->x.scale * x, f->f.parameters) / f->y.scale);

      return isnan (y) ? f->y.lo : lpt_int_clamp ((gint64) CLAMP (y, -1e12, 1e12) + f->y.zero, f->y.lo, f->y.hi);
    }
  const float y = lpt_int_function_f32 (&f->f, (float) f->x.scale * (float) x) / (float) f->y.scale;

  return isnan (y) ? f->y.lo : lpt_int_code (y, &f->y, FALSE);
}

/* Sigmoid and Tanh of tflite-micro; an output other than its fixed one is rescaled. */
static gint32
entry_micro (const Function *f,
             gint32          q)
{
  const gboolean logistic = f->f.op == LPT_OP_SIGMOID;
  const gint zero_shift = logistic ? 23 : 24;
  const gint32 x = q - f->x.zero;
  const gboolean plain = f->y.hi - f->y.lo == 255
                         && (logistic ? f->y.scale == 1.0 / 256 && f->y.zero == f->y.lo
                             : f->y.scale == 1.0 / 128 && f->y.zero == f->y.lo + 128);
  LptMultiplier input;
  gint64 v;
  gint32 q0;

  lpt_multiplier_make (f->rule->form, f->rule->rounding, (float) f->x.scale * 0x1p27, &input);

  const double radius = floor (15.0 * ldexp (1.0, 27 - input.s));

  if (x <= -radius)
    q0 = logistic ? 0 : G_MININT32;
  else if (x >= radius)
    q0 = G_MAXINT32;
  else
    {
      const gint32 a = lpt_multiplier_apply (&input, x);

      q0 = logistic ? lpt_fixed_logistic (a) : lpt_fixed_tanh (a);
    }

  if (plain)
    v = lpt_requant_rdbpot (q0, zero_shift);
  else
    {
      const LptMultiplier output = lpt_requant_rule_multiplier (f->rule, 0x1p-31, 1.0, f->y.scale);

      v = lpt_multiplier_apply (&output, q0);
    }

  return lpt_int_clamp (v + f->y.zero, f->y.lo, f->y.hi);
}

static gint16
saturate16 (gint64 x)
{
  return (gint16) CLAMP (x, G_MININT16, G_MAXINT16);
}

/* Rounding doubling high product of 16-bit numbers, ties toward +inf as in srdhm. */
static gint16
high_product16 (gint16 a,
                gint16 b)
{
  return saturate16 (((gint32) a * b + (1 << 14)) >> 15);
}

static gint16
cut16 (gint32 m)
{
  return m >= 0x7fff0000 ? 0x7fff : (gint16) ((m + (1 << 15)) >> 16);
}

/* x * clamp (x / 6 + 1 / 2): both factors in 16 bits, x with 7 fraction bits. */
static gint32
entry_hswish (const Function *f,
              gint32          q)
{
  const float fine = (float) f->x.scale / 128.0f;
  const float reluish = 3.0f / 32768.0f;
  const gint16 x = saturate16 ((gint64) (q - f->x.zero) * 128);
  LptMultiplier mo, mr;
  gint16 pre, r, product;

  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, fine / (float) f->y.scale, &mo);
  lpt_multiplier_make (LPT_MULTIPLIER_Q31, LPT_REQUANT_DOUBLE, fine / reluish, &mr);

  pre = high_product16 (x, cut16 (mo.m));
  r = x;
  if (mr.s > 0)
    r = saturate16 ((gint64) r * ((gint64) 1 << MIN (mr.s - 1, 31)));
  r = high_product16 (r, cut16 (mr.m));
  if (mr.s > 0)
    r = saturate16 ((gint64) r * 2);
  if (mr.s < 0)
    r = (gint16) lpt_requant_rdbpot (r, MIN (-mr.s, 31));
  r = (gint16) ((r + 32768) >> 1);
  product = saturate16 ((gint32) r * pre / (1 << 15));

  return lpt_int_clamp ((gint64) (mo.s > 0 ? lpt_fixed_shl (product, MIN (mo.s, 31))
                                           : lpt_requant_rdbpot (product, MIN (-mo.s, 31))) +
                            f->y.zero,
                        f->y.lo, f->y.hi);
}

static gint32 entry_absolute (const Function *f, gint32 q)     { return lpt_int_litert_absolute (&f->x, &f->y, q); }
static gint32 entry_inverse_root (const Function *f, gint32 q) { return lpt_int_litert_inverse_root (&f->x, &f->y, q); }
static gint32 entry_sigmoid16 (const Function *f, gint32 q)    { return lpt_int_litert_sigmoid (&f->x, &f->y, q); }
static gint32 entry_tanh16 (const Function *f, gint32 q)       { return lpt_int_litert_tanh (&f->x, &f->y, q); }

static gboolean
is_litert (const Function *f)
{
  return lpt_int_is_litert (f->rule);
}

static gboolean
is_litert16 (const Function *f)
{
  return lpt_int_is_litert (f->rule) && f->x.hi - f->x.lo > 255 && f->y.hi - f->y.lo > 255;
}

static gboolean
is_litert8 (const Function *f)
{
  return f->rule->algorithm == LPT_ALGO_LITERT && f->x.hi - f->x.lo == 255;
}

static gboolean
is_micro (const Function *f)
{
  return f->rule->algorithm == LPT_ALGO_MICRO;
}

typedef gint32 (*Entry) (const Function *f, gint32 q);

static Entry
find_entry (const Function *f)
{
  static const struct { LptOp op; gboolean (*when) (const Function *f); Entry entry; } rows[] =
  {
#define LPT_INT_UNARY(op, when, entry) { LPT_OP_##op, is_##when, entry_##entry },
#include "eval/integer/lpt-int-unary.def"
#undef LPT_INT_UNARY
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].op == f->f.op && rows[i].when (f))
      return rows[i].entry;

  return entry_float;
}

LptIntOp *
lpt_int_unary_new (LptNode              *node,
                   const LptRequantRule *rule,
                   GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  Function f = { .rule = rule };
  Table *t = g_new0 (Table, 1);
  Entry entry;

  op = &t->op;
  op->run = table_run;
  op->clear = table_clear;

  if (!lpt_int_function_of (node, &f.f))
    {
      lpt_int_refuse (error, "%s is not a function of one input", node->info->name);
      return NULL;
    }
  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the input", &f.x, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &f.y, error))
    return NULL;
  if (!lpt_int_is_code (lpt_node_in (node, 0)->dtype))
    {
      lpt_int_refuse (error, "a table over 32-bit integers");
      return NULL;
    }

  t->lo = f.x.lo;
  t->table = g_new (gint32, f.x.hi - f.x.lo + 1);
  entry = find_entry (&f);
  for (gint32 q = f.x.lo; q <= f.x.hi; q++)
    t->table[q - f.x.lo] = entry (&f, q);

  return g_steal_pointer (&op);
}

/* --- Relu, Clamp ----------------------------------------------------------------------- */

LptIntOp *
lpt_int_clamp_new (LptNode              *node,
                   const LptRequantRule *rule,
                   GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  const gboolean relu = node->op == LPT_OP_RELU;
  double low = 0.0, high = INFINITY;
  LptIntScale x, y;
  LptIntRescale rescale;
  Table *t = g_new0 (Table, 1);
  gint32 lo, hi;

  op = &t->op;
  op->run = table_run;
  op->clear = table_clear;

  if (!relu)
    lpt_clamp_bounds (node, &low, &high);
  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the input", &x, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &y, error))
    return NULL;
  if (!lpt_int_is_code (lpt_node_in (node, 0)->dtype))
    {
      lpt_int_refuse (error, "an integer %s of 32-bit data", node->info->name);
      return NULL;
    }

  lpt_int_rescale_init (&rescale, rule, &x, &y);
  lo = lpt_int_code ((float) low / (float) y.scale, &y, rule->algorithm != LPT_ALGO_FLOAT);
  hi = lpt_int_code ((float) high / (float) y.scale, &y, rule->algorithm != LPT_ALGO_FLOAT);

  t->lo = x.lo;
  t->table = g_new (gint32, x.hi - x.lo + 1);
  for (gint32 q = x.lo; q <= x.hi; q++)
    {
      const gint32 v = lpt_int_rescale (&rescale, q);

      t->table[q - x.lo] = MIN (MAX (v, lo), hi);
    }

  return g_steal_pointer (&op);
}

/* --- PRelu ------------------------------------------------------------------------------- */

typedef struct
{
  LptIntOp       op;
  gboolean       quantized;     /* the slope is an input of codes */
  gboolean       float32;
  gboolean       away;
  LptIntScale    x, y, slope;
  LptMultiplier  positive;
  gboolean       keep;          /* x >= 0 only moves to the other zero point */
  LptMultiplier  negative;      /* quantized slope */
  LptMultiplier *slopes;        /* real slopes, by index of the slope */
  float         *reals;
  gint          *signs;
} PRelu;

static void
prelu_clear (gpointer data)
{
  PRelu *p = data;

  g_free (p->slopes);
  g_free (p->reals);
  g_free (p->signs);
}

static gint32
prelu_one (const PRelu       *p,
           const LptIntArray *slope,
           gint64             at,
           gint32             q)
{
  const gint64 x = (gint64) q - p->x.zero;
  gint64 v;

  if (p->float32)
    {
      const float real = (float) x * (float) p->x.scale;
      const float a = !p->quantized ? p->reals[at]
                                    : (float) (lpt_int_at (slope, at) - p->slope.zero) * (float) p->slope.scale;

      return lpt_int_code ((real >= 0.0f ? real : real * a) / (float) p->y.scale, &p->y, p->away);
    }

  if (x >= 0)
    v = p->keep ? x : lpt_multiplier_apply (&p->positive, lpt_requant_sat32 (x));
  else if (p->quantized)
    v = lpt_multiplier_apply (&p->negative, lpt_requant_sat32 (x * (lpt_int_at (slope, at) - p->slope.zero)));
  else
    v = (gint64) p->signs[at] * lpt_multiplier_apply (&p->slopes[at], lpt_requant_sat32 (x));

  return lpt_int_clamp (v + p->y.zero, p->y.lo, p->y.hi);
}

static void
prelu_run (const LptIntOp           *op,
           const LptIntArray *const *in,
           guint                     n_in,
           const LptIntArray        *out)
{
  const LptIntArray *x = in[0], *slope = in[1];
  LptShape shape = slope->shape;
  LptWalk walk;

  /* A list of slopes runs along the channels. */
  if (shape.rank == 1 && shape.dims[0] > 1 && x->shape.rank > 1 && x->shape.dims[1] == shape.dims[0])
    {
      shape.rank = x->shape.rank - 1;
      for (gint i = 1; i < shape.rank; i++)
        shape.dims[i] = 1;
    }

  lpt_walk_broadcast (&walk, &out->shape, 1, (const LptShape *const[]) { &shape });
  for (gint64 i = 0, n = lpt_int_count (&out->shape); i < n; i++, lpt_walk_next (&walk))
    lpt_int_put (out, i, prelu_one ((const PRelu *) op, slope, walk.at[0], lpt_int_at (x, i)));
}

static void
prepare_slopes (PRelu                *p,
                LptTensor            *slopes,
                const LptRequantRule *rule)
{
  const gint64 n = lpt_tensor_count (slopes);
  const gboolean tpu = rule->algorithm == LPT_ALGO_TPU;
  LptMultiplier shared = { 0 };
  double largest = 0.0;

  p->slopes = g_new (LptMultiplier, MAX (n, 1));
  p->reals = g_new (float, MAX (n, 1));
  p->signs = g_new (gint, MAX (n, 1));
  for (gint64 i = 0; i < n; i++)
    largest = MAX (largest, fabs (lpt_tensor_get_f64 (slopes, i)));
  lpt_multiplier_make (LPT_MULTIPLIER_CV18XX, LPT_REQUANT_SINGLE, (float) (largest * p->x.scale / p->y.scale), &shared);

  for (gint64 i = 0; i < n; i++)
    {
      const double a = lpt_tensor_get_f64 (slopes, i);

      p->reals[i] = (float) a;
      p->signs[i] = rule->algorithm == LPT_ALGO_MICRO && a < 0.0 ? -1 : 1;
      p->slopes[i] = lpt_requant_rule_multiplier (rule, p->x.scale, p->signs[i] * a, p->y.scale);
      if (tpu && n > 1)
        {
          p->slopes[i] = shared;
          p->slopes[i].m = (gint32) CLAMP (ldexp ((float) (a * p->x.scale / p->y.scale), 31 - shared.s), -1e9, 1e9);
        }
    }
}

LptIntOp *
lpt_int_prelu_new (LptNode              *node,
                   const LptRequantRule *rule,
                   GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  PRelu *p = g_new0 (PRelu, 1);

  op = &p->op;
  op->run = prelu_run;
  op->clear = prelu_clear;
  p->quantized = lpt_node_in (node, 1)->quant != NULL;
  p->away = rule->algorithm == LPT_ALGO_FLOAT_AWAY;
  p->float32 = p->away || rule->algorithm == LPT_ALGO_FLOAT;

  if (!lpt_int_scale_of (lpt_node_in (node, 0), "the input", &p->x, error)
      || !lpt_int_scale_of (lpt_node_out (node), "the output", &p->y, error)
      || (p->quantized && !lpt_int_scale_of (lpt_node_in (node, 1), "the slope", &p->slope, error)))
    return NULL;
  if (!p->quantized && lpt_node_const_in (node, 1) == NULL)
    {
      lpt_int_refuse (error, "a real slope that is not constant");
      return NULL;
    }

  p->positive = lpt_requant_rule_multiplier (rule, p->x.scale, 1.0, p->y.scale);
  p->keep = rule->algorithm == LPT_ALGO_TPU && p->x.scale == p->y.scale;
  if (p->quantized)
    p->negative = lpt_requant_rule_multiplier (rule, p->x.scale, p->slope.scale, p->y.scale);
  else
    prepare_slopes (p, lpt_node_const_in (node, 1), rule);

  return g_steal_pointer (&op);
}
