/* test-onnx-proto.c - ONNX messages: both serialisations, tensors, bad input
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/proto/onnx-file.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- helpers ---------------------------------------------------------------- */

static char *
to_json (const Onnx__ModelProto *model)
{
  g_autoptr (GError) error = NULL;
  GString *text = lpt_onnx_model_to_json (model, &error);

  g_assert_no_error (error);
  return g_string_free (text, FALSE);
}

static LptOnnxFile *
load_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  LptOnnxFile *file = lpt_onnx_file_from_data (text, strlen (text), NULL, &error);

  g_assert_no_error (error);
  return file;
}

/* Loading @data fails with exactly this message. */
static void
assert_refused (gconstpointer  data,
                gsize          size,
                const char    *message)
{
  g_autoptr (GError) error = NULL;
  LptOnnxFile *file = lpt_onnx_file_from_data (data, size, NULL, &error);

  g_assert_null (file);
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, message);
}

/* --- both forms of the same model ------------------------------------------- */

static void
compare_forms (const char *binary_path,
               const char *json_path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptOnnxFile) binary = lpt_onnx_file_load (binary_path, &error);
  g_autoptr (LptOnnxFile) json = binary != NULL ? lpt_onnx_file_load (json_path, &error) : NULL;
  g_autoptr (LptOnnxFile) again = NULL;
  g_autoptr (LptOnnxFile) reread = NULL;
  g_autoptr (GBytes) packed = NULL;
  g_autofree char *text_binary = NULL, *text_json = NULL, *text_again = NULL, *text_reread = NULL;

  g_assert_no_error (error);
  text_binary = to_json (binary->model);
  text_json = to_json (json->model);
  if (strcmp (text_binary, text_json) != 0)
    g_error ("%s and %s differ", binary_path, json_path);

  packed = lpt_onnx_model_to_wire (json->model, &error);
  g_assert_no_error (error);
  again = lpt_onnx_file_from_data (g_bytes_get_data (packed, NULL), g_bytes_get_size (packed), NULL, &error);
  g_assert_no_error (error);
  text_again = to_json (again->model);
  g_assert_true (strcmp (text_again, text_json) == 0);

  reread = load_text (text_json);
  text_reread = to_json (reread->model);
  g_assert_true (strcmp (text_reread, text_json) == 0);
}

/* Every NAME.onnx with a NAME.json beside it. */
static guint
compare_folder (const char *folder,
                guint       depth)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_str_has_suffix (name, ".onnx"))
        {
          g_autofree char *stem = g_strndup (path, strlen (path) - strlen (".onnx"));
          g_autofree char *json = g_strconcat (stem, ".json", NULL);

          if (g_file_test (json, G_FILE_TEST_IS_REGULAR))
            {
              compare_forms (path, json);
              n++;
            }
        }
      else if (depth > 0 && g_file_test (path, G_FILE_TEST_IS_DIR))
        n += compare_folder (path, depth - 1);
    }
  return n;
}

static void
test_forms (gconstpointer data)
{
  g_autofree char *folder = g_build_filename (LPT_SHARED_DIR, data, NULL);

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    {
      g_test_skip ("the shared folder is absent");
      return;
    }
  g_assert_cmpuint (compare_folder (folder, 2), >, 0);
}

/* --- JSON ------------------------------------------------------------------- */

