/* ties.h - real numbers between two codes, which one float rounding turns to the other side
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_TIES_H
#define LPTC_TIES_H

#include "cli/places.h"

typedef struct _CmdTies CmdTies;

/* NULL: not both values of the place come from a quantization by steps alone. */
CmdTies *cmd_ties_new  (CmdPlaces *places, const CmdPlace *place);
void     cmd_ties_free (CmdTies *ties);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CmdTies, cmd_ties_free)

/* Is element @i proven to be a tie that turned: before and after, the number that is rounded lies within float rounding
 * of the middle between two codes, and the results are one step apart? */
gboolean cmd_ties_has  (const CmdTies *ties, gint64 i);
/* The greatest magnitude that element @i could have: codes are scaled and shifted from there, and that rounds. */
double   cmd_ties_range (const CmdTies *ties, gint64 i);

#endif
