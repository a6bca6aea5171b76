/* convert-types.c - Convert between real numbers and 64-bit words, which hold integers of 32 and 64 bits and truth
 *
 *   real to integer     truncated, then saturated; NaN is 0
 *   to boolean          x != 0
 *   integer to integer  the bits of the type
 *   to real             through double, rounded once more to the type
 *
 * Real numbers to f32 or f64, and rounded ones to their type, are the same under another name
 * (lpt_program_keeps_reals()).
 *
 * Not: to 8 and 16 bits, which depends on what stands in front (eval/real/convert.c), to the smaller floats, codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-convert-bounds.h"
#include "executor/operators/lpt-operators.h"

gboolean
lpt_rounding_map (LptDType     dtype,
                  LptFloatMap *map)
{
  *map = dtype == LPT_DTYPE_F16 ? LPT_MAP_F16 : LPT_MAP_BF16;

  return dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16;
}

/* Elements of a task. */
#define TASK 16384

typedef struct
{
  void   (*some) (gconstpointer in, gpointer out, gsize n, LptDType dtype);
  const LptFloatKernel *rounds;        /* NULL, or what rounds numbers to @dtype */
  LptFloatMap           map;
  gsize    count, in_size, out_size;
  LptDType dtype;                      /* of the result, as declared */
} Convert;

static void
reals_to_words (gconstpointer in,
                gpointer      out,
                gsize         n,
                LptDType      dtype)
{
  const float *x = in;
  const double low = lpt_convert_low (dtype), high = lpt_convert_high (dtype);
  gint64 *y = out;
  gsize i;

  for (i = 0; i < n; i++)
    {
      double v = x[i] == x[i] ? x[i] : 0;

      v = v < low ? low : v;
      y[i] = (gint64) (v > high ? high : v);
    }
}

static void
reals_to_truth (gconstpointer in,
                gpointer      out,
                gsize         n,
                LptDType      dtype)
{
  const float *x = in;
  gint64 *y = out;
  gsize i;

  for (i = 0; i < n; i++)
    y[i] = x[i] != 0;
}

static void
words_to_truth (gconstpointer in,
                gpointer      out,
                gsize         n,
                LptDType      dtype)
{
  const gint64 *x = in;
  gint64 *y = out;
  gsize i;

  for (i = 0; i < n; i++)
    y[i] = x[i] != 0;
}

static void
words_to_words (gconstpointer in,
                gpointer      out,
                gsize         n,
                LptDType      dtype)
{
  const gint64 *x = in;
  gint64 *y = out;
  gsize i;

  for (i = 0; i < n && dtype == LPT_DTYPE_I32; i++)
    y[i] = (gint32) (guint32) (guint64) x[i];
  for (i = 0; i < n && dtype == LPT_DTYPE_U32; i++)
    y[i] = (guint32) (guint64) x[i];
  for (i = 0; i < n && lpt_dtype_bits (dtype) == 64; i++)
    y[i] = x[i];
}

static void
words_to_reals (gconstpointer in,
                gpointer      out,
                gsize         n,
                LptDType      dtype)
{
  const gint64 *x = in;
  float *y = out;
  gsize i;

  for (i = 0; i < n; i++)
    y[i] = (float) (double) x[i];
}

static void
convert_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task,
             gsize               end)
{
  const Convert *c = op->form.params;
  const gsize first = task * TASK, n = MIN (end * TASK, c->count) - first;
  gconstpointer in = data->in[0] + first * c->in_size;
  gpointer out = data->out + first * c->out_size;

  if (c->some != NULL)
    c->some (in, out, n, c->dtype);
  /* Words come first as plain floats, which stand where they are rounded. */
  if (c->rounds != NULL)
    c->rounds->map (c->map, n, c->some != NULL ? out : in, out);
}

/* FALSE: there is nothing for these types. */
static gboolean
choose (const LptProgram *program,
        const LptArray   *in,
        const LptArray   *out,
        Convert          *c)
{
  const LptDType to = out->declared;
  const gboolean words = in->dtype == LPT_DTYPE_I64;

  if (in->quant != NULL || out->quant != NULL || (!words && in->dtype != LPT_DTYPE_F32))
    return FALSE;
  if (out->dtype == LPT_DTYPE_I64 && to == LPT_DTYPE_BOOL)
    c->some = words ? words_to_truth : reals_to_truth;
  else if (out->dtype == LPT_DTYPE_I64 && (words || lpt_dtype_is_real (in->declared)))
    c->some = words ? words_to_words : reals_to_words;
  else if (out->dtype == LPT_DTYPE_F32 && lpt_rounding_map (to, &c->map))
    {
      c->some = words ? words_to_reals : NULL;
      c->rounds = program->kernels.floats;
    }
  else if (out->dtype == LPT_DTYPE_F32 && (to == LPT_DTYPE_F32 || to == LPT_DTYPE_F64))
    c->some = words ? words_to_reals : NULL;

  return c->some != NULL || c->rounds != NULL;
}

gboolean
lpt_prepare_convert_types (LptProgram   *program,
                           LptProgramOp *op)
{
  const LptArray *in = &op->in[0]->array, *out = &op->out[0]->array;
  Convert c = { .in_size = lpt_storage_size (in->dtype), .out_size = lpt_storage_size (out->dtype),
                .dtype = out->declared };
  LptValueLayout layout = LPT_LAYOUT_TYPED;

  if (!lpt_shape_is_static (&in->shape) || !lpt_shape_is_static (&out->shape))
    return lpt_refuse (op, LPT_REMARK_UNKNOWN);
  if (op->in[0]->kind == LPT_STORAGE_CONST || lpt_program_count (op->in[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (lpt_program_renames (op, op->in[0]->layout))
    return FALSE;
  if (!choose (program, in, out, &c))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if (c.some == NULL && op->in[0]->layout == LPT_LAYOUT_WORDS_LAST)
    layout = LPT_LAYOUT_WORDS_LAST;
  c.count = lpt_program_count (op->in[0]);
  lpt_program_set_form (op, &(LptOpForm) {
    .run = convert_run, .params = g_memdup2 (&c, sizeof c), .kernel = "convert_types",
    .tasks = (c.count + TASK - 1) / TASK, .n_in = 1, .in = LPT_OPERANDS ({ op->in[0], layout }), .out = op->out[0],
    .out_layout = layout });

  return TRUE;
}
