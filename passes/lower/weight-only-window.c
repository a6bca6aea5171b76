/* weight-only-window.c - convolutions of real data with weights of 8 bits run on integers
 *
 *     Convolution (x, weights)  =>  Convolution (codes, weights' codes, zero) * (scale * scales of the weights)
 *     codes, scale, zero = DynamicQuantize (x)
 *
 * One interval for all of the data, found when it is there: from its least to its largest number, or around 0 where
 * the target takes signed data alone. The sum of a
 * window has one scale then, and the weights one per channel of the output, so that both leave it as one factor.
 * Rounds: the data, to 8 bits. Several ops that read the same data share its codes. Weights whose scales change inside
 * a channel, or whose zero points are no integers, stay real, as do those of other than 8 bits.
 *
 * Golden tests: tests/golden/weight-only/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "passes/lower/weight-codes.h"
#include "passes/lower/weight-only.h"
#include "passes/support/lpt-restricted.h"

/* Does the target take 8-bit data of @dtype beside the weights @w? */
static char *
breach_of (const LptConfig      *config,
           LptNode              *node,
           LptDType              dtype,
           const LptWeightCodes *w)
{
  const LptCode codes[2] = { { lpt_config_final_type (config, dtype), FALSE },
                             { lpt_config_final_type (config, lpt_tensor_dtype (w->codes)), w->n > 1 } };

  return lpt_config_breach (config, node, codes, 2);
}

/* The weights' codes as they count: one unit, and a zero point for each channel along @axis (transfer full); NULL: a
 * zero point is no integer. */
static LptQuant *
unit_of (const LptWeightCodes *w,
         gint                  axis)
{
  const float *zero = lpt_tensor_data (w->zero);
  g_autofree double *scale = g_new (double, w->n);
  g_autofree gint32 *point = g_new (gint32, w->n);
  gboolean same = TRUE;

  for (gint64 i = 0; i < w->n; i++)
    {
      if (zero[i] != rintf (zero[i]) || fabsf (zero[i]) > 255)
        return NULL;
      scale[i] = 1;
      point[i] = (gint32) zero[i];
      same = same && zero[i] == zero[0];
    }

  return same ? lpt_quant_new_one (1, point[0]) : axis >= 0 ? lpt_quant_new (axis, (guint) w->n, scale, point) : NULL;
}

/* The axis of weights of @shape along which all channels of the output lie, or -1: they lie along both. */
static gint
channel_axis (const LptShape *shape,
              gint            first,
              gint            second)
{
  return second < 0 || shape->dims[second] == 1 ? first : shape->dims[first] == 1 ? second : -1;
}

/* Scales of the weights in front of the window's axes: [n, 1, 1] for two (transfer full). */
static LptTensor *
scales_of (const LptWeightCodes *w,
           gint                  n_spatial)
{
  gint64 dims[LPT_MAX_RANK] = { w->n };
  LptShape shape;

  for (gint i = 1; i <= n_spatial; i++)
    dims[i] = 1;
  shape = lpt_shape_make (n_spatial + 1, dims);

  return lpt_tensor_reshape (w->scale, &shape, NULL);
}

static LptValue *
multiply (LptWeightOnly *u,
          const char    *name,
          LptValue      *a,
          LptValue      *b)
{
  LptValue *in[2] = { a, b };
  LptNode *node = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_MULTIPLY, 0, name, 2, in);

  return lpt_node_out (lpt_rewriter_infer (u->rw, node));
}

/* The sums of @node on codes, as real numbers. */
static LptValue *
sum_of (LptWeightOnly  *u,
        LptNode        *node,
        LptNode        *data,
        LptWeightCodes *w,
        LptQuant       *weights)
{
  const gboolean computed = !LPT_ATTRS (data, LptDynamicQuantizeAttrs)->symmetric;
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  g_autofree char *name = g_strconcat (node->name, "/sum", NULL), *real = g_strconcat (name, "/real", NULL);
  const guint zero = node->info->flags & LPT_OP_F_TRANSPOSED ? 4 : 3;
  LptValue *in[5] = { &data->out[0], lpt_weight_only_const (u, node, "/codes", &w->codes), NULL, NULL, NULL };
  guint n_in = node->n_in;
  LptNode *sum, *dequantize;

  lpt_value_set_quant (in[1], weights);
  if (n_in > 2)
    in[2] = lpt_node_in (node, 2);       /* the shape of what a transposed one writes */
  if (computed)
    {
      in[zero] = &data->out[2];
      n_in = zero + 1;
    }
  sum = lpt_node_clone (node, name, n_in, in);
  sum->flags |= LPT_NODE_RELAXED;
  for (guint i = 0; i < n_in; i++)
    sum->in[i].compute = LPT_DTYPE_UNDEFINED;
  sum->out[0].dtype = LPT_DTYPE_I32;
  lpt_value_set_quant (&sum->out[0], unit);
  lpt_rewriter_fate (u->rw, sum, "runs on integers");
  dequantize = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_DEQUANTIZE, 0, real, 1,
                              (LptValue *[]) { &sum->out[0] });

  return lpt_node_out (lpt_rewriter_infer (u->rw, dequantize));
}

void
lpt_weight_only_window (LptWeightOnly *u,
                        LptNode       *node)
{
  const LptConfig *config = lpt_rewriter_config (u->rw);
  const gboolean grouped = (node->info->flags & LPT_OP_F_GROUPED) != 0,
                 transposed = (node->info->flags & LPT_OP_F_TRANSPOSED) != 0;
  const gint first = !grouped && transposed ? 1 : 0, second = !grouped ? -1 : transposed ? 2 : 1;
  LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node);
  g_auto (LptWeightCodes) w = { 0 };
  g_autoptr (LptQuant) weights = NULL;
  g_autofree char *breach = NULL, *factor = g_strconcat (node->name, "/factor", NULL);
  g_autoptr (LptTensor) scales = NULL;
  gboolean asymmetric = TRUE;
  LptNode *data;
  LptValue *real;

  if (!lpt_weight_only_takes (x) || y->dtype != LPT_DTYPE_F32 || y->quant != NULL ||
      !lpt_weight_codes_window (lpt_node_in (node, 1), first, second, &w) ||
      lpt_dtype_bits (lpt_tensor_dtype (w.codes)) != 8)
    return;
  weights = unit_of (&w, channel_axis (&lpt_node_in (node, 1)->shape, first, second));
  scales = scales_of (&w, x->shape.rank - 2);
  if (weights == NULL || scales == NULL)
    return;
  breach = breach_of (config, node, LPT_DTYPE_U8, &w);
  if (breach != NULL)
    {
      g_autofree char *again = breach_of (config, node, LPT_DTYPE_I8, &w);

      asymmetric = FALSE;
      if (again == NULL)
        g_clear_pointer (&breach, g_free);
    }
  if (breach != NULL)
    {
      lpt_rewriter_decline (u->rw, node, "%s", breach);
      return;
    }
  data = lpt_weight_only_codes (u, x, 0, asymmetric);
  real = sum_of (u, node, data, &w, weights);
  real = multiply (u, node->name, real,
                   multiply (u, factor, &data->out[1], lpt_weight_only_const (u, node, "/scales", &scales)));
  lpt_node_take_name (real->producer, node, "/real");
  lpt_rewriter_changed (u->rw, real->producer);
  lpt_rewriter_replace (u->rw, y, real, NULL);
}
