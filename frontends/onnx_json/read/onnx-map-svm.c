/* onnx-map-svm.c - ai.onnx.ml: SVMRegressor, SVMClassifier
 *
 * Of a row x and the support vectors v:
 *
 *     k(x, v)      LINEAR x.v, POLY (gamma x.v + coef0)^degree, SIGMOID tanh (gamma x.v + coef0),
 *                  RBF e^(-gamma |x - v|^2)
 *     regressor    sum over v of coefficient[v] k(x, v) + rho; its sign where one_class is set
 *     classifier   d[i,j] = sum over the vectors v of classes i and j of coefficient[v against the other] k(x, v)
 *                  + rho[i,j] for each pair i < j; a vote for i where d > 0, else for j; the label has most votes, the
 *                  first of several
 *
 * The scores of a classifier are the d; of two labels [-d, d], with LOGISTIC [f(-d), f(d)], with SOFTMAX and
 * SOFTMAX_ZERO [1 - d, d], as ONNX Runtime has them. Without support vectors the coefficients are a row for each score
 * (rho is added to all), and of two labels the second wins where the greatest score is above 0, or at least 0.5 where
 * no coefficient is negative. Differences of RBF are taken before they are squared: no digits are lost, and N V F
 * numbers are held.
 *
 * With prob_a a pair's chance is 1 - f(prob_a d + prob_b) within [1e-7, 1 - 1e-7], and the scores are the chances of
 * the classes that follow (PairCoupling).
 *
 * Refused: PROBIT of two labels without prob_a; post_transform of regressors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-ml.h"


typedef enum { LINEAR, POLY, RBF, SIGMOID } Kernel;

/* x [N,F] with the @n rows of @vectors: [N,n] */
static LptValue *
dots (LptOnnxNode *on,
      LptValue    *x,
      gint64       n,
      gsize        count,
      const float *vectors)
{
  LptValue *rows = lpt_onnx_reshape (on, lpt_onnx_ml_vector (on, count, vectors), 2, (gint64[]) { n, -1 });

  return lpt_onnx_product (on, x, rows, TRUE);
}

static LptValue *
distances (LptOnnxNode *on,
           LptValue    *x,
           gint64       n,
           gsize        count,
           const float *vectors)
{
  const gint64 last = -1;
  LptValue *rows = lpt_onnx_reshape (on, lpt_onnx_ml_vector (on, count, vectors), 2, (gint64[]) { n, -1 });
  LptValue *squares = lpt_onnx_emit (on, LPT_OP_SQUARED_DIFFERENCE, 2, lpt_onnx_unsqueeze (on, x, 1), rows);

  return lpt_onnx_reduce (on, LPT_OP_REDUCE_SUM, squares, lpt_onnx_i64 (on, 1, &last), FALSE);
}

/* k(x, v) for the @n support vectors: [N,n] */
static LptValue *
kernels (LptOnnxNode *on,
         LptValue    *x,
         gint64       n)
{
  static const LptOnnxChoice choices[] = { { "LINEAR", LINEAR }, { "POLY", POLY }, { "RBF", RBF },
                                           { "SIGMOID", SIGMOID } };
  const Kernel kernel = (Kernel) lpt_onnx_choose (on, "kernel_type", "LINEAR", choices, G_N_ELEMENTS (choices));
  gsize n_params, count;
  g_autofree float *params = lpt_onnx_ml_floats (on, "kernel_params", &n_params);
  g_autofree float *vectors = lpt_onnx_ml_floats (on, "support_vectors", &count);
  LptValue *k;

  if (on->error != NULL)
    return x;
  if (count == 0 || count % (gsize) n != 0 || (n_params != 3 && (n_params != 0 || kernel != LINEAR)))
    {
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " numbers for %" G_GINT64_FORMAT " support vectors, %"
                     G_GSIZE_FORMAT " kernel_params", count, n, n_params);
      return x;
    }
  if (kernel == RBF)
    return lpt_onnx_emit (on, LPT_OP_EXP, 1,
                          lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, distances (on, x, n, count, vectors), -params[0]));
  k = dots (on, x, n, count, vectors);
  if (kernel == LINEAR)
    return k;
  k = lpt_onnx_ml_with (on, LPT_OP_ADD, lpt_onnx_ml_with (on, LPT_OP_MULTIPLY, k, params[0]), params[1]);
  return kernel == SIGMOID ? lpt_onnx_emit (on, LPT_OP_TANH, 1, k) : lpt_onnx_ml_with (on, LPT_OP_POWER, k, params[2]);
}

