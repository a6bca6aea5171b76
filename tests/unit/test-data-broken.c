/* test-data-broken.c - samples that are not what they say: media, archives, files that change between header and rows
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/data-case.h"

#ifdef LPT_HAVE_LIBZIP
#include <zip.h>
#endif

static void
expect (GError *error, const char *message, const char *path, guint row)
{
  if (error == NULL || strstr (error->message, message) == NULL || strstr (error->message, path) == NULL)
    g_test_fail_printf ("row %u: \"%s\" instead of \"%s\"", row, error != NULL ? error->message : "no error", message);
}

/* --- media ------------------------------------------------------------------------- */

#define FORMAT(code, channels, bits) \
  "fmt \x10\0\0\0" code "\0" channels "\0\x80\x3e\0\0\0\x7d\0\0\2\0" bits "\0"
#define PCM FORMAT ("\1", "\1", "\x10")
#define WAVE(text) BYTES ("RIFF\0\0\0\0WAVE" text)
#define BMP(width, height) \
  "BM\x3e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0" width height "\1\0\x18\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" \
  "\0\0\xff\x1e\x14\x0a\0\0"
#define BYTES(text) text, sizeof text - 1

/* @spec is a name, what stands behind ":" its type; without bytes there is no file. Three numbers, or the message. */
static void
test_media (void)
{
  static const struct { const char *spec, *bytes; gsize size; const char *message; gint64 n; double at[3]; } rows[] = {
    { "a.wav", NULL, 0, "a.wav: No such file", 0, { 0 } },
    { "a.wav", BYTES ("RIFF\0\0\0"), "not a WAVE file", 0, { 0 } },
    { "a.wav", BYTES ("RIFX\0\0\0\0WAVE"), "not a WAVE file", 0, { 0 } },
    { "a.wav", BYTES ("RIFF\0\0\0\0WAVX"), "not a WAVE file", 0, { 0 } },
    { "a.wav", WAVE (PCM), "the file has no samples", 0, { 0 } },
    { "a.wav", WAVE ("data\2\0\0\0\0\1"), "the file has no samples", 0, { 0 } },
    { "a.wav", WAVE ("fmt \4\0\0\0\1\0\1\0" "data\2\0\0\0\0\1"), "has no samples", 0, { 0 } },
    { "a.wav", WAVE (FORMAT ("\3", "\1", "\x20") "data\0\0\0\0"), "one channel", 0, { 0 } },
    { "a.wav", WAVE (FORMAT ("\1", "\2", "\x10") "data\0\0\0\0"), "one channel", 0, { 0 } },
    { "a.wav", WAVE (FORMAT ("\1", "\1", "\x08") "data\0\0\0\0"), "one channel", 0, { 0 } },
    { "a.wav", WAVE (PCM "data\6\0\0\0\0\x40\0\x80"), "the file ends early", 0, { 0 } },
    { "a.wav", WAVE (PCM "LIST\3\0\0\0abc\0" "data\4\0\0\0\0\x40\0\x80"), NULL, 2, { 0.5, -1 } },
    { "a.wav", WAVE (PCM "data\xff\xff\xff\xff\0\x40\0\x80\0"), NULL, 2, { 0.5, -1 } }, /* a pipe's */
    { "a.bin:u8[3]", NULL, 0, "a.bin: No such file", 0, { 0 } },
    { "a.bin:u8[3]", BYTES ("\1\2"), "the file has 2 bytes, u8[3] needs 3", 0, { 0 } },
    { "a.bin:i16[2]", BYTES ("\1\0\xff\xff"), NULL, 2, { 1, -1 } },
    { "a.bin:u8[?]", BYTES ("\1"), "a shape of known sizes is wanted", 0, { 0 } },
    { "a.bin:u8[4294967296,4294967296]", BYTES ("\1"), "a shape of known sizes is wanted", 0, { 0 } },
    { "a.bin:f64[1152921504606846976]", BYTES ("\1"), "a shape of known sizes is wanted", 0, { 0 } },
    { "a.bin:u8[1,x]", BYTES ("\1"), "a.bin: '[1,x]' is not a shape", 0, { 0 } },
    { "a.bin:u8[1", NULL, 0, "a.bin:u8[1: No such file", 0, { 0 } },
    { "a.bin:z8[1]", NULL, 0, "a.bin:z8[1]: No such file", 0, { 0 } },
#ifdef LPT_HAVE_PIXBUF
    { "a.png", NULL, 0, "a.png: No such file", 0, { 0 } },
    { "a.JPEG", BYTES (""), "a.JPEG: ", 0, { 0 } },
    { "a.bmp", BYTES (BMP ("\x01\x80\0\0", "\1\0\0\0")), "unsupported: the image is too large", 0, { 0 } },
    { "a.bmp", BYTES (BMP ("\1\0\0\0", "\x01\x80\0\0")), "unsupported: the image is too large", 0, { 0 } },
    { "a.bmp", BYTES (BMP ("\0\x7f\0\0", "\0\x7f\0\0")), "unsupported: the image is too large", 0, { 0 } },
    /* (200, 100, 50) behind a red pixel, half of it over black. */
    { "a.png", BYTES ("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\2\0\0\0\1\x08\6\0\0\0\xf4\x22\x7f\x8a\0\0\0\x11IDAT"
                      "\x78\x9c\x63\xf8\xcf\xc0\xf0\xff\x44\x8a\x51\3\0\x12\x2c\3\xdd\xbf\xe2\xbd\xf8\0\0\0\0IEND"
                      "\xae\x42\x60\x82"),
      NULL, 6, { 100, 50, 25 } },
#endif
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *spec = path_of (rows[i].spec), *path = g_strdup (spec);
      char *colon = strrchr (path, ':');
      if (colon != NULL && rows[i].bytes != NULL)
        *colon = '\0';
      if (rows[i].bytes != NULL)
        g_assert_true (g_file_set_contents (path, rows[i].bytes, (gssize) rows[i].size, NULL));
      g_autoptr (LptTensor) tensor = lpt_array_load (spec, &error);
      g_unlink (path);
      if (rows[i].message != NULL && tensor == NULL)
        expect (error, rows[i].message, scratch, i);
      else if (tensor == NULL || rows[i].message != NULL || lpt_tensor_count (tensor) != rows[i].n)
        g_test_fail_printf ("row %u: %s", i, tensor != NULL ? "is read" : error->message);
      else
        for (gint64 k = 0; k < MIN (rows[i].n, 3); k++)
          g_assert_cmpfloat (lpt_tensor_get_f64 (tensor, rows[i].n - MIN (rows[i].n, 3) + k), ==, rows[i].at[k]);
    }
}

