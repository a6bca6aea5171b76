/* test-npy.c - NumPy arrays: every type, scalars, empty ones, archives, broken headers
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-npy.h>

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static char *scratch;

static void
test_types (void)
{
  static const LptDType types[] = { LPT_DTYPE_F64, LPT_DTYPE_F32, LPT_DTYPE_F16, LPT_DTYPE_I64,
                                    LPT_DTYPE_U64, LPT_DTYPE_I32, LPT_DTYPE_U32, LPT_DTYPE_I16,
                                    LPT_DTYPE_U16, LPT_DTYPE_I8,  LPT_DTYPE_U8,  LPT_DTYPE_BOOL };
  const LptShape shapes[] = { LPT_SHAPE_SCALAR, lpt_shape_make (1, (gint64[]) { 1 }),
                              lpt_shape_make (3, (gint64[]) { 2, 3, 1 }), lpt_shape_make (2, (gint64[]) { 0, 5 }) };
  const double values[6] = { 1, 0, 1, 1, 0, 1 };
  g_autofree char *path = g_build_filename (scratch, "array.npy", NULL);
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (types[t], &shapes[s], values, &error);
        g_assert_no_error (error);
        lpt_npy_save (path, tensor, &error);
        g_assert_no_error (error);
        g_autoptr (LptTensor) again = lpt_npy_load (path, &error);
        g_assert_no_error (error);
        g_assert_true (lpt_tensor_equal (tensor, again));
      }
  g_unlink (path);
}

/* Types that NumPy lacks are widened. */
static void
test_widened (void)
{
  static const struct
  {
    LptDType from, to;
  } types[] = { { LPT_DTYPE_I4, LPT_DTYPE_I8 }, { LPT_DTYPE_U4, LPT_DTYPE_U8 } };
  const LptShape shape = lpt_shape_make (1, (gint64[]) { 3 });
  g_autofree char *path = g_build_filename (scratch, "wide.npy", NULL);
  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (types[t].from, &shape, (double[]) { 3, 0, 7 }, &error);
      lpt_npy_save (path, tensor, &error);
      g_assert_no_error (error);
      g_autoptr (LptTensor) again = lpt_npy_load (path, &error);
      g_assert_no_error (error);
      g_assert_cmpint (lpt_tensor_dtype (again), ==, types[t].to);
      for (gint64 i = 0; i < 3; i++)
        g_assert_true (lpt_tensor_get_f64 (again, i) == lpt_tensor_get_f64 (tensor, i));
    }
  g_unlink (path);
}

/* "\x93NUMPY", version 1, a header, 24 bytes 0, 1, 2, ... */
static GBytes *
file (const char *header, gsize data)
{
  GByteArray *bytes = g_byte_array_new ();
  gsize n = strlen (header);
  g_byte_array_append (bytes, (const guint8 *) "\x93NUMPY\x01\x00", 8);
  g_byte_array_append (bytes, (const guint8[]) { (guint8) n, (guint8) (n >> 8) }, 2);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) n);
  for (gsize i = 0; i < data; i++)
    g_byte_array_append (bytes, (const guint8[]) { (guint8) i }, 1);
  return g_byte_array_free_to_bytes (bytes);
}

static void
test_orders (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) big = file ("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n", 12);
  g_autoptr (GBytes) fortran = file ("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", 12);
  g_autoptr (GBytes) quoted = file ("{\"shape\": (2,3),\"fortran_order\": False,\"descr\":\"|u1\"}", 6);
  g_autoptr (LptTensor) a = lpt_npy_parse (big, "big", &error), b = lpt_npy_parse (fortran, "fortran", &error),
                        c = lpt_npy_parse (quoted, "quoted", &error);
  g_assert_no_error (error);
  g_assert_cmpint (lpt_tensor_get_i64 (a, 1), ==, 0x0203);
  g_assert_cmpint (lpt_tensor_get_i64 (b, 1), ==, 0x0504);      /* [0][1]: third element of the file */
  g_assert_cmpint (lpt_tensor_get_i64 (b, 3), ==, 0x0302);      /* [1][0]: second */
  g_assert_cmpint (lpt_tensor_get_i64 (c, 5), ==, 5);
}

