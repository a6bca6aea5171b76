/* deconv.c - integer transposed convolutions: an ordinary one for each phase of the output (phases.h)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/conv.h"
#include "executor/operators/phases.h"

typedef struct
{
  LptWeightedView view;
  LptWindow window;
  LptConvShape s;            /* of the whole, but for the windows */
  gsize     in, out;         /* channels of a group */
} Deconv;

static gboolean
deconv_shape (const LptProgramOp *op,
              Deconv             *d)
{
  const LptShape *w = &op->in[1]->array.shape;

  if (lpt_array_count (&op->in[1]->array) == 0 || !lpt_conv_geometry (op, &d->view, &d->window, &d->s))
    return FALSE;
  lpt_window_line_up (&d->window);
  d->in = (gsize) w->dims[d->view.in];
  d->out = (gsize) w->dims[d->view.out];
  lpt_conv_shape_take (&d->s, &d->window);
  /* Rather than those of the result. */
  d->s.id = (gsize) d->window.out[0];
  d->s.od = (gsize) d->window.in[0];

  return d->s.ic == d->s.groups * d->in && d->s.oc == d->s.groups * d->out;
}

/* The weights [groups][in][out][kernel] of one phase as [groups][out][in][its taps], in the order of the places that
 * they read. */
static void
gather_weights (const LptWeightChannels *w,
                const Deconv            *d,
                const LptPhase *const    of[3],
                const LptWindow         *phase,
                guint8                  *to)
{
  const guint8 *from = w->array->data;
  const gint64 *kernel = d->window.kernel, *n = phase->kernel;
  const gsize size = (gsize) lpt_window_size (kernel);
  const gint32 stored = w->array->dtype == LPT_DTYPE_U8 ? 128 : 0;
  gboolean none = of[0]->n_taps == 0 || of[1]->n_taps == 0 || of[2]->n_taps == 0;
  gsize g, o, i;
  gint64 z, y, x;

  for (g = 0; g < d->s.groups; g++)
    for (o = 0; o < d->out; o++)
      for (i = 0; i < d->in; i++)
        for (z = n[0]; z-- > 0; )
          for (y = n[1]; y-- > 0; )
            for (x = n[2]; x-- > 0; )
              {
                gint64 kz = of[0]->tap + z * of[0]->every, ky = of[1]->tap + y * of[1]->every,
                       kx = of[2]->tap + x * of[2]->every;

                *to++ = none ? (guint8) (w->zero[g * d->out + o] + stored)
                             : from[((g * d->in + i) * d->out + o) * size +
                                    (gsize) ((kz * kernel[1] + ky) * kernel[2] + kx)];
              }
}

static void
add_phase (LptConvMaker    *maker,
           guint            i,
           const Deconv    *d,
           const LptPhase  *of[3])
{
  LptConvKey key = { .shape = d->s };
  LptWindow phase;
  LptConvPlace place;
  guint8 *weights;
  guint axis;

  lpt_phase_window (&d->window, of, TRUE, &phase);
  lpt_conv_shape_take (&key.shape, &phase);
  for (axis = 0; axis < 3; axis++)
    {
      key.tap[axis] = of[axis]->tap;
      key.every[axis] = of[axis]->every;
      key.none |= of[axis]->n_taps == 0;
    }
  place = lpt_phase_place (&d->window, of);
  weights = lpt_program_array (d->s.oc * d->in * (gsize) lpt_window_size (phase.kernel), 1);
  if (weights != NULL)
    gather_weights (&maker->match.weights, d, of, &phase, weights);
  lpt_conv_maker_add (maker, i, &key, weights, maker->form->n_parts > 1 ? &place : NULL);
  lpt_aligned_free (weights);
}

gboolean
lpt_prepare_deconv (LptProgram   *program,
                    LptProgramOp *op)
{
  LptConvMatch match;
  LptConvMaker maker;
  LptPhases phases;
  Deconv d;
  guint i;

  if (!lpt_reads_codes_with_weights (op))
    return FALSE;
  if (!deconv_shape (op, &d) || !lpt_phases_init (&phases, &d.window))
    return lpt_refuse (op, LPT_REMARK_GEOMETRY);
  if (!lpt_conv_match (&match, op, &d.view, &d.s) || !lpt_conv_maker_init (&maker, program, op, &match))
    {
      lpt_phases_clear (&phases);
      return FALSE;
    }
  maker.form->od = (gsize) d.window.in[0];
  maker.form->oh = (gsize) d.window.in[1];
  maker.form->ow = (gsize) d.window.in[2];
  maker.form->n_parts = phases.n;
  maker.form->parts = g_new0 (LptConvPart, phases.n);
  for (i = 0; i < phases.n; i++)
    {
      const LptPhase *of[3];

      lpt_phases_at (&phases, i, of);
      add_phase (&maker, i, &d, of);
    }
  lpt_conv_maker_end (&maker);
  lpt_phases_clear (&phases);

  return TRUE;
}
