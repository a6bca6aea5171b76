/* tests/kernels/kernel-test.h - a small TAP harness without GLib, random data, and guarded buffers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lpt/lpt-cpu.h>

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

/* The nearest number of @bits bits, a multiple of 2^(@least - bits + 1), infinite from @end on; the even one of two. */
static inline double
nearest_float (double x, int bits, int least, double end)
{
  int e;
  double step;

  if (isnan (x) || fabs (x) >= end)
    return isnan (x) ? x : copysign (INFINITY, x);
  frexp (x, &e);
  step = ldexp (1, (e - 1 < least ? least : e - 1) - bits + 1);
  return copysign (nearbyint (x / step) * step, x);
}

/* One line for a row that this processor cannot run. */
static inline void
test_skip (const char *name)
{
  printf ("ok %u - %s # SKIP not on this processor\n", ++tests_run, name);
}

/* How many of @n draws: one in $LPT_TEST_SHARE, where each takes many times as long (emulated, sanitized), but by
 * night all. */
static inline int
test_draws (int n)
{
  const char *share = getenv ("LPT_TEST_SHARE");
  const int part = share != NULL && getenv ("LPT_TEST_NIGHTLY") == NULL ? atoi (share) : 1;

  return part > 1 ? n / part : n;
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
  return (int32_t) ((uint32_t) low + random_u32 () % ((uint32_t) high - (uint32_t) low + 1u));
}

/* Numbers that round up and down, and those at the ends. */
static inline float
random_float (void)
{
  static const float special[] = { 0.0f,  -0.0f,  0.5f, -0.5f, 1.5f,     2.5f,      0.49999997f, -0.49999997f,
                                   1e30f, -1e30f, 3e9f, -3e9f, INFINITY, -INFINITY, NAN,         1e-40f };

  if (random_u32 () % 8 == 0)
    return special[random_u32 () % 16];
  if (random_u32 () % 3 == 0)
    return (float) random_range (-600, 600) * 0.5f;
  return (float) random_range (-(1 << 23), 1 << 23) / 32768.0f;
}

/* --- memory of operands ---------------------------------------------------
 *
 * Everything that a kernel gets lies between two pages that nobody may touch, now right in front of the one behind it,
 * now right behind the one in front of it: whatever reads or writes outside, in instructions that sanitizers do not see
 * as well, is a fault. What is left of the pages is poisoned, and looked at when the memory is given back. */

#define POISON 0xA5

typedef struct {
  uint8_t *base, *data;    /* base: the first page that may be touched */
  size_t   room, size;     /* bytes of these pages, of them in use */
  bool     live;
} Region;

static Region   regions[256];
static uint32_t regions_side = 1;
static bool     regions_spoiled;

static inline Region *
region_take (size_t size)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE), room = (size + page - 1) / page * page;
  Region *r = NULL;

  for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++)
    if (!regions[i].live && (!r || regions[i].room == room))
      {
        r = &regions[i];
        if (r->room == room)
          break;
      }
  if (!r)
    abort ();
  if (!r->base || r->room != room)
    {
      if (r->base)
        munmap (r->base - page, r->room + 2 * page);
      r->base = mmap (NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (r->base == MAP_FAILED)
        abort ();
      r->base += page;
      if (room > 0 && mprotect (r->base, room, PROT_READ | PROT_WRITE) != 0)
        abort ();
      r->room = room;
    }
  memset (r->base, POISON, room);
  r->size = size;
  r->live = true;
  return r;
}

/* @align: a power of two; the end is at the page only as far as it allows that. */
static inline uint8_t *
region_place (size_t size, size_t align)
{
  Region *r = region_take ((size + align - 1) / align * align);

  regions_side = regions_side * 1664525u + 1013904223u;
  r->size = size;
  r->data = r->base + (regions_side >> 31 || align > 4 ? (r->room - size) / align * align : 0);
  return r->data;
}

/* Of any of the functions below, or of malloc(). */
static inline void
bytes_free (const void *p)
{
  for (size_t i = 0; i < sizeof regions / sizeof regions[0] && p; i++)
    if (regions[i].live && regions[i].data == p)
      {
        Region *r = &regions[i];

        for (uint8_t *at = r->base; at < r->base + r->room; at++)
          if (at == r->data && r->size > 0)
            at += r->size - 1;
          else
            regions_spoiled = regions_spoiled || *at != POISON;
        r->live = false;
        return;
      }
  free ((void *) (uintptr_t) p);
}

/* An output: GUARD poisoned bytes on both sides, between the pages. */
#define GUARD 64

typedef struct {
  uint8_t *all, *data;
  size_t   size;
} Buffer;

static inline Buffer
buffer_new (size_t size)
{
  Buffer b = { .size = size };

  b.all = region_place (size + 2 * GUARD, 64);
  b.data = b.all + GUARD;
  return b;
}

static inline void
buffer_poison (Buffer *b)
{
  memset (b->all, POISON, b->size + 2 * GUARD);
}

/* The first byte in which two of one size differ, which they do: below 0 or from their size on it is a guard. */
static inline ptrdiff_t
buffer_difference (const Buffer *a, const Buffer *b)
{
  size_t at = 0;

  while (a->all[at] == b->all[at])
    at++;
  return (ptrdiff_t) at - GUARD;
}

static inline bool
buffer_guards_hold (const Buffer *b)
{
  for (size_t i = 0; i < GUARD; i++)
    if (b->all[i] != POISON || b->data[b->size + i] != POISON)
      return false;
  return true;
}

static inline void
buffer_free (Buffer *b)
{
  bytes_free (b->all);
  b->all = NULL;
}

/* An input of exactly this size, at random. */
static inline uint8_t *
exact_bytes (size_t size)
{
  uint8_t *p = region_place (size, size % 4 == 0 ? 4 : 1);

  for (size_t i = 0; i < size; i++)
    p[i] = (uint8_t) random_u32 ();
  return p;
}

/* The same of numbers of about three digits. */
static inline float *
random_floats (size_t n)
{
  float *p = (float *) exact_bytes (n * sizeof (float));

  for (size_t i = 0; i < n; i++)
    p[i] = (float) random_range (-1000, 1000) / 333.0f;
  return p;
}

/* Packed weights, workspaces: they begin at a line and end at most a line before the page. */
static inline void *
aligned_bytes (size_t size)
{
  void *p = region_place (size, 64);

  memset (p, 0x5A, size);
  return p;
}

static inline int
test_end (void)
{
  if (regions_spoiled)
    test_report (false, "bytes around the operands are untouched");
  printf ("1..%u\n", tests_run);
  return tests_failed ? 1 : 0;
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
