/* lpt-batch-norm.c - a batch normalization with constants as a line for each channel
 *
 *     gamma (x - mean) / sqrt (variance + eps) + beta  =  x factor + term
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-tensor.h>

#include "ir/lpt-batch-norm.h"

enum { GAMMA, BETA, MEAN, VARIANCE, N_PARAMETERS };

/* The places of the data and of the parameters: the oldest version has the data third. */
static guint
find_inputs (const LptNode *norm,
             guint          at[N_PARAMETERS])
{
  const guint data = lpt_op_version (norm->info, norm->opset) == 1 ? 2 : 0;
  guint i, n = 0;

  for (i = 0; n < N_PARAMETERS; i++)
    if (i != data)
      at[n++] = i;

  return data;
}

/* As many numbers as there are channels (g_free), the first time their number; NULL: they are not constant. */
static double *
read_parameter (LptNode *norm,
                guint    at,
                gint64  *n)
{
  LptTensor *tensor = lpt_node_const_in (norm, at);
  const gint64 count = tensor != NULL ? lpt_tensor_count (tensor) : 0;

  if (count < 1 || (*n >= 0 && *n != count))
    return NULL;
  *n = count;

  return lpt_tensor_to_f64 (tensor, NULL);
}

gint64
lpt_batch_norm_numbers (LptNode  *norm,
                        double  **factor,
                        double  **term)
{
  gint64 n = -1, c;
  guint at[N_PARAMETERS];
  g_autofree double *gamma = NULL, *beta = NULL, *mean = NULL, *variance = NULL;

  find_inputs (norm, at);
  *factor = *term = NULL;
  if ((gamma = read_parameter (norm, at[GAMMA], &n)) == NULL || (beta = read_parameter (norm, at[BETA], &n)) == NULL ||
      (mean = read_parameter (norm, at[MEAN], &n)) == NULL ||
      (variance = read_parameter (norm, at[VARIANCE], &n)) == NULL)
    return -1;
  for (c = 0; c < n; c++)
    {
      gamma[c] /= sqrt (variance[c] + LPT_ATTRS (norm, LptBatchNormAttrs)->epsilon);
      beta[c] -= gamma[c] * mean[c];
    }
  *factor = g_steal_pointer (&gamma);
  *term = g_steal_pointer (&beta);

  return n;
}

LptValue *
lpt_batch_norm_line (LptNode    *norm,
                     LptDType    dtype,
                     LptTensor **factor,
                     LptTensor **term)
{
  const LptShape *shape = &norm->out[0].shape;
  g_autofree double *factors = NULL, *terms = NULL;
  const gint64 n = lpt_batch_norm_numbers (norm, &factors, &terms);
  gint64 dims[LPT_MAX_RANK] = { n };
  guint at[N_PARAMETERS];
  LptShape own;
  gint i;

  *factor = *term = NULL;
  if (n < 1 || shape->rank < 2 || shape->dims[1] != n)
    return NULL;
  for (i = 1; i < shape->rank - 1; i++)
    dims[i] = 1;
  own = lpt_shape_make (shape->rank - 1, dims);
  *factor = lpt_tensor_from_f64 (dtype, &own, factors, NULL);
  *term = lpt_tensor_from_f64 (dtype, &own, terms, NULL);
  if (*factor != NULL && *term != NULL)
    return lpt_node_in (norm, find_inputs (norm, at));
  g_clear_pointer (factor, lpt_tensor_unref);
  g_clear_pointer (term, lpt_tensor_unref);

  return NULL;
}
