/* lpt-fast-move.c - movements of codes: Concat, Interpolate nearest, and whatever copies elements of one input
 *
 * What a movement does is asked of the op itself: it runs once on numbered elements when the plan is made. Steps that
 * follow each other (Reshape, Transpose, Reshape) are one movement. The input is numbered in the layout in which it was
 * written and the output's layout is the one that takes fewer copies: where that is none, the output is a view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-fast-copy.h"
#include "executor/lpt-loop.h"

/* Numbers of elements begin here; constants are codes. */
#define FIRST (1 << 30)
#define MAX_ELEMENTS (1 << 22)
#define TASK_BYTES 32768

typedef struct
{
  LptFastOp op;
  const LptTransposeKernel *kernel;
  guint8     fill;
  LptCopyBox boxes[LPT_FAST_MAX_IN];     /* one for each input */
  gsize      tasks[LPT_FAST_MAX_IN + 1]; /* before each of them */
  gsize      per_task[LPT_FAST_MAX_IN];  /* rows */
} Move;

typedef struct
{
  const Move          *m;
  const guint8 *const *in;
  guint8              *out;
} MoveJob;

static void
move_task (void    *data,
           size_t   task,
           unsigned thread)
{
  const MoveJob *job = data;
  const Move *m = job->m;
  gsize row;
  guint k = 0;

  while (task >= m->tasks[k + 1])
    k++;
  row = (task - m->tasks[k]) * m->per_task[k];
  lpt_copy_box_run (&m->boxes[k], m->kernel, row, MIN (row + m->per_task[k], m->boxes[k].rows), m->fill, job->in[k], job->out);
}

static void
move_run (const LptFastOp     *op,
          const guint8 *const *in,
          guint8              *out,
          LptPool             *pool,
          guint8              *workspace)
{
  const Move *m = (const Move *) op;

  lpt_parallel_for (pool, m->tasks[op->n_in], move_task, &(MoveJob) { m, in, out });
}

static void
move_clear (gpointer op)
{
  Move *m = op;
  guint k;

  for (k = 0; k < m->op.n_in; k++)
    lpt_copy_box_clear (&m->boxes[k]);
}

static Move *
move_new (LptFastBuilder *b,
          const char     *kernel,
          guint           out,
          LptRepr         out_repr,
          guint           last)
{
  Move *m = g_new0 (Move, 1);

  m->op = (LptFastOp) { .run = move_run, .clear = move_clear, .kernel = kernel, .out = out, .out_repr = out_repr, .last = last };
  m->kernel = b->kernels.transpose;

  return m;
}

/* The last box of @m goes from @slot. */
static void
add_input (Move   *m,
           guint   slot,
           LptRepr repr)
{
  guint k = m->op.n_in++;
  const LptCopyBox *box = &m->boxes[k];

  m->op.in[k] = slot;
  m->op.in_repr[k] = repr;
  m->per_task[k] = MAX (TASK_BYTES / MAX (box->row_bytes, 1), 1);
  m->tasks[k + 1] = m->tasks[k] + (box->rows + m->per_task[k] - 1) / m->per_task[k];
}

gboolean
lpt_fast_concat_part (const LptFastOp *op,
                      guint            k,
                      gsize           *at)
{
  const Move *m = (const Move *) op;
  gsize start;

  if (op->run != move_run || !lpt_copy_box_is_view (&m->boxes[k], &start) || start != 0)
    return FALSE;
  *at = m->boxes[k].at;

  return TRUE;
}

void
lpt_fast_concat_drop (LptFastOp *op,
                      guint      k)
{
  Move *m = (Move *) op;
  gsize tasks = m->tasks[k + 1] - m->tasks[k];

  for (k++; k <= op->n_in; k++)
    m->tasks[k] -= tasks;
}

static gboolean
is_same_codes (const LptPlan *plan,
               guint          in,
               guint          out)
{
  const LptArray *x, *y;

  if (in == LPT_NO_SLOT || lpt_plan_slot (plan, in)->kind == LPT_SLOT_CONST || !lpt_fast_is_codes (plan, in) ||
      !lpt_fast_is_codes (plan, out))
    return FALSE;
  x = &lpt_plan_slot (plan, in)->array;
  y = &lpt_plan_slot (plan, out)->array;

  return x->dtype == y->dtype && lpt_quant_equal (x->quant, y->quant) && lpt_array_count (x) > 0 && lpt_array_count (y) > 0;
}

