/* executor/kernels/gemm/gemm.h - matrix product of u8 activations and s8 weights, epilogue fused
 *
 *   acc[m][n] = sum over taps and k of a (m, tap)[k] * w[tap][k][n]          (exact in int32)
 *
 * With one tap and rows at a fixed distance it is a matrix product; with a pointer per row and tap
 * it is a convolution (igemm/). int8 activations are held as u8 = q + 128, the offset goes into the bias
 * as -128 * column sum. Weights are packed once into the row's own layout, in panels of columns.
 *
 * Packed size and layout depend on the kernel row, nothing else: key a cache by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/kernels/requant/requant.h"

#define LPT_GEMM_NR_MAX 64
#define LPT_GEMM_MR_MAX 14

typedef enum {
  LPT_PACK_K4,    /* [k/4][n][4] */
  LPT_PACK_PAIRS, /* [k/4][(k0,k2) of n, (k1,k3) of n][2] */
  LPT_PACK_K1     /* [k][n] */
} LptPackOrder;

/* One panel of nr columns (16, 32, 48 or 64) times mr rows. a[tap * a_stride + i] points at row i's k bytes
 * of that tap; reads no byte outside. A tap where every row is `zeros` adds nothing and is passed over (NULL: no
 * such). */
typedef struct {
  size_t                mr, nr, taps, k, a_stride;
  const uint8_t *const *a;
  const uint8_t        *zeros;
  const void           *panel;
  size_t                ahead;     /* from a step's weights to bytes that later tiles need: a hint */
  const int32_t        *row_add;   /* fused stage: one number for all accumulators of a row, or NULL */
} LptGemmTile;

/* Accumulators: acc[i * LPT_GEMM_NR_MAX + j]. */
typedef void (*LptGemmMicro) (const LptGemmTile *t, int32_t *acc);

/* Where the rows' bytes go, and those of a residual that the stage adds, or NULL. */
typedef struct {
  uint8_t       *out;
  size_t         ldo;
  const uint8_t *residual;
  size_t         ldr;
} LptGemmOut;

/* The first stage of a fusable epilogue on the registers: `columns` results in each row. `params` is what
 * LptGemmParams made of the panel's channels. */
#define LPT_GEMM_PARAMS_SIZE 4096
typedef void (*LptGemmParams) (const LptEpilogue *e, size_t channel0, size_t columns, void *params);
typedef void (*LptGemmFused)  (const LptGemmTile *t, const void *params, size_t columns,
                               const LptGemmOut *o);

/* One row of one tap. Its first stage alone is done, which is fusable, without table and residual. */
typedef struct {
  const LptEpilogue *epilogue;
  const uint8_t     *a;
  size_t             k;
  int32_t            add;         /* to all sums: what the weights' zero point takes */
  const void        *panels;      /* of the columns, and where their results go */
  void              *out;
} LptGemmRow;

/* `columns` results from `channel` on, in panels of `width` columns. */
typedef void (*LptGemmOneRow) (const LptGemmRow *row, size_t width, size_t channel, size_t columns);

/* Sums of mr rows over all taps, in int32. */
typedef void (*LptGemmRowSums) (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride,
                                int32_t *sums);

/* n pixels of three planes, side by side. */
typedef void (*LptGemmInterleave) (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out);

/* Weights as the packer reads them: element (tap, k, n) at data + tap * tap_stride + k * k_stride + n * n_stride.
 * Where tap_inner (k_inner) is not 0 the index has two digits, outer * inner + rest, with a stride each.
 * Unsigned ones are stored as w - 128, so their zero point is lowered by 128 too. */
typedef struct {
  const void *data;
  bool        is_unsigned;
  size_t      taps, k, n;
  ptrdiff_t   tap_stride, k_stride, n_stride;
  size_t      tap_inner, k_inner;
  ptrdiff_t   tap_outer_stride, k_outer_stride;
} LptGemmWeights;

/* Offset of one weight, and its stored (signed) value. */
static inline ptrdiff_t
lpt_gemm_weight_at (const LptGemmWeights *w, size_t tap, size_t k, size_t n)
{
  ptrdiff_t at = (ptrdiff_t) n * w->n_stride;

  if (w->tap_inner)
    at += (ptrdiff_t) (tap / w->tap_inner) * w->tap_outer_stride + (ptrdiff_t) (tap % w->tap_inner) * w->tap_stride;
  else
    at += (ptrdiff_t) tap * w->tap_stride;
  if (w->k_inner)
    at += (ptrdiff_t) (k / w->k_inner) * w->k_outer_stride + (ptrdiff_t) (k % w->k_inner) * w->k_stride;
  else
    at += (ptrdiff_t) k * w->k_stride;
  return at;
}

