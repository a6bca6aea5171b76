/* libzip.c - see libzip.h
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifdef LPT_HAVE_LIBZIP

#include "frontends/data/libzip.h"

Libzip libzip = { LIBZIP_FUNCTIONS (LATE_VALUE) };

static const char *const names[] = { LIBZIP_FUNCTIONS (LATE_NAME) };
static LateLibrary library = { "libzip", LPT_SONAME_LIBZIP, G_N_ELEMENTS (names), names, &libzip, 0, NULL };

gboolean
libzip_open (const char *path, GError **error)
{
  return late_library_open (&library, path, error);
}

#endif
