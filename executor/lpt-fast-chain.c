/* lpt-fast-chain.c - which ops of the fast program run as a chain, and what their units wait for
 *
 * Entries with ops that follow each other are the loops of a chain (lpt-chain.h). A unit, some neighbouring tasks, waits for
 * those of the entry before that write what it reads or overwrites, or read what it overwrites: that is asked of the ops in
 * bytes of their buffers, and compared where the buffers lie, in the arena or outside. So neither parts of other buffers
 * nor memory that is used again need rules of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-fast.h"

/* Of the arena (0), or of the memory of a slot (its number + 1). */
typedef struct
{
  guint       space;
  LptFastSpan bytes;
} Place;

/* What a unit reads and writes. */
typedef struct
{
  Place in[LPT_FAST_MAX_IN], out;
} Unit;

typedef struct
{
  guint n_in, n;
  Unit  units[LPT_CHAIN_UNITS];
} Loop;

/* Where a buffer lies. */
static Place
buffer_place (const LptPlan *plan,
              guint          i)
{
  const LptFastBuffer *buffer = &g_array_index (plan->fast->buffers, LptFastBuffer, i);
  const LptSlot *slot;
  gsize at = 0;

  for (; buffer->parent != LPT_NO_SLOT; buffer = &g_array_index (plan->fast->buffers, LptFastBuffer, buffer->parent))
    at += buffer->offset;
  if (!buffer->outside)
    return (Place) { 0, { .from = buffer->offset + at, .to = buffer->offset + buffer->size } };
  slot = lpt_plan_slot (plan, buffer->slot);
  if (slot->kind == LPT_SLOT_ALIAS)
    slot = lpt_plan_slot (plan, slot->root);
  if (slot->kind == LPT_SLOT_ARENA)
    return (Place) { 0, { .from = slot->offset + at, .to = slot->offset + slot->size } };

  return (Place) { (guint) (slot - lpt_plan_slot (plan, 0)) + 1, { .from = at, .to = G_MAXSIZE } };
}

/* What tasks [@task, @end) touch of operand @k (op->n_in: the output), which is @whole. */
static Place
tasks_place (const LptFastOp *op,
             gsize            task,
             gsize            end,
             guint            k,
             Place            whole)
{
  LptFastSpan all = { .from = G_MAXSIZE };

  if (op->span == NULL)
    return whole;
  for (; task < end; task++)
    {
      LptFastSpan span = op->span (op, task, k);

      if (all.to > 0 && (span.pitch != all.pitch || span.first != all.first || span.width != all.width))
        span.pitch = all.pitch = 0;
      all.pitch = span.pitch;
      all.first = span.first;
      all.width = span.width;
      all.from = MIN (all.from, span.from);
      all.to = MAX (all.to, span.to);
    }
  if (all.pitch > 0)
    all.first = (whole.bytes.from + all.first) % all.pitch;
  all.to = MIN (all.to, whole.bytes.to - whole.bytes.from) + whole.bytes.from;
  all.from = MIN (all.from + whole.bytes.from, all.to);

  return (Place) { whole.space, all };
}

static void
read_loop (const LptPlan      *plan,
           const LptFastEntry *entry,
           Loop               *loop)
{
  const LptFastOp *op = entry->op;
  guint k, u;

  loop->n_in = op->n_in;
  loop->n = lpt_fast_n_units (op);
  for (k = 0; k <= op->n_in; k++)
    {
      Place whole = buffer_place (plan, k < op->n_in ? entry->in[k] : entry->out);

      for (u = 0; u < loop->n; u++)
        *(k < op->n_in ? &loop->units[u].in[k] : &loop->units[u].out) =
          tasks_place (op, lpt_fast_unit_task (op, u), lpt_fast_unit_task (op, u + 1), k, whole);
    }
}

static gboolean
overlap (const Place *x,
         const Place *y)
{
  const LptFastSpan *a = &x->bytes, *b = &y->bytes;
  gsize between;

  if (x->space != y->space || a->from >= b->to || b->from >= a->to)
    return FALSE;
  if (a->pitch == 0 || a->pitch != b->pitch)
    return TRUE;
  between = (b->first + a->pitch - a->first) % a->pitch;

  return between < a->width || between + b->width > a->pitch;
}

static guint64
needs_of (const Loop *loop,
          guint       u,
          const Loop *before)
{
  const Unit *unit = &loop->units[u], *other;
  guint64 needs = 0;
  guint i, k;

  for (i = 0; i < before->n; i++)
    {
      gboolean any;

      other = &before->units[i];
      any = overlap (&unit->out, &other->out);
      for (k = 0; k < loop->n_in && !any; k++)
        any = overlap (&unit->in[k], &other->out);
      for (k = 0; k < before->n_in && !any; k++)
        any = overlap (&unit->out, &other->in[k]);
      needs |= (guint64) any << i;
    }

  return needs;
}

/* Entries that run; others are names, constants, or of no elements. */
static gboolean
is_loop (const LptFastEntry *entry)
{
  return entry->op != NULL && entry->op->run != NULL && entry->op->tasks > 0;
}

/* A step by itself is run by the caller. */
static gboolean
is_step (const LptPlan      *plan,
         const LptFastEntry *entry)
{
  return entry->op == NULL && !lpt_plan_step (plan, entry->step)->folded;
}

static void
add_chain (const LptPlan *plan,
           guint          first,
           guint          end,
           guint          n)
{
  LptFastChain chain = { first, end, 0, g_new (guint, n), g_new (LptChainLoop, n), g_new (guint64, n * LPT_CHAIN_UNITS) };
  g_autofree Loop *loops = g_new (Loop, 2);
  guint i, u;

  for (i = first; i < end; i++)
    {
      const LptFastEntry *entry = &g_array_index (plan->fast->entries, LptFastEntry, i);
      guint64 *needs = chain.needs + chain.n * LPT_CHAIN_UNITS;
      Loop *loop = &loops[chain.n % 2], *before = &loops[(chain.n + 1) % 2];

      if (!is_loop (entry))
        continue;
      read_loop (plan, entry, loop);
      for (u = 0; u < loop->n; u++)
        needs[u] = chain.n > 0 ? needs_of (loop, u, before) : 0;
      chain.entries[chain.n] = i;
      chain.loops[chain.n++] = (LptChainLoop) { loop->n, needs };
    }
  g_array_append_val (plan->fast->chains, chain);
}

static void
clear_chain (gpointer data)
{
  LptFastChain *chain = data;

  g_free (chain->entries);
  g_free (chain->loops);
  g_free (chain->needs);
}

void
lpt_fast_find_chains (LptPlan *plan)
{
  guint i, n = 0, first = 0, n_entries = plan->fast->entries->len;

  plan->fast->chains = g_array_new (FALSE, FALSE, sizeof (LptFastChain));
  g_array_set_clear_func (plan->fast->chains, clear_chain);
  for (i = 0; i <= n_entries; i++)
    {
      const LptFastEntry *entry = i < n_entries ? &g_array_index (plan->fast->entries, LptFastEntry, i) : NULL;

      if (entry != NULL && !is_step (plan, entry))
        {
          n += is_loop (entry);
          continue;
        }
      if (n > 1)
        add_chain (plan, first, i, n);
      first = i + 1;
      n = 0;
    }
}
