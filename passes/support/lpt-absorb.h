/* lpt-absorb.h - factors and offsets behind products go into their constants (lpt-absorb.c)
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ABSORB_H
#define LPT_ABSORB_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

typedef enum { LPT_ABSORB_ALL, LPT_ABSORB_NORMS } LptAbsorb;    /* NORMS: batch normalisation alone */

gboolean lpt_absorb (LptGraph *graph, LptAbsorb what, GError **error);

G_END_DECLS

#endif
