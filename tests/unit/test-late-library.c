/* test-late-library.c - libraries that are opened when they are first needed: there, not there, without a function
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-types.h>

#include <math.h>

#include "frontends/data/late-library.h"

#define MATH_FUNCTIONS(F) F (floor, floor) F (round, round)

typedef struct
{
  MATH_FUNCTIONS (LATE_MEMBER)
} Math;

static const char *const names[] = { MATH_FUNCTIONS (LATE_NAME) };

static void
test_there (void)
{
  Math functions = { NULL };
  LateLibrary library = { "the mathematical library", "libm.so.6", G_N_ELEMENTS (names), names, &functions, 0, NULL };
  g_autoptr (GError) error = NULL;
  if (!late_library_open (&library, "x.npz", &error))
    {
      g_test_skip (error->message);     /* another C library */
      return;
    }
  for (int turn = 0; turn < 2; turn++)
    {
      g_assert_true (late_library_open (&library, "x.npz", &error));
      g_assert_no_error (error);
    }
#ifdef LPT_LATE_LIBRARIES
  g_assert_true (functions.floor (2.5) == 2 && functions.round (2.5) == 3);
#endif
}

#ifdef LPT_LATE_LIBRARIES

static void
assert_refused (const char *soname, const char *const *wanted, gsize n, const char *pattern)
{
  Math functions = { NULL };
  LateLibrary library = { "libwish", soname, n, wanted, &functions, 0, NULL };
  for (int turn = 0; turn < 2; turn++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_false (late_library_open (&library, "samples/x.npz", &error));
      g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
      g_assert_true (g_pattern_match_simple (pattern, error->message));
    }
  g_free (library.reason);
}

static void
test_not_there (void)
{
  assert_refused ("liblpt-nobody-has.so.7", names, G_N_ELEMENTS (names),
                  "samples/x.npz: unsupported: libwish cannot be opened: liblpt-nobody-has.so.7*");
}

static void
test_without_a_function (void)
{
  static const char *const wishes[] = { "floor", "lpt_nobody_has_this" };
  assert_refused ("libm.so.6", wishes, G_N_ELEMENTS (wishes),
                  "samples/x.npz: unsupported: libwish cannot be opened: *lpt_nobody_has_this*");
}

#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/late-library/there", test_there);
#ifdef LPT_LATE_LIBRARIES
  g_test_add_func ("/late-library/not-there", test_not_there);
  g_test_add_func ("/late-library/without-a-function", test_without_a_function);
#endif
  return g_test_run ();
}
