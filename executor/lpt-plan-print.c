/* lpt-plan-print.c - a plan as text: what runs, in which order, on which bytes
 *
 * One line for each op that runs or names bytes, in order:
 *
 *   %value : type[shape] q{...} @place = kind(operands)  ; kernel, tasks, multiply-accumulates, nodes that it stands for
 *
 * A value's name is that of the graph's value, and says the form that differs from the graph's: .u8 (8-bit codes plus 128 where they
 * are signed), .last (that, channels last), .part (that, pixels with a pitch), .lastf (32-bit elements, channels last); $name is
 * a constant. Places are @input, @const, @dynamic (allocated when its shape is known) or @arena+OFFSET, /PITCH behind it. Ops
 * without kernel are views. All that a run depends on is there but the parameters of ops, which follow from their nodes, and
 * the bytes of constants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-fast.h"
#include "ir/text/lpt-print.h"

/* More numbers of a quantization are not printed one by one. */
#define MAX_NUMBERS 4

typedef struct
{
  const LptPlan     *plan;
  LptPlanTextFlags   flags;
  LptPrinter         printer;
  GString           *out;
} Text;

/* --- values --- */

static void
append_name (Text *t,
             guint slot)
{
  LptValue *value = lpt_plan_slot (t->plan, slot)->value;

  if (value->producer->op == LPT_OP_CONST)
    {
      gsize at = t->out->len;

      lpt_print_value (&t->printer, value);
      t->out->str[at] = '$';
      return;
    }
  lpt_print_value (&t->printer, value);
}

static void
append_repr (Text   *t,
             LptRepr repr)
{
  static const char *const suffixes[LPT_N_REPRS] = { "", ".u8", ".last", ".part", ".lastf" };

  g_string_append (t->out, suffixes[repr]);
}

static void
append_type (Text *t,
             guint slot)
{
  const LptArray *array = &lpt_plan_slot (t->plan, slot)->array;
  const LptQuant *quant = array->quant;
  g_autofree char *shape = lpt_shape_to_string (&array->shape);

  g_string_append_printf (t->out, " : %s[%s]", lpt_dtype_name (array->declared), shape);
  if (quant == NULL)
    return;
  if (quant->n <= MAX_NUMBERS)
    lpt_print_quant (t->out, quant);
  else
    g_string_append_printf (t->out, " q{axis=%d, ... %u scales}", quant->axis, quant->n);
}

/* --- places --- */

static void
append_slot_place (Text *t,
                   guint slot,
                   gsize at)
{
  const LptSlot *s = lpt_plan_slot (t->plan, lpt_plan_slot (t->plan, slot)->root);

  switch (s->kind)
    {
    case LPT_SLOT_INPUT:
      g_string_append (t->out, " @input");
      break;
    case LPT_SLOT_CONST:
      g_string_append (t->out, " @const");
      break;
    case LPT_SLOT_ARENA:
      g_string_append_printf (t->out, " @arena+%" G_GSIZE_FORMAT, s->offset + at);
      return;
    case LPT_SLOT_NONE:
    case LPT_SLOT_DYNAMIC:
    case LPT_SLOT_ALIAS:
      g_string_append (t->out, " @dynamic");
      break;
    }
  if (at > 0)
    g_string_append_printf (t->out, "+%" G_GSIZE_FORMAT, at);
}

static const LptFastBuffer *
buffer_at (const Text *t,
           guint       i)
{
  return &g_array_index (t->plan->fast->buffers, LptFastBuffer, i);
}

static void
append_buffer_place (Text *t,
                     guint i,
                     gsize pitch)
{
  gboolean part = buffer_at (t, i)->repr == LPT_REPR_PART8;
  gsize at = 0;

  for (; buffer_at (t, i)->parent != LPT_NO_SLOT; i = buffer_at (t, i)->parent)
    at += buffer_at (t, i)->offset;
  if (buffer_at (t, i)->outside)
    append_slot_place (t, buffer_at (t, i)->slot, at);
  else
    g_string_append_printf (t->out, " @arena+%" G_GSIZE_FORMAT, buffer_at (t, i)->offset + at);
  if (part)
    g_string_append_printf (t->out, "/%" G_GSIZE_FORMAT, pitch);
}

