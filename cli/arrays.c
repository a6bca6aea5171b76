/* arrays.c - inputs from files or drawn, outputs to files
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/arrays.h"

#include "cli/cmd.h"
#include "cli/files.h"
#include "cli/limits.h"
#include <lpt/lpt-npy.h>

#include <lpt/lpt-executor.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

/* --- random ---------------------------------------------------------------- */

/* The constant interval that @user, a FakeQuantize or Quantize, rounds to; FALSE: it is no such op, or not known. */
static gboolean
interval_of (LptNode *user, double *low, double *high)
{
  const LptValue *codes = user->op == LPT_OP_QUANTIZE ? lpt_node_out (user) : NULL;
  LptTensor *il = user->op == LPT_OP_FAKE_QUANTIZE ? lpt_node_const_in (user, 1) : NULL;
  LptTensor *ih = il != NULL ? lpt_node_const_in (user, 2) : NULL;
  if (codes != NULL && codes->quant != NULL)
    lpt_quant_interval (codes->quant, codes->dtype, low, high);
  else if (ih != NULL && lpt_tensor_count (il) > 0 && lpt_tensor_count (ih) > 0)
    {
      *low = lpt_tensor_get_f64 (il, 0);
      *high = lpt_tensor_get_f64 (ih, 0);
    }
  else
    return FALSE;
  return *low < *high;
}

/* The interval that one of those rounds @value to who read it; FALSE: none does. */
static gboolean
find_interval (const LptValue *value, double *low, double *high)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      double a, b;
      if (interval_of (g_array_index (value->uses, LptUse, i).node, &a, &b))
        {
          *low = a;
          *high = b;
          return TRUE;
        }
    }
  return FALSE;
}

/* The length of the axis that @node looks up by index in input 1; G_MAXINT64: it is no such op, or not known. */
static gint64
indexed_length (LptNode *node)
{
  LptTensor *given = node->op == LPT_OP_GATHER ? lpt_node_const_in (node, 2) : NULL;
  const LptValue *data = node->n_in > 1 ? lpt_node_in (node, 0) : NULL;
  gint64 axis;
  if (node->op == LPT_OP_GATHER_ELEMENTS)
    axis = LPT_ATTRS (node, LptAxisAttrs)->axis;
  else if (given != NULL && lpt_tensor_count (given) == 1)
    axis = (gint64) lpt_tensor_get_f64 (given, 0);
  else
    return G_MAXINT64;
  if (data == NULL || data->shape.rank < 1)
    return G_MAXINT64;
  axis += axis < 0 ? data->shape.rank : 0;
  return axis >= 0 && axis < data->shape.rank && data->shape.dims[axis] > 0 ? data->shape.dims[axis] : G_MAXINT64;
}

/* Below which number @value stays where it is an index, as it is or moved or converted by up to @depth ops; where its
 * numbers are summed it is a mask, whose sum is how many take part. */
static gint64
find_length (const LptValue *value, guint depth)
{
  gint64 least = G_MAXINT64;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const LptUse *use = &g_array_index (value->uses, LptUse, i);
      gint64 length = G_MAXINT64;
      if (use->index == 1)
        length = indexed_length (use->node);
      else if (use->node->op == LPT_OP_REDUCE_SUM)
        length = 2;
      else if (use->index == 0 && depth > 0 && use->node->n_out == 1
               && (use->node->op == LPT_OP_CONVERT || (use->node->info->flags & LPT_OP_F_PRESERVES)))
        length = find_length (lpt_node_out (use->node), depth - 1);
      least = MIN (least, length);
    }
  return least;
}

/* Zeros of the shape of an input, dynamic dimensions being 1. */
static LptTensor *
make_zeros (LptNode *parameter, GError **error)
{
  LptShape shape = lpt_node_out (parameter)->shape;
  if (shape.rank == LPT_DYNAMIC)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "node \"%s\": an input of unknown rank has to be given",
                   parameter->name);
      return NULL;
    }
  for (gint i = 0; i < shape.rank; i++)
    if (shape.dims[i] == LPT_DYNAMIC)
      shape.dims[i] = 1;
  return lpt_tensor_new (LPT_DTYPE_F32, &shape, error);
}

