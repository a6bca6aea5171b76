/* executor/kernels/fourier/neon.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA neon
#include "executor/kernels/fourier/body.h"
