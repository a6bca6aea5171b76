/* files.h - models in and out, whatever their form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_FILES_H
#define LPTC_FILES_H

#include <lpt/lpt-graph.h>

/* A model of any form, told by its content (transfer full); NULL + error. */
LptGraph *cmd_load (const char *path, GError **error);

typedef struct
{
  gboolean    embed_weights;   /* .json */
  const char *onnx_form;       /* "qdq" or "qoperator"; NULL = qdq */
} CmdSaveOptions;

/* TRUE when the extension of @path names a form that can be written. */
gboolean  cmd_can_save (const char *path);
/* The target whose lowered graphs the form of @path is made for; NULL: any graph. */
const char *cmd_save_target (const char *path);
char     *cmd_save_forms (void);       /* ".xml, .json, ..." (transfer full) */
gboolean  cmd_save (LptGraph *graph, const char *path, const CmdSaveOptions *options, GError **error);

/* The weights file that belongs to a model file, or NULL when its form has none (transfer full). */
char     *cmd_weights_beside (const char *path);
/* Would writing @out (and the weights beside it) overwrite @in or the weights beside that? The path at fault, or NULL (transfer full). */
char     *cmd_overwrites (const char *in, const char *out);

/* A file name for a value: what is not in [A-Za-z0-9_.-] becomes "_" (transfer full). */
char     *cmd_file_name (const char *value_name);

#endif
