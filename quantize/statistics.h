/* statistics.h - resampling
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_STATISTICS_H
#define LPT_STATISTICS_H

#include <lpt/lpt-eval.h>

/* A number that depends on these three alone. */
guint64 lpt_stat_hash (guint64 seed, guint64 a, guint64 b);

/* Of two doubles, for qsort (): the smaller one first. */
int lpt_stat_compare (const void *a, const void *b);

/* 2.5 % and 97.5 % of @value over 1000 resamplings of @n samples. */
void lpt_stat_bootstrap (guint n, double (*value) (gconstpointer data, const guint32 *times), gconstpointer data,
                         double *low, double *high);

#endif
