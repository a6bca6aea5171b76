/* copy-box.h - copies of boxes of elements between layouts, as few and long as the layouts allow
 *
 * A movement is separable when the place of an output element in the input is a sum of one number for each axis:
 * from (i, j, ...) = maps[0][i] + maps[1][j] + ... Slices, splits, pads, permutations, repetitions, blocks of space in
 * channels and nearest neighbours are; where an entry is LPT_COPY_FILL the element is a constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "executor/operators/lpt-operators.h"

#define LPT_COPY_FILL G_MINSSIZE
/* An axis may be several. */
#define LPT_COPY_MAX_AXES (2 * LPT_MAX_RANK)

/* A box of elements: indices along some axes, each of them one of the output or a part of one. */
typedef struct
{
  guint   n;
  guint   of[LPT_COPY_MAX_AXES];       /* the axis of the output that it is, or a part of */
  gsize   size[LPT_COPY_MAX_AXES], stride[LPT_COPY_MAX_AXES];  /* from one to the next in the output */
  gssize *from[LPT_COPY_MAX_AXES];     /* owned: offsets in the input, or LPT_COPY_FILL */
} LptCopyAxes;

/* What is copied: elements of so many bytes. */
typedef struct
{
  const LptTransposeKernel *kernel;
  gsize   element;           /* 8 at most */
  guint8  fill[8];
} LptCopyElement;

/* Elements that follow each other on both sides. */
typedef struct
{
  gsize  to, n;
  gssize from;               /* or LPT_COPY_FILL */
} LptCopySegment;

/* Rows over the outer axes; each is the same segments, a plane to transpose, or elements that are repeated. */
typedef struct
{
  guint           n;         /* outer axes */
  gsize           size[LPT_COPY_MAX_AXES], stride[LPT_COPY_MAX_AXES];
  gssize         *from[LPT_COPY_MAX_AXES];
  LptCopySegment *segments;
  guint           n_segments;
  gsize           step_to;   /* segments are single elements, so many apart on each side; 0: others */
  gssize          step_from;
  gsize           plane_rows, plane_cols, plane_ldi, plane_ldo;
  gsize           repeats;   /* how often each of row_length / repeats elements comes, or 0 */
  gssize          start;     /* in the input */
  gsize           at;        /* in the output */
  gsize           rows, row_length;    /* row_length: elements */
} LptCopyBox;

/* Elements from one to the next along each axis in @layout. */
void     lpt_copy_strides  (const LptShape *shape, LptValueLayout layout, gsize *strides);
/* @at: where the box begins in the output. */
void     lpt_copy_box_init (LptCopyBox *box, const LptCopyAxes *axes, gsize at);
void     lpt_copy_box_clear (LptCopyBox *box);
/* What the first @n of @from hold, not @from. */
void     lpt_copy_maps_free  (gssize **from, guint n);
void     lpt_copy_axes_clear (LptCopyAxes *axes);
/* Rows [r0, r1). */
void     lpt_copy_box_run  (const LptCopyBox *box, const LptCopyElement *element, gsize r0, gsize r1, const guint8 *in, guint8 *out);
/* One piece of the input as it is; @start: at which element. */
gboolean lpt_copy_box_is_view (const LptCopyBox *box, gsize *start);
/* Eighths of single copies of the whole: eight elements of a plane, or repeated ones, are as one copy. */
gsize    lpt_copy_box_cost (const LptCopyBox *box);

/* --- ask-move.c --- */

/* The arrays of the inputs of @op, which stay the plan's, none where an optional one is absent (transfer container). */
LptArray *lpt_copy_inputs   (const LptProgramOp *op);
