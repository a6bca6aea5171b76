/* float-deconv.c - transposed convolutions that stay real: an ordinary one for each phase of the output (phases.h)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/float-conv.h"

/* The weights [groups][in][out][kernel] of one phase as [groups][out][in][its taps]. */
static void
gather_weights (const LptFloatConvShape *s,
                const LptPhase *const    of[3],
                const LptWindow         *phase,
                float                   *to)
{
  const float *from = s->op->in[1]->array.data;
  const gint64 *kernel = s->window.kernel, *n = phase->kernel;
  const gsize size = (gsize) lpt_window_size (kernel);
  gsize g, o, i;
  gint64 z, y, x;

  for (g = 0; g < s->groups; g++)
    for (o = 0; o < s->out; o++)
      for (i = 0; i < s->in; i++)
        for (z = 0; z < n[0]; z++)
          for (y = 0; y < n[1]; y++)
            for (x = 0; x < n[2]; x++)
              {
                gint64 kz = of[0]->tap + z * of[0]->every, ky = of[1]->tap + y * of[1]->every,
                       kx = of[2]->tap + x * of[2]->every;

                *to++ = kz < kernel[0] && ky < kernel[1] && kx < kernel[2]
                            ? from[((g * s->in + i) * s->out + o) * size +
                                   (gsize) ((kz * kernel[1] + ky) * kernel[2] + kx)]
                            : 0;
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
  LptFloatPacks weights;
  LptConvPlace place = lpt_phase_place (&s->window, of);
  LptWindow phase;
  float *data;
  guint axis;

  lpt_phase_window (&s->window, of, FALSE, &phase);
  if (s->op->in[1]->kind != LPT_STORAGE_CONST)
    {
      LptFloatTaps *computed = lpt_float_taps_new (&s->view, &s->op->in[1]->array.shape, s->window.kernel, of);

      lpt_float_conv_add_part (s, form, i, &phase, NULL, computed, several ? &place : NULL);
      return;
    }
  for (axis = 0; axis < 3; axis++)
    {
      key.tap[axis] = of[axis]->tap;
      key.every[axis] = of[axis]->every;
      key.n[axis] = of[axis]->n_taps;
    }
  weights = (LptFloatPacks) { NULL, &key, sizeof key, s->groups, s->in * (gsize) lpt_window_size (phase.kernel),
                              s->out, 1, 0 };
  weights.n_stride = (ptrdiff_t) weights.k;
  weights.data = data = lpt_program_array (weights.groups * weights.k * weights.n, sizeof *data);
  if (data != NULL)
    gather_weights (s, of, &phase, data);
  lpt_float_conv_add_part (s, form, i, &phase, &weights, NULL, several ? &place : NULL);
  lpt_aligned_free (data);
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
