/* runnable.h - the form in which a model runs
 *
 * One rule for every command that runs a model: one that carries quantization and is not lowered is transformed and
 * lowered for the default target, or as the options of the pipeline say; --float, and --reference where no option says
 * otherwise, run the graph as it is. What carries no quantization runs in float, and a line says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_RUNNABLE_H
#define LPTC_RUNNABLE_H

#include "cli/pipeline-args.h"

typedef struct
{
  CmdPipelineArgs pipeline;
  gboolean        real, transform;      /* --float; --transform, which says what is done anyway */
  char          **left_out;             /* --plan-disable: LptPlanOptions.disabled */
  gboolean        names_known;          /* cmd_run_check_names() has looked for them */
} CmdRunArgs;

void          cmd_run_args_clear (CmdRunArgs *args);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CmdRunArgs, cmd_run_args_clear)

/* Options of the pipeline, --float and --transform behind @more, as cmd_pipeline_entries(). */
GOptionEntry *cmd_run_entries    (CmdRunArgs *args, const GOptionEntry *more);

/* FALSE: *code is the exit code, the message about options that exclude each other is printed. */
gboolean      cmd_run_check      (const CmdRunArgs *args, int *code);

/* Shall the graph of a model that carries quantization run as it is? */
gboolean      cmd_runs_as_is     (const CmdRunArgs *args, gboolean reference);

/* Names that restrictions are for, in @n models before one of them changes: cmd_check_names(). One model needs no
 * call. */
gboolean      cmd_run_check_names (CmdRunArgs *args, LptGraph *const *graphs, guint n, int *code);

/* Brings @graph, loaded from @path, into the form in which it runs. FALSE: *code is the exit code, the message is
 * printed. */
gboolean      cmd_make_runnable  (LptGraph *graph, const char *path, const CmdRunArgs *args, gboolean reference, int *code);

/* All that the form depends on, as text (transfer full); NULL: *code is the exit code, the message is printed. */
char         *cmd_run_key        (const CmdRunArgs *args, gboolean reference, int *code);

#define CMD_NOTHING_TO_DO "nothing to do; lptc quantize makes an int8 model"
/* A line about a model that carries no quantization: @what becomes of it. */
void          cmd_note_float     (const LptGraph *graph, const char *path, const char *what);

#endif
