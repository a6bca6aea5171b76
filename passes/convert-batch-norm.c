/* passes/convert-batch-norm.c - write a batch normalization with constants as a factor and a term for each channel
 *
 *     FakeQuantize (BatchNormInference (x))  =>  FakeQuantize (Add (Multiply (x, g), t))
 *
 * with g = gamma / sqrt (variance + eps) and t = beta - g mean, so that the bounds of the FakeQuantize, and a
 * dequantization or the sums of a convolution in front, take both. Functions of one number may stand between. g and t
 * are computed in double and rounded once. Exact in real arithmetic.
 *
 * Left alone without a remark: parameters that are computed; results that are not quantized to 8 bits, where a factor
 * would go on to other weights.
 *
 * Golden tests: tests/golden/convert-batch-norm/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>

#include "ir/lpt-batch-norm.h"
#include "passes/support/lpt-layer.h"

/* Codes of 8 bits are made of @value and nothing else, behind functions or not. */
static gboolean
is_quantized (const LptValue *value)
{
  const LptNode *reader = lpt_value_n_uses (value) == 1 ? lpt_value_use (value, 0)->node : NULL;

  while (reader != NULL && (reader->info->flags & LPT_OP_F_UNARY) && reader->op != LPT_OP_FAKE_QUANTIZE)
    reader = lpt_value_n_uses (&reader->out[0]) == 1 ? lpt_value_use (&reader->out[0], 0)->node : NULL;

  return reader != NULL && reader->op == LPT_OP_FAKE_QUANTIZE &&
         LPT_ATTRS (reader, LptFakeQuantizeAttrs)->levels <= 256;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *norm)
{
  g_autofree char *name = g_strconcat (norm->name, "/Multiply", NULL);
  g_autofree char *factor_name = g_strconcat (norm->name, "/factor", NULL);
  g_autofree char *term_name = g_strconcat (norm->name, "/term", NULL);
  LptTensor *factor, *term;
  LptNode *product, *sum;
  LptValue *in[2];

  if (!is_quantized (&norm->out[0]))
    return FALSE;
  in[0] = lpt_batch_norm_line (norm, norm->out[0].dtype, &factor, &term);
  if (in[0] == NULL)
    return FALSE;
  in[1] = lpt_rewriter_const (rw, factor_name, factor);
  product = lpt_rewriter_add (rw, LPT_OP_MULTIPLY, name, 2, in);
  in[0] = &product->out[0];
  in[1] = lpt_rewriter_const (rw, term_name, term);
  sum = lpt_rewriter_add (rw, LPT_OP_ADD, norm->name, 2, in);
  lpt_node_take_over (sum, norm, "/replaced");
  lpt_rewriter_replace (rw, &norm->out[0], &sum->out[0], NULL);
  lpt_rewriter_visit (rw, product);
  lpt_rewriter_visit (rw, sum);

  return TRUE;
}

const LptPass lpt_pass_convert_batch_norm = {
  .name      = "convert-batch-norm",
  .doc       = "Write a batch normalization with constants as a factor and a term",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_BATCH_NORM_INFERENCE),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
