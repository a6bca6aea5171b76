/* lpt-infer.h - shape and element type inference, one function per infer name of the op table
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_INFER_H
#define LPT_INFER_H

#include <lpt/lpt-op.h>

#define LPT_OP(ENUM, name, versions, min_in, max_in, n_out, flags, attrs, infer, doc) \
  gboolean lpt_infer_##infer (LptNode *node, GError **error) __attribute__ ((weak));
#include <lpt/lpt-ops.def>

/* Opaque and custom ops: the types and shapes that they have. */
gboolean lpt_infer_opaque (LptNode *node, GError **error) __attribute__ ((weak));

#endif
