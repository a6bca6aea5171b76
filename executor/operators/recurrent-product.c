/* recurrent-product.c - rows times constant weights, as recurrent cells need them
 *
 * See recurrent.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/recurrent.h"
#include "eval/lpt-recurrent.h"
#include "ir/scalar/lpt-loop.h"

#define PANEL LPT_FGEMM_PANEL

static gsize
round_up (gsize n)
{
  return (n + 63) & ~(gsize) 63;
}

/* Of the packed weights (transfer full). */
static char *
name_of (const LptRecurrentColumns *columns,
         const char                *kernel)
{
  return g_strdup_printf ("%s %s %" G_GSIZE_FORMAT, kernel, columns->key, columns->direction);
}

/* The first row of all directions. */
static gsize
first_row (const LptRecurrentColumns *columns)
{
  const LptShape *shape = &columns->weights->shape;

  return columns->direction * (gsize) shape->dims[shape->rank - 2] + columns->from;
}

/* Columns from @at on that lie together: whole panels. */
static gsize
width_at (const LptRecurrentProduct *p,
          gsize                      at)
{
  return MIN (p->wide, (p->n - at + PANEL - 1) / PANEL * PANEL);
}

static void
pack_wide (const LptRecurrentProduct *p,
           const float               *weights,
           float                     *to)
{
  gsize at, i, c;

  for (at = 0; at < p->n; at += p->wide)
    for (i = 0; i < p->k; i++)
      for (c = at; c < at + width_at (p, at); c++)
        *to++ = c < p->n ? weights[c * p->k + i] : 0;
}

/* @rows: most rows that meet it at a time. */
static gboolean
pack_floats (LptRecurrentProduct       *p,
             LptProgram                *program,
             const LptProgramOp        *op,
             const LptRecurrentColumns *columns,
             gsize                      rows)
{
  const float *weights = (const float *) columns->weights->data + first_row (columns) * p->k;
  gsize panels = (p->n + PANEL - 1) / PANEL, at;
  g_autofree char *name = name_of (columns, rows == 1 ? "fgemm wide" : "fgemm");
  LptPackedWeights packed = lpt_program_pack (program, op, name, NULL, 0, panels * PANEL * p->k * sizeof (float), 0);

  p->wide = rows == 1 ? p->fgemm->one_row : 0;
  if (p->wide > 0 && packed.fresh)
    pack_wide (p, weights, packed.data);
  for (at = 0; at < p->n && p->wide == 0 && packed.fresh; at += PANEL)
    lpt_fgemm_pack (p->k, p->n, at, weights, 1, (ptrdiff_t) p->k, (float *) packed.data + at * p->k);
  p->packed = packed.data;

  return p->packed != NULL;
}

static gboolean
pack_codes (LptRecurrentProduct       *p,
            LptProgram                *program,
            const LptProgramOp        *op,
            const LptRecurrentColumns *columns,
            gsize                      rows)
{
  const LptGemmKernel *gemm = lpt_gemm_kernel_for (program->kernels.gemm, 2 * rows, p->k);
  const LptQuant *quant = columns->weights->quant;
  LptGemmWeights w = { .data = (const gint8 *) columns->weights->data + first_row (columns) * p->k, .taps = 1,
                       .k = p->k, .n = p->n, .k_stride = 1, .n_stride = (ptrdiff_t) p->k };
  g_autofree char *name = name_of (columns, gemm->name);
  LptPackedWeights packed = lpt_program_pack (program, op, name, NULL, 0, lpt_gemm_packed_size (gemm, 1, p->k, p->n),
                                              p->n);
  gsize c;

  p->bias = lpt_program_array (p->n, sizeof *p->bias);
  p->scale = lpt_program_array (p->n, sizeof *p->scale);
  if (packed.data == NULL || p->bias == NULL || p->scale == NULL)
    return FALSE;
  if (packed.fresh)
    lpt_gemm_pack (gemm, &w, 0, p->n, packed.data, packed.col_sum);
  for (c = 0; c < p->n; c++)
    {
      p->bias[c] = -128 * packed.col_sum[c];
      p->scale[c] = (float) quant->scale[lpt_recurrent_scale_of (quant, &columns->weights->shape, columns->direction,
                                                                 columns->from + c)];
    }
  p->end = (LptEpilogue) { .store = LPT_STORE_I32, .bias = p->bias };
  p->gemm = (LptGemm) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &p->end, .m = 2 * rows, .k = p->k, .n = p->n,
                        .lda = round_up (p->k), .packed = packed.data, .ldo = round_up (p->n * sizeof (gint32)) };
  lpt_epilogue_prepare (&p->end, p->n, 2 * lpt_accumulator_bound (p->k));

  return TRUE;
}

