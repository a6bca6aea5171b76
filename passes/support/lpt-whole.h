/* lpt-whole.h - whole numbers in tensors of real ones
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_WHOLE_H
#define LPT_WHOLE_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/* Up to this single precision has all of them. */
#define LPT_WHOLE_MOST 16777216.0

/* Are all numbers of @value known to be whole? What comes from the model's inputs is not, but behind a rounding. */
gboolean lpt_is_whole    (LptValue *value);
/* Does @clamp bound whole numbers by whole ones, at most 255 apart, that are data of a product? */
gboolean lpt_names_codes (LptNode *clamp);

G_END_DECLS

#endif
