/* executor/runtime/lpt-cpu.c - detection of instruction sets
 *
 * x86: cpuid leaves 1 and 7 (sub-leaves 0 and 1), and XGETBV, since a register file that the
 * operating system does not save must not be used. Compiled without any SIMD flag.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <lpt/lpt-cpu.h>

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#if defined (__x86_64__) || defined (__i386__)
#include <cpuid.h>
#if defined (__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined (__aarch64__) && defined (__linux__)
#include <sys/auxv.h>
#endif

/* Levels from low to high within one architecture; `sets` is what a level may use. */
static const struct {
  const char *name;
  LptCpu      sets, marker;
} levels[] = {
  { "scalar",     LPT_CPU_SCALAR, 0 },
  { "avx2",       LPT_CPU_AVX2, LPT_CPU_AVX2 },
  { "avxvnni",    LPT_CPU_AVX2 | LPT_CPU_AVXVNNI, LPT_CPU_AVXVNNI },
  { "avx512vnni", LPT_CPU_AVX2 | LPT_CPU_AVXVNNI | LPT_CPU_AVX512VNNI | LPT_CPU_AVX512VBMI,
    LPT_CPU_AVX512VNNI },
  { "amx",        LPT_CPU_AVX2 | LPT_CPU_AVXVNNI | LPT_CPU_AVX512VNNI | LPT_CPU_AVX512VBMI | LPT_CPU_AMX,
    LPT_CPU_AMX },
  { "neon",       LPT_CPU_NEON, LPT_CPU_NEON },
  { "neondot",    LPT_CPU_NEON | LPT_CPU_NEONDOT, LPT_CPU_NEONDOT },
};

#define N_LEVELS (sizeof levels / sizeof levels[0])

#if defined (__x86_64__) && defined (__linux__)
/* The state of the tiles is large, so Linux wants each process to ask for it: ARCH_REQ_XCOMP_PERM of XTILEDATA. */
static bool
may_use_tiles (void)
{
  return syscall (SYS_arch_prctl, 0x1023, 18) == 0;
}
#elif defined (__x86_64__) || defined (__i386__)
static bool
may_use_tiles (void)
{
  return false;
}
#endif

static LptCpu
detect (void)
{
  LptCpu cpu = 0;

#if defined (__x86_64__) || defined (__i386__)
  unsigned a, b, c, d, max, c1, b7, c7, d7, a71 = 0;
  unsigned xcr0_low, xcr0_high;

  max = __get_cpuid_max (0, NULL);
  if (max < 7)
    return 0;
  __cpuid (1, a, b, c1, d);
  if (!(c1 & (1u << 27)) || !(c1 & (1u << 28)))           /* OSXSAVE, AVX */
    return 0;
  __asm__ volatile ("xgetbv" : "=a" (xcr0_low), "=d" (xcr0_high) : "c" (0));
  if ((xcr0_low & 0x6) != 0x6)                              /* xmm, ymm */
    return 0;

  __cpuid_count (7, 0, a, b7, c7, d7);
  if (a >= 1)
    __cpuid_count (7, 1, a71, b, c, d);

  if ((b7 & (1u << 5)) && (c1 & (1u << 12)) && (c1 & (1u << 29)))   /* AVX2, FMA, F16C */
    cpu |= LPT_CPU_AVX2;
  if ((cpu & LPT_CPU_AVX2) && (a71 & (1u << 4)))
    cpu |= LPT_CPU_AVXVNNI;
  if ((cpu & LPT_CPU_AVX2) && (xcr0_low & 0xe0) == 0xe0)    /* opmask, upper zmm */
    {
      const unsigned need = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);   /* F, DQ, BW, VL */

      if ((b7 & need) == need && (c7 & (1u << 11)))
        cpu |= LPT_CPU_AVX512VNNI | (c7 & (1u << 1) ? LPT_CPU_AVX512VBMI : 0);
    }
  if ((cpu & LPT_CPU_AVX512VBMI) && (d7 & (1u << 24)) && (d7 & (1u << 25))   /* AMX-TILE, AMX-INT8 */
      && (xcr0_low & 0x60000) == 0x60000 && may_use_tiles ())
    cpu |= LPT_CPU_AMX;
#elif defined (__aarch64__)
  cpu |= LPT_CPU_NEON;
#if defined (__linux__)
  if (getauxval (AT_HWCAP) & (1ul << 20))                   /* HWCAP_ASIMDDP */
    cpu |= LPT_CPU_NEONDOT;
#endif
#endif
  return cpu;
}

/* Every plan asks, and cpuid leaves a virtual machine each time. */
LptCpu
lpt_cpu_detect (void)
{
  static _Atomic (LptCpu) found;
  const LptCpu known = 1u << 31;
  LptCpu cpu = atomic_load_explicit (&found, memory_order_relaxed);

  if ((cpu & known) == 0)
    {
      cpu = detect () | known;
      atomic_store_explicit (&found, cpu, memory_order_relaxed);
    }
  return cpu & ~known;
}

bool
lpt_cpu_limit (LptCpu *cpu, const char *level)
{
  for (size_t i = 0; i < N_LEVELS; i++)
    if (strcmp (levels[i].name, level) == 0)
      {
        *cpu &= levels[i].sets;
        return true;
      }
  return false;
}

const char *
lpt_cpu_level_at (unsigned i)
{
  return i < N_LEVELS ? levels[i].name : NULL;
}

const char *
lpt_cpu_level_name (LptCpu cpu)
{
  const char *name = levels[0].name;

  for (size_t i = 1; i < N_LEVELS; i++)
    if (cpu & levels[i].marker)
      name = levels[i].name;
  return name;
}
