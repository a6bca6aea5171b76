/* lpt-version.c - the version of the library that runs
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stddef.h>

#include <lpt/lpt-version.h>

void
lpt_version (unsigned *major,
             unsigned *minor,
             unsigned *micro)
{
  if (major != NULL)
    *major = LPT_VERSION_MAJOR;
  if (minor != NULL)
    *minor = LPT_VERSION_MINOR;
  if (micro != NULL)
    *micro = LPT_VERSION_MICRO;
}

const char *const *
lpt_lacks (void)
{
  static const char *const names[] = {
#ifndef LPT_HAVE_LIBZIP
    "libzip",
#endif
#ifndef LPT_HAVE_PIXBUF
    "gdk-pixbuf",
#endif
    NULL
  };

  return names;
}
