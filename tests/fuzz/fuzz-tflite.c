/* fuzz-tflite.c - the TensorFlow Lite reader and writer: every entry point; what it accepts is printed and read again,
 * and written from its nodes and read again
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-text.h>
#include <lpt/lpt-tflite.h>
#include <stdio.h>
#include <stdlib.h>

/* A model that was written can be read. */
static void
write_back (LptGraph *graph, guint flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_tflite_serialise (graph, LPT_TFLITE_ANEW | flags, &error);
  g_assert ((bytes == NULL) == (error != NULL));
  if (bytes == NULL)
    return;
  g_autoptr (LptGraph) again = lpt_tflite_parse (bytes, NULL, NULL, 0, &error);
  /* abort (): of a trap, which g_error () is, libFuzzer keeps no input. */
  if (again == NULL)
    {
      fprintf (stderr, "what was written cannot be read: %s\n", error->message);
      abort ();
    }
}

/* A state of zeros is a shape in the file, and may be gigabytes of text. */
#define MAX_VALUES (1 << 20)

static void
print_and_read (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  gint64 values = 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const LptNode *node = graph->nodes->pdata[i];
      values += node->data != NULL ? lpt_tensor_count (node->data) : 0;
    }
  if (values > MAX_VALUES)
    return;
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);
  g_autoptr (LptGraph) again = lpt_graph_from_text (text, -1, "again.lpt", &error);
  g_assert ((again == NULL) == (error != NULL));
}

static void
read_once (GBytes *bytes, const char *signature, guint flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_tflite_parse (bytes, NULL, signature, flags, &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL)
    return;
  print_and_read (graph);
  write_back (graph, flags == 0 ? 0 : LPT_TFLITE_BUFFERS_BEHIND);
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
