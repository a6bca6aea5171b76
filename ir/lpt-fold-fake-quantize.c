/* lpt-fold-fake-quantize.c - FakeQuantize of constants, and of weights to their codes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/storage/lpt-tensor-pages.h"

typedef struct { float il, ih, ol, oh, steps; } Interval;

static inline float
round_even (float x)
{
  /* |x| < 2^22: adding 1.5 * 2^23 leaves the integer in the mantissa, rounded half to even. */
  return (x + 12582912.0f) - 12582912.0f;
}

static inline float
clamp (float x,
       float low,
       float high)
{
  float below = x > high ? high : x;

  return below < low ? low : below;
}

static void
quantize_run (const Interval *v,
              const float    *x,
              float          *y,
              gsize           n)
{
  float low = MIN (v->il, v->ih), high = MAX (v->il, v->ih);
  float width = v->ih - v->il, gain = v->oh - v->ol;
  gsize i;

  if (v->steps < 4194304.0f)
    for (i = 0; i < n; i++)
      {
        /* One choice after the other: compilers make vectors of that. */
        float level = round_even ((x[i] - v->il) / width * v->steps);
        float inside = level / v->steps * gain + v->ol;
        float above = x[i] > high ? v->oh : inside;

        y[i] = x[i] <= low ? v->ol : above;
      }
  else
    for (i = 0; i < n; i++)
      {
        float level = nearbyintf ((x[i] - v->il) / width * v->steps);
        float inside = level / v->steps * gain + v->ol;

        y[i] = x[i] <= low ? v->ol : x[i] > high ? v->oh : inside;
      }
}

static void
round_run (float *y,
           gsize  n)
{
  gsize i;

  for (i = 0; i < n; i++)
    y[i] = fabsf (y[i]) < 4194304.0f ? round_even (y[i]) : nearbyintf (y[i]);
}

/* NaN becomes 0. */
static inline gint32
to_integer (float v)
{
  return v == v ? (gint32) v : 0;
}

static void
store_run (const float *y,
           gpointer     out,
           LptDType     dtype,
           gint64       at,
           gsize        n)
{
  gsize i;

  switch (dtype)
    {
    case LPT_DTYPE_F32:
      memcpy ((float *) out + at, y, n * sizeof (float));
      break;
    case LPT_DTYPE_I8:
      for (i = 0; i < n; i++)
        ((gint8 *) out)[at + (gint64) i] = (gint8) to_integer (round_even (clamp (y[i], -128.0f, 127.0f)));
      break;
    case LPT_DTYPE_U8:
      for (i = 0; i < n; i++)
        ((guint8 *) out)[at + (gint64) i] = (guint8) to_integer (round_even (clamp (y[i], 0.0f, 255.0f)));
      break;
    default:
      g_assert_not_reached ();
    }
}

static gint32
stored (float    y,
        LptDType dtype)
{
  guint8 byte;

  store_run (&y, &byte, dtype, 0, 1);

  return dtype == LPT_DTYPE_I8 ? (gint8) byte : byte;
}

/* Level k of the interval is stored as k + *base, as it is where the output interval counts the levels. */
static gboolean
levels_are_codes (const Interval *v,
                  LptDType        dtype,
                  gint32         *base)
{
  gint32 k, steps;

  if ((dtype != LPT_DTYPE_I8 && dtype != LPT_DTYPE_U8) || !(v->steps <= 255))
    return FALSE;
  steps = (gint32) v->steps;
  for (k = 0; k <= steps; k++)
    {
      gint32 code = stored ((float) k / v->steps * (v->oh - v->ol) + v->ol, dtype);

      if (k == 0)
        *base = code;
      else if (code != *base + k)
        return FALSE;
    }

  return stored (v->ol, dtype) == *base && stored (v->oh, dtype) == *base + steps;
}

