/* explain-print.h - what explain found, for people and for scripts
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_EXPLAIN_PRINT_H
#define LPTC_EXPLAIN_PRINT_H

#include <lpt/lpt-explain.h>

/* "u8", "none": how an op runs, in words of the table. */
const char *cmd_explain_type  (const LptExplanation *e);

/* Each prints the rows of @list (LptExplanation *) whose type is @only (NULL = all). @macs: what lpt_graph_macs_line()
 * says. */
void        cmd_explain_summary (GPtrArray *list, const char *only, const char *macs);
void        cmd_explain_all     (GPtrArray *list, const char *only, const char *macs);
void        cmd_explain_json    (GPtrArray *list, const char *only);
/* All that is known of one op. */
void        cmd_explain_one     (const LptExplanation *e);

#endif
