/* search.h - trying several ways and holding them against the float graph
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SEARCH_H
#define LPT_SEARCH_H

#include "quantize/quantizer.h"

typedef struct
{
  LptGraph           *real;        /* prepared */
  LptData            *data;
  LptQuantizeOptions *options;
  LptQuantizeReport  *report;
  double              bound;       /* of equalization's factors; 1 = none */
} LptSearch;

/* Takes those repairs of the float graph out of s->options that do not help, and finds s->bound, if @equalize says that
   there
   are weights for it. */
gboolean   lpt_quantize_choose_float (LptSearch *s, gboolean equalize, GError **error);
/* search-layers.c: names of layers that have to stay real, and of those that need data of 16 bits, for
 * options->max_drop to hold, into
   report->kept and report->wide; FALSE + error. */
gboolean   lpt_quantize_choose_layers (LptSearch *s, GError **error);

#define LPT_SEARCH_SAMPLES 32
/* Quantizes a copy of the float graph, with @kept (nullable) real (transfer full); *report gets what was done. NULL +
   error. */
LptGraph  *lpt_search_quantize (const LptSearch *s, const LptQuantizeOptions *options, GPtrArray *kept, double bound,
                                LptQuantizeReport *report, GError **error);

#endif
