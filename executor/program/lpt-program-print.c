/* lpt-program-print.c - a program as text: what runs, in which order, on which bytes
 *
 * One line for each op that runs or names bytes, in order:
 *
 *   %value : type[shape] q{...} @place = kind(operands)  ; kernel, tasks, multiply-accumulates, nodes that it stands
 *   for
 *
 * A value's name is that of the graph's value, and says the form that differs from the graph's: .u8 (8-bit codes plus
 * 128 where they are signed), .last (that, channels last), .part (that, pixels with a pitch), .lastf (32-bit elements,
 * channels last); $name is a constant. Places are @input, @const, @dynamic (allocated when its shape is known) or
 * @arena+OFFSET, /PITCH behind it; before pass place @dynamic, and @%value+OFFSET in the storage of that value (before
 * choose-layouts: where place-parts had rather it were). Ops without kernel are views; reference ops say why they are
 * such (operators/remarks.def); "sums reordered": real numbers are rounded otherwise than by the plain op. Before its
 * layouts are chosen a program prints in the order of the graph, one line for each op that none does the work of,
 * values in the layouts that forms ask for. All that a run depends on is there but the parameters of ops, which follow
 * from their nodes, and the bytes of constants. Before pass import there is only the graph, and its text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-program-edit.h"
#include "executor/operators/remarks.h"
#include "executor/program/lpt-program-print.h"
#include "ir/text/lpt-print.h"

/* More numbers of a quantization are not printed one by one. */
#define MAX_NUMBERS 4

typedef struct
{
  const LptProgram  *program;
  LptPlanTextFlags   flags;
  LptPrinter         printer;
  GString           *out;
} Text;

/* --- values --- */

static void
append_name (Text                  *t,
             const LptProgramValue *value)
{
  gsize at = t->out->len;

  lpt_print_value (&t->printer, value->origin);
  if (value->origin->producer->op == LPT_OP_CONST)
    t->out->str[at] = '$';
}

static void
append_layout (Text          *t,
               LptValueLayout layout)
{
  static const char *const suffixes[LPT_N_LAYOUTS] = { "", ".u8", ".last", ".part", ".lastf" };

  g_string_append (t->out, suffixes[layout]);
}

static void
append_type (Text                  *t,
             const LptProgramValue *value)
{
  const LptArray *array = &value->array;
  const LptQuant *quant = array->quant;
  g_autofree char *shape = lpt_shape_to_string (&array->shape);

  g_string_append_printf (t->out, " : %s[%s]", lpt_dtype_name (array->declared), shape);
  if (quant == NULL)
    return;
  if (quant->n <= MAX_NUMBERS)
    lpt_print_quant (t->out, quant, LPT_TEXT_DEFAULT);
  else
    g_string_append_printf (t->out, " q{axis=%d, ... %u scales}", quant->axis, quant->n);
}

static void
append_part (Text                  *t,
             const LptProgramValue *whole,
             LptValueLayout         layout,
             gsize                  at)
{
  g_string_append (t->out, " @");
  append_name (t, whole);
  append_layout (t, layout);
  if (at > 0)
    g_string_append_printf (t->out, "+%" G_GSIZE_FORMAT, at);
}

static void
append_place (Text                  *t,
              const LptProgramValue *value)
{
  const LptProgramValue *storage = value->kind == LPT_STORAGE_VIEW ? value->in : value;
  gsize at = value->kind == LPT_STORAGE_VIEW ? value->offset : 0;
  static const char *const names[] = {
    [LPT_STORAGE_INPUT] = "input",     [LPT_STORAGE_CONST] = "const", [LPT_STORAGE_ARENA] = "arena",
    [LPT_STORAGE_DYNAMIC] = "dynamic", [LPT_STORAGE_VIEW] = "view",   [LPT_STORAGE_NONE] = "nowhere",
  };

  if (storage->kind == LPT_STORAGE_ARENA)
    at += storage->offset;
  if (value->kind == LPT_STORAGE_VIEW && !t->program->placed)
    append_part (t, storage, storage->layout, at);
  else
    {
      g_string_append_printf (t->out, " @%s", names[storage->kind]);
      if (at > 0 || storage->kind == LPT_STORAGE_ARENA)
        g_string_append_printf (t->out, "+%" G_GSIZE_FORMAT, at);
    }
  if (value->layout == LPT_LAYOUT_CODES_PITCHED)
    g_string_append_printf (t->out, "/%" G_GSIZE_FORMAT, value->pitch);
}

