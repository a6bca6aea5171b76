/* convert-types.c - Convert between real numbers, 64-bit words, which hold integers of 32 and 64 bits and truth, and
 * integers of 8 and 16 bits, which are held as f32
 *
 *   real to integer     truncated, then saturated; NaN is 0. To 8 and 16 bits what is an integer up to the error of f32
 *                       counts as it, and behind a FakeQuantize to the nearest (eval/real/convert.c)
 *   to boolean          x != 0
 *   integer to integer  the bits of the type
 *   to real             through double, rounded once more to the type
 *
 * Real numbers to f32 or f64, and rounded ones to their type, are the same under another name
 * (lpt_program_keeps_reals()).
 *
 * Not: to less than 8 bits, to the smaller floats; codes but those that stand for themselves, to integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-code-loops.h"
#include "eval/lpt-convert-bounds.h"
#include "executor/operators/lpt-operators.h"
#include "ir/lpt-quant-plain.h"

gboolean
lpt_rounding_map (LptDType     dtype,
                  LptFloatMap *map)
{
  *map = dtype == LPT_DTYPE_F16 ? LPT_MAP_F16 : LPT_MAP_BF16;

  return dtype == LPT_DTYPE_F16 || dtype == LPT_DTYPE_BF16;
}

/* Elements of a task. */
#define TASK 16384

typedef struct _Convert Convert;

struct _Convert
{
  void   (*some) (const Convert *c, gconstpointer in, gpointer out, gsize n);
  const LptWholeKernel *whole;
  const LptFloatKernel *rounds;        /* NULL, or what rounds numbers to @dtype */
  LptFloatMap           map;
  gsize    count, in_size, out_size;
  LptDType from, dtype;                /* storage of the data; type of the result, as declared */
  guint32  mask, sign;                 /* of the bits that integers held as f32 keep */
  LptConvertNear near;                 /* what counts as an integer, of those that are held as f32 */
};

