/* fit-restrictions.c - a lowered graph keeps what its target demands of quantization
 *
 *     u8 values                     =>  i8: q - 128, zero point - 128 (bytes of the models' own u8 inputs and
 *                                       outputs stay, behind Requantize)
 *     equal parameters in and out   =>  op writes its input's; Requantize to what its readers expect
 *                                       (several inputs: each is requantized to the output's)
 *     fixed output parameters       =>  op writes those; Requantize likewise
 *     weights with a zero point     =>  q - Z where that fits the range
 *     weights with the code -128    =>  the channel's step grows by 128 / 127 and its codes and bias are rounded anew
 *     one scale for all channels    =>  the largest; codes and bias likewise
 *     remainders of biases          =>  left out: the int32 bias is the nearest one
 *     int32 accumulators as values, sums with a real constant or an operand of several scales, activations with a scale per channel
 *                                   =>  the op and what reads them compute on real values, with FakeQuantize in place
 *                                       of the codes; but where only the scales of constant weights and of a
 *                                       depthwise product meet in a value, they take over the channels' factors and
 *                                       the codes stay
 *
 * The first is exact. A Requantize rounds once more to the step that its readers had; weights are rounded by half
 * a step at most; an accumulator has no 8-bit interval of its own. What cannot be had this way is an error that names the node. Runs when the target has a
 * table (LptConfig.quant_rules); the target's requant mode becomes the graph's default.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-requant.h>
#include <lpt/lpt-restrictions.h>

/* --- adding ----------------------------------------------------------------------- */

static LptValue *
requantized (LptGraph *graph,
             LptValue *value,
             LptDType  dtype,
             LptQuant *quant)
{
  g_autofree char *name = g_strdup_printf ("%s/Requantize", value->producer->name);
  LptNode *node = lpt_graph_add (graph, LPT_OP_REQUANTIZE, 0, name, 1, &value);
  LptValue *out = lpt_node_out (node);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  out->dtype = dtype;
  out->shape = value->shape;
  lpt_value_set_quant (out, quant);

  return out;
}

/* Readers of @value go on to read (dtype, quant); @value itself becomes something else. */
static void
shield_readers (LptGraph *graph,
                LptValue *value,
                LptDType  dtype,
                LptQuant *quant)
{
  if (lpt_value_n_uses (value) > 0)
    {
      LptValue *as_before = requantized (graph, value, dtype, quant);

      lpt_value_replace (value, as_before, as_before->producer);
    }
}

static gboolean
same_parameters (const LptQuant *a,
                 const LptQuant *b)
{
  return a->n == 1 && b->n == 1 && a->scale[0] == b->scale[0] && a->zero_point[0] == b->zero_point[0];
}

/* --- u8 to i8 ------------------------------------------------------------------------ */

static LptQuant *
shifted (const LptQuant *quant,
         gint32          by)
{
  g_autofree gint32 *zero = g_new (gint32, quant->n);

  for (guint i = 0; i < quant->n; i++)
    zero[i] = quant->zero_point[i] + by;

  return lpt_quant_new (quant->axis, quant->n, quant->scale, zero);
}

static void
set_codes (LptNode   *node,
           LptTensor *codes)
{
  lpt_tensor_unref (node->data);
  node->data = lpt_tensor_ref (codes);
  lpt_node_out (node)->dtype = lpt_tensor_dtype (codes);
}

