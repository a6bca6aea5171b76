/* tests/kernels/test-parallel.c - every task runs once, on a thread that exists; levels by name
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include <stdatomic.h>
#include <time.h>

#include "executor/kernels/lpt-cut.h"
#include "executor/kernels/lpt-kernels.h"
#include "executor/runtime/lpt-parallel.h"

typedef struct {
  atomic_int count[1000], bad;
  unsigned   n_threads;
} Counts;

static void
count_task (void *data, size_t task, unsigned thread)
{
  Counts *counts = data;

  atomic_fetch_add (&counts->count[task], 1);
  if (thread >= counts->n_threads)
    atomic_store (&counts->bad, 1);
}

static void
count_range (void *data, size_t task, size_t end, unsigned thread)
{
  Counts *counts = data;

  if (task >= end)
    atomic_store (&counts->bad, 1);
  for (; task < end; task++)
    count_task (data, task, thread);
}

static bool
run_counts (LptPool *pool, size_t n_tasks)
{
  static Counts counts;
  bool ok = true;

  memset (&counts, 0, sizeof counts);
  counts.n_threads = lpt_pool_n_threads (pool);
  lpt_parallel_for (pool, n_tasks, count_task, &counts);
  lpt_parallel_ranges (pool, n_tasks, count_range, &counts);
  for (size_t i = 0; i < 1000; i++)
    ok = ok && atomic_load (&counts.count[i]) == (i < n_tasks ? 2 : 0);
  return ok && !atomic_load (&counts.bad);
}

/* Boxes of any part of a grid: each task is in one, in order. */
static void
test_boxes (void)
{
  bool ok = true;

  for (size_t columns = 1; columns <= 5; columns++)
    for (size_t first = 0; first < 12; first++)
      for (size_t end = first + 1; end <= 25; end++)
        {
          size_t task = first, next = first;

          while (task < end)
            {
              LptCutBox box = lpt_cut_box (&task, end, columns);

              ok = ok && box.i0 < box.i1 && box.j0 < box.j1 && box.j1 <= columns &&
                   (box.i1 == box.i0 + 1 || box.j1 - box.j0 == columns);
              for (size_t i = box.i0; i < box.i1; i++)
                for (size_t j = box.j0; j < box.j1; j++)
                  ok = ok && i * columns + j == next++;
              ok = ok && next == task;
            }
          ok = ok && task == end;
        }
  test_report (ok, "boxes of parts of grids");
}

/* Loops of one run: many short ones, one behind the other, and a run inside the run, each after a call to wake the
 * others. */
typedef struct {
  LptPool *pool;
  size_t   runs;
  bool     ok;
} Loops;

static void
run_loops (Loops *loops)
{
  lpt_pool_wake (loops->pool);
  loops->runs++;
  for (size_t n = 0; n < 300; n++)
    loops->ok = run_counts (loops->pool, n % 17) && loops->ok;
  if (loops->runs % 2 == 1)
    run_loops (loops);
}

static void
test_runs (LptPool *pool)
{
  Loops loops = { pool, 0, true };

  for (int i = 0; i < 20; i++)
    {
      /* Long enough for helpers to fall asleep. */
      if (i % 5 == 4)
        nanosleep (&(struct timespec) { .tv_nsec = 20000000 }, NULL);
      run_loops (&loops);
    }
  nanosleep (&(struct timespec) { .tv_nsec = 20000000 }, NULL);
  loops.ok = run_counts (pool, 1000) && loops.ok;
  test_report (loops.ok && loops.runs == 40, "%u threads stand by for %zu runs of loops, and loops follow",
               lpt_pool_n_threads (pool), loops.runs);
}

/* The same bytes from one thread and from several. */
typedef struct {
  LptGemm g;
  char   *workspace;
  size_t  workspace_bytes;   /* of one thread */
} Product;

