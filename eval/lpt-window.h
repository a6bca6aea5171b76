/* lpt-window.h - geometry of convolutions and pools: one to three spatial axes, padding resolved
 *
 * Fewer than three axes are filled up in front with length 1, so one loop nest serves all ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "ir/lpt-weighted.h"

typedef struct
{
  gint64 in[3], out[3], kernel[3], stride[3], dilation[3];
  gint64 pad[3], pad_end[3];
} LptWindow;

typedef struct
{
  const LptInts *strides, *dilations, *pads_begin, *pads_end;   /* dilations: NULL = 1 */
  int            auto_pad;                                      /* LptAutoPad */
} LptWindowAttrs;

/* @in, @out: spatial lengths of @n axes; FALSE + error unless 1 <= n <= 3 and strides and dilations are positive. */
gboolean lpt_window_init (LptWindow *window, gint n, const gint64 *in, const gint64 *out, const gint64 *kernel,
                          const LptWindowAttrs *attrs, GError **error);

/* Of a convolution (lpt_weighted_view) of data @x of rank 3 or more with weights @w, whose result is @y of that rank,
 * too. Of a transposed one the roles of input and output are swapped: window->in has the lengths of @y, window->out
 * those of @x. Padding that auto_pad chooses follows from them and output_padding; the odd element is at the beginning
 * for same_upper, at the end for same_lower. */
gboolean lpt_window_init_weighted (LptWindow *window, const LptWeightedView *view, const LptShape *x, const LptShape *w,
                                   const LptShape *y, GError **error);

/* The kernel of a pool (MaxPool, AvgPool), and in @attrs what else it says of its windows. */
const LptInts *lpt_window_of_pool (const LptNode *node, LptWindowAttrs *attrs);
/* Of a pool of data @x whose result is @y. FALSE + error: as lpt_window_init(), or they have not the axes of its kernel
 * behind two more. */
gboolean lpt_window_init_pool (LptWindow *window, const LptNode *node, const LptShape *x, const LptShape *y,
                               GError **error);

/* Moves the last axes over which there is nothing to go (length, kernel and result of 1, no padding) to the front: the
 * same elements in the same order, along longer lines. */
void     lpt_window_line_up (LptWindow *window);
/* Lines of the data that the kernel spans as a whole are one line, and so are its own: the same elements in the same
 * order, where data of one channel, or with the channels last, has no gaps between its lines. */
void     lpt_window_flatten (LptWindow *window);

/* Does a window lie beside the input, in padding alone? */
gboolean lpt_window_misses (const LptWindow *window);

/* Is a window so much longer than the data that nearly all of its places are padding? Who goes through them all does not
 * end. */
gboolean lpt_window_is_vast (const LptWindow *window);

/* Output positions [from, to) along @axis whose input at kernel offset @k lies inside. */
void     lpt_window_range (const LptWindow *window, guint axis, gint64 k, gint64 *from, gint64 *to);
/* Those whose taps along @axis all lie inside; none: *from == *to, within the output. */
void     lpt_window_inside (const LptWindow *window, guint axis, gint64 *from, gint64 *to);

static inline gint64
lpt_window_size (const gint64 *v)
{
  return v[0] * v[1] * v[2];
}
