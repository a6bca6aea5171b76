/* executor/kernels/fourier/fourier.h - Fourier transforms of lines, several side by side
 *
 * Of float32 data [outer, length, inner] the lines along the middle axis, cut or filled up with zeros to `size`, to
 * [outer, out, inner], in float64 between. Or of signals [outer, signal] the frames that begin every `hop` numbers,
 * each multiplied by the window, to [outer, frames, out] or [outer, out, frames]. Lines of even length are split in
 * two, others summed as the definition says. Each line has the sums and products of the plain op in their order, so
 * that all rows give the same bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

#include <lpt/lpt-cpu.h>

/* Lines that are transformed together. */
#define LPT_FOURIER_LANES 8

typedef struct {
  size_t        size, length, out, inner;
  int           inverse;                   /* divided by the size; `roots` turn the other way */
  int           pairs, pairs_out;          /* data, results are complex; of real ones data are half of a line */
  const double *roots;                     /* of unity: pairs, `size` of them */
  size_t        frames, hop, signal;       /* frames of a signal, 0: none; then length = size, inner = 1 */
  int           exchanged;                 /* the frames of a frequency are neighbours */
  const double *window;                    /* of each element of a frame */
} LptFourier;

/* Doubles that a transform works in. */
static inline size_t
lpt_fourier_work (const LptFourier *f)
{
  return 4 * f->size * LPT_FOURIER_LANES;
}

typedef struct {
  const char *name;
  LptCpu      needs;
  /* Lines @first to @first + @n of [outer * inner] or [outer * frames], LPT_FOURIER_LANES at most. */
  void      (*lines) (const LptFourier *f, const float *x, float *y, size_t first, size_t n, double *work);
} LptFourierKernel;

#define LPT_FOURIER_KERNEL(needs, isa) \
  void lpt_fourier_lines__##isa (const LptFourier *f, const float *x, float *y, size_t first, size_t n, double *work);
#include "executor/kernels/fourier/fourier.def"
#undef LPT_FOURIER_KERNEL

const LptFourierKernel *lpt_fourier_kernel (LptCpu cpu);
