/* test-data.c - samples: what fits an input, rows of arrays and archives, folders, normalization, images, bytes, sound
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-eval.h>

#include "tests/unit/data-case.h"

static void
test_fit (void)
{
  static const struct { gint model_rank; gint64 model[4]; gint rank; gint64 dims[4]; guint n; double at[3]; } rows[] = {
    { 4, { 1, 1, 2, 3 }, 4, { 5, 1, 2, 3 }, 5, { 24, 25, 26 } },                /* stacked */
    { 4, { 1, 1, 2, 3 }, 3, { 5, 2, 3 }, 5, { 24, 25, 26 } },                   /* without the axis of length 1 */
    { 4, { LPT_DYNAMIC, 3, 2, 2 }, 4, { 4, 2, 2, 3 }, 4, { 36, 39, 42 } },      /* channels last become first */
    { 4, { 1, 2, 2, 3 }, 4, { 4, 3, 2, 2 }, 4, { 36, 40, 44 } },                /* and the other way */
    { 3, { 2, 2, 3 }, 3, { 8, 2, 3 }, 4, { 36, 37, 38 } },                      /* batches of two */
    { 2, { 1, 3 }, 1, { 3 }, 1, { 0, 1, 2 } },                                  /* one sample */
    { 4, { LPT_DYNAMIC, 1, 4, 1 }, 2, { 5, 4 }, 5, { 16, 17, 18 } },            /* axes of length 1 are put in */
    { 4, { 1, 4, 1, 1 }, 2, { 1, 4 }, 1, { 0, 1, 2 } },
  };
  g_autofree char *path = path_of ("fit.npy");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptGraph) graph = model (LPT_DTYPE_U8, rows[i].model_rank, rows[i].model);
      save_range (path, rows[i].rank, rows[i].dims);
      g_autoptr (LptData) data = open_data (graph, path, NULL);
      g_assert_cmpuint (data->n, ==, rows[i].n);
      g_autoptr (LptTensor) last = get (data, data->n - 1);
      g_assert_cmpint (lpt_tensor_shape (last)->rank, ==, rows[i].model_rank);
      for (gint k = 0; k < 3; k++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (last, k), ==, rows[i].at[k]);
      g_autoptr (LptTensor) first = get (data, 0);
      g_assert_cmpfloat (lpt_tensor_get_f64 (first, 0), ==, 0.0);
    }
  g_unlink (path);
}

static void
test_misfit (void)
{
  g_autofree char *path = path_of ("misfit.npy");
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32, 4, (gint64[]) { 1, 3, 8, 8 });
  g_autoptr (GError) error = NULL;
  save_range (path, 2, (gint64[]) { 4, 5 });
  g_assert_null (lpt_data_open (graph, (const char *const[]) { path, NULL }, NULL, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "misfit.npy"));
  g_clear_error (&error);
  g_assert_null (lpt_data_open (graph, (const char *const[]) { scratch, NULL }, NULL, &error));
  g_assert_nonnull (error);
  g_unlink (path);
}

