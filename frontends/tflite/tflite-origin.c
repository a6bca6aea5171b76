/* tflite-origin.c - graphs that are still what a .tflite file says
 *
 * The reader leaves the file with the graph, and a digest of the graph: its text without the data of larger
 * constants, and which tensors those are (tensors do not change). Where the writer finds the same digest it writes
 * the same file, with all that the graph has no place for: metadata, other subgraphs, labels behind the model,
 * versions, names of every tensor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/tflite-origin.h"

#include "ir/text/lpt-print.h"

static guint64
digest_bytes (guint64 digest, const guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    digest = (digest ^ bytes[i]) * G_GUINT64_CONSTANT (0x100000001b3);
  return digest;
}

static guint64
digest_graph (LptGraph *graph)
{
  g_autofree char *text = lpt_graph_to_text (graph, LPT_TEXT_ELIDE | LPT_TEXT_BITS);
  guint64 digest = G_GUINT64_CONSTANT (0xcbf29ce484222325);
  digest = digest_bytes (digest, (const guint8 *) text, strlen (text));
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (graph->nodes, i);
      gconstpointer data = node->data != NULL ? lpt_tensor_data (node->data) : NULL;
      if (data != NULL)
        digest = digest_bytes (digest, (const guint8 *) &data, sizeof data);
    }
  return digest;
}

void
lpt_tfl_keep_origin (LptGraph *graph, GBytes *file)
{
  graph->file = g_bytes_ref (file);
  graph->file_digest = digest_graph (graph);
}

GBytes *
lpt_tfl_origin (LptGraph *graph)
{
  return graph->file != NULL && digest_graph (graph) == graph->file_digest ? g_bytes_ref (graph->file) : NULL;
}
