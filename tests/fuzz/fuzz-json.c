/* fuzz-json.c - the native JSON reader; what it accepts prints and reads back to the same text
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-json.h>

#include <string.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_json_parse ((const char *) data, size, NULL, "fuzz.json", &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL)
    g_assert (strchr (error->message, '\n') == NULL);
  if (graph == NULL)
    return 0;
  g_autofree char *text = lpt_json_print (graph, NULL);
  if (text == NULL)
    return 0;
  g_autoptr (LptGraph) again = lpt_json_parse (text, strlen (text), NULL, "again.json", &error);
  g_assert_no_error (error);
  g_autofree char *second = lpt_json_print (again, NULL);
  g_assert_cmpstr (text, ==, second);
  return 0;
}
