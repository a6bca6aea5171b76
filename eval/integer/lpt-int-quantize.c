/* lpt-int-quantize.c - Quantize, Dequantize, Requantize, Concat
 *
 * Quantize, by algorithm of the rule:
 *   LITERT      round-away ((double) x / (double) S) + Z     (TensorFlow Lite 2.9)
 *   MICRO       round-away (x / S) + Z in float32            (tflite-micro, SNPS-Caffe)
 *   XNNPACK     rint (x * (1 / S)) + Z in float32
 *   FLOAT       rint (x / S) + Z in float32                  (ONNX Runtime, Caffe2)
 *   FLOAT_AWAY  round-away (x * (1 / S) + Z) in float32      (TPU-MLIR)
 * All saturate; NaN gives the zero point, of FLOAT the lowest code. Dequantize: (q - Z) * S in float32.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"

#include <math.h>

/* Parameters along an axis; per tensor there is one set. */
typedef struct
{
  LptIntOp     op;
  LptAlgorithm algorithm;
  LptQuant    *quant;
  LptIntScale *scales;    /* of its entries */
} Affine;

static void
affine_clear (gpointer data)
{
  lpt_quant_unref (((Affine *) data)->quant);
  g_free (((Affine *) data)->scales);
}

static gint32
quantize_one (const Affine      *q,
              const LptIntScale *to,
              float              x)
{
  const float scale = (float) to->scale;

  switch (q->algorithm)
    {
    case LPT_ALGO_LITERT:
      {
        const double v = round ((double) x / (double) scale);

        if (isnan (v))
          return lpt_int_clamp (to->zero, to->lo, to->hi);
        return lpt_int_clamp ((gint64) CLAMP (v, -1e12, 1e12) + to->zero, to->lo, to->hi);
      }
    case LPT_ALGO_MICRO:
      return lpt_int_code (x / scale, to, TRUE);
    case LPT_ALGO_XNNPACK:
      return lpt_int_code (x * (1.0f / scale), to, FALSE);
    case LPT_ALGO_FLOAT_AWAY:
      {
        const float v = x * (float) (1.0 / to->scale) + (float) to->zero;

        return isnan (v) ? to->zero : (gint32) roundf (CLAMP (v, (float) to->lo, (float) to->hi));
      }
    case LPT_ALGO_FLOAT:      /* NaN: the lowest code, as ONNX Runtime has it */
      return isnan (x) ? to->lo : lpt_int_code (x / scale, to, FALSE);
    default:
      return lpt_int_code (x / scale, to, FALSE);
    }
}

/* Element i has scale i / @inner % @n. */
static void
axis_steps (const Affine   *affine,
            const LptShape *shape,
            gint64         *n,
            gint64         *inner)
{
  const LptQuant *quant = affine->quant;

  *n = quant->n;
  *inner = lpt_quant_run (quant, shape);
}

static void
quantize_run (const LptIntOp           *op,
              const LptIntArray *const *in,
              guint                     n_in,
              const LptIntArray        *out)
{
  const Affine *q = (const Affine *) op;
  const float *x = in[0]->data;
  gint64 n, inner;

  axis_steps (q, &out->shape, &n, &inner);
  for (gint64 i = 0, count = lpt_int_count (&out->shape); i < count; i++)
    lpt_int_put (out, i, quantize_one (q, &q->scales[i / inner % n], x[i]));
}

static void
dequantize_run (const LptIntOp           *op,
                const LptIntArray *const *in,
                guint                     n_in,
                const LptIntArray        *out)
{
  const Affine *q = (const Affine *) op;
  float *y = out->data;
  gint64 n, inner;

  axis_steps (q, &in[0]->shape, &n, &inner);
  for (gint64 i = 0, count = lpt_int_count (&in[0]->shape); i < count; i++)
    {
      const LptIntScale *from = &q->scales[i / inner % n];

      y[i] = (float) ((gint64) lpt_int_at (in[0], i) - from->zero) * (float) from->scale;
    }
}

