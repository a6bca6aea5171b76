/* under-sanitizers.h - is this program built with AddressSanitizer, or ThreadSanitizer?
 *
 * It takes five times as long there, and what it looks for then is memory, or threads: tests that compare many ways to
 * the same result take a part of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/lpt-isa.h"

#ifdef LPT_ONE_TILE
#define UNDER_SANITIZERS 1
#else
#define UNDER_SANITIZERS 0
#endif

#ifdef __SANITIZE_THREAD__
#define UNDER_THREAD_SANITIZER 1
#else
#define UNDER_THREAD_SANITIZER 0
#endif
