/* data.c - samples from files, one at a time
 *
 * Each input of the model is a column, a column is pieces one behind another: an array with its samples, or one image,
 * sound or file of bytes. Headers are read when the source is opened, so that what does not fit is said before anything
 * runs; elements when a sample is asked for, from one open file per input. Files of a folder come in the order of their
 * names' bytes. Refused: columns of different lengths, files that fit no input, inputs without samples.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/data/data-private.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  char    *path, *entry;    /* entry: of an archive */
  gboolean media;
  DataFit  fit;             /* of arrays */
  guint    first;           /* sample */
} Piece;

typedef struct
{
  LptValue  *value;         /* of the model */
  GPtrArray *pieces;
  guint      n;
  DataRows  *rows;          /* of piece @open */
  guint      open;
  gboolean   said, told, missed;    /* that the type differs; what the model says of images; another scale */
} Column;

typedef struct
{
  LptData        data;
  LptGraph      *inputs;    /* a copy of the parameters alone, which the graph may outlive */
  Column        *columns;
  guint          n_columns;
  LptDataOptions options;
} Files;

static void
piece_free (gpointer data)
{
  Piece *piece = data;
  g_free (piece->path);
  g_free (piece->entry);
  g_free (piece);
}

static void
files_free (LptData *data)
{
  Files *files = (Files *) data;
  for (guint i = 0; i < files->n_columns; i++)
    {
      g_ptr_array_unref (files->columns[i].pieces);
      data_rows_free (files->columns[i].rows);
    }
  g_free (files->columns);
  g_clear_pointer (&files->inputs, lpt_graph_free);
  g_free (files);
}

/* --- opening ------------------------------------------------------------------ */

static gboolean
add_piece (Column *column, const char *path, const char *entry, const DataFit *fit, GError **error)
{
  gint64 n = fit != NULL ? fit->n : 1;
  if (n > G_MAXINT - (gint64) column->n)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "%s: unsupported: more than %d samples", path, G_MAXINT);
      return FALSE;
    }
  Piece *piece = g_new0 (Piece, 1);
  piece->path = g_strdup (path);
  piece->entry = g_strdup (entry);
  piece->media = fit == NULL;
  piece->first = column->n;
  if (fit != NULL)
    piece->fit = *fit;
  g_ptr_array_add (column->pieces, piece);
  column->n += (guint) n;
  return TRUE;
}

static gboolean
add_array (Column *column, const char *path, const char *entry, GError **error)
{
  DataFit fit;
  DataRows *rows = data_rows_open (path, entry, error);
  if (rows == NULL)
    return FALSE;
  LptShape has = *data_rows_shape (rows);
  data_rows_free (rows);
  if (data_fit (&has, &column->value->shape, &fit))
    return add_piece (column, path, entry, &fit, error);
  g_autofree char *is = lpt_shape_to_string (&has), *takes = lpt_shape_to_string (&column->value->shape);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
               "%s%s%s: an array of shape [%s] holds no samples for input \"%s\" [%s]", path, entry != NULL ? ": " : "",
               entry != NULL ? entry : "", is, column->value->producer->name, takes);
  return FALSE;
}

static Column *
find_column (Files *files, const char *name)
{
  LptNode *parameter = lpt_graph_find_parameter (files->inputs, name);
  for (guint i = 0; i < files->n_columns; i++)
    if (files->columns[i].value->producer == parameter)
      return &files->columns[i];
  return NULL;
}

static gboolean
add_archive (Files *files, Column *column, const char *path, GError **error)
{
  g_auto (GStrv) names = data_archive_names (path, error);
  guint found = 0;
  if (names == NULL)
    return FALSE;
  for (guint i = 0; names[i] != NULL; i++)
    {
      Column *of = find_column (files, names[i]);
      if (of == NULL && column != NULL && names[1] == NULL)
        of = column;
      if (of == NULL || (column != NULL && of != column))
        continue;
      found++;
      if (!add_array (of, path, names[i], error))
        return FALSE;
    }
  if (found == 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: none of its arrays is called as an input of the model",
                 path);
  return found > 0;
}

