/* files.h - models in and out, whatever their form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPTC_FILES_H
#define LPTC_FILES_H

#include <lpt/lpt-file.h>

/* A model of any form, told by its content, with the next file of --weights and the --signature (transfer full); NULL +
 * error. */
LptGraph *cmd_load (const char *path, GError **error);

/* Would writing @out (and the weights beside it) overwrite @in or the weights beside that? The path at fault, or NULL
 * (transfer full). */
char     *cmd_overwrites (const char *in, const char *out);

/* A file name for a value: what is not in [A-Za-z0-9_.-] becomes "_", a long one is cut (transfer full). */
char     *cmd_file_name (const char *value_name);

#endif
