/* tflite-metadata.c - what TFLITE_METADATA says of how images become inputs
 *
 * The buffer of that name is a FlatBuffer of its own, with the identifier M001. Its NormalizationOptions of an input,
 *
 *     x' = (x - mean) / std,      one mean and std, or one per channel
 *
 * are kept in the graph's meta under the names that frontends/data/model-info.c asks for. Nothing verifies the buffer
 * beforehand: the getters do not read past its end. Nothing is kept where inputs have different ones, or numbers that
 * nothing can be divided by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"

#include <math.h>

/* "a b c"; NULL: they are none, or not finite, or (@divide) 0. */
static char *
join (const LptTflVector *numbers, gboolean divide)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < numbers->n && numbers->n <= 4; i++)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];
      double x = lpt_tfl_item_real (numbers, i);
      if (!isfinite (x) || (divide && x == 0.0))
        return NULL;
      g_string_append_printf (text, "%s%s", i > 0 ? " " : "", g_ascii_formatd (number, sizeof number, "%.9g", x));
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

/* The NormalizationOptions of @tensor, or 0. */
static LptTflTable
find_normalization (const LptTflFlat *flat, LptTflTable tensor)
{
  LptTflVector units = lpt_tfl_vector (flat, tensor, TFL_TensorMetadata_process_units);
  for (guint i = 0; i < units.n; i++)
    {
      LptTflTable unit = lpt_tfl_item (&units, i);
      if (lpt_tfl_union (flat, unit, TFL_ProcessUnit_options) == TFLT_NormalizationOptions)
        return lpt_tfl_table (flat, unit, TFL_ProcessUnit_options);
    }
  return 0;
}

void
lpt_tfl_keep_normalization (const LptTflFlat *flat, LptGraph *graph)
{
  LptTflVector graphs = lpt_tfl_vector (flat, lpt_tfl_root (flat, "M001"), TFL_ModelMetadata_subgraph_metadata);
  LptTflVector inputs = lpt_tfl_vector (flat, lpt_tfl_item (&graphs, 0), TFL_SubGraphMetadata_input_tensor_metadata);
  g_autofree char *mean = NULL, *scale = NULL;
  for (guint i = 0; i < inputs.n; i++)
    {
      LptTflTable options = find_normalization (flat, lpt_tfl_item (&inputs, i));
      if (options == 0)
        continue;
      LptTflVector means = lpt_tfl_vector (flat, options, TFL_NormalizationOptions_mean),
                   stds = lpt_tfl_vector (flat, options, TFL_NormalizationOptions_std);
      g_autofree char *a = join (&means, FALSE), *b = join (&stds, TRUE);
      if (a == NULL || b == NULL || (mean != NULL && !(g_str_equal (a, mean) && g_str_equal (b, scale))))
        return;
      g_free (mean);
      g_free (scale);
      mean = g_steal_pointer (&a);
      scale = g_steal_pointer (&b);
    }
  if (mean == NULL)
    return;
  g_hash_table_replace (graph->meta, g_strdup (LPT_META_MODEL_INFO "mean_values"), g_steal_pointer (&mean));
  g_hash_table_replace (graph->meta, g_strdup (LPT_META_MODEL_INFO "scale_values"), g_steal_pointer (&scale));
}