/* @column: NULL = of a model with several inputs. */
static gboolean
add_file (Files *files, Column *column, const char *path, GError **error)
{
  if (g_str_has_suffix (path, ".npz"))
    return add_archive (files, column, path, error);
  if (column == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID,
                   "%s: the model has several inputs: NAME=PATH is wanted, or archives", path);
      return FALSE;
    }
  return lpt_array_is_media (path) ? add_piece (column, path, NULL, NULL, error)
                                   : add_array (column, path, NULL, error);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gboolean
add_folder (Files *files, Column *column, const char *path, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &cause);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;
  if (dir == NULL)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: %s", path, cause->message);
      return FALSE;
    }
  /* Hidden files are others' notes, such as ._x.npy, which macOS puts beside each x.npy. */
  while ((name = g_dir_read_name (dir)) != NULL)
    if (*name != '.'
        && (g_str_has_suffix (name, ".npy") || g_str_has_suffix (name, ".npz") || lpt_array_is_media (name)))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *file = g_build_filename (path, g_ptr_array_index (names, i), NULL);
      if (!add_file (files, column, file, error))
        return FALSE;
    }
  if (names->len == 0)
    g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: the folder has no arrays and no images", path);
  return names->len > 0;
}

static gboolean
add_spec (Files *files, const char *spec, GError **error)
{
  Column *column = files->n_columns == 1 ? &files->columns[0] : NULL;
  const char *path = spec;
  /* A name may hold "=": the longest one that is an input counts. */
  for (const char *p = strchr (spec, '='); p != NULL; p = strchr (p + 1, '='))
    {
      g_autofree char *name = g_strndup (spec, (gsize) (p - spec));
      Column *found = find_column (files, name);
      if (found != NULL)
        {
          column = found;
          path = p + 1;
        }
    }
  const char *sign = strchr (path, '=');
  if (column == NULL && sign != NULL && !g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_autoptr (GString) names = g_string_new (NULL);
      for (guint i = 0; i < files->n_columns; i++)
        g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", files->columns[i].value->producer->name);
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: no input is called \"%.*s\", they are %s", spec,
                   (int) (sign - path), path, names->str);
      return FALSE;
    }
  return g_file_test (path, G_FILE_TEST_IS_DIR) ? add_folder (files, column, path, error)
                                                : add_file (files, column, path, error);
}

/* --- samples ------------------------------------------------------------------ */

static void
remark (Files *files, Column *column, LptDType from)
{
  LptDType to = column->value->dtype;
  gboolean same = from == to || (lpt_dtype_is_real (from) && lpt_dtype_is_real (to))
                  || (lpt_dtype_is_integer (from) && lpt_dtype_is_integer (to));
  if (column->said || same || files->options.remark == NULL)
    return;
  column->said = TRUE;
  g_autofree char *text = g_strdup_printf ("input \"%s\" takes %s: samples are converted from %s",
                                           column->value->producer->name, lpt_dtype_name (to), lpt_dtype_name (from));
  files->options.remark (text, files->options.remark_data);
}

/* What the model says of images, once. */
static void
tell_options (const LptDataOptions *options, const LptDataOptions *own)
{
  g_autofree char *said = data_options_said (options, own);
  if (said == NULL || options->remark == NULL)
    return;
  g_autofree char *text = g_strdup_printf ("images as the model's metadata say:%s", said);
  options->remark (text, options->remark_data);
}

/* Samples that the codes of the input cannot hold, once. */
static void
tell_misses (Files *files, Column *column, LptTensor *raw, const LptDataOptions *own)
{
  double low, high;
  if (column->missed || files->options.remark == NULL || !data_misses_codes (raw, column->value, own, &low, &high))
    return;
  column->missed = TRUE;
  g_autofree char *text = g_strdup_printf ("input \"%s\": samples of %g .. %g are beyond what its codes hold: are "
                                           "--mean and --scale what the model was trained with?",
                                           column->value->producer->name, low, high);
  files->options.remark (text, files->options.remark_data);
}

static Piece *
find_piece (const Column *column, guint i, guint *index)
{
  guint low = 0, high = column->pieces->len;
  while (high - low > 1)
    {
      guint middle = (low + high) / 2;
      if (((Piece *) g_ptr_array_index (column->pieces, middle))->first <= i)
        low = middle;
      else
        high = middle;
    }
  *index = low;
  return g_ptr_array_index (column->pieces, low);
}

