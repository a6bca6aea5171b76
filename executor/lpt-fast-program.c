/* lpt-fast-program.c - ops and steps in order, and the buffers that they share
 *
 * A value is made in the representation that its maker writes; the first reader of another one has it converted. A
 * buffer may be a part of another: parts of a concatenation are written in place, pieces of a split read in place. Along the
 * channels that is PART8, for ops that can. And an op may write over an input that is read for the last time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-fast.h"

/* Where a value had better be written: in the place that it has in another one. */
typedef struct
{
  guint   slot;              /* LPT_NO_SLOT: nowhere */
  LptRepr repr;
  gsize   at;
} Place;

typedef struct
{
  LptFastBuilder *b;
  LptFast        *fast;
  guint          *buffer;    /* slot * LPT_N_REPRS + repr -> buffer */
  Place          *places;    /* likewise */
  LptFastOp     **ops;       /* step -> fast op that ends there */
  gboolean       *parts;     /* slot -> all that write it and read it in LAST8 do as well with PART8 */
  LptFastOp     **makers;    /* slot -> op that writes it, under another name too, or NULL */
} Program;

static guint *
buffer_of (Program *p,
           guint    slot,
           LptRepr  repr)
{
  return &p->buffer[slot * LPT_N_REPRS + repr];
}

static LptFastBuffer *
buffer_at (const Program *p,
           guint          i)
{
  return &g_array_index (p->fast->buffers, LptFastBuffer, i);
}

static guint
add_buffer (Program *p,
            guint    slot,
            LptRepr  repr)
{
  const LptArray *array = &lpt_plan_slot (p->b->plan, slot)->array;
  LptFastBuffer buffer = { .slot = slot, .repr = repr, .outside = repr == LPT_REPR_PLAIN, .parent = LPT_NO_SLOT,
                           .first = p->fast->entries->len };

  buffer.last = buffer.first;
  if (!buffer.outside)
    buffer.size = (lpt_fast_count (p->b->plan, slot) * lpt_storage_size (array->dtype) + 63) & ~(gsize) 63;
  g_array_append_val (p->fast->buffers, buffer);
  *buffer_of (p, slot, repr) = p->fast->buffers->len - 1;

  return p->fast->buffers->len - 1;
}

/* The bytes of another buffer from @start on. */
static guint
add_view (Program *p,
          guint    slot,
          LptRepr  repr,
          guint    parent,
          gsize    start)
{
  guint i = add_buffer (p, slot, repr);

  buffer_at (p, i)->parent = parent;
  buffer_at (p, i)->offset = start;
  buffer_at (p, i)->outside = FALSE;

  return i;
}

/* The buffer that an op is about to write. */
static guint
add_output (Program *p,
            guint    slot,
            LptRepr  repr)
{
  const Place *place = &p->places[slot * LPT_N_REPRS + repr];
  guint parent;

  if (*buffer_of (p, slot, repr) != LPT_NO_SLOT)
    return *buffer_of (p, slot, repr);      /* parts of it have been written */
  if (place->slot == LPT_NO_SLOT)
    return add_buffer (p, slot, repr);
  parent = add_output (p, place->slot, place->repr);

  return add_view (p, slot, repr, parent, place->at);
}

/* Bytes from pixel to pixel of @slot with the channels last, in the buffer @i, which other values may have under their names. */
static gsize
pitch_of (const Program *p,
          guint          slot,
          guint          i)
{
  const LptShape *shape;

  for (; buffer_at (p, i)->repr == LPT_REPR_PART8; slot = buffer_at (p, i)->slot)
    i = buffer_at (p, i)->parent;
  shape = &lpt_plan_slot (p->b->plan, slot)->array.shape;

  return shape->rank > 1 && lpt_shape_is_static (shape) ? (gsize) shape->dims[1] : 1;
}

