/* ov-flags.h - rt_info attributes that are flags of a node, and where the IR spells a type its own way
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef OV_FLAGS_H
#define OV_FLAGS_H

#include <lpt/lpt-graph.h>

/* Any of the names is read, the first one of a flag is written. */
static const struct { const char *key; LptNodeFlags flag; } ov_rt_flags[] = {
  { "DEQUANTIZATION", LPT_NODE_DEQUANTIZATION },
  { "dequantization_node", LPT_NODE_DEQUANTIZATION },
  { "decompression", LPT_NODE_DECOMPRESSION },
  { "DISABLED_CONSTANT_FOLDING", LPT_NODE_KEEP_CONST },
  { "lpt_no_cleanup", LPT_NODE_NO_CLEANUP },
  { "lpt_bias", LPT_NODE_BIAS },
  { "lpt_made", LPT_NODE_LPT_MADE },
};

#endif
