/* lpt-nms-rows.h - what a non-maximum suppression keeps, as its outputs have it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

typedef struct
{
  float  score;
  gint64 image, label, index;
} LptNmsRow;

/* By falling score; equal ones by image, class and box. */
int      lpt_nms_row_compare (gconstpointer a, gconstpointer b);
void     lpt_nms_rows_sort   (GArray *rows);
/* Outputs of @shape, [lines, 3]: image, class and box; image, class and score; how many there are. The last two may be
 * missing; lines behind @rows are -1. */
gboolean lpt_nms_rows_write  (LptCall *call, const GArray *rows, const LptShape *shape, GError **error);
