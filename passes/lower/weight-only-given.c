/* weight-only-given.c - products of codes that are there with weights whose scales change along a row
 *
 *     MatMul (Dequantize (q), weights)  =>  BlockMatMul (q, codes, s, scales, zero points) + bias[n]
 *
 *     sum s (q - z) w[n, k] = sum s q w[n, k] + bias[n],   bias[n] = - s z sum w[n, k]
 *
 * q has one scale s and zero point z; codes of u8 become i8 first, q - 128 and z - 128. The products of weights with
 * one scale a row are plain ones, but where the zero points of their weights have fractions: here zero points are any
 * real numbers. Exact in real numbers.
 *
 * Golden tests: tests/golden/weight-only/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "ir/lpt-fold.h"
#include "ir/lpt-memory.h"
#include "passes/lower/fit.h"
#include "passes/lower/weight-only.h"

LptValue *
lpt_weight_only_given (const LptValue *x)
{
  LptNode *node = x->producer;
  LptValue *q = node->op == LPT_OP_DEQUANTIZE ? lpt_node_in (node, 0) : NULL;

  if (q == NULL || q->quant == NULL || q->quant->n != 1 || q->producer->data != NULL || q->shape.rank < 2 ||
      x->dtype != LPT_DTYPE_F32 || (q->dtype != LPT_DTYPE_I8 && q->dtype != LPT_DTYPE_U8))
    return NULL;

  return q;
}

/* - s z sum w[n, k] for each n; NULL: no memory. */
static LptTensor *
bias_of (const LptQuant       *quant,
         const LptWeightCodes *w)
{
  const gint64 blocks = lpt_tensor_shape (w->scale)->dims[1];
  const LptDType dtype = lpt_tensor_dtype (w->codes);
  const double middle = lpt_dtype_min (dtype) < 0 ? 0 : (lpt_dtype_max (dtype) + 1) / 2;
  g_autofree double *bias = lpt_memory_try ((gsize) w->n, sizeof *bias, NULL);
  LptShape shape = { .rank = 1, .dims = { w->n } };

  if (bias == NULL)
    return NULL;
  for (gint64 n = 0; n < w->n; n++)
    {
      double sum = 0;

      for (gint64 k = 0; k < w->k; k++)
        {
          const gint64 s = n * blocks + (w->block == 0 ? 0 : MIN (k / w->block, blocks - 1));
          const double zero = w->zero != NULL ? lpt_tensor_get_f64 (w->zero, s) : middle;

          sum += lpt_tensor_get_f64 (w->scale, s) * ((double) lpt_tensor_get_i64 (w->codes, n * w->k + k) - zero);
        }
      bias[n] = -quant->scale[0] * quant->zero_point[0] * sum;
    }

  return lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, bias, NULL);
}

/* @scale for each row of @q and each of @blocks. */
static LptValue *
row_scales (LptWeightOnly *u,
            LptNode       *node,
            LptValue      *q,
            double         scale,
            gint64         blocks)
{
  g_autofree char *name = g_strconcat (node->name, "/data-scales", NULL);
  g_autoptr (LptTensor) one = lpt_tensor_scalar (LPT_DTYPE_F32, scale);
  const gint last = q->shape.rank - 1;
  LptShape shape = q->shape;
  gint64 rows[LPT_MAX_RANK];
  LptValue *in[3];
  LptNode *part;

  shape.dims[last] = blocks;
  if (lpt_shape_is_static (&shape))
    return lpt_rewriter_const (u->rw, name, lpt_fold_broadcast (one, &shape));
  for (gint d = 0; d < last; d++)
    rows[d] = d;
  part = lpt_rewriter_add (u->rw, LPT_OP_SHAPE_OF, name, 1, &q);
  in[0] = &part->out[0];
  in[1] = lpt_rewriter_const (u->rw, name, lpt_tensor_vector_i64 ((guint) last, rows));
  in[2] = lpt_rewriter_const (u->rw, name, lpt_tensor_scalar (LPT_DTYPE_I64, 0));
  part = lpt_rewriter_add (u->rw, LPT_OP_GATHER, name, 3, in);
  in[0] = &part->out[0];
  in[1] = lpt_rewriter_const (u->rw, name, lpt_tensor_vector_i64 (1, &blocks));
  part = lpt_rewriter_add (u->rw, LPT_OP_CONCAT, name, 2, in);
  in[0] = lpt_rewriter_const (u->rw, name, g_steal_pointer (&one));
  in[1] = &part->out[0];

  return &lpt_rewriter_add (u->rw, LPT_OP_BROADCAST, name, 2, in)->out[0];
}

gboolean
lpt_weight_only_read_given (LptWeightOnly        *u,
                            LptNode              *node,
                            LptValue             *q,
                            const LptWeightCodes *w,
                            gint64                block,
                            LptValue            **in)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  g_autoptr (LptQuant) quant = lpt_quant_ref (q->quant);
  LptGraph *graph = lpt_rewriter_graph (u->rw);
  LptTensor *bias;

  if (q->dtype == LPT_DTYPE_U8)
    {
      lpt_quant_unref (quant);
      quant = lpt_quant_new_one (q->quant->scale[0], q->quant->zero_point[0] - 128);
      q = lpt_fit_convert (graph, LPT_OP_REQUANTIZE, q, LPT_DTYPE_I8, quant);
      if (!lpt_weight_only_keeps (u, node, q->producer))
        return FALSE;
    }
  bias = quant->zero_point[0] != 0 ? bias_of (quant, w) : NULL;
  if (quant->zero_point[0] != 0 && bias == NULL)
    return FALSE;
  in[0] = lpt_fit_convert (graph, LPT_OP_REINTERPRET, q, LPT_DTYPE_I8, unit);
  in[2] = row_scales (u, node, q, quant->scale[0], (w->k + block - 1) / block);
  in[5] = lpt_weight_only_const (u, node, "/bias", &bias);

  return TRUE;
}