static void
reals_to_words (const Convert *c,
                gconstpointer  in,
                gpointer       out,
                gsize          n)
{
  const double low = lpt_convert_low (c->dtype), high = lpt_convert_high (c->dtype);
  const float *x = in;
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
reals_to_i32 (const Convert *c,
              gconstpointer  in,
              gpointer       out,
              gsize          n)
{
  c->whole->cut (n, in, out);
}

/* Element by element: y[i] is @expression of x[i]. */
#define EACH(name, IN, OUT, expression) \
static void \
name (const Convert *c, gconstpointer in, gpointer out, gsize n) \
{ \
  const IN *x = in; \
  OUT *y = out; \
\
  for (gsize i = 0; i < n; i++) \
    y[i] = expression; \
}

EACH (reals_to_truth, float, gint64, x[i] != 0)
EACH (words_to_truth, gint64, gint64, x[i] != 0)
EACH (words_to_reals, gint64, float, (float) (double) x[i])

static void
words_to_words (const Convert *c,
                gconstpointer  in,
                gpointer       out,
                gsize          n)
{
  const gint64 *x = in;
  gint64 *y = out;
  gsize i;

  for (i = 0; i < n && c->dtype == LPT_DTYPE_I32; i++)
    y[i] = (gint32) (guint32) (guint64) x[i];
  for (i = 0; i < n && c->dtype == LPT_DTYPE_U32; i++)
    y[i] = (guint32) (guint64) x[i];
  for (i = 0; i < n && lpt_dtype_bits (c->dtype) == 64; i++)
    y[i] = x[i];
}

static void
codes_to_words (const Convert *c,
                gconstpointer  in,
                gpointer       out,
                gsize          n)
{
  lpt_codes_to_words (in, c->from, (gint64) n, out);
  lpt_wrap_words (out, (gint64) n, c->dtype);
}

/* --- integers held as f32 --- */

/* The lowest bits of x, by a mask and the sign that goes up through the bits above it. */
static inline gint32
few_bits (const Convert *c,
          guint32        x)
{
  return (gint32) (((x & c->mask) ^ c->sign) - c->sign);
}

/* The integer that is held; 0 where a function of reals left something that is none, as NaN. */
static inline gint32
held (float x)
{
  const float whole = x > -2147483648.0f && x < 2147483648.0f ? x : 0;

  return (gint32) whole;
}

EACH (words_to_held, gint64, float, (float) few_bits (c, (guint32) (guint64) x[i]))
EACH (held_to_held, float, float, (float) few_bits (c, (guint32) held (x[i])))

static void
held_to_words (const Convert *c,
               gconstpointer  in,
               gpointer       out,
               gsize          n)
{
  const float *x = in;
  gint64 *y = out;
  gsize i;

  for (i = 0; i < n; i++)
    y[i] = held (x[i]);
  lpt_wrap_words (y, (gint64) n, c->dtype);
}

static void
reals_to_held (const Convert *c,
               gconstpointer  in,
               gpointer       out,
               gsize          n)
{
  c->whole->cut_near (n, in, (float) lpt_convert_low (c->dtype), (float) lpt_convert_high (c->dtype),
                      (float) c->near.slack, (float) c->near.share, out);
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
    c->some (c, in, out, n);
  /* Words come first as plain floats, which stand where they are rounded. */
  if (c->rounds != NULL)
    c->rounds->map (c->map, n, c->some != NULL ? out : in, out);
}

/* To integers of 8 and 16 bits. */
static gboolean
choose_held (const LptProgramOp *op,
             Convert            *c)
{
  const LptArray *in = &op->in[0]->array;
  const LptDType dtype = op->out[0]->array.declared;

  if (lpt_dtype_bits (dtype) < 8)
    return FALSE;
  c->near = lpt_convert_near (op->node);
  c->mask = (1u << lpt_dtype_bits (dtype)) - 1;
  c->sign = lpt_dtype_kind (dtype) == LPT_KIND_SINT ? (c->mask >> 1) + 1 : 0;
  if (in->dtype == LPT_DTYPE_I64)
    c->some = words_to_held;
  else
    c->some = lpt_dtype_is_real (in->declared) ? reals_to_held : held_to_held;

  return TRUE;
}

/* FALSE: there is nothing for these types. */
static gboolean
choose (const LptProgram   *program,
        const LptProgramOp *op,
        Convert            *c)
{
  const LptArray *in = &op->in[0]->array, *out = &op->out[0]->array;
  const LptDType to = out->declared;
  const gboolean words = in->dtype == LPT_DTYPE_I64, held = !words && !lpt_dtype_is_real (in->declared);

  if (in->quant != NULL && out->dtype == LPT_DTYPE_I64 && to != LPT_DTYPE_BOOL && lpt_quant_is_plain (in->quant) &&
      (op->node->flags & LPT_NODE_RELAXED) == 0)
    {
      c->some = codes_to_words;
      return TRUE;
    }
  if (in->quant != NULL || out->quant != NULL || (!words && in->dtype != LPT_DTYPE_F32))
    return FALSE;
  /* OpenVINO's of few bits may have fractions (lpt_call_is_wide()). */
  if (held && lpt_dtype_is_integer (to) && op->node->graph->ir_version != 0)
    return FALSE;
  if (out->dtype == LPT_DTYPE_I64 && to == LPT_DTYPE_BOOL)
    c->some = words ? words_to_truth : reals_to_truth;
  else if (out->dtype == LPT_DTYPE_I64)
    c->some = words ? words_to_words : held ? held_to_words : to == LPT_DTYPE_I32 ? reals_to_i32 : reals_to_words;
  else if (out->dtype == LPT_DTYPE_F32 && lpt_dtype_is_integer (to))
    return choose_held (op, c);
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
                .whole = program->kernels.whole, .from = in->dtype, .dtype = out->declared };
  LptValueLayout layout = LPT_LAYOUT_TYPED;

  if (!lpt_shape_is_static (&in->shape) || !lpt_shape_is_static (&out->shape))
    return lpt_refuse (op, LPT_REMARK_UNKNOWN);
  if (op->in[0]->kind == LPT_STORAGE_CONST || lpt_program_count (op->in[0]) == 0)
    return lpt_refuse (op, LPT_REMARK_CONSTANT);
  if (lpt_program_renames (op, op->in[0]->layout))
    return FALSE;
  if (!choose (program, op, &c))
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
