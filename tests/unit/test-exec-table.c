/* test-exec-table.c - every op of the table has an executor entry, and every function of one input its expression
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-op.h>

#include "eval/lpt-call.h"
#include "ir/scalar/lpt-unary.h"

static void
test_complete (void)
{
  guint op;

  for (op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    if (lpt_exec_op (op)->op != (LptOp) op)
      {
        g_test_message ("eval/lpt-exec-ops.def lacks %s: a row, and lpt_run_<run> in eval/real/ where none does",
                        lpt_op_info (op)->name);
        g_test_fail ();
      }
}

/* Folding, the reference executor and tables of codes call it without a look. */
static void
test_functions (void)
{
  guint op;

  for (op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    if ((lpt_op_info (op)->flags & LPT_OP_F_UNARY) != 0 && lpt_unary_func (op) == NULL)
      {
        g_test_message ("%s has the trait UNARY and no row in UNARY_FUNCTIONS of ir/scalar/lpt-unary.c",
                        lpt_op_info (op)->name);
        g_test_fail ();
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/table/complete", test_complete);
  g_test_add_func ("/exec/table/functions", test_functions);

  return g_test_run ();
}
