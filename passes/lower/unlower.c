/* unlower.c - the way back of single nodes of a lowered graph: dequantized inputs, real op, codes behind it
 *
 *     a zero point that is computed                  =>  Subtract in front of the product
 *     an i32 output that no integer rule makes       =>  Quantize behind the real op, which its readers read
 *     sums that are gone, read as integers by an op  =>  Convert (sums) in front of it: exact below 2^24. Products
 *     whose sums may be greater stay as they are, which their restriction refuses
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-body.h>

#include "eval/integer/lpt-int.h"
#include "ir/lpt-quant-plain.h"
#include "ir/lpt-quantize-details.h"
#include "ir/lpt-sum-steps.h"
#include "ir/lpt-weighted.h"
#include "passes/lower/fit.h"
#include "passes/lower/unlower.h"
#include "passes/support/lpt-layer.h"
#include "passes/support/lpt-restricted.h"
#include "passes/support/lpt-sums-fit.h"

LptValue *
lpt_unlower_binary (LptGraph *graph,
             LptOp     op,
             LptValue *a,
             LptValue *b)
{
  LptNode *node = lpt_graph_add (graph, op, 0, NULL, 2, (LptValue *[]) { a, b });

  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = a->shape;

  return lpt_node_out (node);
}

LptValue *
lpt_unlower_convert (LptGraph *graph,
           LptValue *value,
           LptDType  dtype)
{
  LptNode *node = lpt_graph_add (graph, LPT_OP_CONVERT, 1, NULL, 1, &value);

  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  lpt_node_out (node)->dtype = dtype;
  lpt_node_out (node)->shape = value->shape;

  return lpt_node_out (node);
}

/* A constant with one value per channel of @like; weights of groups [G, O, ...] have them along both axes. */
LptValue *
lpt_unlower_constant (LptGraph       *graph,
                      const LptValue *like,
                      gint            axis,
                      guint           n,
                      const double   *values,
                      LptDType        dtype)
{
  LptShape shape = like->shape;
  g_autoptr (LptTensor) tensor = NULL;

  for (gint a = 0; a < shape.rank; a++)
    shape.dims[a] = a == axis ? n : 1;
  if (n > 1 && axis == 0 && shape.rank > 1 && like->shape.dims[0] != n &&
      like->shape.dims[0] * like->shape.dims[1] == n)
    {
      shape.dims[0] = like->shape.dims[0];
      shape.dims[1] = like->shape.dims[1];
    }
  tensor = lpt_tensor_from_f64 (dtype, &shape, values, NULL);

  return lpt_node_out (lpt_graph_add_const (graph, NULL, tensor));
}

/* What sums and products add in steps of their output, as a real constant. */
static LptValue *
add_shift (LptUnlower      *u,
           LptValue        *real,
           const LptValue  *y,
           const LptFloats *shift)
{
  g_autofree double *values = NULL;
  LptValue *constant;

  if (shift->n == 0)
    return real;
  values = g_new (double, shift->n);
  for (guint c = 0; c < shift->n; c++)
    values[c] = shift->v[c] * y->quant->scale[y->quant->n == 1 ? 0 : c];
  if (shift->n > 1)
    constant = lpt_unlower_constant (u->graph, y, y->quant->axis, shift->n, values, LPT_DTYPE_F32);
  else
    {
      g_autoptr (LptTensor) tensor = lpt_tensor_scalar (LPT_DTYPE_F32, values[0]);

      constant = lpt_node_out (lpt_graph_add_const (u->graph, NULL, tensor));
    }

  return lpt_unlower_binary (u->graph, LPT_OP_ADD, real, constant);
}

