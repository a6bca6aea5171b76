/* phases.c - a transposed convolution as ordinary ones
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <glib.h>

#include "executor/operators/phases.h"
#include "ir/scalar/lpt-loop.h"

/* Each has weights and parameters of its own. */
#define MAX_PHASES 256

/* Kernel elements of the phase that begins at @phase->first; one that reads padding alone where there are none. */
static void
find_taps (LptPhase        *phase,
           const LptWindow *v,
           guint            axis,
           gint64           stride)
{
  const gint64 from = phase->first + v->pad[axis], dilation = v->dilation[axis], kernel = v->kernel[axis];
  gint64 tap = 0;

  phase->every = stride / lpt_common_divisor (stride, dilation);
  phase->back = phase->every * dilation / stride;
  while (tap < kernel && tap < phase->every && (from - tap * dilation) % stride != 0)
    tap++;
  phase->tap = tap;
  phase->n_taps = 0;
  phase->at = 0;
  if (tap >= kernel || tap >= phase->every)
    return;
  phase->n_taps = (kernel - 1 - tap) / phase->every + 1;
  phase->at = (from - tap * dilation) / stride;
}

/* @any_stride: for an input of length 1. */
static gboolean
find_axis (LptPhaseAxis    *to,
           const LptWindow *v,
           guint            axis,
           gboolean         any_stride)
{
  const gint64 length = v->in[axis];
  gint64 stride = v->stride[axis];
  guint i;

  if (length < 1 || v->out[axis] < 1 || v->kernel[axis] < 1 || length > G_MAXINT32 || v->kernel[axis] > G_MAXINT16 ||
      v->dilation[axis] > G_MAXINT16 || stride > G_MAXINT16 || ABS (v->pad[axis]) > G_MAXINT32)
    return FALSE;
  if (v->out[axis] == 1 && any_stride)
    stride = length + ABS (v->pad[axis]) + v->kernel[axis] * v->dilation[axis];
  to->n = (guint) MIN (stride, length);
  if (to->n > MAX_PHASES)
    return FALSE;
  to->phases = g_new0 (LptPhase, to->n);
  for (i = 0; i < to->n; i++)
    {
      LptPhase *phase = &to->phases[i];

      phase->first = i;
      phase->count = (length - 1 - phase->first) / stride + 1;
      phase->step = phase->count > 1 ? stride : 1;
      find_taps (phase, v, axis, stride);
    }

  return TRUE;
}

static gboolean
find_axes (LptPhases       *phases,
           const LptWindow *window,
           gboolean         any_stride)
{
  guint axis;

  *phases = (LptPhases) { .n = 1 };
  for (axis = 0; axis < 3; axis++)
    {
      if (!find_axis (&phases->axes[axis], window, axis, any_stride) || phases->n * phases->axes[axis].n > MAX_PHASES)
        {
          lpt_phases_clear (phases);
          return FALSE;
        }
      phases->n *= phases->axes[axis].n;
    }

  return TRUE;
}

gboolean
lpt_phases_init (LptPhases       *phases,
                 const LptWindow *window)
{
  return find_axes (phases, window, TRUE) || find_axes (phases, window, FALSE);
}

void
lpt_phases_clear (LptPhases *phases)
{
  guint axis;

  for (axis = 0; axis < 3; axis++)
    g_clear_pointer (&phases->axes[axis].phases, g_free);
}

void
lpt_phases_at (const LptPhases *phases,
               guint            i,
               const LptPhase  *of[3])
{
  guint axis;

  for (axis = 3; axis-- > 0; i /= phases->axes[axis].n)
    of[axis] = &phases->axes[axis].phases[i % phases->axes[axis].n];
}

void
lpt_phase_window (const LptWindow       *window,
                  const LptPhase *const  of[3],
                  gboolean               forward,
                  LptWindow             *to)
{
  guint axis;

  for (axis = 0; axis < 3; axis++)
    {
      const LptPhase *phase = of[axis];

      to->in[axis] = window->out[axis];
      to->out[axis] = phase->count;
      to->kernel[axis] = MAX (phase->n_taps, 1);
      to->stride[axis] = 1;
      to->pad_end[axis] = 0;
      to->dilation[axis] = forward ? phase->back : -phase->back;
      to->pad[axis] = -phase->at + (forward ? (to->kernel[axis] - 1) * phase->back : 0);
      /* Behind the image. */
      if (phase->n_taps == 0)
        to->pad[axis] = -window->out[axis];
    }
}

LptConvPlace
lpt_phase_place (const LptWindow       *window,
                 const LptPhase *const  of[3])
{
  const size_t line = (size_t) window->in[2], plane = (size_t) window->in[1] * line;

  return (LptConvPlace) { .first = (size_t) of[0]->first * plane + (size_t) of[1]->first * line + (size_t) of[2]->first,
                          .x = (size_t) of[2]->step,
                          .y = (size_t) of[1]->step * line,
                          .z = (size_t) of[0]->step * plane,
                          .image = (size_t) window->in[0] * plane };
}
