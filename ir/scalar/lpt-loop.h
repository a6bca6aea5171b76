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

/* Strides of @in seen under the shape @out: 0 along broadcast axes; ranks align at the right. */
void lpt_broadcast_strides (const LptShape *in, const LptShape *out, gint64 *strides);
/* The same where nobody has checked that @in broadcasts to @out; FALSE + error when it does not. */
gboolean lpt_broadcast_check (const LptShape *in, const LptShape *out, gint64 *strides, GError **error);

/* Next index of an odometer over @rank axes; FALSE past the end. */
gboolean lpt_index_next (gint rank, const gint64 *dims, gint64 *index);
/* Product of dims [from, to). */
gint64   lpt_dims_product (const LptShape *shape, gint from, gint to);
/* Negative indices count from the end; FALSE + error when outside. */
gboolean lpt_index_wrap (gint64 index, gint64 length, gint64 *out, GError **error);