/* The real values that the codes of @codes can have. */
static LptValue *
fake_quantized (LptUnlower     *u,
                LptValue       *real,
                const LptValue *codes)
{
  const LptQuant *q = codes->quant;
  const double lo = lpt_dtype_min (codes->dtype), hi = lpt_dtype_max (codes->dtype);
  g_autofree double *low = g_new (double, q->n), *high = g_new (double, q->n);
  LptValue *l, *h;
  LptNode *node;

  for (guint c = 0; c < q->n; c++)
    lpt_quantize_ends (q->scale[c], q->zero_point[c], lo, hi, &low[c], &high[c]);
  l = lpt_unlower_constant (u->graph, codes, q->axis, q->n, low, LPT_DTYPE_F32);
  h = lpt_unlower_constant (u->graph, codes, q->axis, q->n, high, LPT_DTYPE_F32);
  node = lpt_graph_add (u->graph, LPT_OP_FAKE_QUANTIZE, 0, NULL, 5, (LptValue *[]) { real, l, h, l, h });
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = (gint64) (hi - lo) + 1;
  lpt_node_out (node)->dtype = LPT_DTYPE_F32;
  lpt_node_out (node)->shape = codes->shape;

  return lpt_node_out (node);
}

/* The same codes, other parameters: x sB / sA + sB (zA - zB). */
static LptValue *
reinterpreted (LptUnlower     *u,
               LptValue       *real,
               const LptQuant *a,
               const LptValue *to)
{
  const LptQuant *b = to->quant;
  const LptQuant *wider = b->n > 1 ? b : a;
  const guint n = MAX (a->n, b->n);
  g_autofree double *ratio = g_new (double, n), *offset = g_new (double, n);

  for (guint c = 0; c < n; c++)
    {
      const guint i = a->n == 1 ? 0 : c, k = b->n == 1 ? 0 : c;

      ratio[c] = b->scale[k] / a->scale[i];
      offset[c] = b->scale[k] * (a->zero_point[i] - b->zero_point[k]);
    }
  real = lpt_unlower_binary (u->graph, LPT_OP_MULTIPLY, real,
                             lpt_unlower_constant (u->graph, to, wider->axis, n, ratio, LPT_DTYPE_F32));

  return lpt_unlower_binary (u->graph, LPT_OP_ADD, real,
                             lpt_unlower_constant (u->graph, to, wider->axis, n, offset, LPT_DTYPE_F32));
}

/* Codes without parameters as numbers, then as what they stand for. */
static LptValue *
from_numbers (LptUnlower     *u,
              LptValue       *codes,
              const LptValue *as)
{
  g_autoptr (LptQuant) number = lpt_quant_new_one (1, 0);

  return reinterpreted (u, lpt_unlower_convert (u->graph, codes, LPT_DTYPE_F32), number, as);
}

static gboolean
is_breach (LptUnlower *u,
           LptNode    *node)
{
  g_autofree char *breach = u->restricted ? lpt_config_node_breach (lpt_rewriter_config (u->rw), node) : NULL;

  return breach != NULL;
}

static LptValue *
real_of (LptUnlower *u,
         LptValue   *value)
{
  LptValue *real;

  if (value == NULL || value->quant == NULL)
    return value;
  real = g_hash_table_lookup (u->real, value);
  if (real == NULL)
    {
      real = lpt_fit_convert (u->graph, LPT_OP_DEQUANTIZE, value, LPT_DTYPE_F32, NULL);
      /* A Convert of codes gives what they stand for, as every real op that reads some. */
      if (is_breach (u, real->producer))
        real = lpt_unlower_convert (u->graph, value, LPT_DTYPE_F32);
      g_hash_table_insert (u->real, value, real);
    }

  return real;
}

/* Codes without parameters are numbers to what only moves them. */
static gboolean
moves_numbers (LptUnlower     *u,
               const LptNode  *node,
               const LptValue *value)
{
  return u->restricted && (node->info->flags & LPT_OP_F_PRESERVES) && value != NULL && value->quant == NULL &&
         lpt_code_of (value).dtype != LPT_DTYPE_UNDEFINED;
}

/* Scales of the steps in which the sums of @node count, for @n channels; NULL: they are real, or one for each input. */
static LptQuant *
steps_of_sums (LptNode *node,
               guint    n)
{
  const LptQuant *x = lpt_node_in (node, 0)->quant, *w = lpt_node_in (node, 1)->quant;
  g_autofree double *scale = g_new (double, MAX (n, 1));

  if (x == NULL || w == NULL || x->n > 1 || (w->n > 1 && w->n != n))
    return NULL;
  for (guint c = 0; c < n; c++)
    scale[c] = x->scale[0] * w->scale[w->n == 1 ? 0 : c];

  return lpt_quant_new (n > 1 ? 0 : LPT_QUANT_PER_TENSOR, n, scale, NULL);
}

