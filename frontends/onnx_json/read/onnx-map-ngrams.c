/* onnx-map-ngrams.c - ONNX TfIdfVectorizer of integers
 *
 * The pool lists n-grams of min_gram_length ... max_gram_length, those of n from ngram_counts[n - 1] on. In a row an
 * n-gram may start at i and go on in steps of d = 1 ... 1 + max_skip_count, as far as the row reaches (single numbers
 * count once):
 *
 *     count[g] = how many (i, d) have x[i + j d] = g[j] for all j;  y[ngram_indexes[g]] = count[g]
 *     mode IDF: weight where the count is not 0;  TFIDF: weight times count
 *
 * Strings are refused, n-grams longer than MOST_NUMBERS, and more than MOST_PLACES pairs of an n-gram and a column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-import.h"

#define MOST_NUMBERS 64
#define MOST_PLACES  (1 << 26)

typedef struct
{
  LptInts counts, columns, pool;
} Grams;

/* Do windows of @n numbers in steps of @step hold the @many grams from @first on? [N, windows, many], as numbers */
static LptValue *
matches (LptOnnxNode  *on,
         LptValue     *x,
         const gint64 *first,
         gint64        many,
         gint64        n,
         gint64        step)
{
  g_autofree gint64 *column = g_new (gint64, (gsize) many);
  LptValue *all = NULL;

  for (gint64 j = 0; j < n; j++)
    {
      gint64 left = (n - 1 - j) * step;
      LptValue *part = lpt_onnx_slice (on, x, 1, j * step, left > 0 ? -left : G_MAXINT64);

      for (gint64 g = 0; g < many; g++)
        column[g] = first[g * n + j];
      part = lpt_onnx_emit (on, LPT_OP_EQUAL, 2, lpt_onnx_unsqueeze (on, part, 2),
                            lpt_onnx_i64 (on, (guint) many, column));
      all = all != NULL ? lpt_onnx_emit (on, LPT_OP_LOGICAL_AND, 2, all, part) : part;
    }
  return lpt_onnx_convert (on, all, LPT_DTYPE_F32);
}

/* Counts [N, many] of the grams of @n numbers. */
static LptValue *
count_grams (LptOnnxNode  *on,
             LptValue     *x,
             const gint64 *first,
             gint64        many,
             gint64        n,
             gint64        skips)
{
  const gint64 windows = 1;
  LptValue *sum = NULL;

  for (gint64 step = 1; step <= (n == 1 ? 1 : 1 + skips) && on->error == NULL; step++)
    {
      LptValue *part = lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, matches (on, x, first, many, n, step),
                                        lpt_onnx_i64 (on, 1, &windows), FALSE);

      sum = sum != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, part) : part;
    }
  return sum;
}

/* @counts [N, grams] in their columns [N, width]; grams from number @from on. */
static LptValue *
place (LptOnnxNode *on,
       LptValue    *counts,
       const Grams *grams,
       gint64       from,
       gint64       many,
       gint64       width)
{
  LptShape shape = { .rank = 2, .dims = { many, width } };
  g_autofree float *ones = NULL;

  if (many > MOST_PLACES / width)
    {
      lpt_onnx_unsupported (on, "%" G_GINT64_FORMAT " n-grams in %" G_GINT64_FORMAT " columns", many, width);
      return counts;
    }
  ones = g_new0 (float, (gsize) (many * width));
  for (gint64 g = 0; g < many; g++)
    ones[g * width + grams->columns.v[from + g]] = 1;
  return lpt_onnx_emit (on, LPT_OP_MATMUL, 2, counts,
                        lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, ones, NULL)));
}

/* Checks the lists; how wide the result is, 0 + error. */
static gint64
read_grams (LptOnnxNode *on,
            Grams       *grams)
{
  gint64 width = 0;

  if (!lpt_onnx_ints (on, "ngram_counts", &grams->counts) || !lpt_onnx_ints (on, "ngram_indexes", &grams->columns))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "has no ngram_counts or ngram_indexes");
  if (on->error == NULL && !lpt_onnx_ints (on, "pool_int64s", &grams->pool))
    lpt_onnx_unsupported (on, "n-grams of strings");
  for (guint i = 0; i < grams->columns.n && on->error == NULL; i++)
    if (grams->columns.v[i] < 0 || grams->columns.v[i] > G_MAXUINT16)
      lpt_onnx_unsupported (on, "column %" G_GINT64_FORMAT, grams->columns.v[i]);
    else
      width = MAX (width, grams->columns.v[i] + 1);
  if (on->error == NULL && width == 0)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "ngram_indexes is empty");
  return on->error == NULL ? width : 0;
}