/* --- maps --- */

static void
clear_maps (gssize **maps)
{
  guint i;

  for (i = 0; i < LPT_MAX_RANK; i++)
    g_clear_pointer (&maps[i], g_free);
}

static void
even_map (gssize **map,
          gsize    n,
          gsize    step)
{
  gsize i;

  *map = g_new (gssize, n);
  for (i = 0; i < n; i++)
    (*map)[i] = (gssize) (i * step);
}

/* The cheaper of both layouts of the output. */
static LptRepr
choose_box (LptCopyBox     *box,
            const LptShape *shape,
            gssize *const  *maps,
            LptRepr         in_repr)
{
  gsize strides[LPT_MAX_RANK];
  LptCopyBox other;

  lpt_copy_strides (shape, in_repr, strides);
  lpt_copy_box_init (box, shape, maps, in_repr, strides, 0);
  if (shape->rank < 3)
    return in_repr;
  in_repr = in_repr == LPT_REPR_LAST8 ? LPT_REPR_U8 : LPT_REPR_LAST8;
  lpt_copy_strides (shape, in_repr, strides);
  lpt_copy_box_init (&other, shape, maps, in_repr, strides, 0);
  if (lpt_copy_box_cost (&other) >= lpt_copy_box_cost (box))
    {
      lpt_copy_box_clear (&other);
      return in_repr == LPT_REPR_LAST8 ? LPT_REPR_U8 : LPT_REPR_LAST8;
    }
  lpt_copy_box_clear (box);
  *box = other;

  return in_repr;
}

/* --- asking the op --- */

/* The arrays of the inputs; none where an optional one is absent. */
static LptArray *
inputs_of (const LptPlan *plan,
           const LptStep *step)
{
  LptArray *in = g_new0 (LptArray, step->n_in + 1);
  guint k;

  for (k = 0; k < step->n_in; k++)
    {
      in[k] = (LptArray) { .declared = LPT_DTYPE_UNDEFINED };
      if (step->in[k] != LPT_NO_SLOT)
        in[k] = lpt_plan_slot (plan, step->in[k])->array;
      in[k].owned = FALSE;
    }

  return in;
}

/* The outputs of @step for the numbers @in; i64, full (transfer full). FALSE: it does not run on them. */
static gboolean
ask (const LptPlan *plan,
     const LptStep *step,
     gint64        *numbers,
     gint64       **results)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = inputs_of (plan, step), *out = g_new0 (LptArray, step->n_out + 1);
  LptCall call = { .node = step->node, .in = in, .n_in = step->n_in, .out = out, .n_out = step->n_out, .scratch = scratch };
  guint k;

  in[0] = (LptArray) { .declared = LPT_DTYPE_I64, .dtype = LPT_DTYPE_I64, .shape = in[0].shape, .data = numbers };
  for (k = 0; k < step->n_out; k++)
    {
      results[k] = g_new0 (gint64, lpt_fast_count (plan, step->out[k]));
      out[k] = (LptArray) { .declared = LPT_DTYPE_I64, .dtype = LPT_DTYPE_I64, .data = results[k],
                            .shape = lpt_plan_slot (plan, step->out[k])->array.shape };
    }

  return lpt_call_run (&call, NULL);
}

/* The constant that @step fills with, as its output's code; FALSE: there are several. */
static gboolean
ask_fill (const LptPlan *plan,
          const LptStep *step,
          const gint64  *numbers,
          guint8        *fill)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = inputs_of (plan, step);
  LptArray out = lpt_plan_slot (plan, step->out[0])->array;
  LptCall call = { .node = step->node, .in = in, .n_in = step->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  g_autofree guint8 *zeros = g_malloc0 (lpt_fast_count (plan, step->in[0]));
  gsize n = lpt_fast_count (plan, step->out[0]), i = 0;
  g_autofree guint8 *codes = g_malloc0 (n);

  in[0].data = zeros;
  out.data = codes;
  out.owned = FALSE;
  if (!lpt_call_run (&call, NULL))
    return FALSE;
  while (numbers[i] >= FIRST)
    i++;
  *fill = codes[i];
  for (; i < n; i++)
    if (numbers[i] < FIRST && codes[i] != *fill)
      return FALSE;

  return TRUE;
}

