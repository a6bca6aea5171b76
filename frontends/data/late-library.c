/* late-library.c - see late-library.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/late-library.h"

#include <lpt/lpt-types.h>

#ifdef LPT_LATE_LIBRARIES

#include <dlfcn.h>
#include <string.h>

static char *
open_all (const LateLibrary *library)
{
  void *handle = dlopen (library->soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    return g_strdup (dlerror ());
  for (gsize i = 0; i < library->n; i++)
    {
      void *function = dlsym (handle, library->names[i]);
      if (function == NULL)
        return g_strdup (dlerror ());
      memcpy ((char *) library->functions + i * sizeof function, &function, sizeof function);
    }
  return NULL;
}

gboolean
late_library_open (LateLibrary *library, const char *path, GError **error)
{
  if (g_once_init_enter (&library->tried))
    {
      library->reason = open_all (library);
      g_once_init_leave (&library->tried, 1);
    }
  if (library->reason == NULL)
    return TRUE;
  g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported: %s cannot be opened: %s", path, library->name,
               library->reason);
  return FALSE;
}

#else

gboolean
late_library_open (LateLibrary *library, const char *path, GError **error)
{
  return TRUE;
}

#endif
