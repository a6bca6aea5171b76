/* choose-layouts.c - the ops that run, in order, and the layouts in which values are made
 *
 * A value is made in the layout that its op writes; the first reader of another one has it converted, and readers after
 * it share that. Renames become views in every layout that has the same bytes under both names. A value may lie in
 * another one: parts of a concatenation are written in place, pieces of a split read in place. Along the channels that
 * is CODES_PITCHED, for ops that can.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "executor/operators/lpt-convert.h"
#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

/* Where a value had better be written: in the place that it has in another one. */
typedef struct
{
  LptProgramValue *whole;    /* NULL: nowhere */
  LptValueLayout        layout;
  gsize            at;
} Place;

typedef struct
{
  LptProgram       *program;
  GPtrArray        *order;   /* ops that run or rename, by the places where they stand */
  LptProgramValue **made;    /* value * LPT_N_LAYOUTS + layout -> the value in that layout, or NULL */
  Place            *places;  /* likewise */
  gboolean         *divisible; /* value -> all that write it and read it in CODES_LAST do as well with CODES_PITCHED */
  LptProgramOp    **writers; /* value -> op that writes it, under another name too, or NULL */
} Sweep;

static guint
position (const LptProgramOp *op)
{
  return op->has_form ? op->form.last->index : op->index;
}

static int
by_position (const void *a,
             const void *b)
{
  const LptProgramOp *x = *(LptProgramOp *const *) a, *y = *(LptProgramOp *const *) b;

  return position (x) < position (y) ? -1 : position (x) > position (y);
}

static void
find_order (Sweep *s)
{
  guint i;

  for (i = 0; i < s->program->nodes->len; i++)
    {
      LptProgramOp *op = s->program->nodes->pdata[i];

      if (!op->folded && op->fused_into == NULL)
        g_ptr_array_add (s->order, op);
    }
  g_ptr_array_sort (s->order, by_position);
}

static LptProgramValue **
made_in (const Sweep           *s,
         const LptProgramValue *value,
         LptValueLayout         layout)
{
  return &s->made[value->index * LPT_N_LAYOUTS + layout];
}

static Place *
place_of (const Sweep           *s,
          const LptProgramValue *value,
          LptValueLayout         layout)
{
  return &s->places[value->index * LPT_N_LAYOUTS + layout];
}

static LptValueLayout
first_layout (const Sweep           *s,
              const LptProgramValue *value)
{
  LptValueLayout layout = LPT_LAYOUT_TYPED;

  while (layout < LPT_N_LAYOUTS && *made_in (s, value, layout) == NULL)
    layout++;

  return layout;
}

/* --- parts --- */

static gboolean
is_name (const LptProgramOp *op,
         LptValueLayout      layout)
{
  return !op->has_form && lpt_program_renames (op, layout);
}

static void
find_divisible (Sweep *s)
{
  guint i, k;

  for (i = 0; i < s->order->len; i++)
    {
      LptProgramOp *op = s->order->pdata[i];

      if (op->has_form)
        {
          s->divisible[op->form.out->index] = op->form.out_pitched && op->form.out_layout == LPT_LAYOUT_CODES_LAST;
          s->writers[op->form.out->index] = op;
        }
      else if (is_name (op, LPT_LAYOUT_CODES_PITCHED))
        {
          s->divisible[op->out[0]->index] = s->divisible[op->in[0]->index];
          s->writers[op->out[0]->index] = s->writers[op->in[0]->index];
        }
    }
  for (i = s->order->len; i-- > 0; )
    {
      LptProgramOp *op = s->order->pdata[i];

      for (k = 0; op->has_form && k < op->form.n_in; k++)
        if (op->form.in[k].layout == LPT_LAYOUT_CODES_LAST && !op->form.in[k].pitched)
          s->divisible[op->form.in[k].value->index] = FALSE;
      if (is_name (op, LPT_LAYOUT_CODES_PITCHED))
        s->divisible[op->in[0]->index] &= s->divisible[op->out[0]->index];
    }
}

/* The op whose output's channels @value is a piece of, or NULL. */
static const LptProgramOp *
piece_of (const Sweep           *s,
          const LptProgramValue *value)
{
  const LptProgramOp *op = s->writers[value->index];

  return op != NULL && op->form.run == NULL && op->form.out_layout == LPT_LAYOUT_CODES_PITCHED ? op : NULL;
}

/* Input @k of the concatenation @op, from @at on, is a piece of a value: with all the others of it, that stand beside
 * it in their order, the whole is a part. */