static gboolean
shift_constant (LptNode *node,
                GError **error)
{
  LptTensor *data = node->data;
  const gint64 n = lpt_tensor_count (data);
  g_autoptr (LptTensor) codes = lpt_tensor_new (LPT_DTYPE_I8, lpt_tensor_shape (data), error);
  gint8 *to = codes != NULL ? lpt_tensor_writable (codes) : NULL;

  if (codes == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    to[i] = (gint8) (lpt_tensor_get_i64 (data, i) - 128);
  set_codes (node, codes);

  return TRUE;
}

/* Bytes that come from outside, or that an op took over from a value without quantization. */
static gboolean
keeps_bytes (LptNode *node)
{
  LptValue *x = lpt_node_in (node, 0);

  return node->op == LPT_OP_PARAMETER || node->op == LPT_OP_READ_VALUE
         || (node->op == LPT_OP_REINTERPRET && x != NULL && x->quant == NULL);
}

static gboolean
to_signed (LptGraph *graph,
           GError  **error)
{
  const guint n = graph->nodes->len;

  for (guint i = 0; i < n; i++)
    {
      LptNode *node = graph->nodes->pdata[i];

      for (guint o = 0; o < node->n_out; o++)
        {
          LptValue *value = &node->out[o];
          g_autoptr (LptQuant) unsigned_quant = lpt_quant_ref (value->quant);
          g_autoptr (LptQuant) quant = NULL;

          if (value->dtype != LPT_DTYPE_U8 || value->quant == NULL || (node->flags & LPT_NODE_DEAD) != 0)
            continue;
          quant = shifted (value->quant, -128);
          if (keeps_bytes (node))
            {
              shield_readers (graph, value, LPT_DTYPE_I8, quant);
              continue;
            }
          if (node->data != NULL && !shift_constant (node, error))
            return FALSE;

          value->dtype = LPT_DTYPE_I8;
          lpt_value_set_quant (value, quant);
          if (node->op == LPT_OP_QUANTIZE || node->op == LPT_OP_REQUANTIZE || node->op == LPT_OP_REINTERPRET)
            LPT_ATTRS (node, LptQuantizeAttrs)->type = LPT_DTYPE_I8;
          else if (node->data == NULL)
            node->flags |= LPT_NODE_RELAXED;

          /* A model output stays what it was. */
          for (guint u = 0; u < value->uses->len; u++)
            {
              LptUse use = *lpt_value_use (value, u);

              if ((use.node->info->flags & LPT_OP_F_SINK) != 0)
                {
                  lpt_node_set_input (use.node, use.index, requantized (graph, value, LPT_DTYPE_U8, unsigned_quant));
                  u = -1;
                }
            }
        }
    }

  return TRUE;
}

/* --- parameters ------------------------------------------------------------------------ */

static void
write_as (LptGraph *graph,
          LptValue *value,
          LptQuant *quant)
{
  g_autoptr (LptQuant) before = lpt_quant_ref (value->quant);

  lpt_value_set_quant (value, quant);
  shield_readers (graph, value, value->dtype, before);
}

static void
make_same (LptGraph *graph,
           LptNode  *node)
{
  g_autoptr (LptQuant) common = NULL;
  guint n_data = 0;

  for (guint k = 0; k < node->n_in; k++)
    n_data += lpt_node_in (node, k) != NULL && lpt_node_in (node, k)->quant != NULL;
  if (n_data == 0 || node->n_out == 0 || node->out[0].quant == NULL)
    return;

  common = lpt_quant_ref (n_data > 1 ? node->out[0].quant : lpt_node_in (node, 0)->quant);
  if (common == NULL)
    return;
  for (guint k = 0; k < node->n_in; k++)
    {
      LptValue *x = lpt_node_in (node, k);

      if (x != NULL && x->quant != NULL && !same_parameters (x->quant, common))
        lpt_node_set_input (node, k, requantized (graph, x, x->dtype, common));
    }
  for (guint o = 0; o < node->n_out; o++)
    if (node->out[o].quant != NULL && !same_parameters (node->out[o].quant, common))
      write_as (graph, &node->out[o], common);
}

static void
make_fixed (LptGraph               *graph,
            LptNode                *node,
            const LptOpRestriction *row)
{
  LptValue *y = lpt_node_out (node);
  g_autoptr (LptQuant) fixed = lpt_quant_new_one (row->scale, row->zero);

  if (y->quant != NULL && y->dtype == row->dtype && !same_parameters (y->quant, fixed))
    write_as (graph, y, fixed);
}

/* --- weights ---------------------------------------------------------------------------- */

/* The parameter of element i: along the axis, or one per group and channel. */
static guint
parameter_of (const LptShape *shape,
              const LptQuant *quant,
              gint64          i)
{
  gint64 inner = 1;

  if (quant->n == 1)
    return 0;
  for (gint a = quant->axis + 1; a < shape->rank; a++)
    inner *= shape->dims[a];
  /* One per group and channel: the two leading axes together. */
  if (shape->dims[quant->axis] != quant->n)
    inner /= MAX (shape->dims[quant->axis + 1], 1);

  return (guint) (i / inner % quant->n);
}

typedef struct
{
  LptNode        *node;
  LptShape        shape;
  gint64          n;
  LptQuant       *quant;      /* borrowed */
  const LptOpRestriction *row;
} Weights;

/* How much each step must grow: 1 where the codes fit. FALSE: the zero point takes them out of range. */
static gboolean
growth_of (const Weights *w,
           LptTensor     *data,
           double        *growth)
{
  double largest = 0.0;

  for (guint c = 0; c < w->quant->n; c++)
    growth[c] = 1.0;
  for (gint64 i = 0; i < w->n; i++)
    {
      const guint c = parameter_of (&w->shape, w->quant, i);
      const double q = (double) (lpt_tensor_get_i64 (data, i) - w->quant->zero_point[c]);
      const double limit = q < 0 ? w->row->lo : w->row->hi;

      growth[c] = MAX (growth[c], q / limit);
      /* More than the one code that symmetry leaves out is a loss of levels. */
      if (q / limit > 128.0 / 127.0)
        return FALSE;
    }

  if (w->row->granularity == LPT_CODES_TENSOR)
    {
      for (guint c = 0; c < w->quant->n; c++)
        largest = MAX (largest, w->quant->scale[c] * growth[c]);
      for (guint c = 0; c < w->quant->n; c++)
        growth[c] = largest / w->quant->scale[c];
    }

  return TRUE;
}

/* The bias counts in steps of input times weights, which grew. */
static gboolean
regrow_bias (LptGraph     *graph,
             LptNode      *op,
             guint         port,
             LptQuant     *weights,
             guint         n_growth,
             const double *growth,
             GError      **error)
{
  LptTensor *data = lpt_node_const_in (op, port);
  g_autoptr (LptTensor) fresh = NULL;
  g_autofree double *scale = NULL;
  LptQuant *quant;
  LptValue *value;
  gint32 *to;
  gint64 n;

  if (data == NULL)
    return TRUE;
  n = lpt_tensor_count (data);
  fresh = lpt_tensor_new (LPT_DTYPE_I32, lpt_tensor_shape (data), error);
  if (fresh == NULL)
    return FALSE;

  to = lpt_tensor_writable (fresh);
  for (gint64 i = 0; i < n; i++)
    to[i] = (gint32) round ((double) lpt_tensor_get_i64 (data, i) / growth[n_growth == n ? i : 0]);
  scale = g_new (double, weights->n);
  for (guint c = 0; c < weights->n; c++)
    scale[c] = lpt_node_in (op, 0)->quant->scale[0] * weights->scale[c];
  quant = lpt_quant_new (weights->n > 1 ? 0 : LPT_QUANT_PER_TENSOR, weights->n, scale, NULL);
  value = lpt_node_out (lpt_graph_add_const (graph, lpt_node_src (op, port)->name, fresh));
  lpt_value_set_quant (value, quant);
  lpt_quant_unref (quant);
  lpt_node_set_input (op, port, value);

  return TRUE;
}

static gboolean
make_symmetric (LptGraph               *graph,
                LptNode                *op,
                const LptOpRestriction *row,
                gint                    bias_port,
                GError                **error)
{
  LptValue *value = lpt_node_in (op, row->port);
  LptTensor *data = lpt_node_const_in (op, row->port);
  Weights w = { op, { 0 }, 0, value != NULL ? value->quant : NULL, row };
  g_autofree double *growth = NULL, *scale = NULL;
  g_autoptr (LptTensor) codes = NULL;
  g_autoptr (LptQuant) quant = NULL;
  LptValue *fresh;
  gboolean fits = TRUE;
  gint8 *to;

  if (w.quant == NULL || data == NULL || value->dtype != LPT_DTYPE_I8)
    return TRUE;
  w.shape = value->shape;
  w.n = lpt_tensor_count (data);
  growth = g_new (double, w.quant->n);
  if (!growth_of (&w, data, growth))
    return TRUE;     /* stays a violation, which is reported */
  for (guint c = 0; c < w.quant->n; c++)
    fits = fits && growth[c] == 1.0 && w.quant->zero_point[c] == 0;
  if (fits && (w.quant->n == 1 || row->granularity == LPT_CODES_CHANNEL))
    return TRUE;

  codes = lpt_tensor_new (LPT_DTYPE_I8, &w.shape, error);
  if (codes == NULL)
    return FALSE;
  to = lpt_tensor_writable (codes);
  scale = g_new (double, w.quant->n);
  for (guint c = 0; c < w.quant->n; c++)
    scale[c] = w.quant->scale[c] * growth[c];
  for (gint64 i = 0; i < w.n; i++)
    {
      const guint c = parameter_of (&w.shape, w.quant, i);

      to[i] = (gint8) round ((double) (lpt_tensor_get_i64 (data, i) - w.quant->zero_point[c]) / growth[c]);
    }

  quant = row->granularity == LPT_CODES_TENSOR ? lpt_quant_new_one (scale[0], 0)
          : lpt_quant_new (w.quant->axis, w.quant->n, scale, NULL);
  fresh = lpt_node_out (lpt_graph_add_const (graph, value->producer->name, codes));
  lpt_value_set_quant (fresh, quant);
  lpt_node_set_input (op, row->port, fresh);

  return bias_port < 0 || regrow_bias (graph, op, bias_port, quant, w.quant->n, growth, error);
}

/* --- accumulators ------------------------------------------------------------------------- */

/* Real values in place of integer ones that are about to go. */
typedef struct
{
  LptGraph   *graph;
  GHashTable *real;      /* LptValue * -> LptValue * */
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
with_type (LptGraph *graph,
           LptOp     op,
           LptValue *value,
           LptDType  dtype,
           LptQuant *quant)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", value->producer->name, lpt_op_info (op)->name);
  LptNode *node = lpt_graph_add (graph, op, 0, name, 1, &value);

  LPT_ATTRS (node, LptQuantizeAttrs)->type = dtype;
  lpt_node_out (node)->dtype = dtype;
  lpt_node_out (node)->shape = value->shape;
  lpt_value_set_quant (lpt_node_out (node), quant);

  return lpt_node_out (node);
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
      real = with_type (u->graph, LPT_OP_DEQUANTIZE, value, LPT_DTYPE_F32, NULL);
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
        lpt_value_replace (y, with_type (u->graph, LPT_OP_QUANTIZE, in[0], y->dtype, y->quant), NULL);
      return;
    }
  if (node->op == LPT_OP_REINTERPRET)
    {
      LptValue *y = lpt_node_out (node);
      LptValue *seen = reinterpreted (u, in[0], lpt_node_in (node, 0), y);

      g_hash_table_insert (u->real, y, seen);
      if (!is_accumulator (y))
        lpt_value_replace (y, with_type (u->graph, LPT_OP_QUANTIZE, seen, y->dtype, y->quant), NULL);
      return;
    }
  if (node->op == LPT_OP_QUANTIZE)
    {
      g_hash_table_insert (u->real, lpt_node_out (node), fake_quantized (u, in[0], lpt_node_out (node)));
      return;
    }

  real = lpt_node_clone (node, node->name, node->n_in, in);
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
        lpt_value_replace (from, with_type (u->graph, LPT_OP_QUANTIZE, to, from->dtype, from->quant), NULL);
    }
}

