/* test-litert-models.c - whole LiteRT models, every intermediate tensor
 *
 * Requant mode litert against TensorFlow Lite 2.9.0: the bytes of each tensor
 * that an operator writes have the golden's SHA-256; the outputs also against
 * tflite-micro and XNNPACK in their modes. Where the data is absent the tests
 * say so and pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "case.h"

#include <lpt/lpt-executor.h>
#include <lpt/lpt-requant.h>
#include <lpt/lpt-tflite.h>

#include <string.h>

#define FOLDER LPT_SHARED_DIR "/corpus/litert_models"

/* The bytes of an .npy in the shape and type of the graph's input. */
static LptTensor *
load_codes (const char *path,
            LptNode    *parameter)
{
  g_autofree char *text = NULL;
  LptShape shape = LPT_ATTRS (parameter, LptParameterAttrs)->shape;
  const LptDType dtype = LPT_ATTRS (parameter, LptParameterAttrs)->element_type;
  gsize size, start, wanted;
  gint64 count;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  g_assert_cmpuint (size, >, 10);
  start = 10 + (guint8) text[8] + 256 * (guint8) text[9];
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = MAX (shape.dims[i], 1);
  g_assert_true (lpt_shape_count (&shape, &count));
  g_assert_true (lpt_tensor_byte_size (dtype, count, &wanted));
  g_assert_cmpuint (size, ==, start + wanted);

  return lpt_tensor_new_copy (dtype, &shape, text + start, NULL);
}

static const char *
golden_hash (const cJSON *tensors,
             const char  *name)
{
  const cJSON *item;

  cJSON_ArrayForEach (item, tensors)
    {
      g_autofree char *own = g_strdup_printf ("t%03d", (gint) case_number (item, "index", -1));

      if (strcmp (own, name) == 0)
        return case_string (item, "sha256", NULL);
    }

  return NULL;
}

/* @model on the inputs of @golden in requant mode @mode; names of the outputs into @names. */
static GPtrArray *
run_model (const char  *folder,
           const char  *model,
           const cJSON *golden,
           const char  *mode,
           guint        flags,
           GPtrArray   *names)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_tflite_load (model, NULL, flags, &error);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  const cJSON *item;

  if (graph == NULL || !lpt_graph_set_requant (graph, mode, &error))
    g_error ("%s", error->message);
  cJSON_ArrayForEach (item, cJSON_GetObjectItem (golden, "inputs"))
    {
      g_autofree char *path = g_build_filename (folder, item->valuestring, NULL);

      g_assert_cmpuint (inputs->len, <, graph->parameters->len);
      g_ptr_array_add (inputs, load_codes (path, graph->parameters->pdata[inputs->len]));
    }
  g_assert_cmpuint (inputs->len, ==, graph->parameters->len);

  g_autofree LptShape *shapes = g_new0 (LptShape, inputs->len + 1);
  const gint64 runs = lpt_plan_stack (graph, (LptTensor *const *) inputs->pdata, shapes, &error);
  g_autoptr (LptPlan) plan = runs > 0 ? lpt_plan_new (graph, shapes, 0, &error) : NULL;
  g_autoptr (LptPlanContext) context = plan != NULL ? lpt_plan_context_new (plan, 1, &error) : NULL;
  GPtrArray *outputs = context != NULL
                           ? lpt_plan_run_stacked (plan, context, (LptTensor *const *) inputs->pdata, runs, &error)
                           : NULL;

  if (outputs == NULL)
    g_error ("%s: %s", model, error->message);
  for (guint i = 0; i < outputs->len; i++)
    g_ptr_array_add (names, g_strdup (lpt_plan_output_name (plan, i)));

  return outputs;
}

