/* linear-attention.c - LinearAttention, state by state: eval/lpt-linear-attention.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-exec-ops.h"
#include "eval/lpt-linear-attention.h"

gboolean
lpt_run_linear_attention (LptCall *call,
                          GError **error)
{
  const LptShape *shapes[LPT_LINEAR_INPUTS] = { NULL };
  const float *in[LPT_LINEAR_INPUTS] = { NULL };
  LptLinearAttention l;
  float *y, *state;

  for (guint i = 0; i < LPT_LINEAR_INPUTS; i++)
    if (lpt_call_has (call, i))
      {
        shapes[i] = &call->in[i].shape;
        in[i] = lpt_call_f32 (call, i, error);
        if (in[i] == NULL)
          return FALSE;
      }
  y = lpt_call_out_f32 (call, 0, error);
  state = y != NULL ? lpt_call_out_f32 (call, 1, error) : NULL;
  if (state == NULL)
    return FALSE;
  l = lpt_linear_attention_make (shapes);
  for (gsize i = 0; i < l.batch * l.states; i++)
    {
      const LptLinear p = lpt_linear_attention_state (&l, i, in, y, state);

      lpt_linear_scalar ()->run (&p, 0, l.value);
    }

  return TRUE;
}
