/* fuzz-text.c - the text form; what it accepts prints and reads back to the same text
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-text.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ((const char *) data, (gssize) size, "fuzz.lpt", &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL)
    return 0;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_autoptr (LptGraph) again = lpt_graph_from_text (text, -1, "again.lpt", &error);
  g_assert_no_error (error);
  g_autofree char *second = lpt_graph_to_text (again, LPT_TEXT_DEFAULT);
  g_assert_cmpstr (text, ==, second);
  return 0;
}