static LptIntOp *
affine_new (LptValue    *integers,
            const char  *what,
            LptIntRun    run,
            LptAlgorithm algorithm,
            GError     **error)
{
  g_autoptr (LptIntOp) op = NULL;
  LptQuant *quant = integers->quant;
  Affine *affine = g_new0 (Affine, 1);

  op = &affine->op;
  op->run = run;
  op->clear = affine_clear;
  affine->algorithm = algorithm;

  if (quant == NULL || (!lpt_int_is_code (integers->dtype) && integers->dtype != LPT_DTYPE_I32))
    {
      lpt_int_refuse (error, "%s has no integer quantization", what);
      return NULL;
    }
  if (quant->n > 1 && (quant->axis < 0 || quant->axis >= integers->shape.rank))
    {
      lpt_int_refuse (error, "unsupported axis %d of the quantization of %s", quant->axis, what);
      return NULL;
    }

  affine->quant = lpt_quant_ref (quant);
  affine->scales = g_new (LptIntScale, quant->n);
  for (guint i = 0; i < quant->n; i++)
    {
      /* Codes of a channel of zeros stand for 0, whatever they are; none are made of numbers. */
      if (!(quant->scale[i] > 0.0 || (quant->scale[i] == 0.0 && run == dequantize_run)) || isinf (quant->scale[i]))
        {
          lpt_int_refuse (error, "a scale of %s is %g", what, quant->scale[i]);
          return NULL;
        }
      affine->scales[i] = (LptIntScale) { quant->scale[i], quant->zero_point[i],
                                          integers->dtype == LPT_DTYPE_I32 ? G_MININT32 : (gint32) lpt_dtype_min (integers->dtype),
                                          integers->dtype == LPT_DTYPE_I32 ? G_MAXINT32 : (gint32) lpt_dtype_max (integers->dtype) };
    }

  return g_steal_pointer (&op);
}

LptIntOp *
lpt_int_quantize_new (LptNode              *node,
                      const LptRequantRule *rule,
                      GError              **error)
{
  if (!lpt_dtype_is_real (lpt_node_in (node, 0)->dtype))
    {
      lpt_int_refuse (error, "unsupported type %s of the input of Quantize",
                      lpt_dtype_name (lpt_node_in (node, 0)->dtype));
      return NULL;
    }

  return affine_new (lpt_node_out (node), "the output", quantize_run, rule->algorithm, error);
}

LptIntOp *
lpt_int_dequantize_new (LptNode              *node,
                        const LptRequantRule *rule,
                        GError              **error)
{
  if (!lpt_dtype_is_real (lpt_node_out (node)->dtype))
    {
      lpt_int_refuse (error, "unsupported type %s of the output of Dequantize",
                      lpt_dtype_name (lpt_node_out (node)->dtype));
      return NULL;
    }

  return affine_new (lpt_node_in (node, 0), "the input", dequantize_run, LPT_ALGO_FLOAT, error);
}

/* --- Requantize ----------------------------------------------------------------- */

/* Element i goes by entry i / inner % n of whichever of both quantizations has several. */
typedef struct
{
  LptIntOp       op;
  const LptQuant *along;      /* it; NULL: one scale each */
  LptQuant      *x, *y;
  guint          n;
  LptIntRescale *rescales;    /* n */
} Requantize;

static void
requantize_clear (gpointer data)
{
  Requantize *r = data;

  lpt_quant_unref (r->x);
  lpt_quant_unref (r->y);
  g_free (r->rescales);
}

static void
requantize_run (const LptIntOp           *op,
                const LptIntArray *const *in,
                guint                     n_in,
                const LptIntArray        *out)
{
  const Requantize *r = (const Requantize *) op;
  const gint64 inner = r->along != NULL ? lpt_quant_run (r->along, &out->shape) : 1;

  for (gint64 i = 0, count = lpt_int_count (&out->shape); i < count; i++)
    lpt_int_put (out, i, lpt_int_rescale (&r->rescales[i / inner % r->n], lpt_int_at (in[0], i)));
}

