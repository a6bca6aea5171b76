/* choose-layouts.c - the ops that run, in order, and the layouts in which values are made
 *
 * A value is made in the layout that its op writes; the first reader of another one has it converted, and readers after
 * it share that. Renames become views in every layout that has the same bytes under both names, and so do pieces of a
 * split. What place-parts has found a place for is written there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-convert.h"
#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

typedef struct
{
  LptProgram       *program;
  LptProgramValue **made;    /* value * LPT_N_LAYOUTS + layout -> the value in that layout, or NULL */
} Sweep;

static LptProgramValue **
made_in (const Sweep           *s,
         const LptProgramValue *value,
         LptValueLayout         layout)
{
  return &s->made[value->index * LPT_N_LAYOUTS + layout];
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
  const LptValuePlace *place = &value->places[layout];
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
      form->more[k] = add_output (s, form->more[k], lpt_program_layout (form->more[k], form->more_layout));
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

/* @value in @layout, which it has already or a convert in front of @reader makes. */
static LptProgramValue *
convert_to (Sweep           *s,
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
      in->value = convert_to (s, in->value, in->layout, op);
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
      LptProgramValue *in = lpt_program_renames (op, layout) ? *made_in (s, op->in[0], layout) : NULL;

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
  if (lpt_program_renames (op, LPT_LAYOUT_TYPED))
    {
      convert_to (s, op->in[0], LPT_LAYOUT_TYPED, op);
      add_name (s, op);
      return;
    }
  for (k = 0; k < op->n_in; k++)
    if (op->in[k] != NULL)
      op->in[k] = convert_to (s, op->in[k], LPT_LAYOUT_TYPED, op);
  for (k = 0; k < op->n_out; k++)
    add_made (s, op->out[k], LPT_LAYOUT_TYPED);
  add_op (s, op);
}

gboolean
lpt_program_choose_layouts (LptProgram *program,
                            GError    **error)
{
  guint n = program->values->len, i;
  g_autoptr (GPtrArray) order = lpt_program_order (program);
  g_autofree LptProgramValue **made = g_new0 (LptProgramValue *, n * LPT_N_LAYOUTS + 1);
  Sweep s = { program, made };

  for (i = 0; i < order->len; i++)
    if (((LptProgramOp *) order->pdata[i])->has_form)
      add_form (&s, order->pdata[i]);
    else
      add_reference (&s, order->pdata[i]);
  for (i = 0; i < program->n_outputs; i++)
    if (program->outputs[i]->kind == LPT_STORAGE_DYNAMIC || program->outputs[i]->kind == LPT_STORAGE_VIEW)
      program->outputs[i] = convert_to (&s, program->outputs[i], LPT_LAYOUT_TYPED, order->pdata[order->len - 1]);
  for (i = 0; i < n; i++)
    {
      LptProgramValue *value = program->values->pdata[i];

      if (value->kind == LPT_STORAGE_DYNAMIC && first_layout (&s, value) == LPT_N_LAYOUTS)
        value->kind = LPT_STORAGE_NONE;
    }

  return TRUE;
}
