/* style.h - colour on a terminal
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_STYLE_H
#define LPTC_STYLE_H

typedef enum { CMD_PLAIN, CMD_BOLD, CMD_DIM, CMD_GOOD, CMD_WARN } CmdStyle;

/* What begins @style on standard output, CMD_PLAIN ends it; "" where that is no terminal, is a dumb one, or NO_COLOR is
 * set. */
const char *cmd_style (CmdStyle style);

#endif
