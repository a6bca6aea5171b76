/* matmul.c - matrix products with constant weights
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/weights.h"

typedef struct
{
  LptFusedEpilogue epilogue;
  LptGemm      gemm;
  gsize        tm, tn, columns;      /* of a tile; tiles side by side */
  gsize        bare;                 /* panel width of one row that needs nothing but its kernel, or 0 */
} MatMul;

static LptCutBox
next_tiles (const MatMul *m,
            gsize        *task,
            gsize         end)
{
  LptCutBox box = lpt_cut_box (task, end, m->columns);

  return (LptCutBox) { box.i0 * m->tm, MIN (box.i1 * m->tm, m->gemm.m), box.j0 * m->tn,
                       MIN (box.j1 * m->tn, m->gemm.n) };
}

static void
matmul_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const MatMul *m = op->form.params;
  LptGemm g;
  LptEpilogue made;

  /* Of small products what is around the kernel takes longer than the kernel. */
  if (m->bare > 0 && task == 0 && end == op->form.tasks)
    {
      m->gemm.kernel->one_row (&(LptGemmRow) { .epilogue = &m->epilogue.e, .a = data->in[0], .k = m->gemm.k,
                                               .panels = m->gemm.packed, .out = data->out },
                               m->bare, 0, m->gemm.n);
      return;
    }
  g = m->gemm;
  g.a = data->in[0];
  g.out = data->out;
  g.residual = m->epilogue.residual != NULL ? data->in[1] : NULL;
  while (task < end)
    {
      LptCutBox box = next_tiles (m, &task, end);

      g.epilogue = lpt_fused_epilogue_of_run (&m->epilogue, &m->epilogue.whole,
                                              &(LptEpilogueRun) { op, data, box.j0, box.j1, 0 }, &made);
      lpt_gemm_tile (&g, box.i0, box.i1, box.j0, box.j1, data->workspace);
      lpt_fused_epilogue_finish (&m->epilogue, data->out + box.i0 * g.ldo, g.ldo, box.i1 - box.i0, box.j0, box.j1);
    }
}

static LptOpSpan
matmul_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const MatMul *m = op->form.params;
  LptCutBox box = next_tiles (m, &task, task + 1);
  gsize element = m->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4;

  if (k == op->form.n_in)
    return lpt_span_columns (box.i0, box.i1, box.j0 * element, box.j1 * element, m->gemm.ldo);
  if (k == 1 && m->epilogue.residual != NULL)
    return lpt_span_columns (box.i0, box.i1, box.j0, box.j1, m->gemm.ldr);
  if (k >= 1)
    return lpt_span (0, m->epilogue.channels, sizeof (float));

  return lpt_span_columns (box.i0, box.i1, 0, m->gemm.k, m->gemm.lda);
}

static void
matmul_bind (LptProgramOp *op)
{
  MatMul *m = op->form.params;

  lpt_fused_epilogue_bind (&m->epilogue, &m->epilogue.e, m->gemm.n, m->epilogue.bound);
  m->bare = m->epilogue.zero == NULL && m->epilogue.run_scale == NULL && m->epilogue.maps == NULL
                ? lpt_gemm_bare_row (&m->gemm) : 0;
}

static void
matmul_clear (gpointer params)
{
  MatMul *m = params;

  lpt_fused_epilogue_clear (&m->epilogue);
}

static void matmul_follow (LptProgram *program, LptProgramOp *op);

static void
matmul_set_form (LptProgramOp *op,
                 MatMul       *m)
{
  const gsize tasks = (m->gemm.m + m->tm - 1) / m->tm * m->columns;
  LptOpForm form = {
    .run = matmul_run, .access = matmul_access, .follow = matmul_follow, .bind = matmul_bind, .clear = matmul_clear, .params = m,
    .kernel = m->gemm.kernel->name, .tasks = tasks, .workspace = (lpt_gemm_workspace (&m->gemm) + 63) & ~(gsize) 63, .n_in = m->epilogue.residual != NULL ? 2 : 1,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES }, { m->epilogue.residual, LPT_LAYOUT_CODES }, { NULL }),
    .out = m->epilogue.out, .out_layout = m->epilogue.e.store == LPT_STORE_Q8 ? LPT_LAYOUT_CODES : LPT_LAYOUT_TYPED,
    .last = m->epilogue.last };

  lpt_fused_epilogue_computed (&m->epilogue, &form);
  lpt_program_set_form (op, &form);
}

static void
matmul_follow (LptProgram   *program,
               LptProgramOp *op)
{
  MatMul *m = op->form.params;

  if (lpt_fused_epilogue_follow (&m->epilogue, program, op))
    matmul_set_form (op, m);
}

