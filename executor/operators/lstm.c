/* lstm.c - LiteLSTMCell with constant weights
 *
 * The products of all gates with the input are one, and so are those with the hidden values, by the kernels of 8-bit
 * products; what follows, cell and hidden values, is one step (kernels/lstm). Exact: the same codes as
 * eval/integer/lpt-lite-recurrent.c. Refused: peepholes, layer norms, a projection, functions by tflite-micro's table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "eval/integer/lpt-lite-lstm.h"
#include "executor/operators/lpt-operators.h"
#include "ir/lpt-memory.h"

/* Inputs, so that sums of their products fit 32 bits. */
#define MAX_INPUTS 65536

/* All gates' rows of weights times a row of codes, to int32. */
typedef struct
{
  LptGemm     gemm;
  LptEpilogue words;
  gint32     *bias;                      /* with what the codes' zero point adds; owned */
} Product;

typedef struct
{
  LptLstm     step;
  Product     x, h;
  gsize       sums, room;                /* bytes of a product's sums, of all that is before its workspace */
  const LptLstmKernel *kernel;
} Lstm;

static void
run_product (const Product *p,
             const guint8  *codes,
             gint32        *sums,
             gpointer       workspace)
{
  LptGemm gemm = p->gemm;

  gemm.a = codes;
  gemm.out = sums;
  lpt_gemm_tile (&gemm, 0, 1, 0, gemm.n, workspace);
}

static void
lstm_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Lstm *p = op->form.params;
  const gsize cells = p->step.cells;
  gint32 *x = (gint32 *) (gpointer) data->workspace, *h = (gint32 *) (gpointer) (data->workspace + p->sums);
  gint16 *room = (gint16 *) (gpointer) (data->workspace + 2 * p->sums);

  for (; task < end; task++)
    {
      run_product (&p->x, data->in[0] + task * p->x.gemm.k, x, data->workspace + p->room);
      run_product (&p->h, data->in[1] + task * p->h.gemm.k, h, data->workspace + p->room);
      p->kernel->step (&p->step, x, h, room, (const gint16 *) (gconstpointer) data->in[2] + task * cells,
                       (gint16 *) (gpointer) data->more[0] + task * cells, data->out + task * cells);
    }
}

static void
lstm_clear (gpointer params)
{
  Lstm *p = params;

  lpt_aligned_free (p->x.bias);
  lpt_aligned_free (p->h.bias);
}

/* --- what the op has --- */

static const LptProgramValue *
input (const LptProgramOp *op,
       guint               i)
{
  return i < op->n_in ? op->in[i] : NULL;
}

static gboolean
is_constant (const LptProgramValue *value)
{
  return value != NULL && value->kind == LPT_STORAGE_CONST;
}

static gboolean
is_weights (const LptProgramValue *value)
{
  return is_constant (value) && value->array.dtype == LPT_DTYPE_I8;
}

static gboolean
is_int8 (const LptProgramValue *value)
{
  return value != NULL && lpt_program_is_codes (value) && value->array.dtype == LPT_DTYPE_I8;
}

/* Weights of 8 bits and biases of the gates are constants, and there is nothing but these. */
static gboolean
has_plain_gates (LptProgramOp *op)
{
  guint g, i;

  for (i = LPT_LSTM_IN_PEEPHOLE; i < LPT_LSTM_N_IN; i++)
    if (input (op, i) != NULL && (i < LPT_LSTM_IN_BIAS || (i >= LPT_LSTM_IN_PROJECTION && i < LPT_LSTM_IN_H) ||
                                  i >= LPT_LSTM_IN_NORM))
      return lpt_refuse (op, LPT_REMARK_OPERATOR);
  for (g = input (op, LPT_LSTM_IN_WX) == NULL ? 1 : 0; g < LPT_LSTM_GATES; g++)
    if (!is_weights (input (op, LPT_LSTM_IN_WX + g)) || !is_weights (input (op, LPT_LSTM_IN_WH + g)) ||
        (input (op, LPT_LSTM_IN_BIAS + g) != NULL && !is_constant (input (op, LPT_LSTM_IN_BIAS + g))))
      return lpt_refuse (op, LPT_REMARK_COMPUTED);

  return TRUE;
}