void
cmd_arrays_name_open (LptGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->parameters->len && error != NULL && *error != NULL; i++)
    {
      LptNode *parameter = g_ptr_array_index (graph->parameters, i);
      const LptShape *shape = &lpt_node_out (parameter)->shape;
      if (lpt_shape_is_static (shape) || !g_error_matches (*error, LPT_ERROR, LPT_ERROR_INVALID))
        continue;
      g_autofree char *lengths = lpt_shape_to_string (shape), *said = (*error)->message;
      (*error)->message = g_strdup_printf ("%s; open lengths of input \"%s\" [%s] are 1 unless arrays or --shape say "
                                           "otherwise", said, parameter->name, lengths);
      return;
    }
}

LptTensor *
cmd_arrays_random (LptNode *parameter, LptNode *twin, gint64 below, GRand *rand, GError **error)
{
  const LptValue *value = lpt_node_out (parameter);
  double low = -1.0, high = 1.0;
  LptDType dtype = value->dtype;
  if (lpt_dtype_is_real (dtype))
    (void) (find_interval (value, &low, &high)
            || (twin != NULL && find_interval (lpt_node_out (twin), &low, &high)));
  else if (lpt_dtype_is_integer (dtype))
    {
      gboolean code = lpt_dtype_bits (dtype) <= 8;
      low = code ? lpt_dtype_min (dtype) : 0.0;
      high = code ? lpt_dtype_max (dtype) + 1.0 : (double) MIN (below, find_length (value, 8));
    }
  else
    {
      low = 0.0;
      high = 2.0;
    }
  g_autoptr (LptTensor) real = make_zeros (parameter, error);
  if (real == NULL)
    return NULL;
  gint64 count = lpt_tensor_count (real);
  float *v = lpt_tensor_writable (real);
  for (gint64 i = 0; i < count; i++)
    {
      double x = g_rand_double_range (rand, low, high);
      v[i] = (float) (lpt_dtype_is_real (dtype) ? x : x < 0.0 ? (double) (gint64) (x - 0.999999) : (double) (gint64) x);
    }
  return dtype == LPT_DTYPE_F32 ? g_steal_pointer (&real)
                                : lpt_tensor_convert_round (real, dtype, LPT_ROUND_HALF_EVEN, error);
}

/* --- files ----------------------------------------------------------------- */

static int
set_input (LptGraph *graph, GPtrArray *tensors, const char *spec, LptNode *parameter, LptTensor *tensor)
{
  guint i;
  if (!g_ptr_array_find (graph->parameters, parameter, &i))
    g_assert_not_reached ();
  if (tensors->pdata[i] != NULL)
    return cmd_usage ("-i %s: input \"%s\" is given twice", spec, parameter->name);
  tensors->pdata[i] = lpt_tensor_ref (tensor);
  return CMD_OK;
}

typedef struct { LptGraph *graph; char *unknown; } Wanted;

/* An array of an archive, by its header: one that does not fit is not unpacked. */
static gboolean
wants (const char *name, const LptShape *shape, gpointer data, GError **error)
{
  Wanted *wanted = data;
  LptNode *parameter = lpt_graph_find_parameter (wanted->graph, name);
  LptShape once;
  if (parameter == NULL)
    {
      if (wanted->unknown == NULL)
        wanted->unknown = g_strdup (name);
      return FALSE;
    }
  if (lpt_input_times (&lpt_node_out (parameter)->shape, shape, &once) > 0)
    return TRUE;
  g_autofree char *is = lpt_shape_to_string (shape), *takes = lpt_shape_to_string (&lpt_node_out (parameter)->shape);
  g_set_error (error, LPT_ERROR, LPT_ERROR_INVALID, "input \"%s\" has shape [%s], the model takes [%s]", name, is,
               takes);
  return FALSE;
}

