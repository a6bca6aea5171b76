/* tests/kernels/test-transpose.c - transposes and permutations against their definitions
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include "executor/kernels/transpose/transpose.h"

static bool
run_transpose (const LptTransposeKernel *row, size_t size)
{
  bool dense = random_u32 () % 2, few_rows = random_u32 () % 4 == 0, few_cols = random_u32 () % 4 == 0;
  size_t rows = (size_t) random_range (1, few_rows ? 4 : 150), cols = (size_t) random_range (1, few_cols ? 4 : 150);
  size_t ldi = cols + (dense ? 0 : 3), ldo = rows + (dense ? 0 : 2);
  uint8_t *in = exact_bytes (((rows - 1) * ldi + cols) * size);
  Buffer out = buffer_new (((cols - 1) * ldo + rows) * size);
  bool ok = true;

  if (size == 1)
    row->bytes (rows, cols, in, ldi, out.data, ldo);
  else if (size == 2)
    row->halves (rows, cols, (const uint16_t *) (const void *) in, ldi, (uint16_t *) (void *) out.data, ldo);
  else
    row->words (rows, cols, (const uint32_t *) (const void *) in, ldi, (uint32_t *) (void *) out.data, ldo);
  for (size_t c = 0; c < cols; c++)
    for (size_t r = 0; r < ldo && (c + 1 < cols || r < rows); r++)
      for (size_t b = 0; b < size; b++)
        ok = ok && out.data[(c * ldo + r) * size + b] == (r < rows ? in[(r * ldi + c) * size + b] : 0xA5);
  ok = ok && buffer_guards_hold (&out);
  bytes_free (in);
  buffer_free (&out);
  return ok;
}

static bool
run_permute (const LptTransposeKernel *row)
{
  size_t rank = (size_t) random_range (0, 6), dims[8], order[8], stride[8], index[8] = { 0 }, total = 1;
  size_t element = (size_t) 1 << random_range (0, 3);
  bool ok = true;

  for (size_t i = 0; i < rank; i++)
    {
      dims[i] = (size_t) random_range (1, i < 3 ? 9 : 4);
      order[i] = i;
    }
  for (size_t i = rank; i-- > 0; )
    {
      stride[i] = total;
      total *= dims[i];
    }
  for (size_t i = rank; i > 1; i--)
    {
      size_t j = random_u32 () % i, t = order[i - 1];

      order[i - 1] = order[j];
      order[j] = t;
    }

  uint8_t *in = exact_bytes (total * element);
  Buffer out = buffer_new (total * element);

  lpt_permute (row, rank, dims, order, element, in, out.data);
  for (size_t i = 0; i < total && ok; i++)
    {
      size_t from = 0;

      for (size_t d = 0; d < rank; d++)
        from += index[d] * stride[order[d]];
      ok = memcmp (out.data + i * element, in + from * element, element) == 0;
      for (size_t d = rank; d-- > 0; )
        {
          if (++index[d] < dims[order[d]])
            break;
          index[d] = 0;
        }
    }
  ok = ok && buffer_guards_hold (&out);
  bytes_free (in);
  buffer_free (&out);
  return ok;
}

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptTransposeKernel *transposes = lpt_transpose_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, transposes[i].needs))
        {
          test_skip (transposes[i].name);
          continue;
        }
      for (int j = 0; j < 300; j++)
        ok = run_transpose (&transposes[i], 1) && run_transpose (&transposes[i], 2) &&
             run_transpose (&transposes[i], 4) && run_permute (&transposes[i]) && ok;
      test_report (ok, "%s: 300 cases", transposes[i].name);
    }

  return test_end ();
}