/* --- what fits ------------------------------------------------------------------------- */

/* An input without a rank takes what there is, one by one; what is odd fits, or does not. */
static void
test_odd_shapes (void)
{
  static const struct { gint model_rank; gint64 model[4]; gint rank; gint64 dims[10]; guint n; gint sample; } rows[] = {
    { LPT_DYNAMIC, { 0 }, 2, { 3, 2 }, 3, 2 },
    { LPT_DYNAMIC, { 0 }, 0, { 0 }, 1, 0 },
    { LPT_DYNAMIC, { 0 }, 1, { 0 }, 0, 0 },
    { 0, { 0 }, 0, { 0 }, 1, 0 },
    { 0, { 0 }, 1, { 3 }, 3, 0 },
    { 2, { 1, 3 }, 10, { 3, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 1, 2 },
    { 2, { 0, 3 }, 2, { 2, 3 }, 0, 0 },             /* a model of no samples */
    { 2, { 2, 3 }, 2, { 3, 3 }, 0, 0 },             /* three rows are not pairs */
    { 2, { 2, LPT_DYNAMIC }, 1, { 3 }, 0, 0 },
    { 4, { 1, 3, 2, 2 }, 4, { 1, 2, 2, 4 }, 0, 0 },
    { 4, { 1, 5, 5, 5 }, 4, { 1, 5, 5, 4 }, 0, 0 },
  };
  g_autofree char *path = path_of ("odd.npy");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (LptGraph) graph = model (LPT_DTYPE_U8, MAX (rows[i].model_rank, 0), rows[i].model);
      LptNode *x = g_ptr_array_index (graph->parameters, 0);
      g_autoptr (GError) error = NULL;
      if (rows[i].model_rank == LPT_DYNAMIC)
        x->out[0].shape = LPT_SHAPE_ANY;
      save_range (path, rows[i].rank, rows[i].dims);
      g_autoptr (LptData) data = lpt_data_open (graph, (const char *const[]) { path, NULL }, NULL, &error);
      if ((data != NULL ? data->n : 0) != rows[i].n)
        g_test_fail_printf ("row %u: %s", i, error != NULL ? error->message : "another number of samples");
      for (guint k = 0; data != NULL && k < data->n; k++)
        {
          g_autoptr (LptTensor) sample = get (data, k);
          g_assert_cmpint (lpt_tensor_shape (sample)->rank, ==, rows[i].sample);
          g_assert_cmpfloat (lpt_tensor_get_f64 (sample, 0), ==, (double) k * (double) lpt_tensor_count (sample));
        }
    }
  g_unlink (path);
}