static void
test_bad (void)
{
  static const struct { const char *header; gsize data; const char *message; } bad[] = {
    { "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "unsupported element type '<c8'" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 8, "unsupported element type" },
    { "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "unsupported element type '|O'" },
    { "{'fortran_order': False, 'shape': (1,), }", 8, "unsupported element type" },
    { "{'descr': '<f4', 'fortran_order': False, }", 8, "no shape" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -2), }", 8, "broken shape" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1", 8, "broken shape" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }", 8, "broken shape" },
    { "{'descr': '<f4', 'shape': (1,), }", 8, "no fortran_order" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8, "the file ends early" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", 8, "too many elements" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1), }", 8, "unsupported: more than" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = file (bad[i].header, bad[i].data);
      g_autoptr (LptTensor) none = lpt_npy_parse (bytes, "bad.npy", &error);
      g_assert_null (none);
      if (strstr (error->message, bad[i].message) == NULL)
        g_error ("\"%s\" does not say \"%s\"", error->message, bad[i].message);
    }
}

/* Files that are no arrays, or that end in their header; keys without quotes, in open ones, without a colon. */
static void
test_broken (void)
{
#define START "\x93NUMPY"
  static const struct { const char *bytes; gsize n; const char *message; } bad[] = {
    { START "\1", 7, "not a .npy file" },
    { "\x93NUMPX\1\0\2\0{}", 12, "not a .npy file" },
    { START "\0\0\2\0{}", 12, "unsupported version 0" },
    { START "\4\0\2\0{}", 12, "unsupported version 4" },
    { START "\2\0\2\0", 10, "the file ends in its header" },
    { START "\1\0\3\0{}", 12, "the file ends in its header" },
    { START "\2\0\2\0\1\0{}", 14, "the file ends in its header" },
    { START "\1\0\5\0descr", 15, "unsupported element type" },
    { START "\1\0\7\0'descr\"", 17, "unsupported element type" },
    { START "\1\0\11\0'descr' 1", 19, "unsupported element type" },
    { START "\1\0\12\0'descr':\"\"", 20, "unsupported element type" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL, of_file = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new_static (bad[i].bytes, bad[i].n);
      g_autoptr (LptTensor) none = lpt_npy_parse (bytes, "bad.npy", &error), loaded = NULL;
      g_autofree char *path = g_build_filename (scratch, "bad.npy", NULL);

      g_file_set_contents (path, bad[i].bytes, (gssize) bad[i].n, NULL);
      loaded = lpt_npy_load (path, &of_file);
      g_unlink (path);
      g_assert_null (none);
      g_assert_null (loaded);
      g_assert_nonnull (of_file);
      if (strstr (error->message, bad[i].message) == NULL)
        g_error ("%u: \"%s\" does not say \"%s\"", i, error->message, bad[i].message);
    }
}

/* Version 2 has a length of four bytes; types that NumPy lacks are written as their bits. */
static void
test_versions (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "bits.npy", NULL);
  const char header[] = "{'descr' : '|u1', 'fortran_order': False, 'shape': (2L,), }";
  g_autoptr (GByteArray) raw = g_byte_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (LptTensor) two = NULL, again = NULL;
  g_autoptr (LptTensor) half = lpt_tensor_scalar (LPT_DTYPE_BF16, 1.5);
  g_autoptr (LptTensor) small = lpt_tensor_scalar (LPT_DTYPE_F8E4M3, 1.5);

  g_byte_array_append (raw, (const guint8 *) START "\2\0", 8);
  g_byte_array_append (raw, (const guint8[]) { sizeof header - 1, 0, 0, 0 }, 4);
  g_byte_array_append (raw, (const guint8 *) header, sizeof header - 1);
  g_byte_array_append (raw, (const guint8[]) { 7, 9 }, 2);
  bytes = g_bytes_new (raw->data, raw->len);
  two = lpt_npy_parse (bytes, "two.npy", &error);
  g_assert_no_error (error);
  g_assert_cmpint (lpt_tensor_get_i64 (two, 1), ==, 9);
  g_file_set_contents (path, (const char *) raw->data, raw->len, NULL);
  again = lpt_npy_load (path, &error);
  g_assert_no_error (error);
  g_assert_true (lpt_tensor_equal (two, again));
  g_clear_pointer (&again, lpt_tensor_unref);
  lpt_npy_save (path, half, &error);
  g_assert_no_error (error);
  again = lpt_npy_load (path, &error);
  g_assert_cmpint (lpt_tensor_dtype (again), ==, LPT_DTYPE_U16);
  g_assert_cmpint (lpt_tensor_get_i64 (again, 0), ==, 0x3fc0);
  g_clear_pointer (&again, lpt_tensor_unref);
  lpt_npy_save (path, small, &error);
  g_assert_no_error (error);
  again = lpt_npy_load (path, &error);
  g_assert_cmpint (lpt_tensor_dtype (again), ==, LPT_DTYPE_U8);
  g_assert_cmpint (lpt_tensor_get_i64 (again, 0), ==, 0x3c);
  g_unlink (path);
}

static void
test_archive (void)
{
#ifdef LPT_HAVE_LIBZIP
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (scratch, "arrays.npz", NULL);
  g_autoptr (LptTensor) a = lpt_tensor_scalar (LPT_DTYPE_F32, 2.5),
                        b = lpt_tensor_vector_i64 (3, (gint64[]) { 1, -2, 3 });
  const char *const names[] = { "first", "second" };
  LptTensor *const tensors[] = { a, b };
  lpt_npz_save (path, 2, names, tensors, &error);
  g_assert_no_error (error);
  g_autoptr (GHashTable) arrays = lpt_npz_load (path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (arrays), ==, 2);
  g_assert_true (lpt_tensor_equal (g_hash_table_lookup (arrays, "first"), a));
  g_assert_true (lpt_tensor_equal (g_hash_table_lookup (arrays, "second"), b));
  g_unlink (path);
  g_assert_true (g_file_set_contents (path, "PK no archive", -1, NULL));
  g_autoptr (GHashTable) none = lpt_npz_load (path, NULL, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, LPT_ERROR, LPT_ERROR_IO);
  g_unlink (path);
#else
  g_test_skip ("built without libzip");
#endif
}

#ifdef LPT_HAVE_LIBZIP
/* Writes an archive whose array "x" is 0, 1, 2 with one thing changed: @n bytes of @value at place @at of what the
 * archive says of it, in front of it and at the end; where @at is negative, in it, counted from its end. */
static void
save_changed (const char *path, gint at, guint n, guint32 value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) x = lpt_tensor_vector_i64 (3, (gint64[]) { 0, 1, 2 });
  g_autofree char *bytes = NULL;
  gsize size;
  g_assert_true (lpt_npz_save (path, 1, (const char *const[]) { "x" }, (LptTensor *const[]) { x }, &error));
  g_assert_true (g_file_get_contents (path, &bytes, &size, &error));
  char *entry = memmem (bytes, size, "PK\1\2", 4);
  g_assert_nonnull (entry);
  value = GUINT32_TO_LE (value);
  memcpy (entry + at, &value, n);
  if (at > 0)
    memcpy (bytes + at - 2, &value, n);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, &error));
}