static void
test_json_spellings (void)
{
  const char *text = "\xef\xbb\xbf \n{ \"ir_version\": 8, \"producerName\": null, \"unknownKey\": [1, {}],"
                     " \"graph\": { \"initializer\": [ { \"dims\": [\"2\", 1], \"data_type\": 1,"
                     "   \"rawData\": \"AACAPwAAAEA\", \"dataLocation\": 1 } ],"
                     "  \"node\": [ { \"opType\": \"A\", \"attribute\": ["
                     "    { \"name\": \"a\", \"type\": \"INT\", \"i\": \"-9223372036854775808\" },"
                     "    { \"name\": \"b\", \"type\": 6, \"floats\": [\"NaN\", \"-Infinity\", 1.5, \"2.5e1\", "
                     "3.4028235e38] } ] } ] } }";
  g_autoptr (LptOnnxFile) file = load_text (text);
  const Onnx__TensorProto *tensor = file->model->graph->initializer[0];
  const Onnx__NodeProto *node = file->model->graph->node[0];

  g_assert_cmpint (file->model->ir_version, ==, 8);
  g_assert_null (file->model->producer_name);
  g_assert_cmpint (tensor->dims[0], ==, 2);
  g_assert_cmpint (tensor->dims[1], ==, 1);
  g_assert_cmpuint (tensor->raw_data.len, ==, 8);
  g_assert_cmpmem (tensor->raw_data.data, 8, ((float[]) { 1, 2 }), 8);
  g_assert_cmpint (tensor->data_location, ==, ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
  g_assert_cmpint (node->attribute[0]->i, ==, G_MININT64);
  g_assert_cmpint (node->attribute[0]->type, ==, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
  g_assert_cmpint (node->attribute[1]->type, ==, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  g_assert_true (isnan (node->attribute[1]->floats[0]));
  g_assert_true (isinf (node->attribute[1]->floats[1]));
  g_assert_cmpfloat (node->attribute[1]->floats[3], ==, 25.0f);
  g_assert_cmpfloat (node->attribute[1]->floats[4], ==, G_MAXFLOAT);
}

static void
test_json_refused (void)
{
  static const struct { const char *text, *message; } cases[] = {
    { "{", "not JSON (or nested deeper than 1000), line 1" },
    { "{\n\"graph\": tru\n}", "not JSON (or nested deeper than 1000), line 2" },
    { "{} x", "text after the end of the JSON object, line 1" },
    { "{\"graph\": 3}", "graph: not an object" },
    { "{\"graph\": {\"node\": {}}}", "graph.node: not an array" },
    { "{\"graph\": {\"node\": [null]}}", "graph.node[0]: not an object" },
    { "{\"graph\": {\"node\": [{\"input\": [\"a\", 1]}]}}", "graph.node[0].input[1]: not a string" },
    { "{\"graph\": {}, \"graph\": {}}", "graph: given twice" },
    { "{\"irVersion\": 1, \"ir_version\": 2}", "irVersion: given twice" },
    { "{\"irVersion\": 1.5}", "irVersion: not an integer" },
    { "{\"irVersion\": 9007199254740995}", "irVersion: an integer beyond 2^53 must be written as a string" },
    { "{\"irVersion\": \"9223372036854775808\"}", "irVersion: \"9223372036854775808\" is not an integer in its range" },
    { "{\"irVersion\": \"8x\"}", "irVersion: \"8x\" is not an integer in its range" },
    { "{\"graph\": {\"initializer\": [{}, {\"dataType\": 3000000000}]}}", "graph.initializer[1].dataType: 3000000000 is out of range" },
    { "{\"graph\": {\"node\": [{\"attribute\": [{}, {\"t\": {\"rawData\": \"AA*A\"}}]}]}}",
      "graph.node[0].attribute[1].t.rawData: not base64 at character 2" },
    { "{\"graph\": {\"initializer\": [{\"rawData\": \"AAAAA\"}]}}", "graph.initializer[0].rawData: base64 of impossible length 5" },
    { "{\"graph\": {\"initializer\": [{\"rawData\": \"AA=\"}]}}", "graph.initializer[0].rawData: base64 of impossible length 3" },
    { "{\"graph\": {\"initializer\": [{\"floatData\": [1, \"one\"]}]}}", "graph.initializer[0].floatData[1]: \"one\" is not a number" },
    { "{\"graph\": {\"initializer\": [{\"floatData\": [1e39]}]}}", "graph.initializer[0].floatData[0]: a number out of range" },
    { "{\"graph\": {\"node\": [{\"attribute\": [{\"type\": \"REAL\"}]}]}}", "graph.node[0].attribute[0].type: \"REAL\" is not one of its names" },
#define INIT(text) "{\"graph\": {\"initializer\": [{" text "}]}}"
    { "{\"irVersion\": true}", "irVersion: not an integer" },
    { INIT ("\"dataType\": -3000000000"), "graph.initializer[0].dataType: -3000000000 is out of range" },
    { INIT ("\"dataLocation\": 0.5"), "graph.initializer[0].dataLocation: not an integer" },
    { INIT ("\"uint64Data\": [1, -1]"), "graph.initializer[0].uint64Data[1]: -1 is out of range" },
    { INIT ("\"uint64Data\": [\"-1\"]"), "graph.initializer[0].uint64Data[0]: \"-1\" is not an integer in its range" },
    { INIT ("\"uint64Data\": [\"18446744073709551616\"]"),
      "graph.initializer[0].uint64Data[0]: \"18446744073709551616\" is not an integer in its range" },
    { INIT ("\"doubleData\": [1e999]"), "graph.initializer[0].doubleData[0]: a number out of range" },
    { INIT ("\"doubleData\": [true]"), "graph.initializer[0].doubleData[0]: not a number" },
    { INIT ("\"doubleData\": [\"\"]"), "graph.initializer[0].doubleData[0]: \"\" is not a number" },
    { INIT ("\"doubleData\": [\"+1\"]"), "graph.initializer[0].doubleData[0]: \"+1\" is not a number" },
    { INIT ("\"doubleData\": [\"1 \"]"), "graph.initializer[0].doubleData[0]: \"1 \" is not a number" },
    { INIT ("\"doubleData\": [\"-inf\"]"), "graph.initializer[0].doubleData[0]: a number out of range" },
    { INIT ("\"rawData\": 3"), "graph.initializer[0].rawData: not a base64 string" },
    { INIT ("\"name\": \"\xff\""), "graph.initializer[0].name: not UTF-8 text" },
    { "{\"graph\": {\"input\": [{\"type\": {\"tensorType\": {}, \"mapType\": {}}}]}}",
      "graph.input[0].type.mapType: another alternative of the same choice is given" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, strlen (cases[i].text), cases[i].message);
}

/* Numbers at the ends of their types, a code that has no name, both alphabets of base64, keys that nobody knows. */
static void
test_json_ends (void)
{
  const char *text = "{\"aKeyThatIsLongerThanAnyNameOfAFieldCouldBeAndIsThereforeNotLookedUpAtAll\": 1, \"graph\": {"
                     "\"initializer\": [{\"uint64Data\": [\"18446744073709551615\", 7], \"doubleData\": [\"NaN\", "
                     "\"Infinity\", \"-Infinity\", 1e308, 0.1], \"rawData\": \"-_+/\", \"dataLocation\": 7}]}}\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (LptOnnxFile) file = lpt_onnx_file_from_data (text, strlen (text) + 1, NULL, &error);
  g_assert_no_error (error);
  const Onnx__TensorProto *tensor = file->model->graph->initializer[0];
  g_autofree char *again = to_json (file->model);

  g_assert_cmpuint (tensor->uint64_data[0], ==, G_MAXUINT64);
  g_assert_cmpuint (tensor->uint64_data[1], ==, 7);
  g_assert_cmpfloat (tensor->double_data[4], ==, 0.1);
  g_assert_cmpmem (tensor->raw_data.data, tensor->raw_data.len, "\xfb\xff\xbf", 3);
  for (guint i = 0; i < 6; i++)
    {
      static const char *const parts[] = { "\"18446744073709551615\"", "\"NaN\"", "\"Infinity\"", "\"-Infinity\"",
                                           " 0.1]", "\"dataLocation\": 7" };

      if (strstr (again, parts[i]) == NULL)
        g_error ("%s is not in %s", parts[i], again);
    }
}

static void
test_json_depth (void)
{
  g_autoptr (GString) text = g_string_new ("{\"graph\": ");
  guint levels = 60;

  for (guint i = 0; i < levels; i++)
    g_string_append (text, "{\"node\":[{\"attribute\":[{\"g\":");
  g_string_append (text, "{}");
  for (guint i = 0; i < levels; i++)
    g_string_append (text, "}]}]}");
  g_string_append (text, "}");
  assert_refused (text->str, text->len, "unsupported: messages nested deeper than 100");
}

/* --- binary ----------------------------------------------------------------- */

#define BYTES(...) ((const guint8[]) { __VA_ARGS__ }), sizeof ((const guint8[]) { __VA_ARGS__ })

static void
test_wire_refused (void)
{
  assert_refused ("", 0, "the file is empty");
  assert_refused (BYTES (0x08), "irVersion: cut off inside a value");
  assert_refused (BYTES (0x08, 0x80, 0x80), "irVersion: cut off inside a value");
  assert_refused (BYTES (0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01),
                  "irVersion: cut off inside a value");
  assert_refused (BYTES (0x3a, 0x05, 0x0a, 0x10), "graph: a length of 5 bytes runs past the end (2 are left)");
  assert_refused (BYTES (0x3a, 0x04, 0x0a, 0x10, 0x00, 0x00),
                  "graph.node[0]: a length of 16 bytes runs past the end (2 are left)");
  assert_refused (BYTES (0x3a, 0xff, 0xff, 0xff, 0xff, 0x7f),
                  "graph: a length of 34359738367 bytes runs past the end (0 are left)");
  assert_refused (BYTES (0x3a, 0x00, 0x3a, 0x00), "graph: given twice");
  assert_refused (BYTES (0x12, 0x02, 0xff, 0xfe), "producerName: not UTF-8 text");
  assert_refused (BYTES (0x12, 0x02, 0x61, 0x00), "producerName: not UTF-8 text");
  assert_refused (BYTES (0x0d, 0, 0, 0, 0), "irVersion: wire type 5 where 0 belongs");
  assert_refused (BYTES (0x0b), "irVersion: wire type 3 where 0 belongs");
  assert_refused (BYTES (0xfb, 0x06), "unsupported protobuf group");
  assert_refused (BYTES (0x00, 0x00), "not a field of a protobuf message");
  assert_refused (BYTES ('G', 'I', 'F', '8', '9', 'a'), "opsetImport[0]: wire type 7 where 2 belongs");
  assert_refused (BYTES (0x67), "wire type 7 does not exist");
  /* float_data of a tensor: 3 bytes are no float */
  assert_refused (BYTES (0x3a, 0x07, 0x2a, 0x05, 0x22, 0x03, 0, 0, 0),
                  "graph.initializer[0].floatData[0]: 3 bytes are not a whole count of numbers");
}

/* Every prefix of a good file is refused or read, never more. */
static void
test_wire_truncated (void)
{
  const char *text = "{\"irVersion\": 8, \"graph\": {\"name\": \"g\", \"node\": [{\"opType\": \"Add\", \"input\": "
                     "[\"a\", \"b\"], \"attribute\":"
                     "[{\"name\": \"x\", \"ints\": [\"1\", \"300\"], \"t\": {\"dims\": [2], \"dataType\": 1, "
                     "\"floatData\": [1, 2]}}]}]}}";
  g_autoptr (LptOnnxFile) file = load_text (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) packed = lpt_onnx_model_to_wire (file->model, &error);
  gsize size;
  const guint8 *data = g_bytes_get_data (packed, &size);
  guint refused = 0;

  g_assert_no_error (error);
  for (gsize n = 1; n < size; n++)
    {
      g_autoptr (GError) local = NULL;
      g_autofree guint8 *copy = g_memdup2 (data, n);
      g_autoptr (LptOnnxFile) part = lpt_onnx_file_from_data (copy, n, NULL, &local);

      g_assert_true ((part == NULL) == (local != NULL));
      refused += part == NULL;
    }
  g_assert_cmpuint (refused, >=, size - 3);   /* the model's own version is a field that stands whole */
}

/* A file's large initializers are read where they are mapped: the same message, one that owns nothing of it when it
 * goes. */
static void
test_wire_lent (void)
{
  g_autofree guint8 *bytes = g_malloc (8000);
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) kept = NULL;
  g_autoptr (GBytes) packed = NULL;
  g_autofree char *large = NULL, *small = NULL, *path = NULL, *text = NULL, *told = NULL;

  for (guint i = 0; i < 8000; i++)
    bytes[i] = (guint8) (i * 7 + i / 256);
  large = g_base64_encode (bytes, 8000);
  small = g_base64_encode (bytes, 100);
  text = g_strdup_printf ("{\"irVersion\": 8, \"graph\": {\"name\": \"g\", \"initializer\": ["
                          "{\"name\": \"a\", \"dims\": [100], \"dataType\": 3, \"rawData\": \"%s\"},"
                          "{\"name\": \"b\", \"dims\": [80, 100], \"dataType\": 3, \"rawData\": \"%s\"},"
                          "{\"name\": \"c\", \"dims\": [2], \"dataType\": 1, \"floatData\": [1, 2]},"
                          "{\"name\": \"d\", \"dims\": [8000], \"dataType\": 2, \"rawData\": \"%s\"}]},"
                          "\"opsetImport\": [{\"version\": \"13\"}]}", small, large, large);
  {
    g_autoptr (LptOnnxFile) file = load_text (text);

    packed = lpt_onnx_model_to_wire (file->model, &error);
    g_assert_no_error (error);
    told = to_json (file->model);
  }
  path = g_build_filename (g_get_tmp_dir (), "lpt-test-lent-XXXXXX", NULL);
  close (g_mkstemp (path));
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (packed, NULL), (gssize) g_bytes_get_size (packed), NULL));
  {
    g_autoptr (LptOnnxFile) file = lpt_onnx_file_load (path, &error);
    g_autofree char *again = NULL;

    g_assert_no_error (error);
    again = to_json (file->model);
    g_assert_cmpstr (again, ==, told);
    for (guint i = 0; i < 4; i++)
      g_assert_true (lpt_onnx_file_lends (file, file->model->graph->initializer[i]->raw_data.data) == (i % 2 == 1));
    kept = lpt_onnx_file_tensor (file, file->model->graph->initializer[1], &error);
    g_assert_no_error (error);
  }
  g_remove (path);
  g_assert_cmpmem (lpt_tensor_data (kept), lpt_tensor_size (kept), bytes, 8000);
}

static void
test_wire_depth (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  /* Innermost first: attribute.g (6), node.attribute (5), graph.node (1), ... in three-byte lengths. */
  for (guint i = 0; i < 200; i++)
    {
      static const guint8 tags[] = { 0x32, 0x2a, 0x0a };
      guint8 head[4] = { tags[i % 3] };
      guint n = bytes->len;

      head[1] = (n & 0x7f) | 0x80;
      head[2] = ((n >> 7) & 0x7f) | 0x80;
      head[3] = (n >> 14) & 0x7f;
      g_byte_array_prepend (bytes, head, 4);
    }
  while (bytes->data[0] != 0x0a)
    g_byte_array_remove_range (bytes, 0, 4);
  {
    guint n = bytes->len;
    guint8 head[4] = { 0x3a, (n & 0x7f) | 0x80, ((n >> 7) & 0x7f) | 0x80, (n >> 14) & 0x7f };

    g_byte_array_prepend (bytes, head, 4);
  }
  assert_refused (bytes->data, bytes->len, "unsupported: messages nested deeper than 100");
}

/* --- tensors ---------------------------------------------------------------- */

/* The first initializer of a model whose only initializer has these JSON fields. */
static LptTensor *
read_initializer (const char  *fields,
                  const char  *folder,
                  GError     **error)
{
  g_autofree char *text = g_strdup_printf ("{\"graph\": {\"initializer\": [{\"name\": \"w\", %s}]}}", fields);
  g_autoptr (LptOnnxFile) file = lpt_onnx_file_from_data (text, strlen (text), folder, error);

  return file != NULL ? lpt_onnx_file_tensor (file, file->model->graph->initializer[0], error) : NULL;
}

static void
test_tensor_encodings (void)
{
  static const struct { const char *fields; LptDType dtype; guint n; double values[5]; } cases[] = {
    { "\"dims\": [2], \"dataType\": 1, \"floatData\": [1.5, \"-Infinity\"]", LPT_DTYPE_F32, 2, { 1.5, -INFINITY } },
    { "\"dims\": [2], \"dataType\": 1, \"rawData\": \"AACAPwAAAEA=\"", LPT_DTYPE_F32, 2, { 1, 2 } },
    { "\"dims\": [], \"dataType\": 7, \"int64Data\": [\"-9000000000\"]", LPT_DTYPE_I64, 1, { -9e9 } },
    { "\"dataType\": 11, \"doubleData\": [0.25]", LPT_DTYPE_F64, 1, { 0.25 } },
    { "\"dims\": [3], \"dataType\": 2, \"int32Data\": [0, 128, 255]", LPT_DTYPE_U8, 3, { 0, 128, 255 } },
    { "\"dims\": [3], \"dataType\": 3, \"int32Data\": [-128, -1, 127]", LPT_DTYPE_I8, 3, { -128, -1, 127 } },
    { "\"dims\": [2], \"dataType\": 4, \"int32Data\": [65535, 1]", LPT_DTYPE_U16, 2, { 65535, 1 } },
    { "\"dims\": [2], \"dataType\": 5, \"int32Data\": [-32768, 1]", LPT_DTYPE_I16, 2, { -32768, 1 } },
    { "\"dims\": [2], \"dataType\": 6, \"int32Data\": [-2147483648, 1]", LPT_DTYPE_I32, 2, { -2147483648.0, 1 } },
    { "\"dims\": [2], \"dataType\": 9, \"int32Data\": [1, 0]", LPT_DTYPE_BOOL, 2, { 1, 0 } },
    { "\"dims\": [2], \"dataType\": 10, \"int32Data\": [15360, 49152]", LPT_DTYPE_F16, 2, { 1, -2 } },
    { "\"dims\": [2], \"dataType\": 16, \"int32Data\": [16256, 49152]", LPT_DTYPE_BF16, 2, { 1, -2 } },
    { "\"dims\": [1], \"dataType\": 12, \"uint64Data\": [\"4294967295\"]", LPT_DTYPE_U32, 1, { 4294967295.0 } },
    { "\"dims\": [1], \"dataType\": 13, \"uint64Data\": [\"4294967296\"]", LPT_DTYPE_U64, 1, { 4294967296.0 } },
    { "\"dims\": [3], \"dataType\": 17, \"int32Data\": [56, 126, 254]", LPT_DTYPE_F8E4M3, 3, { 1, 448, -448 } },
    { "\"dims\": [2], \"dataType\": 18, \"int32Data\": [64, 255]", LPT_DTYPE_F8E4M3FNUZ, 2, { 1, -240 } },
    { "\"dims\": [2], \"dataType\": 19, \"int32Data\": [60, 251]", LPT_DTYPE_F8E5M2, 2, { 1, -57344 } },
    { "\"dims\": [2], \"dataType\": 20, \"rawData\": \"QP8=\"", LPT_DTYPE_F8E5M2FNUZ, 2, { 1, -57344 } },
    { "\"dims\": [2], \"dataType\": 24, \"int32Data\": [127, 130]", LPT_DTYPE_F8E8M0, 2, { 1, 8 } },
    { "\"dims\": [3], \"dataType\": 23, \"int32Data\": [114, 14]", LPT_DTYPE_F4E2M1, 3, { 1, 6, -4 } },
    { "\"dims\": [5], \"dataType\": 26, \"int32Data\": [228, 2]", LPT_DTYPE_I2, 5, { 0, 1, -2, -1, -2 } },
    { "\"dims\": [4], \"dataType\": 25, \"int32Data\": [228]", LPT_DTYPE_U2, 4, { 0, 1, 2, 3 } },
    { "\"dims\": [3], \"dataType\": 22, \"int32Data\": [122, 8]", LPT_DTYPE_I4, 3, { -6, 7, -8 } },
    { "\"dims\": [3], \"dataType\": 21, \"rawData\": \"egg=\"", LPT_DTYPE_U4, 3, { 10, 7, 8 } },
    { "\"dims\": [0, 5], \"dataType\": 1", LPT_DTYPE_F32, 0, { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptTensor) tensor = read_initializer (cases[i].fields, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (lpt_tensor_dtype (tensor), ==, cases[i].dtype);
      g_assert_cmpint (lpt_tensor_count (tensor), ==, cases[i].n);
      for (guint k = 0; k < cases[i].n; k++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (tensor, k), ==, cases[i].values[k]);
    }
}

static void
test_tensor_refused (void)
{
  static const struct { const char *fields, *message;
  } cases[] = {
    { "\"dims\": [2], \"dataType\": 1, \"floatData\": [1]", "holds 1 values where its shape needs 2" },
    { "\"dims\": [2], \"dataType\": 1, \"int64Data\": [1, 2]", "holds 0 values where its shape needs 2" },
    { "\"dims\": [2], \"dataType\": 1, \"rawData\": \"AAAA\"", "holds 3 bytes where its shape needs 8" },
    { "\"dims\": [1048576, 1048576], \"dataType\": 2", "holds 0 values where its shape needs 1099511627776" },
    { "\"dims\": [4294967296, 4294967296], \"dataType\": 2", "its shape has more elements than there are addresses" },
    { "\"dims\": [-1], \"dataType\": 1", "dimension 0 is -1" },
    { "\"dims\": [1,1,1,1,1,1,1,1,1,1,1], \"dataType\": 1, \"floatData\": [1]", "unsupported rank 11" },
    { "\"dims\": [2], \"dataType\": 8, \"stringData\": [\"YQ==\"]", "holds 1 strings where its shape needs 2" },
    { "\"dims\": [1], \"dataType\": 8, \"rawData\": \"YQ==\"", "its strings do not stand in string_data" },
    { "\"dims\": [1], \"dataType\": 14, \"floatData\": [1, 1]", "unsupported element type COMPLEX64" },
    { "\"dims\": [1], \"dataType\": 99", "element type 99 does not exist" },
    { "\"dims\": [1]", "element type 0 does not exist" },
    { "\"dims\": [1], \"dataType\": 9, \"int32Data\": [2]", "element 0 is 2, not a boolean" },
    { "\"dims\": [1], \"dataType\": 9, \"rawData\": \"Ag==\"", "element 0 is 2, not a boolean" },
    { "\"dims\": [1], \"dataType\": 1, \"floatData\": [1], \"rawData\": \"AACAPw==\"",
      "its elements stand in several fields" },
    { "\"dims\": [1], \"dataType\": 1, \"segment\": {}, \"floatData\": [1]", "unsupported: a tensor in segments" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *message = g_strconcat ("tensor \"w\": ", cases[i].message, NULL);

      g_assert_null (read_initializer (cases[i].fields, NULL, &error));
      g_assert_nonnull (error);
      g_assert_cmpstr (error->message, ==, message);
    }
}

/* The tensor outlives the file that it is a slice of. */
static void
test_tensor_outlives_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) tensor = read_initializer ("\"dims\": [2], \"dataType\": 1, \"rawData\": \"AACAPwAAAEA=\"",
                                                   NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (lpt_tensor_get_f64 (tensor, 1), ==, 2);
}

/* --- external data ---------------------------------------------------------- */

#define EXTERNAL(dims, entries) "\"dims\": " dims ", \"dataType\": 1, \"dataLocation\": \"EXTERNAL\", \"externalData\": [" entries "]"
#define ENTRY(key, value) "{\"key\": \"" key "\", \"value\": \"" value "\"}"

static void
test_external (void)
{
  static const struct { const char *fields, *message; } refused[] = {
    { EXTERNAL ("[1]", ENTRY ("location", "../w.bin")), "external data \"../w.bin\" leads out of the model's folder" },
    { EXTERNAL ("[1]", ENTRY ("location", "a/../../w.bin")), "external data \"a/../../w.bin\" leads out of the model's folder" },
    { EXTERNAL ("[1]", ENTRY ("location", "/etc/passwd")), "external data \"/etc/passwd\" leads out of the model's folder" },
    { EXTERNAL ("[1]", ENTRY ("location", "")), "external data \"\" leads out of the model's folder" },
    { EXTERNAL ("[1]", ENTRY ("location", "out.bin")), "external data \"out.bin\" leads out of the model's folder" },
    { EXTERNAL ("[1]", ENTRY ("location", "none.bin")), "external data \"none.bin\": No such file or directory" },
    { EXTERNAL ("[1]", ENTRY ("offset", "4")), "external data without a location" },
    { EXTERNAL ("[1]", ENTRY ("location", "w.bin") "," ENTRY ("offset", "-4")), "external data: offset \"-4\" is not a number of bytes" },
    { EXTERNAL ("[1]", ENTRY ("location", "w.bin") "," ENTRY ("length", "8")), "external data \"w.bin\": length 8 where the shape needs 4 bytes" },
    { EXTERNAL ("[2]", ENTRY ("location", "w.bin") "," ENTRY ("offset", "8")), "external data \"w.bin\": bytes 8 to 16 of a file of 12" },
    { EXTERNAL ("[1]", ENTRY ("location", "w.bin") "," ENTRY ("offset", "9223372036854775807")),
      "external data \"w.bin\": bytes 9223372036854775807 to 9223372036854775811 of a file of 12" },
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("lpt-onnx-XXXXXX", &error);
  g_autofree char *data = g_build_filename (folder, "w.bin", NULL);
  g_autofree char *link = g_build_filename (folder, "out.bin", NULL);

  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (data, (const char *) (float[]) { 1, 2, 3 }, 12, &error));
  g_assert_cmpint (symlink ("/etc/passwd", link), ==, 0);
  {
    g_autoptr (LptTensor) tensor = read_initializer (EXTERNAL ("[2]", ENTRY ("location", "./w.bin") "," ENTRY ("offset", "4") "," ENTRY ("length", "8")),
                                                     folder, &error);

    g_assert_no_error (error);
    g_assert_cmpfloat (lpt_tensor_get_f64 (tensor, 0), ==, 2);
    g_assert_cmpfloat (lpt_tensor_get_f64 (tensor, 1), ==, 3);
  }
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *message = g_strconcat ("tensor \"w\": ", refused[i].message, NULL);

      g_assert_null (read_initializer (refused[i].fields, folder, &error));
      g_assert_nonnull (error);
      g_assert_cmpstr (error->message, ==, message);
      g_clear_error (&error);
    }
  g_unlink (data);
  g_unlink (link);
  g_rmdir (folder);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/onnx-proto/forms/node", "corpus/onnx_node", test_forms);
  g_test_add_data_func ("/onnx-proto/forms/qops", "corpus/ort_qops", test_forms);
  g_test_add_data_func ("/onnx-proto/forms/patterns", "corpus/qdq_patterns", test_forms);
  g_test_add_data_func ("/onnx-proto/forms/models", "models", test_forms);
  g_test_add_func ("/onnx-proto/json/spellings", test_json_spellings);
  g_test_add_func ("/onnx-proto/json/refused", test_json_refused);
  g_test_add_func ("/onnx-proto/json/depth", test_json_depth);
  g_test_add_func ("/onnx-proto/json/ends", test_json_ends);
  g_test_add_func ("/onnx-proto/wire/refused", test_wire_refused);
  g_test_add_func ("/onnx-proto/wire/truncated", test_wire_truncated);
  g_test_add_func ("/onnx-proto/wire/lent", test_wire_lent);
  g_test_add_func ("/onnx-proto/wire/depth", test_wire_depth);
  g_test_add_func ("/onnx-proto/tensor/encodings", test_tensor_encodings);
  g_test_add_func ("/onnx-proto/tensor/refused", test_tensor_refused);
  g_test_add_func ("/onnx-proto/tensor/outlives-file", test_tensor_outlives_file);
  g_test_add_func ("/onnx-proto/tensor/external", test_external);
  return g_test_run ();
}