/* What the op has. */
typedef struct
{
  gsize             rows, k, n;
  const LptArray   *bias;
  LptWeightChannels channels;        /* to be cleared */
} Product;

static gboolean
match (LptProgramOp *op,
       Product      *p)
{
  const LptMatMulAttrs *attrs = LPT_ATTRS (op->node, LptMatMulAttrs);
  const LptArray *a, *w;
  gboolean ok;

  if (!lpt_reads_codes_with_weights (op))
    return FALSE;
  if (!lpt_program_is_codes (op->in[0]))
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[0]));
  if (attrs->transpose_a)
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  a = &op->in[0]->array;
  w = &op->in[1]->array;
  if (a->shape.rank < 2 || w->shape.rank != 2 || lpt_array_count (a) == 0 || lpt_array_count (w) == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  p->k = (gsize) a->shape.dims[a->shape.rank - 1];
  p->n = (gsize) w->shape.dims[attrs->transpose_b ? 0 : 1];
  p->rows = (gsize) lpt_array_count (a) / p->k;
  p->bias = lpt_bias_of (op, 2, p->n, &ok);
  if (!ok)
    return lpt_refuse (op, LPT_REMARK_BIAS);
  if ((w->quant->n > 1 && w->quant->axis != (attrs->transpose_b ? 0 : 1)) ||
      !lpt_weight_channels_init (&p->channels, op->in[1], FALSE, 1, p->n))
    return lpt_refuse (op, LPT_REMARK_QUANTIZATION);

  return TRUE;
}

/* The weights in panels of @gemm, and what zero points add to the sums. */
static LptPackedWeights
pack_weights (LptProgram          *program,
              const LptProgramOp  *op,
              const Product       *p,
              const LptGemmKernel *gemm,
              LptFusedEpilogue    *epilogue)
{
  const gboolean transposed = LPT_ATTRS (op->node, LptMatMulAttrs)->transpose_b;
  const LptArray *w = &op->in[1]->array;
  const LptGemmWeights weights = { .data = w->data, .is_unsigned = w->dtype == LPT_DTYPE_U8, .taps = 1, .k = p->k,
                                   .n = p->n, .k_stride = transposed ? 1 : (ptrdiff_t) p->n,
                                   .n_stride = transposed ? (ptrdiff_t) p->k : 1 };
  const gint32 zero = epilogue->zero != NULL ? 0 : lpt_program_zero (op->in[0]);
  LptPackedWeights packed = lpt_program_pack (program, op, gemm->name, NULL, 0,
                                              lpt_gemm_packed_size (gemm, 1, p->k, p->n), p->n);

  if (packed.fresh)
    lpt_gemm_pack (gemm, &weights, 0, p->n, packed.data, packed.col_sum);
  if (packed.data != NULL && epilogue->bias != NULL)
    epilogue->bound = lpt_fold_zero_points (&epilogue->e,
                                            &(LptSumChannels) { packed.col_sum, epilogue->bias, epilogue->weight_zp },
                                            p->n, &p->channels, p->bias, (LptInputZeros) { &zero, p->n }, p->k);

  return packed;
}

gboolean
lpt_prepare_matmul (LptProgram   *program,
                    LptProgramOp *op)
{
  const LptGemmKernel *gemm;
  LptPackedWeights packed;
  Product p;
  MatMul *m;

  if (!match (op, &p))
    return FALSE;
  m = g_new0 (MatMul, 1);
  if (!lpt_fused_epilogue_init (&m->epilogue, op, op->out[0]->array.shape.rank - 1, p.n, p.channels.scale, (guint) p.n))
    {
      lpt_weight_channels_clear (&p.channels);
      matmul_clear (m);
      g_free (m);
      return FALSE;
    }
  gemm = lpt_gemm_kernel_for (program->kernels.gemm, p.rows, p.k);
  packed = pack_weights (program, op, &p, gemm, &m->epilogue);
  lpt_weight_channels_clear (&p.channels);
  m->epilogue.finishes = TRUE;
  m->epilogue.whole = (LptEpiloguePart) { &m->epilogue.e, packed.col_sum, p.k };
  m->gemm = (LptGemm) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &m->epilogue.e,
                        .m = p.rows, .k = p.k, .n = p.n, .lda = p.k, .packed = packed.data,
                        .ldo = p.n * (m->epilogue.e.store == LPT_STORE_Q8 ? 1 : 4), .ldr = p.n };
  lpt_gemm_tiling (gemm, p.rows, p.k, p.n, &m->tm, &m->tn);
  m->columns = (p.n + m->tn - 1) / m->tn;
  matmul_set_form (op, m);

  return TRUE;
}
