/* lpt-mark.h - markup: what the markup passes write on nodes, inputs and outputs
 *
 * What several holders share is a box in a union-find of the
 * graph; a mark holds box numbers, 0 = absent. An empty list of types is not an
 * absent one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_MARK_H
#define LPT_MARK_H

#include <lpt/lpt-types.h>

G_BEGIN_DECLS

/* Most element types in a list. */
#define LPT_MAX_TYPES 8

/* An ordered list of element types without repeats; the order decides. Plain data. */
typedef struct
{
  guint8 n;
  guint8 v[LPT_MAX_TYPES];   /* LptDType */
} LptTypeList;

LPT_EXPORT gboolean    lpt_type_list_has       (const LptTypeList *list, LptDType dtype);   /* is @dtype among them? */
LPT_EXPORT void        lpt_type_list_add       (LptTypeList *list, LptDType dtype);   /* when absent */
LPT_EXPORT LptTypeList lpt_type_list_intersect (const LptTypeList *order, const LptTypeList *other); /* in the order of @order */
/* The same types in the same order. */
LPT_EXPORT gboolean    lpt_type_list_equal     (const LptTypeList *a, const LptTypeList *b);
LPT_EXPORT char       *lpt_type_list_to_string (const LptTypeList *list);             /* "u8|i8", "" (transfer full) */
LPT_EXPORT gboolean    lpt_type_list_from_string (const char *text, LptTypeList *list); /* "u8|i8" or "u8,i8" */

typedef guint32 LptBox;      /* number of a box in LptGraph.boxes; 0 = none */

/* What a box holds. */
typedef enum
{
  LPT_BOX_PRECISIONS,        /* .types */
  LPT_BOX_PRESERVED,         /* .flag: the node keeps its input's precision */
  LPT_BOX_ALIGNMENT,         /* .flag: FakeQuantizes of the region need one scale */
  LPT_BOX_INTERVAL,          /* .interval */
} LptBoxKind;

/* Real numbers from @low to @high. Plain data. */
typedef struct
{
  float       low, high;             /* combined interval */
  float       min_low, min_high;     /* the narrowest interval in the region */
  guint64     levels, min_levels;    /* 0 = alignment is impossible */
  LptTypeList preferred;
} LptInterval;

/* What all values that share a box agree on. Belongs to its graph: one thread at a time. */
typedef struct
{
  LptBox     parent;                 /* itself for a root */
  LptBoxKind kind;
  gboolean   flag;
  LptTypeList types;
  LptInterval interval;
} LptBoxValue;

/* One scale for all channels, or one each. */
typedef enum { LPT_GRANULARITY_NONE, LPT_GRANULARITY_PER_TENSOR, LPT_GRANULARITY_PER_CHANNEL } LptGranularity;

/* Zero-initialised = no mark. Belongs to its graph, as the boxes do: one thread at a time. */
typedef struct
{
  LptBox         precisions;         /* inputs of restricted ops, outputs of FakeQuantize, preserved nodes */
  LptBox         preserved;          /* nodes */
  LptBox         avg_pool;           /* nodes: AvgPoolPrecisionPreserved; shares the box of the AvgPool's `preserved` */
  LptBox         interval;           /* FakeQuantize and preserved nodes */
  LptBox         alignment;          /* preserved nodes */
  LptGranularity granularity;        /* inputs */
} LptMark;

LPT_EXPORT gboolean lpt_mark_is_empty (const LptMark *mark);   /* nothing is said */

G_END_DECLS

#endif
