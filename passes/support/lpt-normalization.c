/* lpt-normalization.c - what becomes of sign and eps when a scale leaves a normalization
 *
 * x s / sqrt (s^2 v + eps) = sign (s) x / sqrt (v + eps / s^2), and x s / (|s| d + eps) = sign (s) x / (d + eps / |s|).
 * Several scales ask for several eps, of which an operation has one. They may become one where the data is integers:
 * then v is 0, and all x - mean with it, or at least (n - 1) / n^2, and eps shows in no digit when it is far below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>

#include "passes/support/lpt-normalization.h"

LptTensor *
lpt_normalization_signs (LptTensor *scale)
{
  g_autofree double *v = lpt_tensor_to_f64 (scale, NULL);
  gint64 i;

  for (i = 0; v != NULL && i < lpt_tensor_count (scale); i++)
    v[i] = v[i] < 0 ? -1 : v[i] > 0 ? 1 : 0;

  return v != NULL ? lpt_tensor_from_f64 (lpt_tensor_dtype (scale), lpt_tensor_shape (scale), v, NULL) : NULL;
}

const char *
lpt_normalization_eps (LptRewriter      *rw,
                       const LptDequant *dq,
                       gboolean          squared,
                       double            n,
                       double           *eps)
{
  LptTensor *scale = lpt_dequant_scale (dq);
  double least = G_MAXDOUBLE, greatest = 0, high, low, shown;
  gint64 i;

  if (lpt_rewriter_config (rw)->normalization_keeps_eps || *eps == 0)
    return NULL;
  if (lpt_dequant_has_zero_scale (dq))
    return "a scale is zero or denormal";
  for (i = 0; i < lpt_tensor_count (scale); i++)
    {
      double s = fabs (lpt_tensor_get_f64 (scale, i));

      least = MIN (least, s);
      greatest = MAX (greatest, s);
    }
  high = *eps / (squared ? least * least : least);
  low = *eps / (squared ? greatest * greatest : greatest);
  if (!(high <= FLT_MAX && low >= FLT_MIN))
    return "eps would leave the range of float32";
  if (least < greatest)
    {
      if (!lpt_dequant_is_low (dq) || n < 1)
        return "its scales differ, and eps with them";
      /* Half of what separates them, held against the least variance or deviation; of one number it is always 0. */
      shown = (high - low) / 2 * (squared ? n * n / (n - 1) / 2 : n / sqrt (n - 1));
      if (n > 1 && !(shown <= FLT_EPSILON / 2))
        return "its scales differ, and eps with them";
    }
  *eps = (low + high) / 2;

  return NULL;
}
