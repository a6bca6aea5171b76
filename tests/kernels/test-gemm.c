/* tests/kernels/test-gemm.c - every micro kernel with its packer against a plain triple loop
 *
 * Odd m, k and n, extreme bytes, zero points of weights, unsigned weights, transposed weights, every store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include "executor/kernels/gemm/gemm.h"

/* acc = sum a * w over the stored (signed) weights. */
static void
reference (const LptGemm *g, const LptGemmWeights *w, int32_t *acc, size_t lacc)
{
  for (size_t i = 0; i < g->m; i++)
    for (size_t j = 0; j < g->n; j++)
      {
        uint32_t sum = 0;

        for (size_t p = 0; p < g->k; p++)
          sum += (uint32_t) ((int32_t) g->a[i * g->lda + p] * lpt_gemm_weight (w, 0, p, j));
        acc[i * lacc + j] = (int32_t) sum;
      }
}

/* Of each row of activations. */
static void
sum_rows (const LptGemm *g, int32_t *sums)
{
  for (size_t i = 0; i < g->m; i++)
    {
      uint32_t s = 0;

      for (size_t p = 0; p < g->k; p++)
        s += g->a[i * g->lda + p];
      sums[i] = (int32_t) s;
    }
}

/* The first column of weights whose sum is not that of @sums, or n. */
static size_t
wrong_column (const LptGemmWeights *w, const int32_t *sums)
{
  size_t j;

  for (j = 0; j < w->n; j++)
    {
      uint32_t s = 0;

      for (size_t p = 0; p < w->k; p++)
        s += (uint32_t) (int32_t) lpt_gemm_weight (w, 0, p, j);
      if (sums[j] != (int32_t) s)
        break;
    }
  return j;
}

static void
test_shape (const LptGemmKernel *row, const LptEpilogueKernel *stage, size_t m, size_t k, size_t n, int variant,
            bool *ok)
{
  const LptEpilogueKernel *stages, *scalar;
  size_t n_stages, lacc = (n + 15) / 16 * 16, lda = k + (variant % 3), panel = lpt_gemm_panel (row, n);
  size_t params = (n + 15) / 16 * 16;
  bool transposed = variant & 1, is_unsigned = variant & 2, extreme = variant & 4, q8 = variant & 8, wzp = variant & 16,
       floats = variant & 32;
  uint8_t *a = exact_bytes (lda * (m - 1) + k), *weights = exact_bytes (k * n);
  int32_t *acc = aligned_bytes ((m * lacc + 16) * 4), *sums = aligned_bytes (m * 4), *got_sums = aligned_bytes (n * 4);
  int32_t *bias = (int32_t *) exact_bytes (params * 4), *zps = (int32_t *) exact_bytes (params * 4);
  float *scale = (float *) exact_bytes (params * 4), *fbias = (float *) exact_bytes (params * 4);
  LptGemmWeights w = { .data = weights, .is_unsigned = is_unsigned, .taps = 1, .k = k, .n = n,
                       .k_stride = transposed ? 1 : (ptrdiff_t) n, .n_stride = transposed ? (ptrdiff_t) k : 1 };
  void *packed = aligned_bytes (lpt_gemm_packed_size (row, 1, k, n));
  size_t element = q8 ? 1 : 4, ldo = n * element + (q8 ? 3 : 4);
  Buffer want = buffer_new (ldo * (m - 1) + n * element), got = buffer_new (ldo * (m - 1) + n * element);

  stages = lpt_epilogue_kernels (&n_stages);
  scalar = stages + n_stages - 1;
  if (extreme)
    {
      for (size_t i = 0; i < lda * (m - 1) + k; i++)
        a[i] = random_u32 () % 8 ? 255 : 0;
      for (size_t i = 0; i < k * n; i++)
        weights[i] = random_u32 () % 8 ? 0x80 ^ (is_unsigned ? 0x80 : 0) : 0x7f ^ (is_unsigned ? 0x80 : 0);
    }
  for (size_t c = 0; c < params; c++)
    {
      bias[c] = random_range (-100000, 100000);
      zps[c] = c > 0 && variant % 3 ? zps[0] : random_range (-128, 127);
      scale[c] = ldexpf ((float) random_range (1 << 22, 1 << 24), -24 - 12) *
                 (floats && random_u32 () % 4 == 0 ? -1.0f : 1.0f);
      fbias[c] = ldexpf ((float) random_range (-(1 << 23), 1 << 23), -20);
    }

  /* Words are int32 or floats with and without a bias and limits. */
  LptEpilogue e = { .store = q8 ? LPT_STORE_Q8 : floats ? LPT_STORE_F32 : LPT_STORE_I32, .scheme = LPT_REQUANT_FLOAT, .zp = 3, .lo = 0, .hi = 255,
                    .bias = bias, .scale = scale, .weight_zp = wzp ? zps : NULL, .flo = m % 2 ? -3.0f : -INFINITY,
                    .fhi = n % 2 ? 40.0f : INFINITY, .fbias = k % 2 ? fbias : NULL };
  LptGemm g = { .kernel = row, .epilogue_kernel = stage, .epilogue = &e, .m = m, .k = k, .n = n, .a = a, .lda = lda,
                .packed = packed, .out = got.data, .ldo = ldo };
  void *workspace = aligned_bytes (lpt_gemm_workspace (&g));

  lpt_epilogue_prepare (&e, n, 0);
  reference (&g, &w, acc, lacc);
  sum_rows (&g, sums);
  scalar->run (&e, m, n, 0, acc, lacc, sums, want.data, ldo, NULL, 0);

  /* Packed in two steps and run in several tiles. */
  size_t cut_n = n > panel ? panel : n, cut_m = m > 3 ? m / 3 : m;

  lpt_gemm_pack (row, &w, cut_n, n, packed, got_sums);
  lpt_gemm_pack (row, &w, 0, cut_n, packed, got_sums);
  for (size_t j = 0; j < n; j += cut_n)
    for (size_t i = 0; i < m; i += cut_m)
      lpt_gemm_tile (&g, i, i + cut_m < m ? i + cut_m : m, j, j + cut_n < n ? j + cut_n : n, workspace);

  if (memcmp (want.all, got.all, want.size + 2 * GUARD) != 0)
    {
      printf ("# m %zu k %zu n %zu variant %d: byte %zd\n", m, k, n, variant, buffer_difference (&want, &got));
      *ok = false;
    }
  if (wrong_column (&w, got_sums) < n)
    {
      printf ("# m %zu k %zu n %zu variant %d: column sum %zu\n", m, k, n, variant, wrong_column (&w, got_sums));
      *ok = false;
    }
  buffer_free (&want);
  buffer_free (&got);
  bytes_free (a);
  bytes_free (weights);
  bytes_free (acc);
  bytes_free (sums);
  bytes_free (got_sums);
  bytes_free (bias);
  bytes_free (zps);
  bytes_free (scale);
  bytes_free (fbias);
  bytes_free (packed);
  bytes_free (workspace);
}

