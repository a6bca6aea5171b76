/* test-exec-table.c - every op of the table has an executor entry
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-op.h>

#include "eval/lpt-call.h"

static void
test_complete (void)
{
  guint op;

  for (op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    if (lpt_exec_op (op)->op != (LptOp) op)
      {
        g_test_message ("eval/lpt-exec-ops.def lacks %s", lpt_op_info (op)->name);
        g_test_fail ();
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/table/complete", test_complete);

  return g_test_run ();
}