static inline int8_t
lpt_gemm_weight (const LptGemmWeights *w, size_t tap, size_t k, size_t n)
{
  return (int8_t) (((const uint8_t *) w->data)[lpt_gemm_weight_at (w, tap, k, n)] ^ (w->is_unsigned ? 0x80 : 0));
}

/* Packs columns [n0, n1) of one panel (nr wide, n1 - n0 <= nr); writes column sums of the stored values
 * unless col_sum is NULL. */
typedef void (*LptGemmPackPanel) (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel,
                                  int32_t *col_sum);

struct LptGemmBlock;

/* A block loop of its own for rows that are many enough: columns [n0, n1), epilogue `e` fused where it is fusable.
 * `scratch`: bytes (), 64-byte aligned; dense: one tap, rows at a fixed distance. */
typedef struct {
  size_t   least;                                                        /* rows */
  size_t   step;                                                         /* rows that cost the same as one of them */
  size_t   depth;                                                        /* products of taps * k from which on it is worth it */
  double   part;                                                         /* products worth a task of their own */
  size_t   over;                                                         /* bytes that are read behind packed weights */
  size_t (*bytes) (bool dense, size_t rows, size_t taps, size_t k);
  void   (*run)   (const struct LptGemmBlock *b, const LptEpilogue *e, size_t rows, const uint8_t *const *ptr, size_t ptr_stride,
                   size_t n0, size_t n1, const int32_t *row_sums, void *scratch);
} LptGemmSweep;

typedef struct {
  const char      *name;
  LptCpu           needs;
  LptPackOrder     order;
  bool             prefix;   /* a panel begins with nr int32: 128 * column sum */
  unsigned         nr;       /* widest panel */
  unsigned         mr[4];    /* most rows for panels of 16, 32, 48, 64 columns */
  LptGemmMicro     micro;
  LptGemmFused     fused;    /* with params and one_row, or all NULL */
  LptGemmParams    params;
  LptGemmOneRow    one_row;
  LptGemmRowSums   row_sums;
  LptGemmInterleave interleave;
  LptGemmPackPanel pack;     /* NULL: the generic one */
  const LptGemmSweep *sweep; /* or NULL */
} LptGemmKernel;

#define LPT_GEMM_SWEEP(needs, isa) extern const LptGemmSweep lpt_gemm_sweep__##isa;

#define LPT_GEMM_FUSED(needs, isa)                                                                           \
  void lpt_gemm_fused__##isa (const LptGemmTile *t, const void *params, size_t columns, const LptGemmOut *o); \
  void lpt_gemm_params__##isa (const LptEpilogue *e, size_t channel0, size_t columns, void *params);         \
  void lpt_gemm_one_row__##isa (const LptGemmRow *row, size_t width, size_t channel, size_t columns);
#define LPT_GEMM_KERNEL(needs, isa, fuses, helpers, sweeps, tile, order, prefix, nr, m1, m2, m3, m4)                          \
  void lpt_gemm_u8s8s32_##tile##__##isa (const LptGemmTile *t, int32_t *acc);
#define LPT_GEMM_HELPERS(needs, isa)                                                                         \
  void lpt_gemm_row_sums__##isa (size_t rows, size_t taps, size_t k, const uint8_t *const *a, size_t a_stride, \
                                 int32_t *sums);                                                             \
  void lpt_gemm_interleave__##isa (size_t n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out); \
  void lpt_gemm_pack__##isa (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum);
#include "executor/kernels/gemm/gemm.def"
#undef LPT_GEMM_KERNEL
#undef LPT_GEMM_HELPERS
#undef LPT_GEMM_FUSED
#undef LPT_GEMM_SWEEP

const LptGemmKernel *lpt_gemm_kernels (size_t *n);
const LptGemmKernel *lpt_gemm_kernel  (LptCpu cpu);

/* `best`, or the next row where `rows` or sums of `depth` = taps * k products are too few for it. */
const LptGemmKernel *lpt_gemm_kernel_for (const LptGemmKernel *best, size_t rows, size_t depth);

/* The generic packer (any order), also the reference of the special ones. */
void   lpt_gemm_pack_panel  (const LptGemmKernel *kernel, const LptGemmWeights *w, size_t n0, size_t n1, size_t nr,
                             void *panel, int32_t *col_sum);

/* The same for one panel of order K4 without a prefix: what a row's packer may fall back to. */
void   lpt_gemm_pack_panel_k4 (const LptGemmWeights *w, size_t n0, size_t n1, size_t nr, void *panel, int32_t *col_sum);

