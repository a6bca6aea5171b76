/* weight-only-window.c - convolutions of real data with weights of 8 bits run on integers
 *
 *     Convolution (x, weights)  =>  Convolution (codes, weights' codes, zero) * (scale * scales of the weights)
 *                                 + Convolution (rest, weights' codes) * (scale / 256 * scales of the weights)
 *     codes, scale, zero = DynamicQuantize (x),  rest = DynamicRest (x, codes, scale, zero)
 *
 * One interval for all of the data, found when it is there: from its least to its largest number, or around 0 where
 * the target takes signed data alone. The sum of a window has one scale then, and the weights one per channel of the
 * output, so that both leave it as one factor. 8 bits of one interval are too few beside weights that were rounded
 * alone (networks lost 3 to 8 dB), so the data has 16, as two codes; with the configuration's `dynamic` it is asked for
 * speed, and has the first alone.
 * Rounds: the data, to 16 or to 8 bits. Several ops that read the same data share its codes. Weights whose scales
 * change inside a channel, or whose zero points are no integers, stay real, as do those of other than 8 bits.
 *
 * Data that is rounded at run time already, an image at a time, has the codes of that (rounded-products.c).
 *
 * Golden tests: tests/golden/weight-only/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-weighted.h"
#include "ir/scalar/lpt-loop.h"
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

/* @unit times the scales of the weights in front of the window's axes: [n, 1, 1] for two (transfer full). */
static LptTensor *
scales_of (const LptWeightCodes *w,
           gint                  n_spatial,
           float                 unit)
{
  const float *from = lpt_tensor_data (w->scale);
  gint64 dims[LPT_MAX_RANK] = { w->n };
  LptTensor *scales;
  LptShape shape;
  float *to;

  for (gint i = 1; i <= n_spatial; i++)
    dims[i] = 1;
  shape = lpt_shape_make (n_spatial + 1, dims);
  scales = lpt_tensor_new (LPT_DTYPE_F32, &shape, NULL);
  if (scales == NULL)
    return NULL;
  to = lpt_tensor_writable (scales);
  for (gint64 i = 0; i < w->n; i++)
    to[i] = unit * from[i];

  return scales;
}

static LptValue *
emit (LptWeightOnly *u,
      LptOp          op,
      const char    *name,
      LptValue      *a,
      LptValue      *b)
{
  LptValue *in[2] = { a, b };
  LptNode *node = lpt_graph_add (lpt_rewriter_graph (u->rw), op, 0, name, b != NULL ? 2 : 1, in);

  return lpt_node_out (lpt_rewriter_infer (u->rw, node));
}

/* The codes of what @data, the codes of @x, leave of it, once for each. NULL: a restriction speaks of them, as of an op
 * whose name the pattern of another meets; @reader says so. */
static LptNode *
rest_of (LptWeightOnly *u,
         LptNode       *reader,
         LptValue      *x,
         LptNode       *data)
{
  g_autofree char *key = g_strdup_printf ("rest of %p", (gpointer) data);
  g_autofree char *name = g_strconcat (x->producer->name, "/rest", NULL);
  const gboolean symmetric = LPT_ATTRS (data, LptDynamicQuantizeAttrs)->symmetric;
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, symmetric ? 0 : 128);
  LptValue *in[4] = { x, &data->out[0], &data->out[1], &data->out[2] };
  LptNode *node = g_hash_table_lookup (u->codes, key);

  if (node != NULL)
    return node;
  node = lpt_graph_add (lpt_rewriter_graph (u->rw), LPT_OP_DYNAMIC_REST, 0, name, symmetric ? 3 : 4, in);
  lpt_value_set_quant (&node->out[0], unit);
  lpt_rewriter_infer (u->rw, node);
  if (!lpt_weight_only_keeps (u, reader, node))
    return NULL;
  g_hash_table_insert (u->codes, g_steal_pointer (&key), node);

  return node;
}

/* Codes of the data: their scale; their zero point, or NULL: that of their quantization. */
typedef struct
{
  LptValue *codes, *scale, *zero;
} Data;

/* @node on the codes @data and @weights: its sums as real numbers, times the scale of @data and @scales. */
static LptValue *
product_of (LptWeightOnly *u,
            LptNode       *node,
            const Data    *data,
            LptValue      *weights,
            LptValue      *scales,
            const char    *part)
{
  g_autoptr (LptQuant) unit = lpt_quant_new_one (1, 0);
  g_autofree char *own = g_strconcat (node->name, part, NULL), *name = g_strconcat (own, "/sum", NULL);
  g_autofree char *real = g_strconcat (name, "/real", NULL), *factor = g_strconcat (own, "/factor", NULL);
  LptWeightedView view;
  LptValue *in[5] = { data->codes, weights, NULL, NULL, NULL };
  guint n_in = node->n_in;
  LptNode *sum;

  lpt_weighted_view (node, &view);
  if (n_in > 2)
    in[2] = lpt_node_in (node, 2);       /* the shape of what a transposed one writes */
  if (data->zero != NULL)
    {
      in[view.zero] = data->zero;
      n_in = view.zero + 1;
    }
  sum = lpt_node_clone (node, name, n_in, in);
  sum->flags |= LPT_NODE_RELAXED;
  for (guint i = 0; i < n_in; i++)
    sum->in[i].compute = LPT_DTYPE_UNDEFINED;
  sum->out[0].dtype = LPT_DTYPE_I32;
  lpt_value_set_quant (&sum->out[0], unit);
  lpt_rewriter_fate (u->rw, sum, "runs on integers");

  return emit (u, LPT_OP_MULTIPLY, own, emit (u, LPT_OP_DEQUANTIZE, real, &sum->out[0], NULL),
               emit (u, LPT_OP_MULTIPLY, factor, data->scale, scales));
}

