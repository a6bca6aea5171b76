/* trace.c - a run in Chrome's trace-event format
 *
 * {"traceEvents": [...]}: "X" events with ts and dur in microseconds, tid the thread; "M" events name process and
 * threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/cmd.h"
#include "cli/profile.h"

/* Events of one thread that a run may have. */
#define CAPACITY (1u << 18)

static void
put_thread (GString *out, guint thread)
{
  g_string_append_printf (out, ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %u, \"args\": {\"name\": \"thread %u\"}}", thread, thread);
}

static void
put_event (GString *out, const LptTraceEvent *e)
{
  char ts[G_ASCII_DTOSTR_BUF_SIZE], dur[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append (out, ",\n{\"name\": ");
  cmd_json_string (out, e->name);
  g_string_append (out, ", \"cat\": ");
  cmd_json_string (out, e->type);
  g_string_append_printf (out,
                          ", \"ph\": \"X\", \"ts\": %s, \"dur\": %s, \"pid\": 1, \"tid\": %u, \"args\": {\"kernel\": ",
                          g_ascii_formatd (ts, sizeof ts, "%.3f", (double) e->begin_ns / 1e3),
                          g_ascii_formatd (dur, sizeof dur, "%.3f", (double) (e->end_ns - e->begin_ns) / 1e3),
                          e->thread);
  cmd_json_string (out, e->kernel != NULL ? e->kernel : "");
  g_string_append_printf (out, ", \"task\": %" G_GSIZE_FORMAT ", \"tasks\": %" G_GSIZE_FORMAT "}}", e->task,
                          e->end - e->task);
}

gboolean
cmd_trace_write (const char *path, const LptPlan *plan, LptPlanContext *context, GError **error)
{
  guint64 dropped;
  guint threads = 0;
  lpt_plan_context_trace_start (context, CAPACITY);
  gboolean ok = lpt_plan_run (plan, context, error);
  g_autoptr (GArray) events = lpt_plan_context_trace_stop (context, &dropped);
  if (!ok)
    return FALSE;
  g_autoptr (GString)
      out = g_string_new ("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
                          "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"lptc\"}}");
  for (guint i = 0; i < events->len; i++)
    threads = MAX (threads, g_array_index (events, LptTraceEvent, i).thread + 1);
  for (guint i = 0; i < threads; i++)
    put_thread (out, i);
  for (guint i = 0; i < events->len; i++)
    put_event (out, &g_array_index (events, LptTraceEvent, i));
  g_string_append (out, "\n]}\n");
  if (dropped > 0)
    cmd_note ("%s: %" G_GUINT64_FORMAT " events had no room", path, dropped);
  return lpt_out_file_text (path, out->str, out->len, error);
}