/* The sum over all lengths of n-grams, [N, width]. */
static LptValue *
count_all (LptOnnxNode *on,
           LptValue    *x,
           const Grams *grams,
           gint64       width)
{
  gint64 low = lpt_onnx_int (on, "min_gram_length", 1), high = lpt_onnx_int (on, "max_gram_length", 1), gram = 0;
  gint64 skips = lpt_onnx_int (on, "max_skip_count", 0);
  LptValue *sum = NULL;

  if (low < 1 || high < low || high > MOST_NUMBERS || skips < 0 || skips > MOST_NUMBERS || grams->counts.n < high)
    lpt_onnx_fail (on, LPT_ERROR_INVALID,
                   "n-grams of %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " numbers with %u counts", low, high,
                   grams->counts.n);
  for (gint64 n = 1; n <= grams->counts.n && on->error == NULL; n++)
    {
      gint64 from = grams->counts.v[n - 1], to = n < grams->counts.n ? grams->counts.v[n] : grams->pool.n;
      gint64 many = (to - from) / n;

      if (from < 0 || to < from || to > grams->pool.n || (to - from) % n != 0 || gram + many > grams->columns.n)
        {
          lpt_onnx_fail (on, LPT_ERROR_INVALID, "ngram_counts do not fit the pool");
          return NULL;
        }
      if (n >= low && n <= high && many > 0)
        {
          LptValue *part = count_grams (on, x, grams->pool.v + from, many, n, skips);

          part = place (on, part, grams, gram, many, width);
          sum = sum != NULL ? lpt_onnx_emit (on, LPT_OP_ADD, 2, sum, part) : part;
        }
      gram += many;
    }
  if (on->error == NULL && sum == NULL)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "no n-grams of these lengths");
  return sum;
}

/* A vector of a weight for each column, 1 where none are given. */
static LptValue *
weights_of (LptOnnxNode *on,
            const Grams *grams,
            gint64       width)
{
  const Onnx__AttributeProto *attr = lpt_onnx_attr (on, "weights", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  LptShape shape = { .rank = 1, .dims = { width } };
  g_autofree float *weights = g_new (float, (gsize) width);

  if (attr != NULL && attr->n_floats != grams->columns.n)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " weights for %u n-grams", attr->n_floats,
                   grams->columns.n);
  for (gint64 i = 0; i < width; i++)
    weights[i] = 1;
  for (guint g = 0; attr != NULL && g < grams->columns.n && on->error == NULL; g++)
    weights[grams->columns.v[g]] = attr->floats[g];
  return lpt_onnx_tensor_value (on, lpt_tensor_from_f32 (&shape, weights, NULL));
}

void
lpt_onnx_map_tf_idf (LptOnnxNode *on)
{
  static const LptOnnxChoice modes[] = { { "TF", 0 }, { "IDF", 1 }, { "TFIDF", 2 } };
  int mode = lpt_onnx_choose (on, "mode", "", modes, G_N_ELEMENTS (modes));
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_in (on, 0), LPT_DTYPE_I64), *y = NULL, *weights;
  gint rank = lpt_onnx_rank (on, x);
  Grams grams = { 0 };
  gint64 width = read_grams (on, &grams);

  if (on->error == NULL && rank != 1 && rank != 2)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "input of rank %d", rank);
  if (on->error == NULL)
    y = count_all (on, rank == 1 ? lpt_onnx_unsqueeze (on, x, 0) : x, &grams, width);
  weights = on->error == NULL && mode > 0 ? weights_of (on, &grams, width) : NULL;
  if (on->error == NULL && mode == 1)
    y = lpt_onnx_emit (on, LPT_OP_MINIMUM, 2, y, lpt_onnx_like (on, y, 1));
  if (on->error == NULL && mode > 0)
    y = lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, y, weights);
  if (on->error == NULL)
    lpt_onnx_set (on, 0, rank == 1 ? lpt_onnx_squeeze (on, y, 0) : y);
  lpt_ints_clear (&grams.counts);
  lpt_ints_clear (&grams.columns);
  lpt_ints_clear (&grams.pool);
}
