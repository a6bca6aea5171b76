/* passes/convert-sums.c - the bias of integer sums is added when they are real numbers
 *
 *     Convert (Add (sums, b))  =>  Add (Convert (sums), b')        b' = b in f32
 *
 * where sums are those of a product of codes, b is a constant of integers below 2^24, and nothing else reads the Add:
 * MatMulInteger, Add, Cast, Mul, as quantization-aware training is exported. The product adds b' as it adds other
 * biases. Exact in real numbers; for sums below 2^24 in f32, too.
 *
 * Golden tests: tests/golden/convert-sums/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "passes/core/lpt-rewriter.h"

static gboolean
is_small (LptTensor *tensor)
{
  for (gint64 i = 0; i < lpt_tensor_count (tensor); i++)
    if (!(fabs (lpt_tensor_get_f64 (tensor, i)) < 1 << 24))
      return FALSE;

  return TRUE;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *convert)
{
  LptNode *add = lpt_node_src (convert, 0), *real;
  g_autofree char *name = g_strconcat (convert->name, "/sums", NULL);
  g_autofree char *constant = g_strconcat (convert->name, "/bias", NULL);
  LptTensor *bias;
  LptValue *sums;
  guint at;

  if (add->op != LPT_OP_ADD || convert->out[0].dtype != LPT_DTYPE_F32 || lpt_value_n_uses (&add->out[0]) != 1 ||
      add->out[0].quant != NULL || add->out[0].dtype != LPT_DTYPE_I32)
    return FALSE;
  at = lpt_node_const_in (add, 0) != NULL ? 0 : 1;
  bias = lpt_node_const_in (add, at);
  sums = lpt_node_in (add, 1 - at);
  if (bias == NULL || lpt_node_in (add, at)->quant != NULL || !is_small (bias) ||
      (sums->producer->info->flags & LPT_OP_F_WEIGHTED) == 0 || lpt_node_in (sums->producer, 0)->quant == NULL)
    return FALSE;
  bias = lpt_tensor_convert (bias, LPT_DTYPE_F32, NULL);
  real = lpt_rewriter_infer (rw, lpt_node_clone (convert, name, 1, &sums));
  lpt_rewriter_replace (rw, &convert->out[0],
                        lpt_node_out (lpt_rewriter_add (rw, LPT_OP_ADD, convert->name, 2, (LptValue *[]) {
                          &real->out[0], lpt_rewriter_const (rw, constant, bias) })), NULL);

  return TRUE;
}

const LptPass lpt_pass_convert_sums = {
  .name      = "convert-sums",
  .doc       = "The bias of integer sums is added when they are real numbers",
  .stage     = LPT_STAGE_PREPARE,
  .roots     = LPT_ROOTS (LPT_OP_CONVERT),
  .rewrite   = rewrite,
  .exactness = LPT_EXACT_REAL,
};
