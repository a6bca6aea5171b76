/* move.c - movements of codes: Concat, Interpolate nearest, and whatever copies elements of one input
 *
 * What a movement does is asked of the op itself: it runs once on numbered elements when the plan is made. Steps that
 * follow each other (Reshape, Transpose, Reshape) are one movement. The input is numbered in the layout in which it was
 * written and the output's layout is the one that takes fewer copies: where that is none, the output is a view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/copy-box.h"
#include "ir/scalar/lpt-loop.h"

#define MAX_ELEMENTS (1 << 22)
/* Less is done by one thread: it costs more to fetch from another core's cache what that one has written. */
#define TASK_BYTES 65536

/* What is copied from an input. */
typedef struct
{
  LptCopyBox box;
  gsize      tasks, per_task;          /* tasks before it; rows of one */
  /* What the box is made of: where there is a pitch it is made again. */
  LptShape   shape;
  gssize    *maps[LPT_MAX_RANK];       /* offsets in the input */
  gssize     start;                    /* added to all of them */
  gsize      at;                       /* in the output */
  gsize      channels;                 /* of the input */
} Piece;

typedef struct
{
  LptOpForm  form;                     /* until it is the op's */
  const LptTransposeKernel *kernel;
  guint8     fill;
  LptShape   shape;                    /* of the output */
  gboolean   by_channels;              /* a concatenation whose pieces are parts of pixels */
  LptOperand *in;                      /* of `form` */
  guint      n;
  Piece     *pieces;                   /* one for each input, and the number of all tasks behind them */
} Move;

