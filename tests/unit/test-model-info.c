/* test-model-info.c - what a model says of images: from metadata of TensorFlow Lite, and in what samples become
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/tflite/read/tflite-import.h"
#include "frontends/tflite/tflite-builder.h"

#include <lpt/lpt-data.h>

#include <glib/gstdio.h>
#include <string.h>

static LptGraph *
model (LptDType dtype)
{
  LptGraph *graph = lpt_graph_new ("g");
  LptNode *x = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "x", 0, NULL);
  x->out[0].dtype = dtype;
  x->out[0].shape = lpt_shape_make (4, (gint64[]) { 1, 3, 1, 2 });
  return graph;
}

static void
say (LptGraph *graph, const char *name, const char *text)
{
  g_hash_table_replace (graph->meta, g_strconcat (LPT_META_MODEL_INFO, name, NULL), g_strdup (text));
}

/* --- images ----------------------------------------------------------------------------------- */

#ifdef LPT_HAVE_PIXBUF
static void
on_remark (const char *text, gpointer data)
{
  g_ptr_array_add (data, g_strdup (text));
}

/* Two pixels, red and (10, 20, 30), in channels first. */
static void
check_image (LptGraph *graph, const LptDataOptions *options, const double *want, const char *remark)
{
  static const char bmp[] = "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0\x08\0\0\0\0\0\0"
                            "\0\0\0\0\0\0\0\0\0\0\0\0\0"
                            "\0\0\xff\x1e\x14\x0a\0\0";
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "lpt-model-info.bmp", NULL);
  g_autoptr (GPtrArray) said = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  LptDataOptions own = *options;
  own.remark = on_remark;
  own.remark_data = said;
  g_file_set_contents (path, bmp, sizeof bmp - 1, NULL);
  g_autoptr (LptData) data = lpt_data_open (graph, (const char *const[]) { path, NULL }, &own, &error);
  g_assert_no_error (error);
  for (guint again = 0; again < 2; again++)
    {
      g_autoptr (LptTensor) image = NULL;
      g_assert_true (lpt_data_get (data, 0, &image, &error));
      for (gint i = 0; i < 6; i++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (image, i), ==, want[i]);
    }
  g_assert_cmpuint (said->len, ==, remark != NULL);
  if (remark != NULL)
    g_assert_nonnull (strstr (said->pdata[0], remark));
  g_autoptr (LptTensor) one = lpt_data_load_input (graph->parameters->pdata[0], path, &own, &error);
  g_assert_cmpfloat (lpt_tensor_get_f64 (one, 1), ==, want[1]);
  g_unlink (path);
}
#endif

static void
test_images (void)
{
#ifdef LPT_HAVE_PIXBUF
  static const double plain[6] = { 255, 10, 0, 20, 0, 30 }, bgr[6] = { -5, 10, -5, 5, 122.5, 0 },
                      rgb[6] = { 122.5, 0, -5, 5, -5, 10 }, levels[6] = { 0, 30, 0, 20, 255, 10 };
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32);
  LptDataOptions none = { 0 }, all = { .from_model = LPT_DATA_NORMAL | LPT_DATA_CHANNELS | LPT_DATA_FIT };
  say (graph, "mean_values", "10 10, 10");
  say (graph, "scale_values", "2");
  say (graph, "reverse_input_channels", "NO");
  check_image (graph, &none, plain, NULL);
  check_image (graph, &all, bgr, " --mean 10,10,10 --scale 2 --channels bgr");
  /* What is given counts. */
  LptDataOptions some = { .from_model = LPT_DATA_NORMAL }, other = { .from_model = LPT_DATA_CHANNELS };
  check_image (graph, &some, rgb, " --scale 2");
  check_image (graph, &other, levels, " --channels bgr");
  /* What says nothing is as if it were not there. */
  say (graph, "mean_values", "a b");
  say (graph, "scale_values", "0");
  say (graph, "reverse_input_channels", "perhaps");
  say (graph, "resize_type", "crop");
  check_image (graph, &all, plain, NULL);
  say (graph, "scale_values", "2");
  say (graph, "embedded_processing", "True");
  check_image (graph, &all, plain, NULL);
  /* The aspect kept; borders of a level that is none are as if nothing was said. */
  static const struct { const char *level, *remark; } pads[] = {
    { NULL, " --pad 0" }, { "114", " --pad 114" }, { "256", NULL }, { "-1", NULL }, { "grey", NULL }
  };
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
    {
      g_autoptr (LptGraph) letterbox = model (LPT_DTYPE_F32);
      say (letterbox, "resize_type", "FIT_TO_WINDOW_LETTERBOX");
      if (pads[i].level != NULL)
        say (letterbox, "pad_value", pads[i].level);
      check_image (letterbox, &all, plain, pads[i].remark);
    }
  /* Codes are the pixels, whatever the model was trained with. */
  g_autoptr (LptGraph) codes = model (LPT_DTYPE_U8);
  LptNode *x = codes->parameters->pdata[0];
  x->out[0].quant = lpt_quant_new_one (0.5, 3);
  say (codes, "mean_values", "10");
  check_image (codes, &all, plain, NULL);