static gboolean
has_constants (const gint64 *numbers,
               gsize         n)
{
  gsize i = 0;

  while (i < n && numbers[i] >= FIRST)
    i++;

  return i < n;
}

/* Finds the maps whose sums are @numbers, places among @n_in elements; FALSE: there are none. */
static gboolean
find_maps (const LptShape *shape,
           gint64          n_in,
           const gint64   *numbers,
           gssize        **maps,
           gssize         *start,
           gboolean       *fills)
{
  gint64 strides[LPT_MAX_RANK], count = lpt_dims_product (shape, 0, shape->rank), first = 0, i;
  gint64 index[LPT_MAX_RANK] = { 0 };
  gint axis;

  while (first < count && numbers[first] < FIRST)
    first++;
  if (first == count)
    return FALSE;
  lpt_shape_strides (shape, strides);
  *start = (gssize) (numbers[first] - FIRST);
  for (axis = 0; axis < shape->rank; axis++)
    {
      gint64 line = first - first / strides[axis] % shape->dims[axis] * strides[axis];

      maps[axis] = g_new (gssize, shape->dims[axis]);
      for (i = 0; i < shape->dims[axis]; i++)
        {
          gint64 number = numbers[line + i * strides[axis]];

          maps[axis][i] = number < FIRST ? LPT_COPY_FILL : (gssize) (number - numbers[first]);
        }
    }

  *fills = FALSE;
  for (i = 0; i < count; i++)
    {
      gint64 sum = numbers[first];
      gboolean filled = FALSE;

      for (axis = 0; axis < shape->rank; axis++)
        {
          gssize step = maps[axis][index[axis]];

          filled |= step == LPT_COPY_FILL;
          sum += step != LPT_COPY_FILL ? step : 0;
        }
      if (filled ? numbers[i] >= FIRST : numbers[i] != sum || sum >= FIRST + n_in)
        return FALSE;
      *fills |= filled;
      for (axis = shape->rank; axis-- > 0 && ++index[axis] == shape->dims[axis]; )
        index[axis] = 0;
    }

  return TRUE;
}

/* Elements of @slot in row-major order, numbered as they lie in @repr. */
static gint64 *
number_elements (const LptPlan *plan,
                 guint          slot,
                 LptRepr        repr)
{
  const LptShape *shape = &lpt_plan_slot (plan, slot)->array.shape;
  gint64 *numbers = g_new (gint64, lpt_fast_count (plan, slot)), index[LPT_MAX_RANK] = { 0 }, i;
  gsize strides[LPT_MAX_RANK], at = 0;
  gint axis;

  lpt_copy_strides (shape, repr, strides);
  for (i = 0; i < (gint64) lpt_fast_count (plan, slot); i++)
    {
      numbers[i] = FIRST + (gint64) at;
      for (axis = shape->rank; axis-- > 0; )
        {
          at += strides[axis];
          if (++index[axis] < shape->dims[axis])
            break;
          at -= strides[axis] * (gsize) index[axis];
          index[axis] = 0;
        }
    }

  return numbers;
}

/* The op of one output from the numbers that it holds; NULL: not separable. */
static Move *
move_of (LptFastBuilder *b,
         const LptStep  *step,
         guint           in,
         LptRepr         in_repr,
         guint           out,
         const gint64   *numbers,
         guint           last)
{
  const LptShape *shape = &lpt_plan_slot (b->plan, out)->array.shape;
  gssize *maps[LPT_MAX_RANK] = { NULL }, start;
  guint8 fill = 0;
  gboolean fills;
  Move *m = NULL;

  if (find_maps (shape, (gint64) lpt_fast_count (b->plan, in), numbers, maps, &start, &fills) && (!fills || ask_fill (b->plan, step, numbers, &fill)))
    {
      m = move_new (b, "move_u8", out, in_repr, last);
      m->op.out_repr = choose_box (&m->boxes[0], shape, maps, in_repr);
      m->boxes[0].start += start;
      m->fill = fill ^ (guint8) lpt_fast_offset (lpt_plan_slot (b->plan, out)->array.dtype);
      add_input (m, in, in_repr);
      if (lpt_copy_box_is_view (&m->boxes[0], &m->op.start))
        m->op.run = NULL;
    }
  clear_maps (maps);

  return m;
}

