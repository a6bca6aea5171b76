/* quantize.c - Quantize and Dequantize, one scale or one per index of an axis
 *
 * The values are rows of columns: a row has one scale (a plane of a channel; per tensor: a chunk), or, where the axis
 * is the last one or little is behind it, one per column. Codes with the channels last are dequantized to planes at
 * once: blocks of pixels are transposed into the workspace. Few planes are quantized side by side, and floats of one
 * scale in the order in which they come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/kernels/lpt-cut.h"
#include "executor/operators/lpt-operators.h"

#define CHUNK 65536
/* Elements with one scale that are worth a task. */
#define PART 16384
/* Elements of a row below which a call costs more than its work. */
#define SHORT 256
#define FEW 32
/* Codes of a block; their floats are four times that. */
#define BLOCK 16384
/* Elements of an image that are worth tasks of its own. */
#define LEAST_IMAGE 4096

typedef struct
{
  const LptEltwiseKernel *kernel;
  const LptTransposeKernel *transpose;
  gsize     images, pixels, planes, per_block;   /* tasks of per_block pixels of all planes, or 0 */
  gsize     count, cols, per_task;     /* elements in all, of a row, rows of a task */
  gsize     channels, inner;           /* scales, repeated; elements of one of them that follow each other */
  gboolean  by_column;
  LptQuantizeForm form;
  gint32    lo, hi;
  float    *scale;
  gint32   *zero;
} Affine;

static void
quantize_row (const Affine *q,
              gsize         channel,
              gsize         rows,
              gsize         n,
              gconstpointer in,
              gpointer      out,
              gsize         at)
{
  LptQuantize p = { .form = q->form, .lo = q->lo, .hi = q->hi, .scale = q->scale + channel, .zp = q->zero + channel,
                    .step = q->by_column };

  q->kernel->quantize (&p, rows, n, (const float *) in + at, n * sizeof (float), (guint8 *) out + at, n);
}

static void
dequantize_row (const Affine *q,
                gsize         channel,
                gsize         rows,
                gsize         n,
                gconstpointer in,
                gpointer      out,
                gsize         at)
{
  LptDequantize p = { .scale = q->scale + channel, .zp = q->zero + channel, .step = q->by_column };

  q->kernel->dequantize (&p, rows, n, (const guint8 *) in + at, n, (float *) out + at, n * sizeof (float));
}

typedef void (*RowFunc) (const Affine *q, gsize channel, gsize rows, gsize n, gconstpointer in, gpointer out, gsize at);

static void
affine_task (const Affine    *q,
             const LptOpData *data,
             gsize            task,
             RowFunc          run_row)
{
  gsize row = task * q->per_task, end = row + q->per_task;

  if (q->per_block > 0)
    {
      gsize blocks = (q->pixels + q->per_block - 1) / q->per_block, first = task % blocks * q->per_block, c;

      for (c = 0; c < q->planes; c++)
        run_row (q, c % q->channels, 1, MIN (q->per_block, q->pixels - first), data->in[0], data->out,
                 (task / blocks * q->planes + c) * q->pixels + first);
      return;
    }
  if (q->by_column)
    {
      gsize rows = q->count / q->cols;

      if (row < rows)
        run_row (q, 0, MIN (end, rows) - row, q->cols, data->in[0], data->out, row * q->cols);
      if (end > rows && rows * q->cols < q->count)
        run_row (q, 0, 1, q->count - rows * q->cols, data->in[0], data->out, rows * q->cols);
      return;
    }
  for (; row < end && row * q->cols < q->count; row++)
    run_row (q, row % q->channels, 1, MIN (q->cols, q->count - row * q->cols), data->in[0], data->out, row * q->cols);
}

static void
quantize_run (const LptProgramOp *op,
              const LptOpData    *data,
              gsize               task,
              gsize               end)
{
  for (; task < end; task++)
    affine_task (op->form.params, data, task, quantize_row);
}

static void
dequantize_run (const LptProgramOp *op,
                const LptOpData    *data,
                gsize               task,
                gsize               end)
{
  for (; task < end; task++)
    affine_task (op->form.params, data, task, dequantize_row);
}

