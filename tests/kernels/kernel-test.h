/* tests/kernels/kernel-test.h - a small TAP harness without GLib, random data, and guarded buffers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/lpt-cpu.h"

static unsigned tests_run, tests_failed;

static inline void
test_report (bool ok, const char *format, ...)
{
  va_list args;

  tests_run++;
  tests_failed += !ok;
  printf ("%sok %u - ", ok ? "" : "not ", tests_run);
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  putchar ('\n');
}

/* One line for a row that this processor cannot run. */
static inline void
test_skip (const char *name)
{
  printf ("ok %u - %s # SKIP not on this processor\n", ++tests_run, name);
}

static inline int
test_end (void)
{
  printf ("1..%u\n", tests_run);
  return tests_failed ? 1 : 0;
}

/* xorshift: the same data on every machine. */
static uint64_t random_state = 88172645463325252ull;

static inline uint32_t
random_u32 (void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t) (random_state >> 16);
}

static inline int32_t
random_range (int32_t low, int32_t high)
{
  return low + (int32_t) (random_u32 () % ((uint32_t) (high - low) + 1u));
}

/* Memory that ends exactly at the end of its allocation, so that a sanitizer or valgrind sees a read behind it, with GUARD
 * poisoned bytes on both sides inside for writes. */
#define GUARD 64

typedef struct {
  uint8_t *all, *data;
  size_t   size;
} Buffer;

static inline Buffer
buffer_new (size_t size)
{
  Buffer b = { .size = size };

  b.all = aligned_alloc (64, (size + 2 * GUARD + 63) / 64 * 64);
  if (!b.all)
    abort ();
  memset (b.all, 0xA5, (size + 2 * GUARD + 63) / 64 * 64);
  b.data = b.all + GUARD;
  return b;
}

static inline void
buffer_poison (Buffer *b)
{
  memset (b->all, 0xA5, b->size + 2 * GUARD);
}

static inline bool
buffer_guards_hold (const Buffer *b)
{
  for (size_t i = 0; i < GUARD; i++)
    if (b->all[i] != 0xA5 || b->data[b->size + i] != 0xA5)
      return false;
  return true;
}

static inline void
buffer_free (Buffer *b)
{
  free (b->all);
  b->all = NULL;
}

/* Bytes that must not be read past: an own allocation of exactly this size. */
static inline uint8_t *
exact_bytes (size_t size)
{
  uint8_t *p = malloc (size ? size : 1);

  if (!p)
    abort ();
  for (size_t i = 0; i < size; i++)
    p[i] = (uint8_t) random_u32 ();
  return p;
}

/* Zeros that end at a page that nobody may touch: for instructions that sanitizers do not see. */
static inline uint8_t *
guarded_bytes (size_t size)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE), whole = (size + page - 1) / page * page;
  uint8_t *p = mmap (NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (p == MAP_FAILED || mprotect (p + whole, page, PROT_NONE) != 0)
    abort ();
  return p + whole - size;
}

static inline void
guarded_free (uint8_t *p, size_t size)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE), whole = (size + page - 1) / page * page;

  munmap (p + size - whole, whole + page);
}

static inline void *
aligned_bytes (size_t size)
{
  void *p = aligned_alloc (64, (size + 64) / 64 * 64);

  if (!p)
    abort ();
  memset (p, 0x5A, (size + 64) / 64 * 64);
  return p;
}

static inline LptCpu
test_cpu (void)
{
  LptCpu cpu = lpt_cpu_detect ();
  const char *level = getenv ("LPT_CPU");

  if (level && !lpt_cpu_limit (&cpu, level))
    {
      fprintf (stderr, "unknown LPT_CPU level \"%s\"\n", level);
      exit (2);
    }
  return cpu;
}
