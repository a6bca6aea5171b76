/* lpt-fast-move.c - movements of codes: Concat, Interpolate nearest, and whatever copies elements of one input
 *
 * What a movement does is asked of the op itself: it runs once on numbered elements when the plan is made. Steps that
 * follow each other (Reshape, Transpose, Reshape) are one movement. The input is numbered in the layout in which it was
 * written and the output's layout is the one that takes fewer copies: where that is none, the output is a view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-fast-copy.h"

#define MAX_ELEMENTS (1 << 22)
/* Less is done by one thread: it costs more to fetch from another core's cache what that one has written. */
#define TASK_BYTES 65536

/* What a box is made of: where there is a pitch it is made again. */
typedef struct
{
  LptShape shape;
  gssize  *maps[LPT_MAX_RANK];         /* offsets in the input */
  gssize   start;                      /* added to all of them */
  gsize    at;                         /* in the output */
  gsize    channels;                   /* of the input */
} Piece;

typedef struct
{
  LptFastOp op;
  const LptTransposeKernel *kernel;
  guint8     fill;
  Piece      pieces[LPT_FAST_MAX_IN];
  LptShape   shape;                      /* of the output */
  gboolean   by_channels;                /* a concatenation whose pieces are parts of pixels */
  LptCopyBox boxes[LPT_FAST_MAX_IN];     /* one for each input */
  gsize      tasks[LPT_FAST_MAX_IN + 1]; /* before each of them */
  gsize      per_task[LPT_FAST_MAX_IN];  /* rows */
} Move;

static void
move_run (const LptFastOp   *op,
          const LptFastData *data,
          gsize              task,
          gsize              end)
{
  const Move *m = (const Move *) op;
  guint k = 0;

  for (; task < end; task++)
    {
      gsize row;

      while (task >= m->tasks[k + 1])
        k++;
      row = (task - m->tasks[k]) * m->per_task[k];
      lpt_copy_box_run (&m->boxes[k], m->kernel, row, MIN (row + m->per_task[k], m->boxes[k].rows), m->fill, data->in[k], data->out);
    }
}

static void
clear_maps (gssize **maps)
{
  guint i;

  for (i = 0; i < LPT_MAX_RANK; i++)
    g_clear_pointer (&maps[i], g_free);
}

static void
move_clear (gpointer op)
{
  Move *m = op;
  guint k;

  for (k = 0; k < m->op.n_in; k++)
    {
      lpt_copy_box_clear (&m->boxes[k]);
      clear_maps (m->pieces[k].maps);
    }
}

static void
set_tasks (Move *m)
{
  guint k;

  for (k = 0; k < m->op.n_in; k++)
    {
      const LptCopyBox *box = &m->boxes[k];

      m->per_task[k] = MAX (TASK_BYTES / MAX (box->row_bytes, 1), 1);
      m->tasks[k + 1] = m->tasks[k] + (box->rows + m->per_task[k] - 1) / m->per_task[k];
    }
  m->op.tasks = m->tasks[m->op.n_in];
}

/* An offset among pixels of @channels, among those of @pitch. */
static gssize
spread (gssize offset,
        gsize  channels,
        gsize  pitch)
{
  return offset / (gssize) channels * (gssize) pitch + offset % (gssize) channels;
}

/* The boxes of parts of pixels. What takes such inputs has offsets that are sums of whole pixels and of channels. */
static void
move_fit (LptFastOp *op)
{
  Move *m = (Move *) op;
  gsize strides[LPT_MAX_RANK];
  gboolean out_part = op->out_repr == LPT_REPR_PART8;
  gint axis;
  guint k;

  if (op->run == NULL)
    return;
  lpt_copy_strides (&m->shape, out_part ? LPT_REPR_LAST8 : op->out_repr, strides);
  for (axis = 0; axis < m->shape.rank && out_part; axis++)
    strides[axis] = (gsize) spread ((gssize) strides[axis], (gsize) m->shape.dims[1], op->out_pitch);
  for (k = 0; k < op->n_in; k++)
    {
      Piece *piece = &m->pieces[k];
      gboolean in_part = op->in_repr[k] == LPT_REPR_PART8;
      gsize at = out_part ? (gsize) spread ((gssize) piece->at, (gsize) m->shape.dims[1], op->out_pitch) : piece->at;
      gint64 i;

      if (!in_part && !out_part)
        continue;
      for (axis = 0; axis < piece->shape.rank && in_part; axis++)
        for (i = 0; i < piece->shape.dims[axis]; i++)
          piece->maps[axis][i] = spread (piece->maps[axis][i], piece->channels, op->in_pitch[k]);
      lpt_copy_box_clear (&m->boxes[k]);
      lpt_copy_box_init (&m->boxes[k], &piece->shape, piece->maps, out_part ? LPT_REPR_LAST8 : op->out_repr, strides, at);
      m->boxes[k].start += piece->start;
    }
  set_tasks (m);
}

