/* executor/kernels/wide16/scalar.c - body.h compiled for this instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define LPT_ISA scalar
#include "executor/kernels/wide16/body.h"