/* --- ops --- */

static void
append_nodes (Text *t,
              guint step)
{
  const guint *covered = t->plan->fast != NULL ? t->plan->fast->covered : NULL;
  guint i;

  g_string_append (t->out, "nodes ");
  lpt_print_name (t->out, lpt_plan_step (t->plan, step)->node->name);
  for (i = 0; i < t->plan->steps->len; i++)
    if (covered != NULL && i != step && covered[i] == step)
      {
        g_string_append_c (t->out, ' ');
        lpt_print_name (t->out, lpt_plan_step (t->plan, i)->node->name);
      }
}

static void
append_macs (Text *t,
             guint step)
{
  gint64 macs = lpt_plan_step_macs (t->plan, lpt_plan_step (t->plan, step));

  if (macs > 0)
    g_string_append_printf (t->out, "%" G_GINT64_FORMAT " MAC, ", macs);
}

/* Constants that the function of the main node reads packed or as parameters. */
static void
append_constants (Text          *t,
                  const LptStep *step)
{
  guint k;

  for (k = 0; k < step->n_in; k++)
    if (step->in[k] != LPT_NO_SLOT && lpt_plan_slot (t->plan, step->in[k])->kind == LPT_SLOT_CONST)
      {
        g_string_append (t->out, ", ");
        append_name (t, step->in[k]);
      }
}

/* What each unit of the op at entry @i waits for, where it runs overlapped with the one before: WORD*UNITS, bit u of the word being its unit u. */
static void
append_needs (Text *t,
              guint i)
{
  guint c, n, u, from;

  for (c = 0; c < t->plan->fast->chains->len; c++)
    {
      const LptFastChain *chain = &g_array_index (t->plan->fast->chains, LptFastChain, c);

      for (n = 0; n < chain->n; n++)
        if (chain->entries[n] == i)
          {
            const LptChainLoop *loop = &chain->loops[n];

            g_string_append_printf (t->out, ", %u units", loop->n_units);
            for (u = 0; u < loop->n_units && n > 0; u = from)
              {
                for (from = u; from < loop->n_units && loop->needs[from] == loop->needs[u]; from++)
                  ;
                g_string_append_printf (t->out, " %" G_GINT64_MODIFIER "x*%u", loop->needs[u], from - u);
              }
          }
    }
}

static void
append_op (Text               *t,
           guint               i,
           const LptFastEntry *entry)
{
  const LptFastOp *op = entry->op;
  const LptStep *step = lpt_plan_step (t->plan, entry->step);
  gboolean converts = op->first == LPT_NO_SLOT;
  guint k;

  append_name (t, op->out);
  append_repr (t, op->out_repr);
  append_type (t, op->out);
  append_buffer_place (t, entry->out, op->out_pitch);
  g_string_append_printf (t->out, " = %s(", converts ? "convert" : step->row->name);
  for (k = 0; k < op->n_in; k++)
    {
      g_string_append (t->out, k > 0 ? ", " : "");
      append_name (t, op->in[k]);
      append_repr (t, buffer_at (t, entry->in[k])->repr);
    }
  if (!converts && op->run != NULL)
    append_constants (t, step);
  g_string_append (t->out, ")  ; ");
  if (op->run == NULL)
    g_string_append (t->out, "view, ");
  else
    g_string_append_printf (t->out, "%s, %" G_GSIZE_FORMAT " task%s, ", op->kernel, op->tasks, op->tasks == 1 ? "" : "s");
  if (!converts)
    {
      append_macs (t, entry->step);
      append_nodes (t, entry->step);
    }
  else
    g_string_truncate (t->out, t->out->len - 2);
  if (op->workspace > 0)
    g_string_append_printf (t->out, ", workspace %" G_GSIZE_FORMAT, op->workspace);
  if ((t->flags & LPT_PLAN_TEXT_OVERLAP) != 0)
    append_needs (t, i);
  g_string_append_c (t->out, '\n');
}

