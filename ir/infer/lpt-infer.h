/* lpt-infer.h - the inference functions that the op table names
 *
 * One function per distinct name in the infer column of lpt-ops.def, see
 * LptInferFunc. They are grouped by family in the files beside this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INFER_H
#define LPT_INFER_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

#define LPT_OP(ENUM, name, min_in, max_in, n_out, traits, attrs, infer, versions, openvino, doc) \
  gboolean lpt_infer_##infer (LptNode *node, GError **error);
#include "ir/lpt-ops.def"

/* Opaque ops and a plugin's own: what the file declares stays. */
gboolean lpt_infer_opaque (LptNode *node, GError **error);

G_END_DECLS

#endif
