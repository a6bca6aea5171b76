/* eval/lpt-dynamic.h - the step of an interval that is found at run time
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <glib.h>

/* Of DynamicFakeQuantize: the code of x is round-away (zero + x inverse) within @least to 127, its value
 * (code - zero) scale. */
typedef struct
{
  float scale, inverse, zero, least;
} LptDynamicStep;

/* Of the interval [@lo, @hi] with @lo <= 0 <= @hi that is not empty. */
LptDynamicStep lpt_dynamic_fake_step (gboolean symmetric, float lo, float hi);

/* Of LiteRT 2.5: round-even (x inverse) + zero within -128 .. 127; of the empty interval a step of 1. */
LptDynamicStep lpt_dynamic_row_step (float lo, float hi);

/* The first, and of the empty interval steps of 1. */
LptDynamicStep lpt_dynamic_codes_step (gboolean symmetric, float lo, float hi);
