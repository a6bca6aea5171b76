/* tests/kernels/rescale-test.h - rescalings of sums, and the formula of lpt-rescale.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

#include "executor/kernels/lpt-rescale.h"

/* By m 2^(s - 31): rounded @once, or twice, as TensorFlow Lite does it. */
static inline LptRescale
rescale_of (int32_t m, int s, bool once)
{
  LptRescale r = { .m = m, .away = !once && s < 0 };

  r.shift[0] = once ? 31 - s : 31;
  r.half[0] = INT64_C (1) << (r.shift[0] - 1);
  r.shift[1] = once ? 0 : -s;
  r.half[1] = (INT64_C (1) << r.shift[1]) >> 1;
  return r;
}

/* floor (v / 2^s) */
static inline int64_t
floor_shift (int64_t v, int s)
{
  int64_t unit = INT64_C (1) << s, q = v / unit;

  return v % unit < 0 ? q - 1 : q;
}

static inline int64_t
rescaled (const LptRescale *r, int64_t acc)
{
  int64_t v = floor_shift (acc * r->m + r->half[0], r->shift[0]);

  return floor_shift (v + r->half[1] - (v < 0 ? r->away : 0), r->shift[1]);
}

static inline int64_t
within (int64_t v, int64_t low, int64_t high)
{
  return v < low ? low : v > high ? high : v;
}