static int
load_archive (LptGraph *graph, GPtrArray *tensors, const char *spec, const LptDataOptions *options)
{
  GError *error = NULL;
  Wanted wanted = { graph, NULL };
  g_autoptr (GHashTable) arrays = lpt_npz_load (spec, wants, &wanted, &error);
  g_autofree char *unknown = wanted.unknown;
  if (arrays == NULL)
    return cmd_fail (error);
  if (unknown != NULL)
    return cmd_usage ("-i %s: no input is named \"%s\"", spec, unknown);
  GHashTableIter iter;
  gpointer name, tensor;
  g_hash_table_iter_init (&iter, arrays);
  while (g_hash_table_iter_next (&iter, &name, &tensor))
    {
      LptNode *parameter = lpt_graph_find_parameter (graph, name);
      g_autoptr (LptTensor) fitted = lpt_data_fit_input (parameter, tensor, options, &error);
      int code = fitted != NULL ? set_input (graph, tensors, spec, parameter, fitted) : cmd_fail (error);
      if (code != CMD_OK)
        return code;
    }
  return CMD_OK;
}

static char *
known_inputs (LptGraph *graph)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < graph->parameters->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            ((LptNode *) g_ptr_array_index (graph->parameters, i))->name);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static int
load_one (LptGraph *graph, GPtrArray *tensors, const char *spec, const LptDataOptions *options)
{
  LptNode *parameter = NULL;
  const char *path = spec;
  /* A name may hold "=": the longest one that is an input counts. */
  for (const char *p = strchr (spec, '='); p != NULL; p = strchr (p + 1, '='))
    {
      g_autofree char *name = g_strndup (spec, (gsize) (p - spec));
      LptNode *found = lpt_graph_find_parameter (graph, name);
      if (found != NULL)
        {
          parameter = found;
          path = p + 1;
        }
    }
  if (parameter == NULL && g_str_has_suffix (spec, ".npz"))
    return load_archive (graph, tensors, spec, options);
  if (parameter == NULL && (strchr (spec, '=') != NULL || graph->parameters->len != 1))
    {
      g_autofree char *known = known_inputs (graph);
      return cmd_usage ("-i %s: NAME=FILE.npy is wanted, with an input of the model (%s)", spec, known);
    }
  if (parameter == NULL)
    parameter = g_ptr_array_index (graph->parameters, 0);
  GError *error = NULL;
  g_autoptr (LptTensor) tensor = lpt_data_load_input (parameter, path, options, &error);
  return tensor != NULL ? set_input (graph, tensors, spec, parameter, tensor) : cmd_fail (error);
}

static void
unref_tensor (gpointer tensor)
{
  if (tensor != NULL)
    lpt_tensor_unref (tensor);
}

GPtrArray *
cmd_arrays_load (LptGraph *graph, char **specs, const LptDataOptions *options, gint64 seed, int *code)
{
  return cmd_arrays_load_drawn (graph, NULL, specs, options, seed, NULL, code);
}

/* Bytes of a value whose shape is known; 0: it is not. */
static double
bytes_of (const LptValue *value)
{
  gint64 count;
  return lpt_shape_is_static (&value->shape) && lpt_shape_count (&value->shape, &count)
    ? (double) count * (double) lpt_dtype_bits (value->dtype) / 8.0 : 0.0;
}

/* Inputs that are still to be drawn and the arrays of the outputs live side by side. Drawing takes longer than saying
   that they do not fit. */
