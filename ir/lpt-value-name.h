/* lpt-value-name.h - what a value is called by the node that makes it: "node", or "node.1" for another output than the
 * first one, as lpt_graph_find_value() reads it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* (transfer full) */
static inline char *
lpt_value_name (const LptValue *value)
{
  return value->index == 0 ? g_strdup (value->producer->name)
                           : g_strdup_printf ("%s.%u", value->producer->name, value->index);
}