/* Elements of input 0 alone (and one constant), places known when the plan is made. */
static gboolean
is_movement (LptFastBuilder *b,
             const LptStep  *step)
{
  guint k;

  if (step->integer != NULL || step->folded || (step->row->flags & LPT_EXEC_MOVES) == 0 || step->n_in == 0 || step->n_out == 0 ||
      step->node->op == LPT_OP_READ_VALUE || step->node->op == LPT_OP_ASSIGN ||
      step->node->op == LPT_OP_SCATTER_UPDATE)
    return FALSE;
  for (k = 0; k < step->n_out; k++)
    if (!is_same_codes (b->plan, step->in[0], step->out[k]) ||
        MAX (lpt_fast_count (b->plan, step->in[0]), lpt_fast_count (b->plan, step->out[k])) > MAX_ELEMENTS)
      return FALSE;
  for (k = 1; k < step->n_in; k++)
    if (step->in[k] != LPT_NO_SLOT && lpt_plan_slot (b->plan, step->in[k])->kind != LPT_SLOT_CONST)
      return FALSE;

  return TRUE;
}

static LptFastOp *
make_split (LptFastBuilder *b,
            guint           i,
            LptRepr         repr)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  g_autofree gint64 *numbers = number_elements (b->plan, step->in[0], repr);
  g_autofree gint64 **results = g_new0 (gint64 *, step->n_out);
  LptFastOp *ops = NULL;
  gboolean ok = ask (b->plan, step, numbers, results);
  guint k;

  for (k = 0; k < step->n_out; k++)
    {
      Move *m = ok && b->uses[step->out[k]] > 0 ? move_of (b, step, step->in[0], repr, step->out[k], results[k], i) : NULL;

      if (m != NULL)
        {
          m->op.next = ops;
          ops = &m->op;
        }
      else if (b->uses[step->out[k]] > 0)
        ok = FALSE;
      g_free (results[k]);
    }
  if (ok)
    return ops;
  while (ops != NULL)
    {
      LptFastOp *next = ops->next;

      move_clear (ops);
      g_free (ops);
      ops = next;
    }

  return NULL;
}

LptFastOp *
lpt_fast_make_move (LptFastBuilder *b,
                    guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  LptRepr repr;
  gint64 *numbers;
  gboolean moves = FALSE, filled = FALSE;
  guint at = i, n = 0, k, steps[8];
  Move *best = NULL;

  if (!is_movement (b, step))
    return NULL;
  repr = lpt_fast_layout (b, step->in[0]);
  if (step->n_out > 1)
    return make_split (b, i, repr);

  /* The steps that follow; names alone need no op where the codes are in order. */
  for (;;)
    {
      moves |= (step->row->flags & LPT_EXEC_ALIAS) == 0;
      steps[n++] = at;
      at = b->reader[step->out[0]];
      if (n == G_N_ELEMENTS (steps) || at == LPT_NO_SLOT || b->covered[at] != LPT_NO_SLOT)
        break;
      step = lpt_plan_step (b->plan, at);
      if (step->n_out != 1 || !is_movement (b, step))
        break;
    }
  if (!moves && repr != LPT_REPR_LAST8)
    return NULL;

  numbers = number_elements (b->plan, lpt_plan_step (b->plan, i)->in[0], repr);
  for (k = 0; k < n && !filled; k++)
    {
      gint64 *results = NULL;
      gboolean ok;
      Move *m;

      step = lpt_plan_step (b->plan, steps[k]);
      ok = ask (b->plan, step, numbers, &results);
      g_free (numbers);
      numbers = results;
      if (!ok)
        break;
      /* A constant is known by its step: what follows is another movement. */
      filled = has_constants (numbers, lpt_fast_count (b->plan, step->out[0]));
      m = move_of (b, step, lpt_plan_step (b->plan, i)->in[0], repr, step->out[0], numbers, steps[k]);
      if (m == NULL)
        continue;
      if (best != NULL)
        {
          move_clear (best);
          g_free (best);
        }
      best = m;
    }
  g_free (numbers);
  /* Names alone: the conversion and the name do as well. */
  if (best != NULL && !moves && best->op.run != NULL)
    {
      move_clear (best);
      g_clear_pointer (&best, g_free);
    }
  if (best == NULL)
    return NULL;
  for (k = 0; k < n && steps[k] <= best->op.last; k++)
    b->covered[steps[k]] = i;

  return &best->op;
}