/* The buffer @i is in use at @step. */
static void
touch (Program *p,
       guint    i,
       guint    step)
{
  LptFastBuffer *buffer = buffer_at (p, i);

  while (buffer->parent != LPT_NO_SLOT)
    buffer = buffer_at (p, buffer->parent);
  buffer->last = p->fast->entries->len;
  if (buffer->outside)
    {
      LptSlot *slot = lpt_plan_slot (p->b->plan, buffer->slot);

      slot->last = MAX (slot->last, step + 1);
      if (slot->kind == LPT_SLOT_DYNAMIC)
        slot->first = MIN (slot->first, step);
    }
}

/* Is the buffer @part the bytes of @whole from @at on? */
static gboolean
lies_in (const Program *p,
         guint          part,
         guint          whole,
         gsize          at)
{
  gsize offset = 0;

  while (part != whole && buffer_at (p, part)->parent != LPT_NO_SLOT)
    {
      offset += buffer_at (p, part)->offset;
      part = buffer_at (p, part)->parent;
    }

  return part == whole && offset == at;
}

static void
add_entry (Program   *p,
           guint      step,
           LptFastOp *op)
{
  LptFastEntry entry = { .step = op != NULL && op->first != LPT_NO_SLOT ? op->first : step, .op = op };
  LptRepr repr;
  gsize at;
  guint k;

  for (k = 0; op != NULL && k < op->n_in; k++)
    {
      entry.in[k] = *buffer_of (p, op->in[k], op->in_repr[k]);
      touch (p, entry.in[k], step);
      op->in_pitch[k] = pitch_of (p, op->in[k], entry.in[k]);
    }
  if (op != NULL)
    {
      entry.out = op->run != NULL ? add_output (p, op->out, op->out_repr)
                                  : add_view (p, op->out, op->out_repr, entry.in[0], op->start);
      touch (p, entry.out, step);
      op->out_pitch = pitch_of (p, op->out, entry.out);
      if (op->fit != NULL)
        op->fit (op);
      for (k = 0; k < op->n_in; k++)
        if (lpt_fast_concat_part (op, k, &repr, &at) && lies_in (p, entry.in[k], entry.out, at))
          lpt_fast_concat_drop (op, k);
      p->fast->workspace = MAX (p->fast->workspace, op->workspace);
    }
  g_array_append_val (p->fast->entries, entry);
}

/* The context's array of @slot, from another buffer of it. */
static void
add_outside (Program *p,
             guint    slot,
             LptRepr  from,
             guint    step)
{
  LptFastEntry entry = { .step = step, .op = lpt_fast_convert_new (p->b, slot, from, LPT_REPR_PLAIN) };

  entry.in[0] = *buffer_of (p, slot, from);
  entry.op->in_pitch[0] = pitch_of (p, slot, entry.in[0]);
  touch (p, entry.in[0], step);
  entry.out = add_buffer (p, slot, LPT_REPR_PLAIN);
  touch (p, entry.out, step);
  g_array_append_val (p->fast->entries, entry);
}

/* Sees to it that @slot exists in @repr before @step reads it; @outside: as the context's array. */
static void
provide (Program *p,
         guint    slot,
         LptRepr  repr,
         gboolean outside,
         guint    step)
{
  guint own = *buffer_of (p, slot, repr);
  LptRepr from;

  if (own != LPT_NO_SLOT && (!outside || buffer_at (p, own)->outside))
    return;
  for (from = LPT_REPR_PLAIN; from < LPT_N_REPRS; from++)
    if (*buffer_of (p, slot, from) != LPT_NO_SLOT)
      break;
  if (from == LPT_N_REPRS)
    {
      /* Inputs, constants, and what steps write: the context's array. */
      add_buffer (p, slot, LPT_REPR_PLAIN);
      from = LPT_REPR_PLAIN;
      if (repr == LPT_REPR_PLAIN)
        return;
    }
  if (outside)
    add_outside (p, slot, from, step);
  else
    add_entry (p, step, lpt_fast_convert_new (p->b, slot, from, repr));
}

