/* lpt-program-edit.h - questions about values and ops of a program, and its edits
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include "executor/operators/lpt-program.h"

/* @graph: taken over; @pack: packed weights go there. */
LptProgram *lpt_program_new  (LptGraph *graph, guint flags, LptPack *pack);
void        lpt_program_free (LptProgram *program);

/* --- values --- */

/* Of the type and shape of @origin, without uses. */
LptProgramValue *lpt_program_add_value  (LptProgram *program, LptValue *origin, LptStorageKind kind, LptProgramOp *def);
/* Another one of the same origin, which @layout says how it lies; nobody makes it yet. */
LptProgramValue *lpt_program_copy_value (LptProgram *program, LptProgramValue *value, LptValueLayout layout);
/* The op that alone reads it, once; NULL: none or several, or it is an output. */
LptProgramOp *lpt_program_reader   (const LptProgramValue *value);
/* Operands and outputs of the program that it is. */
guint         lpt_program_n_uses   (const LptProgramValue *value);
gsize         lpt_program_count    (const LptProgramValue *value);
/* Pixels of one image; 1 below rank 3. */
gsize         lpt_program_pixels   (const LptShape *shape);
/* Elements along axis 1; 1 without one. */
gsize         lpt_program_channels (const LptProgramValue *value);
/* It is 8-bit codes with one scale and zero point. */
gboolean      lpt_program_is_codes (const LptProgramValue *value);
/* It is held as f32, at least one element: real numbers, or integers of 16 bits at most. */
gboolean      lpt_program_is_f32   (const LptProgramValue *value);
/* It is real, at least one element. */
gboolean      lpt_program_is_real  (const LptProgramValue *value);
/* Its zero point in u8 form. */
gint32        lpt_program_zero     (const LptProgramValue *value);
/* What is added to a code for the u8 form: 0 or 128. */
static inline gint32 lpt_program_offset (LptDType dtype) { return dtype == LPT_DTYPE_I8 ? 128 : 0; }
/* @layout, or the one that has the same bytes for this value. */
LptValueLayout     lpt_program_layout   (const LptProgramValue *value, LptValueLayout layout);
/* In whose storage it lies, and at which byte of it. */
LptProgramValue *lpt_program_storage (LptProgramValue *value, gsize *offset);

/* --- ops --- */

/* Not in `ops` yet, without operands. @index: see LptProgramOp. */
LptProgramOp *lpt_program_add_op    (LptProgram *program, LptNode *node, guint index);
/* Its params go over to the op, which has them already where it gets a form anew; layouts become those of the same
 * bytes. */
void          lpt_program_set_form  (LptProgramOp *op, const LptOpForm *form);
void          lpt_program_drop_form (LptProgramOp *op);
/* Ops that run or name bytes, by the places where they will stand in `ops`. (transfer container) */
GPtrArray    *lpt_program_order     (const LptProgram *program);
/* All elements of @value are numbers of @dtype, f16 or bf16, by what makes it (rounded.c). */
gboolean      lpt_value_is_rounded  (const LptValue *value, LptDType dtype);
/* @op is a Convert to f32 or f64 of a value that is held in f32, as all real ones are, or to a type to which that is
 * rounded: nothing to do. */
gboolean      lpt_program_keeps_reals (const LptProgramOp *op);
/* The output of @op, which has no form, in @layout is its first input in @layout, under another name. */
gboolean      lpt_program_renames   (const LptProgramOp *op, LptValueLayout layout);
/* @into does its work from now on; *last (nullable) becomes the later one of both. What it reads counts as read. */
void          lpt_program_fuse      (LptProgramOp *op, LptProgramOp *into, LptProgramOp **last);
/* What does its work in the end: itself, or what it is fused into. */
const LptProgramOp *lpt_program_owner (const LptProgramOp *op);
/* No op does its work, and it has no form. */
gboolean      lpt_program_is_free   (const LptProgramOp *op);

/* Multiply-accumulates of a run of its node: convolutions and matrix products; 0 for others. */
gint64        lpt_program_op_macs   (const LptProgramOp *op);
/* Units of an op: neighbouring tasks. */
static inline guint lpt_op_n_units (const LptProgramOp *op) { return (guint) MIN (op->form.tasks, LPT_TASK_LOOP_UNITS); }
/* The first task of unit @u; at the end: their number. */
static inline gsize
lpt_op_unit_task (const LptProgramOp *op,
                  guint               u)
{
  guint n = lpt_op_n_units (op);

  return op->form.tasks / n * u + op->form.tasks % n * u / n;
}

/* --- memory of forms --- */

/* Zero-filled array of @n elements that vectors may read past the end. NULL: no memory. Who prepares need not end then,
 * only not write there: the plan becomes none. The same with weights. */
gpointer      lpt_program_array     (gsize n, gsize element);

/* Packed weights of an op, which belong to the plan. With *fresh the caller packs them and fills the column sums. */
typedef struct
{
  gpointer data;
  gint32  *col_sum;      /* LPT_CHANNEL_PAD more than the channels */
  gboolean fresh;
} LptPackedWeights;

/* @kernel: in whose layout; @key, @key_size: what else the layout depends on. */
LptPackedWeights lpt_program_pack   (LptProgram *program, const LptProgramOp *op, const char *kernel, gconstpointer key, gsize key_size,
                                     gsize size, gsize channels);
