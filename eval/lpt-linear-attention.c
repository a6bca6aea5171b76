/* lpt-linear-attention.c - where each state of LinearAttention has its numbers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-linear-attention.h"

LptLinearAttention
lpt_linear_attention_make (const LptShape *const *shapes)
{
  const LptShape *v = shapes[LPT_LINEAR_VALUE], *state = shapes[LPT_LINEAR_STATE];
  LptLinearAttention l = { .batch = (gsize) v->dims[0], .tokens = (gsize) v->dims[1], .states = (gsize) v->dims[2],
                           .key = (gsize) state->dims[2], .value = (gsize) v->dims[3] };

  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    if (shapes[i] != NULL)
      {
        l.heads[i] = (gsize) shapes[i]->dims[2];
        l.widths[i] = (gsize) shapes[i]->dims[3];
      }
  l.answers = MAX (l.heads[LPT_LINEAR_QUERY], l.states);

  return l;
}

/* What state @h of batch @b reads of input @i */
static LptLinearRows
rows_of (const LptLinearAttention *l,
         gsize                     b,
         gsize                     h,
         guint                     i,
         const float *const       *in)
{
  const gsize token = l->heads[i] * l->widths[i];

  if (l->heads[i] == 0)
    return (LptLinearRows) { NULL, 0 };

  return (LptLinearRows) { in[i] + b * l->tokens * token + h * l->heads[i] / l->states * l->widths[i], token };
}

LptLinear
lpt_linear_attention_state (const LptLinearAttention *l,
                            gsize                     i,
                            const float *const       *in,
                            float                    *y,
                            float                    *state)
{
  const gsize b = i / l->states, h = i % l->states, queries = MAX (l->heads[LPT_LINEAR_QUERY] / l->states, 1);

  return (LptLinear) {
    .tokens = l->tokens, .key = l->key, .value = l->value, .queries = queries, .query_next = l->key,
    .y_next = l->value, .q = rows_of (l, b, h, LPT_LINEAR_QUERY, in), .k = rows_of (l, b, h, LPT_LINEAR_KEY, in),
    .v = rows_of (l, b, h, LPT_LINEAR_VALUE, in), .decay = rows_of (l, b, h, LPT_LINEAR_DECAY, in),
    .beta = rows_of (l, b, h, LPT_LINEAR_BETA, in), .decay_next = l->widths[LPT_LINEAR_DECAY] == l->key,
    .past = in[LPT_LINEAR_STATE] + i * l->key * l->value, .state = state + i * l->key * l->value,
    .y = y + (b * l->tokens * l->answers + h * queries) * l->value, .y_token = l->answers * l->value,
  };
}
