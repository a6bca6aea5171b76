/* late-library.h - libraries that few runs need, opened by the first that does
 *
 * A program that starts pays for each library that it is linked with and for those that these need in turn: libzip and
 * gdk-pixbuf, with ten others behind them, were half of the time that lptc takes to say its version.
 *
 * A list FUNCTIONS(F) of F (member, function) makes a struct of pointers to functions. They are found at run time where
 * LPT_LATE_LIBRARIES is defined, with each library's LPT_SONAME_NAME, else linked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define LATE_MEMBER(member, function) __typeof__ (function) *member;
#define LATE_NAME(member, function) #function,
#ifdef LPT_LATE_LIBRARIES
#define LATE_VALUE(member, function) .member = NULL,
#else
#define LATE_VALUE(member, function) .member = function,
#endif

typedef struct
{
  const char        *name;        /* as people know it */
  const char        *soname;      /* of the library whose headers the build has read */
  gsize              n;
  const char *const *names;       /* of functions, also of libraries that it needs */
  gpointer           functions;   /* the struct: @n pointers in this order */
  gsize              tried;       /* of g_once_init_enter() */
  char              *reason;      /* why it could not be opened */
} LateLibrary;

/* From any thread; it stays open. FALSE, naming @path that needs it: it is not on this machine, or lacks a function. */
gboolean late_library_open (LateLibrary *library, const char *path, GError **error);

G_END_DECLS
