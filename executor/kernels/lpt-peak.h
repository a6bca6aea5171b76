/* executor/kernels/lpt-peak.h - what the processor's own dot product instruction reaches
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/lpt-cpu.h"

/* 8-bit multiply-accumulates per second and core, in units of 1e9: the best of many short loops of nothing but the level's
 * instruction, once with all operands in registers and once with one from the first cache. Thread CPU time; about 0.1 s.
 * 0 for the scalar level. */
double lpt_peak_measure (LptCpu cpu);
