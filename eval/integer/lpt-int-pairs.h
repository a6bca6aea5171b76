/* lpt-int-pairs.h - ops on two values of codes, element by element: one loop with broadcasting for all of them
 *
 * Pieces of the inner axis are read as 32-bit codes, made by the row function of the op (LptIntOp.row) and stored in
 * the type of the result. A piece is what tasks of the executor may share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/integer/lpt-int.h"
#include "ir/scalar/lpt-loop.h"

typedef struct
{
  LptLoop loop;                /* both operands, the result */
  gint64  size;                /* elements of a piece at most */
  gint64  pieces;              /* of the inner axis */
  gint64  count;               /* pieces in all */
} LptIntPairs;

/* Elements of a piece that lpt_int_pairs_piece() makes, at most. */
#define LPT_INT_PIECE 512

/* In pieces of @size. FALSE: the operands do not broadcast to the result. */
gboolean lpt_int_pairs_init  (LptIntPairs *pairs, gint64 size, const LptShape *a, const LptShape *b,
                              const LptShape *out);
/* The elements of piece @piece, and where the operands and the result of it begin. */
gint64   lpt_int_pairs_at    (const LptIntPairs *pairs, gint64 piece, gint64 at[3]);
/* Piece @piece of the result. */
void     lpt_int_pairs_piece (const LptIntPairs *pairs, const LptIntOp *op, const LptIntArray *const *in,
                              const LptIntArray *out, gint64 piece);
/* LptIntOp.run of ops that have a row function. */
void     lpt_int_pairs_run   (const LptIntOp *op, const LptIntArray *const *in, guint n_in, const LptIntArray *out);
