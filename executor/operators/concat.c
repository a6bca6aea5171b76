/* concat.c - Concat of elements that are copied as they are
 *
 * Codes that have the output's quantization, or elements of one storage type; some of them may be constant. What can be
 * written in its place at once is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/copy-form.h"

/* In which layout all inputs are read, and whether they are codes; FALSE: they are not of one kind. */
static gboolean
find_layout (const LptProgramOp *op,
             gboolean           *codes,
             LptValueLayout     *layout)
{
  gsize last = 0, all = 0;
  guint k;

  *codes = lpt_copy_form_is_codes (op->in[0], op->out[0]);
  for (k = 0; k < op->n_in; k++)
    {
      gsize count;

      if (!(*codes ? lpt_copy_form_is_codes (op->in[k], op->out[0]) : lpt_copy_form_is_typed (op->in[k], op->out[0])) ||
          op->in[k]->array.shape.rank != op->out[0]->array.shape.rank)
        return FALSE;
      count = lpt_program_count (op->in[k]);
      all += count;
      *layout = lpt_copy_form_layout (op->in[k], *codes);
      last += *layout == LPT_LAYOUT_CODES_LAST || *layout == LPT_LAYOUT_WORDS_LAST ? count : 0;
    }
  if (2 * last >= all && op->out[0]->array.shape.rank >= 3 && (*codes || last > 0))
    *layout = *codes ? LPT_LAYOUT_CODES_LAST : LPT_LAYOUT_WORDS_LAST;
  else
    *layout = *codes ? LPT_LAYOUT_CODES : LPT_LAYOUT_TYPED;

  return TRUE;
}

gboolean
lpt_prepare_concat (LptProgram   *program,
                    LptProgramOp *op)
{
  const LptShape *y = &op->out[0]->array.shape;
  gsize strides[LPT_MAX_RANK], own[LPT_MAX_RANK], at = 0;
  LptCopyAxes axes = { 0 };
  LptValueLayout layout;
  gboolean codes;
  LptCopyForm *m;
  gint axis, k;
  guint input;

  if (op->n_in == 0 || !lpt_axis_normalize (LPT_ATTRS (op->node, LptAxisAttrs)->axis, y->rank, &axis) ||
      !find_layout (op, &codes, &layout))
    return lpt_refuse (op, LPT_REMARK_TYPES);

  m = lpt_copy_form_new (program, codes ? "concat_u8" : "concat", op, 0, layout, op->n_in);
  m->by_channels = axis == 1 && lpt_program_layout (op->out[0], layout) == LPT_LAYOUT_CODES_LAST;
  lpt_copy_strides (y, layout, strides);
  for (input = 0; input < op->n_in; input++)
    {
      const LptShape *x = &op->in[input]->array.shape;

      lpt_copy_strides (x, layout, own);
      for (k = 0; k < x->rank; k++)
        lpt_copy_axes_add (&axes, (guint) k, (gsize) x->dims[k], strides[k], NULL, own[k]);
      lpt_copy_box_init (&m->pieces[input].box, &axes, at);
      lpt_copy_form_add_input (m, op->in[input], layout, &axes, 0);
      m->in[input].pitched = codes;
      at += (gsize) x->dims[axis] * strides[axis];
    }

  lpt_program_set_form (op, &m->form);

  return TRUE;
}
