/* pipeline-args.h - options of the sub-commands that run passes
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_PIPELINE_ARGS_H
#define LPTC_PIPELINE_ARGS_H

#include <lpt/lpt-pass.h>

typedef struct
{
  char   **per_tensor, **disable, **outputs, **requant, **shapes;
  char    *target, *config, *until, *deq_precision;
  gboolean no_update_precisions, dynamic, weight_only_float;
} CmdPipelineArgs;

/* For the rows below: --restrict and --keep in the order of the command line, a later one counts. */
gboolean cmd_on_restriction (const char *option, const char *value, gpointer data, GError **error);

/* --restrict, --per-tensor and --keep as rows of a table of options. */
#define CMD_RESTRICTION_ENTRIES(args) \
  { "restrict", 0, 0, G_OPTION_ARG_CALLBACK, cmd_on_restriction, \
    "Element types that an op's inputs may have: conv:u8,i8, node=NAME:u8,i8; an op alone never runs on integers", "OP|node=NAME[:P0[,P1...]]" }, \
  { "per-tensor", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(args)->per_tensor, "Inputs that need one scale: conv:0", "OP|node=NAME[:PORT...]" }, \
  { "keep", 0, 0, G_OPTION_ARG_CALLBACK, cmd_on_restriction, \
    "Nodes that never run on integers: --restrict node=NAME", "NAME|GLOB" }

/* The options as rows (transfer full, g_free): of @args, behind @more (ends with a NULL row, may be NULL), whose rows
 * stand for those of the same name. */
GOptionEntry *cmd_pipeline_entries (CmdPipelineArgs *args, const GOptionEntry *more);
void          cmd_pipeline_args_clear (CmdPipelineArgs *args);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CmdPipelineArgs, cmd_pipeline_args_clear)

/* Does any option name a target, or restrict something? */
gboolean      cmd_target_is_given (const CmdPipelineArgs *args);
/* Does any option say how to transform? */
gboolean      cmd_pipeline_is_given (const CmdPipelineArgs *args);
/* All that the options ask for, as text (transfer full); NULL: *code is the exit code, the message is printed. */
char         *cmd_pipeline_key    (const CmdPipelineArgs *args, int *code);

/* What the options ask for (transfer full); NULL: *code is the exit code, the message is printed. */
LptConfig    *cmd_pipeline_config (const CmdPipelineArgs *args, int *code);
/* Names that restrictions are for: one that no node of the @n graphs has is a mistake of the command line (FALSE:
 * *code, the message is printed), a glob that nothing fits is said. @lowered: nodes may be gone, both are only said. */
gboolean      cmd_check_names     (const LptConfig *config, LptGraph *const *graphs, guint n, gboolean lowered,
                                   int *code);
/* --shape, --cut and --requant on @n loaded graphs; what one of them has is cut there, and is no mistake. FALSE: *code
 * is the exit code, the message is printed. */
gboolean      cmd_prepare_graphs  (LptGraph *const *graphs, guint n, char **shapes, char **outputs, char **requant,
                                   int *code);
/* The graphs of @n files, with these options, into @graphs (NULL where @paths has none; the caller frees them in any
 * case). FALSE: as above. */
gboolean      cmd_load_prepared   (const char *const *paths, guint n, const CmdPipelineArgs *args, LptGraph **graphs,
                                   int *code);

/* Transforms and lowers @graph for the default target; a lowered one stays as it is, and one without quantization. */
gboolean      cmd_lower           (LptGraph *graph, GError **error);

#endif