/* --- one scale for the codes of all channels --------------------------------------------------- */

/* Weights of @op with the scale of each output channel times factor[c] (or / for @inverse): constant, one per channel. */
static gboolean
can_take_factors (LptNode *op,
                  guint    n)
{
  LptValue *w = lpt_node_in (op, 1);

  if (op->op != LPT_OP_CONVOLUTION && op->op != LPT_OP_GROUP_CONVOLUTION)
    return FALSE;

  return lpt_node_const_in (op, 1) != NULL && w->quant != NULL && (w->quant->n == 1 || w->quant->n == n);
}

static gboolean
is_depthwise (LptNode *op,
              guint    n)
{
  LptValue *w = lpt_node_in (op, 1);

  return op->op == LPT_OP_GROUP_CONVOLUTION && w->shape.rank > 2 && w->shape.dims[0] == n && w->shape.dims[1] == 1 && w->shape.dims[2] == 1;
}

static void
take_factors (LptGraph     *graph,
              LptNode      *op,
              guint         n,
              const double *factors)
{
  LptValue *w = lpt_node_in (op, 1), *bias = lpt_node_in (op, 2);
  g_autofree double *scale = g_new (double, n), *steps = g_new (double, n);
  g_autofree gint32 *zero = g_new (gint32, n);
  g_autoptr (LptQuant) quant = NULL, bias_quant = NULL;
  LptValue *copy;

  for (guint c = 0; c < n; c++)
    {
      const guint k = w->quant->n == 1 ? 0 : c;

      scale[c] = w->quant->scale[k] * factors[c];
      zero[c] = w->quant->zero_point[k];
      steps[c] = scale[c] * lpt_node_in (op, 0)->quant->scale[0];
    }
  quant = lpt_quant_new (w->quant->n > 1 ? w->quant->axis : 0, n, scale, zero);
  copy = lpt_node_out (lpt_graph_add_const (graph, w->producer->name, lpt_node_const_in (op, 1)));
  lpt_value_set_quant (copy, quant);
  lpt_node_set_input (op, 1, copy);

  if (bias == NULL || lpt_node_const_in (op, 2) == NULL || bias->quant == NULL)
    return;
  bias_quant = lpt_quant_new (0, n, steps, NULL);
  copy = lpt_node_out (lpt_graph_add_const (graph, bias->producer->name, lpt_node_const_in (op, 2)));
  lpt_value_set_quant (copy, bias_quant);
  lpt_node_set_input (op, 2, copy);
}