/* (b + rest) * scale: the bias as lowering had it. Integers without a scale are in the steps of the sums. */
static LptValue *
real_bias (LptUnlower *u,
           LptNode  *node,
           guint     port,
           LptValue *otherwise)
{
  const LptFloats *rest = lpt_node_bias_rest (node);
  LptTensor *data = lpt_node_const_in (node, port);
  const gboolean bare = data != NULL && rest != NULL && lpt_node_in (node, port)->quant == NULL &&
                        lpt_tensor_dtype (data) == LPT_DTYPE_I32 && lpt_tensor_count (data) <= G_MAXUINT16;
  g_autoptr (LptQuant) steps = bare && node->n_in > 1 ? steps_of_sums (node, (guint) lpt_tensor_count (data)) : NULL;
  const LptQuant *quant = bare ? steps : data != NULL ? lpt_node_in (node, port)->quant : NULL;
  g_autoptr (LptTensor) real = NULL;
  g_autofree double *values = NULL;
  gint64 n;

  if (quant == NULL || rest == NULL || (rest->n == 0 && !bare))
    return otherwise;
  n = lpt_tensor_count (data);
  values = g_new (double, n + 1);
  for (gint64 c = 0; c < n; c++)
    values[c] = ((double) lpt_tensor_get_i64 (data, c) +
                 (rest->n == 0 ? 0 : rest->v[rest->n == 1 ? 0 : MIN (c, rest->n - 1)]))
                * quant->scale[quant->n == 1 ? 0 : MIN (c, quant->n - 1)];
  real = lpt_tensor_from_f64 (LPT_DTYPE_F32, lpt_tensor_shape (data), values, NULL);

  return lpt_node_out (lpt_graph_add_const (u->graph, NULL, real));
}

/* Codes of @y for @real, which stands in its place from now on. */
static void
write_codes (LptUnlower *u,
             LptValue   *y,
             LptValue   *real)
{
  g_hash_table_insert (u->real, y, real);
  if (!u->goes (y))
    lpt_value_replace (y, lpt_fit_convert (u->graph, LPT_OP_QUANTIZE, real, y->dtype, y->quant), NULL);
}

/* @y shows the codes of @x as others. A constant is the same codes with those parameters: what reads weights sees
 * them. */
static void
unlower_reinterpret (LptUnlower *u,
                     LptValue   *x,
                     LptValue   *y)
{
  if (x->producer->data != NULL && x->dtype == y->dtype && !u->goes (y))
    {
      LptNode *codes = lpt_graph_add_const (u->graph, x->producer->name, x->producer->data);

      lpt_value_set_quant (lpt_node_out (codes), y->quant);
      lpt_value_replace (y, lpt_node_out (codes), NULL);
      return;
    }
  if (x->quant == NULL && u->restricted)
    {
      write_codes (u, y, from_numbers (u, x, y));
      return;
    }
  if (x->quant == NULL)
    {
      /* Codes that had no parameters are numbers. */
      g_autoptr (LptQuant) number = lpt_quant_new_one (1, 0);

      x = lpt_fit_convert (u->graph, LPT_OP_REINTERPRET, x, x->dtype, number);
    }
  write_codes (u, y, reinterpreted (u, real_of (u, x), x->quant, y));
}

/* No codes, and nothing real, comes of @node. */
static gboolean
computes_integers (const LptNode *node)
{
  if (node->n_out == 0 || node->op == LPT_OP_CONVERT || (node->info->flags & LPT_OP_F_QUANTIZES) != 0)
    return FALSE;
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].quant != NULL || lpt_dtype_is_real (node->out[o].dtype))
      return FALSE;

  return TRUE;
}

/* The op computes on integers that stand for themselves: sums in place of codes are such to it. Real sums of unit steps
 * become them again. */
