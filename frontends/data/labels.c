/* labels.c - what is right for each sample
 *
 * .npy: row i for sample i. .csv: columns "file" and "label" in any order, with or without quotes; rows are found by
 * the names of the samples' files, or taken in order where either has none (rows of one array). A folder: the mask or
 * array called as the sample, whatever the extension. COCO's JSON: boxes as parts of the image, f64[n,6] x, y, width,
 * height, category, crowd. Refused: samples without a label, labels that are no whole numbers, other lengths, two
 * images of one id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"

#include <lpt/lpt-eval.h>
#include <lpt/lpt-npy.h>

#include <cjson/cJSON.h>
#include <string.h>

typedef struct
{
  LptData    data;
  LptTensor *array;        /* rows */
  GPtrArray *tensors;      /* or one per sample */
  GPtrArray *paths;        /* or files */
  guint64    in_order;     /* labels that the file has for whatever comes in this order; 0: they have names */
} Labels;

static void
labels_free (LptData *data)
{
  Labels *labels = (Labels *) data;
  g_clear_pointer (&labels->array, lpt_tensor_unref);
  g_clear_pointer (&labels->tensors, g_ptr_array_unref);
  g_clear_pointer (&labels->paths, g_ptr_array_unref);
  g_free (labels);
}

/* The first channel of an image u8[H,W,3] whose channels agree: indices, as decoded from a grey file. */
static LptTensor *
load_mask (const char *path, GError **error)
{
  g_autoptr (LptTensor) image = lpt_array_load (path, error);
  if (image == NULL || !data_is_image (path))
    return g_steal_pointer (&image);
  LptShape shape = lpt_shape_make (2, lpt_tensor_shape (image)->dims);
  g_autoptr (LptTensor) mask = lpt_tensor_new (LPT_DTYPE_U8, &shape, error);
  const guint8 *in = lpt_tensor_data (image);
  guint8 *out = mask != NULL ? lpt_tensor_writable (mask) : NULL;
  for (gint64 i = 0, n = lpt_tensor_count (image) / 3; out != NULL && i < n; i++)
    {
      if (in[3 * i] != in[3 * i + 1] || in[3 * i] != in[3 * i + 2])
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED,
                       "%s: unsupported: a mask in colours; one level per class is wanted", path);
          return NULL;
        }
      out[i] = in[3 * i];
    }
  return g_steal_pointer (&mask);
}

static gboolean
labels_get (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  Labels *labels = (Labels *) data;
  if (labels->paths != NULL)
    tensors[0] = load_mask (g_ptr_array_index (labels->paths, i), error);
  else if (labels->tensors != NULL)
    tensors[0] = lpt_tensor_ref (g_ptr_array_index (labels->tensors, i));
  else
    {
      const LptShape *has = lpt_tensor_shape (labels->array);
      LptShape shape = lpt_shape_make (has->rank - 1, has->dims + 1);
      gsize row = lpt_tensor_size (labels->array) / (gsize) has->dims[0];
      tensors[0] = lpt_tensor_new_copy (lpt_tensor_dtype (labels->array), &shape,
                                        (const guint8 *) lpt_tensor_data (labels->array) + i * row, error);
    }
  return tensors[0] != NULL;
}

static gboolean
fail (GError **error, const char *path, const char *what, const char *name)
{
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: %s%s", path, what, name);
  return FALSE;
}

static char *
strip_extension (const char *name)
{
  const char *dot = strrchr (name, '.');
  return dot != NULL ? g_strndup (name, (gsize) (dot - name)) : g_strdup (name);
}

/* --- arrays ------------------------------------------------------------------------ */

static gboolean
open_array (Labels *labels, const char *path, guint n, GError **error)
{
  labels->array = lpt_npy_load (path, error);
  if (labels->array == NULL)
    return FALSE;
  const LptShape *shape = lpt_tensor_shape (labels->array);
  if (shape->rank > 0 && shape->dims[0] >= (gint64) n && n > 0)
    {
      labels->in_order = (guint64) shape->dims[0];
      return TRUE;
    }
  g_autofree char *text = lpt_shape_to_string (shape);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: labels of shape [%s] for %u samples", path, text, n);
  return FALSE;
}

/* --- tables ------------------------------------------------------------------------ */

