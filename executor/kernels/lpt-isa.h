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

/* A tile of registers. Its callers give it constants, so that rows and columns that a variant lacks fold away; under
 * a sanitizer it is one function with variables in their place: compilers need minutes for all copies. */
#if defined (__SANITIZE_ADDRESS__) || defined (__SANITIZE_THREAD__)
#define LPT_ONE_TILE 1
#elif defined (__has_feature)
#if __has_feature (address_sanitizer) || __has_feature (thread_sanitizer)
#define LPT_ONE_TILE 1
#endif
#endif
#ifdef LPT_ONE_TILE
#define LPT_TILE static __attribute__ ((noinline, unused))
#define LPT_TILE_UNROLL   /* copies beyond the end of a loop of variable length look like accesses to gcc */
#else
#define LPT_TILE static inline __attribute__ ((always_inline))
#define LPT_TILE_UNROLL _Pragma ("GCC unroll 16")
#endif
