/* lpt-lite-svdf.h - sizes and multipliers of a LiteSVDF, for its function (lpt-lite-recurrent.c) and its kernels
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"
#include "eval/requant/lpt-multiplier.h"

typedef struct
{
  gint64        batch, inputs, filters, memory, rank;
  LptMultiplier newest, result;          /* of the newest of a state, of what goes out */
} LptLiteSvdf;

/* @features, @time: the weights. */
LptLiteSvdf lpt_lite_svdf (LptNode *node, const LptArray *x, const LptArray *features, const LptArray *time,
                           const LptArray *state, const LptArray *y);