/* Attributes of the kernel that a linear model has and does not read. */
static void
ignore_kernel (LptOnnxNode *on)
{
  lpt_onnx_ignore (on, "kernel_type");
  lpt_onnx_ignore (on, "kernel_params");
  lpt_onnx_ignore (on, "support_vectors");
  lpt_onnx_ignore (on, "vectors_per_class");
}

void
lpt_onnx_map_ml_svm_regressor (LptOnnxNode *on)
{
  const gint64 n = lpt_onnx_int (on, "n_supports", 0);
  const gboolean one_class = lpt_onnx_int (on, "one_class", 0) != 0;
  gsize count, n_rho;
  g_autofree float *coefficients = lpt_onnx_ml_floats (on, "coefficients", &count);
  g_autofree float *rho = lpt_onnx_ml_floats (on, "rho", &n_rho);
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_ml_rows (on), LPT_DTYPE_F32);

  if (lpt_onnx_ml_post (on) != LPT_ONNX_POST_NONE)
    lpt_onnx_unsupported (on, "post_transform of an SVMRegressor");
  if (on->error == NULL && (count == 0 || n_rho == 0 || n < 0 || (n > 0 && count != (gsize) n)))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " coefficients for %" G_GINT64_FORMAT " support vectors, %"
                   G_GSIZE_FORMAT " rho", count, n, n_rho);
  if (on->error != NULL)
    return;
  if (n > 0)
    x = kernels (on, x, n);
  else
    ignore_kernel (on);
  x = lpt_onnx_ml_with (on, LPT_OP_ADD, dots (on, x, 1, count, coefficients), rho[0]);
  if (one_class)
    x = lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_ml_with (on, LPT_OP_GREATER, x, 0), lpt_onnx_like (on, x, 1),
                       lpt_onnx_like (on, x, -1));
  lpt_onnx_set (on, 0, x);
}

/* --- classification ------------------------------------------------------------------------ */

typedef struct
{
  LptTensor    *labels;
  gint64        n_classes, n_vectors, n_pairs;
  const gint64 *per_class;
  gsize         n_coefficients, n_rho;
  float        *coefficients, *rho;
  gsize         n_prob;
  float        *prob_a, *prob_b;
  LptOnnxPost   post;
} Svm;

/* The coefficients of each pair as a row over all vectors. */
static float *
pair_rows (LptOnnxNode *on,
           const Svm   *svm)
{
  float *rows = lpt_onnx_memory (on, (gsize) svm->n_pairs * (gsize) svm->n_vectors, sizeof *rows);
  gint64 pair = 0, at_i = 0;

  for (gint64 i = 0; i < svm->n_classes && rows != NULL; at_i += svm->per_class[i++])
    {
      gint64 at_j = at_i + svm->per_class[i];

      for (gint64 j = i + 1; j < svm->n_classes; at_j += svm->per_class[j++], pair++)
        for (gint64 v = 0; v < svm->n_vectors; v++)
          rows[pair * svm->n_vectors + v] =
            v >= at_i && v < at_i + svm->per_class[i] ? svm->coefficients[(j - 1) * svm->n_vectors + v]
            : v >= at_j && v < at_j + svm->per_class[j] ? svm->coefficients[i * svm->n_vectors + v] : 0;
    }

  return rows;
}

