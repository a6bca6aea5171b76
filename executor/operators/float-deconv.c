/* float-deconv.c - transposed convolutions that stay real: an ordinary one for each phase of the output (phases.h), to a
 * few channels all taps at once (float-deconv-taps.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-executor.h>

#include "executor/operators/float-conv.h"

/* The weights [groups][in][out][kernel] as [groups][out][in][taps] of one phase. */
static void
gather_weights (const LptFloatConvShape *s,
                const LptFloatTaps      *taps,
                float                   *to)
{
  gsize g, o, i, t;

  for (g = 0; g < s->groups; g++)
    for (o = 0; o < s->out; o++)
      for (i = 0; i < s->in; i++)
        {
          const float *from = (const float *) s->op->in[1]->array.data + g * taps->group_stride + o * taps->n_stride +
                              i * taps->c_stride;

          for (t = 0; t < taps->taps; t++)
            *to++ = taps->at[t] < 0 ? 0 : from[taps->at[t]];
        }
}

static void
add_phase (const LptFloatConvShape *s,
           LptFloatConvForm        *form,
           guint                    i,
           gboolean                 several,
           const LptPhase          *of[3])
{
  struct { gint64 tap[3], every[3], n[3]; } key;
  LptFloatTaps *taps = lpt_float_taps_new (&s->view, &s->op->in[1]->array.shape, s->window.kernel, of);
  LptFloatPacks weights;
  LptConvPlace place = lpt_phase_place (&s->window, of);
  LptWindow phase;
  float *data;
  guint axis;

  lpt_phase_window (&s->window, of, FALSE, &phase);
  if (s->op->in[1]->kind != LPT_STORAGE_CONST)
    {
      lpt_float_conv_add_part (s, form, i, &phase, NULL, taps, several ? &place : NULL);
      return;
    }
  for (axis = 0; axis < 3; axis++)
    {
      key.tap[axis] = of[axis]->tap;
      key.every[axis] = of[axis]->every;
      key.n[axis] = of[axis]->n_taps;
    }
  weights = (LptFloatPacks) { NULL, &key, sizeof key, s->groups, s->in * taps->taps, s->out, 1, 0 };
  weights.n_stride = (ptrdiff_t) weights.k;
  weights.data = data = lpt_program_array (weights.groups * weights.k * weights.n, sizeof *data);
  if (data != NULL)
    gather_weights (s, taps, data);
  lpt_float_conv_add_part (s, form, i, &phase, &weights, NULL, several ? &place : NULL);
  lpt_aligned_free (data);
  g_free (taps);
}

gboolean
lpt_prepare_float_deconv (LptProgram   *program,
                          LptProgramOp *op)
{
  LptPhases phases;
  LptFloatConvForm *form;
  LptFloatConvShape s;
  guint i;

  if (!lpt_float_conv_shape (program, op, &s))
    return FALSE;
  if (lpt_prepare_float_fold (&s))
    return TRUE;
  if ((program->flags & LPT_PLAN_ORDERED) == 0 && lpt_float_deconv_taps_pay (&s))
    {
      lpt_prepare_float_deconv_taps (&s);
      return TRUE;
    }
  if (!lpt_phases_init (&phases, &s.window))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (s.view.grouped && s.in == 1 && s.out == 1 && op->in[1]->kind == LPT_STORAGE_CONST)
    lpt_prepare_float_dwdeconv (program, op, &s.window, &phases);
  else
    {
      form = lpt_float_conv_form_new (&s, phases.n);
      for (i = 0; i < phases.n; i++)
        {
          const LptPhase *of[3];

          lpt_phases_at (&phases, i, of);
          add_phase (&s, form, i, phases.n > 1, of);
        }
      lpt_float_conv_set_form (&s, form);
    }
  lpt_phases_clear (&phases);

  return TRUE;
}
