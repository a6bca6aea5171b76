/* test-litert-models.c - whole LiteRT models, every intermediate tensor
 *
 * Requant mode litert against TensorFlow Lite 2.9.0: the bytes of each tensor
 * that an operator writes have the golden's SHA-256. Where the data is absent
 * the tests say so and pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tflite.h"

#include <string.h>

#define FOLDER LPT_SHARED_DIR "/corpus/litert_models"

/* The bytes of an int8 .npy as a list; the model knows the shape. */
static LptTensor *
load_codes (const char *path)
{
  g_autofree char *text = NULL;
  gsize size, start;
  LptShape shape;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  g_assert_cmpuint (size, >, 10);
  start = 10 + (guint8) text[8] + 256 * (guint8) text[9];
  g_assert_cmpuint (size, >, start);
  shape = lpt_shape_make (1, (gint64[]) { size - start });

  return lpt_tensor_new_copy (LPT_DTYPE_I8, &shape, text + start, NULL);
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

static void
check_run (const char  *folder,
           const char  *model,
           const cJSON *golden)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (CaseGraph) run = NULL;
  g_autoptr (GError) error = NULL;
  const cJSON *item;
  guint checked = 0;

  cJSON_ArrayForEach (item, cJSON_GetObjectItem (golden, "inputs"))
    {
      g_autofree char *path = g_build_filename (folder, item->valuestring, NULL);

      g_ptr_array_add (inputs, load_codes (path));
    }
  run = tflite_build (model, inputs, &error);
  if (run == NULL)
    g_error ("%s: %s", model, error->message);
  outputs = case_run (run, (const char *const[]) { "litert", NULL }, FALSE, &error);
  if (outputs == NULL)
    g_error ("%s: %s", model, error->message);

  for (guint i = 0; i < outputs->len; i++)
    {
      const char *name = run->names->pdata[i];
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

      check_run (folder, model, item);
    }
  cJSON_Delete (json);
}

int
main (int   argc,
      char *argv[])
{
  static const char *const models[] = { "person_detect", "mobilenet_v2_dog", "micro_speech", "hello_world_int8" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *test = g_strconcat ("/litert-models/", models[i], NULL);

      g_test_add_data_func (test, models[i], test_model);
    }

  return g_test_run ();
}
