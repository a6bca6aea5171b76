/* executor/kernels/whole/whole.h - plain integers element by element: arithmetic, comparisons, choice, conversions
 *
 * Of 32 bits, and of 64 bits (words), which wrap. Comparisons give 1 or 0. A step is 1, or 0: one element for all. Out
 * may be an operand of the same type. Integers throughout but for the conversions from real numbers, which are exact:
 * every row of the table gives the bytes of the scalar one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

typedef enum {
  LPT_WHOLE_ADD,
  LPT_WHOLE_SUBTRACT,
  LPT_WHOLE_MULTIPLY,
  LPT_WHOLE_MAXIMUM,
  LPT_WHOLE_MINIMUM,
  LPT_WHOLE_AND,
  LPT_WHOLE_OR,
  LPT_WHOLE_XOR,
  LPT_WHOLE_EQUAL,         /* comparisons from here on */
  LPT_WHOLE_NOT_EQUAL,
  LPT_WHOLE_LESS,
  LPT_WHOLE_LESS_EQUAL,
  LPT_WHOLE_GREATER,
  LPT_WHOLE_GREATER_EQUAL,
  LPT_N_WHOLES
} LptWholeBinary;

typedef struct {
  const char *name;
  LptCpu      needs;
  /* Not of comparisons. */
  void      (*binary)       (LptWholeBinary op, size_t n, const int32_t *a, size_t a_step, const int32_t *b,
                             size_t b_step, int32_t *out);
  /* A comparison as a real number. */
  void      (*compare)      (LptWholeBinary op, size_t n, const int32_t *a, size_t a_step, const int32_t *b,
                             size_t b_step, float *out);
  void      (*binary_words) (LptWholeBinary op, size_t n, const int64_t *a, size_t a_step, const int64_t *b,
                             size_t b_step, int64_t *out);
  /* c != 0 ? a : b */
  void      (*select_words) (size_t n, const int64_t *c, size_t c_step, const int64_t *a, size_t a_step,
                             const int64_t *b, size_t b_step, int64_t *out);
  /* Words that fit 32 bits by @by, not 0 nor -1: quotients towards 0, or what they leave. floor: rounded down. */
  void      (*divide_words) (bool rest, bool floor, size_t n, const int64_t *in, int32_t by, int64_t *out);
  void      (*negative)     (size_t n, const int32_t *in, int32_t *out);
  void      (*magnitude)    (size_t n, const int32_t *in, int32_t *out);
  /* The lowest 32 bits of words, and back with their sign. */
  void      (*narrow)       (size_t n, const int64_t *in, int32_t *out);
  void      (*widen)        (size_t n, const int32_t *in, int64_t *out);
  /* Real numbers cut to integers of 32 bits, as words; what lies beyond is the last one, NaN is 0. */
  void      (*cut)          (size_t n, const float *in, int64_t *out);
  /* Real numbers cut to integers within [lo, hi], what is at most slack + share |x| from an integer (half to even) to
   * that; NaN is 0. |lo|, |hi| <= 2^16, 0 <= slack <= 0.5; slack or share is 0, share a power of two. */
  void      (*cut_near)     (size_t n, const float *in, float lo, float hi, float slack, float share, float *out);
} LptWholeKernel;

#define LPT_WHOLE_KERNEL(needs, isa) \
  void lpt_whole_binary__##isa       (LptWholeBinary op, size_t n, const int32_t *a, size_t a_step, const int32_t *b, \
                                      size_t b_step, int32_t *out); \
  void lpt_whole_compare__##isa      (LptWholeBinary op, size_t n, const int32_t *a, size_t a_step, const int32_t *b, \
                                      size_t b_step, float *out); \
  void lpt_whole_binary_words__##isa (LptWholeBinary op, size_t n, const int64_t *a, size_t a_step, const int64_t *b, \
                                      size_t b_step, int64_t *out); \
  void lpt_whole_select_words__##isa (size_t n, const int64_t *c, size_t c_step, const int64_t *a, size_t a_step, \
                                      const int64_t *b, size_t b_step, int64_t *out); \
  void lpt_whole_divide_words__##isa (bool rest, bool floor, size_t n, const int64_t *in, int32_t by, int64_t *out); \
  void lpt_whole_negative__##isa     (size_t n, const int32_t *in, int32_t *out); \
  void lpt_whole_magnitude__##isa    (size_t n, const int32_t *in, int32_t *out); \
  void lpt_whole_narrow__##isa       (size_t n, const int64_t *in, int32_t *out); \
  void lpt_whole_widen__##isa        (size_t n, const int32_t *in, int64_t *out); \
  void lpt_whole_cut__##isa          (size_t n, const float *in, int64_t *out); \
  void lpt_whole_cut_near__##isa     (size_t n, const float *in, float lo, float hi, float slack, float share, \
                                      float *out);
#include "executor/kernels/whole/whole.def"
#undef LPT_WHOLE_KERNEL

const LptWholeKernel *lpt_whole_kernels (size_t *n);
const LptWholeKernel *lpt_whole_kernel  (LptCpu cpu);
