/* move.c - movements: whatever copies elements of one input, and Interpolate nearest
 *
 * What a movement does is asked of the op itself: it runs once on numbered elements when the plan is made. Steps that
 * follow each other (Reshape, Transpose, Reshape) are one movement. The input is numbered in the layout in which it was
 * written and the output's layout is the one that takes fewer copies: where that is none, the output is a view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-resize-taps.h"
#include "executor/operators/copy-form.h"

/* Numbered when the plan is made, by eight bytes each. */
#define MAX_ELEMENTS (1 << 23)

/* --- maps --- */

/* The other order in which such values may lie, or the same. */
static LptValueLayout
other_layout (const LptArray *array,
              LptValueLayout  layout)
{
  const gboolean words = array->dtype == LPT_DTYPE_F32 || array->dtype == LPT_DTYPE_I32;

  if (array->shape.rank < 3)
    return layout;
  switch (layout)
    {
    case LPT_LAYOUT_CODES:      return LPT_LAYOUT_CODES_LAST;
    case LPT_LAYOUT_CODES_LAST: return LPT_LAYOUT_CODES;
    case LPT_LAYOUT_WORDS_LAST: return LPT_LAYOUT_TYPED;
    default:                    return words ? LPT_LAYOUT_WORDS_LAST : layout;
    }
}