/* The output takes the buffers of the input that have its bytes. */
static gboolean
share_buffers (Program       *p,
               const LptStep *step)
{
  gboolean any = FALSE;
  LptRepr repr;

  for (repr = LPT_REPR_PLAIN; repr < LPT_N_REPRS; repr++)
    {
      guint in = lpt_fast_same_bytes (p->b->plan, step, repr) ? *buffer_of (p, step->in[0], repr) : LPT_NO_SLOT;

      if (in != LPT_NO_SLOT && !buffer_at (p, in)->outside)
        {
          *buffer_of (p, step->out[0], repr) = in;
          any = TRUE;
        }
    }

  return any;
}

/* @step has no op: its output is the input under another name, where the input has @repr. */
static gboolean
is_name (const Program *p,
         guint          i,
         LptRepr        repr)
{
  const LptStep *step = lpt_plan_step (p->b->plan, i);

  return p->ops[i] == NULL && !step->folded && p->b->covered[i] == LPT_NO_SLOT && lpt_fast_same_bytes (p->b->plan, step, repr);
}

/* Which values had better be parts, if anybody wants them as such. */
static void
find_parts (Program *p)
{
  const LptPlan *plan = p->b->plan;
  LptFastOp *op;
  guint i, k;

  for (i = 0; i < plan->steps->len; i++)
    {
      for (op = p->ops[i]; op != NULL; op = op->next)
        {
          p->parts[op->out] = op->makes_part && op->out_repr == LPT_REPR_LAST8;
          p->makers[op->out] = op;
        }
      if (is_name (p, i, LPT_REPR_PART8))
        {
          const LptStep *step = lpt_plan_step (plan, i);

          p->parts[step->out[0]] = p->parts[step->in[0]];
          p->makers[step->out[0]] = p->makers[step->in[0]];
        }
    }
  for (i = plan->steps->len; i-- > 0; )
    {
      for (op = p->ops[i]; op != NULL; op = op->next)
        for (k = 0; k < op->n_in; k++)
          if (op->in_repr[k] == LPT_REPR_LAST8 && (op->takes_part & 1u << k) == 0)
            p->parts[op->in[k]] = FALSE;
      if (is_name (p, i, LPT_REPR_PART8))
        p->parts[lpt_plan_step (plan, i)->in[0]] &= p->parts[lpt_plan_step (plan, i)->out[0]];
    }
}

static Place *
place_of (Program *p,
          guint    slot,
          LptRepr  repr)
{
  return &p->places[slot * LPT_N_REPRS + repr];
}

/* The op whose output's channels @slot is a piece of, or NULL. */
static const LptFastOp *
piece_of (const Program *p,
          guint          slot)
{
  const LptFastOp *op = p->makers[slot];

  return op != NULL && op->run == NULL && op->out_repr == LPT_REPR_PART8 ? op : NULL;
}

/* Input @k of the concatenation @op, from @at on, is a piece of a value: with all the others of it, that stand beside it in
 * their order, the whole is a part. */
static void
place_whole (Program         *p,
             const LptFastOp *op,
             guint            k,
             gsize            at)
{
  const LptFastOp *piece = piece_of (p, op->in[k]);
  gsize start = piece->start, channels = 0, own;
  guint whole = piece->in[0], n;
  LptRepr repr;

  if (at < start || !p->parts[whole] || place_of (p, whole, LPT_REPR_LAST8)->slot != LPT_NO_SLOT ||
      place_of (p, whole, LPT_REPR_PART8)->slot != LPT_NO_SLOT)
    return;
  for (n = 0; n < op->n_in; n++)
    if ((piece = piece_of (p, op->in[n])) != NULL && piece->in[0] == whole && lpt_fast_concat_part (op, n, &repr, &own) &&
        repr == LPT_REPR_PART8 && own + start == at + piece->start)
      channels += (gsize) lpt_plan_slot (p->b->plan, op->in[n])->array.shape.dims[1];
  if (channels == (gsize) lpt_plan_slot (p->b->plan, whole)->array.shape.dims[1])
    *place_of (p, whole, LPT_REPR_PART8) = (Place) { op->out, op->out_repr, at - start };
}

