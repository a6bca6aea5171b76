/* ask-move.c - what a movement does, asked of the op itself
 *
 * It runs once on numbered elements when the plan is made; where its results are, every output element came from. No
 * movement is described twice. Along axes that it leaves alone (still-axes.c) one line stands for all, and another name
 * for the same elements needs no answer: what is asked about grows with the axes that an op works on, not with its
 * data. Exact: every element that the op gives is a number or a constant, and lines that are not asked about are by the
 * definition of the op moved as the one that is. Refused: more than LPT_COPY_MAX_ELEMENTS numbers, constants that look
 * like one, what fails on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/copy-origin.h"
#include "ir/scalar/lpt-loop.h"
#include "ir/lpt-memory.h"

/* Numbers of elements begin here; constants are codes. There are LPT_COPY_MAX_ELEMENTS at most, so that all are exact
 * in single precision: a Concat with a constant of another type than theirs goes through that. */
#define FIRST (1 << 23)

/* What is asked: @op on data of shape @in. */
typedef struct
{
  const LptProgramOp *op;
  LptShape            in;
  LptShape           *out;       /* one for each output */
  gint64              count;     /* elements of the input */
} Question;

LptArray *
lpt_copy_inputs (const LptProgramOp *op)
{
  LptArray *in = g_new0 (LptArray, op->n_in + 1);
  guint k;

  for (k = 0; k < op->n_in; k++)
    {
      in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
      if (op->in[k] != NULL)
        in[k] = op->in[k]->array;
      in[k].owned = FALSE;
    }

  return in;
}

static gint64
count_of (const LptShape *shape)
{
  return lpt_dims_product (shape, 0, shape->rank);
}

/* A constant operand has an element that might be taken for a number. */
static gboolean
looks_like_number (const Question *q)
{
  const LptProgramOp *op = q->op;
  const gint64 end = FIRST + q->count;
  gint64 i, n;
  guint k;

  for (k = 1; k < op->n_in; k++)
    {
      const LptArray *array = op->in[k] != NULL ? &op->in[k]->array : NULL;
      const gboolean real = array != NULL && array->dtype == LPT_DTYPE_F32;

      n = real || (array != NULL && array->dtype == LPT_DTYPE_I64) ? lpt_array_count (array) : 0;
      for (i = 0; i < n; i++)
        if (real ? ((const float *) array->data)[i] >= (float) FIRST && ((const float *) array->data)[i] <= (float) end
                 : ((const gint64 *) array->data)[i] >= FIRST && ((const gint64 *) array->data)[i] < end)
          return TRUE;
    }

  return FALSE;
}

/* Its outputs for the numbers of its elements; @results: one array for each (transfer full). FALSE: it does not run on
 * them. */
static gboolean
run_on_numbers (const Question *q,
                gint64        **results)
{
  const LptProgramOp *op = q->op;
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (op), *out = g_new0 (LptArray, op->n_out + 1);
  g_autofree gint64 *numbers = lpt_memory_try ((gsize) q->count, sizeof *numbers, NULL);
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = out, .n_out = op->n_out, .scratch = scratch };
  gint64 i;
  guint k;

  if (numbers == NULL || looks_like_number (q))
    return FALSE;
  for (i = 0; i < q->count; i++)
    numbers[i] = FIRST + i;
  in[0] = (LptArray) { .declared = LPT_DTYPE_I64, .dtype = LPT_DTYPE_I64, .shape = q->in, .data = numbers };
  for (k = 0; k < op->n_out; k++)
    {
      results[k] = lpt_memory_try ((gsize) count_of (&q->out[k]), sizeof *results[k], NULL);
      if (results[k] == NULL)
        return FALSE;
      out[k] = (LptArray) { .declared = LPT_DTYPE_I64, .dtype = LPT_DTYPE_I64, .data = results[k], .shape = q->out[k] };
    }

  return lpt_call_run (&call, NULL);
}

