/* test-infer-ports.c - what is inferred, against the shapes that OpenVINO wrote on its ports
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include <lpt/lpt-openvino.h>

#include "graph-case.h"

static LptShape
port_shape (xmlNode *port)
{
  LptShape shape = LPT_SHAPE_SCALAR;
  g_autofree char *rank = (char *) xmlGetProp (port, BAD_CAST "rank");

  if (rank != NULL && strcmp (rank, "-1") == 0)
    return LPT_SHAPE_ANY;
  for (xmlNode *dim = port->children; dim != NULL; dim = dim->next)
    if (dim->type == XML_ELEMENT_NODE && strcmp ((const char *) dim->name, "dim") == 0 && shape.rank < LPT_MAX_RANK)
      {
        xmlChar *text = xmlNodeGetContent (dim);

        shape.dims[shape.rank++] = MAX (g_ascii_strtoll ((const char *) text, NULL, 10), LPT_DYNAMIC);
        xmlFree (text);
      }

  return shape;
}

static xmlNode *
child (xmlNode    *parent,
       const char *name)
{
  for (xmlNode *node = parent != NULL ? parent->children : NULL; node != NULL; node = node->next)
    if (node->type == XML_ELEMENT_NODE && strcmp ((const char *) node->name, name) == 0)
      return node;

  return NULL;
}

/* Compatible with every port, and as static: returns how many were compared. */
static guint
compare_ports (LptGraph   *graph,
               const char *path)
{
  xmlDoc *doc = xmlReadFile (path, NULL, XML_PARSE_NONET);
  xmlNode *layers = child (xmlDocGetRootElement (doc), "layers");
  guint n = 0;

  for (xmlNode *layer = layers->children; layer != NULL; layer = layer->next)
    {
      xmlChar *name = layer->type == XML_ELEMENT_NODE ? xmlGetProp (layer, BAD_CAST "name") : NULL;
      LptNode *node = name != NULL ? lpt_graph_find (graph, (const char *) name) : NULL;
      xmlNode *port = node != NULL && node->op != LPT_OP_RESULT ? child (child (layer, "output"), "port") : NULL;

      for (guint k = 0; port != NULL; port = port->next)
        if (port->type == XML_ELEMENT_NODE && k < node->n_out)
          {
            LptShape want = port_shape (port);
            LptShape have = node->out[k++].shape;

            if (!lpt_shape_compatible (&want, &have) || (lpt_shape_is_static (&want) && !lpt_shape_is_static (&have)))
              {
                g_autofree char *a = lpt_shape_to_string (&have);
                g_autofree char *b = lpt_shape_to_string (&want);

                g_error ("%s: %s \"%s\": output %u is [%s], OpenVINO says [%s]", path, node->info->name, node->name,
                         k - 1, a, b);
              }
            n++;
          }
      xmlFree (name);
    }
  xmlFreeDoc (doc);

  return n;
}

static void
test_ports (gconstpointer data)
{
  const char *folder = data;
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  guint ports = 0, refused = 0;

  find_files (folder, ".xml", found);
  if (found->len == 0)
    {
      g_test_skip_printf ("%s is absent", folder);
      return;
    }
  for (guint i = 0; i < found->len; i++)
    {
      const char *path = g_ptr_array_index (found, i);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_openvino_load (path, NULL, &error);

      if (graph != NULL)
        {
          ports += compare_ports (graph, path);
          lpt_graph_validate (graph, &error);
          g_assert_no_error (error);
        }
      /* Two unit tests reshape [1,64,320,1] to [0,2,3,1], another converts to "undefined". */
      else if (strstr (error->message, "[1,64,320,1] does not reshape to [0,2,3,1]") != NULL ||
               strstr (error->message, "destination_type is missing") != NULL)
        refused++;
      else
        g_assert_no_error (error);
    }
  g_test_message ("%u files, %u refused, %u ports", found->len, refused, ports);
  g_assert_cmpuint (ports, >, found->len);
  g_assert_cmpuint (refused, <=, 13);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/infer/ports/models", LPT_SHARED_DIR "/models", test_ports);
  g_test_add_data_func ("/infer/ports/corpus", LPT_SHARED_DIR "/corpus/openvino_corpus", test_ports);

  return g_test_run ();
}
