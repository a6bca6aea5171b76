/* test-exec-onnx-node.c - ONNX's backend node tests through importer and reference executor
 *
 * ../shared/corpus/onnx_node: one model of one operator each, with inputs and outputs. Bound: ONNX's own, 1e-3 relative
 * and 1e-3 absolute where its test data come from another implementation; integers and booleans exact.
 * Refused models say "unsupported" when they are read.
 * Once more with the nodes of every graph in reverse and each initializer given twice: runtimes take these files, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-onnx.h>

#include <lpt/lpt-npy.h>
#include "frontends/onnx_json/proto/onnx-message.h"

#define TOLERANCE 1e-3
#define LEAST     1394   /* that pass */

/* Arrays keep bf16 and smaller floats as their bits. */
static LptTensor *
load (const char *folder,
      const char *name,
      guint       i,
      LptDType    dtype)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strdup_printf ("%s_%u.npy", name, i), *path = g_build_filename (folder, file, NULL);
  LptTensor *tensor, *bits;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;
  tensor = lpt_npy_load (path, &error);
  g_assert_no_error (error);
  if (!lpt_dtype_is_bits (dtype, lpt_tensor_dtype (tensor)))
    return tensor;

  bits = lpt_tensor_from_bits (tensor, dtype, NULL);
  lpt_tensor_unref (tensor);

  return bits;
}

static gboolean
same (LptTensor *got,
      LptTensor *wanted)
{
  gint64 i, n = lpt_tensor_count (wanted);

  if (!lpt_shape_equal (lpt_tensor_shape (got), lpt_tensor_shape (wanted)))
    return FALSE;
  for (i = 0; i < n; i++)
    {
      double a = lpt_tensor_get_f64 (got, i), b = lpt_tensor_get_f64 (wanted, i);
      double bound = lpt_dtype_is_real (lpt_tensor_dtype (wanted)) ? TOLERANCE * (1 + fabs (b)) : 0;

      if (a != b && !(isnan (a) && isnan (b)) && !(fabs (a - b) <= bound))
        return FALSE;
    }

  return TRUE;
}

/* NULL when everything agrees. */
static char *
run (LptGraph   *graph,
     const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autofree LptShape *shapes = g_new (LptShape, graph->parameters->len + 1);
  g_autoptr (LptPlan) plan = NULL;
  g_autoptr (LptPlanContext) context = NULL;
  guint i;

  for (i = 0; i < graph->parameters->len; i++)
    {
      /* Arrays of text are not read. */
      if (lpt_node_out (g_ptr_array_index (graph->parameters, i))->dtype == LPT_DTYPE_STRING)
        {
          g_assert_null (lpt_plan_new (graph, NULL, LPT_PLAN_REFERENCE, &error));
          return g_strdup (error->message);
        }
      LptTensor *input = load (folder, "input", i, lpt_node_out (g_ptr_array_index (graph->parameters, i))->dtype);

      if (input == NULL)
        return g_strdup_printf ("input %u is not there", i);
      g_ptr_array_add (inputs, input);
      shapes[i] = *lpt_tensor_shape (input);
    }
  plan = lpt_plan_new (graph, shapes, LPT_PLAN_REFERENCE, &error);
  if (plan != NULL)
    context = lpt_plan_context_new (plan, 1, &error);
  for (i = 0; i < inputs->len && error == NULL; i++)
    lpt_plan_context_set_input (context, i, g_ptr_array_index (inputs, i), &error);
  if (error != NULL || !lpt_plan_run (plan, context, &error))
    return g_strdup (error->message);

  for (i = 0; i < lpt_plan_n_outputs (plan); i++)
    {
      g_autoptr (LptTensor) got = lpt_plan_context_output (context, i, &error);
      LptDType declared = lpt_node_in (g_ptr_array_index (graph->results, i), 0)->dtype;
      g_autoptr (LptTensor) wanted = got != NULL ? load (folder, "output", i, declared) : NULL;

      if (got == NULL)
        return g_strdup (error->message);
      if (wanted != NULL && !same (got, wanted))
        return g_strdup_printf ("output %u differs", i);
    }

  return NULL;
}

static void shuffle_graph (Onnx__GraphProto *graph);

