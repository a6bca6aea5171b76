/* lpt-fuse.h - elementwise arithmetic taken into the intervals of a FakeQuantize
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_FUSE_H
#define LPT_FUSE_H

#include "passes/support/lpt-decompose.h"

G_BEGIN_DECLS

/**
 * lpt_fuse_shape_problem:
 * @op: Add, Subtract or Multiply with a constant on input @side
 * NULL, or why its constant cannot become part of a per-channel interval: the data is broadcast or has a
 * dynamic rank, the constant varies along axes 2.. or along a dynamic channel axis.
 */
const char *lpt_fuse_shape_problem (LptNode *op, guint side);
/* The operation in front of @fq in its input interval; the new FakeQuantize in its place, or NULL. */
LptNode    *lpt_fuse_above         (LptRewriter *rw, LptNode *fq);
/* A Subtract or Multiply by a constant behind a FakeQuantize (a Convert between them is skipped) in its output
 * interval. */
gboolean    lpt_fuse_below         (LptRewriter *rw, LptNode *op);

G_END_DECLS

#endif
