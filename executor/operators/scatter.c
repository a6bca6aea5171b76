/* scatter.c - ScatterUpdate, ScatterElementsUpdate and ScatterNDUpdate with constant indices
 *
 * Where updates go is asked of the op itself: it runs once on numbered updates when the plan is made, so that the last
 * of equal indices counts, too. Neighbours that stay neighbours are one copy. Where nobody else reads the data the
 * result lies over it, and updates alone are written.
 *
 * Not: a reduction, data and updates of two types, more elements than LIMIT.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include "executor/operators/lpt-operators.h"

#define LIMIT (1 << 23)

/* Elements [from, from + n) of the updates go to [to, to + n). */
typedef struct
{
  guint32 to, from, n;
} Run;

typedef struct
{
  gsize  bytes, element;     /* of the data */
  guint  n;
  Run   *runs;
} Scatter;

static void
scatter_clear (gpointer params)
{
  g_free (((Scatter *) params)->runs);
}

static void
scatter_run (const LptProgramOp *op,
             const LptOpData    *data,
             gsize               task G_GNUC_UNUSED,
             gsize               end G_GNUC_UNUSED)
{
  const Scatter *s = op->form.params;
  guint i;

  if (data->out != data->in[0])
    memcpy (data->out, data->in[0], s->bytes);
  for (i = 0; i < s->n; i++)
    {
      const Run *run = &s->runs[i];
      guint8 *to = data->out + run->to * s->element;
      const guint8 *from = data->in[1] + run->from * s->element;
      const gsize bytes = run->n * s->element;

      /* Single elements are many, and what the compiler knows the size of needs no call. */
      if (bytes == sizeof (guint32))
        memcpy (to, from, sizeof (guint32));
      else if (bytes == sizeof (guint64))
        memcpy (to, from, sizeof (guint64));
      else
        memcpy (to, from, bytes);
    }
}

/* Of each element of the result the number of its update, or -1; to be freed. NULL: the op fails. */
static gint64 *
ask (const LptProgramOp *op)
{
  g_autofree LptArray *in = g_new0 (LptArray, op->n_in);
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  const gsize n = lpt_program_count (op->in[0]), updates = lpt_program_count (op->in[2]);
  g_autofree gint64 *data = g_new (gint64, n + 1), *numbers = g_new (gint64, updates + 1);
  gint64 *made = g_new (gint64, n + 1);
  LptArray out = { LPT_DTYPE_I64, LPT_DTYPE_I64, op->out[0]->array.shape, made, NULL, FALSE };
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  gsize i;

  for (i = 0; i < op->n_in; i++)
    in[i] = op->in[i] != NULL ? op->in[i]->array : (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
  in[0] = (LptArray) { LPT_DTYPE_I64, LPT_DTYPE_I64, op->in[0]->array.shape, data, NULL, FALSE };
  in[2] = (LptArray) { LPT_DTYPE_I64, LPT_DTYPE_I64, op->in[2]->array.shape, numbers, NULL, FALSE };
  for (i = 0; i < n; i++)
    data[i] = -1;
  for (i = 0; i < updates; i++)
    numbers[i] = (gint64) i;
  if (!lpt_call_run (&call, NULL))
    g_clear_pointer (&made, g_free);

  return made;
}

static void
find_runs (const gint64 *made,
           gsize         n,
           Scatter      *s)
{
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (Run));
  gsize at, end;

  for (at = 0; at < n; at = end)
    {
      for (end = at + 1; end < n && made[at] >= 0 && made[end] == made[at] + (gint64) (end - at); end++)
        ;
      if (made[at] >= 0)
        g_array_append_vals (runs, &(Run) { (guint32) at, (guint32) made[at], (guint32) (end - at) }, 1);
    }
  s->n = runs->len;
  s->runs = (Run *) (gpointer) g_array_free (g_steal_pointer (&runs), FALSE);
}

static gboolean
is_alike (const LptArray *a,
          const LptArray *b)
{
  return a->dtype == b->dtype && a->declared == b->declared && lpt_quant_equal (a->quant, b->quant);
}

gboolean
lpt_prepare_scatter (LptProgram   *program,
                     LptProgramOp *op)
{
  const LptArray *data = &op->in[0]->array, *out = &op->out[0]->array;
  g_autofree gint64 *made = NULL;
  Scatter s = { 0 };
  guint k;

  if (op->n_in < 3 || op->in[1] == NULL || op->in[2] == NULL || !is_alike (data, out) ||
      !is_alike (data, &op->in[2]->array))
    return lpt_refuse (op, LPT_REMARK_TYPES);
  if ((op->row->flags & LPT_EXEC_MOVES) == 0 &&
      LPT_ATTRS (op->node, LptScatterAttrs)->reduction != LPT_REDUCTION_NONE)
    return lpt_refuse (op, LPT_REMARK_ATTRIBUTE);
  for (k = 1; k < op->n_in; k++)
    if (k != 2 && op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      return lpt_refuse (op, LPT_REMARK_COMPUTED);
  if (!lpt_shape_is_static (&data->shape) || !lpt_shape_is_static (&out->shape) ||
      !lpt_shape_is_static (&op->in[2]->array.shape) || lpt_program_count (op->in[0]) == 0 ||
      lpt_program_count (op->in[0]) > LIMIT || lpt_program_count (op->in[2]) > LIMIT)
    return lpt_refuse (op, LPT_REMARK_RANGE);
  made = ask (op);
  if (made == NULL)
    return lpt_refuse (op, LPT_REMARK_PATTERN);

  find_runs (made, lpt_program_count (op->in[0]), &s);
  s.element = lpt_storage_size (data->dtype);
  s.bytes = lpt_program_count (op->in[0]) * s.element;
  lpt_program_set_form (op, &(LptOpForm) {
    .run = scatter_run, .clear = scatter_clear, .params = g_memdup2 (&s, sizeof s), .kernel = "scatter", .tasks = 1,
    .n_in = 2, .in = LPT_OPERANDS ({ op->in[0], LPT_LAYOUT_TYPED, .overwritten = TRUE },
                                   { op->in[2], LPT_LAYOUT_TYPED }),
    .out = op->out[0], .out_layout = LPT_LAYOUT_TYPED });

  return TRUE;
}
