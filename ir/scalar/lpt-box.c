/* lpt-box.c - boxes of detection ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdlib.h>

#include "ir/scalar/lpt-box.h"

static int
by_score (const void *pa,
          const void *pb)
{
  const LptCandidate *a = pa, *b = pb;

  if (a->score != b->score)
    return a->score > b->score ? -1 : 1;
  if (a->label != b->label)
    return a->label < b->label ? -1 : 1;

  return a->index < b->index ? -1 : a->index > b->index;
}

void
lpt_candidates_sort (LptCandidate *candidates,
                     gsize         n)
{
  if (n > 1)
    qsort (candidates, n, sizeof *candidates, by_score);
}