/* --- Interpolate, Concat --- */

LptFastOp *
lpt_fast_make_resize (LptFastBuilder *b,
                      guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptShape *x, *y;
  gssize *maps[LPT_MAX_RANK] = { NULL };
  gsize strides[LPT_MAX_RANK];
  LptRepr repr;
  gint64 k;
  gint axis;
  Move *m;

  if (!lpt_int_resize_is_nearest (step->integer) || !is_same_codes (b->plan, step->in[0], step->out[0]))
    return NULL;
  x = &lpt_plan_slot (b->plan, step->in[0])->array.shape;
  y = &lpt_plan_slot (b->plan, step->out[0])->array.shape;
  repr = lpt_fast_layout (b, step->in[0]);
  lpt_copy_strides (x, repr, strides);
  for (axis = 0; axis < y->rank; axis++)
    {
      maps[axis] = g_new (gssize, y->dims[axis]);
      for (k = 0; k < y->dims[axis]; k++)
        maps[axis][k] = (gssize) (lpt_int_resize_source (step->integer, k, x->dims[axis], y->dims[axis]) * (gint64) strides[axis]);
    }
  m = move_new (b, "resize_u8", step->out[0], repr, i);
  m->op.out_repr = choose_box (&m->boxes[0], y, maps, repr);
  add_input (m, step->in[0], repr);
  clear_maps (maps);

  return &m->op;
}

/* All inputs with the output's quantization. */
LptFastOp *
lpt_fast_make_concat (LptFastBuilder *b,
                      guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  const LptShape *y = &lpt_plan_slot (b->plan, step->out[0])->array.shape;
  gsize strides[LPT_MAX_RANK], own[LPT_MAX_RANK], at = 0, last8 = 0, all = 0;
  LptRepr repr;
  Move *m;
  gint axis, k;
  guint input;

  if (step->n_in == 0 || step->n_in > LPT_FAST_MAX_IN || !lpt_axis_normalize (LPT_ATTRS (step->node, LptAxisAttrs)->axis, y->rank, &axis))
    return NULL;
  for (input = 0; input < step->n_in; input++)
    {
      gsize count;

      if (!is_same_codes (b->plan, step->in[input], step->out[0]))
        return NULL;
      count = lpt_fast_count (b->plan, step->in[input]);
      all += count;
      last8 += lpt_fast_layout (b, step->in[input]) == LPT_REPR_LAST8 ? count : 0;
    }
  repr = 2 * last8 >= all && y->rank >= 3 ? LPT_REPR_LAST8 : LPT_REPR_U8;

  m = move_new (b, "concat_u8", step->out[0], repr, i);
  lpt_copy_strides (y, repr, strides);
  for (input = 0; input < step->n_in; input++)
    {
      const LptShape *x = &lpt_plan_slot (b->plan, step->in[input])->array.shape;
      gssize *maps[LPT_MAX_RANK] = { NULL };

      lpt_copy_strides (x, repr, own);
      for (k = 0; k < x->rank; k++)
        even_map (&maps[k], (gsize) x->dims[k], own[k]);
      lpt_copy_box_init (&m->boxes[input], x, maps, repr, strides, at);
      add_input (m, step->in[input], repr);
      at += (gsize) x->dims[axis] * strides[axis];
      clear_maps (maps);
    }

  return &m->op;
}