static void
append_value (Text                  *t,
              const LptProgramValue *value,
              LptValueLayout         layout)
{
  const LptValuePlace *better = &value->places[layout];

  append_name (t, value);
  append_layout (t, layout);
  append_type (t, value);
  if (t->program->ops->len > 0 || better->whole == NULL)
    append_place (t, value);
  else
    append_part (t, better->whole, better->layout, better->at);
}

/* --- ops --- */

static void
append_nodes (Text               *t,
              const LptProgramOp *op)
{
  const GPtrArray *nodes = t->program->nodes;
  const LptProgramOp *main = nodes->pdata[op->index];
  guint i;

  g_string_append (t->out, "nodes ");
  lpt_print_name (t->out, op->node->name);
  for (i = 0; i < t->program->n_nodes; i++)
    if (lpt_program_owner (nodes->pdata[i]) == main && i != op->index)
      {
        g_string_append_c (t->out, ' ');
        lpt_print_name (t->out, ((LptProgramOp *) nodes->pdata[i])->node->name);
      }
}

static void
append_macs (Text               *t,
             const LptProgramOp *op)
{
  gint64 macs = lpt_program_op_macs (op);

  if (macs > 0)
    g_string_append_printf (t->out, "%" G_GINT64_FORMAT " MAC, ", macs);
}

/* Constants that the function of the main node reads packed or as parameters. */
static void
append_constants (Text               *t,
                  const LptProgramOp *op)
{
  const LptOpForm *form = &op->form;
  guint k, i;

  op = t->program->nodes->pdata[op->index];
  for (k = 0; k < op->n_in; k++)
    {
      if (op->in[k] == NULL || op->in[k]->kind != LPT_STORAGE_CONST)
        continue;
      for (i = 0; i < form->n_in && form->in[i].value != op->in[k]; i++)
        ;
      if (i == form->n_in)
        {
          g_string_append (t->out, ", ");
          append_name (t, op->in[k]);
        }
    }
}