static void
place_whole (const Sweep        *s,
             const LptProgramOp *op,
             guint               k,
             gsize               at)
{
  const LptProgramOp *piece = piece_of (s, op->form.in[k].value);
  gsize start = piece->form.start, channels = 0, own;
  LptProgramValue *whole = piece->form.in[0].value;
  LptValueLayout layout;
  guint n;

  if (at < start || !s->divisible[whole->index] || place_of (s, whole, LPT_LAYOUT_CODES_LAST)->whole != NULL ||
      place_of (s, whole, LPT_LAYOUT_CODES_PITCHED)->whole != NULL)
    return;
  for (n = 0; n < op->form.n_in; n++)
    if ((piece = piece_of (s, op->form.in[n].value)) != NULL && piece->form.in[0].value == whole &&
        op->form.part (op, n, &layout, &own) && layout == LPT_LAYOUT_CODES_PITCHED &&
        own + start == at + piece->form.start)
      channels += lpt_program_channels (op->form.in[n].value);
  if (channels == lpt_program_channels (whole))
    *place_of (s, whole, LPT_LAYOUT_CODES_PITCHED) = (Place) { op->form.out, op->form.out_layout, at - start };
}

static void
place_operand (const Sweep        *s,
               const LptProgramOp *op,
               guint               k)
{
  LptProgramValue *value = op->form.in[k].value;
  Place *place = place_of (s, value, op->form.in[k].layout);
  LptValueLayout layout;
  gsize at;

  if (place->whole != NULL)
    return;
  if (op->form.run == NULL && op->form.start == 0 && lpt_program_count (value) == lpt_program_count (op->form.out))
    *place = *place_of (s, op->form.out, op->form.out_layout);
  else if (op->form.run == NULL || op->form.part == NULL || !op->form.part (op, k, &layout, &at))
    return;
  else if (layout == LPT_LAYOUT_CODES_PITCHED && piece_of (s, value) != NULL)
    place_whole (s, op, k, at);
  else if (layout != LPT_LAYOUT_CODES_PITCHED ||
           (s->divisible[value->index] && place_of (s, value, layout)->whole == NULL))
    *place_of (s, value, layout) = (Place) { op->form.out, op->form.out_layout, at };
}

/* Parts of a concatenation, and what is the same bytes as one of them, are written where they belong. */
static void
find_places (Sweep *s)
{
  LptValueLayout layout;
  guint i, k;

  for (i = s->order->len; i-- > 0; )
    {
      LptProgramOp *op = s->order->pdata[i];

      if (op->has_form && op->form.out_pitched && op->form.out_layout == LPT_LAYOUT_CODES_LAST &&
          place_of (s, op->form.out, LPT_LAYOUT_CODES_PITCHED)->whole != NULL)
        op->form.out_layout = LPT_LAYOUT_CODES_PITCHED;
      for (k = 0; op->has_form && k < op->form.n_in; k++)
        place_operand (s, op, k);
      for (layout = LPT_LAYOUT_TYPED; layout <= LPT_LAYOUT_CODES_PITCHED; layout++)
        if (is_name (op, layout) && place_of (s, op->in[0], layout)->whole == NULL)
          *place_of (s, op->in[0], layout) = *place_of (s, op->out[0], layout);
    }
}

/* --- the list --- */

/* @value in @layout, that nobody has made so yet. */
static LptProgramValue *
add_made (Sweep           *s,
          LptProgramValue *value,
          LptValueLayout   layout)
{
  LptProgramValue *made = value;

  if (first_layout (s, value) != LPT_N_LAYOUTS)
    made = lpt_program_copy_value (s->program, value, layout);
  made->layout = layout;
  made->pitch = lpt_program_channels (value);
  *made_in (s, value, layout) = made;

  return made;
}

static void
lie_in (LptProgramValue *value,
        LptProgramValue *whole,
        gsize            at)
{
  value->kind = LPT_STORAGE_VIEW;
  value->in = whole;
  value->offset = at;
  if (value->layout == LPT_LAYOUT_CODES_PITCHED)
    value->pitch = whole->pitch;
}

/* What an op is about to write. */
static LptProgramValue *
add_output (Sweep           *s,
            LptProgramValue *value,
            LptValueLayout   layout)
{
  const Place *place = place_of (s, value, layout);
  LptProgramValue *whole, *made;

  if (*made_in (s, value, layout) != NULL)
    return *made_in (s, value, layout);      /* parts of it have been written */
  if (place->whole == NULL)
    return add_made (s, value, layout);
  whole = add_output (s, place->whole, place->layout);
  made = add_made (s, value, layout);
  lie_in (made, whole, place->at);

  return made;
}

static void
add_op (Sweep        *s,
        LptProgramOp *op)
{
  LptOpForm *form = &op->form;
  LptValueLayout layout;
  gsize offset, at;
  guint k;

  g_ptr_array_add (s->program->ops, op);
  if (!op->has_form)
    return;
  if (form->run != NULL)
    form->out = add_output (s, form->out, form->out_layout);
  else
    {
      form->out = add_made (s, form->out, form->out_layout);
      lie_in (form->out, form->in[0].value, form->start);
    }
  form->out->def = op;
  for (k = 0; k < form->n_more; k++)
    {
      form->more[k] = add_output (s, form->more[k], LPT_LAYOUT_TYPED);
      form->more[k]->def = op;
    }
  if (form->bind != NULL)
    form->bind (op);
  for (k = 0; form->part != NULL && k < form->n_in; k++)
    if (form->part (op, k, &layout, &at))
      {
        LptProgramValue *value = form->in[k].value;

        for (offset = 0; value != form->out && value->kind == LPT_STORAGE_VIEW; value = value->in)
          offset += value->offset;
        if (value == form->out && offset == at)
          form->drop_part (op, k);
      }
  s->program->workspace = MAX (s->program->workspace, form->workspace);
}

