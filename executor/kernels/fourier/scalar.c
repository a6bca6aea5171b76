/* executor/kernels/fourier/scalar.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA scalar
#include "executor/kernels/fourier/body.h"