/* quantize_run() and store_run() in one, for such an interval. */
static void
code_run (const Interval *v,
          const float    *restrict x,
          guint8         *restrict out,
          gsize           n,
          gint32          base)
{
  /* Bytes may alias anything: what does not change is read before. */
  const float low = MIN (v->il, v->ih), high = MAX (v->il, v->ih), width = v->ih - v->il, first = v->il, steps = v->steps;
  gsize i;

  for (i = 0; i < n; i++)
    {
      float level = round_even ((x[i] - first) / width * steps);
      float above = x[i] > high ? steps : level;
      float inside = x[i] <= low ? 0 : above;
      float code = inside + (float) base;

      out[i] = (guint8) (gint32) (x[i] == x[i] ? code : 0);
    }
}

/* Weights in 8 bits stay as long as the graph, mostly. */
static LptTensor *
new_codes (LptGraph       *graph,
           LptDType        dtype,
           const LptShape *shape)
{
  if (lpt_dtype_bits (dtype) != 8)
    return lpt_tensor_new (dtype, shape, NULL);
  if (graph->codes == NULL)
    graph->codes = lpt_chunks_new ();

  return lpt_tensor_new_in (graph->codes, dtype, shape, NULL);
}

#define RUN 1024

LptTensor *
lpt_fold_fake_quantize (LptNode  *fq,
                        LptDType  dtype,
                        gboolean  round)
{
  g_autoptr (LptTensor) low = lpt_fold_value (lpt_node_in (fq, 3));
  g_autoptr (LptTensor) high = lpt_fold_value (lpt_node_in (fq, 4));

  return low != NULL && high != NULL ? lpt_fold_fake_quantize_to (fq, low, high, dtype, round) : NULL;
}

/* @n numbers at @x; those of mapped data may be unaligned, @copy then. */
static const float *
aligned_run (const float *x,
             float       *copy,
             gsize        n)
{
  return (guintptr) x % sizeof (float) != 0 ? memcpy (copy, x, n * sizeof (float)) : x;
}

/* Elements @from to @from + @count of @values, all in one interval, to codes that count from @base. */
static void
code_block (const Interval *v,
            const float    *values,
            LptTensor      *out,
            gint64          from,
            gint64          count,
            gint32          base)
{
  for (gint64 done = 0; done < count; done += RUN)
    {
      gsize n = (gsize) MIN (RUN, count - done);
      float copy[RUN];

      code_run (v, aligned_run (values + from + done, copy, n), (guint8 *) lpt_tensor_writable (out) + from + done, n, base);
    }
}

/* The same to numbers, with @round to whole ones. */
static void
quantize_block (const Interval *v,
                const float    *values,
                LptTensor      *out,
                gint64          from,
                gint64          count,
                gboolean        round)
{
  for (gint64 done = 0; done < count; done += RUN)
    {
      gsize n = (gsize) MIN (RUN, count - done);
      float copy[RUN], y[RUN];

      quantize_run (v, aligned_run (values + from + done, copy, n), y, n);
      if (round)
        round_run (y, n);
      store_run (y, lpt_tensor_writable (out), lpt_tensor_dtype (out), from + done, n);
    }
}

/* End @k of the interval of @fq: low and high of the input, @low, @high. */
static LptTensor *
end_of (LptNode   *fq,
        guint      k,
        LptTensor *low,
        LptTensor *high)
{
  return k < 2 ? lpt_fold_value (lpt_node_in (fq, k + 1)) : lpt_tensor_ref (k == 2 ? low : high);
}

/* The four ends as numbers; @full is what the data broadcast to with them. */
static gboolean
read_ends (LptNode    *fq,
           LptTensor  *low,
           LptTensor  *high,
           float     **ends[4],
           LptShape   *full)
{
  for (guint k = 0; k < 4; k++)
    {
      g_autoptr (LptTensor) end = end_of (fq, k, low, high);

      if (end == NULL || !lpt_shape_broadcast (full, lpt_tensor_shape (end), full) || (*ends[k] = lpt_tensor_to_f32 (end, NULL)) == NULL)
        return FALSE;
    }

  return TRUE;
}

