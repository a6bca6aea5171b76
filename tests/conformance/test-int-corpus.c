/* test-int-corpus.c - integer ops against the data sets of single operators
 *
 * LiteRT: every case under the requant modes litert, litert-double,
 * litert-single and xnnpack, bit for bit, both in the plan that fuses and in the
 * reference. TPU-MLIR: every output that a case lists and lpt computes. One
 * folder per test; where the data is absent it says so and passes.
 *
 * Which golden counts follows the data set's README: where a back end has a
 * quirk that is not to be copied, or refuses the case, another one that rounds
 * the same way stands in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "case.h"

#include <string.h>

#define LITE   "tflite_2.9.0"
#define XNN    "tflite_2.9.0_xnnpack"
#define DOUBLE "tflm_ref_double"
#define SINGLE "tflm_ref_single"

typedef struct
{
  const char *mode, *backend;
} Mode;

static const Mode modes[] =
{
  { "litert", LITE }, { "litert-double", DOUBLE }, { "litert-single", SINGLE }, { "xnnpack", XNN },
};

/* Known differences: case, mode, reason. */
static const struct { const char *name, *mode, *reason;
} known[] = {
  { "quantize_30_float_beyond_int32", NULL, "undefined upstream" },
  { "fully_connected_11_weights_zero_point_nonzero", "xnnpack", "the delegate ignores the weights' zero point" },
  { "batch_matmul_32_large_const_rhs", "xnnpack",
    "the delegate leaves BATCH_MATMUL to the builtin kernel; a constant right side counts as FULLY_CONNECTED here" },
};

static gboolean
is_known (const char *name,
          const char *mode)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i].name, name) == 0 && (known[i].mode == NULL || strcmp (known[i].mode, mode) == 0))
      {
        g_test_message ("%s, %s: %s", name, mode, known[i].reason);
        return TRUE;
      }

  return FALSE;
}

static gboolean
one_of (const char        *name,
        const char *const *names)
{
  return g_strv_contains (names, name);
}

static gboolean
same_parameters (const cJSON *json)
{
  const cJSON *tensors = cJSON_GetObjectItem (json, "tensors");
  const cJSON *ends[2];
  static const char *const lists[2] = { "op_inputs", "op_outputs" };
  static const char *const keys[2] = { "scale", "zero_point" };

  for (guint i = 0; i < 2; i++)
    ends[i] = cJSON_GetArrayItem (tensors, cJSON_GetArrayItem (cJSON_GetObjectItem (json, lists[i]), 0)->valueint);
  for (guint k = 0; k < 2; k++)
    if (!cJSON_Compare (cJSON_GetObjectItem (ends[0], keys[k]), cJSON_GetObjectItem (ends[1], keys[k]), TRUE))
      return FALSE;

  return TRUE;
}

/* The list of outputs of a back end, following same_as; NULL when it refused. */
static const cJSON *
outputs_of (const cJSON *json,
            const char  *backend)
{
  const cJSON *expected = cJSON_GetObjectItem (json, "expected");
  const cJSON *answer = cJSON_GetObjectItem (expected, backend);

  for (gint i = 0; i < 4 && cJSON_GetObjectItem (answer, "same_as") != NULL; i++)
    answer = cJSON_GetObjectItem (expected, case_string (answer, "same_as", ""));

  return cJSON_GetObjectItem (answer, "outputs");
}

static const cJSON *
golden (const cJSON *json,
        const char  *backend)
{
  static const char *const rounds_nothing[] = { "ARG_MAX",       "ARG_MIN",           "SHAPE",
                                                "STRIDED_SLICE", "SPACE_TO_BATCH_ND", NULL };
  const char *op = case_string (json, "op", "");
  const gboolean micro = strcmp (backend, DOUBLE) == 0 || strcmp (backend, SINGLE) == 0;
  const gboolean free_of_rounding = one_of (op, rounds_nothing);
  const char *first = backend;
  const cJSON *outputs;

  if (!micro && strcmp (case_string (json, "case", ""), "fully_connected_16_per_channel_weights_v4") == 0)
    first = DOUBLE;
  if (micro && (strcmp (op, "SPACE_TO_BATCH_ND") == 0 || (strcmp (op, "RELU6") == 0 && !same_parameters (json))))
    first = LITE;
  if (strcmp (backend, SINGLE) == 0 && strcmp (first, LITE) == 0 && !free_of_rounding)
    return NULL;

  outputs = outputs_of (json, first);
  if (outputs == NULL && strcmp (first, XNN) != 0 && (strcmp (first, SINGLE) != 0 || free_of_rounding))
    outputs = outputs_of (json, strcmp (first, LITE) == 0 ? DOUBLE : LITE);

  return outputs;
}

