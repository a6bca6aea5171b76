/* lpt-cpu.h - which instruction sets the processor and the operating system offer
 *
 * A set of bits, found by cpuid and XGETBV (x86) or the auxiliary vector (Arm), once for the
 * process. Nothing here depends on GLib.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LPT_CPU_H
#define LPT_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include <lpt/lpt-export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of instruction sets. Plain data. */
typedef uint32_t LptCpu;

enum {
  LPT_CPU_SCALAR     = 0,
  LPT_CPU_AVX2       = 1u << 0, /* AVX2, FMA and F16C */
  LPT_CPU_AVXVNNI    = 1u << 1, /* VEX-coded vpdpbusd */
  LPT_CPU_AVX512VNNI = 1u << 2, /* AVX512 F, BW, DQ, VL and VNNI */
  LPT_CPU_AVX512VBMI = 1u << 3, /* byte permutes, together with AVX512VNNI */
  LPT_CPU_NEON       = 1u << 4,
  LPT_CPU_NEONDOT    = 1u << 5, /* sdot and udot */
  LPT_CPU_AMX        = 1u << 6  /* AMX tiles of bytes, together with AVX512VNNI and AVX512VBMI */
};

/* What this machine can run. On Linux, AMX tiles ask the system for leave to use them, once for the process. */
LPT_EXPORT LptCpu      lpt_cpu_detect     (void);

/* Lowers *cpu to a level by name (lpt_cpu_level_at ()); a level above the
 * machine's leaves it unchanged. False for an unknown name. */
LPT_EXPORT bool        lpt_cpu_limit      (LptCpu *cpu, const char *level);

/* Names of the levels of every architecture, from low to high in each; NULL behind the last. */
LPT_EXPORT const char *lpt_cpu_level_at   (unsigned i);

/* Name of the highest level in `cpu`. */
LPT_EXPORT const char *lpt_cpu_level_name (LptCpu cpu);

/* Whether a kernel that needs `needs` may run on `cpu`. */
static inline bool
lpt_cpu_has (LptCpu cpu, LptCpu needs)
{
  return (needs & ~cpu) == 0;
}

/* 8-bit multiply-accumulates per second and core, in units of 1e9: the best of many short loops of nothing but the
 * level's own dot product instruction, once with all operands in registers and once with one from the first cache.
 * Thread CPU time; about 0.1 s. 0 for the scalar level. */
LPT_EXPORT double      lpt_cpu_peak       (LptCpu cpu);
/* Bytes that one core reads from memory per second, in units of 1e9: the best of a few sums over 64 MiB; about 0.1 s.
 * 0: no memory. */
LPT_EXPORT double      lpt_cpu_bandwidth  (void);

#ifdef __cplusplus
}
#endif

#endif
