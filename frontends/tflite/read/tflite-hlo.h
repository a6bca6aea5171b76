/* tflite-hlo.h - what the mappings of StableHLO operators share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TFLITE_HLO_H
#define LPT_TFLITE_HLO_H

#include "frontends/tflite/read/tflite-import.h"

/* The shape of output 0 or of @value, which has to be known; rank 0 and an error where it is not. */
LptShape  lpt_tfl_hlo_shape    (LptTflOp *op);
LptShape  lpt_tfl_hlo_shape_of (LptTflOp *op, LptValue *value);
/* A list of the options that has to have @n numbers from @min on; absent lists are @fallback. FALSE + error. */
gboolean  lpt_tfl_hlo_list     (LptTflOp *op, LptTflField field, guint n, gint64 min, gint64 fallback, gint64 *list);
/* A list of different axes of @rank: how many. */
guint     lpt_tfl_hlo_axes     (LptTflOp *op, LptTflField field, gint rank, gint64 *axes);
/* The axes of @rank that are not among @axes, in order: how many. */
guint     lpt_tfl_hlo_others   (gint rank, guint n, const gint64 *axes, gint64 *others);
/* Elements moved apart by @interior[i] others, which are @value; @low and @high of them at the ends; negative: cut. */
LptValue *lpt_tfl_hlo_pad      (LptTflOp *op, LptValue *x, LptValue *value, const gint64 *low, const gint64 *high,
                                const gint64 *interior);

/* How two numbers become one. */
typedef struct { LptOp join, reduce; LptReduction scatter; } LptTflHloJoin;

/* What subgraph @index does with its two inputs; NULL: it hands on the second (@may_replace), or an error. */
const LptTflHloJoin *lpt_tfl_hlo_join (LptTflOp *op, gint64 index, gboolean may_replace);

#endif