/* The votes of pairs for classes: wins @d > 0 times what they give to the first, and the rest to the second. */
static LptValue *
count_votes (LptOnnxNode *on,
             const Svm   *svm,
             LptValue    *d)
{
  const gsize n = (gsize) (svm->n_classes * svm->n_pairs);
  g_autofree float *first = lpt_onnx_memory (on, n, sizeof *first);
  g_autofree float *second = lpt_onnx_memory (on, n, sizeof *second);
  LptValue *wins = lpt_onnx_convert (on, lpt_onnx_ml_with (on, LPT_OP_GREATER, d, 0), LPT_DTYPE_F32);
  gint64 pair = 0;

  if (second == NULL)
    return d;
  for (gsize i = 0; i < n; i++)
    first[i] = second[i] = 0;
  for (gint64 i = 0; i < svm->n_classes; i++)
    for (gint64 j = i + 1; j < svm->n_classes; j++, pair++)
      first[i * svm->n_pairs + pair] = second[j * svm->n_pairs + pair] = 1;

  return lpt_onnx_emit (on, LPT_OP_ADD, 2, dots (on, wins, svm->n_classes, n, first),
                        dots (on, lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, wins, 1), wins),
                              svm->n_classes, n, second));
}

/* Chances of the classes from the scores of pairs. */
static LptValue *
chances (LptOnnxNode *on,
         const Svm   *svm,
         LptValue    *d)
{
  LptValue *a = lpt_onnx_ml_vector (on, svm->n_prob, svm->prob_a);
  LptValue *b = lpt_onnx_ml_vector (on, svm->n_prob, svm->prob_b);
  LptValue *f = lpt_onnx_emit (on, LPT_OP_SIGMOID, 1,
                               lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, d, a), b));
  LptNode *node = lpt_onnx_add (on, LPT_OP_CLAMP, 1,
                                lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, f, 1), f));

  LPT_ATTRS (node, LptClampAttrs)->min = 1e-7;
  LPT_ATTRS (node, LptClampAttrs)->max = 1 - 1e-7;
  return lpt_onnx_emit (on, LPT_OP_PAIR_COUPLING, 1, lpt_onnx_done (on, node));
}

static void
by_pairs (LptOnnxNode *on,
          Svm         *svm)
{
  g_autofree float *rows = pair_rows (on, svm);
  LptValue *d = lpt_onnx_convert (on, lpt_onnx_ml_rows (on), LPT_DTYPE_F32), *pair[2];

  if (rows == NULL)
    return;
  d = dots (on, kernels (on, d, svm->n_vectors), svm->n_pairs, (gsize) (svm->n_pairs * svm->n_vectors), rows);
  d = lpt_onnx_emit (on, LPT_OP_ADD, 2, d, lpt_onnx_ml_vector (on, (gsize) svm->n_pairs, svm->rho));
  lpt_onnx_set (on, 0, lpt_onnx_ml_best (on, count_votes (on, svm, d), svm->labels));
  if (svm->n_prob > 0)
    d = chances (on, svm, d);
  if (svm->n_pairs > 1 || svm->n_prob > 0)
    {
      lpt_onnx_set (on, 1, lpt_onnx_ml_transform (on, d, svm->post));
      return;
    }
  if (svm->post == LPT_ONNX_POST_PROBIT)
    lpt_onnx_unsupported (on, "post_transform \"PROBIT\" of two labels with one score");
  pair[0] = svm->post == LPT_ONNX_POST_NONE || svm->post == LPT_ONNX_POST_LOGISTIC
              ? lpt_onnx_emit (on, LPT_OP_NEGATIVE, 1, d)
              : lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_like (on, d, 1), d);
  pair[1] = d;
  d = lpt_onnx_concat (on, 1, 2, pair);
  lpt_onnx_set (on, 1, svm->post == LPT_ONNX_POST_LOGISTIC ? lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, d) : d);
}

