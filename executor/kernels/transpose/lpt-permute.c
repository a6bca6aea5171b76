/* executor/kernels/transpose/lpt-permute.c - the general permutation
 *
 * Dimensions of size 1 vanish and neighbours that stay neighbours merge. Then, if the last dimension stays last, runs
 * are copied; if it moves, the plane of it and the dimension that becomes last is transposed, for bytes, halves
 * and words by a kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/transpose/transpose.h"

#include <string.h>

static const LptTransposeKernel kernels[] = {
#define LPT_TRANSPOSE_KERNEL(set, isa, words_isa)                                                            \
  { "transpose__" #words_isa, LPT_CPU_##set, lpt_transpose_bytes__##isa, lpt_transpose_halves__##isa,        \
    lpt_transpose_words__##words_isa },
#include "executor/kernels/transpose/transpose.def"
#undef LPT_TRANSPOSE_KERNEL
};

const LptTransposeKernel *
lpt_transpose_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptTransposeKernel *
lpt_transpose_kernel (LptCpu cpu)
{
  const LptTransposeKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

static void
transpose_plane (const LptTransposeKernel *kernel, size_t element, size_t rows, size_t cols, const void *in,
                 size_t ldi, void *out, size_t ldo)
{
  if (element == 1)
    kernel->bytes (rows, cols, in, ldi, out, ldo);
  else if (element == 2)
    kernel->halves (rows, cols, in, ldi, out, ldo);
  else if (element == 4)
    kernel->words (rows, cols, in, ldi, out, ldo);
  else
    for (size_t r = 0; r < rows; r++)
      for (size_t c = 0; c < cols; c++)
        memcpy ((char *) out + (c * ldo + r) * element, (const char *) in + (r * ldi + c) * element, element);
}

/* Dimensions in output order: size and input stride, in elements. Returns how many are left after merging. */
static size_t
simplify (size_t rank, const size_t *dims, const size_t *order, size_t *size, size_t *stride)
{
  size_t in_stride[LPT_PERMUTE_MAX_RANK], n = 0, s = 1;

  for (size_t i = rank; i-- > 0; )
    {
      in_stride[i] = s;
      s *= dims[i];
    }
  for (size_t i = 0; i < rank; i++)
    {
      size_t d = dims[order[i]], st = in_stride[order[i]];

      if (d == 1)
        continue;
      if (n > 0 && stride[n - 1] == d * st)
        {
          size[n - 1] *= d;
          stride[n - 1] = st;
        }
      else
        {
          size[n] = d;
          stride[n++] = st;
        }
    }
  if (n == 0)
    {
      size[0] = 1;
      stride[0] = 1;
      n = 1;
    }
  return n;
}

void
lpt_permute (const LptTransposeKernel *kernel, size_t rank, const size_t *dims, const size_t *order,
             size_t element, const void *in, void *out)
{
  size_t size[LPT_PERMUTE_MAX_RANK], stride[LPT_PERMUTE_MAX_RANK], out_stride[LPT_PERMUTE_MAX_RANK];
  size_t index[LPT_PERMUTE_MAX_RANK] = { 0 }, n, s = 1, plane, last;

  for (size_t i = 0; i < rank; i++)
    if (dims[i] == 0)
      return;
  n = simplify (rank, dims, order, size, stride);
  last = n - 1;
  for (size_t i = n; i-- > 0; )
    {
      out_stride[i] = s;
      s *= size[i];
    }

  /* The dimension with input stride 1 pairs with the last one, unless it is the last. */
  for (plane = 0; stride[plane] != 1; plane++)
    ;

  for (;;)
    {
      size_t from = 0, to = 0, i;

      for (i = 0; i < n; i++)
        {
          from += index[i] * stride[i];
          to += index[i] * out_stride[i];
        }
      if (plane == last)
        memcpy ((char *) out + to * element, (const char *) in + from * element, size[last] * element);
      else
        transpose_plane (kernel, element, size[last], size[plane], (const char *) in + from * element, stride[last],
                         (char *) out + to * element, out_stride[plane]);
      for (i = n; i-- > 0; )
        {
          if (i == last || i == plane)
            continue;
          if (++index[i] < size[i])
            break;
          index[i] = 0;
        }
      if (i == SIZE_MAX)
        break;
    }
}
