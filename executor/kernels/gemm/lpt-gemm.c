/* executor/kernels/gemm/lpt-gemm.c - table of micro kernels, packing, and the block loop
 *
 * Block loop: a block of rows (pointers ready) times every panel in turn; the panel stays in the caches
 * while all rows of the block pass. Rows are dealt evenly: 50 rows in tiles of at most 7 are
 * two of 7 and six of 6, not seven of 7 and a single one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/gemm/gemm.h"

#include <string.h>

#define LPT_GEMM_HELPERS(set, isa)
#define LPT_GEMM_FUSED(set, isa)
#define LPT_GEMM_SWEEP(set, isa)
#define lpt_gemm_sweep__none (*(const LptGemmSweep *) NULL)
#define lpt_gemm_fused__none NULL
#define lpt_gemm_params__none NULL
#define lpt_gemm_one_row__none NULL
#define lpt_gemm_row_sums__generic lpt_gemm_row_sums__scalar
#define lpt_gemm_interleave__generic lpt_gemm_interleave__scalar
#define lpt_gemm_pack__generic NULL
static const LptGemmKernel kernels[] = {
#define LPT_GEMM_KERNEL(set, isa, fuses, helpers, sweeps, tile, pack_order, has_prefix, width, m1, m2, m3, m4)                       \
  { "gemm_u8s8s32_" #tile "__" #isa, LPT_CPU_##set, LPT_PACK_##pack_order, has_prefix, width,                \
    { m1, m2, m3, m4 }, lpt_gemm_u8s8s32_##tile##__##isa, lpt_gemm_fused__##fuses, lpt_gemm_params__##fuses,     \
    lpt_gemm_one_row__##fuses, lpt_gemm_row_sums__##helpers, lpt_gemm_interleave__##helpers,                 \
    lpt_gemm_pack__##helpers, &lpt_gemm_sweep__##sweeps },
#include "executor/kernels/gemm/gemm.def"
#undef LPT_GEMM_KERNEL
};
#undef LPT_GEMM_HELPERS
#undef LPT_GEMM_FUSED
#undef LPT_GEMM_SWEEP
#undef lpt_gemm_sweep__none
#undef lpt_gemm_fused__none
#undef lpt_gemm_params__none
#undef lpt_gemm_one_row__none
#undef lpt_gemm_row_sums__generic
#undef lpt_gemm_interleave__generic
#undef lpt_gemm_pack__generic

/* Most rows of one block: its pointers, accumulators of row sums and output stay small. */
#define BLOCK_ROWS 192

