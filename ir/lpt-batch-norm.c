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

/* One number for each of @n channels (g_free), or NULL. */
static double *
read_parameter (LptNode *norm,
                guint    at,
                gint64   n)
{
  LptTensor *tensor = lpt_node_const_in (norm, at);

  return tensor != NULL && lpt_tensor_count (tensor) == n ? lpt_tensor_to_f64 (tensor, NULL) : NULL;
}

LptValue *
lpt_batch_norm_line (LptNode    *norm,
                     LptTensor **factor,
                     LptTensor **term)
{
  const LptShape *shape = &norm->out[0].shape;
  const gint64 n = shape->rank >= 2 ? shape->dims[1] : -1;
  guint at[N_PARAMETERS];
  LptValue *x = lpt_node_in (norm, find_inputs (norm, at));
  g_autofree double *gamma = read_parameter (norm, at[GAMMA], n), *beta = read_parameter (norm, at[BETA], n);
  g_autofree double *mean = read_parameter (norm, at[MEAN], n), *variance = read_parameter (norm, at[VARIANCE], n);
  gint64 dims[LPT_MAX_RANK] = { n };
  LptShape own;
  gint64 c;
  gint i;

  *factor = *term = NULL;
  if (n < 1 || gamma == NULL || beta == NULL || mean == NULL || variance == NULL)
    return NULL;
  for (c = 0; c < n; c++)
    {
      gamma[c] /= sqrt (variance[c] + LPT_ATTRS (norm, LptBatchNormAttrs)->epsilon);
      beta[c] -= gamma[c] * mean[c];
    }
  for (i = 1; i < shape->rank - 1; i++)
    dims[i] = 1;
  own = lpt_shape_make (shape->rank - 1, dims);
  *factor = lpt_tensor_from_f64 (norm->out[0].dtype, &own, gamma, NULL);
  *term = lpt_tensor_from_f64 (norm->out[0].dtype, &own, beta, NULL);
  if (*factor != NULL && *term != NULL)
    return x;
  g_clear_pointer (factor, lpt_tensor_unref);
  g_clear_pointer (term, lpt_tensor_unref);

  return NULL;
}
