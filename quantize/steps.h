/* steps.h - from a prepared graph to one with FakeQuantize
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_QUANTIZE_STEPS_H
#define LPT_QUANTIZE_STEPS_H

#include "quantize/quantizer.h"

/* All steps behind preparation, on @graph. @kept: names, nullable; @bound: of equalization. */
gboolean lpt_quantize_run (LptGraph *graph, LptData *data, const LptQuantizeOptions *options, GPtrArray *kept,
                           double bound, LptQuantizeReport *report, GError **error);

#endif
