/* lpt-batch-norm.h - a batch normalization with constants as a line for each channel
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-graph.h>

/* gamma / sqrt (variance + eps) and beta less that times the mean, in double (transfer full, g_free): returns how many
 * channels there are, -1 where a parameter is computed. */
gint64    lpt_batch_norm_numbers (LptNode *norm, double **factor, double **term);
/**
 * lpt_batch_norm_line:
 * @factor: (out) (transfer full): gamma / sqrt (variance + eps) of each channel, in front of the axes behind axis 1
 * @term: (out) (transfer full): beta - factor * mean, likewise
 * Both in double, rounded once to @dtype.
 * Returns: (nullable): the data; NULL: a parameter is computed, or the rank or the channels are not known
 */
LptValue *lpt_batch_norm_line    (LptNode *norm, LptDType dtype, LptTensor **factor, LptTensor **term);