/* The constant that output 0 has where @numbers are none: asked with an input of zeros. */
static void
find_fill (const Question *q,
           const gint64   *numbers,
           LptCopyFill    *fill)
{
  const LptProgramOp *op = q->op;
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (op);
  LptArray out = op->out[0]->array;
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  gsize n = (gsize) count_of (&q->out[0]), size = lpt_storage_size (out.dtype), i = 0;
  g_autofree guint8 *zeros = NULL, *elements = NULL;

  *fill = (LptCopyFill) { 0 };
  while (i < n && numbers[i] >= FIRST)
    i++;
  fill->some = i < n;
  if (!fill->some)
    return;
  zeros = lpt_memory_try ((gsize) q->count, size, NULL);
  elements = lpt_memory_try (n, size, NULL);
  if (zeros == NULL || elements == NULL)
    return;
  memset (zeros, 0, (gsize) q->count * size);
  in[0].shape = q->in;
  in[0].data = zeros;
  out.shape = q->out[0];
  out.data = elements;
  out.owned = FALSE;
  fill->equal = lpt_call_run (&call, NULL);
  memcpy (fill->value, elements + i * size, fill->equal ? size : 0);
  for (; i < n && fill->equal; i++)
    fill->equal = numbers[i] >= FIRST || memcmp (elements + i * size, fill->value, size) == 0;
}

/* Asks; @places: of its input's elements. @out: the outputs as one digit each (transfer full). */
static gboolean
ask (const Question *q,
     const gssize   *places,
     gssize        **out,
     LptCopyFill    *fill)
{
  const LptProgramOp *op = q->op;
  g_autofree gint64 **results = g_new0 (gint64 *, op->n_out);
  gboolean ok = run_on_numbers (q, results);
  gint64 i, n;
  guint k;

  if (ok)
    find_fill (q, results[0], fill);
  for (k = 0; k < op->n_out && ok; k++)
    {
      n = count_of (&q->out[k]);
      out[k] = lpt_memory_try ((gsize) n, sizeof *out[k], NULL);
      ok = out[k] != NULL;
      for (i = 0; i < n && ok; i++)
        {
          gint64 at = results[k][i] - FIRST;

          ok = at < q->count;
          out[k][i] = at < 0 || !ok ? LPT_COPY_FILL : places[at];
        }
    }
  for (k = 0; k < op->n_out; k++)
    g_free (results[k]);

  return ok;
}

/* The question about what @still keeps; FALSE: it has too many elements, or no such shape. */
static gboolean
question_init (Question           *q,
               const LptProgramOp *op,
               const LptStillAxes *still,
               LptShape           *out)
{
  const LptShape *in = &op->in[0]->array.shape;
  gint axis;
  guint k;

  *q = (Question) { .op = op, .in = *in, .out = out };
  for (axis = 0; axis < in->rank; axis++)
    q->in.dims[axis] = still->keep[axis];
  q->count = count_of (&q->in);
  for (k = 0; k < op->n_out; k++)
    {
      gboolean taken[LPT_MAX_RANK] = { FALSE };

      out[k] = op->out[k]->array.shape;
      for (axis = 0; axis < in->rank; axis++)
        {
          gint64 rest = in->dims[axis] / still->keep[axis];
          gint to = still->to[axis];

          if (rest == 1)
            continue;
          if (to < 0 || to >= out[k].rank || taken[to] || out[k].dims[to] % rest != 0)
            return FALSE;
          taken[to] = TRUE;
          out[k].dims[to] /= rest;
        }
      if (count_of (&out[k]) > LPT_COPY_MAX_ELEMENTS)
        return FALSE;
    }

  return q->count <= LPT_COPY_MAX_ELEMENTS;
}

/* The origin of an output of @shape: by axis the rest of the input's that goes there, of @parts, and then what the
 * question says, @asked. */
static void
put_together (const LptCopyOrigin *parts,
              const LptStillAxes  *still,
              gint                 in_rank,
              LptCopyOrigin       *asked,
              LptCopyOrigin       *out)
{
  gint axis, to;

  *out = (LptCopyOrigin) { .start = asked->start + parts->start };
  for (to = 0; to < (gint) asked->n; to++)
    {
      for (axis = 0; axis < in_rank; axis++)
        if (still->to[axis] == to && parts->size[2 * axis] > 1)
          lpt_copy_origin_add (out, parts->size[2 * axis], lpt_copy_origin_digit (parts, 2 * (guint) axis));
      lpt_copy_origin_add (out, asked->size[to], g_steal_pointer (&asked->from[to]));
    }
}

