/* tflite-map-tasks.c - what the models of MediaPipe's tasks need beside windows and crops: custom operators
 *
 *     FusedBatchNormV3       over n elements of each channel: y = (x - mean) scale / sqrt (variance + e) + offset, and
 *                            what is learnt, (1 - f) old mean + f mean, (1 - f) old variance + f variance n / (n - 1),
 *                            mean and variance; e and f are 0.001 whatever the options say
 *     KmeansEmbeddingLookup  of the tokens in front of the first 0: the mean of their embeddings, each of which is,
 *                            one behind the other, the rows of a codebook that the token's row of codes names
 *
 * Refused: normalization with other than four axes of known lengths, tokens of several texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#define OP2(kind, a, b) lpt_tfl_emit (op, LPT_OP_##kind, 2, (a), (b))
#define NUMBER(n) lpt_tfl_scalar (op, LPT_DTYPE_F32, (n))

/* --- normalization ------------------------------------------------------------------------------- */

static LptValue *
mean_of (LptTflOp *op, LptValue *x)
{
  return lpt_tfl_reduce (op, LPT_OP_REDUCE_MEAN, x, lpt_tfl_i64 (op, 3, (gint64[]) { 0, 1, 2 }), FALSE);
}

/* (1 - f) old + f now */
static LptValue *
learn (LptTflOp *op, LptValue *old, LptValue *now, float f, float adjust)
{
  return OP2 (ADD, OP2 (MULTIPLY, old, NUMBER (1 - f)), OP2 (MULTIPLY, now, NUMBER (f * adjust)));
}

void
lpt_tfl_map_batch_norm_training (LptTflOp *op)
{
  LptValue *in[5];
  for (guint i = 0; i < G_N_ELEMENTS (in); i++)
    in[i] = lpt_tfl_real_of (op, lpt_tfl_in (op, i));
  const gint64 *d = in[0]->shape.dims;
  if (lpt_tfl_rank (op, in[0]) != 4 || d[0] < 1 || d[1] < 1 || d[2] < 1)
    lpt_tfl_unsupported (op, "data of other than four axes of known lengths");
  if (op->error != NULL)
    return;
  const double n = (double) d[0] * (double) d[1] * (double) d[2];
  LptValue *mean = mean_of (op, in[0]), *rest = OP2 (SUBTRACT, in[0], mean);
  LptValue *variance = mean_of (op, OP2 (MULTIPLY, rest, rest));
  LptValue *spread = lpt_tfl_emit (op, LPT_OP_SQRT, 1, OP2 (ADD, variance, NUMBER (0.001)));
  LptValue *outs[] = {
    OP2 (ADD, OP2 (MULTIPLY, rest, OP2 (DIVIDE, in[1], spread)), in[2]),
    learn (op, in[3], mean, 0.001f, 1),
    learn (op, in[4], variance, 0.001f, (float) (n / MAX (n - 1, 1))),
    mean,
    variance,
    lpt_tfl_broadcast (op, NUMBER (0), lpt_tfl_i64_one (op, 1)),
  };
  for (guint o = 0; o < MIN (op->n_out, G_N_ELEMENTS (outs)); o++)
    lpt_tfl_set (op, o, outs[o]);
}

/* --- embeddings ------------------------------------------------------------------------------------- */

void
lpt_tfl_map_kmeans_embedding (LptTflOp *op)
{
  LptValue *tokens = lpt_tfl_whole_in (op, 0), *codes = lpt_tfl_codes (op, lpt_tfl_in (op, 1));
  LptValue *book = lpt_tfl_real_of (op, lpt_tfl_in (op, 2)), *first = lpt_tfl_i64_scalar (op, 0);
  if (lpt_tfl_rank (op, tokens) != 2 || lpt_tfl_rank (op, codes) != 2 || lpt_tfl_rank (op, book) != 2
      || tokens->shape.dims[0] != 1 || codes->shape.dims[1] < 1 || book->shape.dims[1] < 1)
    lpt_tfl_unsupported (op, "tokens of several texts, or codes or a codebook that are no table of known width");
  if (op->error != NULL)
    return;
  tokens = lpt_tfl_reshape (op, tokens, 1, (gint64[]) { -1 });
  LptValue *ends = lpt_tfl_convert (op, OP2 (EQUAL, tokens, lpt_tfl_like (op, tokens, 0)), LPT_DTYPE_I64);
  LptValue *before = OP2 (EQUAL, OP2 (CUM_SUM, ends, first), lpt_tfl_like (op, ends, 0));
  LptValue *rows = lpt_tfl_emit (op, LPT_OP_GATHER, 3, codes, tokens, first);
  rows = lpt_tfl_emit (op, LPT_OP_GATHER, 3, book, lpt_tfl_convert (op, rows, LPT_DTYPE_I32), first);
  before = lpt_tfl_reshape (op, lpt_tfl_convert (op, before, LPT_DTYPE_F32), 3, (gint64[]) { -1, 1, 1 });
  LptValue *count = lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, before, first, FALSE);
  LptValue *sum = lpt_tfl_reduce (op, LPT_OP_REDUCE_SUM, OP2 (MULTIPLY, rows, before), first, FALSE);
  sum = OP2 (DIVIDE, sum, OP2 (MAXIMUM, count, NUMBER (1)));
  lpt_tfl_set (op, 0, lpt_tfl_reshape (op, sum, 2, (gint64[]) { 1, codes->shape.dims[1] * book->shape.dims[1] }));
}