const LptGemmKernel *
lpt_gemm_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptGemmKernel *
lpt_gemm_kernel (LptCpu cpu)
{
  const LptGemmKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

const LptGemmKernel *
lpt_gemm_kernel_for (const LptGemmKernel *best, size_t rows, size_t depth)
{
  return best->sweep && (rows < best->sweep->least || depth < best->sweep->depth) ? best + 1 : best;
}

/* --- packing --- */

static size_t
panel_bytes (const LptGemmKernel *kernel, size_t taps, size_t k, size_t nr)
{
  return nr * (taps * ((k + 3) / 4 * 4) + (kernel->prefix ? sizeof (int32_t) : 0));
}

/* Columns that remain from n0 on, in units of 16, at most one panel. */
static size_t
panel_width (size_t panel, size_t n, size_t n0)
{
  size_t rest = (n - n0 + 15) / 16 * 16;

  return rest < panel ? rest : panel;
}

/* Cost of n columns in panels of nr, a constant, in sixteenths of the time of 16 columns in a wide one: narrow panels
 * load more bytes of A for each product. */
static inline __attribute__ ((always_inline)) size_t
panels_cost (size_t nr, size_t n)
{
  static const unsigned cost[5] = { 0, 26, 38, 54, 64 };

  return n / nr * cost[nr / 16] + cost[(n % nr + 15) / 16];
}

size_t
lpt_gemm_panel (const LptGemmKernel *kernel, size_t n)
{
  size_t best = 0, least = SIZE_MAX;

#define CONSIDER(width)                                                                                      \
  if (kernel->nr >= width && panels_cost (width, n) < least)                                                 \
    {                                                                                                        \
      best = width;                                                                                          \
      least = panels_cost (width, n);                                                                        \
    }
  CONSIDER (64)
  CONSIDER (48)
  CONSIDER (32)
  CONSIDER (16)
#undef CONSIDER
  return best;
}

size_t
lpt_gemm_packed_size (const LptGemmKernel *kernel, size_t taps, size_t k, size_t n)
{
  size_t per_column, columns, size;

  if (n > SIZE_MAX - 15 || k > SIZE_MAX - 3)
    return 0;
  columns = (n + 15) / 16 * 16;
  if (__builtin_mul_overflow (taps, (k + 3) / 4 * 4, &per_column)
      || __builtin_add_overflow (per_column, sizeof (int32_t), &per_column)
      || __builtin_mul_overflow (per_column, columns, &size))
    return 0;
  size = panel_bytes (kernel, taps, k, columns);
  return kernel->sweep && __builtin_add_overflow (size, kernel->sweep->over, &size) ? 0 : size;
}

/* Where byte q of column j lies in a step of four k. */
static void
order_of (LptPackOrder order, size_t nr, size_t q, size_t *at, size_t *stride)
{
  switch (order)
    {
    case LPT_PACK_K4:
      *at = q;
      *stride = 4;
      break;
    case LPT_PACK_PAIRS:
      *at = q % 2 * nr * 2 + q / 2;
      *stride = 2;
      break;
    default:
      *at = q * nr;
      *stride = 1;
      break;
    }
}

/* n columns of one k, every `stride` bytes. */
static void
pack_row (const uint8_t *from, ptrdiff_t n_stride, size_t n, uint8_t flip, int8_t *to, size_t stride, int32_t *sums)
{
  for (size_t j = 0; j < n; j++)
    {
      int8_t v = (int8_t) (from[(ptrdiff_t) j * n_stride] ^ flip);

      to[j * stride] = v;
      sums[j] = (int32_t) ((uint32_t) sums[j] + (uint32_t) (int32_t) v);
    }
}

/* The same of four k that lie together, of which kernels take four bytes at once. */
static void
pack_fours (const uint8_t *from, ptrdiff_t n_stride, size_t n, uint8_t flip, int8_t *to, int32_t *sums)
{
  for (size_t j = 0; j < n; j++)
    {
      uint32_t four;

      memcpy (&four, from + (ptrdiff_t) j * n_stride, sizeof four);
      four ^= flip * 0x01010101u;
      memcpy (to + j * sizeof four, &four, sizeof four);
      for (size_t q = 0; q < sizeof four; q++)
        sums[j] = (int32_t) ((uint32_t) sums[j] + (uint32_t) (int32_t) to[j * sizeof four + q]);
    }
}

void
lpt_gemm_pack_panel (const LptGemmKernel *kernel, const LptGemmWeights *w, size_t n0, size_t n1, size_t nr,
                     void *panel, int32_t *col_sum)
{
  const bool fours = kernel->order == LPT_PACK_K4 && w->k_stride == 1 && w->k_inner == 0;
  size_t k4 = (w->k + 3) / 4, n = n1 > n0 ? n1 - n0 : 0;
  int8_t *out = (int8_t *) panel + (kernel->prefix ? nr * sizeof (int32_t) : 0);
  int32_t sums[LPT_GEMM_NR_MAX] = { 0 };

  memset (out, 0, w->taps * k4 * nr * 4);
  for (size_t tap = 0; tap < w->taps && n > 0; tap++)
    for (size_t p = 0, done; p < w->k; p += done)
      {
        const uint8_t *from = (const uint8_t *) w->data + lpt_gemm_weight_at (w, tap, p, n0);
        int8_t *to = out + (tap * k4 + p / 4) * nr * 4;
        size_t at, stride;

        done = fours && p % 4 == 0 && w->k - p >= 4 ? 4 : 1;
        order_of (kernel->order, nr, p % 4, &at, &stride);
        if (done == 4)
          pack_fours (from, w->n_stride, n, w->is_unsigned ? 0x80 : 0, to, sums);
        else
          pack_row (from, w->n_stride, n, w->is_unsigned ? 0x80 : 0, to + at, stride, sums);
      }
  for (size_t j = 0; j < nr && kernel->prefix; j++)
    {
      int32_t prefix = (int32_t) ((uint32_t) sums[j] * 128u);

      memcpy ((char *) panel + j * sizeof prefix, &prefix, sizeof prefix);
    }
  if (col_sum)
    memcpy (col_sum + n0, sums, n * sizeof sums[0]);
}

void
lpt_gemm_pack_panel_k4 (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum)
{
  static const LptGemmKernel plain = { .order = LPT_PACK_K4 };

  lpt_gemm_pack_panel (&plain, w, n0, n1, nr, panel, col_sum);
}

void
lpt_gemm_pack (const LptGemmKernel *kernel, const LptGemmWeights *w, size_t n0, size_t n1, void *packed,
               int32_t *col_sum)
{
  size_t panel = lpt_gemm_panel (kernel, w->n);

  for (size_t j = n0; j < n1; j += panel)
    {
      size_t nr = panel_width (panel, w->n, j);
      size_t end = j + nr < w->n ? j + nr : w->n;
      char *to = (char *) packed + panel_bytes (kernel, w->taps, w->k, j);

      if (kernel->pack)
        kernel->pack (w, j, end, nr, to, col_sum);
      else
        lpt_gemm_pack_panel (kernel, w, j, end, nr, to, col_sum);
    }
  /* What is read behind weights adds nothing; it is set all the same, since packed weights may be written to a file. */
  if (kernel->sweep && n1 == w->n)
    memset ((char *) packed + panel_bytes (kernel, w->taps, w->k, (w->n + 15) / 16 * 16), 0, kernel->sweep->over);
}

/* --- the block loop --- */

/* Rows of sums that wait for an epilogue that the kernel does not fuse: a call for each tile of four costs as much as
 * its work. */
enum { WAITING_ROWS = 64 };

_Static_assert (WAITING_ROWS >= 2 * LPT_GEMM_MR_MAX, "two tiles at least");

typedef struct {
  const LptGemmBlock *b;
  LptGemmTile         tile;
  size_t              column, columns;
  const int32_t      *row_sums;
  bool                fused;
  int32_t            *acc;           /* [WAITING_ROWS][LPT_GEMM_NR_MAX] */
  void               *params;
  const LptEpilogue  *epilogue;      /* what is done with a tile's sums; the rest follows on the panel's bytes */
  size_t              next, tiles;   /* bytes to the next panel; tiles of this one so far */
} Panel;

/* What becomes of the sums of rows [i, i + rows). */
static void
finish_rows (const Panel *p, size_t i, size_t rows)
{
  const LptGemmBlock *b = p->b;
  size_t element = b->epilogue->store == LPT_STORE_Q8 ? 1 : 4;

  b->epilogue_kernel->run (p->epilogue, rows, p->columns, b->channel0 + p->column, p->acc, LPT_GEMM_NR_MAX,
                           p->row_sums + i, (char *) b->out + i * b->ldo + p->column * element, b->ldo, NULL, 0);
}

/* Rows [i, i + rows) in tiles of about equal height. */
static void
run_rows (Panel *p, size_t i, size_t rows, const uint8_t *const *ptr)
{
  const LptGemmBlock *b = p->b;
  size_t most = b->kernel->mr[p->tile.nr / 16 - 1], element = b->epilogue->store == LPT_STORE_Q8 ? 1 : 4, waiting = 0;

  for (size_t tiles = (rows + most - 1) / most; tiles > 0; tiles--)
    {
      size_t mr = (rows + tiles - 1) / tiles;
      char *out = (char *) b->out + i * b->ldo + p->column * element;
      const uint8_t *residual = b->residual ? b->residual + i * b->ldr + p->column : NULL;

      p->tile.mr = mr;
      p->tile.a = ptr + i;
      p->tile.row_add = p->fused && p->epilogue->weight_zp ? p->row_sums + i : NULL;
      /* The next panel comes nearer: in each tile another line of every step. */
      p->tile.ahead = p->next + 64 * (p->tiles++ % (p->tile.nr / 16));
      if (p->fused)
        b->kernel->fused (&p->tile, p->params, p->columns,
                          &(LptGemmOut) { (uint8_t *) out, b->ldo, p->epilogue->sum_fusable ? residual : NULL,
                                          b->ldr });
      else
        {
          b->kernel->micro (&p->tile, p->acc + waiting * LPT_GEMM_NR_MAX);
          waiting += mr;
          if (tiles == 1 || waiting + most > WAITING_ROWS)
            {
              finish_rows (p, i + mr - waiting, waiting);
              waiting = 0;
            }
        }
      i += mr;
      rows -= mr;
    }
}

size_t
lpt_gemm_block_rows (const LptGemmKernel *kernel, size_t rows, size_t most)
{
  if (rows <= most)
    return rows;

  size_t blocks = (rows + most - 1) / most, share = (rows + blocks - 1) / blocks;

  if (kernel->sweep)
    share = (share + kernel->sweep->step - 1) / kernel->sweep->step * kernel->sweep->step;
  return share < rows ? share : rows;
}

size_t
lpt_gemm_block_scratch (const LptGemmKernel *kernel, bool dense, size_t rows, size_t taps, size_t k)
{
  return kernel->sweep ? kernel->sweep->bytes (dense, rows, taps, k) : 0;
}

/* One row of a fused stage, if that is what the block is. */
static bool
run_one_row (const LptGemmBlock *b, size_t rows, const uint8_t *const *ptr, size_t n0, size_t n1, int32_t *row_sums)
{
  const LptGemmKernel *kernel = b->kernel;
  const LptEpilogue *e = b->epilogue;
  const size_t element = e->store == LPT_STORE_Q8 ? 1 : 4;
  LptGemmRow row;

  if (!kernel->one_row || rows != 1 || b->taps != 1 || !e->fusable || e->add || ptr[0] == b->zeros)
    return false;
  row = (LptGemmRow) { .epilogue = e, .a = ptr[0], .k = b->k, .out = (char *) b->out + n0 * element,
                       .panels = (const char *) b->packed + panel_bytes (kernel, 1, b->k, n0) };
  if (e->weight_zp)
    {
      kernel->row_sums (1, 1, b->k, ptr, 1, row_sums);
      row.add = (int32_t) (0u - (uint32_t) row_sums[0] * (uint32_t) e->weight_zp[0]);
    }
  kernel->one_row (&row, lpt_gemm_panel (kernel, b->n), b->channel0 + n0, n1 - n0);
  if (e->table && e->store == LPT_STORE_Q8)
    lpt_epilogue_finish (b->epilogue_kernel, e, 1, n1 - n0, row.out, b->ldo, NULL, 0);
  return true;
}

/* All panels of a block. Apart, since its room on the stack costs more than some rows that do without it. */
__attribute__ ((noinline)) static void
run_panels (const LptGemmBlock *b, size_t rows, const uint8_t *const *ptr, size_t ptr_stride, size_t n0, size_t n1,
            int32_t *row_sums, void *scratch)
{
  const LptGemmKernel *kernel = b->kernel;
  size_t width = lpt_gemm_panel (kernel, b->n), done = n0;
  LptEpilogue first = *b->epilogue, second = *b->epilogue;
  _Alignas (64) int32_t acc[WAITING_ROWS * LPT_GEMM_NR_MAX];
  _Alignas (64) char params[LPT_GEMM_PARAMS_SIZE];
  Panel p = { .b = b, .tile = { .taps = b->taps, .k = b->k, .a_stride = ptr_stride, .zeros = b->zeros },
              .row_sums = row_sums, .fused = kernel->fused && b->epilogue->fusable, .acc = acc, .params = params,
              .epilogue = &first };

  /* What is not fused comes on many bytes at once; tables of plain stages are done with their sums. */
  if (first.store != LPT_STORE_Q8 || (p.fused && first.sum_fusable))
    second.add = NULL;
  if (!p.fused)
    first.add = NULL;
  if (!p.fused || first.store != LPT_STORE_Q8)
    second.table = NULL;
  if (b->epilogue->weight_zp)
    kernel->row_sums (rows, b->taps, b->k, ptr, ptr_stride, row_sums);
  /* One zero point for all columns: what it takes from a row is one number. */
  for (size_t i = 0; i < rows && b->epilogue->weight_zp && p.fused; i++)
    row_sums[i] = (int32_t) (0u - (uint32_t) row_sums[i] * (uint32_t) b->epilogue->weight_zp[0]);

  if (kernel->sweep && rows >= kernel->sweep->least && b->k > 0)
    {
      kernel->sweep->run (b, &first, rows, ptr, ptr_stride, n0, n1, row_sums, scratch);
      if (second.table || second.add)
        lpt_epilogue_finish (b->epilogue_kernel, &second, rows, n1 - n0, (uint8_t *) b->out + n0, b->ldo,
                             b->residual ? b->residual + n0 : NULL, b->ldr);
      return;
    }
  for (size_t j = n0; j < n1; j += width)
    {
      p.column = j;
      p.tile.nr = panel_width (width, b->n, j);
      p.columns = j + p.tile.nr < b->n ? p.tile.nr : b->n - j;
      p.tile.panel = (const char *) b->packed + panel_bytes (kernel, b->taps, b->k, j);
      p.next = panel_bytes (kernel, b->taps, b->k, p.tile.nr);
      p.tiles = 0;
      if (p.fused)
        kernel->params (b->epilogue, b->channel0 + j, p.columns, params);
      if (b->line == 0)
        run_rows (&p, 0, rows, ptr);
      else
        for (size_t i = 0, line = b->line_first; i < rows; i += line, line = b->line)
          run_rows (&p, i, rows - i < line ? rows - i : line, ptr);
      if ((second.table || second.add) && (j + width >= n1 || j + width - done >= LPT_GEMM_NR_MAX))
        {
          size_t end = j + width < n1 ? j + width : n1;

          lpt_epilogue_finish (b->epilogue_kernel, &second, rows, end - done, (uint8_t *) b->out + done, b->ldo,
                               b->residual ? b->residual + done : NULL, b->ldr);
          done = end;
        }
    }
}

size_t
lpt_gemm_bare_row (const LptGemm *g)
{
  const LptEpilogue *e = g->epilogue;
  const bool bare = g->kernel->one_row && g->m == 1 && e->fusable && !e->add && !e->weight_zp
                    && !(e->table && e->store == LPT_STORE_Q8);

  return bare ? lpt_gemm_panel (g->kernel, g->n) : 0;
}

void
lpt_gemm_block (const LptGemmBlock *b, size_t rows, const uint8_t *const *ptr, size_t ptr_stride, size_t n0,
                size_t n1, int32_t *row_sums, void *scratch)
{
  if (!run_one_row (b, rows, ptr, n0, n1, row_sums))
    run_panels (b, rows, ptr, ptr_stride, n0, n1, row_sums, scratch);
}

bool
lpt_gemm_adds_in_place (const LptGemmKernel *kernel, const LptEpilogue *e)
{
  return kernel->fused && e->sum_fusable;
}

size_t
lpt_gemm_workspace (const LptGemm *g)
{
  return BLOCK_ROWS * (sizeof (void *) + sizeof (int32_t)) +
         lpt_gemm_block_scratch (g->kernel, true, BLOCK_ROWS, 1, g->k);
}

void
lpt_gemm_tile (const LptGemm *g, size_t m0, size_t m1, size_t n0, size_t n1, void *workspace)
{
  const uint8_t **ptr = workspace;
  int32_t *row_sums = (int32_t *) (ptr + BLOCK_ROWS);
  LptGemmBlock block = { .kernel = g->kernel, .epilogue_kernel = g->epilogue_kernel, .epilogue = g->epilogue,
                         .taps = 1, .k = g->k, .n = g->n, .packed = g->packed, .ldo = g->ldo, .ldr = g->ldr };

  for (size_t i = m0; i < m1; )
    {
      size_t rows = lpt_gemm_block_rows (g->kernel, m1 - i, BLOCK_ROWS);

      for (size_t r = 0; r < rows; r++)
        ptr[r] = g->a + (i + r) * g->lda;
      block.out = (char *) g->out + i * g->ldo;
      block.residual = g->residual ? g->residual + i * g->ldr : NULL;
      lpt_gemm_block (&block, rows, ptr, BLOCK_ROWS, n0, n1, row_sums, row_sums + BLOCK_ROWS);
      i += rows;
    }
}

void
lpt_gemm_tiling (const LptGemmKernel *kernel, size_t m, size_t k, size_t n, size_t *tm, size_t *tn)
{
  /* Tiles are worth a task, with several per thread for two to eight threads; columns are cut first where the weights
   * are larger than the activations. */
  const double least = lpt_gemm_part (kernel);
  size_t panel = lpt_gemm_panel (kernel, n);
  double total = (double) m * (double) (k ? k : 1) * (double) n;
  size_t want = (size_t) (total / least), cuts_n, cuts_m, columns = (n + panel - 1) / panel;

  want = want < 1 ? 1 : want > 16 ? 16 : want;
  if (n > m)
    {
      cuts_n = want < columns ? want : columns;
      cuts_m = (want + cuts_n - 1) / cuts_n;
    }
  else
    {
      cuts_m = want;
      cuts_n = 1;
    }
  *tn = cuts_n ? (columns + cuts_n - 1) / cuts_n * panel : panel;
  *tm = (m + cuts_m - 1) / cuts_m;
  if (*tm < 24)
    *tm = m < 24 ? (m ? m : 1) : 24;
}
