/* consumer.c - what a program outside of the tree does with the library, as C11 and as C++17
 *
 *     consumer FOLDER-OF-MODELS WORK-FOLDER
 *
 * It loads a model by its content, transforms it for a target of its own, given as text, with a pass of its own that
 * makes an op of its own, plans and runs the result (the op computes by a function of this file) and holds it against
 * the model as it was; explains what became of the layers; writes the lowered model, reads it back, and runs it with
 * packed weights that an earlier plan left. Prints one line a step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt.h>

#include <math.h>
#include <string.h>

#if !LPT_CHECK_VERSION (0, 1, 0) || LPT_CHECK_VERSION (99, 0, 0)
#error "LPT_CHECK_VERSION"
#endif

#define CHECK(condition) \
  do { if (!(condition)) { g_printerr ("consumer: %d: " #condition ": %s\n", __LINE__, error != NULL ? error->message : "no"); return FALSE; } } while (0)

/* --- an op: MySoftmax, over the last axis --------------------------------------------------------------- */

static gboolean
infer_softmax (LptNode *node, GError **error)
{
  lpt_node_out (node)->dtype = lpt_node_in (node, 0)->dtype;
  lpt_node_out (node)->shape = lpt_node_in (node, 0)->shape;
  return TRUE;
}

static guint n_calls;

/* exp (x - max) / sum over the last axis. */
static gboolean
run_softmax (LptNode *node, LptTensor *const *in, LptTensor **out, GError **error)
{
  const LptShape *shape = lpt_tensor_shape (in[0]);
  gint64 n = shape->dims[shape->rank - 1], count = lpt_tensor_count (in[0]);
  g_autofree float *x = lpt_tensor_to_f32 (in[0], error);
  LptTensor *y = x != NULL ? lpt_tensor_new (LPT_DTYPE_F32, shape, error) : NULL;
  if (y == NULL)
    return FALSE;
  float *to = (float *) lpt_tensor_writable (y);
  for (gint64 row = 0; row < count; row += n)
    {
      double top = -INFINITY, sum = 0;
      for (gint64 i = 0; i < n; i++)
        top = fmax (top, x[row + i]);
      for (gint64 i = 0; i < n; i++)
        sum += exp (x[row + i] - top);
      for (gint64 i = 0; i < n; i++)
        to[row + i] = (float) (exp (x[row + i] - top) / sum);
    }
  out[0] = y;
  n_calls++;
  return TRUE;
}

static LptAttrField no_fields[1];
static LptOpInfo my_softmax;

/* --- a pass: Softmax => MySoftmax -------------------------------------------------------------------- */

static gboolean
take_softmax (LptRewriter *rw, LptNode *softmax)
{
  LptValue *in = lpt_node_in (softmax, 0);
  GError *error = NULL;
  if (in->dtype != LPT_DTYPE_F32)
    return lpt_rewriter_decline (rw, softmax, "its data is not f32");
  LptNode *mine = lpt_graph_add_full (lpt_rewriter_graph (rw), &my_softmax, 0, NULL, 1, &in, 1);
  if (!lpt_node_infer (mine, &error))
    {
      g_clear_error (&error);
      return FALSE;
    }
  lpt_node_take_over (mine, softmax, "/softmax");
  lpt_rewriter_replace (rw, lpt_node_out (softmax), lpt_node_out (mine), NULL);
  return TRUE;
}

static LptOp roots[2];
static LptPass my_pass;

/* --- steps --------------------------------------------------------------------------------------------- */

static const char my_target[] = "{ \"base\": \"native\", \"restrict\": [\"Convolution:u8,i8\", \"MatMul:u8,i8\"], "
                                "\"per-tensor\": [\"Convolution:0\"] }";

static LptConfig *
configure (GError **error)
{
  LptConfig *config = lpt_config_new_text (my_target, -1, "my accelerator", error);
  if (config != NULL)
    lpt_config_add_pass (config, &my_pass);
  return config;
}

/* The first output of @graph on @input (transfer full). */
static LptTensor *
run (LptGraph *graph, LptTensor *input, LptPack *pack, GError **error)
{
  LptPlanOptions options;
  memset (&options, 0, sizeof options);
  options.pack = pack;
  options.level = "scalar";
  g_autoptr (LptPlan) plan = lpt_plan_new_full (graph, &options, error);
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, error) : NULL;
  if (context == NULL || !lpt_plan_context_set_input (context, 0, input, error) || !lpt_plan_run (plan, context, error))
    return NULL;
  LptPlanMemory memory;
  lpt_plan_memory (plan, &memory);
  g_autofree char *text = lpt_plan_to_text (plan, LPT_PLAN_TEXT_DEFAULT);
  if (memory.arena < memory.arena_bound || (pack != NULL && memory.packed == 0) || *text == '\0')
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "arena %" G_GSIZE_FORMAT ", packed %" G_GSIZE_FORMAT,
                   memory.arena, memory.packed);
      return NULL;
    }
  return lpt_plan_context_output (context, 0, error);
}

