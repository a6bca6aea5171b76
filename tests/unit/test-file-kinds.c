/* test-file-kinds.c - which kind of file the first bytes are taken for, and which op a layer of an IR names
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/openvino_xml/ov-net.h"
#include "frontends/signatures.h"

#include <string.h>

#define BYTES(text) text, sizeof text - 1
/* The first entry of an archive: its name's length, then what stands behind it. */
#define ZIP(length, text) BYTES ("PK\3\4" "----------------------" length "\0--" text)

/* A word of what is said; NULL: nothing is known. Each kind, and what only looks like it. */
static void
test_kinds (void)
{
  static const struct { const char *bytes; gsize size; const char *word; } rows[] = {
    { BYTES (""), NULL },
    { BYTES ("\x1c\0\0\0TFL3"), NULL },
    { BYTES ("\x1c\0\0\0TFL2"), "another schema than 3" },
    { BYTES ("\x1c\0\0\0TFLx"), NULL },
    { BYTES ("\x1c\0\0\0TFL"), NULL },
    { ZIP ("\x0c", "net/data.pkl"), "PyTorch" },
    { ZIP ("\x11", "net/constants.pkl"), "PyTorch" },
    { ZIP ("\x1a", "net/.data/serialization_id"), "PyTorch" },
    { ZIP ("\x0d", "metadata.json------config.json"), "Keras" },
    { ZIP ("\x0d", "metadata.json"), "ZIP archive" },
    { ZIP ("\x0b", "config.json"), "ZIP archive" },
    { ZIP ("\5", "x.npy"), "arrays (.npz)" },
    { ZIP ("\5", "x.npz"), "ZIP archive" },
    { ZIP ("\4", ".npy"), "ZIP archive" },
    { ZIP ("\xff", "x.npy"), "ZIP archive" },
    { BYTES ("PK\3\4"), "ZIP archive" },
    { BYTES ("PK\3\5"), NULL },
    { BYTES ("\x10\0\0\0\0\0\0\0{\"a\""), "safetensors" },
    { BYTES ("\x10\0\0\0\0\0\0\0{}}"), "safetensors" },
    { BYTES ("\x10\0\0\0\0\0\0\0{x}"), NULL },
    { BYTES ("\x10\0\0\0\0\0\0\0{\""), NULL },
    { BYTES ("\x10\0\0\0\0\0\0\1{\"a\""), NULL },
    { BYTES ("\x08\1\x12\x10\x0a"), "SavedModel" },
    { BYTES ("\x08\1\x12\x90\1\x0a"), "SavedModel" },
    { BYTES ("\x08\1\x12\x10\x12"), NULL },
    { BYTES ("\x08\1\x12\x10"), NULL },
    { BYTES ("\x08\1\x12"), NULL },
    { BYTES ("\x08\1\x12\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\1\x0a"), NULL },
    { BYTES ("\x0a\x20\x0a\1x\x12\5Const"), "GraphDef" },
    { BYTES ("\x0a\x20\x0a\1x\x12\5const"), NULL },
    { BYTES ("\x0a\x20\x0a\1x\x12\x85" "Const"), NULL },
    { BYTES ("\x0a\x20\x0a\1x\x1a\5Const"), NULL },
    { BYTES ("\x0a\x20\x0a\1x\x12"), NULL },
    { BYTES ("\x0a\x20\x0a\x81\1x\x12\5Const"), NULL },
    { BYTES ("\x0a\x20\x12\1x\x12\5Const"), NULL },
    { BYTES ("\x0a\x20"), NULL },
    { BYTES ("\x0a"), NULL },
    { BYTES ("\x80\2}"), "pickle (PyTorch)" },
    { BYTES ("\x80\5}"), "Python pickle" },
    { BYTES ("7767517\n"), "ncnn" },
    { BYTES ("BZh9"), "bzip2" },
    { BYTES ("7z\xbc\xaf\x27\x1c"), "7z archive" },
    { BYTES ("<html>"), "HTML" },
    { BYTES (" \r\n\t<HTML>"), "HTML" },
    { BYTES ("<!doctype HTML>"), "HTML" },
    { BYTES ("<htm"), NULL },
    { BYTES ("   "), NULL },
    { BYTES ("<net name=\"html\">"), NULL },
    { BYTES ("\xff\xd8\xff\xe0"), "JPEG" },
    { BYTES ("%PDF-1.7"), "PDF" },
    { BYTES ("\x7f" "ELF\2"), "ELF" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      /* A copy of that length: what is read behind it is seen by the sanitizers. */
      g_autofree guint8 *head = g_memdup2 (rows[i].bytes, rows[i].size);
      const char *kind = lpt_foreign_kind (head, rows[i].size);
      if ((kind == NULL) != (rows[i].word == NULL) || (kind != NULL && strstr (kind, rows[i].word) == NULL))
        g_test_fail_printf ("row %u: %s instead of %s", i, kind, rows[i].word);
    }
}

/* By its first byte: what may begin one of ours is not given up. */
static void
test_guesses (void)
{
  static const struct { const char *bytes; gsize size; gboolean ours; } rows[] = {
    { BYTES (""), TRUE },  { BYTES ("{"), TRUE },    { BYTES ("\x08"), TRUE },  { BYTES ("\x3a"), TRUE },
    { BYTES ("B"), TRUE }, { BYTES ("\xca"), TRUE }, { BYTES ("\x09"), FALSE }, { BYTES ("\xff"), FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *guess = lpt_foreign_guess ("model", (const guint8 *) rows[i].bytes, rows[i].size);
      g_assert_true ((guess == NULL) == rows[i].ours);
    }
}

/* @op NULL: kept as a vendor's, or the message. */
static void
test_layer_ops (void)
{
  static const struct
  {
    const char *type, *version, *op;
    guint opset;
    gboolean relaxed;
    const char *message;
  } rows[] = {
    { "ReLU", "opset1", "Relu", 1, FALSE, NULL },
    { "relu", "OPSET8", "Relu", 8, FALSE, NULL },
    { "MVN", "opset6", "MVN", 6, FALSE, NULL },
    { "MVN", "opset1", "MVN", 2, FALSE, NULL },             /* some files say so */
    { "roipooling", "opset1", "ROIPooling", 2, FALSE, NULL },
    { "ReorgYolo", "opset1", "ReorgYolo", 2, FALSE, NULL },
    { "ShuffleChannels", "opset1", "ShuffleChannels", 3, FALSE, NULL },
    { "Gelu", "opset1", "Gelu", 2, FALSE, NULL },
    { "Gelu", "opset0", NULL, 0, FALSE, "unsupported operation set \"opset0\": opset1 to opset" },
    { "ReLU", "opset99", NULL, 0, FALSE, "unsupported operation set \"opset99\": opset1 to opset" },
    { "ReLU", "opset", NULL, 0, FALSE, "unsupported operation set \"opset\"" },
    { "ReLU", NULL, NULL, 0, FALSE, "type ReLU has no version" },
    { "HSwish", "opset1", NULL, 1, FALSE, "type HSwish is not in opset1 (it is in opset 4)" },
    { "Nobody", "opset1", NULL, 1, FALSE, NULL },
    { "Nobody", "opset99", NULL, 0, FALSE, "unsupported operation set" },
    { "Quantize", "opset1", NULL, 1, FALSE, NULL },         /* an op of ours is none of OpenVINO's */
    { "Convolution", "type_relaxed_opset", "Convolution", 0, TRUE, NULL },
    { "Nobody", "type_relaxed_opset", NULL, 0, TRUE, NULL },
    { "GRUCell", "experimental", "GRUCell", 6, FALSE, NULL },
    { "rnncell", "Extension", "RNNCell", 6, FALSE, NULL },
    { "Proposal", "extension", "Proposal", 6, FALSE, NULL },
    { "ReLU", "extension", NULL, 0, FALSE, NULL },
    { "Nobody", "extension", NULL, 0, FALSE, NULL },
    { "ReLU", "vendor", NULL, 0, FALSE, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      guint opset = 99;
      gboolean relaxed = 99;
      const LptOpInfo *info = ov_layer_op (rows[i].type, rows[i].version, &opset, &relaxed, &error);
      if (g_strcmp0 (info != NULL ? info->name : NULL, rows[i].op) != 0 || opset != rows[i].opset
          || relaxed != rows[i].relaxed)
        g_test_fail_printf ("row %u: %s of opset %u", i, info != NULL ? info->name : "none", opset);
      if ((error == NULL) != (rows[i].message == NULL)
          || (error != NULL && !g_str_has_prefix (error->message, rows[i].message)))
        g_test_fail_printf ("row %u: \"%s\" instead of \"%s\"", i, error != NULL ? error->message : "nothing",
                            rows[i].message);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file-kinds/kinds", test_kinds);
  g_test_add_func ("/file-kinds/guesses", test_guesses);
  g_test_add_func ("/file-kinds/layer-ops", test_layer_ops);
  return g_test_run ();
}
