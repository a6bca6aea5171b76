/* move.c - movements: whatever copies elements of one input, and Interpolate nearest
 *
 * What a movement does is asked of the op itself when the plan is made (ask-move.c). Steps that follow each other
 * (Reshape, Transpose, Reshape) are one movement. The input's elements have their places in the layout in which it was
 * written and the output's layout is the one that takes fewer copies: where that is none, the output is a view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "eval/lpt-resize-taps.h"
#include "executor/operators/copy-form.h"
#include "executor/operators/copy-origin.h"

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

/* The axes of a box of all elements of an output of @shape in @layout, which come from @origin, digits of axes @of. */
static void
axes_of (const LptCopyOrigin *origin,
         const guint         *of,
         const LptShape      *shape,
         LptValueLayout       layout,
         LptCopyAxes         *axes)
{
  gsize strides[LPT_MAX_RANK];
  guint k;

  lpt_copy_strides (shape, layout, strides);
  *axes = (LptCopyAxes) { .n = origin->n };
  memcpy (axes->of, of, origin->n * sizeof *of);
  memcpy (axes->from, origin->from, origin->n * sizeof *origin->from);
  for (k = origin->n; k-- > 0; )
    {
      axes->size[k] = (gsize) origin->size[k];
      axes->stride[k] = strides[of[k]];
      strides[of[k]] *= (gsize) origin->size[k];
    }
}

/* The cheaper of both layouts of the output, for the box that @axes (set) describe. */
static LptValueLayout
choose_box (LptCopyBox          *box,
            const LptArray      *out,
            const LptCopyOrigin *origin,
            const guint         *of,
            LptValueLayout       in_layout,
            LptCopyAxes         *axes)
{
  const LptValueLayout layout = other_layout (out, in_layout);
  LptCopyAxes other_axes;
  LptCopyBox other;

  axes_of (origin, of, &out->shape, in_layout, axes);
  lpt_copy_box_init (box, axes, 0);
  if (layout == in_layout)
    return in_layout;
  axes_of (origin, of, &out->shape, layout, &other_axes);
  lpt_copy_box_init (&other, &other_axes, 0);
  if (lpt_copy_box_cost (&other) >= lpt_copy_box_cost (box))
    {
      lpt_copy_box_clear (&other);
      return in_layout;
    }
  lpt_copy_box_clear (box);
  *box = other;
  *axes = other_axes;

  return layout;
}

/* Some of the channels of every pixel. */
static gboolean
is_part (const LptProgramValue *in,
         LptValueLayout         layout,
         const LptShape        *shape,
         const LptCopyOrigin   *origin)
{
  const LptShape *x = &in->array.shape;
  gsize strides[LPT_MAX_RANK];
  LptCopyOrigin by_axis;
  gboolean part = TRUE;
  gint64 i;
  gint axis;

  if (layout != LPT_LAYOUT_CODES_LAST || x->rank != shape->rank)
    return FALSE;
  for (axis = 0; axis < x->rank; axis++)
    if (axis != 1 && x->dims[axis] != shape->dims[axis])
      return FALSE;
  if (!lpt_copy_origin_by (origin, shape->dims, (guint) shape->rank, &by_axis))
    return FALSE;
  lpt_copy_strides (x, layout, strides);
  for (axis = 0; axis < x->rank; axis++)
    for (i = 0; i < shape->dims[axis] && part; i++)
      part = by_axis.from[axis][i] == (gssize) (i * (gint64) strides[axis]);
  lpt_copy_origin_clear (&by_axis);

  return part;
}

