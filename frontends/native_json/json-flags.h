/* json-flags.h - names of node flags and box kinds in the native JSON
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef JSON_FLAGS_H
#define JSON_FLAGS_H

#include <lpt/lpt-graph.h>

typedef struct { guint32 flag; const char *name; } JsonFlag;

static const JsonFlag json_flags[] = {
  { LPT_NODE_RELAXED, "relaxed" }, { LPT_NODE_DEQUANTIZATION, "dequantization" }, { LPT_NODE_KEEP_CONST, "keep_const" },
  { LPT_NODE_NO_CLEANUP, "no_cleanup" }, { LPT_NODE_BIAS, "bias" }, { LPT_NODE_DECOMPRESSION, "decompression" },
  { LPT_NODE_LPT_MADE, "lpt_made" }, { LPT_NODE_RAISED, "raised" },
};

static const char *const json_box_kinds[] = { "precisions", "preserved", "alignment", "interval" };    /* LptBoxKind */
static const char *const json_granularities[] = { "none", "per_tensor", "per_channel" };               /* LptGranularity */
static const char *const json_purposes[] = { "plain", "iteration", "condition" };                      /* LptPortPurpose */

/* The box numbers of a mark by name. */
typedef struct { const char *name; gsize offset; LptBoxKind kind; } JsonMarkField;

static const JsonMarkField json_mark_fields[] = {
  { "precisions", G_STRUCT_OFFSET (LptMark, precisions), LPT_BOX_PRECISIONS },
  { "preserved", G_STRUCT_OFFSET (LptMark, preserved), LPT_BOX_PRESERVED },
  { "avg_pool", G_STRUCT_OFFSET (LptMark, avg_pool), LPT_BOX_PRESERVED },
  { "interval", G_STRUCT_OFFSET (LptMark, interval), LPT_BOX_INTERVAL },
  { "alignment", G_STRUCT_OFFSET (LptMark, alignment), LPT_BOX_ALIGNMENT },
};

#endif
