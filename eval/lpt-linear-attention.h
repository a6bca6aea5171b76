/* lpt-linear-attention.h - LinearAttention, state by state
 *
 *     states    one for each head of each batch; executor/kernels/linear has what a token does to it
 *
 * f32 throughout, in the order of the kernel's scalar row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"
#include "executor/kernels/linear/linear.h"
#include "ir/lpt-linear.h"

typedef struct
{
  gsize  batch, tokens, states, key, value;           /* states: of a batch */
  gsize  heads[LPT_LINEAR_INPUTS];                    /* along axis 2; 0: not given */
  gsize  widths[LPT_LINEAR_INPUTS];                   /* along axis 3 */
  gsize  answers;                                     /* heads of the result */
} LptLinearAttention;

/* Shapes of the inputs, static and inferred; NULL: not given. */
LptLinearAttention lpt_linear_attention_make (const LptShape *const *shapes);
/* State @i of all batches; of inputs that are not given the data is not read. */
LptLinear          lpt_linear_attention_state (const LptLinearAttention *l, gsize i, const float *const *in, float *y,
                                               float *state);