static Move *
move_new (LptFastBuilder *b,
          const char     *kernel,
          guint           out,
          LptRepr         out_repr,
          guint           last)
{
  Move *m = g_new0 (Move, 1);

  m->op = (LptFastOp) { .run = move_run, .clear = move_clear, .kernel = kernel, .out = out, .out_repr = out_repr, .last = last,
                        .makes_part = TRUE, .fit = move_fit };
  m->kernel = b->kernels.transpose;
  m->shape = lpt_plan_slot (b->plan, out)->array.shape;

  return m;
}

/* The last box of @m goes from @slot; takes the maps. */
static void
add_input (Move           *m,
           const LptPlan  *plan,
           guint           slot,
           LptRepr         repr,
           const LptShape *shape,
           gssize        **maps,
           gssize          start)
{
  guint k = m->op.n_in++;
  const LptShape *own = &lpt_plan_slot (plan, slot)->array.shape;

  m->op.in[k] = slot;
  m->op.in_repr[k] = repr;
  m->pieces[k] = (Piece) { .shape = *shape, .start = start, .at = m->boxes[k].at, .channels = own->rank > 1 ? (gsize) own->dims[1] : 1 };
  memcpy (m->pieces[k].maps, maps, sizeof m->pieces[k].maps);
  memset (maps, 0, sizeof m->pieces[k].maps);
  m->boxes[k].start += start;
  set_tasks (m);
}

gboolean
lpt_fast_concat_part (const LptFastOp *op,
                      guint            k,
                      LptRepr         *repr,
                      gsize           *at)
{
  const Move *m = (const Move *) op;
  gsize start;

  if (op->run != move_run || (op->out_repr == LPT_REPR_PART8 && !m->by_channels))
    return FALSE;
  *at = m->pieces[k].at;
  *repr = m->by_channels && op->in_repr[k] == LPT_REPR_LAST8 ? LPT_REPR_PART8 : op->in_repr[k];

  return *repr == LPT_REPR_PART8 ? m->by_channels : lpt_copy_box_is_view (&m->boxes[k], &start) && start == 0;
}