static void
by_rows (LptOnnxNode *on,
         Svm         *svm)
{
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_ml_rows (on), LPT_DTYPE_F32), *scores, *most, *second;
  const gint64 last = -1;
  gboolean negative = FALSE;

  ignore_kernel (on);
  for (gsize i = 0; i < svm->n_coefficients; i++)
    negative |= svm->coefficients[i] < 0;
  scores = lpt_onnx_ml_with (on, LPT_OP_ADD, dots (on, x, svm->n_classes, svm->n_coefficients, svm->coefficients),
                             svm->rho[0]);
  most = scores;
  if (svm->n_classes == 2)
    {
      LptValue *best = lpt_onnx_reduce (on, LPT_OP_REDUCE_MAX, scores, lpt_onnx_i64 (on, 1, &last), TRUE);
      const float first[] = { 0, 1 };

      /* Scores [0, 1] where the second wins anyway. */
      second = lpt_onnx_ml_with (on, negative ? LPT_OP_GREATER : LPT_OP_GREATER_EQUAL, best, negative ? 0 : 0.5);
      most = lpt_onnx_emit (on, LPT_OP_SELECT, 3, second, lpt_onnx_ml_vector (on, 2, first), scores);
    }
  lpt_onnx_set (on, 0, lpt_onnx_ml_best (on, most, svm->labels));
  lpt_onnx_set (on, 1, lpt_onnx_ml_transform (on, scores, svm->post));
}

/* Are there as many of everything as classes and vectors ask for? */
static gboolean
check (LptOnnxNode *on,
       Svm         *svm,
       gsize        n_per_class)
{
  const gsize n = (gsize) svm->n_classes;

  if (n < 2 || n > 1000)
    lpt_onnx_fail (on, n < 2 ? LPT_ERROR_INVALID : LPT_ERROR_UNSUPPORTED, "unsupported: %" G_GSIZE_FORMAT " labels", n);
  for (gsize i = 0; i < n_per_class && on->error == NULL; i++)
    if (svm->per_class[i] < 0 || svm->per_class[i] > G_MAXINT32)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "class %" G_GSIZE_FORMAT " has %" G_GINT64_FORMAT " support vectors", i,
                     svm->per_class[i]);
    else
      svm->n_vectors += svm->per_class[i];
  if (on->error != NULL)
    return FALSE;
  svm->n_pairs = svm->n_classes * (svm->n_classes - 1) / 2;
  if (svm->n_vectors > 0 ? n_per_class != n || svm->n_coefficients != (n - 1) * (gsize) svm->n_vectors ||
      svm->n_rho < (gsize) svm->n_pairs
      : svm->n_coefficients == 0 || svm->n_coefficients % n != 0 || svm->n_rho < 1)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " coefficients and %" G_GSIZE_FORMAT " rho for %"
                   G_GSIZE_FORMAT " labels and %" G_GINT64_FORMAT " support vectors", svm->n_coefficients, svm->n_rho,
                   n, svm->n_vectors);

  return on->error == NULL;
}

void
lpt_onnx_map_ml_svm_classifier (LptOnnxNode *on)
{
  g_autoptr (LptTensor) labels = lpt_onnx_ml_labels (on, "classlabels_ints");
  Svm svm = { .labels = labels, .n_classes = labels != NULL ? lpt_tensor_count (labels) : 0 };
  gsize n_per_class, n_a, n_b;
  g_autofree float *coefficients = lpt_onnx_ml_floats (on, "coefficients", &svm.n_coefficients);
  g_autofree float *rho = lpt_onnx_ml_floats (on, "rho", &svm.n_rho);
  g_autofree float *a = lpt_onnx_ml_floats (on, "prob_a", &n_a), *b = lpt_onnx_ml_floats (on, "prob_b", &n_b);

  svm.coefficients = coefficients;
  svm.rho = rho;
  svm.per_class = lpt_onnx_ml_ints (on, "vectors_per_class", &n_per_class);
  svm.post = lpt_onnx_ml_post (on);
  if (!check (on, &svm, n_per_class))
    return;
  svm.n_prob = n_a;
  svm.prob_a = a;
  svm.prob_b = b;
  if (n_a != n_b || (svm.n_vectors > 0 && n_a != 0 && n_a != (gsize) svm.n_pairs))
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "%" G_GSIZE_FORMAT " prob_a and %" G_GSIZE_FORMAT " prob_b for %"
                   G_GINT64_FORMAT " pairs", n_a, n_b, svm.n_pairs);
  else if (svm.n_vectors > 0)
    by_pairs (on, &svm);
  else
    by_rows (on, &svm);
}
