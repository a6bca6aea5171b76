/* ov-build.h - an OvNet on its way to a graph: what the parts of ov-build.c share
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include "frontends/openvino_xml/ov-net.h"

typedef struct
{
  const OvFiles *files;
  OvNet         *net;
  LptGraph      *graph;
} OvBuild;

/* FALSE and an error that names file, line and node. */
gboolean ov_error (GError **error, const OvBuild *b, const OvLayer *layer, LptError code, const char *format, ...) G_GNUC_PRINTF (5, 6);
/* FALSE; the same in front of an error that is there. */
gboolean ov_prefix (GError **error, const OvBuild *b, const OvLayer *layer);

/* The tensor of a Const layer (ov-const.c); NULL + error. */
LptTensor *ov_constant (const OvBuild *b, const OvLayer *layer, GError **error);
/* Types and shapes of the outputs, by the op and as the ports declare them (ov-types.c). */
gboolean   ov_infer (const OvBuild *b, const OvLayer *layer, LptNode *node, gboolean relaxed_opset, GError **error);
