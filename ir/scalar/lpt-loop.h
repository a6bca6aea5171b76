/* lpt-loop.h - loops over several arrays with broadcasting
 *
 * Axes of length 1 are dropped and neighbouring axes merged where all operands allow it; the innermost one is
 * the caller's loop:
 *
 *   for (lpt_loop_init (&l, &shape, 2, strides); !l.done; lpt_loop_next (&l))
 *     for (i = 0; i < l.inner; i++)
 *       y[l.offset[1] + i * l.step[1]] = f (x[l.offset[0] + i * l.step[0]]);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-types.h>

#define LPT_LOOP_MAX 8

typedef struct
{
  guint    n;
  gint     rank;                                  /* outer axes */
  gboolean done;
  gint64   inner;
  gint64   step[LPT_LOOP_MAX];                    /* of the inner axis */
  gint64   offset[LPT_LOOP_MAX];
  gint64   dims[LPT_MAX_RANK];
  gint64   index[LPT_MAX_RANK];
  gint64   strides[LPT_LOOP_MAX][LPT_MAX_RANK];
} LptLoop;

void lpt_loop_init (LptLoop *loop, const LptShape *shape, guint n, gint64 (*strides)[LPT_MAX_RANK]);
void lpt_loop_next (LptLoop *loop);
/* Where the arrays are at element @first of the inner axis of outer iteration @row: for loops that tasks share. */
void lpt_loop_at   (const LptLoop *loop, gint64 row, gint64 first, gint64 *at);

/* The same loop, one element after another: at[k] is the offset of operand k. */
typedef struct
{
  LptLoop loop;
  gint64  i;
  gint64  at[LPT_LOOP_MAX];
} LptWalk;

void lpt_walk_init      (LptWalk *walk, const LptShape *shape, guint n, gint64 (*strides)[LPT_MAX_RANK]);
/* Of @n arrays whose shapes broadcast to @out. */
void lpt_walk_broadcast (LptWalk *walk, const LptShape *out, guint n, const LptShape *const *in);

static inline void
lpt_walk_next (LptWalk *walk)
{
  guint k;

  if (++walk->i < walk->loop.inner)
    {
      for (k = 0; k < walk->loop.n; k++)
        walk->at[k] += walk->loop.step[k];
      return;
    }
  lpt_loop_next (&walk->loop);
  walk->i = 0;
  for (k = 0; k < walk->loop.n; k++)
    walk->at[k] = walk->loop.offset[k];
}

/* Strides of @in seen under the shape @out: 0 along broadcast axes; ranks align at the right. */
void lpt_broadcast_strides (const LptShape *in, const LptShape *out, gint64 *strides);
/* The same where nobody has checked that @in broadcasts to @out; FALSE + error when it does not. */
gboolean lpt_broadcast_check (const LptShape *in, const LptShape *out, gint64 *strides, GError **error);

/* Next index of an odometer over @rank axes; FALSE past the end. */
gboolean lpt_index_next (gint rank, const gint64 *dims, gint64 *index);
/* Product of dims [from, to). */
gint64   lpt_dims_product (const LptShape *shape, gint from, gint to);
/* Of an operand of MatMul: a vector is a row, at the @right a column, and is not transposed; a number is both. */
void     lpt_shape_to_matrix (LptShape *shape, gboolean *transpose, gboolean right);
/* The greatest number that divides both; that of 0 and another is the other. */
gint64   lpt_common_divisor (gint64 a, gint64 b);
/* Negative indices count from the end; FALSE + error when outside. */
gboolean lpt_index_wrap (gint64 index, gint64 length, gint64 *out, GError **error);
