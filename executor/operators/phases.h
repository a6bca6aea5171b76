/* phases.h - a transposed convolution as ordinary ones
 *
 * Along an axis of stride s the output positions p, p + s, p + 2 s, ... are a phase: they read the same kernel
 * elements, those k with (p + pad - k dilation) divisible by s, at neighbouring input positions. So each phase is a
 * convolution of stride 1 with some of the kernel, whose result is written to every s-th position. Kernels shorter than
 * the stride leave phases without elements. An input of length 1 has any stride: with one that no position reaches each
 * position is a phase of one element or none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-window.h"
#include "executor/kernels/igemm/conv.h"

/* Position j of the phase is first + j step of the output; its tap t is kernel element tap + t every, and reads input
 * position at + j - t back. */
typedef struct
{
  gint64 first, step, count;
  gint64 tap, every, n_taps;
  gint64 at, back;
} LptPhase;

/* Along one axis, those that have a position. */
typedef struct
{
  guint     n;
  LptPhase *phases;
} LptPhaseAxis;

typedef struct
{
  LptPhaseAxis axes[3];
  guint        n;            /* combinations of phases */
} LptPhases;

/* @window: by lpt_window_init_transposed(). FALSE: there are too many, or of no length. */
gboolean lpt_phases_init  (LptPhases *phases, const LptWindow *window);
void     lpt_phases_clear (LptPhases *phases);
/* Combination @i: one phase of each axis. */
void     lpt_phases_at    (const LptPhases *phases, guint i, const LptPhase *of[3]);
/* The ordinary convolution of one: input of the window's data, kernel elements in the order of the taps (@forward: of
 * their places, so that dilations are positive). */
void     lpt_phase_window (const LptWindow *window, const LptPhase *const of[3], gboolean forward, LptWindow *to);
/* Where its pixels lie in the output. */
LptConvPlace lpt_phase_place (const LptWindow *window, const LptPhase *const of[3]);
