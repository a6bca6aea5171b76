/* ov-write-info.h - rt_info of layers, ports and the model (ov-write-info.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "frontends/openvino_xml/ov-out.h"

#include <lpt/lpt-graph.h>

/* The rt_info whose keys begin with @prefix: "" for the layer's own, "in0/", "out1/" for ports. */
void ov_put_rt_info (OvOut *out, const LptNode *node, const char *prefix);
/* Model-level rt_info: "a/b" -> v becomes <a><b value="v"/></a>. Keys that are no XML names are left out. */
void ov_put_meta    (OvOut *out, GHashTable *meta);