static void
test_normalize (void)
{
  g_autofree char *path = path_of ("normal.npy");
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32, 4, (gint64[]) { 1, 3, 1, 2 });
  g_autoptr (GError) error = NULL;
  LptDataOptions options = { 0 };
  g_assert_true (lpt_data_options_mean (&options, "1,2,3", &error) && lpt_data_options_scale (&options, "2", &error));
  save_range (path, 4, (gint64[]) { 2, 3, 1, 2 });
  g_autoptr (LptData) data = open_data (graph, path, &options);
  g_autoptr (LptTensor) second = get (data, 1);
  g_assert_cmpfloat (lpt_tensor_get_f64 (second, 0), ==, 2.5);
  g_assert_cmpfloat (lpt_tensor_get_f64 (second, 5), ==, 4.0);
  g_assert_false (lpt_data_options_scale (&options, "0", &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (lpt_data_options_mean (&options, "1,2,3,4,5", &error));
  g_clear_error (&error);
  g_assert_false (lpt_data_options_channels (&options, "rbg", &error));
  g_unlink (path);
}

/* An input of codes: what has another type, or is normalized, is what they stand for. */
static void
test_codes (void)
{
  g_autofree char *path = path_of ("codes.npy");
  g_autoptr (GError) error = NULL;
  save_range (path, 2, (gint64[]) { 2, 3 });
  for (gint i = 0; i < 3; i++)
    {
      static const double expected[] = { 3.0, -128.0 + 6.0, -128.0 + 2.0 };
      LptDataOptions options = { 0 };
      g_autoptr (LptGraph) graph = model (i == 0 ? LPT_DTYPE_U8 : LPT_DTYPE_I8, 2, (gint64[]) { 1, 3 });
      LptNode *x = g_ptr_array_index (graph->parameters, 0);
      x->out[0].quant = lpt_quant_new_one (0.5, i == 0 ? 0 : -128);
      g_assert_true (i < 2 || lpt_data_options_mean (&options, "2", &error));
      g_autoptr (LptData) data = open_data (graph, path, &options);
      g_autoptr (LptTensor) second = get (data, 1);
      g_assert_cmpint (lpt_tensor_dtype (second), ==, x->out[0].dtype);
      g_assert_cmpfloat (lpt_tensor_get_f64 (second, 0), ==, expected[i]);
    }
  g_unlink (path);
}

/* Backwards through an archive, and through a folder in the order of names. */
static void
test_archive_and_folder (void)
{
#ifdef LPT_HAVE_LIBZIP
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = path_of ("folder"), *a = g_build_filename (folder, "a.npz", NULL),
                  *b = g_build_filename (folder, "b.npy", NULL);
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_I32, 2, (gint64[]) { 1, 2 });
  LptShape shape = lpt_shape_make (2, (gint64[]) { 3, 2 });
  g_autoptr (LptTensor) x = lpt_tensor_from_f64 (LPT_DTYPE_I32, &shape, (double[]) { 0, 1, 2, 3, 4, 5 }, &error);
  g_mkdir (folder, 0777);
  g_assert_true (lpt_npz_save (a, 2, (const char *const[]) { "other", "x" }, (LptTensor *const[]) { x, x }, &error));
  save_range (b, 2, (gint64[]) { 2, 2 });
  g_autoptr (LptData) data = open_data (graph, folder, NULL);
  g_assert_cmpuint (data->n, ==, 5);
  for (guint i = 5; i-- > 0;)
    {
      g_autoptr (LptTensor) row = get (data, i);
      g_assert_cmpfloat (lpt_tensor_get_f64 (row, 1), ==, i < 3 ? 2.0 * i + 1.0 : 2.0 * (i - 3) + 1.0);
      g_assert_cmpstr (lpt_data_name (data, i), ==, i < 3 ? "a.npz" : "b.npy");
    }
  g_unlink (a);
  g_unlink (b);
  g_rmdir (folder);
#else
  g_test_skip ("built without libzip");
#endif
}