#else
  g_test_skip ("built without gdk-pixbuf");
#endif
}

/* --- TFLITE_METADATA --------------------------------------------------------------------------- */

/* Metadata of inputs with these options; @std NULL: the input has none. */
typedef struct { const float *mean, *std; guint n; } Given;

static GBytes *
metadata (guint n, const Given *given)
{
  g_autoptr (LptTflBuilder) b = lpt_tfl_builder_new ();
  g_autoptr (GError) error = NULL;
  LptTflRef inputs[2];
  for (guint i = 0; i < n; i++)
    {
      LptTflRef units = 0;
      if (given[i].std != NULL)
        {
          LptTflRef mean = lpt_tfl_build_vector (b, 4, 4, given[i].n, given[i].mean),
                    std = lpt_tfl_build_vector (b, 4, 4, given[i].n, given[i].std);
          LptTflSlot both[] = { LPT_TFL_REF (NormalizationOptions, mean, mean),
                                LPT_TFL_REF (NormalizationOptions, std, std) };
          LptTflRef options = lpt_tfl_build_table (b, 2, both);
          LptTflSlot slot = { .field = TFL_ProcessUnit_options, .ref = options, .member = TFLT_NormalizationOptions };
          LptTflRef unit = lpt_tfl_build_table (b, 1, &slot);
          units = lpt_tfl_build_refs (b, 1, &unit);
        }
      inputs[i] = lpt_tfl_build_table (b, 1, (LptTflSlot[]) { LPT_TFL_REF (TensorMetadata, process_units, units) });
    }
  LptTflRef list = lpt_tfl_build_refs (b, n, inputs);
  LptTflRef graph = lpt_tfl_build_table (
    b, 1, (LptTflSlot[]) { LPT_TFL_REF (SubGraphMetadata, input_tensor_metadata, list) });
  LptTflRef graphs = lpt_tfl_build_refs (b, 1, &graph);
  LptTflRef root = lpt_tfl_build_table (
    b, 1, (LptTflSlot[]) { LPT_TFL_REF (ModelMetadata, subgraph_metadata, graphs) });
  g_autoptr (GBytes) file = lpt_tfl_builder_finish (b, root, &error);
  g_assert_no_error (error);
  gsize size;
  guint8 *bytes = g_memdup2 (g_bytes_get_data (file, &size), g_bytes_get_size (file));
  memcpy (bytes + 4, "M001", 4);
  return g_bytes_new_take (bytes, size);
}

static void
keep (GBytes *bytes, gsize size, LptGraph *graph)
{
  const LptTflFlat flat = { g_bytes_get_data (bytes, NULL), size };
  lpt_tfl_keep_normalization (&flat, graph);
}

static void
test_metadata (void)
{
  static const float half[3] = { 127.5f, 1.0f, 0.25f }, other[3] = { 2.0f, 1.0f, 3.0f }, zero[1] = { 0.0f };
  const struct { guint n; Given given[2]; const char *mean, *scale; } rows[] = {
    { 1, { { half, half, 1 } }, "127.5", "127.5" },
    { 1, { { half, other, 3 } }, "127.5 1 0.25", "2 1 3" },
    { 2, { { NULL, NULL, 0 }, { half, half, 1 } }, "127.5", "127.5" },
    { 2, { { half, half, 1 }, { half, half, 1 } }, "127.5", "127.5" },
    { 2, { { half, half, 1 }, { other, half, 1 } }, NULL, NULL },          /* which one? */
    { 1, { { half, zero, 1 } }, NULL, NULL },
    { 1, { { NULL, NULL, 0 } }, NULL, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32);
      g_autoptr (GBytes) bytes = metadata (rows[i].n, rows[i].given);
      keep (bytes, g_bytes_get_size (bytes), graph);
      g_assert_cmpstr (g_hash_table_lookup (graph->meta, "model_info/mean_values"), ==, rows[i].mean);
      g_assert_cmpstr (g_hash_table_lookup (graph->meta, "model_info/scale_values"), ==, rows[i].scale);
    }
  /* Nobody verifies it: cut off, and with each byte changed. */
  g_autoptr (GBytes) bytes = metadata (1, rows[1].given);
  for (gsize n = 0; n < g_bytes_get_size (bytes); n++)
    {
      g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32);
      gsize size = g_bytes_get_size (bytes);
      g_autofree guint8 *copy = g_memdup2 (g_bytes_get_data (bytes, NULL), size);
      g_autoptr (GBytes) cut = g_bytes_new (copy, n);
      keep (cut, n, graph);
      for (guint value = 0; value < 256; value += 51)
        {
          copy[n] = (guint8) value;
          g_autoptr (GBytes) changed = g_bytes_new (copy, size);
          keep (changed, size, graph);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model-info/images", test_images);
  g_test_add_func ("/model-info/metadata", test_metadata);
  return g_test_run ();
}