/* --- archives -------------------------------------------------------------------------- */

#ifdef LPT_HAVE_LIBZIP

/* @rows of two numbers i16 or i32, fewer elements than that where @cut. */
static GBytes *
array (gint rows, gboolean wide, gboolean fortran, gsize cut)
{
  g_autofree char *header = g_strdup_printf ("{'descr': '<i%d', 'fortran_order': %s, 'shape': (%d, 2), }\n",
                                             wide ? 4 : 2, fortran ? "True" : "False", rows);
  GString *text = g_string_new_len ("\x93NUMPY\x01\x00", 8);
  g_string_append_c (text, (char) strlen (header));
  g_string_append_c (text, '\0');
  g_string_append (text, header);
  for (gint i = 0; i < 2 * rows; i++)
    g_string_append_len (text, (const char[]) { (char) i, 0, 0, 0 }, wide ? 4 : 2);
  g_string_truncate (text, text->len - cut);
  return g_string_free_to_bytes (text);
}

/* An archive of @bytes as @name, or that alone where @name is NULL; @flip changes the last but that many bytes. */
static void
save_bytes (const char *path, const char *name, GBytes *bytes, gsize flip)
{
  g_autofree char *text = NULL;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  if (name == NULL)
    {
      g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
      return;
    }
  zip_t *zip = zip_open (path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  zip_int64_t at = zip_file_add (zip, name, zip_source_buffer (zip, data, size, 0), ZIP_FL_ENC_UTF_8);
  g_assert_true (at == 0 && zip_set_file_compression (zip, 0, ZIP_CM_STORE, 0) == 0 && zip_close (zip) == 0);
  if (flip == 0 || !g_file_get_contents (path, &text, &size, NULL))
    return;
  char *entry = memmem (text, size, "PK\1\2", 4);
  entry[-(gssize) flip] ^= 1;
  g_assert_true (g_file_set_contents (path, text, (gssize) size, NULL));
}

typedef struct { const char *name; gint rows; gboolean wide, fortran; gsize cut, flip; } Content;

static void
save_content (const char *path, const Content *content)
{
  g_autoptr (GBytes) bytes = array (content->rows, content->wide, content->fortran, content->cut);
  save_bytes (path, content->name, bytes, content->flip);
}

#endif

/* Opened with three rows; row @before is read, the file becomes @after (no rows: none), then row @row fails. */
static void
test_changes (void)
{
#ifdef LPT_HAVE_LIBZIP
  static const struct { Content first; gint before; Content after; guint row; const char *message; } rows[] = {
    { { NULL, 3, 0, 0, 0, 0 }, -1, { NULL, 0, 0, 0, 0, 0 }, 0, "No such file" },
    { { NULL, 3, 0, 0, 0, 0 }, -1, { NULL, 1, 0, 0, 0, 0 }, 2, "no such rows" },
    { { NULL, 3, 0, 0, 0, 0 }, -1, { NULL, 3, 0, 0, 40, 0 }, 0, "the file ends in its header" },
    { { NULL, 3, 0, 1, 0, 0 }, -1, { NULL, 0, 0, 0, 0, 0 }, 0, "No such file" },
    { { "x.npy", 3, 0, 0, 0, 0 }, -1, { "x.npy", 0, 0, 0, 0, 0 }, 0, "x: not an archive, or it cannot be read" },
    { { "x.npy", 3, 0, 0, 0, 0 }, -1, { "v.npy", 3, 0, 0, 0, 0 }, 0, "x: cannot be unpacked: No such file" },
    { { "x.npy", 3, 0, 0, 0, 0 }, -1, { "x.npy", 1, 0, 0, 0, 0 }, 2, "x: no such rows" },
    { { "x.npy", 3, 0, 0, 0, 0 }, 2, { "x.npy", 3, 1, 0, 0, 0 }, 0, "x: the file was changed while it was read" },
    { { "x.npy", 3, 0, 0, 0, 0 }, 2, { "x.npy", 3, 0, 1, 0, 0 }, 0, "x: the file was changed while it was read" },
    { { "x.npy", 3, 0, 0, 0, 0 }, 2, { "x.npy", 3, 0, 0, 40, 0 }, 0, "x: the file ends in its header" },
    { { "x.npy", 3, 0, 0, 0, 0 }, 2, { "v.npy", 3, 0, 0, 0, 0 }, 0, "x: cannot be unpacked: No such file" },
    { { "x.npy", 3, 0, 0, 0, 1 }, 1, { "x.npy", 3, 0, 0, 0, 1 }, 2, "x: cannot be unpacked: CRC error" },
    { { "x.npy", 3, 0, 1, 0, 1 }, -1, { "x.npy", 3, 0, 1, 0, 1 }, 0, "x: cannot be unpacked: CRC error" },
    { { "x.npy", 3, 0, 1, 1, 0 }, -1, { "x.npy", 3, 0, 1, 1, 0 }, 0, "x: the file ends early" },
    { { "x", 3, 0, 0, 1, 0 }, 1, { "x", 3, 0, 0, 1, 0 }, 2, "x: the file ends early" },
    { { "x", 3, 0, 0, 5, 0 }, 0, { "x", 3, 0, 0, 5, 0 }, 2, "x: the file ends early" },      /* on the way there */
  };
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_I16, 2, (gint64[]) { 1, 2 });
  g_autofree char *npy = path_of ("changed"), *npz = path_of ("changed.npz");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *path = rows[i].first.name != NULL ? npz : npy;
      g_autoptr (GError) error = NULL;
      LptTensor *none = NULL;
      save_content (path, &rows[i].first);
      g_autoptr (LptData) data = open_data (graph, path, NULL);
      g_assert_cmpuint (data->n, ==, 3);
      for (guint again = 0; again < 2; again++)
        {
          g_autoptr (LptTensor) row = rows[i].before >= 0 ? get (data, (guint) rows[i].before) : NULL;
          g_assert_true (row == NULL || lpt_tensor_get_f64 (row, 1) == 2.0 * rows[i].before + 1.0);
          if (rows[i].after.rows > 0)
            save_content (path, &rows[i].after);
          else
            g_unlink (path);
          if (lpt_data_get (data, rows[i].row, &none, &error))
            g_error ("row %u is read", i);
          expect (error, rows[i].message, path, i);
          g_clear_error (&error);
          /* As it was: it reads as before. */
          save_content (path, &rows[i].first);
        }
    }
  g_unlink (npy);
  g_unlink (npz);
