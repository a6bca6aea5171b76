/* lpt-predicates.h - named questions about a node, for the callbacks of targets
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_PREDICATES_H
#define LPT_PREDICATES_H

#include <lpt/lpt-config.h>

/* NULL when there is none of that name. */
LptPassCallback lpt_predicate_find (const char *name);

#endif
