/* tflite-weights.h - weights and biases as the file has them
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_WEIGHTS_H
#define LPT_TFLITE_WEIGHTS_H

#include "frontends/tflite/write/tflite-writer.h"

/* How constant weights become those of the file: seen as @shape, axes in @order, then seen as @result. */
typedef struct
{
  LptShape shape, result;
  gint64   order[LPT_MAX_RANK];
  gint     axis;            /* of the scales then */
  double   gauge;           /* of the data */
} LptTflWeightForm;

typedef struct
{
  gint64   n;               /* outputs */
  gint64   first;           /* which of those that input @i of the node has, as groups do: [first, first + n) */
  gint     axis;            /* of the graph's value, along which they lie */
  gboolean must;            /* the operator wants one */
  gboolean wide;            /* int64: data of 16 bits (a bias of TensorFlow Lite keeps its own) */
  gboolean hybrid;          /* real data */
  double   x_scale;
} LptTflBiasForm;

gint lpt_tfl_w_weights (LptTflWriter *w, LptTensor *data, const LptQuant *quant, const LptTflWeightForm *form);
/* The bias of input @i; of real operators also what an Add behind *@value adds: then that is *@value. -1: none. */
gint lpt_tfl_w_bias    (LptTflWriter *w, guint i, gint weights, const LptTflBiasForm *form, LptValue **value);
/* The product of data rounded at run time with a matrix of codes that have scales in blocks (tflite-write-blocks.c);
   FALSE: the node is none. */
gboolean lpt_tfl_w_blocks (LptTflWriter *w);
/* Numbers of a constant (transfer full); NULL + w->error. */
LptTensor *lpt_tfl_w_real_data (LptTflWriter *w, LptValue *value);

#endif
