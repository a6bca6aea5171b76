/* fuzz-pipeline.c - any graph that reads is transformed, lowered, validated, and survives the JSON form
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/fuzz.h"

#include "ir/lpt-check.h"

#include <lpt/lpt-json.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-text.h>

#include <string.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text ((const char *) data, (gssize) size, "fuzz.lpt", NULL);
  if (graph == NULL || graph->lowered || !lpt_graph_check_scales (graph, NULL))
    return 0;
  g_autoptr (LptConfig) config = lpt_config_new ();
  if (!lpt_pipeline_run (graph, config, NULL, NULL, &error))
    return 0;
  lpt_graph_validate (graph, &error);
  g_assert_no_error (error);
  g_autofree char *text = lpt_json_print (graph, &error);
  g_assert_no_error (error);
  g_autoptr (LptGraph) again = lpt_json_parse (text, strlen (text), NULL, "again.json", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (again->results->len, ==, graph->results->len);
  return 0;
}
