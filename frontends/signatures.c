/* signatures.c - what a file is that is no model that is read here
 *
 * One row per kind: bytes at a place, and where these are not enough a function that looks further. The first row that
 * fits counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/signatures.h"

#include <string.h>

/* --- functions that look further ------------------------------------------- */

static gboolean
holds (const guint8 *head, gsize size, const char *word)
{
  return memmem (head, size, word, strlen (word)) != NULL;
}

/* torch.save() and TorchScript: NAME/data.pkl is among the first entries. */
static gboolean
is_torch_zip (const guint8 *head, gsize size)
{
  return holds (head, size, "/data.pkl") || holds (head, size, "/constants.pkl")
         || holds (head, size, "/.data/serialization_id");
}

static gboolean
is_keras_zip (const guint8 *head, gsize size)
{
  return holds (head, size, "metadata.json") && holds (head, size, "config.json");
}

static gboolean
is_npz (const guint8 *head, gsize size)
{
  gsize name = size >= 30 ? (gsize) head[26] | (gsize) head[27] << 8 : 0;
  return name > 4 && name <= size - 30 && memcmp (head + 30 + name - 4, ".npy", 4) == 0;
}

/* Eight bytes of length, then a JSON object. */
static gboolean
is_safetensors (const guint8 *head, gsize size)
{
  return size > 10 && memcmp (head + 5, "\0\0\0{", 4) == 0 && memchr ("\" \n}", head[9], 4) != NULL;
}

/* Skips a varint of protobuf; 0 = there is none. */
static gsize
skip_varint (const guint8 *head, gsize size, gsize at)
{
  for (gsize i = at; i < size && i < at + 10; i++)
    if (head[i] < 0x80)
      return i + 1;
  return 0;
}

/* SavedModel: field 1 is the version 1, field 2 a message whose first field is a message; in ONNX it would be a name
 * that begins with a line feed. */
static gboolean
is_saved_model (const guint8 *head, gsize size)
{
  gsize at = skip_varint (head, size, 3);
  return at > 0 && at < size && head[at] == 0x0a;
}

/* GraphDef: nodes (field 1) that begin with a name (1) and an op (2). */
static gboolean
is_graph_def (const guint8 *head, gsize size)
{
  gsize at = skip_varint (head, size, 1);
  if (at == 0 || at + 2 > size || head[at] != 0x0a || head[at + 1] >= 0x80)
    return FALSE;
  at += 2 + (gsize) head[at + 1];
  return at + 2 < size && head[at] == 0x12 && head[at + 1] < 0x80 && g_ascii_isupper (head[at + 2]);
}

static gboolean
is_old_tflite (const guint8 *head, gsize size)
{
  return size > 7 && g_ascii_isdigit (head[7]) && head[7] != '3';
}

static gboolean
is_html (const guint8 *head, gsize size)
{
  static const char *const starts[] = { "<!doctype html", "<html" };
  gsize at = 0;
  while (at < size && g_ascii_isspace (head[at]))
    at++;
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      gsize n = strlen (starts[i]);
      if (size - at >= n && g_ascii_strncasecmp ((const char *) head + at, starts[i], n) == 0)
        return TRUE;
    }
  return FALSE;
}

/* --- the table ------------------------------------------------------------- */

#define CONVERT "; convert it to ONNX or to an IR"
#define UNPACK  "; unpack it first"