/* @value = s[c] (q - z): the producer's weights are divided by s[c] / s, its depthwise readers' multiplied. */
static void
share_scale (LptGraph *graph,
             LptValue *value)
{
  LptNode *producer = value->producer;
  const LptQuant *q = value->quant;
  const guint n = q->n;
  g_autofree double *factors = g_new (double, n), *inverse = g_new (double, n);
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();
  g_autoptr (LptQuant) shared = NULL;
  double largest = 0.0;

  /* Codes that are only seen as other ones (Reinterpret) have no scale of their own. */
  if (value->dtype == LPT_DTYPE_I32 || q->axis != 1
      || (producer->op != LPT_OP_REINTERPRET && !can_take_factors (producer, n)))
    return;
  for (guint c = 0; c < n; c++)
    {
      largest = MAX (largest, q->scale[c]);
      if (q->zero_point[c] != q->zero_point[0])
        return;
    }
  for (guint i = 0; i < lpt_value_n_uses (value); i++)
    {
      const LptUse *use = lpt_value_use (value, i);

      if (use->node->op == LPT_OP_REINTERPRET)
        continue;
      if (use->index != 0 || !is_depthwise (use->node, n) || !can_take_factors (use->node, n))
        return;
      g_ptr_array_add (readers, use->node);
    }

  for (guint c = 0; c < n; c++)
    {
      factors[c] = q->scale[c] / largest;
      inverse[c] = largest / q->scale[c];
    }
  shared = lpt_quant_new_one (largest, q->zero_point[0]);
  if (producer->op != LPT_OP_REINTERPRET)
    take_factors (graph, producer, n, inverse);
  lpt_value_set_quant (value, shared);
  for (guint i = 0; i < readers->len; i++)
    take_factors (graph, readers->pdata[i], n, factors);
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

/* In topological order, so that whatever reads an accumulator follows it. */
static void
unlower_accumulators (LptGraph  *graph,
                      GPtrArray *order)
{
  Unlower u = { graph, g_hash_table_new (NULL, NULL) };

  for (guint i = 0; i < order->len; i++)
    {
      LptNode *node = order->pdata[i];

      if (node->n_out > 0 && is_per_channel (&node->out[0]))
        share_scale (graph, &node->out[0]);
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

/* --- the pass ----------------------------------------------------------------------------- */

static gboolean
fit_node (LptGraph        *graph,
          LptNode         *node,
          LptQuantRules  target,
          GError         **error)
{
  guint n;
  const LptOpRestriction *rows = lpt_node_restrictions (node, target, &n);
  gboolean same = FALSE;
  gint bias_port = -1;

  if (n > 0 && lpt_node_bias_rest (node) != NULL)
    lpt_floats_clear (lpt_node_bias_rest (node));
  for (guint i = 0; i < n; i++)
    if (rows[i].rule == LPT_PARAMETERS_BIAS)
      bias_port = rows[i].port;
  for (guint i = 0; i < n; i++)
    switch (rows[i].rule)
      {
      case LPT_PARAMETERS_SAME:
        same = TRUE;
        break;
      case LPT_PARAMETERS_FIXED:
        make_fixed (graph, node, &rows[i]);
        break;
      case LPT_PARAMETERS_ZERO:
        if (!make_symmetric (graph, node, &rows[i], bias_port, error))
          return FALSE;
        break;
      default:
        break;
      }
  if (same)
    make_same (graph, node);

  return TRUE;
}

static gboolean
run (LptRewriter *rw,
     LptGraph    *graph,
     GError     **error)
{
  const LptConfig *config = lpt_rewriter_config (rw);
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (GPtrArray) left = NULL;

  if (config->requant != NULL && graph->requant == NULL && !lpt_graph_set_requant (graph, config->requant, error))
    return FALSE;
  if (config->quant_rules == LPT_QUANT_RULES_NONE)
    return TRUE;

  if (!to_signed (graph, error))
    return FALSE;
  order = lpt_graph_order (graph, error);
  if (order == NULL)
    return FALSE;
  unlower_accumulators (graph, order);
  lpt_graph_sweep (graph);
  g_clear_pointer (&order, g_ptr_array_unref);
  order = lpt_graph_order (graph, error);
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    if (!fit_node (graph, order->pdata[i], config->quant_rules, error))
      return FALSE;
  lpt_graph_sweep (graph);
  if (!lpt_graph_infer (graph, error))
    return FALSE;
  lpt_rewriter_changed (rw, NULL);

  left = lpt_graph_check (graph, config->quant_rules);
  if (left->len > 0)
    {
      const LptViolation *first = left->pdata[0];

      g_set_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED, "node \"%s\": unsupported by the target: %s: %s", first->node->name,
                   first->node->info->name, first->what);
      return FALSE;
    }

  return TRUE;
}

const LptPass lpt_pass_fit_restrictions =
{
  .name      = "fit-restrictions",
  .doc       = "Integer ops keep the target's demands on quantization: i8, equal or fixed parameters, symmetric weights",
  .stage     = LPT_STAGE_LOWER,
  .run       = run,
  .exactness = LPT_COARSENS,
};
