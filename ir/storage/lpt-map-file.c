/* lpt-map-file.c - files as memory, and the files that a model names
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ir/storage/lpt-map-file.h"
#include "ir/lpt-memory.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS 40   /* as Linux */

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

char *
lpt_path_behind_links (const char *path)
{
  g_autofree char *name = g_strdup (path);
  for (guint i = 0; i < MAX_LINKS; i++)
    {
      g_autofree char *target = g_file_read_link (name, NULL), *folder = NULL;
      if (target == NULL)
        return g_steal_pointer (&name);
      folder = g_path_get_dirname (name);
      g_free (name);
      name = g_path_is_absolute (target) ? g_steal_pointer (&target) : g_build_filename (folder, target, NULL);
    }
  errno = ELOOP;
  return NULL;
}

/* Does @name, taken word by word, climb above where it starts? */
static gboolean
climbs (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  gint depth = 0;
  for (char **part = parts; *part != NULL && depth >= 0; part++)
    depth += g_str_equal (*part, "..") ? -1 : !g_str_equal (*part, ".") && **part != '\0';
  return *name == '\0' || g_path_is_absolute (name) || depth < 0;
}

char *
lpt_path_beside (const char *folder, const char *name, const char *what, GError **error)
{
  g_autofree char *joined = g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (folder, name, NULL);
  if (lpt_limits_allow_paths ())
    return g_steal_pointer (&joined);
  char *real_folder = realpath (folder, NULL), *real_file = NULL;
  gboolean inside = !climbs (name);
  if (inside && (real_folder == NULL || (real_file = realpath (joined, NULL)) == NULL))
    g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s \"%s\": %s", what, name, g_strerror (errno));
  else if (inside)
    {
      gsize n = strlen (real_folder);
      inside = strncmp (real_file, real_folder, n) == 0 && (real_folder[n - 1] == '/' || real_file[n] == '/');
    }
  if (!inside)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s \"%s\" leads out of the model's folder", what, name);
  gboolean ok = inside && real_file != NULL;
  free (real_folder);
  free (real_file);
  return ok ? g_steal_pointer (&joined) : NULL;
}
