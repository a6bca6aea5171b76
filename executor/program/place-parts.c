/* place-parts.c - parts of a concatenation are written where they belong
 *
 * A value may lie in another one: a part of a concatenation in the whole, and what is the same bytes as one under
 * another name, or a piece of a value that is such a part. From the last op to the first, so that a whole knows its own
 * place before its parts ask for theirs. Along the channels a part is CODES_PITCHED, for ops that can write it so and
 * whose readers can read it so; all others are copied by the concatenation, as all are without this pass.
 *
 * It says where values had better be written (LptProgramValue.places); choose-layouts makes them there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-program-edit.h"
#include "executor/program/lpt-program-passes.h"

typedef struct
{
  GPtrArray     *order;        /* lpt_program_order() */
  gboolean      *divisible;    /* value -> all that write it and read it in CODES_LAST do as well with CODES_PITCHED */
  LptProgramOp **writers;      /* value -> op that writes it, under another name too, or NULL */
} Parts;

static void
find_divisible (Parts *s)
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
      else if (lpt_program_renames (op, LPT_LAYOUT_CODES_PITCHED))
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
      if (lpt_program_renames (op, LPT_LAYOUT_CODES_PITCHED))
        s->divisible[op->in[0]->index] &= s->divisible[op->out[0]->index];
    }
}

/* The op whose output's channels @value is a piece of, or NULL. */
static const LptProgramOp *
piece_of (const Parts           *s,
          const LptProgramValue *value)
{
  const LptProgramOp *op = s->writers[value->index];

  return op != NULL && op->form.run == NULL && op->form.out_layout == LPT_LAYOUT_CODES_PITCHED ? op : NULL;
}

/* Input @k of the concatenation @op, from @at on, is a piece of a value: with all the others of it, that stand beside
 * it in their order, the whole is a part. */
static void
place_whole (const Parts        *s,
             const LptProgramOp *op,
             guint               k,
             gsize               at)
{
  const LptProgramOp *piece = piece_of (s, op->form.in[k].value);
  gsize start = piece->form.start, channels = 0, own;
  LptProgramValue *whole = piece->form.in[0].value;
  LptValueLayout layout;
  guint n;

  if (at < start || !s->divisible[whole->index] || whole->places[LPT_LAYOUT_CODES_LAST].whole != NULL ||
      whole->places[LPT_LAYOUT_CODES_PITCHED].whole != NULL)
    return;
  for (n = 0; n < op->form.n_in; n++)
    if ((piece = piece_of (s, op->form.in[n].value)) != NULL && piece->form.in[0].value == whole &&
        op->form.part (op, n, &layout, &own) && layout == LPT_LAYOUT_CODES_PITCHED &&
        own + start == at + piece->form.start)
      channels += lpt_program_channels (op->form.in[n].value);
  if (channels == lpt_program_channels (whole))
    whole->places[LPT_LAYOUT_CODES_PITCHED] = (LptValuePlace) { op->form.out, op->form.out_layout, at - start };
}

static void
place_operand (const Parts        *s,
               const LptProgramOp *op,
               guint               k)
{
  LptProgramValue *value = op->form.in[k].value;
  LptValuePlace *place = &value->places[op->form.in[k].layout];
  LptValueLayout layout;
  gsize at;

  if (place->whole != NULL)
    return;
  if (op->form.run == NULL && op->form.start == 0 && lpt_program_count (value) == lpt_program_count (op->form.out))
    *place = op->form.out->places[op->form.out_layout];
  else if (op->form.run == NULL || op->form.part == NULL || !op->form.part (op, k, &layout, &at))
    return;
  else if (layout == LPT_LAYOUT_CODES_PITCHED && piece_of (s, value) != NULL)
    place_whole (s, op, k, at);
  else if (layout != LPT_LAYOUT_CODES_PITCHED ||
           (s->divisible[value->index] && value->places[layout].whole == NULL))
    value->places[layout] = (LptValuePlace) { op->form.out, op->form.out_layout, at };
}

static void
find_places (Parts *s)
{
  LptValueLayout layout;
  guint i, k;

  for (i = s->order->len; i-- > 0; )
    {
      LptProgramOp *op = s->order->pdata[i];

      if (op->has_form && op->form.out_pitched && op->form.out_layout == LPT_LAYOUT_CODES_LAST &&
          op->form.out->places[LPT_LAYOUT_CODES_PITCHED].whole != NULL)
        op->form.out_layout = LPT_LAYOUT_CODES_PITCHED;
      for (k = 0; op->has_form && k < op->form.n_in; k++)
        place_operand (s, op, k);
      for (layout = LPT_LAYOUT_TYPED; layout <= LPT_LAYOUT_CODES_PITCHED; layout++)
        if (lpt_program_renames (op, layout) && op->in[0]->places[layout].whole == NULL)
          op->in[0]->places[layout] = op->out[0]->places[layout];
    }
}

gboolean
lpt_program_place_parts (LptProgram *program,
                         GError    **error)
{
  guint n = program->values->len;
  g_autoptr (GPtrArray) order = lpt_program_order (program);
  g_autofree gboolean *divisible = g_new0 (gboolean, n + 1);
  g_autofree LptProgramOp **writers = g_new0 (LptProgramOp *, n + 1);
  Parts s = { order, divisible, writers };

  find_divisible (&s);
  find_places (&s);

  return TRUE;
}