static void
append_step (Text *t,
             guint i)
{
  const LptStep *step = lpt_plan_step (t->plan, i);
  guint k;

  for (k = 0; k < step->n_out; k++)
    {
      g_string_append (t->out, k > 0 ? ", " : "");
      append_name (t, step->out[k]);
      append_type (t, step->out[k]);
      append_slot_place (t, step->out[k], 0);
    }
  g_string_append_printf (t->out, "%s%s(", step->n_out > 0 ? " = " : "", step->row->name);
  for (k = 0; k < step->n_in; k++)
    {
      g_string_append (t->out, k > 0 ? ", " : "");
      if (step->in[k] != LPT_NO_SLOT)
        append_name (t, step->in[k]);
      else
        g_string_append_c (t->out, '_');
    }
  g_string_append (t->out, ")  ; ");
  if (step->folded)
    g_string_append (t->out, "view, ");
  else
    g_string_append_printf (t->out, "%s, reference, ", step->kernel);
  append_macs (t, i);
  append_nodes (t, i);
  g_string_append_c (t->out, '\n');
}

/* Of what was folded into a constant nothing is left; what only has another shape is a view. */
static gboolean
is_constant (const Text    *t,
             const LptStep *step)
{
  return step->folded && (step->n_out == 0 || lpt_plan_slot (t->plan, step->out[0])->kind == LPT_SLOT_CONST);
}

static void
append_memory (Text *t)
{
  const LptPlan *plan = t->plan;
  gsize packed = 0, size;
  const char *name;
  guint i;

  for (i = 0; i < lpt_pack_n_blocks (plan->pack, NULL); i++)
    {
      lpt_pack_block (plan->pack, i, &name, &size);
      packed += size;
    }
  g_string_append_printf (t->out, "# arena %" G_GSIZE_FORMAT " bytes, at least %" G_GSIZE_FORMAT " are alive at one time; workspace %" G_GSIZE_FORMAT
                          " a thread; %u blocks of packed weights, %" G_GSIZE_FORMAT " bytes\n", plan->arena_size, plan->arena_bound,
                          plan->fast != NULL ? plan->fast->workspace : 0, lpt_pack_n_blocks (plan->pack, NULL), packed);
}

char *
lpt_plan_to_text (const LptPlan   *plan,
                  LptPlanTextFlags flags)
{
  Text t = { .plan = plan, .flags = flags, .out = g_string_new (NULL) };
  guint i;

  g_return_val_if_fail (plan != NULL, NULL);
  t.printer = (LptPrinter) { .out = t.out, .graph = plan->graph };
  append_memory (&t);
  for (i = 0; i < lpt_plan_n_inputs (plan); i++)
    {
      append_name (&t, plan->inputs[i]);
      append_type (&t, plan->inputs[i]);
      g_string_append (t.out, " @input\n");
    }
  for (i = 0; i < (plan->fast != NULL ? plan->fast->entries->len : plan->steps->len); i++)
    {
      const LptFastEntry *entry = plan->fast != NULL ? &g_array_index (plan->fast->entries, LptFastEntry, i) : NULL;

      if (entry != NULL && entry->op != NULL)
        append_op (&t, i, entry);
      else if (!is_constant (&t, lpt_plan_step (plan, entry != NULL ? entry->step : i)))
        append_step (&t, entry != NULL ? entry->step : i);
    }
  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      g_string_append (t.out, "output ");
      lpt_print_name (t.out, lpt_plan_output_name (plan, i));
      g_string_append (t.out, " = ");
      append_name (&t, plan->outputs[i]);
      append_slot_place (&t, plan->outputs[i], 0);
      g_string_append_c (t.out, '\n');
    }

  return g_string_free (t.out, FALSE);
}