#else
  g_test_skip ("built without libzip");
#endif
}

/* An entry without ".npy", and with something behind its array: that is not looked at. */
static void
test_plain_entry (void)
{
#ifdef LPT_HAVE_LIBZIP
  g_autoptr (LptGraph) graph = model (LPT_DTYPE_I16, 2, (gint64[]) { 1, 2 });
  g_autofree char *path = path_of ("plain.npz"), *trailing = g_strnfill (9999, 'x');
  g_autoptr (GBytes) bytes = array (3, FALSE, FALSE, 0);
  g_autoptr (GByteArray) longer = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_byte_array_append (longer, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
  g_byte_array_append (longer, (const guint8 *) trailing, 9999);
  g_autoptr (GBytes) both = g_bytes_new (longer->data, longer->len);
  save_bytes (path, "x", both, 0);
  g_autoptr (GHashTable) arrays = lpt_npz_load (path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (lpt_tensor_get_f64 (g_hash_table_lookup (arrays, "x"), 5), ==, 5.0);
  g_autoptr (LptData) data = open_data (graph, path, NULL);
  for (guint i = 3; i-- > 0;)
    {
      g_autoptr (LptTensor) row = get (data, i);
      g_assert_cmpfloat (lpt_tensor_get_f64 (row, 1), ==, 2.0 * i + 1.0);
    }
  g_unlink (path);
#else
  g_test_skip ("built without libzip");
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-data-XXXXXX", NULL);
  g_test_add_func ("/data-broken/media", test_media);
  g_test_add_func ("/data-broken/odd-shapes", test_odd_shapes);
  g_test_add_func ("/data-broken/changes", test_changes);
  g_test_add_func ("/data-broken/plain-entry", test_plain_entry);
  int code = g_test_run ();
  g_assert_cmpint (g_rmdir (scratch), ==, 0);
  g_free (scratch);
  return code;
}
