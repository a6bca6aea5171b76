/* float-conv.h - real convolutions: one part, or, transposed, one for each phase
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/float-taps.h"

typedef struct
{
  LptProgram     *program;
  LptProgramOp   *op;
  LptWeightedView view;
  LptWindow       window;
  gsize           images, groups, in, out;    /* channels of a group */
  gsize           pixel;                      /* of a pixel of the input */
  gsize           bundled;                    /* 0, or output channels of a group where all are made as one, of `out` */
} LptFloatConvShape;

typedef struct _LptFloatConvForm LptFloatConvForm;

/* FALSE: a remark says what no kernel does. */
gboolean          lpt_float_conv_shape    (LptProgram *program, LptProgramOp *op, LptFloatConvShape *shape);
LptFloatConvForm *lpt_float_conv_form_new (const LptFloatConvShape *shape, guint n_parts);
/* Part @i, in order, of window @v with @weights as [groups][out][in][kernel], or what tells of computed ones (taken
 * over); @place: NULL where it is the whole output. */
void              lpt_float_conv_add_part (const LptFloatConvShape *shape, LptFloatConvForm *form, guint i,
                                           const LptWindow *v, const LptFloatPacks *weights, LptFloatTaps *computed,
                                           const LptConvPlace *place);
/* All parts are there: the op has its form. */
void              lpt_float_conv_set_form (const LptFloatConvShape *shape, LptFloatConvForm *form);

/* --- float-fold.c --- */

/* A transposed one that only adds up what it reads: TRUE: it has a form. */
gboolean lpt_prepare_float_fold (const LptFloatConvShape *shape);

/* --- float-deconv-taps.c --- */

/* A transposed one to a few channels: are all taps of a pixel better made at once? */
gboolean lpt_float_deconv_taps_pay     (const LptFloatConvShape *shape);
void     lpt_prepare_float_deconv_taps (const LptFloatConvShape *shape);

/* --- float-names.c --- */

typedef struct
{
  LptWindow    window;
  gint64      *range;                      /* by kx: output columns from, to, whose input lies inside */
  gint64       pitch;                      /* from input pixel to pixel */
  const float *zeros;                      /* what lies outside */
  gsize        rows;                       /* of a table, from tap to tap */
} LptFloatNames;

/* In front of a table that is kept: the input that it is of. */
#define LPT_FLOAT_NAMES_HEAD 64

void          lpt_float_names_init  (LptFloatNames *names, const LptWindow *v, gint64 pitch, const float *zeros);
void          lpt_float_names_clear (LptFloatNames *names);
/* The table of @n output pixels from @pixel on; @x: what begins with input line @line. */
void          lpt_float_names_set   (const LptFloatNames *names, const float *x, gint64 line, gsize pixel, gsize n,
                                     const float **table);
/* The same in memory that is kept, zeros at first, for one range of pixels of one input, which may move. */
const float **lpt_float_names_keep  (const LptFloatNames *names, guint8 *kept, const float *x, gsize pixel, gsize n);

/* --- float-runs.c --- */

/* Is one channel worth it? */
gboolean lpt_float_runs_pay  (const LptWindow *v);
/* Copies what @n output pixels from @pixel on read of @x, an image of one channel, and names where each begins. */
void     lpt_float_runs_copy (const LptWindow *v, const float *x, gsize pixel, gsize n, const float **table, float *to);
/* Bytes that it takes for @rows pixels. */
gsize    lpt_float_runs_size (const LptWindow *v, gsize rows);

/* --- float-placed.c --- */

/* Pixels [pixel, pixel + n) of an image of a part that has every so many pixels of the output. */
typedef struct
{
  const LptWindow    *window;
  const LptConvPlace *place;
  gsize               image, pixel, n;
  gsize               columns, all;      /* channels of a tile, one pixel behind the other, and of the output */
} LptFloatPlaced;

/* Between a tile and @whole, a value like the output, from its first channel on. */
void lpt_float_placed_gather  (const LptFloatPlaced *placed, const float *whole, float *tile);
void lpt_float_placed_scatter (const LptFloatPlaced *placed, const float *tile, float *whole);