static const struct
{
  guint       at, n;
  const char *bytes;
  gboolean  (*also) (const guint8 *head, gsize size);
  const char *text;
} signatures[] = {
  { 4,   3, "TFL",                  is_old_tflite,  "this is a TensorFlow Lite model of another schema than 3" },
  { 4,   4, "ORTM",                 NULL,           "this is ONNX Runtime's own format (.ort); give the .onnx" },
  { 0,   4, "PK\3\4",               is_torch_zip,   "this is a PyTorch zip archive" CONVERT },
  { 0,   4, "PK\3\4",               is_keras_zip,   "this is a Keras model (.keras)" CONVERT },
  { 0,   4, "PK\3\4",               is_npz,         "these are arrays (.npz), not a model" },
  { 0,   4, "PK\3\4",               NULL,           "this is a ZIP archive" UNPACK },
  { 0,   6, "\x93NUMPY",            NULL,           "this is an array (.npy), not a model" },
  { 0,   8, "\x89HDF\r\n\x1a\n",    NULL,           "this is an HDF5 file (Keras .h5)" CONVERT },
  { 0,   4, "GGUF",                 NULL,           "this is a GGUF model (llama.cpp)" CONVERT },
  { 0,   0, "",                     is_safetensors, "these are weights without a graph (safetensors)" CONVERT },
  { 0,   3, "\x08\x01\x12",         is_saved_model, "this is a TensorFlow SavedModel" CONVERT },
  { 0,   1, "\x0a",                 is_graph_def,   "this is a TensorFlow graph (GraphDef)" CONVERT },
  { 0,   2, "\x80\x02",             NULL,           "this is a Python pickle (PyTorch)" CONVERT },
  { 0,   2, "\x80\x03",             NULL,           "this is a Python pickle" CONVERT },
  { 0,   2, "\x80\x04",             NULL,           "this is a Python pickle" CONVERT },
  { 0,   2, "\x80\x05",             NULL,           "this is a Python pickle" CONVERT },
  { 0,   8, "7767517\n",            NULL,           "this is an ncnn model" CONVERT },
  { 0,   2, "\x1f\x8b",             NULL,           "this is compressed (gzip)" UNPACK },
  { 0,   6, "\xfd" "7zXZ\0",        NULL,           "this is compressed (xz)" UNPACK },
  { 0,   4, "\x28\xb5\x2f\xfd",     NULL,           "this is compressed (zstd)" UNPACK },
  { 0,   3, "BZh",                  NULL,           "this is compressed (bzip2)" UNPACK },
  { 0,   6, "7z\xbc\xaf\x27\x1c",   NULL,           "this is a 7z archive" UNPACK },
  { 257, 5, "ustar",                NULL,           "this is a tar archive" UNPACK },
  { 0,  40, "version https://git-lfs.github.com/spec/", NULL,
    "this is a Git LFS pointer, not the file itself; git lfs pull fetches it" },
  { 0,   0, "",                     is_html,        "this is a web page (HTML)" },
  { 0,   8, "\x89PNG\r\n\x1a\n",    NULL,           "this is a PNG image, not a model" },
  { 0,   3, "\xff\xd8\xff",         NULL,           "this is a JPEG image, not a model" },
  { 0,   4, "%PDF",                 NULL,           "this is a PDF document" },
  { 0,   4, "\x7f" "ELF",           NULL,           "this is a program or a library (ELF)" },
};

const char *
lpt_foreign_kind (const guint8 *head, gsize size)
{
  for (guint i = 0; size > 0 && i < G_N_ELEMENTS (signatures); i++)
    if (size >= signatures[i].at + signatures[i].n
        && memcmp (head + signatures[i].at, signatures[i].bytes, signatures[i].n) == 0
        && (signatures[i].also == NULL || signatures[i].also (head, size)))
      return signatures[i].text;
  return NULL;
}

char *
lpt_foreign_folder (const char *path)
{
  static const struct { const char *file, *text; } folders[] = {
    { "saved_model.pb", "this is a TensorFlow SavedModel" CONVERT },
    { "Manifest.json", "this is a Core ML package" CONVERT },
  };
  for (guint i = 0; g_file_test (path, G_FILE_TEST_IS_DIR) && i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *file = g_build_filename (path, folders[i].file, NULL);
      if (g_file_test (file, G_FILE_TEST_EXISTS))
        return g_strdup (folders[i].text);
    }
  return NULL;
}

/* Field and wire type of what may begin a ModelProto. */
static gboolean
begins_onnx (guint8 tag)
{
  static const guint8 tags[] = { 0x08, 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72, 0xa2, 0xca };
  return memchr (tags, tag, sizeof tags) != NULL;
}

char *
lpt_foreign_guess (const char *path, const guint8 *head, gsize size)
{
  if (g_str_has_suffix (path, ".bin"))
    {
      /* m.bin belongs to m.xml, m.json.bin to m.json. */
      g_autofree char *stem = g_strndup (path, strlen (path) - 4), *xml = g_strconcat (stem, ".xml", NULL);
      const char *model = g_file_test (xml, G_FILE_TEST_EXISTS) ? xml
                          : g_file_test (stem, G_FILE_TEST_IS_REGULAR) ? stem : "the .xml";
      return g_strdup_printf ("these are the weights of an IR (.bin); give %s", model);
    }
  if (size > 0 && !begins_onnx (head[0]) && head[0] != '{')
    return g_strdup ("this is no form of a model that is known (OpenVINO IR, ONNX, JSON or text of lptc)");
  return NULL;
}
