/* lpt-target.h - target files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TARGET_H
#define LPT_TARGET_H

#include <lpt/lpt-config.h>

/* No restrictions, no lists of passes. */
LptConfig *lpt_config_new_empty (void);

#endif
