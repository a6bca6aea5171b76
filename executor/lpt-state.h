/* lpt-state.h - what variables hold from run to run of a context
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

typedef struct _LptState LptState;
typedef struct _LptStates LptStates;

LptStates *lpt_states_new    (void);
void       lpt_states_free   (LptStates *states);

/* The variable @name, which stays where it is. */
LptState  *lpt_states_get    (LptStates *states, const char *name);
/* FALSE in @found: nothing was assigned to it yet. @out has the shape, or gets it. */
gboolean   lpt_state_read    (const LptState *state, LptArray *out, gboolean *found, GError **error);
/* What it holds from the next run on. */
gboolean   lpt_state_write   (LptState *state, const LptArray *value, GError **error);
/* A run went well: what it wrote counts; or not. */
void       lpt_states_commit (LptStates *states, gboolean ok);
/* All variables start anew. */
void       lpt_states_reset  (LptStates *states);