static gboolean
ask_about_lines (const LptCopyOrigin *in,
                 const Question      *q,
                 const LptStillAxes  *still,
                 LptCopyOrigin       *out,
                 LptCopyFill         *fill)
{
  const LptShape *shape = &q->op->in[0]->array.shape;
  g_autofree gssize **answers = g_new0 (gssize *, q->op->n_out);
  LptCopyOrigin parts, kept = { 0 }, one;
  gint64 sizes[LPT_COPY_MAX_AXES];
  gboolean ok;
  gint axis;
  guint k, done = 0;

  for (axis = 0; axis < shape->rank; axis++)
    {
      sizes[2 * axis] = shape->dims[axis] / still->keep[axis];
      sizes[2 * axis + 1] = still->keep[axis];
    }
  if (!lpt_copy_origin_by (in, sizes, 2 * (guint) shape->rank, &parts))
    return FALSE;
  for (axis = 0; axis < shape->rank; axis++)
    lpt_copy_origin_add (&kept, sizes[2 * axis + 1], lpt_copy_origin_digit (&parts, 2 * (guint) axis + 1));
  ok = lpt_copy_origin_by (&kept, &q->count, 1, &one);
  lpt_copy_origin_clear (&kept);
  if (ok)
    {
      ok = ask (q, one.from[0], answers, fill);
      lpt_copy_origin_clear (&one);
    }
  for (k = 0; k < q->op->n_out && ok; k++)
    {
      LptCopyOrigin asked = { 0 }, by_axis;

      lpt_copy_origin_add (&asked, count_of (&q->out[k]), g_steal_pointer (&answers[k]));
      ok = lpt_copy_origin_by (&asked, q->out[k].dims, (guint) q->out[k].rank, &by_axis);
      lpt_copy_origin_clear (&asked);
      if (ok)
        {
          put_together (&parts, still, shape->rank, &by_axis, &out[k]);
          lpt_copy_origin_clear (&by_axis);
          done++;
        }
    }
  for (k = 0; k < q->op->n_out; k++)
    g_free (answers[k]);
  for (k = 0; k < done && !ok; k++)
    lpt_copy_origin_clear (&out[k]);
  lpt_copy_origin_clear (&parts);

  return ok;
}

static gboolean
ask_about_all (const LptCopyOrigin *in,
               const Question      *q,
               LptCopyOrigin       *out,
               LptCopyFill         *fill)
{
  g_autofree gssize **answers = g_new0 (gssize *, q->op->n_out);
  LptCopyOrigin one;
  gboolean ok;
  guint k;

  if (!lpt_copy_origin_by (in, &q->count, 1, &one))
    return FALSE;
  ok = ask (q, one.from[0], answers, fill);
  for (k = 0; k < q->op->n_out; k++)
    if (ok)
      {
        out[k] = (LptCopyOrigin) { .start = one.start };
        lpt_copy_origin_add (&out[k], count_of (&q->out[k]), answers[k]);
      }
    else
      g_free (answers[k]);
  lpt_copy_origin_clear (&one);

  return ok;
}

/* Another name for the same elements in the same order. */
static void
copy_origin (const LptCopyOrigin *in,
             LptCopyOrigin       *out)
{
  guint k;

  *out = *in;
  for (k = 0; k < in->n; k++)
    out->from[k] = lpt_copy_origin_digit (in, k);
}

gboolean
lpt_copy_origin_ask (const LptCopyOrigin *in,
                     const LptProgramOp  *op,
                     gboolean             whole,
                     LptCopyOrigin       *out,
                     LptCopyFill         *fill)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *inputs = lpt_copy_inputs (op), *outputs = g_new0 (LptArray, op->n_out + 1);
  g_autofree LptShape *shapes = g_new0 (LptShape, op->n_out + 1);
  LptCall call = { .node = op->node, .in = inputs, .n_in = op->n_in, .out = outputs, .n_out = op->n_out,
                   .scratch = scratch };
  LptStillAxes still;
  Question q;
  gint axis;
  guint k;

  *fill = (LptCopyFill) { 0 };
  if (!whole && (op->row->flags & LPT_EXEC_ALIAS) != 0 && op->n_out == 1)
    {
      copy_origin (in, &out[0]);
      return TRUE;
    }
  if (!whole)
    {
      for (k = 0; k < op->n_out; k++)
        outputs[k].shape = op->out[k]->array.shape;
      lpt_find_still_axes (&call, &still);
      if (question_init (&q, op, &still, shapes) && ask_about_lines (in, &q, &still, out, fill))
        return TRUE;
    }
  for (axis = 0; axis < LPT_MAX_RANK; axis++)
    {
      still.keep[axis] = axis < inputs[0].shape.rank ? inputs[0].shape.dims[axis] : 1;
      still.to[axis] = -1;
    }

  if (question_init (&q, op, &still, shapes) && ask_about_all (in, &q, out, fill))
    return TRUE;
  *fill = (LptCopyFill) { 0 };

  return FALSE;
}