/* The last axis that @strides go along; -1: none. */
static gint
last_varying (const LptShape *shape,
              const gint64   *strides)
{
  gint d;

  for (d = shape->rank - 1; d >= 0 && (strides[d] == 0 || shape->dims[d] == 1); d--)
    ;

  return d;
}

LptTensor *
lpt_fold_fake_quantize_to (LptNode   *fq,
                           LptTensor *low,
                           LptTensor *high,
                           LptDType   dtype,
                           gboolean   round)
{
  g_autoptr (LptTensor) data = NULL;
  g_autoptr (LptTensor) out = NULL;
  g_autofree float *converted = NULL;
  g_autofree float *in_low = NULL;
  g_autofree float *in_high = NULL;
  g_autofree float *out_low = NULL;
  g_autofree float *out_high = NULL;
  float **ends[4] = { &in_low, &in_high, &out_low, &out_high };
  gint64 strides[4][LPT_MAX_RANK];
  LptShape outer;       /* the axes up to the last one along which an end varies */
  LptWalk walk;
  gboolean direct = dtype == LPT_DTYPE_F32 || dtype == LPT_DTYPE_I8 || dtype == LPT_DTYPE_U8;
  LptShape full;
  const LptShape *shape = &full;
  const float *values;
  Interval seen = { 0 };
  gboolean coded = FALSE;
  gint32 base = 0;
  gint last = -1;
  gint64 inner, blocks, block;
  gint64 levels = LPT_ATTRS (fq, LptFakeQuantizeAttrs)->levels;
  guint k;
  gboolean ok;

  data = lpt_fold_value (lpt_node_in (fq, 0));
  if (data == NULL)
    return NULL;
  full = *lpt_tensor_shape (data);
  ok = read_ends (fq, low, high, ends, &full);
  if (ok && !lpt_shape_equal (&full, lpt_tensor_shape (data)))
    {
      LptTensor *wide = lpt_fold_broadcast (data, &full);

      lpt_tensor_unref (data);
      data = wide;
      ok = data != NULL;
    }
  for (k = 0; k < 4 && ok; k++)
    {
      g_autoptr (LptTensor) end = end_of (fq, k, low, high);

      ok = lpt_broadcast_check (lpt_tensor_shape (end), shape, strides[k], NULL);
      last = ok ? MAX (last, last_varying (shape, strides[k])) : last;
    }
  if (ok)
    out = new_codes (fq->graph, direct ? dtype : LPT_DTYPE_F32, shape);
  if (ok && lpt_tensor_dtype (data) != LPT_DTYPE_F32)
    ok = (converted = lpt_tensor_to_f32 (data, NULL)) != NULL;
  if (!ok || out == NULL)
    return NULL;

  values = converted != NULL ? converted : lpt_tensor_data (data);
  blocks = lpt_dims_product (shape, 0, last + 1);
  inner = lpt_dims_product (shape, last + 1, shape->rank);
  outer = lpt_shape_make (last + 1, shape->dims);
  lpt_walk_init (&walk, &outer, 4, strides);
  for (block = 0; block < blocks; block++)
    {
      Interval v = { in_low[walk.at[0]], in_high[walk.at[1]], out_low[walk.at[2]], out_high[walk.at[3]], (float) (levels - 1) };

      if (block == 0 || v.ol != seen.ol || v.oh != seen.oh)
        coded = levels_are_codes (&v, lpt_tensor_dtype (out), &base);
      seen = v;

      if (coded)
        code_block (&v, values, out, block * inner, inner, base);
      else
        quantize_block (&v, values, out, block * inner, inner, round && dtype == LPT_DTYPE_F32);
      lpt_walk_next (&walk);
    }

  lpt_tensor_drop_pages (data);
  if (direct)
    return g_steal_pointer (&out);
  if (round || lpt_dtype_is_integer (dtype))
    return lpt_tensor_convert_round (out, dtype, LPT_ROUND_HALF_EVEN, NULL);

  return lpt_tensor_convert (out, dtype, NULL);
}
