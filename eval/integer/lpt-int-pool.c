/* lpt-int-pool.c - AvgPool and MaxPool on integers
 *
 * Over the n elements of a window (n counts padding, which holds Zx, unless exclude-pad):
 *   RESCALE   rescale (sum (x - Zx), Sx / (Sy n)) + Zy, one multiplier for each n
 *   LITERT    plain sum of the codes over the valid part, divided with ties away from
 *             zero; with other parameters of the output as RESCALE
 *   FLOAT     float32: sum of the dequantized elements in row-major order, / n, / Sy, half to even (or away), + Zy
 *   TPU       no zero points: RESCALE with an 8-bit multiplier; else
 *             Scale sum (x) + Offset in float32, Scale = Sx / (Sy n), Offset = Zy - Sx / Sy Zx
 *
 * MaxPool compares codes, then rescales when the output has other parameters. Several scales are taken where both have
 * them per image or channel: no window joins codes of different ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"
#include "eval/lpt-window.h"

#include <math.h>

#define MAX_SPATIAL (LPT_MAX_RANK - 2)
#define MAX_WINDOW  (G_MAXINT32 / 256)

typedef struct
{
  LptIntOp       op;
  gboolean       maximum;
  gboolean       exclude_pad;
  LptAlgorithm   algorithm;
  LptAutoPad     auto_pad;
  gint64         kernel[MAX_SPATIAL];
  gint64         strides[MAX_SPATIAL];
  gint64         dilations[MAX_SPATIAL];
  gint64         pads_begin[MAX_SPATIAL];
  gint64         pads_end[MAX_SPATIAL];
  LptIntScale    x, y;
  LptIntRescale  rescale;          /* MaxPool */
  gint64         size;             /* elements of a whole window */
  LptMultiplier *multipliers;      /* [n - 1], n = 1..size */
} Pool;

static void
pool_clear (gpointer data)
{
  g_free (((Pool *) data)->multipliers);
}

/* Sum or maximum of the valid elements of a window. */
typedef struct
{
  gint64 sum;
  float  real;       /* sum of the dequantized elements, in row-major order */
  gint32 greatest;
  gint64 valid;      /* elements inside the input */
  gint64 padded;     /* elements inside the input and its padding */
} Window;

static gint32
average (const Pool   *pool,
         const Window *w)
{
  const LptIntScale *x = &pool->x, *y = &pool->y;
  const gint64 n = MAX (pool->exclude_pad ? w->valid : w->padded, 1);
  const gint64 acc = w->sum - w->valid * x->zero;      /* padding holds Zx */
  const gboolean asymmetric = x->zero != 0 || y->zero != 0;
  float v;

  switch (pool->algorithm)
    {
    case LPT_ALGO_LITERT:
      if (lpt_int_same (x, y))
        {
          const gint64 sum = pool->exclude_pad ? w->sum : w->sum + (n - w->valid) * x->zero;

          return lpt_int_clamp ((sum > 0 ? sum + n / 2 : sum - n / 2) / n, y->lo, y->hi);
        }
      break;

    case LPT_ALGO_TPU:
      if (asymmetric)
        {
          const float scale = (float) (x->scale / (y->scale * n));
          const float offset = (float) (y->zero - x->scale / y->scale * x->zero);

          v = (float) (w->sum + (n - w->valid) * x->zero) * scale + offset;
          return (gint32) roundf (CLAMP (v, (float) y->lo, (float) y->hi));
        }
      break;

    case LPT_ALGO_FLOAT:
    case LPT_ALGO_FLOAT_AWAY:
      v = w->real / (float) n / (float) y->scale;
      return lpt_int_code (v, y, pool->algorithm == LPT_ALGO_FLOAT_AWAY);

    default:
      break;
    }

  return lpt_int_clamp ((gint64) lpt_multiplier_apply (&pool->multipliers[n - 1],
                                                       lpt_int_clamp (acc, G_MININT32, G_MAXINT32)) +
                            y->zero,
                        y->lo, y->hi);
}

/* The result is a rescaling of the sum. */
static gboolean
only_rescales (const Pool *pool)
{
  switch (pool->algorithm)
    {
    case LPT_ALGO_LITERT:
      return !lpt_int_same (&pool->x, &pool->y);
    case LPT_ALGO_TPU:
      return pool->x.zero == 0 && pool->y.zero == 0;
    default:
      return TRUE;
    }
}

static LptMultiplier
multiplier_of (const LptIntOp *op,
               gint64          n)
{
  return ((const Pool *) op)->multipliers[n - 1];
}

/* TensorFlow Lite's quotients by one @n. In double precision a quotient of integers below 2^53 is never rounded up to
 * the next integer: its integer part is that of the integers' own. */
