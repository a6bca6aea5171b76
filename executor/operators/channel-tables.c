/* channel-tables.c - a function of codes that differs by channel: a table of 256 entries for each
 *
 * PRelu whose slopes are constants, one for all or one a channel. What the op's integer form makes of the 256 codes in
 * each channel is asked once, so it is exact in every requantization mode. With the channels last a row of tables is
 * read element by element, else a plane goes through one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"
#include "ir/scalar/lpt-loop.h"

/* Elements of a task, and tables of one op. */
#define CHUNK 32768
#define MOST_TABLES 4096
#define CODES 256

typedef struct
{
  const LptEltwiseKernel *kernel;
  gboolean last;                         /* a unit is a pixel, else a plane */
  gsize    channels, unit, units, per_task;
  guint8  *tables;                       /* [channel][code] */
} Tables;

static void
tables_clear (gpointer params)
{
  g_free (((Tables *) params)->tables);
}

static void
tables_run (const LptProgramOp *op,
            const LptOpData    *data,
            gsize               task,
            gsize               end)
{
  const Tables *t = op->form.params;
  gsize i = task * t->per_task, last = MIN (end * t->per_task, t->units), c;
  const guint8 *in = data->in[0] + i * t->unit;
  guint8 *out = data->out + i * t->unit;

  for (; i < last; i++, in += t->unit, out += t->unit)
    if (t->last)
      for (c = 0; c < t->channels; c++)
        out[c] = t->tables[c * CODES + in[c]];
    else
      t->kernel->table (t->tables + i % t->channels * CODES, 1, t->unit, in, 0, out, 0);
}

static LptOpSpan
tables_access (const LptProgramOp *op,
               gsize               task,
               guint               k G_GNUC_UNUSED)
{
  const Tables *t = op->form.params;
  const gsize from = task * t->per_task;

  return lpt_span (from * t->unit, MIN (from + t->per_task, t->units) * t->unit, 1);
}

/* One number for all, or one for each of @channels along axis 1 of a value of @rank axes. */
static gboolean
goes_by_channel (const LptArray *slope,
                 gint            rank,
                 gint64          channels)
{
  const LptShape *shape = &slope->shape;
  const gint64 n = lpt_array_count (slope);
  const gint axis = shape->rank == 1 ? 0 : 1 - (rank - shape->rank);

  return n == 1 || (n == channels && axis >= 0 && axis < shape->rank && shape->dims[axis] == n);
}

/* @op on the 256 codes of each channel: [code, channel, 1, ...]. */
static guint8 *
make_tables (const LptProgramOp *op,
             gsize               channels)
{
  const LptArray *x = &op->in[0]->array, *y = &op->out[0]->array;
  const gint32 from = lpt_program_offset (x->dtype), to = lpt_program_offset (y->dtype);
  g_autofree guint8 *codes = g_malloc (CODES * channels), *made = g_malloc (CODES * channels);
  guint8 *tables = g_malloc (CODES * channels);
  LptIntArray in = *x, out = *y;
  gsize q, c;

  in.shape.dims[0] = CODES;
  for (gint i = 2; i < in.shape.rank; i++)
    in.shape.dims[i] = 1;
  out.shape = in.shape;
  in.data = codes;
  out.data = made;
  for (q = 0; q < CODES; q++)
    for (c = 0; c < channels; c++)
      lpt_int_put (&in, (gint64) (q * channels + c), (gint32) q - from);
  lpt_int_op_run (op->integer, (const LptIntArray *const[]) { &in, &op->in[1]->array }, 2, &out);
  for (q = 0; q < CODES; q++)
    for (c = 0; c < channels; c++)
      tables[c * CODES + q] = (guint8) (lpt_int_at (&out, (gint64) (q * channels + c)) + to);

  return tables;
}

gboolean
lpt_prepare_channel_tables (LptProgram   *program,
                            LptProgramOp *op)
{
  const LptProgramValue *x = op->in[0], *slope = op->n_in > 1 ? op->in[1] : NULL;
  LptValueLayout layout;
  Tables *t;

  if (op->integer == NULL || x == NULL || !lpt_program_is_codes (x) || !lpt_program_is_codes (op->out[0]) ||
      lpt_program_count (x) == 0 || x->array.shape.rank < 2 || x->array.shape.dims[1] > MOST_TABLES ||
      slope == NULL || slope->kind != LPT_STORAGE_CONST ||
      !goes_by_channel (&slope->array, x->array.shape.rank, x->array.shape.dims[1]))
    return FALSE;
  layout = lpt_codes_layout (x);
  t = g_new0 (Tables, 1);
  t->kernel = program->kernels.eltwise;
  t->channels = (gsize) x->array.shape.dims[1];
  t->unit = (gsize) lpt_dims_product (&x->array.shape, 2, x->array.shape.rank);
  t->last = layout == LPT_LAYOUT_CODES_LAST || t->unit == 1;
  if (t->last)
    t->unit = t->channels;
  t->units = lpt_program_count (x) / t->unit;
  t->per_task = MAX (CHUNK / t->unit, 1);
  t->tables = make_tables (op, t->channels);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = tables_run, .access = tables_access, .clear = tables_clear, .params = t, .kernel = "channel_tables_u8",
    .tasks = (t->units + t->per_task - 1) / t->per_task, .n_in = 1,
    .in = LPT_OPERANDS ({ op->in[0], layout, .overwritten = TRUE }), .out = op->out[0], .out_layout = layout });

  return TRUE;
}
