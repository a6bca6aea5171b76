/* test-data-labels.c - labels of samples: tables, COCO's boxes, arrays, folders
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-eval.h>

#include "tests/unit/data-case.h"

/* Samples from the files @a and @b, or the rows of one. */
static const char *
sample_name (LptData *data, guint i)
{
  static const char *const names[] = { "a.npy", "b \"2\", c.npy" };
  return names[i];
}

static const char *
row_name (LptData *data, guint i)
{
  return "rows.npy";
}

#define IMAGES(a_id) \
  "{\"images\":[{\"id\":" a_id ",\"file_name\":\"d/a.npy\",\"width\":10,\"height\":20}," \
  "{\"id\":2,\"file_name\":\"b \\\"2\\\", c.npy\",\"width\":8,\"height\":8},{\"id\":3}]"
#define BOX(image, box) \
  ",\"annotations\":[{\"image_id\":" image ",\"category_id\":5,\"iscrowd\":1,\"bbox\":[" box "]}]}"
#define NO_COCO "not COCO's instances"

static void
test_labels (void)
{
  static const struct { const char *file, *text, *message; double first, second; gboolean rows; } cases[] = {
    { "l.csv", "file,label\na.npy,3\n\"b \"\"2\"\", c.npy\",-4\n", NULL, 3, -4, FALSE },
    { "l.csv", "label , FILE\r\n \"4\",\"x/b \"\"2\"\", c.npy\"\r\n\r\n3,\"a.npy\"\r\n", NULL, 3, 4, FALSE },
    { "l.csv", "label\n7\n8\n", NULL, 7, 8, TRUE },
    { "l.csv", "label\n7\n", "no label for the last samples", 0, 0, TRUE },
    { "l.csv", "label\n7\n8\n", NULL, 7, 8, FALSE },
    { "l.csv", "file,label\nc.npy,7\nd.npy,8\n", "no label for a.npy", 0, 0, FALSE },
    { "l.csv", "file,class\na.npy,3\n", "names no column \"label\"", 0, 0, FALSE },
    { "l.csv", "", "names no column \"label\"", 0, 0, FALSE },
    { "l.csv", "file,label\na.npy\n", "l.csv:2: no label", 0, 0, FALSE },
    { "l.csv", "file,label\n\na.npy,1.5\n", "l.csv:3: no label", 0, 0, FALSE },
    { "l.json", IMAGES ("1") BOX ("1", "5,5,2,4"), NULL, 0.5, -1, FALSE },
    { "l.json", IMAGES ("1") BOX ("1", "5,5,2,4"), "no image is called rows.npy", 0, 0, TRUE },
    { "l.json", "{", NO_COCO, 0, 0, FALSE },
    { "l.json", IMAGES ("1") "}", NO_COCO, 0, 0, FALSE },
    { "l.json", IMAGES ("1") BOX ("9", "5,5,2,4"), NO_COCO, 0, 0, FALSE },
    { "l.json", IMAGES ("1") BOX ("3", "5,5,2,4"), NO_COCO, 0, 0, FALSE },              /* without a size */
    { "l.json", IMAGES ("1") BOX ("1", "5,5,2"), NO_COCO, 0, 0, FALSE },
    { "l.json", IMAGES ("1") BOX ("1", "5,5,2,\"4\""), NO_COCO, 0, 0, FALSE },
    { "l.json", IMAGES ("2") BOX ("2", "5,5,2,4"), NO_COCO, 0, 0, FALSE },              /* two of one id */
    { "l.xml", NULL, "l.xml", 0, 0, FALSE },
    { "l.csv", NULL, "l.csv: ", 0, 0, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      LptData samples = { .n = 2, .name = cases[i].rows ? row_name : sample_name };
      const double want[2] = { cases[i].first, cases[i].second };
      g_autofree char *path = path_of (cases[i].file);
      g_autoptr (GError) error = NULL;
      g_assert_true (cases[i].text == NULL || g_file_set_contents (path, cases[i].text, -1, NULL));
      g_autoptr (LptData) labels = lpt_labels_open (path, &samples, &error);
      g_unlink (path);
      if ((labels == NULL) != (cases[i].message != NULL)
          || (labels == NULL && strstr (error->message, cases[i].message) == NULL))
        g_test_fail_printf ("case %u: %s", i, error != NULL ? error->message : "no error");
      for (guint k = 0; labels != NULL && k < 2; k++)
        {
          g_autoptr (LptTensor) label = get (labels, k);
          gboolean none = lpt_tensor_count (label) == 0;     /* an image without boxes stands as -1 */
          g_assert_cmpfloat (none ? -1.0 : lpt_tensor_get_f64 (label, 0), ==, want[k]);
        }
    }
}

/* Boxes are parts of the image. */
static void
test_boxes (void)
{
  static const double want[6] = { 0.5, 0.25, 0.2, 0.2, 5, 1 };
  LptData samples = { .n = 1, .name = sample_name };
  g_autofree char *path = path_of ("boxes.json");
  g_autoptr (GError) error = NULL;
  g_assert_true (g_file_set_contents (path, IMAGES ("1") BOX ("1", "5,5,2,4"), -1, NULL));
  g_autoptr (LptData) labels = lpt_labels_open (path, &samples, &error);
  g_assert_no_error (error);
  g_autoptr (LptTensor) boxes = get (labels, 0);
  g_assert_cmpint (lpt_tensor_count (boxes), ==, 6);
  for (gint i = 0; i < 6; i++)
    g_assert_cmpfloat (lpt_tensor_get_f64 (boxes, i), ==, want[i]);
  g_unlink (path);
}

/* Rows of an array; a folder with a file for each sample, and without. */
static void
test_label_arrays (void)
{
  LptData samples = { .n = 2, .name = sample_name };
  g_autofree char *folder = path_of ("masks"), *a = g_build_filename (folder, "a.npy", NULL),
                  *b = g_build_filename (folder, "b \"2\", c.npy", NULL), *rows = path_of ("labels.npy");
  g_autoptr (GError) error = NULL;
  g_mkdir (folder, 0777);
  save_range (a, 2, (gint64[]) { 2, 2 });
  g_assert_null (lpt_labels_open (folder, &samples, &error));
  g_assert_nonnull (strstr (error->message, "no file for sample b \"2\", c.npy"));
  g_clear_error (&error);
  save_range (b, 2, (gint64[]) { 1, 3 });
  save_range (rows, 2, (gint64[]) { 3, 4 });
  g_autoptr (LptData) masks = lpt_labels_open (folder, &samples, &error),
                      array = lpt_labels_open (rows, &samples, &error);
  g_assert_no_error (error);
  g_autoptr (LptTensor) mask = get (masks, 1), row = get (array, 1);
  g_assert_cmpint (lpt_tensor_count (mask), ==, 3);
  g_assert_cmpint (lpt_tensor_count (row), ==, 4);
  g_assert_cmpfloat (lpt_tensor_get_f64 (row, 3), ==, 7.0);
  save_range (rows, 1, (gint64[]) { 1 });
  g_assert_null (lpt_labels_open (rows, &samples, &error));
  g_assert_nonnull (strstr (error->message, "labels of shape [1] for 2 samples"));
  g_clear_error (&error);
  samples.name = NULL;
  g_assert_null (lpt_labels_open (folder, &samples, &error));
  g_assert_nonnull (strstr (error->message, "(samples have no names)"));
  g_unlink (a);
  g_unlink (b);
  g_unlink (rows);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("lpt-data-XXXXXX", NULL);
  g_test_add_func ("/data/labels", test_labels);
  g_test_add_func ("/data/boxes", test_boxes);
  g_test_add_func ("/data/label-arrays", test_label_arrays);
  int code = g_test_run ();
  g_rmdir (scratch);
  g_free (scratch);
  return code;
}
