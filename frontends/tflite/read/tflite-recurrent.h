/* tflite-recurrent.h - recurrent operators: one step as nodes, sequences of steps
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_RECURRENT_H
#define LPT_TFLITE_RECURRENT_H

#include "frontends/tflite/read/tflite-import.h"

#define LPT_TFL_MAX_STATES 2
#define LPT_TFL_MAX_BETWEEN 12

typedef struct _LptTflCell LptTflCell;

/* One step: reads @x [B, in] and the states, which it replaces; returns what goes out. Constants of @cell are values
   of the graph around: lpt_tfl_cell_const() copies them. */
typedef LptValue *(*LptTflStep) (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, LptValue **states);

struct _LptTflCell
{
  LptTflStep step;
  guint      n_states;
  gboolean   asymmetric;       /* hybrid: how data is rounded */
  gint64     activation;
  double     cell_clip, projection_clip;
  LptValue **inputs;            /* of a step on integers: 24, as they are; NULL */
  LptQuant  *out_quant, *state_quant[LPT_TFL_MAX_STATES];
  guint      n_between;         /* intermediate tensors: 5, or 12 where products have 8 bits */
  double     scales[LPT_TFL_MAX_BETWEEN];
  gint64     zeros[LPT_TFL_MAX_BETWEEN];
  LptValue  *w[4], *r[4], *aux[4], *peephole[3], *bias[4], *norm[4], *projection, *projection_bias;
};

/* Real numbers of a constant of the cell, where @op builds; NULL for NULL. */
LptValue *lpt_tfl_cell_const    (LptTflOp *op, LptValue *outer);
/* @x @w^T, @x rounded where the weights are codes; NULL for NULL weights. */
LptValue *lpt_tfl_cell_product  (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *w);
/* All steps along @axis of @x (and @aux, or NULL); @states are replaced by the last ones. [B, T, n] or [T, B, n], as
   @x. */
LptValue *lpt_tfl_cell_sequence (LptTflOp *op, const LptTflCell *cell, LptValue *x, LptValue *aux, gint axis,
                                 gboolean backwards, LptValue **states);

/* A step on integers; @inputs is room for 24. */
LptTflCell lpt_tfl_integer_cell (LptTflOp *op, LptValue **inputs);
void       lpt_tfl_integer_svdf (LptTflOp *op);

/* The state in input @i, as it stands; and what it becomes. */
LptValue *lpt_tfl_state_in      (LptTflOp *op, guint i);
void      lpt_tfl_state_out     (LptTflOp *op, guint i, LptValue *value);

#endif
