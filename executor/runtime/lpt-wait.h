/* executor/runtime/lpt-wait.h - waiting for what another thread does in microseconds
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <time.h>

/* A moment of this processor's own, which uses little of it. */
static inline void
lpt_wait_moment (void)
{
#if defined (__x86_64__) || defined (__i386__)
  __builtin_ia32_pause ();
#elif defined (__aarch64__)
  __asm__ volatile ("yield");
#endif
}

/* Waits without a sleep: first some microseconds of its own, then others soon get the processor, because the thread
 * that is waited for may need this one. Whether it is worth to wait on like that; @waits: 0 at first. */
static inline bool
lpt_wait_more (unsigned *waits)
{
  enum { SPINS = 512, YIELDS = 2048 };

  if (*waits >= SPINS + YIELDS)
    return false;
  if (++*waits > SPINS)
    sched_yield ();
  else
    lpt_wait_moment ();
  return true;
}

/* The same for who has nothing else to do, who then sleeps for short times. */
static inline void
lpt_wait_on (unsigned *waits)
{
  if (!lpt_wait_more (waits))
    nanosleep (&(struct timespec) { .tv_nsec = 50000 }, NULL);
}
