/* limits.h - options of every command that reads a model: what it may cost, where its files lie
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_LIMITS_H
#define LPTC_LIMITS_H

#include <lpt/lpt-limits.h>

/* The rows (transfer none), which end with a NULL row. cmd_parse() adds them where files are read. */
const GOptionEntry *cmd_limits_entries (void);
/* After parsing: holds this thread to them. */
void                cmd_limits_apply   (void);

/* Would @bytes more than are in use be too many? */
gboolean            cmd_limits_exceed  (double bytes);

/* The files of --weights, in the order of the models; NULL = none (transfer none). */
char              **cmd_limits_weights (void);
/* Those of --encodings. */
char              **cmd_limits_encodings (void);
/* The key of --signature; NULL = none. */
const char         *cmd_limits_signature (void);
/* Is --stateless given? */
gboolean            cmd_limits_stateless (void);

/* A mapped file that becomes shorter while it is read ends the process with a message, exit code 1; what it was writing
 * goes. */
void                cmd_limits_catch_bus_error (void);

#endif
