/* lpt-map-file.h - files as memory, and the files that a model names
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_MAP_FILE_H
#define LPT_MAP_FILE_H

#include <lpt/lpt-types.h>

/* @path mapped for reading (transfer full); NULL + "PATH: what is wrong" (LPT_ERROR_IO). */
GMappedFile *lpt_map_file (const char *path, GError **error);

/* The name behind symbolic links, whether a file has it or not (transfer full); NULL: a circle, errno says so. */
char        *lpt_path_behind_links (const char *path);

/* Where the file is that a model in @folder calls @name (transfer full). It must lie below the folder, links followed,
 * unless the limits of the thread allow other paths. NULL + `WHAT "NAME" leads out of the model's folder`, LPT_ERROR_IO
 * where it does not exist. */
char        *lpt_path_beside (const char *folder, const char *name, const char *what, GError **error);

#endif