static gboolean
step_make (LptProgramOp      *op,
           const LptLiteLstm *s,
           LptLstm           *step)
{
  gboolean ok = !s->micro && lpt_rescale_make (&s->of_hidden, &step->of_hidden);
  guint g;

  step->cells = (gsize) s->cells;
  step->coupled = s->coupled;
  step->bits = 15 + s->power;
  step->fresh = 30 + s->power;
  step->clip = s->clip;
  step->zero = (gint32) LPT_ATTRS (op->node, LptLiteLstmCellAttrs)->hidden_zero;
  for (g = s->coupled ? 1 : 0; g < LPT_LSTM_GATES && ok; g++)
    ok = lpt_rescale_make (&s->of_x[g], &step->of_x[g]) && lpt_rescale_make (&s->of_h[g], &step->of_h[g]);

  return ok && step->bits >= 0 && step->bits <= LPT_LSTM_MAX_BITS && ABS (step->zero) <= 255;
}

/* --- products --- */

/* The rows of all gates one behind the other; NULL: no memory. */
static gint8 *
gather_weights (const LptProgramOp *op,
                guint               first,
                gsize               gates,
                gsize               bytes)
{
  gint8 *all = lpt_memory_try (gates, bytes, NULL);
  gsize g;

  for (g = 0; all != NULL && g < gates; g++)
    memcpy (all + g * bytes, op->in[first + LPT_LSTM_GATES - gates + g]->array.data, bytes);

  return all;
}

/* FALSE: no memory. */
static gboolean
product_make (LptProgram         *program,
              const LptProgramOp *op,
              guint               first,
              const LptArray     *codes,
              gsize               gates,
              Product            *p)
{
  const gsize k = (gsize) codes->shape.dims[1], cells = (gsize) op->in[LPT_LSTM_IN_C]->array.shape.dims[1],
              n = gates * cells;
  const LptGemmKernel *gemm = lpt_gemm_kernel_for (program->kernels.gemm, 1, k);
  LptPackedWeights packed = lpt_program_pack (program, op, gemm->name, &first, sizeof first,
                                              lpt_gemm_packed_size (gemm, 1, k, n), n);
  gsize c;

  p->bias = lpt_program_array (n, sizeof *p->bias);
  if (p->bias == NULL || packed.data == NULL)
    return FALSE;
  if (packed.fresh)
    {
      g_autofree gint8 *all = gather_weights (op, first, gates, cells * k);
      const LptGemmWeights weights = { .data = all, .taps = 1, .k = k, .n = n, .k_stride = 1,
                                       .n_stride = (ptrdiff_t) k };

      if (all == NULL)
        return FALSE;
      lpt_gemm_pack (gemm, &weights, 0, n, packed.data, packed.col_sum);
    }
  /* Codes are in u8 form: 128 above those of the file. */
  for (c = 0; c < n; c++)
    {
      const LptProgramValue *bias = first != LPT_LSTM_IN_WX ? NULL
                                    : input (op, (guint) (LPT_LSTM_IN_BIAS + LPT_LSTM_GATES - gates + c / cells));
      const gint64 own = bias != NULL ? lpt_int_at (&bias->array, (gint64) (c % cells)) : 0;

      p->bias[c] = (gint32) (own - (gint64) (codes->quant->zero_point[0] + 128) * packed.col_sum[c]);
    }
  p->words = (LptEpilogue) { .store = LPT_STORE_I32, .bias = p->bias };
  lpt_epilogue_prepare (&p->words, n, lpt_accumulator_bound (k));
  p->gemm = (LptGemm) { .kernel = gemm, .epilogue_kernel = program->kernels.epilogue, .epilogue = &p->words, .m = 1,
                        .k = k, .n = n, .lda = k, .packed = packed.data, .ldo = n * sizeof (gint32) };

  return TRUE;
}

