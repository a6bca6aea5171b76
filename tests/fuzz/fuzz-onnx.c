/* fuzz-onnx.c - the ONNX reader, either serialisation; what it accepts is written in both forms, and those are read
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-onnx.h>

static void
write_and_read (LptGraph *graph, LptOnnxSaveFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, flags, &error);
  g_assert ((bytes == NULL) == (error != NULL));
  if (bytes == NULL)
    return;
  g_autoptr (LptGraph) again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  g_assert ((again == NULL) == (error != NULL));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (data, size, NULL, &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL)
    return 0;
  write_and_read (graph, 0);
  write_and_read (graph, LPT_ONNX_JSON | LPT_ONNX_QOPERATOR);
  return 0;
}