static gboolean
want_none (const char *name, const LptShape *shape, gpointer data, GError **error)
{
  g_assert_cmpstr (name, ==, "x");
  g_assert_cmpint (shape->dims[0], ==, 3);
  if (data != NULL)
    g_set_error_literal (error, LPT_ERROR, LPT_ERROR_INVALID, data);
  return FALSE;
}
#endif

/* What an archive says of an entry, and what is there; an error names both. */
static void
test_bad_archive (void)
{
#ifdef LPT_HAVE_LIBZIP
  static const struct { gint at; guint n; guint32 value; const char *message; } rows[] = {
    { 10, 2, 98, "x.npy: cannot be unpacked: Compression method not supported" },
    { 8, 2, 1, "x.npy: cannot be unpacked: No password provided" },
    { 16, 4, 12345, "x.npy: cannot be unpacked: CRC error" },
    { -8, 1, 3, "x.npy: cannot be unpacked: CRC error" },       /* an element */
    { 24, 4, 1u << 28, "x.npy: 152 bytes would become 268435456, more than 256 times as many" },
    { -152, 1, 'x', "x.npy: not a .npy file" },
    { -144, 2, 9999, "x.npy: the file ends in its header" },
  };
  g_autofree char *path = g_build_filename (scratch, "changed.npz", NULL);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      save_changed (path, rows[i].at, rows[i].n, rows[i].value);
      g_autoptr (GHashTable) none = lpt_npz_load (path, NULL, NULL, &error);
      if (none != NULL || !g_str_has_prefix (error->message, path) || strstr (error->message, rows[i].message) == NULL)
        g_test_fail_printf ("row %u: %s", i, none != NULL ? "is read" : error->message);
      g_clear_error (&error);
    }
  /* What nobody wants is not loaded, whatever is in it. */
  save_changed (path, -8, 1, 3);
  g_autoptr (GHashTable) left = lpt_npz_load (path, want_none, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (left), ==, 0);
  g_autoptr (GHashTable) refused = lpt_npz_load (path, want_none, (gpointer) "no thanks", &error);
  g_assert_true (refused == NULL && g_str_equal (error->message, "no thanks"));
  g_unlink (path);