/* Parts of a concatenation, and what is the same bytes as one of them, are written where they belong. */
static void
find_places (Program *p)
{
  const LptPlan *plan = p->b->plan;
  guint i, k, n = plan->slots->len * LPT_N_REPRS;

  for (i = 0; i < n; i++)
    p->places[i].slot = LPT_NO_SLOT;
  for (i = plan->steps->len; i-- > 0; )
    {
      const LptStep *step = lpt_plan_step (plan, i);
      LptFastOp *op;
      LptRepr repr;
      gsize at;

      for (op = p->ops[i]; op != NULL; op = op->next)
        {
          if (op->makes_part && op->out_repr == LPT_REPR_LAST8 && place_of (p, op->out, LPT_REPR_PART8)->slot != LPT_NO_SLOT)
            op->out_repr = LPT_REPR_PART8;
          for (k = 0; k < op->n_in; k++)
            if (place_of (p, op->in[k], op->in_repr[k])->slot != LPT_NO_SLOT)
              continue;
            else if (op->run == NULL && op->start == 0 && lpt_fast_count (plan, op->in[k]) == lpt_fast_count (plan, op->out))
              *place_of (p, op->in[k], op->in_repr[k]) = *place_of (p, op->out, op->out_repr);
            else if (op->run == NULL || !lpt_fast_concat_part (op, k, &repr, &at))
              continue;
            else if (repr == LPT_REPR_PART8 && piece_of (p, op->in[k]) != NULL)
              place_whole (p, op, k, at);
            else if (repr != LPT_REPR_PART8 || (p->parts[op->in[k]] && place_of (p, op->in[k], repr)->slot == LPT_NO_SLOT))
              *place_of (p, op->in[k], repr) = (Place) { op->out, op->out_repr, at };
        }
      for (repr = LPT_REPR_PLAIN; repr <= LPT_REPR_PART8; repr++)
        if (is_name (p, i, repr) && place_of (p, step->in[0], repr)->slot == LPT_NO_SLOT)
          *place_of (p, step->in[0], repr) = *place_of (p, step->out[0], repr);
    }
}

static void
write_program (Program *p)
{
  LptPlan *plan = p->b->plan;
  guint i, k;

  for (i = 0; i < plan->steps->len; i++)
    {
      const LptStep *step = lpt_plan_step (plan, i);
      LptFastOp *op = p->ops[i];

      p->fast->entry_of[i] = p->fast->entries->len;
      if (step->folded)
        continue;
      if (op != NULL)
        {
          if (op->takes_planes && *buffer_of (p, op->in[0], LPT_REPR_LAST8) == LPT_NO_SLOT &&
              *buffer_of (p, op->in[0], LPT_REPR_PART8) == LPT_NO_SLOT)
            op->in_repr[0] = lpt_fast_repr (plan, op->in[0], LPT_REPR_U8);
          for (; op != NULL; op = op->next)
            {
              for (k = 0; k < op->n_in; k++)
                {
                  if (op->in_repr[k] == LPT_REPR_LAST8 && (op->takes_part & 1u << k) != 0 &&
                      *buffer_of (p, op->in[k], LPT_REPR_LAST8) == LPT_NO_SLOT &&
                      *buffer_of (p, op->in[k], LPT_REPR_PART8) != LPT_NO_SLOT)
                    op->in_repr[k] = LPT_REPR_PART8;
                  provide (p, op->in[k], op->in_repr[k], FALSE, i);
                }
              add_entry (p, i, op);
            }
          continue;
        }
      if (p->b->covered[i] != LPT_NO_SLOT || share_buffers (p, step))
        continue;
      for (k = 0; k < step->n_in; k++)
        if (step->in[k] != LPT_NO_SLOT && lpt_plan_slot (plan, step->in[k])->kind == LPT_SLOT_DYNAMIC)
          provide (p, step->in[k], LPT_REPR_PLAIN, TRUE, i);
      for (k = 0; k < step->n_out; k++)
        add_buffer (p, step->out[k], LPT_REPR_PLAIN);
      add_entry (p, i, NULL);
    }
  for (i = 0; i < plan->graph->results->len; i++)
    if (lpt_plan_slot (plan, plan->outputs[i])->kind == LPT_SLOT_DYNAMIC)
      provide (p, plan->outputs[i], LPT_REPR_PLAIN, TRUE, plan->steps->len - 1);
  p->fast->entry_of[plan->steps->len] = p->fast->entries->len;
}