static gboolean
explain (LptGraph *graph, const LptConfig *config)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lpt_explain (graph, config, &error);
  guint n = 0;
  CHECK (rows != NULL);
  for (guint i = 0; i < rows->len; i++)
    n += ((const LptExplanation *) g_ptr_array_index (rows, i))->precision == LPT_DTYPE_U8;
  CHECK (n > 0 && lpt_explain_find (rows, "conv1") != NULL);
  g_print ("explained: %u of %u ops on u8\n", n, rows->len);
  return TRUE;
}

static gboolean
work (const char *models, const char *folder)
{
  GError *error = NULL;
  g_autofree char *path = g_build_filename (models, "digits.xml", NULL),
                  *images = g_build_filename (models, "digits-images.npy", NULL);
  g_autofree char *broken = g_build_filename (models, "digits.txt", NULL),
                  *lowered = g_build_filename (folder, "lowered.json", NULL);
  guint major = 99, minor = 99;

  lpt_version (&major, &minor, NULL);
  CHECK (major == LPT_VERSION_MAJOR && minor == LPT_VERSION_MINOR);
  CHECK (lpt_graph_load (broken, NULL, &error) == NULL && g_error_matches (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED));
  g_print ("refused: %s\n", strstr (error->message, "this is"));
  g_clear_error (&error);

  g_autoptr (LptGraph) source = lpt_graph_load (path, NULL, &error);
  CHECK (source != NULL);
  g_autoptr (LptGraph) graph = lpt_graph_copy (source);
  g_autoptr (LptConfig) config = configure (&error);
  CHECK (config != NULL && g_str_equal (config->name, "my accelerator"));
  CHECK (lpt_pipeline_run (graph, config, NULL, NULL, &error));
  CHECK (graph->lowered);
  g_print ("transformed: for %s\n", config->name);
  if (!explain (source, config))
    return FALSE;

  g_autoptr (LptTensor) all = lpt_npy_load (images, &error);
  CHECK (all != NULL);
  LptShape one = lpt_node_out ((LptNode *) g_ptr_array_index (source->parameters, 0))->shape;
  g_autoptr (LptTensor) input = lpt_tensor_new_copy (lpt_tensor_dtype (all), &one, lpt_tensor_data (all), &error);
  g_autoptr (LptPack) pack = lpt_pack_new ();
  g_autoptr (LptTensor) mine = run (graph, input, pack, &error);
  CHECK (mine != NULL && n_calls == 1);
  g_autoptr (LptTensor) theirs = run (source, input, NULL, &error);
  CHECK (theirs != NULL);
  for (gint64 i = 0; i < lpt_tensor_count (mine); i++)
    CHECK (fabs (lpt_tensor_get_f64 (mine, i) - lpt_tensor_get_f64 (theirs, i)) < 0.02);
  g_print ("ran: as the source does, the op of its own %u times\n", n_calls);

  /* Its own op is none of a file: without it, through a file and with the packed weights, to the same bytes. */
  g_autoptr (LptConfig) plain = lpt_config_new_text (my_target, -1, NULL, &error);
  g_autoptr (LptGraph) other = lpt_graph_copy (source);
  CHECK (plain != NULL && lpt_pipeline_run (other, plain, NULL, NULL, &error));
  CHECK (!lpt_graph_save (graph, lowered, NULL, &error));
  g_clear_error (&error);
  CHECK (lpt_graph_save (other, lowered, NULL, &error));
  g_autoptr (LptGraph) again = lpt_graph_load (lowered, NULL, &error);
  CHECK (again != NULL);
  g_autoptr (LptPack) shared = lpt_pack_new ();
  g_autoptr (LptTensor) first = run (other, input, shared, &error);
  guint n_blocks = lpt_pack_n_blocks (shared, NULL);
  CHECK (first != NULL && n_blocks > 0);
  g_autoptr (LptTensor) second = run (again, input, shared, &error);
  CHECK (second != NULL && lpt_tensor_equal (first, second));
  CHECK (lpt_pack_n_blocks (shared, NULL) == n_blocks);
  g_print ("saved and loaded: equal bytes, weights packed once\n");
  return TRUE;
}

int
main (int argc, char **argv)
{
  my_softmax.op = LPT_OP_CUSTOM;
  my_softmax.name = "MySoftmax";
  my_softmax.min_in = my_softmax.max_in = 1;
  my_softmax.n_out = 1;
  my_softmax.flags = LPT_OP_F_COMPUTE;
  my_softmax.attrs = no_fields;
  my_softmax.infer = infer_softmax;
  my_softmax.run = run_softmax;
  my_softmax.doc = "exp (x) / sum of exp (x) along the last axis";
  roots[0] = LPT_OP_SOFTMAX;
  roots[1] = LPT_OP_NONE;
  my_pass.name = "take-softmax";
  my_pass.doc = "Softmax becomes the accelerator's own";
  my_pass.stage = LPT_STAGE_CLEANUP;
  my_pass.roots = roots;
  my_pass.rewrite = take_softmax;
  my_pass.exactness = LPT_EXACT_REAL;
  return argc == 3 && work (argv[1], argv[2]) ? 0 : 1;
}
