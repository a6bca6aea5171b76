/* svdf.c - LiteSVDF with constant weights, by sums of 16-bit products
 *
 * Each filter's product with the input, by the kernels of 8-bit products, rescaled, is the newest of its memory; the
 * memories of `rank` filters times their weights along time, plus a bias, are one result (kernels/svdf). Exact: the
 * same codes as eval/integer/lpt-lite-recurrent.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/integer/lpt-lite-svdf.h"
#include "executor/operators/lpt-operators.h"

/* Inputs, so that sums of their products fit 32 bits. */
#define MAX_INPUTS 65536

typedef struct
{
  LptLiteSvdf sizes;
  LptGemm     gemm;                      /* with the features, to int32 */
  LptEpilogue words;
  gint32     *zeros;                     /* what the input's zero point adds to the sums */
  LptSvdf     step;                      /* its arrays are owned; y is in u8 form */
  const LptSvdfKernel *kernel;
} Svdf;

/* Sums of filters, later of units. */
static gsize
sums_size (const Svdf *p)
{
  return (p->gemm.n * sizeof (gint32) + 63) & ~(gsize) 63;
}

static void
run_item (const Svdf   *p,
          const guint8 *x,
          const gint16 *state,
          gint16       *next,
          guint8       *y,
          gpointer      workspace)
{
  LptGemm gemm = p->gemm;

  gemm.a = x;
  gemm.out = workspace;
  lpt_gemm_tile (&gemm, 0, 1, 0, gemm.n, (guint8 *) workspace + sums_size (p));
  memcpy (next, state + 1, (gemm.n * p->step.memory - 1) * sizeof (gint16));
  p->kernel->step (&p->step, workspace, next, y);
}

static void
svdf_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Svdf *p = op->form.params;
  const gsize inputs = (gsize) p->sizes.inputs, units = (gsize) (p->sizes.filters / p->sizes.rank),
              length = (gsize) (p->sizes.filters * p->sizes.memory);

  for (; task < end; task++)
    run_item (p, data->in[0] + task * inputs, (const gint16 *) (gconstpointer) data->in[1] + task * length,
              (gint16 *) (gpointer) data->more[0] + task * length, data->out + task * units,
              data->workspace);
}

static void
svdf_clear (gpointer params)
{
  Svdf *p = params;

  lpt_aligned_free (p->zeros);
  lpt_aligned_free ((gint16 *) p->step.low);
  lpt_aligned_free ((gint16 *) p->step.high);
  lpt_aligned_free ((guint8 *) p->step.narrow);
  lpt_aligned_free ((gint64 *) p->step.bias);
}

static gboolean
is_weights (const LptProgramValue *value)
{
  return value != NULL && value->kind == LPT_STORAGE_CONST &&
         (value->array.dtype == LPT_DTYPE_I8 || value->array.dtype == LPT_DTYPE_I16);
}

static gboolean
is_state (const LptProgramValue *value)
{
  return value != NULL && value->array.dtype == LPT_DTYPE_I16 &&
         (value->array.quant == NULL || value->array.quant->zero_point[0] == 0);
}

/* FALSE: no memory. */
static gboolean
pack_features (LptProgram         *program,
               const LptProgramOp *op,
               Svdf               *p)
{
  const LptArray *w = &op->in[1]->array;
  const gsize k = (gsize) p->sizes.inputs, n = (gsize) p->sizes.filters;
  const LptGemmWeights weights = { .data = w->data, .taps = 1, .k = k, .n = n, .k_stride = 1, .n_stride = (ptrdiff_t) k };
  const LptGemmKernel *gemm = lpt_gemm_kernel_for (program->kernels.gemm, 1, k);
  LptPackedWeights packed = lpt_program_pack (program, op, gemm->name, NULL, 0, lpt_gemm_packed_size (gemm, 1, k, n), n);
  gsize c;

  p->zeros = lpt_program_array (n, sizeof (gint32));
  if (p->zeros == NULL || packed.data == NULL)
    return FALSE;
  if (packed.fresh)
    lpt_gemm_pack (gemm, &weights, 0, n, packed.data, packed.col_sum);
  for (c = 0; c < n; c++)
    p->zeros[c] = -lpt_program_zero (op->in[0]) * packed.col_sum[c];
  p->words = (LptEpilogue) { .store = LPT_STORE_I32, .bias = p->zeros };
  lpt_epilogue_prepare (&p->words, n, lpt_accumulator_bound (k));
  p->gemm = (LptGemm) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &p->words, .m = 1,
                        .k = k, .n = n, .lda = k, .packed = packed.data, .ldo = n * sizeof (gint32) };

  return TRUE;
}