static LptTensor *
load_media (const Piece *piece, Column *column, const LptDataOptions *options, GError **error)
{
  g_autoptr (LptTensor) array = lpt_array_load (piece->path, error);
  DataFit fit;
  if (array == NULL || data_is_image (piece->path))
    return array != NULL ? data_fit_image (array, column->value, options, error) : NULL;
  if (data_fit (lpt_tensor_shape (array), &column->value->shape, &fit) && fit.n == 1)
    return lpt_tensor_reshape (array, &fit.shape, error);
  g_autofree char *is = lpt_shape_to_string (lpt_tensor_shape (array)),
                  *takes = lpt_shape_to_string (&column->value->shape);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "%s: an array of shape [%s] is no sample for input \"%s\" [%s]",
               piece->path, is, column->value->producer->name, takes);
  return NULL;
}

/* The rows of @piece as the model takes them. */
static LptTensor *
load_rows (const Piece *piece, Column *column, guint index, guint row, GError **error)
{
  gint64 count;
  if (column->rows == NULL || column->open != index)
    {
      data_rows_free (column->rows);
      column->rows = data_rows_open (piece->path, piece->entry, error);
      column->open = index;
    }
  if (column->rows == NULL || !lpt_shape_count (&piece->fit.slice, &count))
    return NULL;
  g_autoptr (LptTensor) slice = data_rows_read (column->rows, (gint64) row * count, &piece->fit.slice, error);
  if (slice == NULL)
    return NULL;
  return piece->fit.transposed ? data_transpose (slice, &piece->fit.shape, error)
                               : lpt_tensor_reshape (slice, &piece->fit.shape, error);
}

static LptTensor *
load (Files *files, Column *column, guint i, GError **error)
{
  guint index;
  Piece *piece = find_piece (column, i, &index);
  gboolean image = piece->media && data_is_image (piece->path);
  const LptDataOptions own = image ? data_options_for_images (&files->options, column->value) : files->options;
  if (image && !column->told)
    tell_options (&files->options, &own);
  column->told = column->told || image;
  g_autoptr (LptTensor) raw = piece->media ? load_media (piece, column, &own, error)
                                           : load_rows (piece, column, index, i - piece->first, error);
  LptTensor *done = raw != NULL ? data_normalize (raw, column->value, &own, error) : NULL;
  if (raw != NULL)
    tell_misses (files, column, raw, &own);
  if (raw != NULL && !piece->media)
    remark (files, column, lpt_tensor_dtype (raw));
  if (done == NULL && error != NULL && *error != NULL && strstr ((*error)->message, piece->path) == NULL)
    g_prefix_error (error, "%s: ", piece->path);
  return done;
}

static gboolean
files_get (LptData *data, guint i, LptTensor **tensors, GError **error)
{
  Files *files = (Files *) data;
  g_return_val_if_fail (i < data->n, FALSE);
  for (guint k = 0; k < files->n_columns; k++)
    {
      tensors[k] = load (files, &files->columns[k], i, error);
      if (tensors[k] != NULL)
        continue;
      for (guint j = 0; j < k; j++)
        g_clear_pointer (&tensors[j], lpt_tensor_unref);
      return FALSE;
    }
  return TRUE;
}

static const char *
files_name (LptData *data, guint i)
{
  Files *files = (Files *) data;
  guint index;
  Piece *piece = find_piece (&files->columns[0], i, &index);
  const char *slash = strrchr (piece->path, G_DIR_SEPARATOR);
  return slash != NULL ? slash + 1 : piece->path;
}

/* Samples whose channels are last where the model's are first, or the other way, as @model has them. */
static LptTensor *
turn (LptTensor *array, const LptShape *model, GError **error)
{
  DataFit fit;
  if (model->rank != 4 || !data_fit (lpt_tensor_shape (array), model, &fit) || !fit.transposed)
    return lpt_tensor_ref (array);
  LptShape from = fit.slice, to = fit.shape;
  from.dims[0] *= fit.n;
  to.dims[0] *= fit.n;
  g_autoptr (LptTensor) rows = lpt_tensor_reshape (array, &from, error);
  return rows != NULL ? data_transpose (rows, &to, error) : NULL;
}

