/* page.h - what the parts of a page share: the ops of the source, and what is known of each
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-explain.h>
#include <lpt/lpt-page.h>

#include "report/codes.h"

/* An op of the source, as the page shows it. */
typedef struct LptPageNode LptPageNode;
struct LptPageNode
{
  LptNode              *node;
  guint                 index, block;
  const LptExplanation *row;        /* NULL: it does not compute */
  LptValue             *now;        /* what stands for its result in the lowered graph, or NULL */
  LptCodeCounts        *codes;      /* of that, or NULL */
  double                sqnr, cosine;        /* accumulated, NaN = not known */
  double                alone, clipped;      /* SQNR with this layer alone quantized; share of the float model's values beyond the interval; NaN = not known */
  double                ms, original_ms;     /* -1 = not known */
  char                 *kernel;
  gint64                bytes;      /* that what stands for it reads and writes at least */
  const LptPageNode    *within;     /* the op whose kernel does its work, or NULL */
};

typedef struct
{
  LptGraph   *source, *lowered;
  LptReport  *report;
  GPtrArray  *rows;                 /* LptExplanation * */
  char       *macs;
  GPtrArray  *nodes;                /* LptPageNode *, in topological order */
  GHashTable *by_name;              /* name in the source -> LptPageNode */
  GHashTable *by_now;               /* name in the lowered graph -> LptPageNode */
  GPtrArray  *blocks;               /* char *: names of blocks */
} LptPage;

/* page-model.c */
/* @data: (nullable): samples, made for the inputs of @of (nullable: of @graph), that say sizes which @graph leaves
 * open. */
LptPage *lpt_page_new   (LptGraph *graph, const LptConfig *config, LptGraph *of, LptData *data, GError **error);
void     lpt_page_free  (LptPage *page);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptPage, lpt_page_free)
/* The op of the source that a node of the lowered graph, or of the source, stands for; NULL. */
LptPageNode *lpt_page_find (const LptPage *page, const char *name);

/* page-blocks.c: gives each node a block: neighbours in topological order with one value between blocks, or one prefix
 * of names. */
void     lpt_page_blocks (LptPage *page);

/* page-measure.c: errors against the original, use of codes. */
gboolean lpt_page_measure (LptPage *page, const LptPageOptions *options, GString *out, GError **error);

/* page-profile.c: times of a profile's JSON into the nodes, what belongs to no node and the machine into @out. */
gboolean lpt_page_profile (LptPage *page, const char *text, gboolean original, GString *out, GError **error);

/* page-memory.c: the arena of a plan over time; into the nodes, which others they are fused into. */
gboolean lpt_page_memory  (const LptPage *page, GString *out, GError **error);

/* page-nodes.c: lists of nodes, reasons, passes, types, and what differs from another model. */
void     lpt_page_put_nodes   (const LptPage *page, GString *out);
void     lpt_page_put_reasons (const LptPage *page, GString *out);
void     lpt_page_put_passes  (const LptPage *page, GString *out);
void     lpt_page_put_types   (const LptPage *page, GString *out);
void     lpt_page_put_against (const LptPage *page, const LptPage *other, GString *out);
