/* fit-accumulators.c - ops of a lowered graph that have no integers on the target compute on real values
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>

#include "passes/lower/fit.h"

/* Real values in place of integer ones that are about to go. */
typedef struct
{
  LptRewriter *rw;
  LptGraph    *graph;
  GHashTable  *real;      /* LptValue * -> LptValue * */
} Unlower;

static gboolean
is_per_channel (const LptValue *value)
{
  return value != NULL && value->quant != NULL && value->quant->n > 1 && value->producer->data == NULL;
}

static gboolean
is_accumulator (const LptValue *value)
{
  return value != NULL && value->quant != NULL && value->producer->data == NULL
         && (value->dtype == LPT_DTYPE_I32 || value->quant->n > 1);
}

static LptValue *
real_of (Unlower  *u,
         LptValue *value)
{
  LptValue *real;

  if (value == NULL || value->quant == NULL)
    return value;
  real = g_hash_table_lookup (u->real, value);
  if (real == NULL)
    {
      real = lpt_fit_convert (u->graph, LPT_OP_DEQUANTIZE, value, LPT_DTYPE_F32, NULL);
      g_hash_table_insert (u->real, value, real);
    }

  return real;
}

static LptValue *
real_binary (LptGraph *graph,
             LptOp     op,
             LptValue *a,
             LptValue *b)
{
  LptNode *node = lpt_graph_add (graph, op, 0, NULL, 2, (LptValue *[]) { a, b });

  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = a->shape;

  return lpt_node_out (node);
}

/* What sums and products add in steps of their output, as a real constant. */
static LptValue *
add_shift (Unlower         *u,
           LptValue        *real,
           const LptValue  *y,
           const LptFloats *shift)
{
  LptShape shape = LPT_SHAPE_SCALAR;
  g_autofree double *values = NULL;
  g_autoptr (LptTensor) tensor = NULL;

  if (shift->n == 0)
    return real;
  values = g_new (double, shift->n);
  for (guint c = 0; c < shift->n; c++)
    values[c] = shift->v[c] * y->quant->scale[y->quant->n == 1 ? 0 : c];
  if (shift->n > 1)
    {
      shape = y->shape;
      for (gint a = 0; a < shape.rank; a++)
        shape.dims[a] = a == y->quant->axis ? shift->n : 1;
    }
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);

  return real_binary (u->graph, LPT_OP_ADD, real, lpt_node_out (lpt_graph_add_const (u->graph, NULL, tensor)));
}

/* A constant with one value per channel of @like. */
static LptValue *
channel_constant (LptGraph       *graph,
                  const LptValue *like,
                  gint            axis,
                  guint           n,
                  const double   *values)
{
  LptShape shape = like->shape;
  g_autoptr (LptTensor) tensor = NULL;

  for (gint a = 0; a < shape.rank; a++)
    shape.dims[a] = a == axis ? n : 1;
  tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);

  return lpt_node_out (lpt_graph_add_const (graph, NULL, tensor));
}

/* The real values that the codes of @codes can have. */
static LptValue *
fake_quantized (Unlower        *u,
                LptValue       *real,
                const LptValue *codes)
{
  const LptQuant *q = codes->quant;
  const double lo = lpt_dtype_min (codes->dtype), hi = lpt_dtype_max (codes->dtype);
  g_autofree double *low = g_new (double, q->n), *high = g_new (double, q->n);
  LptValue *l, *h;
  LptNode *node;

  for (guint c = 0; c < q->n; c++)
    {
      low[c] = q->scale[c] * (lo - q->zero_point[c]);
      high[c] = q->scale[c] * (hi - q->zero_point[c]);
    }
  l = channel_constant (u->graph, codes, q->axis, q->n, low);
  h = channel_constant (u->graph, codes, q->axis, q->n, high);
  node = lpt_graph_add (u->graph, LPT_OP_FAKE_QUANTIZE, 0, NULL, 5, (LptValue *[]) { real, l, h, l, h });
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) (hi - lo) + 1;
  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = codes->shape;

  return lpt_node_out (node);
}

/* The same codes, other parameters: x sB / sA + sB (zA - zB). */
static LptValue *
reinterpreted (Unlower        *u,
               LptValue       *real,
               const LptValue *from,
               const LptValue *to)
{
  const LptQuant *a = from->quant, *b = to->quant;
  const LptQuant *wider = b->n > 1 ? b : a;
  const guint n = MAX (a->n, b->n);
  g_autofree double *ratio = g_new (double, n), *offset = g_new (double, n);

  for (guint c = 0; c < n; c++)
    {
      const guint i = a->n == 1 ? 0 : c, k = b->n == 1 ? 0 : c;

      ratio[c] = b->scale[k] / a->scale[i];
      offset[c] = b->scale[k] * (a->zero_point[i] - b->zero_point[k]);
    }
  real = real_binary (u->graph, LPT_OP_MULTIPLY, real, channel_constant (u->graph, to, wider->axis, n, ratio));

  return real_binary (u->graph, LPT_OP_ADD, real, channel_constant (u->graph, to, wider->axis, n, offset));
}

/* (b + rest) * scale: the bias as lowering had it. */
static LptValue *
real_bias (Unlower  *u,
           LptNode  *node,
           guint     port,
           LptValue *otherwise)
{
  const LptFloats *rest = lpt_node_bias_rest (node);
  LptTensor *data = lpt_node_const_in (node, port);
  const LptQuant *quant = data != NULL ? lpt_node_in (node, port)->quant : NULL;
  g_autoptr (LptTensor) real = NULL;
  g_autofree double *values = NULL;
  gint64 n;

  if (quant == NULL || rest == NULL || rest->n == 0)
    return otherwise;
  n = lpt_tensor_count (data);
  values = g_new (double, n + 1);
  for (gint64 c = 0; c < n; c++)
    values[c] = ((double) lpt_tensor_get_i64 (data, c) + rest->v[rest->n == 1 ? 0 : MIN (c, rest->n - 1)])
                * quant->scale[quant->n == 1 ? 0 : MIN (c, quant->n - 1)];
  real = lpt_tensor_from_f64 (LPT_DTYPE_F32, lpt_tensor_shape (data), values, NULL);

  return lpt_node_out (lpt_graph_add_const (u->graph, NULL, real));
}

