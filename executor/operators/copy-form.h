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
  /* What the box is made of: where there is a pitch it is made again. */
  LptShape   shape;
  gssize    *maps[LPT_MAX_RANK];       /* offsets in the input */
  gssize     start;                    /* added to all of them */
  gsize      at;                       /* in the output */
  gsize      channels;                 /* of the input */
} LptCopyPiece;

typedef struct
{
  LptOpForm      form;                 /* until it is the op's */
  LptCopyElement element;
  LptShape       shape;                /* of the output */
  gboolean       by_channels;          /* a concatenation whose pieces are parts of pixels */
  LptOperand    *in;                   /* of `form` */
  guint          n;
  LptCopyPiece  *pieces;               /* one for each input, and the number of all tasks behind them */
} LptCopyForm;

/* To output @output of @last, of @n pieces at most. */
LptCopyForm *lpt_copy_form_new       (LptProgram *program, const char *kernel, LptProgramOp *last, guint output, LptValueLayout out_layout, guint n);
void     lpt_copy_form_free      (LptCopyForm *move);   /* NULL allowed */
/* The next piece goes from @value by the box that is in it; takes the maps. */
void     lpt_copy_form_add_input (LptCopyForm *move, LptProgramValue *value, LptValueLayout layout, const LptShape *shape, gssize **maps, gssize start);

/* Codes with the output's quantization, on which the op works as they are; not constants. */
gboolean lpt_copy_form_is_codes  (const LptProgramValue *in, const LptProgramValue *out);
/* The same, or of a scale so near that the real op gives each code itself. */
gboolean lpt_copy_form_keeps_codes (const LptProgramValue *in, const LptProgramValue *out);
/* Elements of one storage type that mean the same; not constants. */
gboolean lpt_copy_form_is_typed  (const LptProgramValue *in, const LptProgramValue *out);
/* How such elements had better be read. */
LptValueLayout lpt_copy_form_layout (const LptProgramValue *value, gboolean codes);

void     lpt_copy_form_clear_maps (gssize **maps);
/* @map of @n entries, one @step further each. */
void     lpt_copy_form_even_map   (gssize **map, gsize n, gsize step);