/* May @node read 8-bit codes beside the weights @w, of any interval or around 0? FALSE: it says why not. */
static gboolean
is_allowed (LptWeightOnly        *u,
            LptNode              *node,
            const LptWeightCodes *w,
            gboolean             *asymmetric)
{
  const LptConfig *config = lpt_rewriter_config (u->rw);
  g_autofree char *breach = breach_of (config, node, LPT_DTYPE_U8, w), *again = NULL;

  *asymmetric = breach == NULL;
  if (breach == NULL || (again = breach_of (config, node, LPT_DTYPE_I8, w)) == NULL)
    return TRUE;

  return lpt_rewriter_decline (u->rw, node, "%s", breach);
}

/* Is it rounded at run time, an image at a time, and may @node read such codes beside the weights @w? */
static gboolean
reads_rounded (LptWeightOnly        *u,
               LptNode              *node,
               LptNode              *source,
               const LptWeightCodes *w)
{
  const LptDynamicFakeQuantizeAttrs *attrs = LPT_ATTRS (source, LptDynamicFakeQuantizeAttrs);
  const LptConfig *config = lpt_rewriter_config (u->rw);
  g_autofree char *breach = NULL;
  gint axis;

  if (!lpt_axis_normalize (attrs->axis, lpt_node_out (source)->shape.rank, &axis) || axis != 1)
    return FALSE;
  breach = breach_of (config, node, attrs->symmetric ? LPT_DTYPE_I8 : LPT_DTYPE_U8, w);

  return breach == NULL || lpt_config_takes_hybrid (config, node) || lpt_rewriter_decline (u->rw, node, "%s", breach);
}

void
lpt_weight_only_window (LptWeightOnly *u,
                        LptNode       *node)
{
  LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node), *weights, *real;
  LptNode *source = lpt_rounded_source (x);
  g_auto (LptWeightCodes) w = { 0 };
  g_autoptr (LptTensor) scales = NULL, fine = NULL;
  g_autoptr (LptQuant) unit = NULL;
  LptWeightedView view;
  gboolean asymmetric;
  gint first, second;
  LptNode *data, *rest = NULL;

  lpt_weighted_view (node, &view);
  first = view.grouped ? 0 : view.out;
  second = view.grouped ? view.out : -1;
  if ((source == NULL && (u->rounded || u->raised || !lpt_weight_only_takes (x))) || y->dtype != LPT_DTYPE_F32 ||
      y->quant != NULL ||
      !lpt_weight_codes_window (lpt_node_in (node, 1), first, second, &w) ||
      lpt_dtype_bits (lpt_tensor_dtype (w.codes)) != 8)
    return;
  unit = unit_of (&w, channel_axis (&lpt_node_in (node, 1)->shape, first, second));
  scales = scales_of (&w, x->shape.rank - 2, 1);
  fine = scales_of (&w, x->shape.rank - 2, 1 / 256.0f);
  if (unit == NULL || scales == NULL || fine == NULL ||
      !(source != NULL ? reads_rounded (u, node, source, &w) : is_allowed (u, node, &w, &asymmetric)))
    return;
  if (source != NULL)
    {
      data = lpt_rounded_codes (u, source);
      asymmetric = !LPT_ATTRS (data, LptDynamicQuantizeAttrs)->symmetric;
    }
  else
    {
      data = lpt_weight_only_codes (u, x, 0, asymmetric ? LPT_DTYPE_U8 : LPT_DTYPE_I8);
      if (!lpt_rewriter_config (u->rw)->dynamic && (rest = rest_of (u, node, x, data)) == NULL)
        return;
    }
  weights = lpt_weight_only_const (u, node, "/codes", &w.codes);
  lpt_value_set_quant (weights, unit);
  if (source != NULL)
    lpt_rounded_name_weights (weights, lpt_node_in (node, 1));
  real = product_of (u, node, &(Data) { &data->out[0], &data->out[1], asymmetric ? &data->out[2] : NULL }, weights,
                     lpt_weight_only_const (u, node, "/scales", &scales), "");
  if (rest != NULL)
    real = emit (u, LPT_OP_ADD, node->name,
                 product_of (u, node, &(Data) { &rest->out[0], &data->out[1], NULL }, weights,
                             lpt_weight_only_const (u, node, "/rest/scales", &fine), "/rest"),
                 real);
  lpt_node_take_name (real->producer, node, "/real");
  lpt_rewriter_changed (u->rw, real->producer);
  lpt_rewriter_replace (u->rw, y, real, NULL);
}