static gboolean
keep_integers (LptUnlower *u,
               LptNode    *node)
{
  gboolean found = FALSE;

  if (!computes_integers (node))
    return FALSE;
  for (guint k = 0; k < node->n_in; k++)
    {
      const LptValue *value = lpt_node_in (node, k);

      if (value != NULL && value->quant != NULL &&
          (!lpt_quant_is_plain (value->quant) || !g_hash_table_contains (u->real, value)))
        return FALSE;
    }
  for (guint k = 0; k < node->n_in; k++)
    {
      LptValue *value = lpt_node_in (node, k);

      if (value != NULL && value->quant != NULL)
        {
          lpt_node_set_input (node, k, lpt_unlower_convert (u->graph, real_of (u, value), value->dtype));
          found = TRUE;
        }
    }

  return found;
}

/* The zero point of the data of a product, where it is computed, is subtracted. Returns how many inputs are left. */
static guint
take_zero (LptUnlower     *u,
           const LptNode  *node,
           LptValue      **in)
{
  LptWeightedView view;
  guint n = node->n_in;

  if (!lpt_weighted_view (node, &view) || n <= view.zero || in[view.zero] == NULL)
    return n;
  in[0] = lpt_unlower_binary (u->graph, LPT_OP_SUBTRACT, in[0], in[view.zero]);
  for (n = view.zero; in[n - 1] == NULL; n--)
    ;

  return n;
}

void
lpt_unlower (LptUnlower *u,
             LptNode    *node)
{
  g_autofree LptValue **in = g_new (LptValue *, MAX (node->n_in, 1));
  LptNode *real;

  if (keep_integers (u, node))
    return;
  for (guint k = 0; k < node->n_in; k++)
    in[k] = moves_numbers (u, node, lpt_node_in (node, k))
                ? lpt_unlower_convert (u->graph, lpt_node_in (node, k), LPT_DTYPE_F32)
                : real_of (u, lpt_node_in (node, k));
  for (guint k = 2; k < node->n_in; k++)
    in[k] = real_bias (u, node, k, in[k]);

  if (node->op == LPT_OP_DEQUANTIZE || node->op == LPT_OP_REQUANTIZE)
    {
      LptValue *y = lpt_node_out (node);

      if (node->op == LPT_OP_DEQUANTIZE)
        lpt_value_replace (y, in[0], NULL);
      else if (u->goes (y) && y->quant != NULL && y->quant->n > 1)
        g_hash_table_insert (u->real, y, fake_quantized (u, in[0], y));
      else
        lpt_value_replace (y, lpt_fit_convert (u->graph, LPT_OP_QUANTIZE, in[0], y->dtype, y->quant), NULL);
      return;
    }
  if (node->op == LPT_OP_REINTERPRET)
    {
      unlower_reinterpret (u, lpt_node_in (node, 0), lpt_node_out (node));
      return;
    }
  if (node->op == LPT_OP_QUANTIZE)
    {
      /* Integers without a quantization are rounded numbers, which no real ones stand for. */
      if (lpt_node_out (node)->quant == NULL)
        return;
      g_hash_table_insert (u->real, lpt_node_out (node), fake_quantized (u, in[0], lpt_node_out (node)));
      return;
    }

  real = lpt_node_clone (node, node->name, take_zero (u, node, in), in);
  if (u->restricted)
    lpt_node_take_over (real, node, "/codes");
  if (u->why != NULL)
    lpt_rewriter_fate (u->rw, real, "%s", u->why);
  else
    lpt_rewriter_fate (u->rw, real, "the target has no integers for what it reads or writes");
  real->flags &= ~(guint32) LPT_NODE_RELAXED;
  for (guint k = 0; k < real->n_in; k++)
    real->in[k].compute = LPT_DTYPE_UNDEFINED;
  if ((node->info->flags & LPT_OP_F_SHIFTED) != 0)
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
          if (o == 0 && moves_numbers (u, node, from))
            to = lpt_unlower_convert (u->graph, to, from->dtype);
          else
            to->dtype = from->dtype;
          lpt_value_replace (from, to, NULL);
          continue;
        }
      if ((node->info->flags & LPT_OP_F_SHIFTED) != 0)
        to = add_shift (u, to, from, &LPT_ATTRS (node, LptBinaryAttrs)->shift);
      if (u->goes (from) && from->dtype != LPT_DTYPE_I32)
        to = fake_quantized (u, to, from);
      write_codes (u, from, to);
    }
}