/* The op of output @output of @op, whose elements come from @origin; NULL: not separable. */
static LptCopyForm *
move_of (LptProgram          *program,
         LptProgramOp        *op,
         const LptOperand    *in,
         guint                output,
         const LptCopyOrigin *origin,
         const LptCopyFill   *fill)
{
  const LptArray *out = &op->out[output]->array;
  const LptShape *shape = &out->shape;
  const gboolean codes = in->layout == LPT_LAYOUT_CODES || in->layout == LPT_LAYOUT_CODES_LAST;
  guint of[LPT_COPY_MAX_AXES];
  LptCopyOrigin digits;
  LptCopyAxes axes;
  gboolean part, view;
  LptCopyForm *m;
  gsize at = 0;

  if ((fill->some && !fill->equal) || !lpt_copy_origin_within (origin, shape->dims, (guint) shape->rank, &digits, of))
    return NULL;
  m = lpt_copy_form_new (program, codes ? "move_u8" : "move", op, output, in->layout, 1);
  m->form.out_layout = choose_box (&m->pieces[0].box, out, &digits, of, in->layout, &axes);
  part = !lpt_copy_box_is_view (&m->pieces[0].box, &at) && is_part (in->value, in->layout, shape, origin);
  memcpy (m->element.fill, fill->value, sizeof fill->value);
  if (codes)
    m->element.fill[0] ^= (guint8) lpt_program_offset (out->dtype);
  lpt_copy_form_add_input (m, in->value, in->layout, &axes, digits.start);
  view = lpt_copy_box_is_view (&m->pieces[0].box, &at);
  if (part || view)
    {
      m->form.run = NULL;
      m->form.start = at * m->element.element;
      m->form.out_pitched = FALSE;
    }
  if (part)
    {
      m->form.start = (gsize) digits.start;
      m->form.out_layout = LPT_LAYOUT_CODES_PITCHED;
      m->in[0].pitched = TRUE;
    }

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
    if (!(codes ? lpt_copy_form_keeps_codes (op->in[0], op->out[k]) : lpt_copy_form_is_typed (op->in[0], op->out[k])))
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
  const LptOperand in = { step->in[0], layout };
  g_autofree LptCopyOrigin *origins = g_new0 (LptCopyOrigin, step->n_out);
  g_autofree LptCopyForm **moves = g_new0 (LptCopyForm *, step->n_out);
  LptCopyOrigin own;
  LptCopyFill fill;
  gboolean ok, first = TRUE;
  guint k;

  lpt_copy_origin_init (&own, in.value, layout);
  ok = lpt_copy_origin_ask (&own, step, FALSE, origins, &fill);
  lpt_copy_origin_clear (&own);
  for (k = 0; k < step->n_out; k++)
    {
      if (ok && lpt_program_n_uses (step->out[k]) > 0)
        {
          moves[k] = move_of (program, step, &in, k, &origins[k], &fill);
          ok = moves[k] != NULL;
        }
      lpt_copy_origin_clear (&origins[k]);
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
  const LptOperand in = { s->ops[0]->in[0], s->layout };
  LptCopyOrigin at[G_N_ELEMENTS (s->ops) + 1];
  LptCopyFill fill = { 0 };
  LptCopyForm *best = NULL;
  guint n = 0, k;

  lpt_copy_origin_init (&at[0], in.value, in.layout);
  /* A constant is known by its op: what follows is another movement. */
  while (n < s->n && !fill.some && lpt_copy_origin_ask (&at[n], s->ops[n], FALSE, &at[n + 1], &fill))
    n++;
  for (k = n; k > 0 && best == NULL; k--)
    best = move_of (program, s->ops[k - 1], &in, 0, &at[k], k == n ? &fill : &(LptCopyFill) { 0 });
  for (k = 0; k <= n; k++)
    lpt_copy_origin_clear (&at[k]);

  return best;
}

/* @best, or the same movement of data that was turned before, where that is cheaper: of channels last, whose rows would
 * be copied element by element. */
static LptCopyForm *
turned_first (LptProgram  *program,
              const Steps *s,
              LptCopyForm *best)
{
  const gsize n = (gsize) lpt_program_count (s->ops[0]->in[0]);
  Steps turned = *s;
  LptCopyForm *other;

  if (best == NULL || s->layout != LPT_LAYOUT_WORDS_LAST || best->form.run == NULL ||
      lpt_copy_box_cost (&best->pieces[0].box) <= n)
    return best;
  turned.layout = LPT_LAYOUT_TYPED;
  other = join_steps (program, &turned);
  if (other == NULL || other->form.last != best->form.last ||
      lpt_copy_box_cost (&other->pieces[0].box) + n >= lpt_copy_box_cost (&best->pieces[0].box))
    {
      lpt_copy_form_free (other);
      return best;
    }
  lpt_copy_form_free (best);

  return other;
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
  best = turned_first (program, &s, join_steps (program, &s));
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

/* Elements of input 0 by @origin (taken over), one digit for each axis. */
static LptCopyForm *
repetition_of (LptProgram          *program,
               LptProgramOp        *op,
               const char          *kernel,
               LptValueLayout       layout,
               const LptCopyOrigin *origin)
{
  LptCopyForm *m = lpt_copy_form_new (program, kernel, op, 0, layout, 1);
  guint of[LPT_COPY_MAX_AXES], k;
  LptCopyAxes axes;

  for (k = 0; k < origin->n; k++)
    of[k] = k;
  m->form.out_layout = choose_box (&m->pieces[0].box, &op->out[0]->array, origin, of, layout, &axes);
  lpt_copy_form_add_input (m, op->in[0], layout, &axes, origin->start);

  return m;
}

gboolean
lpt_prepare_resize (LptProgram   *program,
                    LptProgramOp *op)
{
  const LptShape *x, *y;
  LptCopyOrigin origin = { 0 };
  gsize strides[LPT_MAX_RANK];
  LptValueLayout layout;
  gboolean codes;
  LptCopyForm *m;
  gint64 k;
  gint axis;

  /* Codes of 16 bits lie as they are. */
  codes = lpt_is_repeating (op);
  if (!codes && !(lpt_int_resize_is_nearest (op->integer) && op->in[0]->kind != LPT_STORAGE_CONST &&
                  lpt_copy_form_is_typed (op->in[0], op->out[0]) && lpt_dtype_bits (op->in[0]->array.dtype) == 16))
    return FALSE;
  x = &op->in[0]->array.shape;
  y = &op->out[0]->array.shape;
  layout = codes ? lpt_codes_layout (op->in[0]) : LPT_LAYOUT_TYPED;
  lpt_copy_strides (x, layout, strides);
  origin.n = (guint) y->rank;
  for (axis = 0; axis < y->rank; axis++)
    {
      origin.size[axis] = y->dims[axis];
      origin.from[axis] = g_new (gssize, (gsize) y->dims[axis]);
      for (k = 0; k < y->dims[axis]; k++)
        origin.from[axis][k] = (gssize) (lpt_int_resize_source (op->integer, axis, k, x->dims[axis], y->dims[axis]) *
                                  (gint64) strides[axis]);
    }
  m = repetition_of (program, op, codes ? "resize_u8" : "resize", layout, &origin);
  m->in[0].pitched = codes;
  lpt_program_set_form (op, &m->form);

  return TRUE;
}

/* The one element that each position of an axis reads, as an offset (transfer full); NULL: there are several, or
 * none. */
static gssize *
map_of_taps (const LptResizeTaps *taps,
             gsize                n,
             gsize                stride)
{
  gssize *map = g_new (gssize, n);
  gsize k;

  for (k = 0; k < n && taps->n == 0; k++)
    map[k] = (gssize) (k * stride);
  for (k = taps->n == 0 ? n : 0; k < n && taps->n == 1 && taps->index[k] >= 0 && taps->weight[k] == 1; k++)
    map[k] = (gssize) (taps->index[k] * (gint64) stride);
  if (k < n)
    g_clear_pointer (&map, g_free);

  return map;
}

gboolean
lpt_copy_origin_nearest (const LptProgramOp *op,
                         LptValueLayout      layout,
                         LptCopyOrigin      *origin)
{
  const LptShape *y = &op->out[0]->array.shape;
  g_autoptr (LptScratch) scratch = lpt_scratch_new ();
  g_autofree LptArray *in = lpt_copy_inputs (op);
  LptResizeTaps taps[LPT_MAX_RANK] = { { 0 } };
  gsize strides[LPT_MAX_RANK];
  LptCopyOrigin found = { 0 };
  gboolean ok = TRUE;
  LptArray out = op->out[0]->array;
  LptCall call = { .node = op->node, .in = in, .n_in = op->n_in, .out = &out, .n_out = 1, .scratch = scratch };
  gint axis;

  if (!lpt_interpolate_taps (&call, taps, NULL))
    return FALSE;
  lpt_copy_strides (&op->in[0]->array.shape, layout, strides);
  for (axis = 0; axis < y->rank && ok; axis++)
    {
      gssize *map = map_of_taps (&taps[axis], (gsize) y->dims[axis], strides[axis]);

      ok = map != NULL;
      if (ok)
        lpt_copy_origin_add (&found, y->dims[axis], map);
    }
  ok = ok && lpt_copy_origin_by (&found, y->dims, (guint) y->rank, origin);
  lpt_copy_origin_clear (&found);

  return ok;
}

gboolean
lpt_prepare_nearest (LptProgram   *program,
                     LptProgramOp *op)
{
  LptValueLayout layout;
  LptCopyOrigin origin;

  if (op->n_out != 1 || !has_constant_rest (op) || !lpt_program_is_f32 (op->in[0]) ||
      op->in[0]->kind == LPT_STORAGE_CONST || !lpt_copy_form_is_typed (op->in[0], op->out[0]))
    return FALSE;
  layout = lpt_copy_form_layout (op->in[0], FALSE);
  if (!lpt_copy_origin_nearest (op, layout, &origin))
    return FALSE;
  lpt_program_set_form (op, &repetition_of (program, op, "resize", layout, &origin)->form);

  return TRUE;
}
