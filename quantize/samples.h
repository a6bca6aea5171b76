/* samples.h - some samples of many
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_SAMPLES_H
#define LPT_SAMPLES_H

#include <lpt/lpt-data.h>

/* Up to @n samples of @data at equal distances, or (@rest) the others; @data must outlive it (transfer full). */
LptData *lpt_data_spread (LptData *data, guint n, gboolean rest);

#endif
