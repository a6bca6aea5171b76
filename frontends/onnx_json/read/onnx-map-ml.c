/* onnx-map-ml.c - ai.onnx.ml's operators that prepare features, spelled out
 *
 *     Scaler                  (x - offset) scale
 *     Normalizer              x / max x, x / sum |x|, x / sqrt (sum x^2) over the last axis; x where that is 0
 *     Binarizer               1 where x > threshold, else 0
 *     Imputer                 x, but imputed_value where x is replaced_value (which may be NaN)
 *     FeatureVectorizer       inputs beside each other, each cut or filled with zeros to its number of features
 *     ArrayFeatureExtractor   columns by index
 *     OneHotEncoder           x == cats[i], x made an integer first; what is no category is all zeros, also where ONNX
 *                             Runtime stops (zeros = 0)
 *     LabelEncoder            values[i] for the first i where x == keys[i], else the default; from version 4 on NaN is
 *                             equal to NaN
 *     ZipMap                  its input: the map from labels to scores is the row of scores
 *
 * Refused: strings, on either side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-ml.h"

#include <math.h>


static LptValue *
number_in (LptOnnxNode *on,
           guint        i)
{
  LptValue *x = lpt_onnx_in (on, i);

  if (!lpt_dtype_is_real (x->dtype) && !lpt_dtype_is_integer (x->dtype))
    lpt_onnx_unsupported (on, "input of type %s", lpt_dtype_name (x->dtype));
  return x;
}

/* The numbers of an attribute, one for all or one for each feature; @fallback where it is not given. */
static LptValue *
per_feature (LptOnnxNode *on,
             const char  *name,
             float        fallback)
{
  gsize n;
  g_autofree float *values = lpt_onnx_ml_floats (on, name, &n);

  return n > 0 ? lpt_onnx_ml_vector (on, n, values) : lpt_onnx_ml_vector (on, 1, &fallback);
}

void
lpt_onnx_map_ml_scaler (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_convert (on, number_in (on, 0), LPT_DTYPE_F32);

  x = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, x, per_feature (on, "offset", 0));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, x, per_feature (on, "scale", 1)));
}

void
lpt_onnx_map_ml_normalizer (LptOnnxNode *on)
{
  static const LptOnnxChoice norms[] = { { "MAX", LPT_OP_REDUCE_MAX }, { "L1", LPT_OP_REDUCE_SUM },
                                         { "L2", LPT_OP_REDUCE_L2 } };
  const LptOp op = (LptOp) lpt_onnx_choose (on, "norm", "MAX", norms, G_N_ELEMENTS (norms));
  LptValue *x = lpt_onnx_convert (on, number_in (on, 0), LPT_DTYPE_F32), *norm, *none;
  const gint64 last = -1;

  if (on->error != NULL)
    return;
  norm = lpt_onnx_reduce (on, op, op != LPT_OP_REDUCE_SUM ? x : lpt_onnx_emit (on, LPT_OP_ABS, 1, x),
                          lpt_onnx_i64 (on, 1, &last), TRUE);
  none = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, norm, lpt_onnx_like (on, norm, 0));
  norm = lpt_onnx_emit (on, LPT_OP_SELECT, 3, none, lpt_onnx_like (on, norm, 1), norm);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_DIVIDE, 2, x, norm));
}

void
lpt_onnx_map_ml_binarizer (LptOnnxNode *on)
{
  LptValue *x = number_in (on, 0);
  double threshold = lpt_onnx_float (on, "threshold", 0);
  LptValue *above = lpt_onnx_ml_with (on, LPT_OP_GREATER, lpt_onnx_convert (on, x, LPT_DTYPE_F32), threshold);

  lpt_onnx_set (on, 0, lpt_onnx_convert (on, above, x->dtype));
}

void
lpt_onnx_map_ml_imputer (LptOnnxNode *on)
{
  LptValue *x = number_in (on, 0), *missing, *value;
  gboolean real = lpt_dtype_is_real (x->dtype);
  double replaced = lpt_onnx_float (on, "replaced_value_float", 0);
  gint64 replaced_integer = lpt_onnx_int (on, "replaced_value_int64", 0);
  gsize n_real, n_integers;
  g_autofree float *reals = lpt_onnx_ml_floats (on, "imputed_value_floats", &n_real);
  const gint64 *integers = lpt_onnx_ml_ints (on, "imputed_value_int64s", &n_integers);

  if ((real ? n_real : n_integers) == 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "no imputed values for elements of type %s", lpt_dtype_name (x->dtype));
      return;
    }
  if (real && isnan (replaced))
    missing = lpt_onnx_emit (on, LPT_OP_IS_NAN, 1, x);
  else
    missing = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, x,
                             real ? lpt_onnx_like (on, x, replaced)
                             : lpt_onnx_convert (on, lpt_onnx_i64_scalar (on, replaced_integer), x->dtype));
  value = real ? lpt_onnx_ml_vector (on, n_real, reals) : lpt_onnx_i64 (on, (guint) n_integers, integers);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_SELECT, 3, missing, lpt_onnx_convert (on, value, x->dtype), x));
}