static gboolean
drawn_ones_fit (LptGraph *graph, const GPtrArray *tensors, int *code)
{
  double bytes = 0.0;
  for (guint i = 0; i < graph->parameters->len; i++)
    bytes += tensors->pdata[i] == NULL ? bytes_of (lpt_node_out (g_ptr_array_index (graph->parameters, i))) : 0.0;
  for (guint i = 0; i < graph->results->len; i++)
    {
      const LptValue *value = lpt_node_in (g_ptr_array_index (graph->results, i), 0);
      bytes += value->producer->data == NULL && value->producer->op != LPT_OP_PARAMETER ? bytes_of (value) : 0.0;
    }
  if (!cmd_limits_exceed (bytes))
    return TRUE;
  *code = cmd_fail (g_error_new (LPT_ERROR, LPT_ERROR_INVALID,
                                 "%s: no memory for drawn inputs and their outputs, %.0f bytes together "
                                 "(see --max-memory)",
                                 graph->source != NULL ? graph->source : graph->name, bytes));
  return FALSE;
}

GPtrArray *
cmd_arrays_load_drawn (LptGraph *graph, LptGraph *other, char **specs, const LptDataOptions *options, gint64 seed,
                       guint *drawn, int *code)
{
  guint n_drawn = 0;
  g_autoptr (GPtrArray) tensors = g_ptr_array_new_with_free_func (unref_tensor);
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) seed);
  g_ptr_array_set_size (tensors, (gint) graph->parameters->len);
  for (guint i = 0; specs != NULL && specs[i] != NULL; i++)
    if ((*code = load_one (graph, tensors, specs[i], options)) != CMD_OK)
      return NULL;
  if (seed != CMD_NO_SEED && !drawn_ones_fit (graph, tensors, code))
    return NULL;
  for (guint i = 0; i < tensors->len; i++)
    {
      LptNode *parameter = g_ptr_array_index (graph->parameters, i);
      GError *error = NULL;
      if (tensors->pdata[i] != NULL)
        continue;
      /* What nothing reads may be left out. */
      gboolean unread = lpt_node_out (parameter)->uses->len == 0;
      if (seed == CMD_NO_SEED && !unread)
        {
          *code = cmd_usage ("input \"%s\" is not given: -i %s=FILE.npy, or --random SEED", parameter->name, parameter->name);
          return NULL;
        }
      n_drawn += !unread;
      LptNode *twin = other != NULL ? lpt_graph_find_parameter (other, parameter->name) : NULL;
      tensors->pdata[i] = unread ? make_zeros (parameter, &error)
                                 : cmd_arrays_random (parameter, twin, CMD_DRAWN_BELOW, rand, &error);
      if (tensors->pdata[i] == NULL)
        {
          g_prefix_error (&error, "%s:%u: node \"%s\": ", graph->source != NULL ? graph->source : graph->name,
                          parameter->line, parameter->name);
          *code = cmd_fail (error);
          return NULL;
        }
    }
  if (drawn != NULL)
    *drawn = n_drawn;
  return g_steal_pointer (&tensors);
}

gboolean
cmd_arrays_save (const char *dir, guint n, const char *const *names, LptTensor *const *tensors, GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *base = cmd_file_name (names[i]);
      char *name = g_strdup (base);
      for (guint k = 2; g_hash_table_contains (taken, name); k++)
        {
          g_free (name);
          name = g_strdup_printf ("%s_%u", base, k);
        }
      g_hash_table_add (taken, name);
      g_ptr_array_add (files, name);
    }
  if (g_str_has_suffix (dir, ".npz"))
    return lpt_npz_save (dir, n, (const char *const *) files->pdata, tensors, error);
  if (g_mkdir_with_parents (dir, 0777) != 0)
    {
      g_set_error (error, LPT_ERROR, LPT_ERROR_IO, "%s: cannot be made: %s", dir, g_strerror (errno));
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *file = g_strconcat (g_ptr_array_index (files, i), ".npy", NULL),
                      *path = g_build_filename (dir, file, NULL);
      if (!lpt_npy_save (path, tensors[i], error))
        return FALSE;
    }
  return TRUE;
}