static void
move_run (const LptProgramOp *op,
          const LptOpData    *data,
          gsize               task,
          gsize               end)
{
  const Move *m = op->form.params;
  const Piece *piece = m->pieces;

  for (; task < end; task++)
    {
      gsize row;

      while (task >= piece[1].tasks)
        piece++;
      row = (task - piece->tasks) * piece->per_task;
      lpt_copy_box_run (&piece->box, m->kernel, row, MIN (row + piece->per_task, piece->box.rows), m->fill, data->in[piece - m->pieces],
                        data->out);
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
move_clear (gpointer params)
{
  Move *m = params;
  guint k;

  for (k = 0; k < m->n; k++)
    {
      lpt_copy_box_clear (&m->pieces[k].box);
      clear_maps (m->pieces[k].maps);
    }
  g_free (m->pieces);
  g_free (m->in);
}

static void
set_tasks (Move *m)
{
  guint k;

  for (k = 0; k < m->n; k++)
    {
      Piece *piece = &m->pieces[k];

      piece->per_task = MAX (TASK_BYTES / MAX (piece->box.row_bytes, 1), 1);
      piece[1].tasks = piece->tasks + (piece->box.rows + piece->per_task - 1) / piece->per_task;
    }
  m->form.tasks = m->pieces[m->n].tasks;
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
move_bind (LptProgramOp *op)
{
  Move *m = op->form.params;
  gsize strides[LPT_MAX_RANK];
  gboolean out_part = op->form.out_layout == LPT_LAYOUT_CODES_PITCHED;
  gint axis;
  guint k;

  if (op->form.run == NULL)
    return;
  lpt_copy_strides (&m->shape, out_part ? LPT_LAYOUT_CODES_LAST : op->form.out_layout, strides);
  for (axis = 0; axis < m->shape.rank && out_part; axis++)
    strides[axis] = (gsize) spread ((gssize) strides[axis], (gsize) m->shape.dims[1], op->form.out->pitch);
  for (k = 0; k < op->form.n_in; k++)
    {
      Piece *piece = &m->pieces[k];
      gboolean in_part = op->form.in[k].layout == LPT_LAYOUT_CODES_PITCHED;
      gsize at = out_part ? (gsize) spread ((gssize) piece->at, (gsize) m->shape.dims[1], op->form.out->pitch) : piece->at;
      gint64 i;

      if (!in_part && !out_part)
        continue;
      for (axis = 0; axis < piece->shape.rank && in_part; axis++)
        for (i = 0; i < piece->shape.dims[axis]; i++)
          piece->maps[axis][i] = spread (piece->maps[axis][i], piece->channels, op->form.in[k].value->pitch);
      lpt_copy_box_clear (&piece->box);
      lpt_copy_box_init (&piece->box, &piece->shape, piece->maps, out_part ? LPT_LAYOUT_CODES_LAST : op->form.out_layout, strides, at);
      piece->box.start += piece->start;
    }
  set_tasks (m);
  op->form.tasks = m->form.tasks;
}

static gboolean part_of   (const LptProgramOp *op, guint k, LptValueLayout *layout, gsize *at);
static void     drop_part (LptProgramOp *op, guint k);

/* Of @n pieces at most. */
static Move *
move_new (LptProgram    *program,
          const char    *kernel,
          LptProgramOp  *last,
          guint          output,
          LptValueLayout out_layout,
          guint          n)
{
  LptProgramValue *out = last->out[output];
  Move *m = g_new0 (Move, 1);

  m->pieces = g_new0 (Piece, n + 1);
  m->in = g_new0 (LptOperand, n);
  m->form = (LptOpForm) { .run = move_run, .bind = move_bind, .part = part_of, .drop_part = drop_part, .clear = move_clear, .params = m,
                          .kernel = kernel, .in = m->in, .out = out, .out_layout = out_layout, .out_pitched = TRUE, .last = last };
  m->kernel = program->kernels.transpose;
  m->shape = out->array.shape;

  return m;
}

static void
move_free (Move *m)
{
  if (m != NULL)
    move_clear (m);
  g_free (m);
}

/* The last box of @m goes from @value; takes the maps. */
static void
add_input (Move            *m,
           LptProgramValue *value,
           LptValueLayout   layout,
           const LptShape  *shape,
           gssize         **maps,
           gssize           start)
{
  Piece *piece = &m->pieces[m->n];
  const LptShape *own = &value->array.shape;

  m->in[m->n++] = (LptOperand) { value, layout };
  m->form.n_in = m->n;
  piece->shape = *shape;
  piece->start = start;
  piece->at = piece->box.at;
  piece->channels = own->rank > 1 ? (gsize) own->dims[1] : 1;
  memcpy (piece->maps, maps, sizeof piece->maps);
  memset (maps, 0, sizeof piece->maps);
  piece->box.start += start;
  set_tasks (m);
}

static gboolean
part_of (const LptProgramOp *op,
         guint               k,
         LptValueLayout     *layout,
         gsize              *at)
{
  const Move *m = op->form.params;
  gsize start;

  /* What reads an input only in parts does not hold all of it. */
  if ((op->form.out_layout == LPT_LAYOUT_CODES_PITCHED && !m->by_channels) ||
      (gsize) lpt_dims_product (&m->pieces[k].shape, 0, m->pieces[k].shape.rank) != lpt_program_count (op->form.in[k].value))
    return FALSE;
  *at = m->pieces[k].at;
  *layout = m->by_channels && op->form.in[k].layout == LPT_LAYOUT_CODES_LAST ? LPT_LAYOUT_CODES_PITCHED : op->form.in[k].layout;

  return *layout == LPT_LAYOUT_CODES_PITCHED ? m->by_channels : lpt_copy_box_is_view (&m->pieces[k].box, &start) && start == 0;
}

static void
drop_part (LptProgramOp *op,
           guint         k)
{
  Move *m = op->form.params;
  gsize tasks = m->pieces[k + 1].tasks - m->pieces[k].tasks;

  for (k++; k <= m->n; k++)
    m->pieces[k].tasks -= tasks;
  op->form.tasks -= tasks;
}

static gboolean
is_same_codes (const LptProgramValue *in,
               const LptProgramValue *out)
{
  const LptArray *x, *y;

  if (in == NULL || in->kind == LPT_STORAGE_CONST || !lpt_program_is_codes (in) ||
      !lpt_program_is_codes (out))
    return FALSE;
  x = &in->array;
  y = &out->array;

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
static LptValueLayout
choose_box (LptCopyBox     *box,
            const LptShape *shape,
            gssize *const  *maps,
            LptValueLayout  in_layout)
{
  gsize strides[LPT_MAX_RANK];
  LptCopyBox other;

  lpt_copy_strides (shape, in_layout, strides);
  lpt_copy_box_init (box, shape, maps, in_layout, strides, 0);
  if (shape->rank < 3)
    return in_layout;
  in_layout = in_layout == LPT_LAYOUT_CODES_LAST ? LPT_LAYOUT_CODES : LPT_LAYOUT_CODES_LAST;
  lpt_copy_strides (shape, in_layout, strides);
  lpt_copy_box_init (&other, shape, maps, in_layout, strides, 0);
  if (lpt_copy_box_cost (&other) >= lpt_copy_box_cost (box))
    {
      lpt_copy_box_clear (&other);
      return in_layout == LPT_LAYOUT_CODES_LAST ? LPT_LAYOUT_CODES : LPT_LAYOUT_CODES_LAST;
    }
  lpt_copy_box_clear (box);
  *box = other;

  return in_layout;
}

/* Some of the channels of every pixel. */
static gboolean
is_part (const LptProgramValue *in,
         LptValueLayout         layout,
         const LptShape        *shape,
         gssize *const         *maps)
{
  const LptShape *x = &in->array.shape;
  gsize strides[LPT_MAX_RANK];
  gint64 i;
  gint axis;

  if (layout != LPT_LAYOUT_CODES_LAST || x->rank != shape->rank)
    return FALSE;
  lpt_copy_strides (x, layout, strides);
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

/* The op of output @output of @step from the numbers that it holds; NULL: not separable. */
static Move *
move_of (LptProgram      *program,
         LptProgramOp    *step,
         LptProgramValue *in,
         LptValueLayout   in_layout,
         guint            output,
         const gint64    *numbers)
{
  const LptArray *out = &step->out[output]->array;
  const LptShape *shape = &out->shape;
  gssize *maps[LPT_MAX_RANK] = { NULL }, start;
  guint8 fill = 0;
  gboolean fills, part;
  Move *m = NULL;

  if (lpt_copy_find_maps (shape, (gint64) lpt_program_count (in), numbers, maps, &start, &fills) && (!fills || lpt_copy_ask_fill (step, numbers, &fill)))
    {
      m = move_new (program, "move_u8", step, output, in_layout, 1);
      m->form.out_layout = choose_box (&m->pieces[0].box, shape, maps, in_layout);
      part = !lpt_copy_box_is_view (&m->pieces[0].box, &m->form.start) && is_part (in, in_layout, shape, maps);
      m->fill = fill ^ (guint8) lpt_program_offset (out->dtype);
      add_input (m, in, in_layout, shape, maps, start);
      if (part || lpt_copy_box_is_view (&m->pieces[0].box, &m->form.start))
        {
          m->form.run = NULL;
          m->form.out_pitched = FALSE;
        }
      if (part)
        {
          m->form.start = (gsize) start;
          m->form.out_layout = LPT_LAYOUT_CODES_PITCHED;
          m->in[0].pitched = TRUE;
        }
    }
  clear_maps (maps);

  return m;
}

/* Elements of input 0 alone (and one constant), places known when the plan is made. */
static gboolean
is_movement (const LptProgramOp *step)
{
  guint k;

  if (step->integer != NULL || step->folded || (step->row->flags & LPT_EXEC_MOVES) == 0 || step->n_in == 0 || step->n_out == 0 ||
      (step->node->info->flags & LPT_OP_F_STATE) != 0 ||
      step->node->op == LPT_OP_SCATTER_UPDATE)
    return FALSE;
  for (k = 0; k < step->n_out; k++)
    if (!is_same_codes (step->in[0], step->out[k]) ||
        MAX (lpt_program_count (step->in[0]), lpt_program_count (step->out[k])) > MAX_ELEMENTS)
      return FALSE;
  for (k = 1; k < step->n_in; k++)
    if (step->in[k] != NULL && step->in[k]->kind != LPT_STORAGE_CONST)
      return FALSE;

  return TRUE;
}

/* An op for each output that somebody reads, the first of them @step itself. */
static gboolean
prepare_split (LptProgram    *program,
               LptProgramOp  *step,
               LptValueLayout layout)
{
  g_autofree gint64 *numbers = lpt_copy_number (step->in[0], layout);
  g_autofree gint64 **results = g_new0 (gint64 *, step->n_out);
  g_autofree Move **moves = g_new0 (Move *, step->n_out);
  gboolean ok = lpt_copy_ask (step, numbers, results), first = TRUE;
  guint k;

  for (k = 0; k < step->n_out; k++)
    {
      if (ok && lpt_program_n_uses (step->out[k]) > 0)
        {
          moves[k] = move_of (program, step, step->in[0], layout, k, results[k]);
          ok = moves[k] != NULL;
        }
      g_free (results[k]);
    }
  for (k = step->n_out; k-- > 0; )
    if (moves[k] != NULL && ok)
      {
        LptProgramOp *op = first ? step : lpt_program_add_op (program, step->node, step->index);

        lpt_program_set_form (op, &moves[k]->form);
        first = FALSE;
      }
    else
      move_free (moves[k]);

  return ok && !first;
}

gboolean
lpt_prepare_move (LptProgram   *program,
                  LptProgramOp *step)
{
  LptProgramOp *first = step, *at = step, *steps[8];
  gboolean moves = FALSE, filled = FALSE;
  LptValueLayout layout;
  gint64 *numbers;
  guint n = 0, k;
  Move *best = NULL;

  if (!is_movement (step))
    return FALSE;
  layout = lpt_codes_layout (step->in[0]);
  if (step->n_out > 1)
    return prepare_split (program, step, layout);

  /* The ops that follow; names alone need none where the codes are in order. */
  for (;;)
    {
      moves |= (at->row->flags & LPT_EXEC_ALIAS) == 0;
      steps[n++] = at;
      at = lpt_program_reader (at->out[0]);
      if (n == G_N_ELEMENTS (steps) || at == NULL || !lpt_program_is_free (at) || at->n_out != 1 || !is_movement (at))
        break;
    }
  if (!moves && layout != LPT_LAYOUT_CODES_LAST)
    return FALSE;

  numbers = lpt_copy_number (first->in[0], layout);
  for (k = 0; k < n && !filled; k++)
    {
      gint64 *results = NULL;
      gboolean ok = lpt_copy_ask (steps[k], numbers, &results);
      Move *m;

      g_free (numbers);
      numbers = results;
      if (!ok)
        break;
      /* A constant is known by its op: what follows is another movement. */
      filled = lpt_copy_has_fill (numbers, lpt_program_count (steps[k]->out[0]));
      m = move_of (program, steps[k], first->in[0], layout, 0, numbers);
      if (m == NULL)
        continue;
      move_free (best);
      best = m;
    }
  g_free (numbers);
  /* Names alone: the conversion and the name do as well. */
  if (best != NULL && !moves && best->form.run != NULL)
    g_clear_pointer (&best, move_free);
  if (best == NULL)
    return FALSE;
  for (k = 1; k < n && steps[k]->index <= best->form.last->index; k++)
    lpt_program_fuse (steps[k], first, NULL);
  lpt_program_set_form (first, &best->form);

  return TRUE;
}

/* --- Interpolate, Concat --- */

gboolean
lpt_is_repeating (const LptProgramOp *op)
{
  return op->integer != NULL && op->node->op == LPT_OP_INTERPOLATE && lpt_int_resize_is_nearest (op->integer) &&
         is_same_codes (op->in[0], op->out[0]);
}

gboolean
lpt_prepare_resize (LptProgram   *program,
                    LptProgramOp *step)
{
  const LptShape *x, *y;
  gssize *maps[LPT_MAX_RANK] = { NULL };
  gsize strides[LPT_MAX_RANK];
  LptValueLayout layout;
  gint64 k;
  gint axis;
  Move *m;

  if (!lpt_is_repeating (step))
    return FALSE;
  x = &step->in[0]->array.shape;
  y = &step->out[0]->array.shape;
  layout = lpt_codes_layout (step->in[0]);
  lpt_copy_strides (x, layout, strides);
  for (axis = 0; axis < y->rank; axis++)
    {
      maps[axis] = g_new (gssize, y->dims[axis]);
      for (k = 0; k < y->dims[axis]; k++)
        maps[axis][k] = (gssize) (lpt_int_resize_source (step->integer, axis, k, x->dims[axis], y->dims[axis]) * (gint64) strides[axis]);
    }
  m = move_new (program, "resize_u8", step, 0, layout, 1);
  m->form.out_layout = choose_box (&m->pieces[0].box, y, maps, layout);
  add_input (m, step->in[0], layout, y, maps, 0);
  m->in[0].pitched = TRUE;
  lpt_program_set_form (step, &m->form);

  return TRUE;
}

/* All inputs with the output's quantization. */
gboolean
lpt_prepare_concat (LptProgram   *program,
                    LptProgramOp *step)
{
  const LptShape *y = &step->out[0]->array.shape;
  gsize strides[LPT_MAX_RANK], own[LPT_MAX_RANK], at = 0, last8 = 0, all = 0;
  LptValueLayout layout;
  Move *m;
  gint axis, k;
  guint input;

  if (step->n_in == 0 || !lpt_axis_normalize (LPT_ATTRS (step->node, LptAxisAttrs)->axis, y->rank, &axis))
    return FALSE;
  for (input = 0; input < step->n_in; input++)
    {
      gsize count;

      if (!is_same_codes (step->in[input], step->out[0]))
        return FALSE;
      count = lpt_program_count (step->in[input]);
      all += count;
      last8 += lpt_codes_layout (step->in[input]) == LPT_LAYOUT_CODES_LAST ? count : 0;
    }
  layout = 2 * last8 >= all && y->rank >= 3 ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;

  m = move_new (program, "concat_u8", step, 0, layout, step->n_in);
  m->by_channels = axis == 1 && lpt_program_layout (step->out[0], layout) == LPT_LAYOUT_CODES_LAST;
  lpt_copy_strides (y, layout, strides);
  for (input = 0; input < step->n_in; input++)
    {
      const LptShape *x = &step->in[input]->array.shape;
      gssize *maps[LPT_MAX_RANK] = { NULL };

      lpt_copy_strides (x, layout, own);
      for (k = 0; k < x->rank; k++)
        even_map (&maps[k], (gsize) x->dims[k], own[k]);
      lpt_copy_box_init (&m->pieces[input].box, x, maps, layout, strides, at);
      add_input (m, step->in[input], layout, x, maps, 0);
      m->in[input].pitched = TRUE;
      at += (gsize) x->dims[axis] * strides[axis];
    }

  lpt_program_set_form (step, &m->form);

  return TRUE;
}
