/* histogram.h - how often which values were seen, in fixed memory
 *
 * LPT_BINS bins of width 2^k on each side of 0. A value beyond them doubles the width: bins 2 i and 2 i + 1 become bin
 * i. So the counts are those of a histogram that had the final width from the start, in any order of the values; x 2^-k
 * is exact and the same on every processor. Exact zeros, the ends, NaN and infinities are counted apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_HISTOGRAM_H
#define LPT_HISTOGRAM_H

#include <glib.h>

G_BEGIN_DECLS

#define LPT_BINS 4096

typedef struct
{
  gint    k;                               /* width unit 2^k */
  float   unit;                            /* 1, or in (0.5, 1] where the largest value was known beforehand */
  float   min, max;
  guint64 n, zeros, broken;                /* broken: NaN and infinities, not in n */
  guint64 positive[LPT_BINS], negative[LPT_BINS];
  guint   samples;
  double  average_min, average_max;        /* moving, in the order of samples */
} LptHistogram;

LptHistogram *lpt_histogram_new  (void);
/* For values up to @largest: bins are as narrow as these allow. */
LptHistogram *lpt_histogram_new_for (float largest);
double        lpt_histogram_width (const LptHistogram *h);
void          lpt_histogram_free (LptHistogram *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LptHistogram, lpt_histogram_free)
/* One sample's values. */
void          lpt_histogram_add  (LptHistogram *h, const float *values, gint64 n);
/* What both saw; @from may be what files say. */
void          lpt_histogram_join (LptHistogram *h, const LptHistogram *from);

G_END_DECLS

#endif