/* Bytes of packed weights (64-byte aligned memory), 0 if that overflows. */
size_t lpt_gemm_packed_size (const LptGemmKernel *kernel, size_t taps, size_t k, size_t n);

/* Panel width for n columns. Tiles begin at multiples of it. */
size_t lpt_gemm_panel       (const LptGemmKernel *kernel, size_t n);

/* Packs columns [n0, n1), n0 a multiple of the panel width and n1 too or n; col_sum[n] or NULL. */
void   lpt_gemm_pack        (const LptGemmKernel *kernel, const LptGemmWeights *w, size_t n0, size_t n1,
                             void *packed, int32_t *col_sum);

typedef struct {
  const LptGemmKernel     *kernel;
  const LptEpilogueKernel *epilogue_kernel;
  const LptEpilogue       *epilogue;
  size_t                   m, k, n;
  const uint8_t           *a;
  size_t                   lda;               /* bytes from row to row */
  const void              *packed;
  void                    *out;
  size_t                   ldo;               /* bytes */
  const uint8_t           *residual;          /* with epilogue->add */
  size_t                   ldr;
} LptGemm;

/* Bytes of workspace (64-byte aligned) that one thread needs for lpt_gemm_tile (). */
size_t lpt_gemm_workspace (const LptGemm *g);

/* Whether the residual is read where the output is written, and just before: then both may be the same bytes. */
bool   lpt_gemm_adds_in_place (const LptGemmKernel *kernel, const LptEpilogue *e);

/* Rows [m0, m1), columns [n0, n1), n0 a multiple of the panel width, n1 too or n. */
void   lpt_gemm_tile      (const LptGemm *g, size_t m0, size_t m1, size_t n0, size_t n1, void *workspace);

/* The panel width where the product is one row whose fused stage is all that is done, as kernel->one_row does it without a
 * block around it; 0: it is not. */
size_t lpt_gemm_bare_row  (const LptGemm *g);

/* Products that take as long as the whole of m rows by n columns: vectors are of 16 columns, and to end a sum (its
 * scale, its code and its place) takes the time of 32 products. */
static inline double
lpt_gemm_work (size_t m, size_t k, size_t n)
{
  return (double) m * (double) (k + 32) * (double) ((n + 15) & ~(size_t) 15);
}

/* Products that are worth a task of their own. */
static inline double
lpt_gemm_part (const LptGemmKernel *kernel)
{
  return kernel->sweep ? kernel->sweep->part : 262144.0;
}

/* Rows of a tile over panels of nr columns: where rows are cut. */
static inline size_t
lpt_gemm_rows (const LptGemmKernel *kernel, size_t nr)
{
  return kernel->sweep ? kernel->sweep->step : kernel->mr[nr / 16 - 1];
}

/* A partition for lpt_parallel_for (): tiles of tm x tn, from the shape only. */
void   lpt_gemm_tiling    (const LptGemmKernel *kernel, size_t m, size_t k, size_t n, size_t *tm, size_t *tn);

/* The block loop behind gemm and convolution: rows of pointers ptr[tap * rows_stride + row] are ready. */
typedef struct LptGemmBlock {
  const LptGemmKernel     *kernel;
  const LptEpilogueKernel *epilogue_kernel;
  const LptEpilogue       *epilogue;
  size_t                   taps, k, n, channel0;
  const void              *packed;
  void                    *out;               /* of the block's first row and channel 0 of this group */
  size_t                   ldo;
  const uint8_t           *residual;
  size_t                   ldr;
  const uint8_t           *zeros;             /* as in LptGemmTile */
  size_t                   line, line_first;  /* tiles end where a line of this many rows does (0: none); rows of the first */
  bool                     line_over;         /* rows of a line are equally far apart in each tap, and sixteen can be read from any on */
} LptGemmBlock;

/* scratch: lpt_gemm_block_scratch () bytes, 64-byte aligned; may be NULL where those are 0. */
void   lpt_gemm_block     (const LptGemmBlock *b, size_t rows, const uint8_t *const *ptr, size_t ptr_stride,
                           size_t n0, size_t n1, int32_t *row_sums, void *scratch);

/* Rows of the next block where `rows` remain, at most `most`, a multiple of the kernel's step. */
size_t lpt_gemm_block_rows (const LptGemmKernel *kernel, size_t rows, size_t most);

/* For blocks of up to `rows`; dense: one tap, rows at a fixed distance. */
size_t lpt_gemm_block_scratch (const LptGemmKernel *kernel, bool dense, size_t rows, size_t taps, size_t k);
