/* lpt-state.h - what variables hold from run to run of a context
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

typedef struct _LptStates LptStates;

LptStates *lpt_states_new    (void);
void       lpt_states_free   (LptStates *states);

/* FALSE without error: nothing was assigned to @name yet. @out has the shape, or gets it. */
gboolean   lpt_states_read   (LptStates *states, const char *name, LptArray *out, gboolean *found, GError **error);
/* What @name holds from the next run on. */
gboolean   lpt_states_write  (LptStates *states, const char *name, const LptArray *value, GError **error);
/* A run went well: what it wrote counts; or not. */
void       lpt_states_commit (LptStates *states, gboolean ok);
/* All variables start anew. */
void       lpt_states_reset  (LptStates *states);