static void
divide_sums (const Pool   *pool,
             double        rest,
             gint64        n,
             gsize         count,
             const gint32 *in,
             gint32        offset,
             guint8       *codes)
{
  const double half = (double) (n / 2), lo = pool->y.lo, hi = pool->y.hi;

  for (gsize i = 0; i < count; i++)
    {
      const double sum = (double) in[i] + rest, v = (sum > 0 ? sum + half : sum - half) / (double) n;

      codes[i] = (guint8) ((gint32) CLAMP (v, lo, hi) + offset);
    }
}

static void
finish_sums (const LptIntSums *sums,
             gint64            valid,
             gint64            padded,
             gsize             count,
             const gint32     *in,
             guint8           *codes)
{
  const Pool *pool = (const Pool *) sums->op;
  const gint64 n = MAX (pool->exclude_pad ? valid : padded, 1);
  const gint64 rest = (pool->exclude_pad ? 0 : n - valid) * pool->x.zero - valid * sums->offset_in;

  if (sums->divides)
    {
      divide_sums (pool, (double) rest, n, count, in, sums->offset_out, codes);
      return;
    }
  for (gsize i = 0; i < count; i++)
    {
      const Window w = { .sum = in[i] - valid * sums->offset_in, .valid = valid, .padded = padded };

      codes[i] = (guint8) (average (pool, &w) + sums->offset_out);
    }
}

gboolean
lpt_int_avg_pool_sums (const LptIntOp *op,
                       LptIntSums     *sums)
{
  const Pool *pool = (const Pool *) op;

  *sums = (LptIntSums) { .op = op, .rescales = only_rescales (pool), .multiplier = multiplier_of,
                         .divides = pool->algorithm == LPT_ALGO_LITERT && !only_rescales (pool),
                         .finish = finish_sums };

  return pool->algorithm != LPT_ALGO_FLOAT && pool->algorithm != LPT_ALGO_FLOAT_AWAY;
}

const LptIntRescale *
lpt_int_max_pool_rescale (const LptIntOp *op)
{
  return &((const Pool *) op)->rescale;
}

/* Padding of this input: as given, or what SAME needs. */
static void
find_padding (const Pool     *pool,
              const LptShape *x,
              const LptShape *y,
              gint64         *before,
              gint64         *after)
{
  for (gint a = 0; a < x->rank - 2; a++)
    {
      const gint64 span = (pool->kernel[a] - 1) * pool->dilations[a] + 1;
      const gint64 total = MAX ((y->dims[2 + a] - 1) * pool->strides[a] + span - x->dims[2 + a], 0);

      switch (pool->auto_pad)
        {
        case LPT_AUTO_PAD_VALID:      before[a] = after[a] = 0; break;
        case LPT_AUTO_PAD_SAME_UPPER: before[a] = total / 2; after[a] = total - total / 2; break;
        case LPT_AUTO_PAD_SAME_LOWER: after[a] = total / 2; before[a] = total - total / 2; break;
        default:                      before[a] = pool->pads_begin[a]; after[a] = pool->pads_end[a]; break;
        }
    }
}

static Window
collect (const Pool        *pool,
         const LptIntArray *x,
         gint64             base,
         const gint64      *position,
         const gint64      *before,
         const gint64      *after)
{
  const gint spatial = x->shape.rank - 2;
  const gint64 *const dims = x->shape.dims + 2;
  gint64 tap[MAX_SPATIAL] = { 0 };
  Window w = { .greatest = G_MININT32 };

  for (gint64 k = 0; k < pool->size; k++)
    {
      gboolean inside = TRUE, padded = TRUE;
      gint64 offset = 0;

      for (gint a = 0; a < spatial; a++)
        {
          const gint64 i = position[a] * pool->strides[a] - before[a] + tap[a] * pool->dilations[a];

          inside = inside && i >= 0 && i < dims[a];
          padded = padded && i < dims[a] + after[a];
          offset = offset * dims[a] + i;
        }
      w.padded += padded;
      if (inside)
        {
          const gint32 q = lpt_int_at (x, base + offset);

          w.valid++;
          w.sum += q;
          w.real += (float) (q - pool->x.zero) * (float) pool->x.scale;
          w.greatest = MAX (w.greatest, q);
        }

      for (gint a = spatial; a-- > 0; )
        {
          if (++tap[a] < pool->kernel[a])
            break;
          tap[a] = 0;
        }
    }

  return w;
}