/* The node on real values; 8-bit outputs are quantized as they were. */
static void
unlower (Unlower *u,
         LptNode *node)
{
  g_autofree LptValue **in = g_new (LptValue *, MAX (node->n_in, 1));
  LptNode *real;

  for (guint k = 0; k < node->n_in; k++)
    in[k] = real_of (u, lpt_node_in (node, k));
  for (guint k = 2; k < node->n_in; k++)
    in[k] = real_bias (u, node, k, in[k]);

  if (node->op == LPT_OP_DEQUANTIZE || node->op == LPT_OP_REQUANTIZE)
    {
      LptValue *y = lpt_node_out (node);

      if (node->op == LPT_OP_DEQUANTIZE)
        lpt_value_replace (y, in[0], NULL);
      else if (is_per_channel (y))
        g_hash_table_insert (u->real, y, fake_quantized (u, in[0], y));
      else
        lpt_value_replace (y, lpt_fit_convert (u->graph, LPT_OP_QUANTIZE, in[0], y->dtype, y->quant), NULL);
      return;
    }
  if (node->op == LPT_OP_REINTERPRET)
    {
      LptValue *x = lpt_node_in (node, 0), *y = lpt_node_out (node), *seen;

      if (x->quant == NULL)
        {
          /* Codes that had no parameters are numbers. */
          g_autoptr (LptQuant) number = lpt_quant_new_one (1, 0);

          x = lpt_fit_convert (u->graph, LPT_OP_REINTERPRET, x, x->dtype, number);
        }
      seen = reinterpreted (u, real_of (u, x), x, y);
      g_hash_table_insert (u->real, y, seen);
      if (!is_accumulator (y))
        lpt_value_replace (y, lpt_fit_convert (u->graph, LPT_OP_QUANTIZE, seen, y->dtype, y->quant), NULL);
      return;
    }
  if (node->op == LPT_OP_QUANTIZE)
    {
      g_hash_table_insert (u->real, lpt_node_out (node), fake_quantized (u, in[0], lpt_node_out (node)));
      return;
    }

  real = lpt_node_clone (node, node->name, node->n_in, in);
  lpt_rewriter_fate (u->rw, real, LPT_DTYPE_F32, "the target has no integers for what it reads or writes");
  real->flags &= ~(guint32) LPT_NODE_RELAXED;
  for (guint k = 0; k < real->n_in; k++)
    real->in[k].compute = LPT_DTYPE_UNDEFINED;
  if (node->op == LPT_OP_ADD || node->op == LPT_OP_SUBTRACT || node->op == LPT_OP_MULTIPLY)
    lpt_floats_clear (&LPT_ATTRS (real, LptBinaryAttrs)->shift);
  if (lpt_node_bias_rest (real) != NULL)
    lpt_floats_clear (lpt_node_bias_rest (real));

  for (guint o = 0; o < node->n_out; o++)
    {
      LptValue *from = &node->out[o], *to = &real->out[o];

      to->dtype = LPT_DTYPE_F32;
      to->shape = from->shape;
      lpt_value_set_quant (to, NULL);
      if (from->quant == NULL)
        {
          to->dtype = from->dtype;
          lpt_value_replace (from, to, NULL);
          continue;
        }
      if (node->op == LPT_OP_ADD || node->op == LPT_OP_SUBTRACT || node->op == LPT_OP_MULTIPLY)
        to = add_shift (u, to, from, &LPT_ATTRS (node, LptBinaryAttrs)->shift);
      if (is_per_channel (from) && from->dtype != LPT_DTYPE_I32)
        to = fake_quantized (u, to, from);
      g_hash_table_insert (u->real, from, to);
      if (!is_accumulator (from))
        lpt_value_replace (from, lpt_fit_convert (u->graph, LPT_OP_QUANTIZE, to, from->dtype, from->quant), NULL);
    }
}

/* Sums and products in the general form that lowering has and no target. */
static gboolean
is_general (const LptNode *node)
{
  if (node->op != LPT_OP_ADD && node->op != LPT_OP_SUBTRACT && node->op != LPT_OP_MULTIPLY)
    return FALSE;
  if (node->out[0].quant == NULL)
    return FALSE;
  for (guint k = 0; k < node->n_in; k++)
    if (node->in[k].value->quant != NULL && node->in[k].value->quant->n > 1)
      return TRUE;

  return LPT_ATTRS (node, LptBinaryAttrs)->shift.n > 0;
}

void
lpt_fit_accumulators (LptRewriter *rw,
                      LptGraph    *graph,
                      GPtrArray   *order)
{
  Unlower u = { rw, graph, g_hash_table_new (NULL, NULL) };

  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];

      if (node->n_out > 0 && is_per_channel (&node->out[0]))
        lpt_fit_share_scale (graph, &node->out[0]);
    }

  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      gboolean touches = is_general (node);

      for (guint k = 0; k < node->n_in; k++)
        touches = touches || is_accumulator (lpt_node_in (node, k));
      for (guint o = 0; o < node->n_out; o++)
        touches = touches || is_accumulator (&node->out[o]);
      if (touches && (node->info->flags & LPT_OP_F_SINK) == 0)
        unlower (&u, node);
    }
  g_hash_table_unref (u.real);
}
