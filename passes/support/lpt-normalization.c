/* lpt-normalization.c - what becomes of sign and eps when a scale leaves a normalization
 *
 * x s / sqrt (s^2 v + eps) = sign (s) x / sqrt (v + eps / s^2), and x s / (|s| d + eps) = sign (s) x / (d + eps / |s|).
 * Several scales ask for several eps, of which an operation has one. They may become one where the data is integers:
 * then v is 0, and all x - mean with it, or at least (n - 1) / n^2, and eps shows in no digit when it is far below.
 *
 * A target that keeps eps computes x / sqrt (v + eps), which is the normalization of x sign (s) and not that of x s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <float.h>
#include <math.h>

#include "passes/core/lpt-rewriter.h"
#include "passes/support/lpt-normalization.h"

/* The part of a rewrite that a target with this key asks for: it is not what the model computes. */
static const LptPass keeps_eps = {
  .name      = "normalization-keeps-eps",
  .doc       = "Leave the signs of a scale in front of a normalization",
  .stage     = LPT_STAGE_PROPAGATE,
  .exactness = LPT_DEPARTS,
};

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

void
lpt_normalization_keep_eps (LptRewriter *rw,
                            LptNode     *node,
                            double       eps,
                            LptDequant  *dq)
{
  LptTensor *scale = lpt_dequant_scale (dq);
  LptNode *old = dq->multiply, *fresh;
  g_autoptr (LptTensor) signs = lpt_normalization_signs (scale);
  g_autofree char *name = NULL;
  LptValue *in[2];

  if (!lpt_rewriter_config (rw)->normalization_keeps_eps || eps == 0 || signs == NULL ||
      lpt_tensor_equal (signs, scale))
    return;
  name = g_strconcat (node->name, "/Signs", NULL);
  in[0] = lpt_node_in (old, 0);
  in[1] = lpt_rewriter_const (rw, name, g_steal_pointer (&signs));
  fresh = lpt_layer_clone (rw, old, 2, in, old->out[0].dtype);
  lpt_node_set_input (node, 0, &fresh->out[0]);
  lpt_rewriter_drop_unused (rw, old);
  lpt_layer_find (rw, node, 0, dq);
  lpt_rewriter_step (rw, &keeps_eps, node);
}