gboolean
lpt_recurrent_product_init (LptRecurrentProduct       *product,
                            LptProgram                *program,
                            const LptProgramOp        *op,
                            const LptRecurrentColumns *columns,
                            gsize                      rows)
{
  const LptShape *shape = &columns->weights->shape;

  *product = (LptRecurrentProduct) { .k = (gsize) shape->dims[shape->rank - 1], .n = columns->n,
                                     .fgemm = program->kernels.fgemm, .split = program->kernels.split16 };
  if (columns->weights->quant == NULL)
    return pack_floats (product, program, op, columns, rows);

  return pack_codes (product, program, op, columns, rows);
}

void
lpt_recurrent_product_clear (LptRecurrentProduct *product)
{
  lpt_aligned_free (product->bias);
  lpt_aligned_free (product->scale);
}

gsize
lpt_recurrent_product_room (const LptRecurrentProduct *p,
                            gsize                      m)
{
  LptGemm gemm = p->gemm;

  if (p->packed != NULL)
    return 0;
  gemm.m = 2 * m;

  return round_up (m * sizeof (float)) + 2 * m * (gemm.lda + gemm.ldo) + round_up (lpt_gemm_workspace (&gemm));
}

/* In the workspace: steps of the rows, their bytes, sums, and what the kernel needs. */
static void
run_codes (const LptRecurrentProduct *p,
           const LptRecurrentBlock   *b,
           guint8                    *workspace)
{
  const gsize m = b->m;
  LptGemm gemm = p->gemm;
  float *steps = (float *) (gpointer) workspace;
  guint8 *codes = workspace + round_up (m * sizeof (float)), *sums = codes + 2 * m * gemm.lda;
  gsize i;

  for (i = 0; i < m; i++)
    steps[i] = p->split->split (p->k, b->rows[i], codes + 2 * i * gemm.lda, codes + (2 * i + 1) * gemm.lda);
  gemm.epilogue = &p->end;
  gemm.m = 2 * m;
  gemm.a = codes;
  gemm.out = sums;
  lpt_gemm_tile (&gemm, 0, 2 * m, 0, p->n, sums + 2 * m * gemm.ldo);
  for (i = 0; i < m; i++)
    p->split->join (p->n, (const gint32 *) (gconstpointer) (sums + 2 * i * gemm.ldo),
                    (const gint32 *) (gconstpointer) (sums + (2 * i + 1) * gemm.ldo), p->scale, steps[i],
                    b->residual != NULL ? b->residual + i * b->ldy : b->bias, b->y + i * b->ldy);
}

/* The columns from @at on that lie together. */
static void
run_wide (const LptRecurrentProduct *p,
          const LptRecurrentBlock   *b,
          LptFgemmTile               tile,
          gsize                      at)
{
  tile.n = MIN (p->n - at, p->wide);
  tile.b = p->packed + at * p->k;
  tile.ldb = width_at (p, at);
  tile.y = b->y + at;
  tile.end.bias = b->bias != NULL ? b->bias + at : NULL;
  tile.end.residual = b->residual != NULL ? b->residual + at : NULL;
  p->fgemm->run (&tile);
}

void
lpt_recurrent_product_run (const LptRecurrentProduct *p,
                           const LptRecurrentBlock   *b,
                           guint8                    *workspace)
{
  LptFgemmTile tile = { .m = b->m, .n = p->n, .channels = p->k, .taps = 1, .a = b->rows, .a_rows = b->m, .a_step = 1,
                        .b = p->packed, .end = { .bias = b->bias, .residual = b->residual, .ldr = b->ldy }, .y = b->y,
                        .ldy = b->ldy };
  gsize blocks, i;

  if (p->packed == NULL)
    {
      run_codes (p, b, workspace);
      return;
    }
  if (p->wide == 0)
    {
      p->fgemm->run (&tile);
      return;
    }
  blocks = (p->n + p->wide - 1) / p->wide;
  for (i = 0; i < blocks; i++)
    run_wide (p, b, tile, (b->backwards ? blocks - 1 - i : i) * p->wide);
}