/* Whose memory a buffer is. */
static guint
root_of (const Program *p,
         guint          i)
{
  while (buffer_at (p, i)->parent != LPT_NO_SLOT)
    i = buffer_at (p, i)->parent;

  return i;
}

/* What an op makes takes the place of an input that nobody reads later, where the op allows that. */
static void
write_in_place (Program *p)
{
  guint i, k, n;

  for (i = 0; i < p->fast->entries->len; i++)
    {
      const LptFastEntry *entry = &g_array_index (p->fast->entries, LptFastEntry, i);
      LptFastBuffer *out = entry->op != NULL && entry->op->in_place != 0 ? buffer_at (p, entry->out) : NULL;

      for (k = 0; out != NULL && out->parent == LPT_NO_SLOT && !out->outside && out->first == i && k < entry->op->n_in; k++)
        {
          guint root = root_of (p, entry->in[k]);
          LptFastBuffer *in = buffer_at (p, root);
          gboolean alone = (entry->op->in_place & 1u << k) != 0 && buffer_at (p, entry->in[k])->repr == out->repr &&
                           !in->outside && in->last == i && in->size == out->size && lies_in (p, entry->in[k], root, 0);

          for (n = 0; n < entry->op->n_in; n++)
            alone = alone && (n == k || root_of (p, entry->in[n]) != root);
          if (!alone)
            continue;
          out->parent = root;
          in->last = MAX (in->last, out->last);
        }
    }
}

/* Values that no step has as an array need none of the plan's memory. */
static void
drop_slots (Program *p)
{
  LptPlan *plan = p->b->plan;
  guint i;

  for (i = 0; i < plan->slots->len; i++)
    {
      LptSlot *slot = lpt_plan_slot (plan, i);
      guint plain = *buffer_of (p, i, LPT_REPR_PLAIN);

      if (slot->kind == LPT_SLOT_DYNAMIC && (plain == LPT_NO_SLOT || !buffer_at (p, plain)->outside) &&
          lpt_shape_is_static (&slot->array.shape))
        slot->kind = LPT_SLOT_NONE;
    }
}


LptFast *
lpt_fast_program_new (LptFastBuilder  *b,
                      LptFastOp      **ops)
{
  guint n = b->plan->slots->len * LPT_N_REPRS, i;
  g_autofree guint *buffer = g_new (guint, n + 1);
  g_autofree Place *places = g_new (Place, n + 1);
  g_autofree gboolean *parts = g_new0 (gboolean, b->plan->slots->len + 1);
  g_autofree LptFastOp **makers = g_new0 (LptFastOp *, b->plan->slots->len + 1);
  Program p = { b, g_new0 (LptFast, 1), buffer, places, ops, parts, makers };

  p.fast->entries = g_array_new (FALSE, TRUE, sizeof (LptFastEntry));
  p.fast->buffers = g_array_new (FALSE, TRUE, sizeof (LptFastBuffer));
  p.fast->entry_of = g_new (guint, b->plan->steps->len + 1);
  for (i = 0; i < n; i++)
    buffer[i] = LPT_NO_SLOT;
  find_parts (&p);
  find_places (&p);
  write_program (&p);
  write_in_place (&p);
  drop_slots (&p);

  return p.fast;
}

void
lpt_fast_free (LptFast *fast)
{
  guint i;

  if (fast == NULL)
    return;
  for (i = 0; i < fast->entries->len; i++)
    {
      LptFastOp *op = g_array_index (fast->entries, LptFastEntry, i).op;

      if (op == NULL)
        continue;
      if (op->clear != NULL)
        op->clear (op);
      g_free (op);
    }
  g_array_unref (fast->entries);
  g_array_unref (fast->buffers);
  if (fast->chains != NULL)
    g_array_unref (fast->chains);
  g_free (fast->entry_of);
  g_free (fast->covered);
  g_free (fast);
}
