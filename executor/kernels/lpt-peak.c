/* lpt-peak.c - what the processor's own dot product instruction reaches
 *
 * Twelve independent sums, enough to hide the latency of the instruction. Assembler, so that the file needs no flags of
 * an instruction set; a loop runs only where the processor has it.
 *
 *   amx         tdpbusd, 16384 products, four sums
 *   avx512vnni  vpdpbusd zmm, 64 products      avxvnni  vpdpbusd ymm, 32      avx2  vpmaddwd + vpaddd ymm, 16 (exact)
 *   neondot     sdot, 16                       neon     smlal, 4
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <lpt/lpt-cpu.h>

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { SUMS = 12, ROUNDS = 20, TURNS = 200000 };

#define REPEAT(X) X (0) X (1) X (2) X (3) X (4) X (5) X (6) X (7) X (8) X (9) X (10) X (11)

typedef void (*PeakLoop) (long n, const int8_t *buffer);

#if defined (__x86_64__)
#define LOOP(name, body)                                                                                    \
  static void name (long n, const int8_t *buffer)                                                           \
  {                                                                                                         \
    __asm__ volatile (".p2align 5\n1:\n" body "dec %0\njnz 1b\nvzeroupper\n" : "+r" (n) : "r" (buffer)      \
                      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory");                             \
  }
#define ZMM_REGISTER(i) "vpdpbusd %%zmm13, %%zmm12, %%zmm" #i "\n"
#define ZMM_CACHE(i) "vpdpbusd 64*" #i "(%1), %%zmm12, %%zmm" #i "\n"
#define YMM_REGISTER(i) "%{vex%} vpdpbusd %%ymm13, %%ymm12, %%ymm" #i "\n"
#define YMM_CACHE(i) "%{vex%} vpdpbusd 32*" #i "(%1), %%ymm12, %%ymm" #i "\n"
#define WIDE_REGISTER(i) "vpmaddwd %%ymm13, %%ymm12, %%ymm14\nvpaddd %%ymm14, %%ymm" #i ", %%ymm" #i "\n"
#define WIDE_CACHE(i) "vpmaddwd 32*" #i "(%1), %%ymm12, %%ymm14\nvpaddd %%ymm14, %%ymm" #i ", %%ymm" #i "\n"

static void
tile_register (long n, const int8_t *buffer)
{
  static const struct
  {
    uint8_t  palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t  rows[16];
  } all = { 1, 0, { 0 }, { 64, 64, 64, 64, 64, 64, 64, 64 }, { 16, 16, 16, 16, 16, 16, 16, 16 } };

  (void) buffer;
  __asm__ volatile ("ldtilecfg %1\n.p2align 5\n1:\n"
                    "tdpbusd %%tmm6, %%tmm4, %%tmm0\ntdpbusd %%tmm7, %%tmm4, %%tmm1\n"
                    "tdpbusd %%tmm6, %%tmm5, %%tmm2\ntdpbusd %%tmm7, %%tmm5, %%tmm3\n"
                    "dec %0\njnz 1b\ntilerelease\n" : "+r" (n) : "m" (all) : "memory");
}
LOOP (zmm_register, REPEAT (ZMM_REGISTER))
LOOP (zmm_cache, REPEAT (ZMM_CACHE))
LOOP (ymm_register, REPEAT (YMM_REGISTER))
LOOP (ymm_cache, REPEAT (YMM_CACHE))
LOOP (wide_register, REPEAT (WIDE_REGISTER))
LOOP (wide_cache, REPEAT (WIDE_CACHE))
#elif defined (__aarch64__)
#define LOOP(name, body)                                                                                    \
  static void name (long n, const int8_t *buffer)                                                           \
  {                                                                                                         \
    __asm__ volatile (".arch armv8.2-a+dotprod\n1:\nldr q13, [%1]\n" body "subs %0, %0, #1\nb.ne 1b\n" : "+r" (n) : "r" (buffer) \
                      : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "cc", "memory"); \
  }
#define DOT(i) "sdot v" #i ".4s, v12.16b, v13.16b\n"
#define WIDE(i) "smlal v" #i ".4s, v12.4h, v13.4h\n"
LOOP (dot, REPEAT (DOT))
LOOP (wide, REPEAT (WIDE))
#endif

static const struct
{
  LptCpu   needs;
  double   macs;                    /* of a turn */
  PeakLoop loops[2];
} rows[] = {
#if defined (__x86_64__)
  { LPT_CPU_AMX, 4 * 16384, { tile_register, NULL } },
  { LPT_CPU_AVX512VNNI, 64 * SUMS, { zmm_register, zmm_cache } },
  { LPT_CPU_AVXVNNI, 32 * SUMS, { ymm_register, ymm_cache } },
  { LPT_CPU_AVX2, 16 * SUMS, { wide_register, wide_cache } },
#elif defined (__aarch64__)
  { LPT_CPU_NEONDOT, 16 * SUMS, { dot, NULL } },
  { LPT_CPU_NEON, 4 * SUMS, { wide, NULL } },
#endif
  { 0, 0, { NULL, NULL } },
};

static double
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

double
lpt_cpu_peak (LptCpu cpu)
{
  static const int8_t buffer[64 * SUMS] __attribute__ ((aligned (64))) = { 0 };
  double best = 0;
  size_t row = 0;

  while (rows[row].needs != 0 && !(cpu & rows[row].needs))
    row++;
  for (int i = 0; i < 2 * ROUNDS; i++)
    {
      PeakLoop loop = rows[row].loops[i % 2];
      double t, rate;

      if (!loop)
        continue;
      t = now ();
      loop (TURNS, buffer);
      t = now () - t;
      rate = t > 0 ? TURNS * rows[row].macs / t * 1e-9 : 0;
      best = rate > best ? rate : best;
    }
  return best;
}
