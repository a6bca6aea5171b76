/* executor/kernels/transpose/transpose.h - moves of bytes and words between layouts
 *
 * out[c][r] = in[r][c] for elements of 1, 2, 4 or 8 bytes; NCHW to NHWC is rows = C, cols = H*W per image. Strides in
 * elements. And the general permutation, which finds the largest runs and planes that it can hand to those.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <lpt/lpt-cpu.h>

typedef struct {
  const char *name;
  LptCpu      needs;
  void      (*bytes)  (size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo);
  void      (*halves) (size_t rows, size_t cols, const uint16_t *in, size_t ldi, uint16_t *out, size_t ldo);
  void      (*words)  (size_t rows, size_t cols, const uint32_t *in, size_t ldi, uint32_t *out, size_t ldo);
} LptTransposeKernel;

#define LPT_TRANSPOSE_KERNEL(needs, isa, words_isa)                                                           \
  void lpt_transpose_bytes__##isa (size_t rows, size_t cols, const uint8_t *in, size_t ldi, uint8_t *out, size_t ldo); \
  void lpt_transpose_halves__##isa (size_t rows, size_t cols, const uint16_t *in, size_t ldi, uint16_t *out, \
                                    size_t ldo);                                                             \
  void lpt_transpose_words__##words_isa (size_t rows, size_t cols, const uint32_t *in, size_t ldi, uint32_t *out,     \
                                         size_t ldo);
#include "executor/kernels/transpose/transpose.def"
#undef LPT_TRANSPOSE_KERNEL

const LptTransposeKernel *lpt_transpose_kernels (size_t *n);
const LptTransposeKernel *lpt_transpose_kernel  (LptCpu cpu);

#define LPT_PERMUTE_MAX_RANK 8

/* out dimension i is in dimension order[i]; both dense; rank <= LPT_PERMUTE_MAX_RANK; element of 1, 2, 4 or 8 bytes. */
void lpt_permute (const LptTransposeKernel *kernel, size_t rank, const size_t *dims, const size_t *order,
                  size_t element, const void *in, void *out);
