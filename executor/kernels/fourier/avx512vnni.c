/* executor/kernels/fourier/avx512vnni.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx512vnni
#include "executor/kernels/fourier/body.h"
