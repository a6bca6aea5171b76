/* fuzz-xml.c - the OpenVINO IR reader; what it accepts is written and read again
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include <lpt/lpt-json.h>
#include <lpt/lpt-openvino.h>

#include <string.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const guint8 zeros[4096];
  g_autoptr (GBytes) weights = g_bytes_new_static (zeros, sizeof zeros);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_openvino_parse ((const char *) data, size, weights, "fuzz.xml", &error);
  g_assert ((graph == NULL) == (error != NULL));
  if (graph == NULL)
    g_assert (strchr (error->message, '\n') == NULL);
  else
    g_free (lpt_json_print (graph, NULL));
  return 0;
}