static void
planes_task (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task)
{
  const Affine *q = op->form.params;
  LptDequantize p = { .scale = q->scale, .zp = q->zero, .row_step = q->channels == 1 ? 0 : q->by_column ? q->inner : 1 };
  float *out = (float *) (gpointer) data->out;
  gsize blocks = (q->pixels + q->per_block - 1) / q->per_block, image = task / blocks,
        first = task % blocks * q->per_block;
  gsize n = MIN (q->per_block, q->pixels - first);

  q->transpose->bytes (n, q->planes, data->in[0] + (image * q->pixels + first) * op->form.in[0].value->pitch,
                       op->form.in[0].value->pitch, data->workspace, n);
  q->kernel->dequantize (&p, q->planes, n, data->workspace, n, out + image * q->planes * q->pixels + first,
                         q->pixels * sizeof (float));
}

static void
dequantize_planes_run (const LptProgramOp *op,
                       const LptOpData    *data,
                       gsize               task,
                       gsize               end)
{
  for (; task < end; task++)
    planes_task (op, data, task);
}

static LptOpSpan
affine_access (const LptProgramOp *op,
               gsize               task,
               guint               k)
{
  const Affine *q = op->form.params;
  gsize element = (k == op->form.n_in) == (op->form.run == quantize_run) ? 1 : sizeof (float);
  gsize size = q->cols * q->per_task, blocks, from, to;

  if (q->per_block == 0)
    return lpt_span (task * size, MIN ((task + 1) * size, q->count), element);
  blocks = (q->pixels + q->per_block - 1) / q->per_block;
  from = task / blocks * q->pixels + task % blocks * q->per_block;
  to = MIN (from + q->per_block, (task / blocks + 1) * q->pixels);
  if (op->form.run == dequantize_planes_run && k == 0)
    return lpt_span_columns (from, to, 0, q->planes, op->form.in[0].value->pitch);

  return lpt_span_planes (q->pixels, q->planes, from, to, element);
}

static void
affine_clear (gpointer params)
{
  lpt_aligned_free (((Affine *) params)->scale);
  lpt_aligned_free (((Affine *) params)->zero);
}

/* Elements of a row where all have one scale. */
static gsize
even_part (gsize count)
{
  LptCut cut = lpt_cut_make (count, 64, (gdouble) count / PART);

  return MIN (count, (cut.units + cut.cuts - 1) / cut.cuts * cut.unit);
}

/* @codes: the value whose quantization it is; @other: the real one. */
static Affine *
affine_new (const LptProgram      *program,
            const LptProgramValue *codes,
            const LptProgramValue *other)
{
  const LptArray *array, *real;
  const LptQuant *quant;
  gsize inner = 1, pattern, repeat, n, c;
  Affine *q;
  gint axis = 0, i;

  if (codes == NULL || other == NULL)
    return NULL;
  array = &codes->array;
  real = &other->array;
  quant = array->quant;
  if ((array->dtype != LPT_DTYPE_U8 && array->dtype != LPT_DTYPE_I8) || quant == NULL || real->dtype != LPT_DTYPE_F32 ||
      !lpt_shape_is_static (&array->shape) || !lpt_shape_equal (&array->shape, &real->shape) ||
      lpt_array_count (array) == 0 ||
      (quant->n > 1 &&
       (!lpt_axis_normalize (quant->axis, array->shape.rank, &axis) || array->shape.dims[axis] != (gint64) quant->n)))
    return NULL;
  for (i = axis + 1; i < array->shape.rank; i++)
    inner *= (gsize) array->shape.dims[i];

  q = g_new0 (Affine, 1);
  q->kernel = program->kernels.eltwise;
  q->inner = inner;
  q->count = (gsize) lpt_array_count (array);
  /* Short rows with a scale each are columns, too, and several short rows are one. */
  q->by_column = quant->n > 1 && (inner == 1 || (inner < FEW && quant->n * inner <= CHUNK));
  pattern = quant->n * (q->by_column ? inner : 1);
  repeat = q->by_column && pattern < SHORT ? SHORT / pattern : 1;
  q->channels = quant->n > 1 ? quant->n : 1;
  q->cols = quant->n == 1 ? even_part (q->count) : q->by_column ? pattern * repeat : inner;
  q->per_task = quant->n == 1 ? 1 : MAX (CHUNK / q->cols, 1);
  q->lo = (gint32) lpt_dtype_min (array->dtype) + lpt_program_offset (array->dtype);
  q->hi = (gint32) lpt_dtype_max (array->dtype) + lpt_program_offset (array->dtype);
  n = q->by_column ? q->cols : quant->n;
  q->scale = lpt_program_array (n, sizeof (float));
  q->zero = lpt_program_array (n, sizeof (gint32));
  for (c = 0; c < n && q->scale != NULL && q->zero != NULL; c++)
    {
      gsize k = c / (pattern / quant->n) % quant->n;

      q->scale[c] = (float) quant->scale[k];
      q->zero[c] = quant->zero_point[k] + lpt_program_offset (array->dtype);
    }

  return q;
}

