/* lpt-int-pairs.c - see lpt-int-pairs.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/integer/lpt-int-pairs.h"

gboolean
lpt_int_pairs_init (LptIntPairs    *pairs,
                    gint64          size,
                    const LptShape *a,
                    const LptShape *b,
                    const LptShape *out)
{
  gint64 strides[3][LPT_MAX_RANK];

  if (!lpt_broadcast_check (a, out, strides[0], NULL) || !lpt_broadcast_check (b, out, strides[1], NULL))
    return FALSE;
  lpt_shape_strides (out, strides[2]);
  lpt_loop_init (&pairs->loop, out, 3, strides);
  pairs->size = size;
  pairs->pieces = (pairs->loop.inner + size - 1) / size;
  pairs->count = pairs->loop.done ? 0 : lpt_int_count (out) / pairs->loop.inner * pairs->pieces;

  return TRUE;
}

gint64
lpt_int_pairs_at (const LptIntPairs *pairs,
                  gint64             piece,
                  gint64             at[3])
{
  const gint64 first = piece % pairs->pieces * pairs->size;

  lpt_loop_at (&pairs->loop, piece / pairs->pieces, first, at);

  return MIN (pairs->loop.inner - first, pairs->size);
}

/* One where the operand repeats, else @n; read as they follow each other. */
static void
read_codes (const LptIntArray *in,
            gint64             at,
            gint64             step,
            gint64             n,
            gint32            *codes)
{
  const gint64 count = step == 0 ? 1 : n;

  switch ((guint) in->dtype)
    {
    case LPT_DTYPE_U8:
      for (gint64 i = 0; i < count; i++)
        codes[i] = ((const guint8 *) in->data)[at + i * step];
      break;
    case LPT_DTYPE_I8:
      for (gint64 i = 0; i < count; i++)
        codes[i] = ((const gint8 *) in->data)[at + i * step];
      break;
    default:
      for (gint64 i = 0; i < count; i++)
        codes[i] = lpt_int_at (in, at + i * step);
    }
}

static void
write_codes (const LptIntArray *out,
             gint64             at,
             gint64             step,
             gint64             n,
             const gint32      *codes)
{
  if (lpt_dtype_bits (out->dtype) == 8 && step == 1)
    for (gint64 i = 0; i < n; i++)
      ((guint8 *) out->data)[at + i] = (guint8) codes[i];
  else
    for (gint64 i = 0; i < n; i++)
      lpt_int_put (out, at + i * step, codes[i]);
}

void
lpt_int_pairs_piece (const LptIntPairs        *pairs,
                     const LptIntOp           *op,
                     const LptIntArray *const *in,
                     const LptIntArray        *out,
                     gint64                    piece)
{
  const LptLoop *loop = &pairs->loop;
  gint32 a[LPT_INT_PIECE], b[LPT_INT_PIECE], y[LPT_INT_PIECE];
  gint64 at[3];
  const gint64 n = lpt_int_pairs_at (pairs, piece, at);

  read_codes (in[0], at[0], loop->step[0], n, a);
  read_codes (in[1], at[1], loop->step[1], n, b);
  op->row (op, &(LptIntRow) { .first = at[2], .n = n, .a = a, .b = b, .step_a = loop->step[0] != 0,
                              .step_b = loop->step[1] != 0, .y = y });
  write_codes (out, at[2], loop->step[2], n, y);
}

void
lpt_int_pairs_run (const LptIntOp           *op,
                   const LptIntArray *const *in,
                   guint                     n_in,
                   const LptIntArray        *out)
{
  LptIntPairs pairs;

  /* Shapes of a prepared op broadcast. */
  if (!lpt_int_pairs_init (&pairs, LPT_INT_PIECE, &in[0]->shape, &in[1]->shape, &out->shape))
    return;
  for (gint64 i = 0; i < pairs.count; i++)
    lpt_int_pairs_piece (&pairs, op, in, out, i);
}
