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
/* Names of layers that have to stay real for options->max_drop to hold (transfer full) (element-type utf8); NULL +
   error. */
GPtrArray *lpt_quantize_find_kept    (LptSearch *s, GError **error);

#endif