#else
  g_test_skip ("built without libzip");
#endif
}

/* Where there is no place, and no room. */
static void
test_save_fails (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptTensor) x = lpt_tensor_vector_i64 (3, (gint64[]) { 0, 1, 2 });
  static const char *const names[] = { "a.npy", "a.npz" };
  const struct rlimit none = { 16, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
  signal (SIGXFSZ, SIG_IGN);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gboolean archive = g_str_has_suffix (names[i], "z");
      g_autofree char *nowhere = g_build_filename (scratch, "no", "folder", names[i], NULL),
                      *path = g_build_filename (scratch, names[i], NULL);
#ifndef LPT_HAVE_LIBZIP
      if (archive)
        continue;
#endif
      for (guint full = 0; full < 2; full++)
        {
          const char *to = full ? path : nowhere;
          if (full)
            g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &none), ==, 0);
          gboolean ok = archive ? lpt_npz_save (to, 1, (const char *const[]) { "x" }, &x, &error)
                                : lpt_npy_save (to, x, &error);
          if (full)
            g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &all), ==, 0);
          g_assert_false (ok);
          g_assert_error (error, LPT_ERROR, LPT_ERROR_IO);
          g_assert_nonnull (strstr (error->message, to));
          g_assert_nonnull (strstr (error->message, full ? "File too large" : "No such file"));
          g_clear_error (&error);
          /* Nothing is left behind: main() removes the folder. */
          g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-npy-XXXXXX", NULL);
  g_test_add_func ("/npy/types", test_types);
  g_test_add_func ("/npy/widened", test_widened);
  g_test_add_func ("/npy/orders", test_orders);
  g_test_add_func ("/npy/bad", test_bad);
  g_test_add_func ("/npy/broken", test_broken);
  g_test_add_func ("/npy/versions", test_versions);
  g_test_add_func ("/npy/archive", test_archive);
  g_test_add_func ("/npy/bad-archive", test_bad_archive);
  g_test_add_func ("/npy/save-fails", test_save_fails);
  int code = g_test_run ();
  g_assert_cmpint (g_rmdir (scratch), ==, 0);
  g_free (scratch);
  return code;
}