const LptIntRescale *
lpt_int_requantize_rescale (const LptIntOp *op,
                            guint           k)
{
  const Requantize *r = (const Requantize *) op;

  return &r->rescales[r->n == 1 ? 0 : k];
}

LptIntOp *
lpt_int_requantize_new (LptNode              *node,
                        const LptRequantRule *rule,
                        GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  Requantize *r = g_new0 (Requantize, 1);
  LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node);
  LptIntScale from, to;

  op = &r->op;
  op->run = requantize_run;
  op->clear = requantize_clear;
  if (!lpt_int_scale_at (x, "the input", 0, &from, error) || !lpt_int_scale_at (y, "the output", 0, &to, error))
    return NULL;
  if (x->quant->n > 1 && y->quant->n > 1 &&
      (x->quant->n != y->quant->n || lpt_quant_run (x->quant, &x->shape) != lpt_quant_run (y->quant, &y->shape)))
    {
      lpt_int_refuse (error, "the input is quantized along another axis than the output");
      return NULL;
    }

  r->x = lpt_quant_ref (x->quant);
  r->y = lpt_quant_ref (y->quant);
  r->n = MAX (x->quant->n, y->quant->n);
  r->along = r->n == 1 ? NULL : x->quant->n > 1 ? r->x : r->y;
  r->rescales = g_new (LptIntRescale, r->n);
  for (guint i = 0; i < r->n; i++)
    {
      if (!lpt_int_scale_at (x, "the input", i, &from, error) || !lpt_int_scale_at (y, "the output", i, &to, error))
        return NULL;
      lpt_int_rescale_init (&r->rescales[i], rule, &from, &to);
    }

  return g_steal_pointer (&op);
}

/* --- Concat ----------------------------------------------------------------------- */

typedef struct
{
  LptIntOp       op;
  gint64         axis;
  LptIntRescale *rescales;   /* one per input */
} Concat;

static void
concat_clear (gpointer data)
{
  g_free (((Concat *) data)->rescales);
}

static void
concat_run (const LptIntOp           *op,
            const LptIntArray *const *in,
            guint                     n_in,
            const LptIntArray        *out)
{
  const Concat *c = (const Concat *) op;
  gint64 outer, n, inner, from = 0;
  gint axis;

  if (!lpt_axis_normalize (c->axis, out->shape.rank, &axis))
    g_return_if_reached ();
  lpt_int_split_axis (&out->shape, axis, &outer, &n, &inner);

  for (guint k = 0; k < n_in; k++)
    {
      const gint64 part = in[k]->shape.dims[axis] * inner;

      for (gint64 o = 0; o < outer; o++)
        for (gint64 i = 0; i < part; i++)
          lpt_int_put (out, o * n * inner + from + i,
                       lpt_int_rescale (&c->rescales[k], lpt_int_at (in[k], o * part + i)));
      from += part;
    }
}

const LptIntRescale *
lpt_int_concat_rescale (const LptIntOp *op,
                        guint           k)
{
  return &((const Concat *) op)->rescales[k];
}

LptIntOp *
lpt_int_concat_new (LptNode              *node,
                    const LptRequantRule *rule,
                    GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  Concat *c = g_new0 (Concat, 1);
  LptIntScale y;

  op = &c->op;
  op->run = concat_run;
  op->clear = concat_clear;
  c->axis = LPT_ATTRS (node, LptAxisAttrs)->axis;
  c->rescales = g_new (LptIntRescale, node->n_in);

  if (!lpt_int_scale_of (lpt_node_out (node), "the output", &y, error))
    return NULL;
  for (guint k = 0; k < node->n_in; k++)
    {
      LptIntScale x;

      if (!lpt_int_scale_of (lpt_node_in (node, k), "an input", &x, error))
        return NULL;
      lpt_int_rescale_init (&c->rescales[k], rule, &x, &y);
      /* TensorFlow Lite joins unsigned codes of different scales in float32; signed ones it refuses. */
      c->rescales[k].by_line = lpt_int_is_litert (rule) && x.lo == 0 && y.lo == 0;
    }

  return g_steal_pointer (&op);
}