/* The cheaper of both layouts of the output. */
static LptValueLayout
choose_box (LptCopyBox     *box,
            const LptArray *out,
            gssize *const  *maps,
            LptValueLayout  in_layout)
{
  const LptValueLayout layout = other_layout (out, in_layout);
  gsize strides[LPT_MAX_RANK];
  LptCopyBox other;

  lpt_copy_strides (&out->shape, in_layout, strides);
  lpt_copy_box_init (box, &out->shape, maps, in_layout, strides, 0);
  if (layout == in_layout)
    return in_layout;
  lpt_copy_strides (&out->shape, layout, strides);
  lpt_copy_box_init (&other, &out->shape, maps, layout, strides, 0);
  if (lpt_copy_box_cost (&other) >= lpt_copy_box_cost (box))
    {
      lpt_copy_box_clear (&other);
      return in_layout;
    }
  lpt_copy_box_clear (box);
  *box = other;

  return layout;
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

/* The op of output @output of @op from the numbers that it holds; NULL: not separable. */
static LptCopyForm *
move_of (LptProgram      *program,
         LptProgramOp    *op,
         LptProgramValue *in,
         LptValueLayout   in_layout,
         guint            output,
         const gint64    *numbers)
{
  const LptArray *out = &op->out[output]->array;
  const LptShape *shape = &out->shape;
  const gboolean codes = in_layout == LPT_LAYOUT_CODES || in_layout == LPT_LAYOUT_CODES_LAST;
  gssize *maps[LPT_MAX_RANK] = { NULL }, start;
  guint8 fill[8] = { 0 };
  gboolean fills, part, view;
  LptCopyForm *m = NULL;
  gsize at = 0;

  if (lpt_copy_find_maps (shape, (gint64) lpt_program_count (in), numbers, maps, &start, &fills) &&
      (!fills || lpt_copy_ask_fill (op, numbers, fill)))
    {
      m = lpt_copy_form_new (program, codes ? "move_u8" : "move", op, output, in_layout, 1);
      m->form.out_layout = choose_box (&m->pieces[0].box, out, maps, in_layout);
      part = !lpt_copy_box_is_view (&m->pieces[0].box, &at) && is_part (in, in_layout, shape, maps);
      if (codes)
        fill[0] ^= (guint8) lpt_program_offset (out->dtype);
      memcpy (m->element.fill, fill, sizeof fill);
      lpt_copy_form_add_input (m, in, in_layout, shape, maps, start);
      view = lpt_copy_box_is_view (&m->pieces[0].box, &at);
      if (part || view)
        {
          m->form.run = NULL;
          m->form.start = at * m->element.element;
          m->form.out_pitched = FALSE;
        }
      if (part)
        {
          m->form.start = (gsize) start;
          m->form.out_layout = LPT_LAYOUT_CODES_PITCHED;
          m->in[0].pitched = TRUE;
        }
    }
  lpt_copy_form_clear_maps (maps);

  return m;
}

/* What says where elements go is known when the plan is made. */
static gboolean
has_constant_rest (const LptProgramOp *op)
{
  guint k;

  for (k = 1; k < op->n_in; k++)
    if (op->in[k] != NULL && op->in[k]->kind != LPT_STORAGE_CONST)
      return FALSE;

  return TRUE;
}

gboolean
lpt_is_movement (const LptProgramOp *op,
                 gboolean            codes)
{
  guint k;

  if (op->integer != NULL || op->folded || (op->row->flags & LPT_EXEC_MOVES) == 0 || op->n_in == 0 || op->n_out == 0 ||
      op->in[0] == NULL || op->in[0]->kind == LPT_STORAGE_CONST || (op->node->info->flags & LPT_OP_F_STATE) != 0 ||
      op->node->op == LPT_OP_SCATTER_UPDATE)
    return FALSE;
  for (k = 0; k < op->n_out; k++)
    if (!(codes ? lpt_copy_form_keeps_codes (op->in[0], op->out[k]) : lpt_copy_form_is_typed (op->in[0], op->out[k])) ||
        MAX (lpt_program_count (op->in[0]), lpt_program_count (op->out[k])) > MAX_ELEMENTS)
      return FALSE;

  return has_constant_rest (op);
}

/* Ops that follow each other and may be one movement. */
typedef struct
{
  LptProgramOp  *ops[8];
  guint          n;
  gboolean       codes;      /* of codes, which keep their quantization */
  gboolean       moves;      /* not all of them give another name alone */
  LptValueLayout layout;     /* in which the input is read */
} Steps;

static gboolean
match (LptProgramOp *op,
       Steps        *s)
{
  LptProgramOp *at = op;

  *s = (Steps) { .codes = lpt_is_movement (op, TRUE) };
  if (!s->codes && !lpt_is_movement (op, FALSE))
    return lpt_refuse (op, has_constant_rest (op) ? LPT_REMARK_TYPES : LPT_REMARK_COMPUTED);
  s->layout = lpt_copy_form_layout (op->in[0], s->codes);
  do
    {
      s->moves |= (at->row->flags & LPT_EXEC_ALIAS) == 0;
      s->ops[s->n++] = at;
      at = at->n_out == 1 ? lpt_program_reader (at->out[0]) : NULL;
    }
  while (s->n < G_N_ELEMENTS (s->ops) && at != NULL && lpt_program_is_free (at) && at->n_out == 1 &&
         lpt_is_movement (at, s->codes));

  /* Names alone need no form where the codes are in order. */
  return s->moves || op->n_out > 1 || s->layout == LPT_LAYOUT_CODES_LAST || s->layout == LPT_LAYOUT_WORDS_LAST;
}

/* An op for each output that somebody reads, the first of them @op itself. */
static gboolean
prepare_split (LptProgram    *program,
               LptProgramOp  *step,
               LptValueLayout layout)
{
  g_autofree gint64 *numbers = lpt_copy_number (step->in[0], layout);
  g_autofree gint64 **results = g_new0 (gint64 *, step->n_out);
  g_autofree LptCopyForm **moves = g_new0 (LptCopyForm *, step->n_out);
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
      lpt_copy_form_free (moves[k]);

  return (ok && !first) || lpt_refuse (step, LPT_REMARK_PATTERN);
}

/* The movement of as many of @s as are one; NULL: not even the first. */
static LptCopyForm *
join_steps (LptProgram  *program,
            const Steps *s)
{
  LptProgramValue *in = s->ops[0]->in[0];
  gint64 *numbers = lpt_copy_number (in, s->layout);
  LptCopyForm *best = NULL;
  gboolean filled = FALSE;
  guint k;

  for (k = 0; k < s->n && !filled; k++)
    {
      gint64 *results = NULL;
      gboolean ok = lpt_copy_ask (s->ops[k], numbers, &results);
      LptCopyForm *m;

      g_free (numbers);
      numbers = results;
      if (!ok)
        break;
      /* A constant is known by its op: what follows is another movement. */
      filled = lpt_copy_has_fill (numbers, lpt_program_count (s->ops[k]->out[0]));
      m = move_of (program, s->ops[k], in, s->layout, 0, numbers);
      if (m == NULL)
        continue;
      lpt_copy_form_free (best);
      best = m;
    }
  g_free (numbers);

  return best;
}

gboolean
lpt_prepare_move (LptProgram   *program,
                  LptProgramOp *op)
{
  LptCopyForm *best;
  Steps s;
  guint k;

  if (!match (op, &s))
    return FALSE;
  if (op->n_out > 1)
    return prepare_split (program, op, s.layout);
  best = join_steps (program, &s);
  /* Names alone: the conversion and the name do as well. */
  if (best != NULL && !s.moves && best->form.run != NULL)
    g_clear_pointer (&best, lpt_copy_form_free);
  if (best == NULL)
    return s.moves && lpt_refuse (op, LPT_REMARK_PATTERN);
  for (k = 1; k < s.n && s.ops[k]->index <= best->form.last->index; k++)
    lpt_program_fuse (s.ops[k], op, NULL);
  lpt_program_set_form (op, &best->form);

  return TRUE;
}

/* --- Interpolate --- */

gboolean
lpt_is_repeating (const LptProgramOp *op)
{
  return op->integer != NULL && op->node->op == LPT_OP_INTERPOLATE && lpt_int_resize_is_nearest (op->integer) &&
         op->in[0]->kind != LPT_STORAGE_CONST && lpt_copy_form_is_codes (op->in[0], op->out[0]);
}

/* Elements of input 0 by @maps (taken over). */
static LptCopyForm *
repetition_of (LptProgram    *program,
               LptProgramOp  *op,
               const char    *kernel,
               LptValueLayout layout,
               gssize       **maps)
{
  LptCopyForm *m = lpt_copy_form_new (program, kernel, op, 0, layout, 1);

  m->form.out_layout = choose_box (&m->pieces[0].box, &op->out[0]->array, maps, layout);
  lpt_copy_form_add_input (m, op->in[0], layout, &op->out[0]->array.shape, maps, 0);

  return m;
}

gboolean
lpt_prepare_resize (LptProgram   *program,
                    LptProgramOp *op)
{
  const LptShape *x, *y;
  gssize *maps[LPT_MAX_RANK] = { NULL };
  gsize strides[LPT_MAX_RANK];
  LptValueLayout layout;
  gint64 k;
  gint axis;
  LptCopyForm *m;

  if (!lpt_is_repeating (op))
    return FALSE;
  x = &op->in[0]->array.shape;
  y = &op->out[0]->array.shape;
  layout = lpt_codes_layout (op->in[0]);
  lpt_copy_strides (x, layout, strides);
  for (axis = 0; axis < y->rank; axis++)
    {
      maps[axis] = g_new (gssize, y->dims[axis]);
      for (k = 0; k < y->dims[axis]; k++)
        maps[axis][k] = (gssize) (lpt_int_resize_source (op->integer, axis, k, x->dims[axis], y->dims[axis]) *
                                  (gint64) strides[axis]);
    }
  m = repetition_of (program, op, "resize_u8", layout, maps);
  m->in[0].pitched = TRUE;
  lpt_program_set_form (op, &m->form);

  return TRUE;
}

/* The one element that each position of an axis reads, as an offset; FALSE: there are several, or none. */
static gboolean
map_of_taps (const LptResizeTaps *taps,
             gsize                n,
             gsize                stride,
             gssize             **map)
{
  gsize k;

  if (taps->n == 0)
    {
      lpt_copy_form_even_map (map, n, stride);
      return TRUE;
    }
  *map = g_new (gssize, n);
  for (k = 0; k < n && taps->n == 1 && taps->index[k] >= 0 && taps->weight[k] == 1; k++)
    (*map)[k] = (gssize) (taps->index[k] * (gint64) stride);

  return k == n;
}

gboolean
lpt_prepare_nearest (LptProgram   *program,
                     LptProgramOp *op)
{
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = NULL;
  LptResizeTaps taps[LPT_MAX_RANK] = { { 0 } };
  gssize *maps[LPT_MAX_RANK] = { NULL };
  gsize strides[LPT_MAX_RANK];
  LptValueLayout layout;
  const LptShape *x, *y;
  gboolean ok = TRUE;
  LptArray out;
  LptCall call;
  gint axis;

  if (op->n_out != 1 || !has_constant_rest (op) || !lpt_program_is_real (op->in[0]) ||
      op->in[0]->kind == LPT_STORAGE_CONST || !lpt_copy_form_is_typed (op->in[0], op->out[0]))
    return FALSE;
  in = lpt_copy_inputs (op);
  out = op->out[0]->array;
  call = (LptCall) { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  if (!lpt_interpolate_taps (&call, taps, NULL))
    return FALSE;
  x = &op->in[0]->array.shape;
  y = &op->out[0]->array.shape;
  layout = lpt_copy_form_layout (op->in[0], FALSE);
  lpt_copy_strides (x, layout, strides);
  for (axis = 0; axis < y->rank && ok; axis++)
    ok = map_of_taps (&taps[axis], (gsize) y->dims[axis], strides[axis], &maps[axis]);
  if (ok)
    lpt_program_set_form (op, &repetition_of (program, op, "resize", layout, maps)->form);
  else
    lpt_copy_form_clear_maps (maps);

  return ok;
}