static void
pool_run (const LptIntOp           *op,
          const LptIntArray *const *in,
          guint                     n_in,
          const LptIntArray        *out)
{
  const Pool *pool = (const Pool *) op;
  const LptIntArray *x = in[0];
  const gint spatial = x->shape.rank - 2;
  gint64 x_size = 1, y_size = 1;
  gint64 before[MAX_SPATIAL], after[MAX_SPATIAL], position[MAX_SPATIAL];

  find_padding (pool, &x->shape, &out->shape, before, after);
  for (gint a = 0; a < spatial; a++)
    {
      x_size *= x->shape.dims[2 + a];
      y_size *= out->shape.dims[2 + a];
    }

  for (gint64 plane = 0; plane < x->shape.dims[0] * x->shape.dims[1]; plane++)
    for (gint64 p = 0; p < y_size; p++)
      {
        gint64 rest = p;
        Window w;

        for (gint a = spatial; a-- > 0; )
          {
            position[a] = rest % out->shape.dims[2 + a];
            rest /= out->shape.dims[2 + a];
          }
        w = collect (pool, x, plane * x_size, position, before, after);
        lpt_int_put (out, plane * y_size + p,
                     !pool->maximum ? average (pool, &w)
                     : w.valid > 0 ? lpt_int_rescale (&pool->rescale, w.greatest) : pool->y.lo);
      }
}

static void
take (gint64        *to,
      const LptInts *from,
      gint64         fallback)
{
  for (guint i = 0; i < MAX_SPATIAL; i++)
    to[i] = lpt_ints_get (from, i, fallback);
}

/* The same quantization before and behind, which no window crosses. */
static gboolean
keeps_channels (LptNode *node)
{
  const LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node);

  return x->quant != NULL && x->quant->n > 1 && x->quant->axis >= 0 && x->quant->axis < 2 &&
         lpt_quant_last_axis (x->quant, &x->shape) < 2 && x->dtype == y->dtype && lpt_quant_equal (x->quant, y->quant);
}

static gboolean
pool_scales (Pool    *pool,
             LptNode *node,
             GError **error)
{
  if (pool->maximum && keeps_channels (node))
    return lpt_int_scale_at (lpt_node_in (node, 0), "the input", 0, &pool->x, error)
           && lpt_int_scale_at (lpt_node_out (node), "the output", 0, &pool->y, error);

  return lpt_int_scale_of (lpt_node_in (node, 0), "the input", &pool->x, error)
         && lpt_int_scale_of (lpt_node_out (node), "the output", &pool->y, error);
}

/* Elements of a window, few enough that their sum fits 32 bits. */
static gboolean
window_size (Pool    *pool,
             LptNode *node,
             GError **error)
{
  pool->size = 1;
  for (guint i = 0; i < MAX_SPATIAL; i++)
    {
      if (pool->kernel[i] < 1 || pool->kernel[i] > MAX_WINDOW || pool->size * pool->kernel[i] > MAX_WINDOW)
        return lpt_int_refuse (error, "unsupported kernel of an integer %s", node->info->name);
      pool->size *= pool->kernel[i];
    }

  return TRUE;
}

static gboolean
pool_init (Pool    *pool,
           LptNode *node,
           GError **error)
{
  LptWindowAttrs attrs;
  const LptInts *kernel = lpt_window_of_pool (node, &attrs);

  pool->op.run = pool_run;
  pool->op.clear = pool_clear;
  pool->auto_pad = (LptAutoPad) attrs.auto_pad;
  take (pool->kernel, kernel, 1);
  take (pool->strides, attrs.strides, 1);
  take (pool->dilations, attrs.dilations, 1);
  take (pool->pads_begin, attrs.pads_begin, 0);
  take (pool->pads_end, attrs.pads_end, 0);

  return pool_scales (pool, node, error) && window_size (pool, node, error);
}

LptIntOp *
lpt_int_avg_pool_new (LptNode              *node,
                      const LptRequantRule *rule,
                      GError              **error)
{
  Pool *pool = g_new0 (Pool, 1);
  g_autoptr (LptIntOp) op = &pool->op;

  pool->algorithm = rule->algorithm;
  pool->exclude_pad = LPT_ATTRS (node, LptAvgPoolAttrs)->exclude_pad;
  if (!pool_init (pool, node, error))
    return NULL;

  pool->multipliers = g_new (LptMultiplier, pool->size);
  for (gint64 n = 1; n <= pool->size; n++)
    pool->multipliers[n - 1] = lpt_requant_rule_multiplier (rule, pool->x.scale, 1.0, pool->y.scale * n);

  return g_steal_pointer (&op);
}

LptIntOp *
lpt_int_max_pool_new (LptNode              *node,
                      const LptRequantRule *rule,
                      GError              **error)
{
  Pool *pool = g_new0 (Pool, 1);
  g_autoptr (LptIntOp) op = &pool->op;

  pool->maximum = TRUE;
  if (!pool_init (pool, node, error))
    return NULL;
  lpt_int_rescale_init (&pool->rescale, rule, &pool->x, &pool->y);

  return g_steal_pointer (&op);
}
