/* debug-print.h - what lptc debug found, for people and for scripts
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_DEBUG_PRINT_H
#define LPTC_DEBUG_PRINT_H

#include <lpt/lpt-debug.h>

/* @rows: layers at most; 0 = all. */
void cmd_debug_print      (const LptDebug *debug, guint rows);
void cmd_debug_print_json (const LptDebug *debug);

#endif