/* Does @node, whose output has 32 bits, give accumulators? What has a rule in eval/integer does. Of others real numbers
 * are rounded to the steps of the output where they are no multiples of them. */
static gboolean
accumulates (LptNode        *node,
             const LptValue *value)
{
  g_autoptr (GError) why = NULL;

  lpt_int_op_free (lpt_int_op_new (node, &why));

  return why == NULL || !lpt_node_leaves_steps (node, value);
}

/* Codes are made again, accumulators are not. */
static gboolean
goes (const LptValue *value)
{
  return value->dtype == LPT_DTYPE_I32 && (value->quant == NULL || accumulates (value->producer, value));
}

static gboolean
reads_what_is_gone (LptNode    *node,
                    GHashTable *gone)
{
  for (guint k = 0; k < node->n_in; k++)
    if (lpt_node_in (node, k) != NULL && g_hash_table_contains (gone, lpt_node_in (node, k)))
      return TRUE;

  return FALSE;
}

gboolean
lpt_unlower_loses_bits (LptNode *node)
{
  const LptValue *y = lpt_node_out (node);
  gboolean read = FALSE;

  if (y->dtype != LPT_DTYPE_I32 || y->quant == NULL || !lpt_quant_is_plain (y->quant))
    return FALSE;
  for (guint i = 0; i < lpt_value_n_uses (y); i++)
    read |= computes_integers (lpt_value_use (y, i)->node);

  return read && !lpt_node_sums_fit (node);
}

/* Readers of @gone, which is real now, that no real numbers do for: outputs, and what runs bodies. */
static void
show_codes (LptUnlower *u,
            LptValue   *gone)
{
  g_autoptr (GArray) uses = g_array_copy (gone->uses);
  LptValue *real = g_hash_table_lookup (u->real, gone), *codes = NULL;

  for (guint i = 0; i < uses->len && real != NULL; i++)
    {
      const LptUse *use = &g_array_index (uses, LptUse, i);

      if ((use->node->flags & LPT_NODE_DEAD) || (use->node->n_out > 0 && lpt_node_n_bodies (use->node) == 0))
        continue;
      if (codes == NULL)
        codes = lpt_fit_convert (u->graph, LPT_OP_QUANTIZE, real, gone->dtype, gone->quant);
      lpt_node_set_input (use->node, use->index, codes);
    }
}

gboolean
lpt_unlower_where (LptRewriter    *rw,
                   LptGraph       *graph,
                   LptUnlowerWhy   why,
                   GError        **error)
{
  g_autoptr (GPtrArray) order = lpt_graph_order (graph, error);
  g_autoptr (GHashTable) real = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) gone = g_hash_table_new (NULL, NULL);
  LptUnlower u = { rw, graph, real, goes, NULL, TRUE };
  gboolean changed = FALSE;

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];
      g_autofree char *reason = why (rw, node);

      for (guint k = 0; k < lpt_node_n_bodies (node); k++)
        if (!lpt_unlower_where (rw, lpt_node_body (node, k), why, error))
          return FALSE;
      if (node->n_out == 0 || node->n_in == 0 || lpt_node_n_bodies (node) > 0 ||
          (reason == NULL && !reads_what_is_gone (node, gone)) || lpt_unlower_loses_bits (node))
        continue;
      if (reason != NULL)
        lpt_rewriter_decline (rw, node, "%s", reason);
      u.why = reason != NULL ? reason : "an accumulator that it reads is real";
      lpt_unlower (&u, node);
      for (guint o = 0; o < node->n_out; o++)
        if (node->out[o].quant != NULL && goes (&node->out[o]))
          {
            show_codes (&u, &node->out[o]);
            g_hash_table_add (gone, &node->out[o]);
          }
      changed = TRUE;
    }
  if (!changed)
    return TRUE;
  lpt_graph_sweep (graph);
  lpt_rewriter_changed (rw, NULL);

  return lpt_graph_infer (graph, error);
}
