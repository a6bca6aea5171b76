/* window.h - the kernel of a convolution over its data
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANTIZE_WINDOW_H
#define LPT_QUANTIZE_WINDOW_H

#include "passes/support/lpt-product.h"

/* Over axes 2, 3, ... of data [N,C,...]: element y of the result and place k of the kernel meet at x = y stride - pad +
   k dilation
   of the data; of a transposed convolution x of the data and k meet at y = x stride - pad + k dilation. */
typedef struct
{
  gint     n;
  gboolean transposed;
  gint64   in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
} LptWindow;

/* FALSE: @layer is no convolution over 1 to 3 axes, or lengths are not known. */
gboolean lpt_window_read     (const LptLayer *layer, const LptShape *data, const LptShape *result, LptWindow *window);
/* The share of the result's elements that place @k of the kernel (of all axes together) takes part in. */
double   lpt_window_coverage (const LptWindow *window, gint64 k);

#endif
