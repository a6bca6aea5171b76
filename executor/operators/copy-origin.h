/* copy-origin.h - where the elements of an array come from, without a number for each of them
 *
 * The index of an element in row-major order is written with digits of given sizes, the first of which counts most. The
 * element comes from place start + from[0][d0] + from[1][d1] + ... of the input, or is a constant where one of the
 * entries is LPT_COPY_FILL. The digits may be the axes of the array, parts of axes, or several axes at once: another
 * shape of the same elements has the same origin. What is copied and compared is the sum of the sizes, not their
 * product.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/copy-box.h"

/* No more elements are looked at one by one, and so all of their numbers are exact in single precision (ask-move.c). */
#define LPT_COPY_MAX_ELEMENTS (G_GINT64_CONSTANT (1) << 23)

typedef struct
{
  guint   n;
  gint64  size[LPT_COPY_MAX_AXES];
  gssize *from[LPT_COPY_MAX_AXES];     /* owned; the first that is no constant is 0 */
  gssize  start;
} LptCopyOrigin;

/* The places of one digit once more (transfer full). */
gssize  *lpt_copy_origin_digit (const LptCopyOrigin *origin, guint digit);
/* Of the elements of @value themselves, as they lie in @layout. */
void     lpt_copy_origin_init  (LptCopyOrigin *origin, const LptProgramValue *value, LptValueLayout layout);
void     lpt_copy_origin_clear (LptCopyOrigin *origin);
/* One digit more, the one that counts least; takes @from. Its place is added to the start where @size is 1 and it is no
 * constant. */
void     lpt_copy_origin_add   (LptCopyOrigin *origin, gint64 size, gssize *from);
/* The same elements by digits of exactly @sizes, at most LPT_COPY_MAX_AXES. FALSE: they are no sums of such, or too
 * many had to be looked at. @to is set only where it is TRUE. */
gboolean lpt_copy_origin_by    (const LptCopyOrigin *origin, const gint64 *sizes, guint n, LptCopyOrigin *to);
/* The same elements by digits each of which lies within one of @sizes; @of: in which. There may be several in one, and
 * none where the size is 1. */
gboolean lpt_copy_origin_within (const LptCopyOrigin *origin, const gint64 *sizes, guint n, LptCopyOrigin *to,
                                 guint *of);

/* --- ask-move.c --- */

/* Elements of an output that are no element of the input. */
typedef struct
{
  gboolean some, equal;        /* there are; all of them are @value */
  guint8   value[8];
} LptCopyFill;

/* Origins of the outputs of @op, whose input 0 has the origin @in, without constants; @out: one for each, @fill: of
 * output 0. FALSE: the op does not run on numbers, or there are too many. @whole: without regard to axes that it leaves
 * alone, which must not make a difference. */
gboolean lpt_copy_origin_ask   (const LptCopyOrigin *in, const LptProgramOp *op, gboolean whole, LptCopyOrigin *out,
                                LptCopyFill *fill);

/* --- move.c --- */

/* Of the output of @op, an Interpolate on reals, by its axes; FALSE: it computes. */
gboolean lpt_copy_origin_nearest (const LptProgramOp *op, LptValueLayout layout, LptCopyOrigin *origin);

/* --- still-axes.c --- */

/* Along an axis that an op leaves alone all lines are alike: it is asked about @keep of the elements, a divisor of the
 * length, and what counts the others becomes the outer part of the output's axis @to. */
typedef struct
{
  gint64 keep[LPT_MAX_RANK];   /* by axis of the input */
  gint   to[LPT_MAX_RANK];
} LptStillAxes;

/* Those of @call, an op of one input and constants. */
void     lpt_find_still_axes   (LptCall *call, LptStillAxes *still);