static void
test_row (const LptGemmKernel *row, const LptEpilogueKernel *stage)
{
  static const size_t shapes[][3] = {
    { 1, 1, 1 }, { 1, 3, 17 }, { 2, 4, 16 }, { 5, 5, 15 }, { 6, 7, 64 }, { 7, 64, 65 }, { 12, 33, 32 }, { 13, 66, 48 },
    { 14, 127, 49 }, { 25, 130, 100 }, { 49, 256, 128 }, { 31, 1027, 31 }, { 193, 20, 33 }, { 400, 12, 16 },
    { 3, 2048, 10 }, { 1, 513, 200 }, { 64, 2, 3 }, { 9, 9, 144 },
  };
  bool ok = true;
  unsigned cases = 0;

  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
    for (int variant = 0; variant < 64; variant++, cases++)
      test_shape (row, stage, shapes[i][0], shapes[i][1], shapes[i][2], variant, &ok);
  for (int i = 0; i < 150; i++, cases++)
    test_shape (row, stage, (size_t) random_range (1, 40), (size_t) random_range (1, 200),
                (size_t) random_range (1, 150), random_range (0, 31), &ok);
  test_report (ok, "%s: %u cases", row->name, cases);
}

/* Rows of activations without a distance between them, at the ends of what may be read. */
static void
test_guards (const LptGemmKernel *row)
{
  static const size_t ms[] = { 1, 4, 5, 13, 16, 17, 32, 47, 96, 200 },
                      ks[] = { 1, 3, 4, 31, 60, 63, 64, 65, 127, 128, 200 };
  enum { N = 40 };
  LptEpilogue e = { .store = LPT_STORE_I32 };
  bool ok = true;

  lpt_epilogue_prepare (&e, N, 0);
  for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++)
    for (size_t j = 0; j < sizeof ks / sizeof ks[0]; j++)
      {
        size_t m = ms[i], k = ks[j];
        uint8_t *a = exact_bytes (m * k), *weights = exact_bytes (k * N);
        LptGemmWeights w = { .data = weights, .taps = 1, .k = k, .n = N, .k_stride = N, .n_stride = 1 };
        void *packed = aligned_bytes (lpt_gemm_packed_size (row, 1, k, N));
        int32_t *got = aligned_bytes (m * N * 4), *want = aligned_bytes (m * N * 4);
        LptGemm g = { .kernel = row, .epilogue_kernel = lpt_epilogue_kernel (row->needs), .epilogue = &e, .m = m, .k = k, .n = N, .a = a,
                      .lda = k, .packed = packed, .out = got, .ldo = N * 4 };
        void *workspace = aligned_bytes (lpt_gemm_workspace (&g));

        lpt_gemm_pack (row, &w, 0, N, packed, NULL);
        lpt_gemm_tile (&g, 0, m, 0, N, workspace);
        reference (&g, &w, want, N);
        ok = memcmp (got, want, m * N * 4) == 0 && ok;
        bytes_free (a);
        bytes_free (weights);
        bytes_free (packed);
        bytes_free (got);
        bytes_free (want);
        bytes_free (workspace);
      }
  test_report (ok, "%s: inputs at the ends of memory", row->name);
}

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n, overflow;
  const LptGemmKernel *rows = lpt_gemm_kernels (&n);

  for (size_t i = 0; i < n; i++)
    if (lpt_cpu_has (cpu, rows[i].needs))
      {
        test_row (&rows[i], lpt_epilogue_kernel (rows[i].needs));
        test_guards (&rows[i]);
      }
    else
      test_skip (rows[i].name);
  overflow = lpt_gemm_packed_size (&rows[0], SIZE_MAX / 8, 16, 16);
  test_report (overflow == 0, "a size that overflows is refused");
  return test_end ();
}