/* Sums with their biases fit 32 bits. */
static gboolean
sums_fit (const LptProgramOp *op,
          const LptLiteLstm  *s)
{
  const gint64 most = (gint64) s->inputs * 128 * 255;
  guint g;
  gint64 k;

  if (s->inputs > MAX_INPUTS || s->outputs > MAX_INPUTS)
    return FALSE;
  for (g = 0; g < LPT_LSTM_GATES; g++)
    for (k = 0; k < s->cells && input (op, LPT_LSTM_IN_BIAS + g) != NULL; k++)
      if (ABS (lpt_int_at (&op->in[LPT_LSTM_IN_BIAS + g]->array, k)) > G_MAXINT32 - most)
        return FALSE;

  return TRUE;
}

gboolean
lpt_prepare_lstm (LptProgram   *program,
                  LptProgramOp *op)
{
  const LptArray *in[LPT_LSTM_N_IN];
  LptLiteLstm s;
  LptLstm step = { 0 };
  gsize gates, own;
  LptOpForm form;
  guint i;
  Lstm *p;

  if (!has_plain_gates (op))
    return FALSE;
  if (!is_int8 (op->in[LPT_LSTM_IN_X]) || !is_int8 (op->in[LPT_LSTM_IN_H]) || !is_int8 (op->out[0]) ||
      op->in[LPT_LSTM_IN_C]->array.dtype != LPT_DTYPE_I16 || op->out[1] == NULL ||
      op->out[1]->array.dtype != LPT_DTYPE_I16)
    return lpt_refuse (op, LPT_REMARK_TYPES);
  for (i = 0; i < LPT_LSTM_N_IN; i++)
    in[i] = input (op, i) != NULL ? &op->in[i]->array : NULL;
  s = lpt_lite_lstm (op->node, in);
  if (s.outputs != s.cells || s.cells == 0 || s.inputs == 0)
    return lpt_refuse (op, LPT_REMARK_SHAPES);
  if (!sums_fit (op, &s))
    return lpt_refuse (op, LPT_REMARK_RANGE);
  if (!step_make (op, &s, &step))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);

  p = g_new0 (Lstm, 1);
  p->step = step;
  p->kernel = program->kernels.lstm;
  gates = lpt_lstm_gates (&step);
  if (!product_make (program, op, LPT_LSTM_IN_WX, in[LPT_LSTM_IN_X], gates, &p->x) ||
      !product_make (program, op, LPT_LSTM_IN_WH, in[LPT_LSTM_IN_H], gates, &p->h))
    {
      lstm_clear (p);
      g_free (p);
      return lpt_refuse (op, LPT_REMARK_MEMORY);
    }
  p->sums = (gates * step.cells * sizeof (gint32) + 63) & ~(gsize) 63;
  p->room = 2 * p->sums + ((LPT_LSTM_GATES * step.cells * sizeof (gint16) + 63) & ~(gsize) 63);
  own = MAX (lpt_gemm_workspace (&p->x.gemm), lpt_gemm_workspace (&p->h.gemm));
  form = (LptOpForm) {
    .run = lstm_run, .clear = lstm_clear, .params = p, .kernel = p->kernel->name, .tasks = (gsize) s.batch,
    .workspace = p->room + ((own + 63) & ~(gsize) 63), .n_in = 3,
    .in = LPT_OPERANDS ({ op->in[LPT_LSTM_IN_X], LPT_LAYOUT_CODES }, { op->in[LPT_LSTM_IN_H], LPT_LAYOUT_CODES },
                        { op->in[LPT_LSTM_IN_C], LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_CODES, .n_more = 1, .more = { op->out[1] } };
  lpt_program_set_form (op, &form);

  return TRUE;
}