/* What Pillow 9.4 makes of the same image. */
static void
test_resize (void)
{
  static const guint8 small[] = { 67, 108, 156, 162, 101, 98, 115, 104, 144, 140, 124, 130 };
  static const guint8 large[] = { 34,  157, 94,  193, 146, 48,  129, 104, 187, 154, 70,  81,  120, 176, 168,
                                  88,  80,  97,  135, 139, 105, 90,  64,  87,  100, 116, 125, 136, 79,  101,
                                  125, 156, 181, 80,  111, 129, 168, 114, 114, 153, 131, 176, 74,  134, 179 };
  guint8 image[5][7];
  for (guint y = 0; y < 5; y++)
    for (guint x = 0; x < 7; x++)
      image[y][x] = (guint8) (37 * y * y + 101 * x + 13 * x * y);
  LptShape shape = lpt_shape_make (3, (gint64[]) { 5, 7, 1 });
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) tensor = lpt_tensor_new_copy (LPT_DTYPE_U8, &shape, image, &error);
  g_autoptr (LptTensor) a = lpt_image_resize (tensor, 3, 4, &error), b = lpt_image_resize (tensor, 9, 5, &error),
                        c = lpt_image_resize (tensor, 5, 7, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (lpt_tensor_data (a), lpt_tensor_size (a), small, sizeof small);
  g_assert_cmpmem (lpt_tensor_data (b), lpt_tensor_size (b), large, sizeof large);
  g_assert_cmpmem (lpt_tensor_data (c), lpt_tensor_size (c), image, sizeof image);
  g_assert_null (lpt_image_resize (tensor, 1 << 20, 3, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
}

/* FILE:TYPE[SHAPE], and a sound of three samples. */
static void
test_bytes (void)
{
  static const char
      wav[] = "RIFF\x2a\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\6\0\0\0\0\0\0\x40\0\x80";
  g_autoptr (GError) error = NULL;
  g_autofree char *path = path_of ("x.bin"), *good = g_strconcat (path, ":u8[1,2,3]", NULL),
                  *bad = g_strconcat (path, ":f32[2]", NULL), *sound = path_of ("x.wav");
  g_file_set_contents (path, "\1\2\3\4\5\6", 6, &error);
  g_file_set_contents (sound, wav, sizeof wav - 1, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_array_is_media (good) && lpt_array_is_media (sound) && !lpt_array_is_media (path));
  g_autoptr (LptTensor) bytes = lpt_array_load (good, &error), samples = lpt_array_load (sound, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (lpt_tensor_get_f64 (bytes, 5), ==, 6.0);
  g_assert_cmpint (lpt_tensor_count (samples), ==, 3);
  g_assert_cmpfloat (lpt_tensor_get_f64 (samples, 1), ==, 0.5);
  g_assert_cmpfloat (lpt_tensor_get_f64 (samples, 2), ==, -1.0);
  g_assert_null (lpt_array_load (bad, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_clear_error (&error);
  for (gsize n = 0; n < sizeof wav - 7; n++)
    {
      g_file_set_contents (sound, wav, (gssize) n, NULL);
      g_autoptr (LptTensor) none = lpt_array_load (sound, &error);
      g_assert_true ((none == NULL) == (error != NULL));
      g_clear_error (&error);
    }
  g_unlink (path);
  g_unlink (sound);
}

#ifdef LPT_HAVE_PIXBUF
/* A red pixel and (10, 20, 30). */
static const char bmp[] = "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0\x08\0\0\0\0\0\0"
                          "\0\0\0\0\0\0\0\0\0\0\0\0\0"
                          "\0\0\xff\x1e\x14\x0a\0\0";
#endif

/* Two pixels, red and (10, 20, 30), as BGR in channels first, less 10, halved. */
static void
test_image (void)
{
#ifdef LPT_HAVE_PIXBUF
  static const double want[6] = { -5, 10, -5, 5, 122.5, 0 };
  g_autofree char *path = path_of ("x.bmp");
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32, 4, (gint64[]) { 1, 3, 1, 2 });
  g_autoptr (GError) error = NULL;
  LptDataOptions options = { .n_mean = 1, .n_scale = 1, .mean = { 10 }, .scale = { 2 } };
  g_assert_true (lpt_data_options_channels (&options, "bgr", &error));
  g_file_set_contents (path, bmp, sizeof bmp - 1, NULL);
  g_autoptr (LptData) data = open_data (graph, path, &options);
  g_autoptr (LptTensor) image = get (data, 0);
  for (gint i = 0; i < 6; i++)
    g_assert_cmpfloat (lpt_tensor_get_f64 (image, i), ==, want[i]);
  /* Broken ones are errors. */
  for (gsize n = 0; n < 54; n += 9)
    {
      g_file_set_contents (path, bmp, (gssize) n, NULL);
      g_autoptr (LptTensor) none = lpt_array_load (path, &error);
      g_assert_true (none == NULL && error != NULL);
      g_clear_error (&error);
    }
  g_unlink (path);
#else
  g_test_skip ("built without gdk-pixbuf");
#endif
}

/* A red pixel beside (10, 20, 30), as inputs of several shapes take it. */
static void
test_image_fit (void)
{
#ifdef LPT_HAVE_PIXBUF
  static const struct
  {
    gint rank;
    gint64 dims[4];
    LptDataOptions options;
    const char *message;
    guint n;
    double want[8];
  } rows[] = {
    { 4, { 1, 1, 1, 2 }, { 0 }, NULL, 2, { 76, 18 } },        /* grey */
    { 4, { 1, 1, 2, 3 }, { .layout = LPT_LAYOUT_NHWC }, NULL, 6, { 255, 0, 0, 10, 20, 30 } },
    { 3, { 3, 1, 2 }, { 0 }, NULL, 6, { 255, 10, 0, 20, 0, 30 } },
    { 4, { 1, 3, LPT_DYNAMIC, LPT_DYNAMIC }, { 0 }, NULL, 6, { 255, 10, 0, 20, 0, 30 } },
    { 4, { 1, 3, 1, 1 }, { .fit = LPT_FIT_CROP }, NULL, 3, { 255, 0, 0 } },
    { 4, { 1, 1, 2, 2 }, { .fit = LPT_FIT_PAD, .pad = 7 }, NULL, 4, { 76, 18, 7, 7 } },
    { 4, { 1, 3, 1, 2 }, { .n_mean = 3, .mean = { 5, 10, 20 } }, NULL, 6, { 250, 5, -10, 10, -20, 10 } },
    { 4, { 1, 3, 1, 2 }, { .n_scale = 2, .scale = { 1, 1 } }, "has 2 values, the input has 3", 0, { 0 } },
    { 4, { 1, 2, 1, 2 }, { 0 }, "the image has 3 channels, the input \"x\" 2", 0, { 0 } },
    { 2, { 1, 6 }, { 0 }, "the input \"x\" takes no image: its rank is 2", 0, { 0 } },
  };
  g_autofree char *path = path_of ("fit.bmp");
  g_file_set_contents (path, bmp, sizeof bmp - 1, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptGraph) graph = model (LPT_DTYPE_F32, rows[i].rank, rows[i].dims);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptTensor) image =
        lpt_data_load_input (g_ptr_array_index (graph->parameters, 0), path, &rows[i].options, &error);
      if ((image == NULL) != (rows[i].message != NULL)
          || (image == NULL && strstr (error->message, rows[i].message) == NULL))
        g_test_fail_printf ("row %u: %s", i, error != NULL ? error->message : "no error");
      g_assert_cmpint (image != NULL ? lpt_tensor_count (image) : 0, ==, rows[i].n);
      for (guint k = 0; k < rows[i].n; k++)
        g_assert_cmpfloat (lpt_tensor_get_f64 (image, k), ==, rows[i].want[k]);
    }
  g_unlink (path);
#else
  g_test_skip ("built without gdk-pixbuf");
#endif
}

/* --- options, several inputs ------------------------------------------------------- */

static void
test_options (void)
{
  typedef gboolean (*Set) (LptDataOptions *options, const char *text, GError **error);
  static const struct { Set set; const char *text, *message; } bad[] = {
    { lpt_data_options_layout, "HWC", "HWC: one of NCHW, NHWC is wanted" },
    { lpt_data_options_channels, "cmyk", "cmyk: one of rgb, bgr, gray is wanted" },
    { lpt_data_options_resize, "area", "area: one of bilinear, crop is wanted" },
    { lpt_data_options_resize, "crop:0", "out of bounds" },
    { lpt_data_options_resize, "crop:x", "not a signed number" },
    { lpt_data_options_mean, "", "one to four numbers" },
    { lpt_data_options_mean, "1,2x", "one to four numbers" },
    { lpt_data_options_mean, "nan", "one to four numbers" },
    { lpt_data_options_scale, "inf", "one to four numbers" },
    { lpt_data_options_scale, "1,0", "the scale divides" },
  };
  LptDataOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_assert_true (lpt_data_options_layout (&options, "nhwc", &error) && options.layout == LPT_LAYOUT_NHWC);
  g_assert_true (lpt_data_options_layout (&options, "NCHW", &error) && options.layout == LPT_LAYOUT_NCHW);
  g_assert_true (lpt_data_options_channels (&options, "Gray", &error) && options.channels == LPT_CHANNELS_GRAY);
  g_assert_true (lpt_data_options_resize (&options, "crop", &error) && options.fit == LPT_FIT_CROP);
  g_assert_true (lpt_data_options_resize (&options, "bilinear", &error) && options.fit == LPT_FIT_BILINEAR);
  g_assert_true (lpt_data_options_resize (&options, "crop:232", &error));
  g_assert_true (options.fit == LPT_FIT_CROP && options.shorter == 232);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_assert_false (bad[i].set (&options, bad[i].text, &error));
      if (error == NULL || strstr (error->message, bad[i].message) == NULL)
        g_test_fail_printf ("%s: %s", bad[i].text, error != NULL ? error->message : "no error");
      g_clear_error (&error);
    }
}

/* Rows of 2: i16, turned in @order or in Fortran's order; @cut bytes of the end are missing. */
static void
save_raw (const char *path, const char *descr, gboolean fortran, gsize cut)
{
  g_autofree char *header = g_strdup_printf ("{'descr': '%s', 'fortran_order': %s, 'shape': (3, 2), }\n", descr,
                                             fortran ? "True" : "False");
  const guint8 size[2] = { (guint8) strlen (header), 0 };
  g_autoptr (GString) text = g_string_new_len ("\x93NUMPY\x01\x00", 8);
  g_string_append_len (text, (const char *) size, 2);
  g_string_append (text, header);
  for (char i = 0; i < 6; i++)
    g_string_append_len (text, (const char[]) { descr[0] == '>' ? 0 : i, descr[0] == '>' ? i : 0 }, 2);
  g_assert_true (g_file_set_contents (path, text->str, (gssize) (text->len - cut), NULL));
}

/* Rows forwards and back, whatever the order of bytes and axes; a file that ends early is told when it is read. */
static void
test_rows (void)
{
  static const struct { const char *descr; gboolean fortran; double first[3]; } rows[] = {
    { "<i2", FALSE, { 0, 2, 4 } }, { ">i2", FALSE, { 0, 2, 4 } },
    { "<i2", TRUE, { 0, 1, 2 } },  { ">i2", TRUE, { 0, 1, 2 } },
  };
  g_autofree char *path = path_of ("rows.npy");
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_I16, 2, (gint64[]) { 1, 2 });
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      save_raw (path, rows[i].descr, rows[i].fortran, 0);
      g_autoptr (LptData) data = open_data (graph, path, NULL);
      for (guint k = 0; k < 4; k++)
        {
          g_autoptr (LptTensor) row = get (data, 2 * k % 3);
          g_assert_cmpfloat (lpt_tensor_get_f64 (row, 0), ==, rows[i].first[2 * k % 3]);
          g_assert_cmpfloat (lpt_tensor_get_f64 (row, 1), ==, rows[i].first[2 * k % 3] + (rows[i].fortran ? 3 : 1));
        }
    }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      LptTensor *last = NULL;
      save_raw (path, rows[i].descr, rows[i].fortran, 1);
      g_autoptr (LptData) data = open_data (graph, path, NULL);
      g_assert_false (lpt_data_get (data, 2, &last, &error));
      g_assert_nonnull (strstr (error->message, "ends early"));
      g_clear_error (&error);
    }
  g_unlink (path);
}

