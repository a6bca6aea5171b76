/* dynamic-forms.c - the ops of codes whose intervals are found at run time
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/dynamic-forms.h"

void
lpt_dynamic_set_forms (LptProgram            *program,
                       LptProgramOp          *op,
                       const LptDynamicForms *forms,
                       gconstpointer          params,
                       gsize                  size)
{
  LptProgramValue *x = op->in[0], *ranges = lpt_program_copy_value (program, x, LPT_LAYOUT_TYPED);
  LptOpForm form = { .run = forms->ranges, .access = forms->access, .kernel = program->kernels.dynamic->name,
                     .tasks = forms->tasks, .n_in = 1, .in = LPT_OPERANDS ({ x, forms->layout }), .out = ranges,
                     .out_layout = LPT_LAYOUT_TYPED };

  ranges->array.shape = lpt_shape_make (2, (const gint64[]) { (gint64) forms->n, 2 });
  ranges->def = op;
  lpt_add_form (program, op, &form, params, size);

  form.access = NULL;
  form.tasks = 1;
  form.in = LPT_OPERANDS ({ ranges, LPT_LAYOUT_TYPED });
  form.run = forms->scales;
  form.out = op->out[1];
  lpt_add_form (program, op, &form, params, size);
  form.run = forms->zeros;
  form.out = op->out[2];
  if (forms->zeros != NULL)
    lpt_add_form (program, op, &form, params, size);

  form.run = forms->codes;
  form.access = forms->access;
  form.tasks = forms->tasks;
  form.n_in = forms->by_scales ? 3 : 2;
  form.in = forms->by_scales ? LPT_OPERANDS ({ x, forms->layout }, { op->out[1], LPT_LAYOUT_TYPED },
                                             { op->out[2], LPT_LAYOUT_TYPED })
                             : LPT_OPERANDS ({ x, forms->layout }, { ranges, LPT_LAYOUT_TYPED });
  form.out = op->out[0];
  form.out_layout = forms->layout == LPT_LAYOUT_WORDS_LAST ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_CODES;
  lpt_add_form (program, op, &form, params, size);
}
