/* conv.h - integer convolutions: one part, or, transposed, one for each phase
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/weights.h"
#include "eval/lpt-window.h"

/* A convolution with what follows its sums; `place` says where its pixels lie in the output. */
typedef struct
{
  LptConv      conv;
  LptDwconv    dwconv;
  LptEpilogue  e;            /* that of the whole, with arrays of its own */
  LptEpiloguePart sums;
  gint32      *bias;
  double       bound;        /* of the sums */
  LptRequantFma fma;
  LptConvPlace place;
} LptConvPart;

typedef struct
{
  LptFusedEpilogue epilogue;
  gboolean     depthwise;
  guint8      *pad_values;   /* depthwise with a zero point for each channel, or NULL */
  guint        n_parts;
  LptConvPart *parts;
  LptCut       rows, channels;       /* pixels, lines where the form is depthwise or has several parts; output channels */
  gsize        od, oh, ow;   /* lengths of the output */
} LptConvForm;

/* What an op has that fits. */
typedef struct
{
  LptWeightChannels weights; /* to be cleared */
  const LptArray *bias;
  guint         copies;      /* depthwise: by how many i8 a weight less its zero point is expressed, else 0 */
} LptConvMatch;

/* What all parts are made from. */
typedef struct
{
  LptProgram   *program;
  LptProgramOp *op;
  LptConvForm  *form;
  LptConvMatch  match;
  gint32       *zeros;       /* of the input in u8 form: n_zeros */
  guint         n_zeros;
  const LptGemmKernel *gemm; /* of the first part, NULL before it */
} LptConvMaker;

/* What packed weights depend on: the geometry, and which elements of the kernel along each axis, tap, tap + every, ...
 * @none: not any. */
typedef struct
{
  LptConvShape shape;
  gint64       tap[3], every[3], none;
} LptConvKey;

/* What @op has as its view tells, seen in the lengths of its operands. FALSE: no such geometry. */
gboolean lpt_conv_geometry    (const LptProgramOp *op, LptWeightedView *view, LptWindow *window, LptConvShape *s);
/* Do the codes, weights and bias of @op fit, whose geometry is @s? FALSE: a remark says what does not, and nothing is
 * left to clear. */
gboolean lpt_conv_match       (LptConvMatch *match, LptProgramOp *op, const LptWeightedView *view,
                               const LptConvShape *s);
/* From a match (taken over). The caller then makes form->parts and says the lengths of the output. FALSE: the result
 * cannot be written in one pass; nothing is left to clear. */
gboolean lpt_conv_maker_init  (LptConvMaker *maker, LptProgram *program, LptProgramOp *op, const LptConvMatch *match);
void     lpt_conv_maker_clear (LptConvMaker *maker);
/* Part @i, in order, with @weights (NULL: no memory) as [oc][ic / groups][kernel]; @place: NULL where it is the whole
 * output. */
void     lpt_conv_maker_add   (LptConvMaker *maker, guint i, const LptConvKey *key, const guint8 *weights, const LptConvPlace *place);
/* All parts are there: the op has its form. */
void     lpt_conv_maker_end   (LptConvMaker *maker);

void     lpt_conv_form_clear  (gpointer form);

/* Lengths, kernel, strides, ... of a window. */
void     lpt_conv_shape_take  (LptConvShape *shape, const LptWindow *window);