/* The same. */
static gboolean
copy_weights (const LptProgramOp *op,
              Svdf               *p)
{
  const LptArray *time = &op->in[2]->array;
  const gsize units = (gsize) (p->sizes.filters / p->sizes.rank), length = (gsize) (p->sizes.rank * p->sizes.memory);
  gint16 *low = lpt_program_array (units * length, sizeof *low),
         *high = lpt_program_array (units * length, sizeof *high);
  guint8 *narrow = lpt_program_array (units, sizeof *narrow);
  gint64 *bias = lpt_program_array (units, sizeof *bias);
  gsize u, k;

  p->step.low = low;
  p->step.high = high;
  p->step.narrow = narrow;
  p->step.bias = bias;
  if (low == NULL || high == NULL || narrow == NULL || bias == NULL)
    return FALSE;

  for (u = 0; u < units; u++)
    {
      gint64 reach = 0;

      for (k = u * length; k < (u + 1) * length; k++)
        reach += ABS ((gint64) lpt_int_at (time, (gint64) k)) << 15;
      narrow[u] = reach <= G_MAXINT32;
      for (k = u * length; k < (u + 1) * length; k++)
        {
          const gint32 w = (gint32) lpt_int_at (time, (gint64) k);

          low[k] = (gint16) (narrow[u] ? w : (gint8) (w & 0xff));
          high[k] = (gint16) ((w - low[k]) / 256);
        }
      bias[u] = op->n_in > 3 && op->in[3] != NULL ? lpt_int_at (&op->in[3]->array, (gint64) u) : 0;
    }

  return TRUE;
}

gboolean
lpt_prepare_svdf (LptProgram   *program,
                  LptProgramOp *op)
{
  LptRescale newest, result;
  LptLiteSvdf sizes;
  LptOpForm form;
  Svdf *p;

  if (!is_weights (op->in[1]) || !is_weights (op->in[2]) ||
      (op->in[3] != NULL && op->in[3]->kind != LPT_STORAGE_CONST))
    return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!lpt_program_is_codes (op->in[0]) || op->in[0]->array.dtype != LPT_DTYPE_I8 || !lpt_program_is_codes (op->out[0]) ||
      !is_state (op->in[4]) || !is_state (op->out[1]) || op->in[1]->array.dtype != LPT_DTYPE_I8)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (op->in[1]->array.shape.dims[1] > MAX_INPUTS || lpt_array_count (&op->in[1]->array) == 0 ||
      lpt_array_count (&op->in[2]->array) == 0)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  sizes = lpt_lite_svdf (op->node, &op->in[0]->array, &op->in[1]->array, &op->in[2]->array, &op->in[4]->array,
                         &op->out[0]->array);
  if (!lpt_rescale_make (&sizes.newest, &newest) || !lpt_rescale_make (&sizes.result, &result))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);

  p = g_new0 (Svdf, 1);
  p->sizes = sizes;
  p->kernel = program->kernels.svdf;
  p->step = (LptSvdf) { .filters = (gsize) sizes.filters, .rank = (gsize) sizes.rank, .memory = (gsize) sizes.memory,
                        .newest = newest, .result = result, .zero = lpt_program_zero (op->out[0]) };
  if (!pack_features (program, op, p) || !copy_weights (op, p))
    {
      svdf_clear (p);
      g_free (p);
      return lpt_refuse (op, LPT_REMARK_MEMORY);
    }
  form = (LptOpForm) {
    .run = svdf_run, .clear = svdf_clear, .params = p, .kernel = p->kernel->name, .tasks = (gsize) p->sizes.batch,
    .workspace = sums_size (p) + ((lpt_gemm_workspace (&p->gemm) + 63) & ~(gsize) 63), .n_in = 2,
    .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_CODES }, { op->in[4], LPT_LAYOUT_TYPED }), .out = op->out[0],
    .out_layout = LPT_LAYOUT_CODES, .n_more = 1, .more = { op->out[1] } };
  lpt_program_set_form (op, &form);

  return TRUE;
}
