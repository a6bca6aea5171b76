/* lpt-more-channels.h - a convolution of few output channels as one of several times as many (widen-convolutions.c,
 * join-phases.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* Output channels that kernels compute at once, at least. */
#define LPT_MORE_LANES 16
/* Elements of a window and products that are worth it, and the share of the time that may be left. */
#define LPT_MORE_WINDOW 64
#define LPT_MORE_PRODUCTS (1 << 18)
#define LPT_MORE_LEFT 0.56

typedef struct
{
  LptGraph *graph;
  LptNode  *node;
  LptNode  *last;                /* whose result is moved: the convolution, or the Dequantize behind it */
  gint64    channels, copies;    /* output channels, and how many times as many become of them */
} LptMoreChannels;

/* Finds the last: one scale for the codes that are moved; sums are made real first, by the one op that reads them.
 * FALSE: it writes something else. */
gboolean  lpt_more_channels_end      (LptMoreChannels *more);
/* @value is a constant, or there is none. */
gboolean  lpt_more_channels_constant (const LptValue *value);
/* One of @values for each channel, again for each copy (g_free). */
double   *lpt_more_channels_repeat   (const LptMoreChannels *more, const double *values);
/* @quant of all channels, which are along @axis (transfer full). */
LptQuant *lpt_more_channels_quant    (const LptMoreChannels *more, const LptQuant *quant, gint axis);
/* A constant of @values in the type of @own, with its quantization for all channels along axis 0; NULL: no memory. */
LptValue *lpt_more_channels_like     (const LptMoreChannels *more, const LptValue *own, const LptShape *shape,
                                      const double *values);
/* The bias of all channels; NULL: no memory, or not one for each channel. */
LptValue *lpt_more_channels_bias     (const LptMoreChannels *more, const LptValue *bias);
/* What rounding left of the bias of the convolution, for all channels of @to, which stands in its place. */
void      lpt_more_channels_rest     (const LptMoreChannels *more, LptNode *to);
/* What moves @x into @shape by @n_in - 1 vectors of @n numbers each, LPT_MAX_RANK apart. */
LptValue *lpt_more_channels_move     (const LptMoreChannels *more, LptOp op, LptValue *x, guint n_in, gint n,
                                      const gint64 *how, const LptShape *shape);
/* The result of @to, which stands in place of the convolution; through a copy of the Dequantize where that comes last,
 * named with @suffix. */
LptValue *lpt_more_channels_result   (const LptMoreChannels *more, LptNode *to, const char *suffix);
