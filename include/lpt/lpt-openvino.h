/* lpt-openvino.h - OpenVINO IR: .xml + .bin, versions 10 and 11
 *
 * Errors read `FILE:LINE: node "NAME": what`. What the graph cannot hold is
 * LPT_ERROR_UNSUPPORTED, what contradicts itself LPT_ERROR_INVALID, what cannot
 * be read or written LPT_ERROR_IO.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_OPENVINO_H
#define LPT_OPENVINO_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * lpt_openvino_load:
 * @xml_path: the topology
 * @bin_path: the weights; NULL = @xml_path with .bin instead of .xml. Needed only
 *   when the model has constants. It is mapped, constants are slices of the map.
 *
 * Only what a Result or an Assign reaches is built; Parameters and Results keep the
 * order of the file. Types and shapes are inferred, element types that ports declare are
 * checked, or kept where they may differ (relaxed types). Ops that the
 * table lacks become LPT_OP_OPAQUE nodes with their XML in LptNode.raw.
 * Returns: (transfer full): NULL on error
 */
LPT_EXPORT LptGraph *lpt_openvino_load  (const char *xml_path, const char *bin_path, GError **error);

/**
 * lpt_openvino_parse:
 * @weights: (nullable): content of the .bin; constants keep references to it
 * @source: (nullable): file name for messages
 * The same from memory.
 */
LPT_EXPORT LptGraph *lpt_openvino_parse (const char *xml, gsize length, GBytes *weights, const char *source, GError **error);

/**
 * lpt_openvino_save:
 * @bin_path: NULL = @xml_path with .bin instead of .xml
 * Writes IR v11: plain opsets, element types on ports, TYPE_RELAXED and DEQUANTIZATION as rt_info; equal constants
 * share their bytes. Both files are written beside their names and renamed, weights first. A lowered
 * graph, an op or an attribute that an IR cannot say is an error that names the node; nothing is left behind then.
 */
LPT_EXPORT gboolean  lpt_openvino_save  (LptGraph *graph, const char *xml_path, const char *bin_path, GError **error);

/* The .bin that belongs to an .xml (transfer full). That of a link lies beside the link where one is there, else beside
 * what the link leads to. */
LPT_EXPORT char     *lpt_openvino_bin_path (const char *xml_path);

G_END_DECLS

#endif
