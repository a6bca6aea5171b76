/* search.h - trying several ways and holding them against the float graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SEARCH_H
#define LPT_SEARCH_H

#include "quantize/quantizer.h"

/* @real: prepared. Which of the repairs of the float graph among options->repairs help: takes out the others;
   @equalize: are there
   weights for it; @bound: of its factors, 1 = none. */
gboolean   lpt_quantize_choose_float (LptGraph *real, LptData *data, LptQuantizeOptions *options, gboolean equalize,
                                      double *bound, LptQuantizeReport *report, GError **error);
/* Names of layers that have to stay real for options->max_drop to hold (transfer full) (element-type utf8); NULL +
   error. */
GPtrArray *lpt_quantize_find_kept (LptGraph *real, LptData *data, const LptQuantizeOptions *options, double bound,
                                   LptQuantizeReport *report, GError **error);
#endif
