/* executor/kernels/codes16/avx512vnni.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA avx512vnni
#include "executor/kernels/codes16/body.h"
