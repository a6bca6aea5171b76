/* window.h - the kernel of a convolution over its data
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANTIZE_WINDOW_H
#define LPT_QUANTIZE_WINDOW_H

#include "eval/lpt-window.h"
#include "passes/support/lpt-product.h"

/* Over axes 2, 3, ... of data [N,C,...], as eval/real/conv.c computes it. FALSE: @layer is no convolution over 1 to 3
   axes, or lengths are not known. */
gboolean lpt_layer_window    (const LptLayer *layer, const LptShape *data, const LptShape *result, LptWindow *window);
/* The share of the elements of @result that place @k of the kernel (of all axes together) takes part in. */
double   lpt_window_coverage (const LptWindow *window, const LptShape *result, gint64 k);

#endif