LptTensor *
lpt_data_fit_input (LptNode *parameter, LptTensor *array, const LptDataOptions *options, GError **error)
{
  const LptDataOptions none = { 0 };
  const LptValue *value = lpt_node_out (parameter);
  if (options == NULL)
    options = &none;
  g_autoptr (LptTensor) turned = turn (array, &value->shape, error);
  if (turned == NULL)
    return NULL;
  gboolean other = value->quant != NULL && lpt_tensor_dtype (array) != value->dtype;
  return other || options->n_mean + options->n_scale > 0 ? data_normalize (turned, value, options, error)
                                                         : g_steal_pointer (&turned);
}

LptTensor *
lpt_data_load_input (LptNode *parameter, const char *path, const LptDataOptions *options, GError **error)
{
  const LptDataOptions none = { 0 };
  const LptValue *value = lpt_node_out (parameter);
  gboolean image = data_is_image (path);
  if (options == NULL)
    options = &none;
  const LptDataOptions own = image ? data_options_for_images (options, value) : *options;
  if (image)
    tell_options (options, &own);
  g_autoptr (LptTensor) array = lpt_array_load (path, error);
  g_autoptr (LptTensor) fitted = array == NULL ? NULL
                                 : image       ? data_fit_image (array, value, &own, error)
                                               : lpt_tensor_ref (array);
  if (fitted == NULL)
    return NULL;
  LptTensor *done = image ? data_normalize (fitted, value, &own, error)
                          : lpt_data_fit_input (parameter, fitted, &own, error);
  if (done == NULL)
    g_prefix_error (error, "%s: ", path);
  return done;
}

static gboolean
check_columns (Files *files, GError **error)
{
  for (guint i = 0; i < files->n_columns; i++)
    {
      const Column *column = &files->columns[i];
      if (column->n == 0)
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" has no samples", column->value->producer->name);
      else if (column->n != files->columns[0].n)
        g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" has %u samples, input \"%s\" %u",
                     files->columns[0].value->producer->name, files->columns[0].n, column->value->producer->name,
                     column->n);
      else
        continue;
      return FALSE;
    }
  return TRUE;
}

LptData *
lpt_data_open (LptGraph *graph, const char *const *specs, const LptDataOptions *options, GError **error)
{
  g_autoptr (LptData) data = (LptData *) g_new0 (Files, 1);
  Files *files = (Files *) data;
  files->data = (LptData) { 0, files_get, files_name, files_free };
  if (options != NULL)
    files->options = *options;
  files->inputs = lpt_graph_new ("inputs");
  data_copy_model_info (graph, files->inputs);
  files->n_columns = graph->parameters->len;
  files->columns = g_new0 (Column, files->n_columns + 1);
  for (guint i = 0; i < files->n_columns; i++)
    {
      LptNode *from = g_ptr_array_index (graph->parameters, i),
              *to = lpt_graph_add (files->inputs, LPT_OP_PARAMETER, 0, from->name, 0, NULL);
      to->out[0].dtype = from->out[0].dtype;
      to->out[0].shape = from->out[0].shape;
      to->out[0].quant = lpt_quant_ref (from->out[0].quant);
      for (guint k = 0; from->out[0].names != NULL && k < from->out[0].names->len; k++)
        lpt_value_add_name (&to->out[0], g_ptr_array_index (from->out[0].names, k));
      files->columns[i].value = &to->out[0];
      files->columns[i].pieces = g_ptr_array_new_with_free_func (piece_free);
    }
  if (files->n_columns == 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "the model has no inputs");
      return NULL;
    }
  for (guint i = 0; specs[i] != NULL; i++)
    if (!add_spec (files, specs[i], error))
      return NULL;
  if (!check_columns (files, error))
    return NULL;
  data->n = files->columns[0].n;
  if (files->options.limit > 0)
    data->n = (guint) MIN (files->options.limit, (gint64) data->n);
  return g_steal_pointer (&data);
}