/* Two inputs; @ stands for the scratch folder. */
static void
test_inputs (void)
{
#ifdef LPT_HAVE_LIBZIP
  static const struct { const char *spec, *other, *message; } rows[] = {
    { "x=@/two.npy", "z=w=@/two.npy", NULL },
    { "@/both.npz", NULL, NULL },
    { "@/two.npy", NULL, "the model has several inputs: NAME=PATH is wanted" },
    { "y=@/two.npy", NULL, "no input is called \"y\", they are x, z=w" },
    { "x=@/two.npy", "z=w=@/three.npy", "input \"x\" has 2 samples, input \"z=w\" 3" },
    { "x=@/two.npy", NULL, "input \"z=w\" has no samples" },
    { "z=w=@/both.npz", NULL, "input \"x\" has no samples" },
    { "@/other.npz", NULL, "none of its arrays is called as an input" },
    { "x=@/nowhere.npz", NULL, "not an archive, or it cannot be read" },
    { "x=@/empty", NULL, "the folder has no arrays and no images" },
  };
  static const char *const names[] = { "two.npy", "three.npy", "both.npz", "other.npz" };
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_U8, 2, (gint64[]) { 1, 2 });
  LptNode *second = lpt_graph_add (graph, LPT_OP_PARAMETER, 0, "z=w", 0, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *two = path_of (names[0]), *three = path_of (names[1]), *both = path_of (names[2]),
                  *other = path_of (names[3]), *empty = path_of ("empty");
  second->out[0].dtype = LPT_DTYPE_U8;
  second->out[0].shape = lpt_shape_make (2, (gint64[]) { 1, 2 });
  save_range (two, 2, (gint64[]) { 2, 2 });
  save_range (three, 2, (gint64[]) { 3, 2 });
  g_autoptr (LptTensor) array = lpt_npy_load (two, &error);
  g_assert_true (lpt_npz_save (both, 2, (const char *const[]) { "x", "z=w" }, (LptTensor *const[]) { array, array },
                               &error)
                 && lpt_npz_save (other, 1, (const char *const[]) { "v" }, (LptTensor *const[]) { array }, &error));
  g_mkdir (empty, 0777);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GString) spec = g_string_new (rows[i].spec), more = g_string_new (rows[i].other);
      g_string_replace (spec, "@", scratch, 0);
      g_string_replace (more, "@", scratch, 0);
      g_autoptr (LptData) data =
        lpt_data_open (graph, (const char *const[]) { spec->str, rows[i].other != NULL ? more->str : NULL, NULL }, NULL,
                       &error);
      if ((data == NULL) != (rows[i].message != NULL)
          || (data == NULL && strstr (error->message, rows[i].message) == NULL))
        g_test_fail_printf ("%s: %s", rows[i].spec, error != NULL ? error->message : "no error");
      g_clear_error (&error);
      LptTensor *inputs[2] = { NULL };
      if (data == NULL)
        continue;
      g_assert_true (lpt_data_get (data, 1, inputs, &error));
      for (guint k = 0; k < 2; k++)
        {
          g_assert_cmpfloat (lpt_tensor_get_f64 (inputs[k], 1), ==, 3.0);
          lpt_tensor_unref (inputs[k]);
        }
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = path_of (names[i]);
      g_unlink (path);
    }
  g_rmdir (empty);
#else
  g_test_skip ("built without libzip");
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-data-XXXXXX", NULL);
  g_test_add_func ("/data/fit", test_fit);
  g_test_add_func ("/data/misfit", test_misfit);
  g_test_add_func ("/data/normalize", test_normalize);
  g_test_add_func ("/data/codes", test_codes);
  g_test_add_func ("/data/archive-and-folder", test_archive_and_folder);
  g_test_add_func ("/data/resize", test_resize);
  g_test_add_func ("/data/bytes", test_bytes);
  g_test_add_func ("/data/image", test_image);
  g_test_add_func ("/data/image-fit", test_image_fit);
  g_test_add_func ("/data/options", test_options);
  g_test_add_func ("/data/rows", test_rows);
  g_test_add_func ("/data/inputs", test_inputs);
  int code = g_test_run ();
  g_rmdir (scratch);
  g_free (scratch);
  return code;
}