/* What the units of the op at @i wait for: runs of equal needs, hexadecimal. */
static void
append_needs (Text *t,
              guint i)
{
  guint c, n, u, from;

  for (c = 0; c < t->program->overlaps->len; c++)
    {
      const LptOverlap *overlap = &g_array_index (t->program->overlaps, LptOverlap, c);

      for (n = 0; n < overlap->n; n++)
        if (overlap->at[n] == i)
          {
            const LptTaskLoop *loop = &overlap->loops[n];

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

/* What computes it; an op that only integers have, by its own name. */
static const char *
name_of (const LptProgramOp *op)
{
  return (op->row->flags & LPT_EXEC_NONE) != 0 ? op->node->info->name : op->row->name;
}

static void
append_form (Text               *t,
             guint               i,
             const LptProgramOp *op)
{
  const LptOpForm *form = &op->form;
  guint k;

  append_value (t, form->out, form->out_layout);
  for (k = 0; k < form->n_more; k++)
    {
      g_string_append (t->out, ", ");
      append_value (t, form->more[k], lpt_program_layout (form->more[k], form->more_layout));
    }
  g_string_append_printf (t->out, " = %s(", op->converts ? "convert" : name_of (op));
  for (k = 0; k < form->n_in; k++)
    {
      g_string_append (t->out, k > 0 ? ", " : "");
      append_name (t, form->in[k].value);
      append_layout (t, form->in[k].layout);
    }
  if (!op->converts && form->run != NULL)
    append_constants (t, op);
  g_string_append (t->out, ")  ; ");
  if (form->run == NULL)
    g_string_append (t->out, "view, ");
  else
    g_string_append_printf (t->out, "%s, %" G_GSIZE_FORMAT " task%s, ", form->kernel, form->tasks,
                            form->tasks == 1 ? "" : "s");
  if (form->reorders)
    g_string_append (t->out, "sums reordered, ");
  if (!op->converts)
    {
      append_macs (t, op);
      append_nodes (t, op);
    }
  else
    g_string_truncate (t->out, t->out->len - 2);
  if (form->workspace > 0)
    g_string_append_printf (t->out, ", workspace %" G_GSIZE_FORMAT, form->workspace);
  if ((t->flags & LPT_PLAN_TEXT_OVERLAP) != 0)
    append_needs (t, i);
  g_string_append_c (t->out, '\n');
}

/* The codes of @remarks (remarks.h). */
static void
append_remarks (Text   *t,
                guint32 remarks)
{
  guint k;

  for (k = 0; k < LPT_N_REMARKS; k++)
    if ((remarks >> k & 1) != 0)
      g_string_append_printf (t->out, "%s%s", (remarks & ((1u << k) - 1)) == 0 ? ": " : " ", lpt_remarks[k].code);
}

static void
append_reference (Text               *t,
                  const LptProgramOp *op)
{
  guint k;

  for (k = 0; k < op->n_out; k++)
    {
      g_string_append (t->out, k > 0 ? ", " : "");
      append_value (t, op->out[k], op->out[k]->layout);
    }
  g_string_append_printf (t->out, "%s%s(", op->n_out > 0 ? " = " : "", name_of (op));
  for (k = 0; k < op->n_in; k++)
    {
      g_string_append (t->out, k > 0 ? ", " : "");
      if (op->in[k] != NULL)
        append_name (t, op->in[k]);
      else
        g_string_append_c (t->out, '_');
    }
  g_string_append (t->out, ")  ; ");
  if (op->folded)
    g_string_append (t->out, "view, ");
  else
    {
      g_string_append_printf (t->out, "%s, %s", op->kernel, op->table != NULL ? "table" : "reference");
      if (op->remarks != 0 || t->program->ops->len > 0)
        append_remarks (t, lpt_program_remarks (t->program, op));
      g_string_append (t->out, ", ");
    }
  append_macs (t, op);
  append_nodes (t, op);
  g_string_append_c (t->out, '\n');
}

static void
append_memory (Text *t)
{
  const LptProgram *program = t->program;
  gsize packed = 0, size;
  const char *name;
  guint i;

  for (i = 0; i < lpt_pack_n_blocks (program->pack, NULL); i++)
    {
      lpt_pack_block (program->pack, i, &name, &size);
      packed += size;
    }
  g_string_append_printf (t->out,
                          "# arena %" G_GSIZE_FORMAT " bytes, at least %" G_GSIZE_FORMAT
                          " are alive at one time; workspace %" G_GSIZE_FORMAT
                          " a thread; %u blocks of packed weights, %" G_GSIZE_FORMAT " bytes\n",
                          program->arena_size, program->arena_bound, program->workspace,
                          lpt_pack_n_blocks (program->pack, NULL), packed);
}

static void
append_op (Text               *t,
           guint               i,
           const LptProgramOp *op)
{
  if (op->has_form)
    append_form (t, i, op);
  else
    append_reference (t, op);
}

/* What the codes of remarks mean, each once, with the number of ops. */
static void
append_legend (Text *t)
{
  guint k, i;

  for (k = 0; k < LPT_N_REMARKS; k++)
    {
      guint n = 0;

      for (i = 0; i < t->program->ops->len; i++)
        n += lpt_program_remarks (t->program, t->program->ops->pdata[i]) >> k & 1;
      if (n > 0)
        g_string_append_printf (t->out, "# %u op%s, %s: %s\n", n, n == 1 ? "" : "s", lpt_remarks[k].code,
                                lpt_remarks[k].text);
    }
}

char *
lpt_program_to_text (const LptProgram *program,
                     LptPlanTextFlags  flags)
{
  Text t = { .program = program, .flags = flags, .out = g_string_new (NULL) };
  guint i;

  if (program->n_values == 0)
    {
      g_string_free (t.out, TRUE);
      return lpt_graph_to_text (program->graph, 0);
    }
  t.printer = (LptPrinter) { .out = t.out, .graph = program->graph };
  append_memory (&t);
  if ((flags & LPT_PLAN_TEXT_REMARKS) != 0)
    append_legend (&t);
  for (i = 0; i < program->n_inputs; i++)
    {
      append_value (&t, program->inputs[i], program->inputs[i]->layout);
      g_string_append_c (t.out, '\n');
    }
  for (i = 0; i < program->ops->len; i++)
    append_op (&t, i, program->ops->pdata[i]);
  for (i = 0; i < program->n_nodes && program->ops->len == 0; i++)
    {
      const LptProgramOp *op = program->nodes->pdata[i];

      if (!op->folded && op->fused_into == NULL)
        append_op (&t, i, op);
    }
  for (i = 0; i < program->n_outputs; i++)
    {
      g_string_append (t.out, "output ");
      lpt_print_name (t.out, lpt_result_name (program->graph->results->pdata[i]));
      g_string_append (t.out, " = ");
      append_name (&t, program->outputs[i]);
      append_place (&t, program->outputs[i]);
      g_string_append_c (t.out, '\n');
    }

  return g_string_free (t.out, FALSE);
}
