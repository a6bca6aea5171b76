/* executor/kernels/fourier/avx2.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx2
#include "executor/kernels/fourier/body.h"
