/* executor/kernels/lpt-isa.h - names for bodies that are compiled once per instruction set
 *
 * A body is plain C that the compiler vectorises well; every file <isa>.c defines LPT_ISA and includes it.
 * Integer code and separate IEEE operations (no contraction) give the same bytes everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#define LPT_ISA_PASTE(name, isa) name##__##isa
#define LPT_ISA_NAME(name, isa)  LPT_ISA_PASTE (name, isa)
#define LPT_FN(name)             LPT_ISA_NAME (name, LPT_ISA)
