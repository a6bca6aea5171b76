/* search.h - trying several ways and holding them against the float graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SEARCH_H
#define LPT_SEARCH_H

#include "quantize/quantizer.h"

/* The first @n samples of @data, which must outlive it (transfer full). */
LptData  *lpt_data_head        (LptData *data, guint n);
/* Transforms and lowers a copy of @quantized and evaluates it beside @real (transfer full); NULL + error. */
LptEvaluation *lpt_quantize_measure (LptGraph *real, LptGraph *quantized, LptData *data, const LptConfig *config,
                                     const LptEvalOptions *options, GError **error);

/* @real: prepared. The bound of equalization with the best SQNR of the results; 1 + nothing to equalize. < 0 +
   error. */
double lpt_quantize_find_bound (LptGraph *real, LptData *data, const LptQuantizeOptions *options,
                                LptQuantizeReport *report, GError **error);
/* Names of layers that have to stay real for options->max_drop to hold (transfer full) (element-type utf8); NULL +
   error. */
GPtrArray *lpt_quantize_find_kept (LptGraph *real, LptData *data, const LptQuantizeOptions *options, double bound,
                                   LptQuantizeReport *report, GError **error);
#endif
