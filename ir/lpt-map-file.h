/* lpt-map-file.h - files as memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_MAP_FILE_H
#define LPT_MAP_FILE_H

#include <lpt/lpt-types.h>

/* @path mapped for reading (transfer full); NULL + "PATH: what is wrong" (LPT_ERROR_IO). */
GMappedFile *lpt_map_file (const char *path, GError **error);

#endif
