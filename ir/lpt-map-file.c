/* lpt-map-file.c - files as memory
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/lpt-map-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>

GMappedFile *
lpt_map_file (const char *path, GError **error)
{
  GStatBuf info;
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0), code = errno;
  if (fd >= 0 && g_stat (path, &info) == 0 && S_ISDIR (info.st_mode))
    {
      g_close (fd, NULL);
      fd = -1;
      code = EISDIR;
    }
  if (fd < 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, g_strerror (code));
      return NULL;
    }
  g_autoptr (GError) cause = NULL;
  GMappedFile *map = g_mapped_file_new_from_fd (fd, FALSE, &cause);
  g_close (fd, NULL);
  if (map == NULL)
    g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be mapped: %s", path, cause->message);
  return map;
}
