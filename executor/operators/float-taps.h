/* float-taps.h - weights of real convolutions that somebody computes: packed by the tasks that need them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/float.h"

/* Where the weight of output channel n, input channel c and tap t of a group lies: n n_stride + c c_stride + at[t];
 * negative @at: there is none, it is 0. */
typedef struct
{
  gsize  channels, taps;
  gsize  n_stride, c_stride, group_stride;
  gssize at[];
} LptFloatTaps;

/* Of a convolution or transposed one with weights of @view and shape @w; @of: the phase of a transposed one, or
 * NULL. */
LptFloatTaps *lpt_float_taps_new  (const LptWeightedView *view, const LptShape *w, const gint64 *kernel,
                                   const LptPhase *const *of);
/* Columns [@column, @column + @n) of a group, to panels. FALSE: one is not finite, a product with zero is no zero. */
gboolean      lpt_float_taps_pack (const LptFloatTaps *taps, const float *w, gsize column, gsize n, float *panels);
/* What the kernel made of @tile with weights that are not finite, made again for rows that reach beyond the image,
 * whose taps there point to @zeros: from those inside alone. @room: for panels of these columns and the pointers of a
 * row. */
void          lpt_float_taps_redo (const LptFloatTaps *taps, const LptFgemmKernel *kernel, const LptFgemmTile *tile,
                                   const float *zeros, const float *w, gsize column, float *room);
/* The room, in bytes, of panels of @n columns, and of all that a task with @n columns has. */
gsize         lpt_float_taps_panels (const LptFloatTaps *taps, gsize n);
gsize         lpt_float_taps_room   (const LptFloatTaps *taps, gsize n);
