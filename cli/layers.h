/* layers.h - how far two requantization modes are apart, layer by layer
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_LAYERS_H
#define LPTC_LAYERS_H

#include "cli/run.h"

/* Runs @graph on @tensors: the outputs, and the codes of every quantized value by name (of the last run when the
 * arrays stack several). */
gboolean layers_run     (LptGraph *graph, GPtrArray *tensors, guint flags, guint threads, CmdOutputs *outputs,
                         CmdOutputs *codes, GError **error);

/* One line (or JSON object, preceded by a comma unless *first) per layer: how many codes differ, by how much. */
void     layers_compare (LptGraph *graph, const char *label, const CmdOutputs *a, const CmdOutputs *b, gboolean json,
                         gboolean *first);

/* In how many rows of the last axis the greatest element is at the same place; *rows = their number. */
gint64   layers_arg_max (LptTensor *a, LptTensor *b, gint64 *rows);

#endif