/* --- columns ------------------------------------------------------------------------------ */

/* @x [N,F...] with @n features */
static LptValue *
fit (LptOnnxNode *on,
     LptValue    *x,
     gint64       n)
{
  const gint64 begin[] = { 0, 0 }, end[] = { 0, n }, rows[] = { 0, -1 };
  LptNode *node;

  if (x->shape.rank == 1)
    x = lpt_onnx_unsqueeze (on, x, 0);
  if (x->shape.rank > 2)
    x = lpt_onnx_reshape_keep (on, x, 2, rows);
  if (x->shape.rank != 2)
    lpt_onnx_unsupported (on, "input of rank %d", x->shape.rank);
  if (x->shape.rank == 2 && x->shape.dims[1] == n)
    return x;
  node = lpt_onnx_add (on, LPT_OP_PAD, 4, x, lpt_onnx_i64 (on, 2, begin), lpt_onnx_i64 (on, 2, end),
                       lpt_onnx_like (on, x, 0));
  return lpt_onnx_slice (on, lpt_onnx_done (on, node), 1, 0, n);
}

void
lpt_onnx_map_ml_vectorizer (LptOnnxNode *on)
{
  gsize n;
  const gint64 *lengths = lpt_onnx_ml_ints (on, "inputdimensions", &n);
  g_autofree LptValue **parts = g_new (LptValue *, (gsize) on->n_in + 1);

  if (n != on->n_in || n == 0)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "inputdimensions has %" G_GSIZE_FORMAT " elements for %u inputs", n,
                     on->n_in);
      return;
    }
  for (guint i = 0; i < on->n_in; i++)
    {
      if (lengths[i] < 1 || lengths[i] > G_MAXINT32)
        {
          lpt_onnx_fail (on, LPT_ERROR_INVALID, "input %u has %" G_GINT64_FORMAT " features", i, lengths[i]);
          return;
        }
      parts[i] = fit (on, lpt_onnx_convert (on, number_in (on, i), LPT_DTYPE_F32), lengths[i]);
    }
  lpt_onnx_set (on, 0, lpt_onnx_concat (on, 1, on->n_in, parts));
}

void
lpt_onnx_map_ml_extractor (LptOnnxNode *on)
{
  const gint64 all = -1;
  LptValue *x = lpt_onnx_in (on, 0), *index = lpt_onnx_reshape (on, lpt_onnx_in (on, 1), 1, &all);

  if (x->shape.rank == 1)
    x = lpt_onnx_unsqueeze (on, x, 0);
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_GATHER, 3, x, index, lpt_onnx_i64_scalar (on, -1)));
}

void
lpt_onnx_map_ml_one_hot (LptOnnxNode *on)
{
  LptValue *x = lpt_onnx_convert (on, number_in (on, 0), LPT_DTYPE_I64), *cats;
  gsize n;
  const gint64 *list = lpt_onnx_ml_ints (on, "cats_int64s", &n);

  lpt_onnx_ignore (on, "zeros");
  if (n == 0 || n > G_MAXINT32)
    {
      lpt_onnx_unsupported (on, "categories other than cats_int64s");
      return;
    }
  cats = lpt_onnx_i64 (on, (guint) n, list);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, lpt_onnx_emit (on, LPT_OP_EQUAL, 2, lpt_onnx_unsqueeze (on, x, -1), cats),
                                         LPT_DTYPE_F32));
}

void
lpt_onnx_map_ml_zip_map (LptOnnxNode *on)
{
  lpt_onnx_ignore (on, "classlabels_int64s");
  lpt_onnx_ignore (on, "classlabels_strings");
  lpt_onnx_set (on, 0, lpt_onnx_in (on, 0));
}

/* --- LabelEncoder --------------------------------------------------------------------------- */