static guint64
differing (LptTensor   *got,
           const cJSON *want)
{
  g_autoptr (GArray) values = case_doubles (want);
  guint64 n = 0;

  if (lpt_tensor_count (got) != values->len)
    return G_MAXUINT64;
  for (guint i = 0; i < values->len; i++)
    n += lpt_tensor_get_f64 (got, i) != (lpt_tensor_dtype (got) == LPT_DTYPE_F32
                                             ? (float) g_array_index (values, double, i)
                                             : g_array_index (values, double, i));

  return n;
}

static void
check_litert (const cJSON *json,
              const Mode  *mode,
              gboolean     reference)
{
  const char *name = case_string (json, "case", "");
  const cJSON *want = golden (json, mode->backend);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) case_graph_free);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GError) error = NULL;

  if (want == NULL || is_known (name, mode->mode))
    return;

  g_assert_true (case_build (json, runs, &error));
  outputs = case_run (runs->pdata[0], (const char *const[]) { mode->mode, NULL }, reference, &error);
  if (outputs == NULL)
    g_error ("%s, %s: %s", name, mode->mode, error->message);
  g_assert_cmpint (cJSON_GetArraySize (want), ==, outputs->len);
  for (guint i = 0; i < outputs->len; i++)
    if (differing (outputs->pdata[i], cJSON_GetArrayItem (want, i)) != 0)
      {
        g_test_message ("%s, %s%s: output %u differs", name, mode->mode, reference ? ", reference" : "", i);
        g_test_fail ();
      }
}

static void
check_tpu (const cJSON *json)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) case_graph_free);
  g_autoptr (GError) error = NULL;
  guint checked = 0;

  if (!case_build (json, runs, &error))
    g_error ("%s: %s", case_string (json, "case", ""), error->message);
  for (guint r = 0; r < runs->len; r++)
    {
      CaseGraph *run = runs->pdata[r];
      g_autoptr (GPtrArray) outputs = case_run (run, (const char *const[]) { "tpu", NULL }, FALSE, &error);

      if (outputs == NULL)
        g_error ("%s: %s", case_string (json, "case", ""), error->message);
      for (guint i = 0; i < outputs->len; i++)
        {
          const cJSON *want = cJSON_GetObjectItem (cJSON_GetObjectItem (json, run->names->pdata[i]), "data");

          if (want == NULL)
            continue;
          checked++;
          if (differing (outputs->pdata[i], want) != 0)
            {
              g_test_message ("%s: %s differs", case_string (json, "case", ""), (char *) run->names->pdata[i]);
              g_test_fail ();
            }
        }
    }
  g_assert_cmpuint (checked, >, 0);
}

static void
test_folder (gconstpointer data)
{
  const char *path = data;
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *file;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((file = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *full = g_build_filename (path, file, NULL);
      g_autofree char *text = NULL;
      cJSON *json;

      if (!g_str_has_suffix (file, ".json") || strcmp (file, "manifest.json") == 0)
        continue;
      g_assert_true (g_file_get_contents (full, &text, NULL, NULL));
      json = cJSON_Parse (text);
      g_assert_nonnull (json);
      n++;
      if (cJSON_GetObjectItem (json, "tensors") == NULL)
        check_tpu (json);
      else
        for (guint m = 0; m < G_N_ELEMENTS (modes); m++)
          for (gint reference = 0; reference < 2; reference++)
            check_litert (json, &modes[m], reference);
      cJSON_Delete (json);
    }
  g_assert_cmpuint (n, >, 0);
}

static void
test_absent (gconstpointer data)
{
  g_test_skip (data);
}

static void
add_folder (const char *path,
            const char *name)
{
  g_autofree char *test = g_strconcat ("/int-corpus/", name, NULL);

  g_test_add_data_func_full (test, g_strdup (path), g_file_test (path, G_FILE_TEST_IS_DIR) ? test_folder : test_absent,
                             g_free);
}

int
main (int   argc,
      char *argv[])
{
  const char *litert = LPT_SHARED_DIR "/corpus/litert";
  g_autoptr (GDir) dir = NULL;
  const char *name;

  g_test_init (&argc, &argv, NULL);

  add_folder (LPT_SHARED_DIR "/corpus/tpu_mlir", "tpu_mlir");
  dir = g_dir_open (litert, 0, NULL);
  if (dir == NULL)
    add_folder (litert, "litert");
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (litert, name, NULL);
      g_autofree char *test = g_strconcat ("litert/", name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        add_folder (path, test);
    }

  return g_test_run ();
}
