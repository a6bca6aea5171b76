/* values.h - one node by the reference executor, on values that are given
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_VALUES_H
#define LPTC_VALUES_H

#include <lpt/lpt-graph.h>

/**
 * cmd_values_run:
 * @in: node->n_in tensors as a reference run holds them, NULL where the input is absent
 * @out: (out): node->n_out tensors, held likewise (transfer full)
 * What a run of the whole graph would compute there from these inputs.
 */
gboolean cmd_values_run (LptNode *node, LptTensor *const *in, LptTensor **out, GError **error);

#endif
