/* executor/kernels/codes16/scalar.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA scalar
#include "executor/kernels/codes16/body.h"
