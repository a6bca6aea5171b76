/* copy-form.h - copies of elements as a form: what move.c and concat.c make
 *
 * The values are codes in u8 form, in whatever order they lie, or elements of any storage type as typed; 32-bit ones
 * with their channels last, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/copy-box.h"

/* What is copied from an input. */
typedef struct
{
  LptCopyBox box;
  gsize      tasks, per_task;          /* tasks before it; rows of one */
  LptCopyAxes axes;                    /* what the box is made of: where there is a pitch it is made again */
  gssize     start;                    /* added to all places */
  gsize      at;                       /* in the output */
  gsize      channels;                 /* of the input */
} LptCopyPiece;

typedef struct
{
  LptOpForm      form;                 /* until it is the op's */
  LptCopyElement element;
  gsize          channels;             /* of the output */
  gboolean       by_channels;          /* a concatenation whose pieces are parts of pixels */
  LptOperand    *in;                   /* of `form` */
  guint          n;
  LptCopyPiece  *pieces;               /* one for each input, and the number of all tasks behind them */
} LptCopyForm;

/* To output @output of @last, of @n pieces at most. */
LptCopyForm *lpt_copy_form_new       (LptProgram *program, const char *kernel, LptProgramOp *last, guint output, LptValueLayout out_layout, guint n);
void     lpt_copy_form_free      (LptCopyForm *move);   /* NULL allowed */
/* The next piece goes from @value by the box that is in it; takes @axes, of which that was made. */
void     lpt_copy_form_add_input (LptCopyForm *move, LptProgramValue *value, LptValueLayout layout, LptCopyAxes *axes,
                                  gssize start);

/* Codes with the output's quantization, on which the op works as they are; not constants. */
gboolean lpt_copy_form_is_codes  (const LptProgramValue *in, const LptProgramValue *out);
/* The same, or of a scale so near that the real op gives each code itself. */
gboolean lpt_copy_form_keeps_codes (const LptProgramValue *in, const LptProgramValue *out);
/* Elements of one storage type that mean the same; not constants. */
gboolean lpt_copy_form_is_typed  (const LptProgramValue *in, const LptProgramValue *out);
/* How such elements had better be read. */
LptValueLayout lpt_copy_form_layout (const LptProgramValue *value, gboolean codes);

/* One more axis of a box: @size elements, @stride from one to the next in the output, from the places @from (taken) or,
 * NULL, places one @step further each. */
void     lpt_copy_axes_add       (LptCopyAxes *axes, guint of, gsize size, gsize stride, gssize *from, gsize step);