/* Fields of a line; quotes go, doubled ones become one. */
static GPtrArray *
split_line (const char *line)
{
  GPtrArray *fields = g_ptr_array_new_with_free_func (g_free);
  GString *field = g_string_new (NULL);
  gboolean quoted = FALSE;
  for (const char *p = line; ; p++)
    if (*p == '"' && quoted && p[1] == '"')
      g_string_append_c (field, *p++);
    else if (*p == '"')
      quoted = !quoted;
    else if (*p == '\0' || (*p == ',' && !quoted))
      {
        g_ptr_array_add (fields, g_string_free (field, FALSE));
        if (*p == '\0')
          return fields;
        field = g_string_new (NULL);
      }
    else
      g_string_append_c (field, *p);
}

static gint
find_field (GPtrArray *fields, const char *name)
{
  for (guint i = 0; i < fields->len; i++)
    if (g_ascii_strcasecmp (g_strstrip (fields->pdata[i]), name) == 0)
      return (gint) i;
  return -1;
}

/* Label of each sample, by name where both have one. */
static gboolean
match_rows (Labels *labels, const char *path, LptData *data, GHashTable *by_name, GArray *in_order, GError **error)
{
  const char *first = lpt_data_name (data, 0);
  gboolean named = first != NULL && g_hash_table_size (by_name) > 0
                   && (g_hash_table_contains (by_name, first) || data->n == 1
                       || g_strcmp0 (first, lpt_data_name (data, data->n - 1)) != 0);
  labels->in_order = named ? 0 : in_order->len;
  labels->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < data->n; i++)
    {
      gpointer row = named ? g_hash_table_lookup (by_name, lpt_data_name (data, i)) : GUINT_TO_POINTER (i + 1);
      if (row == NULL || GPOINTER_TO_UINT (row) > in_order->len)
        return fail (error, path, "no label for ", named ? lpt_data_name (data, i) : "the last samples");
      g_ptr_array_add (
        labels->tensors,
        lpt_tensor_scalar (LPT_DTYPE_I64, (double) g_array_index (in_order, gint64, GPOINTER_TO_UINT (row) - 1)));
    }
  return TRUE;
}

static gboolean
open_table (Labels *labels, const char *path, const char *text, LptData *data, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GPtrArray) head = split_line (lines[0] != NULL ? g_strchomp (lines[0]) : "");
  g_autoptr (GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) in_order = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint file = find_field (head, "file"), label = find_field (head, "label");
  if (label < 0)
    return fail (error, path, "the first line names no column \"label\"", "");
  for (guint i = 1; lines[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) fields = split_line (g_strchomp (lines[i]));
      gint64 value;
      if (lines[i][0] == '\0')
        continue;
      if (MAX (file, label) >= (gint) fields->len
          || !g_ascii_string_to_signed (g_strstrip (fields->pdata[label]), 10, G_MININT32, G_MAXINT32, &value, NULL))
        {
          g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s:%u: no label", path, i + 1);
          return FALSE;
        }
      g_array_append_val (in_order, value);
      if (file >= 0)
        g_hash_table_replace (by_name, g_path_get_basename (fields->pdata[file]), GUINT_TO_POINTER (in_order->len));
    }
  return match_rows (labels, path, data, by_name, in_order, error);
}

/* --- folders ------------------------------------------------------------------------ */

static gboolean
open_folder (Labels *labels, const char *path, LptData *data, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &cause);
  g_autoptr (GHashTable) files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const char *name;
  if (dir == NULL)
    return fail (error, path, "", cause->message);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_hash_table_replace (files, strip_extension (name), g_build_filename (path, name, NULL));
  labels->paths = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < data->n; i++)
    {
      name = lpt_data_name (data, i);
      g_autofree char *stem = name != NULL ? strip_extension (name) : NULL;
      const char *file = stem != NULL ? g_hash_table_lookup (files, stem) : NULL;
      if (file == NULL)
        return fail (error, path, "no file for sample ", name != NULL ? name : "(samples have no names)");
      g_ptr_array_add (labels->paths, g_strdup (file));
    }
  return TRUE;
}

/* --- COCO ---------------------------------------------------------------------------- */

static double
number (const cJSON *item, const char *name)
{
  const cJSON *value = cJSON_GetObjectItemCaseSensitive (item, name);
  return cJSON_IsNumber (value) ? value->valuedouble : 0.0;
}

typedef struct { double width, height; GArray *boxes; } CocoImage;

static void
coco_image_free (gpointer data)
{
  g_array_unref (((CocoImage *) data)->boxes);
  g_free (data);
}

