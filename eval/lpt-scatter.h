/* lpt-scatter.h - what ScatterNDUpdate makes of rows by its reduction, as the plain op and its form do it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-attrs.h>

/* y[k] = y[k] op x[k] in f32, as in f64 and rounded: one sum, difference or product of two f32 is the same either way,
 * as 53 bits are more than twice 24 and 2. A mean adds; LPT_REDUCTION_NONE is none. */
void lpt_scatter_row (LptReduction reduction, gsize n, const float *x, float *y);