/* keys or values: numbers of whichever attribute is there. */
static LptTensor *
encoder_list (LptOnnxNode *on,
              const char  *what)
{
  g_autofree char *strings = g_strconcat (what, "_strings", NULL), *reals = g_strconcat (what, "_floats", NULL);
  g_autofree char *integers = g_strconcat (what, "_int64s", NULL), *tensor_name = g_strconcat (what, "_tensor", NULL);
  gsize n_reals, n;
  g_autofree float *v = lpt_onnx_ml_floats (on, reals, &n_reals);
  const gint64 *list = lpt_onnx_ml_ints (on, integers, &n);
  g_autoptr (LptTensor) text = lpt_onnx_ml_strings (on, strings), tensor = lpt_onnx_ml_tensor (on, tensor_name);
  const LptShape shape = { .rank = 1, .dims = { tensor != NULL ? lpt_tensor_count (tensor) : (gint64) n_reals } };

  if (on->error != NULL)
    return NULL;
  if (text != NULL || (tensor != NULL && lpt_tensor_dtype (tensor) == LPT_DTYPE_STRING))
    lpt_onnx_unsupported (on, "%s that are strings", what);
  else if (tensor != NULL)
    return lpt_tensor_reshape (tensor, &shape, &on->error);
  else if (n_reals > 0)
    return lpt_tensor_from_f32 (&shape, v, &on->error);
  else if (n > 0 && n <= G_MAXINT32)
    return lpt_tensor_vector_i64 ((guint) n, list);
  else
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "there are no %s", what);
  return NULL;
}

/* The default of @dtype, as a vector of one. */
static LptValue *
encoder_default (LptOnnxNode *on,
                 LptDType     dtype)
{
  const gint64 integer = lpt_onnx_int (on, "default_int64", -1), one = 1;
  const double real = lpt_onnx_float (on, "default_float", -0.0);
  g_autoptr (LptTensor) tensor = lpt_onnx_ml_tensor (on, "default_tensor");
  LptValue *value;

  lpt_onnx_ignore (on, "default_string");
  if (tensor != NULL && lpt_tensor_count (tensor) == 1)
    value = lpt_onnx_tensor_value (on, lpt_tensor_ref (tensor));
  else
    value = lpt_dtype_is_real (dtype) ? lpt_onnx_scalar (on, LPT_DTYPE_F32, real) : lpt_onnx_i64_scalar (on, integer);
  return lpt_onnx_convert (on, lpt_onnx_reshape (on, value, 1, &one), dtype);
}

/* Position of the first equal key + 1, or 0: keys that come again are given 0. */
static LptValue *
positions (LptOnnxNode *on,
           LptTensor   *keys)
{
  const guint n = (guint) lpt_tensor_count (keys);
  const gboolean real = lpt_dtype_is_real (lpt_tensor_dtype (keys));
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree gint64 *list = lpt_onnx_memory (on, n + 1, sizeof *list);

  for (guint i = 0; i < n && list != NULL; i++)
    {
      union { double real; gint64 integer; } key;

      if (real)
        key.real = lpt_tensor_get_f64 (keys, i) + 0.0;
      else
        key.integer = lpt_tensor_get_i64 (keys, i);
      list[i] = g_hash_table_add (seen, g_memdup2 (&key.integer, sizeof key.integer)) ? (gint64) i + 1 : 0;
    }
  return lpt_onnx_i64 (on, list != NULL ? n : 0, list);
}

/* @index, but where @x is NaN that of the first key that is, if there is one. */
static LptValue *
nan_position (LptOnnxNode *on,
              LptTensor   *keys,
              LptValue    *x,
              LptValue    *index)
{
  for (gint64 i = 0; i < lpt_tensor_count (keys); i++)
    if (isnan (lpt_tensor_get_f64 (keys, i)))
      return lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_emit (on, LPT_OP_IS_NAN, 1, x),
                            lpt_onnx_i64_scalar (on, i + 1), index);

  return index;
}

void
lpt_onnx_map_ml_label_encoder (LptOnnxNode *on)
{
  g_autoptr (LptTensor) keys = encoder_list (on, "keys"), values = encoder_list (on, "values");
  LptValue *x = number_in (on, 0), *equal, *index, *table[2];
  const gint64 last = -1;

  if (on->error != NULL || keys == NULL || values == NULL)
    return;
  if (lpt_tensor_count (keys) != lpt_tensor_count (values) || lpt_tensor_count (keys) > G_MAXINT32)
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GINT64_FORMAT " keys and %" G_GINT64_FORMAT " values",
                     lpt_tensor_count (keys), lpt_tensor_count (values));
      return;
    }
  equal = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, lpt_onnx_unsqueeze (on, x, -1),
                         lpt_onnx_convert (on, lpt_onnx_tensor_value (on, lpt_tensor_ref (keys)), x->dtype));
  index = lpt_onnx_emit (on, LPT_OP_SELECT, 3, equal, positions (on, keys), lpt_onnx_i64_scalar (on, 0));
  index = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, index, lpt_onnx_i64 (on, 1, &last), FALSE);
  if (on->since >= 4 && lpt_dtype_is_real (x->dtype))
    index = nan_position (on, keys, x, index);
  table[0] = encoder_default (on, lpt_tensor_dtype (values));
  table[1] = lpt_onnx_tensor_value (on, lpt_tensor_ref (values));
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_GATHER, 3, lpt_onnx_concat (on, 0, 2, table), index,
                                      lpt_onnx_i64_scalar (on, 0)));
}
