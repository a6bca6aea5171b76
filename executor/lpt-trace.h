/* lpt-trace.h - what a run with a trace writes down
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <lpt/lpt-executor.h>

#include "executor/operators/lpt-program.h"

typedef struct _LptTrace LptTrace;

gint64    lpt_trace_now  (void);
LptTrace *lpt_trace_new  (guint n_threads, guint capacity);
void      lpt_trace_free (LptTrace *trace);
/* Tasks [@task, @end) of the op at @op were run by @thread from @begin_ns until now. */
void      lpt_trace_add  (LptTrace *trace, guint op, gsize task, gsize end, guint thread, gint64 begin_ns);
/* Element-type LptTraceEvent, by their begin (transfer full); @dropped: had no room. */
GArray   *lpt_trace_events (const LptTrace *trace, const LptProgram *program, guint64 *dropped);