static void
shuffle_nodes (Onnx__NodeProto **nodes,
               gsize             n)
{
  for (gsize i = 0; i < n / 2; i++)
    {
      Onnx__NodeProto *first = nodes[i];

      nodes[i] = nodes[n - 1 - i];
      nodes[n - 1 - i] = first;
    }
  for (gsize i = 0; i < n; i++)
    for (gsize k = 0; k < nodes[i]->n_attribute; k++)
      if (nodes[i]->attribute[k]->g != NULL)
        shuffle_graph (nodes[i]->attribute[k]->g);
}

static void
shuffle_graph (Onnx__GraphProto *graph)
{
  gsize n = graph->n_initializer;

  shuffle_nodes (graph->node, graph->n_node);
  if (n == 0)
    return;
  /* The writer follows the pointers, and does not mind that there are two. */
  graph->initializer = g_renew (Onnx__TensorProto *, graph->initializer, 2 * n);
  for (gsize i = 0; i < n; i++)
    graph->initializer[n + i] = graph->initializer[i];
  graph->n_initializer = 2 * n;
}

static void
undouble_graph (Onnx__GraphProto *graph)
{
  graph->n_initializer /= 2;
  for (gsize i = 0; i < graph->n_node; i++)
    for (gsize k = 0; k < graph->node[i]->n_attribute; k++)
      if (graph->node[i]->attribute[k]->g != NULL)
        undouble_graph (graph->node[i]->attribute[k]->g);
}

/* The model with nodes in reverse and initializers twice. */
static LptGraph *
load_shuffled (const char  *path,
               const char  *folder,
               GError     **error)
{
  g_autofree char *data = NULL;
  g_autoptr (Onnx__ModelProto) model = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, error))
    return NULL;
  model = lpt_onnx_model_from_wire (data, size, FALSE, error);
  if (model == NULL)
    return NULL;
  shuffle_graph (model->graph);
  for (gsize i = 0; i < model->n_functions; i++)
    shuffle_nodes (model->functions[i]->node, model->functions[i]->n_node);
  bytes = lpt_onnx_model_to_wire (model, error);
  undouble_graph (model->graph);

  if (bytes == NULL)
    return NULL;

  return lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), folder, error);
}

/* What no version of this program has to read, and why. */
static const struct { const char *name, *why; } left_out[] = {
  { "test_equal_string", "unsupported: strings are kept, not computed" },
  { "test_equal_string_broadcast", "unsupported: strings are kept, not computed" },
  { "test_training_dropout", "unsupported training_mode" },
  { "test_training_dropout_default", "unsupported training_mode" },
  { "test_training_dropout_default_mask", "unsupported training_mode" },
  { "test_training_dropout_mask", "unsupported training_mode" },
  { "test_training_dropout_zero_ratio", "unsupported training_mode" },
  { "test_training_dropout_zero_ratio_mask", "unsupported training_mode" },
};

static const char *
why_left_out (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (left_out); i++)
    if (strcmp (left_out[i].name, name) == 0)
      return left_out[i].why;
  return NULL;
}

static void
test_corpus (gconstpointer shuffled)
{
  g_autofree char *corpus = g_build_filename (LPT_SHARED_DIR, "corpus", "onnx_node", NULL);
  g_autoptr (GDir) dir = g_dir_open (corpus, 0, NULL);
  guint passed = 0, refused = 0;
  const char *name;

  if (dir == NULL)
    {
      g_test_skip ("../shared/corpus/onnx_node is not there");
      return;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *folder = g_build_filename (corpus, name, NULL),
                      *model = g_build_filename (folder, "model.onnx", NULL);
      const char *why = why_left_out (name);
      g_autofree char *problem = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = NULL;

      if (!g_file_test (model, G_FILE_TEST_EXISTS))
        continue;
      graph = shuffled != NULL ? load_shuffled (model, folder, &error) : lpt_onnx_load (model, &error);
      if (graph == NULL && why != NULL && strstr (error->message, why) != NULL)
        {
          refused++;
          continue;
        }
      problem = graph != NULL ? run (graph, folder) : g_strdup (error->message);
      if (problem == NULL)
        passed++;
      else if (why != NULL && strstr (problem, why) != NULL)
        refused++;
      else
        {
          g_test_message ("%s: %s", name, problem);
          g_test_fail ();
        }
    }
  g_test_message ("%u pass, %u refused", passed, refused);
  g_assert_cmpuint (passed, >=, LEAST);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/exec/onnx-node", NULL, test_corpus);
  g_test_add_data_func ("/exec/onnx-node/shuffled", "shuffled", test_corpus);

  return g_test_run ();
}