static gsize
n_tasks (const Affine *q)
{
  gsize size = q->cols * q->per_task;

  return q->per_block > 0 ? q->images * ((q->pixels + q->per_block - 1) / q->per_block) : (q->count + size - 1) / size;
}

/* One scale in all, or one for each plane. */
static gboolean
has_planes (const Affine   *q,
            const LptShape *shape)
{
  return shape->rank > 2 &&
         (q->channels == 1 || (q->inner == lpt_program_pixels (shape) && q->channels == (gsize) shape->dims[1]));
}

static void
set_blocks (Affine         *q,
            const LptShape *shape)
{
  q->images = (gsize) shape->dims[0];
  q->planes = (gsize) shape->dims[1];
  q->pixels = lpt_program_pixels (shape);
  q->per_block = MIN ((MAX (BLOCK / q->planes, 1) + 63) & ~(gsize) 63, q->pixels);
}

/* The rules that kernels have: of floats, and TensorFlow Lite's. */
gboolean
lpt_prepare_quantize (LptProgram   *program,
                      LptProgramOp *op)
{
  const LptRequantRule *rule = lpt_requant_node_rule (op->node);
  LptValueLayout layout = LPT_LAYOUT_TYPED;
  const LptShape *shape;
  Affine *q;

  if (rule == NULL || (rule->algorithm != LPT_ALGO_FLOAT && rule->algorithm != LPT_ALGO_LITERT))
    return lpt_refuse (op, LPT_REMARK_ROUNDING);
  q = affine_new (program, op->out[0], op->in[0]);
  if (q == NULL)
    return lpt_refuse (op, lpt_remark_of_codes (op->out[0], op->out[0]));
  q->form = rule->algorithm == LPT_ALGO_LITERT ? LPT_QUANTIZE_AWAY : LPT_QUANTIZE_DIVIDE;
  /* Few planes: who quantizes pixels is who reads them. */
  shape = &op->out[0]->array.shape;
  if (q->channels == 1 && op->in[0]->layout == LPT_LAYOUT_WORDS_LAST)
    layout = lpt_program_layout (op->in[0], LPT_LAYOUT_WORDS_LAST);
  else if (q->count > BLOCK && shape->dims[1] <= FEW && !q->by_column && has_planes (q, shape) &&
           q->count / (gsize) shape->dims[0] >= LEAST_IMAGE)
    set_blocks (q, shape);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = quantize_run, .access = affine_access, .clear = affine_clear, .params = q, .kernel = "quantize_f32", .tasks = n_tasks (q),
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], layout }), .out = op->out[0],
    .out_layout = layout == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES });

  return TRUE;
}

gboolean
lpt_prepare_dequantize (LptProgram   *program,
                        LptProgramOp *op)
{
  Affine *q = affine_new (program, op->in[0], op->out[0]);
  gboolean last;

  if (q == NULL)
    return lpt_refuse (op, lpt_remark_of_codes (op->in[0], op->in[0]));
  last = lpt_program_layout (op->in[0], lpt_codes_layout (op->in[0])) == LPT_LAYOUT_CODES_LAST &&
         has_planes (q, &op->in[0]->array.shape);
  if (last)
    {
      q->transpose = program->kernels.transpose;
      set_blocks (q, &op->in[0]->array.shape);
    }
  lpt_program_set_form (op, &(LptOpForm) {
    .run = last ? dequantize_planes_run : dequantize_run, .access = affine_access, .clear = affine_clear, .params = q,
    .kernel = "dequantize_u8", .tasks = n_tasks (q), .workspace = last ? (q->per_block * q->planes + 63) & ~(gsize) 63 : 0,
    .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], last ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES, .pitched = last }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
