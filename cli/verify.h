/* verify.h - does each pass keep what the model computes?
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_VERIFY_H
#define LPTC_VERIFY_H

#include <lpt/lpt-pass.h>

/* The model's outputs on drawn inputs, by the reference executor, and how far each pass moved them. */
typedef struct _CmdVerify CmdVerify;

/* @graph: the outermost one, which runs after changes in bodies, too; must live as long. */
CmdVerify *cmd_verify_new   (LptGraph *graph, GError **error);
void       cmd_verify_free  (CmdVerify *verify);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CmdVerify, cmd_verify_free)

/**
 * cmd_verify_step:
 * After a change that @pass made (at @node, which may be NULL). FALSE + error when the outputs moved further than
 * the pass may: LPT_EXACT not at all; LPT_EXACT_REAL by a mean of 1e-3 of the greatest value (one float32 rounding
 * moves a code of a FakeQuantize behind it by a whole step, but only few of them). The other passes are measured only.
 */
gboolean   cmd_verify_step  (CmdVerify *verify, const LptPass *pass, const char *node, GError **error);
void       cmd_verify_print (CmdVerify *verify);

#endif
