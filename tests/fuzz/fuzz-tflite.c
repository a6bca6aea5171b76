/* fuzz-tflite.c - the TensorFlow Lite reader: every entry point; what it accepts is printed and read again
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-text.h>
#include <lpt/lpt-tflite.h>

static void
read_once (GBytes *bytes, const char *signature, guint flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_tflite_parse (bytes, NULL, signature, flags, &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL)
    return;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_autoptr (LptGraph) again = lpt_graph_from_text (text, -1, "again.lpt", &error);
  g_assert ((again == NULL) == (error != NULL));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  read_once (bytes, NULL, 0);
  read_once (bytes, NULL, LPT_TFLITE_ALL_TENSORS);
  read_once (bytes, "serving_default", 0);
  return 0;
}
