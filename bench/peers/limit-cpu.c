/* bench/peers/limit-cpu.c - holds a peer to an instruction set that is older than the processor's
 *
 * A peer asks the processor what it knows by `cpuid`. bench/limit_cpu.py writes a copy of its library in which each of
 * these is an undefined instruction; preloaded, this answers it, LIMIT_CPU=avx2 without AVX-512, AVX-VNNI and AMX,
 * LIMIT_CPU=avxvnni with AVX-VNNI.
 * Bits: Intel, Architecture Instruction Set Extensions, chapter 1, leaf 7.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define BIT(n) (1u << (n))

/* Leaf 7: AVX-512 F, DQ, IFMA, PF, ER, CD, BW, VL; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ; 4VNNIW, 4FMAPS, VP2INTERSECT,
 * FP16, and AMX. */
static const unsigned AVX512_EBX =
  BIT (16) | BIT (17) | BIT (21) | BIT (26) | BIT (27) | BIT (28) | BIT (30) | BIT (31);
static const unsigned AVX512_ECX = BIT (1) | BIT (6) | BIT (11) | BIT (12) | BIT (14);
static const unsigned AVX512_EDX = BIT (2) | BIT (3) | BIT (8) | BIT (22) | BIT (23) | BIT (24) | BIT (25);
/* Its subleaf 1: AVX512-BF16 and AMX-FP16; AVX-VNNI; AVX-VNNI-INT8 and -INT16. */
static const unsigned MORE_EAX = BIT (5) | BIT (21), AVXVNNI_EAX = BIT (4), AVXVNNI_EDX = BIT (4) | BIT (10);

static bool has_avxvnni;

static void
answer (int sig, siginfo_t *info, void *context)
{
  greg_t *reg = ((ucontext_t *) context)->uc_mcontext.gregs;
  const unsigned char *at = (const unsigned char *) reg[REG_RIP];
  unsigned leaf = (unsigned) reg[REG_RAX], subleaf = (unsigned) reg[REG_RCX], a = 0, b = 0, c = 0, d = 0;

  (void) info;
  if (at[0] != 0x0f || at[1] != 0x0b)
    {
      signal (sig, SIG_DFL);
      return;
    }
  __cpuid_count (leaf, subleaf, a, b, c, d);
  if (leaf == 7 && subleaf == 0)
    {
      b &= ~AVX512_EBX;
      c &= ~AVX512_ECX;
      d &= ~AVX512_EDX;
    }
  else if (leaf == 7 && subleaf == 1)
    {
      a &= ~(MORE_EAX | (has_avxvnni ? 0 : AVXVNNI_EAX));
      d &= ~(has_avxvnni ? 0 : AVXVNNI_EDX);
    }
  reg[REG_RAX] = a;
  reg[REG_RBX] = b;
  reg[REG_RCX] = c;
  reg[REG_RDX] = d;
  reg[REG_RIP] += 2;
}

__attribute__ ((constructor)) static void
limit_cpu (void)
{
  const char *level = getenv ("LIMIT_CPU");
  struct sigaction action;

  memset (&action, 0, sizeof action);
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  has_avxvnni = level && strcmp (level, "avxvnni") == 0;
  sigaction (SIGILL, &action, NULL);
}
