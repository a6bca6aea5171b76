/* verify.h - does each pass keep what the model computes?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_VERIFY_H
#define LPTC_VERIFY_H

#include <lpt/lpt-pass.h>

/* What the model computes on drawn inputs, by the reference executor, and how far each pass moved it. */
typedef struct _CmdVerify CmdVerify;

/* @graph: the outermost one, which runs after changes in bodies, too; must live as long. */
CmdVerify *cmd_verify_new   (LptGraph *graph, GError **error);
void       cmd_verify_free  (CmdVerify *verify);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CmdVerify, cmd_verify_free)

/**
 * cmd_verify_step:
 * After a change that @pass made (at @node, which may be NULL). Each value that is read is held against what was read
 * at that place before, from the same inputs (places.h). FALSE + error when an output depends on a value that moved
 * further than the pass may: LPT_EXACT not at all; LPT_EXACT_REAL by float rounding, but for proven ties (ties.h). The
 * other passes are measured only.
 */
gboolean   cmd_verify_step  (CmdVerify *verify, const LptPass *pass, const char *node, GError **error);
void       cmd_verify_print (CmdVerify *verify);

#endif