static void
check_run (const char  *folder,
           const char  *model,
           const cJSON *golden)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) outputs = run_model (folder, model, golden, "litert", LPT_TFLITE_ALL_TENSORS, names);
  guint checked = 0;

  for (guint i = 0; i < outputs->len; i++)
    {
      const char *name = names->pdata[i];
      const char *want = golden_hash (cJSON_GetObjectItem (golden, "tensors"), name);
      g_autofree char *got = g_compute_checksum_for_data (G_CHECKSUM_SHA256, lpt_tensor_data (outputs->pdata[i]),
                                                          lpt_tensor_size (outputs->pdata[i]));

      if (want == NULL)
        continue;
      checked++;
      if (strcmp (want, got) != 0)
        {
          g_test_message ("%s, %s: tensor %s differs", folder, case_string (golden, "name", ""), name);
          g_test_fail ();
        }
    }
  g_test_message ("%s: %u tensors", case_string (golden, "name", ""), checked);
  g_assert_cmpuint (checked, ==, cJSON_GetArraySize (cJSON_GetObjectItem (golden, "tensors")));
}

/* A list of numbers, or the hash of the bytes. */
static gboolean
is_final (LptTensor   *output,
          const cJSON *want)
{
  g_autoptr (GArray) values = case_doubles (want);
  gboolean same = lpt_tensor_count (output) == values->len;

  if (cJSON_IsObject (want))
    {
      g_autofree char *got = g_compute_checksum_for_data (G_CHECKSUM_SHA256, lpt_tensor_data (output),
                                                          lpt_tensor_size (output));

      return g_str_equal (got, case_string (want, "sha256", ""));
    }
  for (guint i = 0; same && i < values->len; i++)
    same = lpt_tensor_get_f64 (output, i) == g_array_index (values, double, i);

  return same;
}

/* The outputs under every mode for which there is a golden. */
static void
check_final (const char  *folder,
             const char  *model,
             const cJSON *golden)
{
  static const struct { const char *runtime, *mode; } modes[] = {
    { "tflite_2.9.0", "litert" }, { "tflite_2.9.0_xnnpack", "xnnpack" }, { "tflm_ref_double", "litert-double" }, { "tflm_ref_single", "litert-single" },
  };

  for (guint m = 0; m < G_N_ELEMENTS (modes); m++)
    {
      const cJSON *want = cJSON_GetObjectItem (cJSON_GetObjectItem (golden, "final"), modes[m].runtime);
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GPtrArray) outputs = NULL;

      if (!cJSON_IsArray (want))
        continue;
      outputs = run_model (folder, model, golden, modes[m].mode, 0, names);
      for (guint o = 0; o < outputs->len; o++)
        {
          if (!is_final (outputs->pdata[o], cJSON_GetArrayItem (want, o)))
            {
              g_test_message ("%s, %s: output %u differs in mode %s", folder, case_string (golden, "name", ""), o,
                              modes[m].mode);
              g_test_fail ();
            }
        }
    }
}

static void
test_model (gconstpointer data)
{
  const char *name = data;
  g_autofree char *folder = g_build_filename (FOLDER, name, NULL);
  g_autofree char *goldens = g_build_filename (folder, "goldens.json", NULL);
  g_autofree char *text = NULL;
  const cJSON *item;
  cJSON *json;

  if (!g_file_get_contents (goldens, &text, NULL, NULL))
    {
      g_test_skip (folder);
      return;
    }

  json = cJSON_Parse (text);
  g_assert_nonnull (json);
  cJSON_ArrayForEach (item, cJSON_GetObjectItem (json, "runs"))
    {
      g_autofree char *model = g_build_filename (folder, case_string (json, "model", ""), NULL);

      if (cJSON_GetArraySize (cJSON_GetObjectItem (item, "tensors")) > 0)
        check_run (folder, model, item);
      check_final (folder, model, item);
    }
  cJSON_Delete (json);
}

int
main (int   argc,
      char *argv[])
{
  static const char *const models[] = {
    "person_detect",          "mobilenet_v2_dog",       "micro_speech",      "hello_world_int8",
    "dtln_noise_suppression", "keyword_scrambled_8bit", "micro_speech_lstm", "mnist_lstm_int8",
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *test = g_strconcat ("/litert-models/", models[i], NULL);

      g_test_add_data_func (test, models[i], test_model);
    }

  return g_test_run ();
}