static gboolean
read_coco (const cJSON *root, GHashTable *by_id, GHashTable *by_name)
{
  const cJSON *images = cJSON_GetObjectItemCaseSensitive (root, "images"),
              *boxes = cJSON_GetObjectItemCaseSensitive (root, "annotations"), *item;
  if (!cJSON_IsArray (images) || !cJSON_IsArray (boxes))
    return FALSE;
  cJSON_ArrayForEach (item, images)
    {
      const cJSON *name = cJSON_GetObjectItemCaseSensitive (item, "file_name");
      gpointer id = GINT_TO_POINTER ((gint) CLAMP (number (item, "id"), G_MININT, G_MAXINT));
      if (g_hash_table_contains (by_id, id))
        return FALSE;
      CocoImage *image = g_new0 (CocoImage, 1);
      image->width = number (item, "width");
      image->height = number (item, "height");
      image->boxes = g_array_new (FALSE, FALSE, 6 * sizeof (double));
      g_hash_table_insert (by_id, id, image);
      if (cJSON_IsString (name))
        g_hash_table_replace (by_name, g_path_get_basename (name->valuestring), image);
    }
  cJSON_ArrayForEach (item, boxes)
    {
      const cJSON *box = cJSON_GetObjectItemCaseSensitive (item, "bbox");
      CocoImage *image =
        g_hash_table_lookup (by_id, GINT_TO_POINTER ((gint) CLAMP (number (item, "image_id"), G_MININT, G_MAXINT)));
      if (image == NULL || cJSON_GetArraySize (box) != 4 || image->width <= 0.0 || image->height <= 0.0)
        return FALSE;
      double row[6] = { 0, 0, 0, 0, number (item, "category_id"), number (item, "iscrowd") };
      for (int k = 0; k < 4; k++)
        {
          const cJSON *side = cJSON_GetArrayItem (box, k);
          if (!cJSON_IsNumber (side))
            return FALSE;
          row[k] = side->valuedouble / (k % 2 == 0 ? image->width : image->height);
        }
      g_array_append_vals (image->boxes, row, 1);
    }
  return TRUE;
}

static gboolean
open_coco (Labels *labels, const char *path, const char *text, gsize length, LptData *data, GError **error)
{
  g_autoptr (GHashTable) by_id = g_hash_table_new_full (NULL, NULL, NULL, coco_image_free),
                         by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  cJSON *root = cJSON_ParseWithLength (text, length);
  gboolean ok = read_coco (root, by_id, by_name);
  cJSON_Delete (root);
  if (!ok)
    return fail (error, path, "not COCO's instances: images with ids and sizes, annotations with boxes are wanted", "");
  labels->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
  for (guint i = 0; i < data->n; i++)
    {
      const char *name = lpt_data_name (data, i);
      CocoImage *image = name != NULL ? g_hash_table_lookup (by_name, name) : NULL;
      if (image == NULL)
        return fail (error, path, "no image is called ", name != NULL ? name : "(samples have no names)");
      LptShape shape = { 2, { image->boxes->len, 6 } };
      LptTensor *tensor = lpt_tensor_new_copy (LPT_DTYPE_F64, &shape, image->boxes->data, error);
      if (tensor == NULL)
        return FALSE;
      g_ptr_array_add (labels->tensors, tensor);
    }
  return TRUE;
}

guint64
lpt_labels_in_order (LptData *labels)
{
  return ((Labels *) labels)->in_order;
}

LptData *
lpt_labels_open (const char *path, LptData *data, GError **error)
{
  g_autoptr (LptData) result = (LptData *) g_new0 (Labels, 1);
  Labels *labels = (Labels *) result;
  g_autoptr (GError) cause = NULL;
  g_autofree char *text = NULL;
  gsize length;
  gboolean ok;
  *result = (LptData) { data->n, labels_get, NULL, labels_free };
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return open_folder (labels, path, data, error) ? g_steal_pointer (&result) : NULL;
  if (!g_str_has_suffix (path, ".csv") && !g_str_has_suffix (path, ".json"))
    return open_array (labels, path, data->n, error) ? g_steal_pointer (&result) : NULL;
  if (!g_file_get_contents (path, &text, &length, &cause))
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, cause->message);
      return NULL;
    }
  ok = g_str_has_suffix (path, ".csv") ? open_table (labels, path, text, data, error)
                                       : open_coco (labels, path, text, length, data, error);
  return ok ? g_steal_pointer (&result) : NULL;
}