static void
multiply_tile (void *data, size_t task, unsigned thread)
{
  const Product *p = data;
  const LptGemm *g = &p->g;
  size_t tm, tn, columns;

  lpt_gemm_tiling (g->kernel, g->m, g->k, g->n, &tm, &tn);
  columns = (g->n + tn - 1) / tn;

  size_t m0 = task / columns * tm, n0 = task % columns * tn;

  lpt_gemm_tile (g, m0, m0 + tm < g->m ? m0 + tm : g->m, n0, n0 + tn < g->n ? n0 + tn : g->n,
                 p->workspace + thread * p->workspace_bytes);
}

static void
test_product (LptCpu cpu)
{
  enum { M = 150, K = 300, N = 330 };
  LptKernels k = lpt_kernels_for (cpu);
  uint8_t *a = exact_bytes (M * K), *b = exact_bytes (K * N);
  int32_t *out[2] = { aligned_bytes (M * N * 4), aligned_bytes (M * N * 4) };
  LptGemmWeights w = { .data = b, .taps = 1, .k = K, .n = N, .k_stride = N, .n_stride = 1 };
  void *packed = aligned_bytes (lpt_gemm_packed_size (k.gemm, 1, K, N));
  LptEpilogue e = { .store = LPT_STORE_I32 };
  LptGemm g = { .kernel = k.gemm, .epilogue_kernel = k.epilogue, .epilogue = &e, .m = M, .k = K, .n = N, .a = a, .lda = K,
                .packed = packed, .ldo = N * 4 };
  LptPool *pool = lpt_pool_new (3);
  size_t bytes = (lpt_gemm_workspace (&g) + 63) / 64 * 64, tm, tn, tasks;
  Product p = { g, aligned_bytes (lpt_pool_n_threads (pool) * bytes), bytes };

  lpt_epilogue_prepare (&e, N, 0);
  lpt_gemm_pack (k.gemm, &w, 0, N, packed, NULL);
  lpt_gemm_tiling (k.gemm, M, K, N, &tm, &tn);
  tasks = ((M + tm - 1) / tm) * ((N + tn - 1) / tn);
  for (int i = 0; i < 2; i++)
    {
      p.g.out = out[i];
      lpt_parallel_for (i ? pool : NULL, tasks, multiply_tile, &p);
    }
  test_report (memcmp (out[0], out[1], M * N * 4) == 0,
               "one thread and %u: the same bytes from %zu tiles", lpt_pool_n_threads (pool), tasks);
  lpt_pool_free (pool);
  bytes_free (a);
  bytes_free (b);
  bytes_free (out[0]);
  bytes_free (out[1]);
  bytes_free (packed);
  bytes_free (p.workspace);
}

int
main (void)
{
  LptCpu cpu = test_cpu (), lowered = cpu;
  LptPool *pool = lpt_pool_new (4);
  bool ok = true;

  for (size_t n = 0; n <= 1000; n += n < 10 ? 1 : 99)
    ok = run_counts (pool, n) && run_counts (NULL, n) && ok;
  test_report (ok, "every task once, on %u threads and on one", lpt_pool_n_threads (pool));
  test_boxes ();
  test_runs (pool);
  test_runs (NULL);
  lpt_pool_free (pool);
  lpt_pool_free (NULL);
  test_report (lpt_pool_new (1) == NULL && lpt_pool_n_threads (NULL) == 1, "one thread needs no pool");

  test_report (lpt_cpu_limit (&lowered, "scalar") && lowered == LPT_CPU_SCALAR &&
                   strcmp (lpt_cpu_level_name (lowered), "scalar") == 0 && lpt_kernels_for (lowered).gemm->needs == 0,
               "scalar is the lowest level");
  lowered = cpu;
  test_report (!lpt_cpu_limit (&lowered, "mmx") && lowered == cpu, "an unknown level is refused");
  lowered = cpu;
  test_report (lpt_cpu_limit (&lowered, lpt_cpu_level_name (cpu)) &&
                   strcmp (lpt_cpu_level_name (lowered), lpt_cpu_level_name (cpu)) == 0,
               "level %s by its name", lpt_cpu_level_name (cpu));
  test_product (cpu);
  return test_end ();
}
