/* explain-case.h - what the tests of explain share: a graph as text, explained for a target, and its ops by name
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include <lpt/lpt-explain.h>
#include <lpt/lpt-text.h>

static inline LptExplanation *
find (GPtrArray  *list,
      const char *name)
{
  for (guint i = 0; i < list->len; i++)
    {
      LptExplanation *e = g_ptr_array_index (list, i);

      if (strcmp (e->name, name) == 0)
        return e;
    }
  g_error ("%s is not explained", name);
}

static inline GPtrArray *
explain_for (const char *target,
             const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
  g_autoptr (LptConfig) config = lpt_config_new_target (target, &error);
  GPtrArray *list;

  g_assert_no_error (error);
  list = lpt_explain (graph, config, &error);
  g_assert_no_error (error);

  return list;
}

#define QUANTIZED(x, from) \
  "%" x ".l = Const {-1.28} : f32[]\n" \
  "%" x ".h = Const {1.27} : f32[]\n" \
  "%" x " = FakeQuantize(%" from ", %" x ".l, %" x ".h, %" x ".l, %" x ".h) {levels=256}\n"
