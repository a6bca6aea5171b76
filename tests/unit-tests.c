/* tests/unit-tests.c - all programs of tests/unit in one
 *
 * The build makes a link to it for each. The name by which it was called says whose main () runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#define UNIT_TEST(name, main) int main (int argc, char **argv);
#include "unit-tests.def"
#undef UNIT_TEST

static const struct {
  const char *name;
  int (*main) (int argc, char **argv);
} tests[] = {
#define UNIT_TEST(name, main) { name, main },
#include "unit-tests.def"
#undef UNIT_TEST
};

int
main (int argc, char **argv)
{
  const char *slash = strrchr (argv[0], '/');
  const char *name = slash ? slash + 1 : argv[0];

  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (strcmp (tests[i].name, name) == 0)
      return tests[i].main (argc, argv);
  fprintf (stderr, "%s: there is no test of this name; there are links to this program beside it\n", name);
  return 2;
}
