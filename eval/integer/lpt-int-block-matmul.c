/* lpt-int-block-matmul.c - BlockMatMul: products of codes that have a scale for each block of a row
 *
 *     y = sum over blocks of t (sa sb),   t = sum over the block of p (qb - mid) - (zb - mid) sum over the block of p,
 *                                         p = qa - za
 *
 * a [.., K] are codes with scales sa [.., blocks], or [.., 1] for the row: i8 or i16, and za is 0, or u8 with za of u8
 * likewise; b [N, K] with scales sb [N, blocks], or [N, n] for fewer but longer blocks; zb likewise, any real numbers,
 * or absent: 0 for signed codes, mid for unsigned ones. mid is the middle of unsigned codes, 8 or 128.
 * Sums of codes are exact in 32 bits; what follows is f32 in the order of the blocks, the sums, t and the product of the
 * scales rounded, the chain one fused multiply-add for each block, so that every kernel and number of threads gives the
 * same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int.h"

#include <math.h>

/* Sums of a block are exact in int32, those of 8-bit data as float, too (up to 2^24), their corrections in 16 bits. */
#define MAX_BLOCK LPT_BLOCK_MATMUL_MAX_BLOCK

enum { A, B, SCALE_A, SCALE_B, ZERO_B, BIAS, ZERO_A };

typedef struct
{
  LptIntOp op;
  gint64   block;
  gint32   mid;
} BlockMatMul;

static void
block_matmul_run (const LptIntOp           *op,
                  const LptIntArray *const *in,
                  guint                     n_in,
                  const LptIntArray        *out)
{
  const BlockMatMul *mm = (const BlockMatMul *) op;
  const gint64 n = in[B]->shape.dims[0], k = in[B]->shape.dims[1], rows = lpt_int_count (&in[A]->shape) / k;
  const gint64 blocks = (k + mm->block - 1) / mm->block, scales = in[SCALE_B]->shape.dims[1];
  const float *sa = in[SCALE_A]->data, *sb = in[SCALE_B]->data;
  const float *zb = n_in > ZERO_B && in[ZERO_B] != NULL ? in[ZERO_B]->data : NULL;
  const float *bias = n_in > BIAS && in[BIAS] != NULL ? in[BIAS]->data : NULL;
  const LptIntArray *za = n_in > ZERO_A ? in[ZERO_A] : NULL;
  const gint64 row_scales = in[SCALE_A]->shape.dims[in[SCALE_A]->shape.rank - 1];
  float *y = out->data;

  for (gint64 row = 0; row < rows; row++)
    for (gint64 column = 0; column < n; column++)
      {
        float sum = 0;

        for (gint64 b = 0; b < blocks; b++)
          {
            const gint64 end = MIN ((b + 1) * mm->block, k), s = column * scales + b * scales / blocks;
            const gint64 at = row * row_scales + (row_scales == 1 ? 0 : b);
            const gint32 zero = za != NULL ? lpt_int_at (za, at) : 0;
            gint32 acc = 0, codes = 0;
            float t;

            for (gint64 i = b * mm->block; i < end; i++)
              {
                const gint32 p = lpt_int_at (in[A], row * k + i) - zero;

                acc += p * (lpt_int_at (in[B], column * k + i) - mm->mid);
                codes += p;
              }
            t = (float) acc;
            if (zb != NULL)
              t = t - (zb[s] - (float) mm->mid) * (float) codes;
            sum = fmaf (t, sa[at] * sb[s], sum);
          }
        y[row * n + column] = bias != NULL ? sum + bias[column] : sum;
      }
}

static gboolean
is_f32 (LptNode *node,
        guint    i)
{
  const LptValue *value = i < node->n_in ? lpt_node_in (node, i) : NULL;

  return value == NULL || (value->dtype == LPT_DTYPE_F32 && value->quant == NULL);
}

LptIntOp *
lpt_int_block_matmul_new (LptNode              *node,
                          const LptRequantRule *rule,
                          GError              **error)
{
  g_autoptr (LptIntOp) op = NULL;
  BlockMatMul *mm = g_new0 (BlockMatMul, 1);
  LptValue *a = lpt_node_in (node, A), *b = lpt_node_in (node, B);
  const LptValue *za = node->n_in > ZERO_A ? lpt_node_in (node, ZERO_A) : NULL;

  op = &mm->op;
  op->run = block_matmul_run;
  mm->block = LPT_ATTRS (node, LptBlockMatMulAttrs)->block;
  if ((za != NULL ? a->dtype != LPT_DTYPE_U8 || za->dtype != LPT_DTYPE_U8
                  : a->dtype != LPT_DTYPE_I8 && a->dtype != LPT_DTYPE_I16) ||
      b == NULL || b->quant == NULL || lpt_dtype_bits (b->dtype) > 8 ||
      !lpt_dtype_is_integer (b->dtype) || !is_f32 (node, BIAS) || !is_f32 (node, SCALE_A) || !is_f32 (node, SCALE_B) ||
      !is_f32 (node, ZERO_B) || mm->block < 1 || mm->block > MAX_BLOCK)
    {
      lpt_int_refuse (error, "types or block of the product");
      return NULL;
    }
  mm->mid = lpt_dtype_min (b->dtype) < 0 ? 0 : 1 << (lpt_dtype_bits (b->dtype) - 1);

  return g_steal_pointer (&op);
}