/* @value in @layout, for @reader. */
static LptProgramValue *
provide (Sweep           *s,
         LptProgramValue *value,
         LptValueLayout   layout,
         LptProgramOp    *reader)
{
  LptValueLayout from = first_layout (s, value);
  LptProgramOp *convert;

  if (*made_in (s, value, layout) != NULL)
    return *made_in (s, value, layout);
  if (from == LPT_N_LAYOUTS)
    {
      /* Inputs and constants. */
      from = LPT_LAYOUT_TYPED;
      value->pitch = lpt_program_channels (value);
      *made_in (s, value, from) = value;
      if (layout == from)
        return value;
    }
  convert = lpt_program_add_op (s->program, reader->node, reader->index);
  convert->converts = TRUE;
  lpt_convert_prepare (s->program, convert, *made_in (s, value, from), value, from, layout);
  add_op (s, convert);

  return *made_in (s, value, layout);
}

static void
add_form (Sweep        *s,
          LptProgramOp *op)
{
  LptOpForm *form = &op->form;
  guint k;

  for (k = 0; k < form->n_in; k++)
    {
      LptOperand *in = &form->in[k];
      gboolean last = *made_in (s, in->value, LPT_LAYOUT_CODES_LAST) != NULL;
      gboolean pitched = *made_in (s, in->value, LPT_LAYOUT_CODES_PITCHED) != NULL;

      if (in->planes && !last && !pitched)
        in->layout = lpt_program_layout (in->value, LPT_LAYOUT_CODES);
      if (in->layout == LPT_LAYOUT_CODES_LAST && in->pitched && !last && pitched)
        in->layout = LPT_LAYOUT_CODES_PITCHED;
      in->value = provide (s, in->value, in->layout, op);
    }
  add_op (s, op);
}

/* The output is a view of the input in all layouts that this has; FALSE: there is none. */
static gboolean
add_name (Sweep        *s,
          LptProgramOp *op)
{
  gboolean any = FALSE;
  LptValueLayout layout;

  for (layout = LPT_LAYOUT_TYPED; layout < LPT_N_LAYOUTS; layout++)
    {
      LptProgramValue *in = is_name (op, layout) ? *made_in (s, op->in[0], layout) : NULL;

      if (in != NULL)
        {
          lie_in (add_made (s, op->out[0], layout), in, 0);
          any = TRUE;
        }
    }
  if (any)
    {
      op->folded = TRUE;
      g_ptr_array_add (s->program->ops, op);
    }

  return any;
}

/* A function of the reference takes and gives TYPED. */
static void
add_reference (Sweep        *s,
               LptProgramOp *op)
{
  guint k;

  if (add_name (s, op))
    return;
  if (is_name (op, LPT_LAYOUT_TYPED))
    {
      provide (s, op->in[0], LPT_LAYOUT_TYPED, op);
      add_name (s, op);
      return;
    }
  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL)
      op->in[k] = provide (s, op->in[k], LPT_LAYOUT_TYPED, op);
  for (k = 0; k < op->n_out; k++)
    add_made (s, op->out[k], LPT_LAYOUT_TYPED);
  add_op (s, op);
}

gboolean
lpt_program_choose_layouts (LptProgram *program,
                            GError    **error)
{
  guint n = program->values->len, i;
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  g_autofree LptProgramValue **made = g_new0 (LptProgramValue *, n * LPT_N_LAYOUTS + 1);
  g_autofree Place *places = g_new0 (Place, n * LPT_N_LAYOUTS + 1);
  g_autofree gboolean *divisible = g_new0 (gboolean, n + 1);
  g_autofree LptProgramOp **writers = g_new0 (LptProgramOp *, n + 1);
  Sweep s = { program, order, made, places, divisible, writers };

  find_order (&s);
  find_divisible (&s);
  find_places (&s);
  for (i = 0; i < order->len; i++)
    if (((LptProgramOp *) order->pdata[i])->has_form)
      add_form (&s, order->pdata[i]);
    else
      add_reference (&s, order->pdata[i]);
  for (i = 0; i < program->n_outputs; i++)
    if (program->outputs[i]->kind == LPT_STORAGE_DYNAMIC || program->outputs[i]->kind == LPT_STORAGE_VIEW)
      program->outputs[i] = provide (&s, program->outputs[i], LPT_LAYOUT_TYPED, order->pdata[order->len - 1]);
  for (i = 0; i < n; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_DYNAMIC && first_layout (&s, value) == LPT_N_LAYOUTS)
        value->kind = LPT_STORAGE_NONE;
    }

  return TRUE;
}