void
lpt_fast_concat_drop (LptFastOp *op,
                      guint      k)
{
  Move *m = (Move *) op;
  gsize tasks = m->tasks[k + 1] - m->tasks[k];

  for (k++; k <= op->n_in; k++)
    m->tasks[k] -= tasks;
  op->tasks -= tasks;
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

/* Some of the channels of every pixel. */
static gboolean
is_part (const LptPlan  *plan,
         guint           in,
         LptRepr         repr,
         const LptShape *shape,
         gssize *const  *maps)
{
  const LptShape *x = &lpt_plan_slot (plan, in)->array.shape;
  gsize strides[LPT_MAX_RANK];
  gint64 i;
  gint axis;

  if (repr != LPT_REPR_LAST8 || x->rank != shape->rank)
    return FALSE;
  lpt_copy_strides (x, repr, strides);
  for (axis = 0; axis < x->rank; axis++)
    {
      if (axis != 1 && x->dims[axis] != shape->dims[axis])
        return FALSE;
      for (i = 0; i < shape->dims[axis]; i++)
        if (maps[axis][i] != (gssize) (i * (gint64) strides[axis]))
          return FALSE;
    }

  return TRUE;
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
  gboolean fills, part;
  Move *m = NULL;

  if (lpt_copy_find_maps (shape, (gint64) lpt_fast_count (b->plan, in), numbers, maps, &start, &fills) && (!fills || lpt_copy_ask_fill (b->plan, step, numbers, &fill)))
    {
      m = move_new (b, "move_u8", out, in_repr, last);
      m->op.out_repr = choose_box (&m->boxes[0], shape, maps, in_repr);
      part = !lpt_copy_box_is_view (&m->boxes[0], &m->op.start) && is_part (b->plan, in, in_repr, shape, maps);
      m->fill = fill ^ (guint8) lpt_fast_offset (lpt_plan_slot (b->plan, out)->array.dtype);
      add_input (m, b->plan, in, in_repr, shape, maps, start);
      if (part || lpt_copy_box_is_view (&m->boxes[0], &m->op.start))
        {
          m->op.run = NULL;
          m->op.makes_part = FALSE;
        }
      if (part)
        {
          m->op.start = (gsize) start;
          m->op.out_repr = LPT_REPR_PART8;
          m->op.takes_part = 1;
        }
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
  g_autofree gint64 *numbers = lpt_copy_number (b->plan, step->in[0], repr);
  g_autofree gint64 **results = g_new0 (gint64 *, step->n_out);
  LptFastOp *ops = NULL;
  gboolean ok = lpt_copy_ask (b->plan, step, numbers, results);
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

  numbers = lpt_copy_number (b->plan, lpt_plan_step (b->plan, i)->in[0], repr);
  for (k = 0; k < n && !filled; k++)
    {
      gint64 *results = NULL;
      gboolean ok;
      Move *m;

      step = lpt_plan_step (b->plan, steps[k]);
      ok = lpt_copy_ask (b->plan, step, numbers, &results);
      g_free (numbers);
      numbers = results;
      if (!ok)
        break;
      /* A constant is known by its step: what follows is another movement. */
      filled = lpt_copy_has_fill (numbers, lpt_fast_count (b->plan, step->out[0]));
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

static gboolean
is_resize (const LptPlan *plan,
           const LptStep *step)
{
  return step->integer != NULL && step->node->op == LPT_OP_INTERPOLATE && lpt_int_resize_is_nearest (step->integer) &&
         is_same_codes (plan, step->in[0], step->out[0]);
}

guint
lpt_fast_resize_behind (LptFastBuilder *b,
                        guint           slot)
{
  guint i = b->reader[slot];

  return i != LPT_NO_SLOT && b->covered[i] == LPT_NO_SLOT && is_resize (b->plan, lpt_plan_step (b->plan, i)) ? i : LPT_NO_SLOT;
}

LptFastOp *
lpt_fast_make_resize (LptFastBuilder *b,
                      guint           i)
{
  const LptStep *step = lpt_plan_step (b->plan, i);
  guint out = b->moved[step->out[0]] != LPT_NO_SLOT ? b->moved[step->out[0]] : step->out[0];
  const LptShape *x, *y;
  gssize *maps[LPT_MAX_RANK] = { NULL };
  gsize strides[LPT_MAX_RANK];
  LptRepr repr;
  gint64 k;
  gint axis;
  Move *m;

  if (!is_resize (b->plan, step))
    return NULL;
  x = &lpt_plan_slot (b->plan, step->in[0])->array.shape;
  y = &lpt_plan_slot (b->plan, step->out[0])->array.shape;
  repr = lpt_fast_layout (b, step->in[0]);
  lpt_copy_strides (x, repr, strides);
  for (axis = 0; axis < y->rank; axis++)
    {
      maps[axis] = g_new (gssize, y->dims[axis]);
      for (k = 0; k < y->dims[axis]; k++)
        maps[axis][k] = (gssize) (lpt_int_resize_source (step->integer, axis, k, x->dims[axis], y->dims[axis]) * (gint64) strides[axis]);
    }
  m = move_new (b, "resize_u8", out, repr, i);
  m->op.out_repr = choose_box (&m->boxes[0], y, maps, repr);
  add_input (m, b->plan, step->in[0], repr, y, maps, 0);
  m->op.takes_part = 1;

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
  m->by_channels = axis == 1 && lpt_fast_repr (b->plan, step->out[0], repr) == LPT_REPR_LAST8;
  lpt_copy_strides (y, repr, strides);
  for (input = 0; input < step->n_in; input++)
    {
      const LptShape *x = &lpt_plan_slot (b->plan, step->in[input])->array.shape;
      gssize *maps[LPT_MAX_RANK] = { NULL };

      lpt_copy_strides (x, repr, own);
      for (k = 0; k < x->rank; k++)
        even_map (&maps[k], (gsize) x->dims[k], own[k]);
      lpt_copy_box_init (&m->boxes[input], x, maps, repr, strides, at);
      add_input (m, b->plan, step->in[input], repr, x, maps, 0);
      m->op.takes_part |= 1u << input;
      at += (gsize) x->dims[axis] * strides[axis];
    }

  return &m->op;
}
