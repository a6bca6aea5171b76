/* onnx-map-hybrid.c - com.microsoft's operators of decoders with linear attention, spelled out
 *
 * LinearAttention keeps a matrix S [key, value] for each head in place of a cache, and goes through the tokens:
 *
 *     S = exp (decay) S                              gated, gated_delta
 *     d = beta (v - k S)                             delta, gated_delta;  else d = v
 *     S = S + k' d        y = scale q S
 *
 * It is an op of the graph, with factors in place of their logarithms; queries outnumber keys and values, or the other
 * way round: then several states share a query.
 *
 *     LinearAttentionGate     decay = decay_scale softplus (a + dt_bias), beta = sigmoid (b)
 *     GatedRMSNorm            x / rms (x) scale f (gate), in groups as long as scale
 *     GatedAdd                x + y gate
 *     CausalConvWithState     a convolution of each channel with what came before; its end is the next state
 *     MRotaryEmbedding        rotary embedding whose columns follow one of three positions (time, height, width)
 *
 * Refused: state_window, packed batches, heads or channels whose number is not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "frontends/onnx_json/read/onnx-attention.h"
#include "ir/lpt-linear.h"

#include <math.h>

#define MAX_LENGTH (1 << 24)

static LptValue *
multiply (LptOnnxNode *on,
          LptValue    *a,
          LptValue    *b)
{
  return lpt_onnx_emit (on, LPT_OP_MULTIPLY, 2, a, b);
}

/* --- LinearAttention ----------------------------------------------------------------------------- */

/* Input @i [B, T, heads * n] as [B, T, heads, n] */
static LptValue *
heads_in (LptOnnxNode *on,
          guint        i,
          gint64       heads)
{
  LptValue *x = lpt_onnx_convert (on, lpt_onnx_in (on, i), LPT_DTYPE_F32);
  gint64 width = lpt_onnx_rank (on, x) == 3 ? x->shape.dims[2] : LPT_DYNAMIC, dims[4] = { 0, 0, heads, -1 };

  if (width == LPT_DYNAMIC || heads < 1 || heads > MAX_LENGTH || width % heads != 0)
    {
      lpt_onnx_unsupported (on, "input %u that is not [B, T, %" G_GINT64_FORMAT " heads]", i, heads);
      return x;
    }
  return lpt_onnx_reshape_keep (on, x, 4, dims);
}

/* Input @i of one number a head, or one for each of @per_head */
static LptValue *
gate_in (LptOnnxNode *on,
         guint        i,
         gint64       heads,
         gint64       per_head)
{
  const LptValue *x = lpt_onnx_in (on, i);
  gint64 width = lpt_onnx_rank (on, lpt_onnx_in (on, i)) == 3 ? x->shape.dims[2] : LPT_DYNAMIC;

  if (width != heads && width != heads * per_head && !(per_head == 0 && width == 1))
    lpt_onnx_unsupported (on, "input %u whose numbers are not those of %" G_GINT64_FORMAT " heads", i, heads);
  return heads_in (on, i, width == 1 ? 1 : heads);
}

/* The past, or zeros [B, heads, key, value] */
static LptValue *
first_state (LptOnnxNode *on,
             LptValue    *q,
             LptValue    *v)
{
  gint64 dims[3] = { v->shape.dims[2], q->shape.dims[3], v->shape.dims[3] };
  LptValue *past = lpt_onnx_optional (on, 3), *parts[2];

  if (past != NULL)
    return lpt_onnx_convert (on, past, LPT_DTYPE_F32);
  parts[0] = lpt_onnx_dim (on, q, 0);
  parts[1] = lpt_onnx_i64 (on, 3, dims);
  return lpt_onnx_broadcast (on, lpt_onnx_scalar (on, LPT_DTYPE_F32, 0), lpt_onnx_concat (on, 0, 2, parts));
}

/* The heads that keys have: as long as those of queries are */
static gint64
key_heads (LptOnnxNode *on,
           gint64       length)
{
  const LptValue *key = lpt_onnx_in (on, 1);

  if (length < 1 || lpt_onnx_rank (on, lpt_onnx_in (on, 1)) != 3 || key->shape.dims[2] == LPT_DYNAMIC)
    {
      lpt_onnx_unsupported (on, "keys that are not [B, T, heads]");
      return 1;
    }
  return MAX (key->shape.dims[2] / length, 1);
}

/* Inputs: Q, K, V, state, decay, beta; outputs: Y, state */
void
lpt_onnx_map_linear_attention (LptOnnxNode *on)
{
  enum { GATED = 1, DELTA = 2 };
  static const LptOnnxChoice rules[] = {
    { "linear", 0 }, { "gated", GATED }, { "delta", DELTA }, { "gated_delta", GATED | DELTA },
  };
  const int rule = lpt_onnx_choose (on, "update_rule", "gated_delta", rules, G_N_ELEMENTS (rules));
  const gint64 q_heads = lpt_onnx_int (on, "q_num_heads", 0), heads = lpt_onnx_int (on, "kv_num_heads", 0);
  double scale = lpt_onnx_float (on, "scale", 0);
  LptValue *in[LPT_LINEAR_INPUTS] = { NULL }, *y;
  LptDType dtype = lpt_onnx_in (on, 0)->dtype;
  gint64 length, flat[3] = { 0, 0, -1 };
  LptNode *node;

  lpt_onnx_ignore (on, "chunk_size");   /* how another kernel cuts the tokens */
  in[LPT_LINEAR_QUERY] = heads_in (on, 0, q_heads);
  in[LPT_LINEAR_VALUE] = heads_in (on, 2, heads);
  if (on->error != NULL)
    return;
  length = in[LPT_LINEAR_QUERY]->shape.dims[3];
  in[LPT_LINEAR_KEY] = heads_in (on, 1, key_heads (on, length));
  in[LPT_LINEAR_STATE] = first_state (on, in[LPT_LINEAR_QUERY], in[LPT_LINEAR_VALUE]);
  if (rule & GATED)
    in[LPT_LINEAR_DECAY] = lpt_onnx_emit (on, LPT_OP_EXP, 1, gate_in (on, 4, heads, length));
  if (rule & DELTA)
    in[LPT_LINEAR_BETA] = gate_in (on, 5, heads, 0);
  if (on->error != NULL)
    return;
  node = lpt_onnx_add_list (on, LPT_OP_LINEAR_ATTENTION, 2, rule & DELTA ? 6 : rule & GATED ? 5 : 4, in);
  y = lpt_onnx_reshape_keep (on, lpt_onnx_done (on, node), 3, flat);
  if (scale == 0)
    scale = 1 / sqrt ((double) length);
  if (scale != 1)
    y = multiply (on, y, lpt_onnx_scalar (on, LPT_DTYPE_F32, scale));
  if (on->error != NULL)
    return;
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, dtype));
  lpt_onnx_set (on, 1, lpt_onnx_convert (on, &node->out[1], dtype));
}

/* --- around it ------------------------------------------------------------------------------------ */

/* Inputs: a, dt_bias, decay_scale, b; outputs: decay, beta */
void
lpt_onnx_map_linear_attention_gate (LptOnnxNode *on)
{
  LptValue *a = lpt_onnx_in (on, 0), *b = lpt_onnx_optional (on, 3), *y;

  y = lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_convert (on, a, LPT_DTYPE_F32),
                     lpt_onnx_convert (on, lpt_onnx_in (on, 1), LPT_DTYPE_F32));
  y = multiply (on, lpt_onnx_emit (on, LPT_OP_SOFT_PLUS, 1, y),
                lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_F32));
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, a->dtype));
  if (b != NULL)
    lpt_onnx_set (on, 1, lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, b));
}

/* Inputs: x, scale, gate */
void
lpt_onnx_map_gated_rms_norm (LptOnnxNode *on)
{
  static const LptOnnxChoice activations[] = { { "silu", 1 }, { "swish", 1 }, { "sigmoid", 0 } };
  LptValue *x = lpt_onnx_in (on, 0), *scale = lpt_onnx_in (on, 1), *wide, *shape, *square, *gate, *y;
  gint rank = lpt_onnx_rank (on, x);
  gint64 dims[2] = { -1, scale->shape.rank == 1 ? scale->shape.dims[0] : LPT_DYNAMIC }, axis = 1;
  int swish = lpt_onnx_choose (on, "activation", "silu", activations, G_N_ELEMENTS (activations));
  double epsilon = lpt_onnx_float (on, "epsilon", 1e-5f);

  if (rank < 1 || dims[1] < 1)
    lpt_onnx_unsupported (on, "scale of unknown length");
  if (on->error != NULL)
    return;
  shape = lpt_onnx_shape_of (on, x);
  wide = lpt_onnx_reshape (on, lpt_onnx_convert (on, x, LPT_DTYPE_F32), 2, dims);
  square = lpt_onnx_reduce (on, LPT_OP_REDUCE_MEAN, multiply (on, wide, wide), lpt_onnx_i64 (on, 1, &axis), TRUE);
  y = multiply (on, wide, lpt_onnx_inverse_root (on, square, epsilon));
  y = multiply (on, y, lpt_onnx_convert (on, scale, LPT_DTYPE_F32));
  gate = lpt_onnx_convert (on, lpt_onnx_in (on, 2), LPT_DTYPE_F32);
  gate = swish ? lpt_onnx_emit (on, LPT_OP_SWISH, 2, gate, lpt_onnx_scalar (on, LPT_DTYPE_F32, 1))
               : lpt_onnx_emit (on, LPT_OP_SIGMOID, 1, gate);
  y = multiply (on, lpt_onnx_reshape_to (on, y, shape), gate);
  lpt_onnx_set (on, 0, lpt_onnx_convert (on, y, x->dtype));
}

void
lpt_onnx_map_gated_add (LptOnnxNode *on)
{
  lpt_onnx_set (on, 0, lpt_onnx_emit (on, LPT_OP_ADD, 2, lpt_onnx_in (on, 0),
                                      multiply (on, lpt_onnx_in (on, 1), lpt_onnx_in (on, 2))));
}

/* [B, L, C...] -> [B, C, L], where C is the product of its axes */
static LptValue *
channels_first (LptOnnxNode *on,
                LptValue    *x)
{
  static const gint64 order[3] = { 0, 2, 1 };
  gint64 dims[3] = { 0, 0, -1 };

  return lpt_onnx_transpose (on, lpt_onnx_reshape_keep (on, x, 3, dims), 3, order);
}

/* [B, C, L] -> [B, L, C...] as in @like */
static LptValue *
channels_last (LptOnnxNode *on,
               LptValue    *x,
               LptValue    *like)
{
  static const gint64 order[3] = { 0, 2, 1 };
  gint64 dims[LPT_MAX_RANK] = { 0, 0 };
  gint rank = lpt_onnx_rank (on, like);

  x = lpt_onnx_transpose (on, x, 3, order);
  for (gint i = 2; i < rank; i++)
    {
      dims[i] = like->shape.dims[i];
      if (dims[i] < 1)
        lpt_onnx_unsupported (on, "channels whose number is not known");
    }
  return rank == 3 ? x : lpt_onnx_reshape_keep (on, x, (guint) MAX (rank, 2), dims);
}

/* Inputs: x [B, C, L], or [B, L, C...] with channels_last, filters [C, 1, K], bias, state; outputs: Y, state */
void
lpt_onnx_map_causal_conv (LptOnnxNode *on)
{
  static const LptOnnxChoice activations[] = { { "none", 0 }, { "", 0 }, { "silu", 1 }, { "swish", 1 } };
  const int swish = lpt_onnx_choose (on, "activation", "none", activations, G_N_ELEMENTS (activations));
  const gboolean last = lpt_onnx_int (on, "channels_last", 0) != 0;
  LptValue *input = lpt_onnx_in (on, 0), *w = lpt_onnx_in (on, 1), *bias = lpt_onnx_optional (on, 2), *x, *y, *parts[2];
  LptValue *past = lpt_onnx_optional (on, 3);
  gint64 dilation = lpt_onnx_int (on, "dilation", 1), pad = 0, channels = 0, one = 1, axis = 2;
  gint64 column[3] = { 1, -1, 1 };
  LptNode *node;

  if (lpt_onnx_int (on, "ndim", 1) != 1 || lpt_onnx_int (on, "state_window", 0) != 0)
    lpt_onnx_unsupported (on, "ndim or state_window");
  if (lpt_onnx_rank (on, w) != 3 || !lpt_shape_is_static (&w->shape) || w->shape.dims[1] != 1 || w->shape.dims[2] < 1
      || (!last && lpt_onnx_rank (on, input) != 3) || lpt_onnx_rank (on, input) < 3)
    lpt_onnx_unsupported (on, "filters that are not [C, 1, K]");
  if (dilation < 1 || dilation > MAX_LENGTH || w->shape.dims[2] > MAX_LENGTH)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "dilation %" G_GINT64_FORMAT, dilation);
  if (on->error != NULL)
    return;
  channels = w->shape.dims[0];
  pad = (w->shape.dims[2] - 1) * dilation;
  x = last ? channels_first (on, input) : input;
  if (past == NULL)
    {
      gint64 rest[2] = { channels, pad };

      parts[0] = lpt_onnx_dim (on, x, 0);
      parts[1] = lpt_onnx_i64 (on, 2, rest);
      past = lpt_onnx_broadcast (on, lpt_onnx_like (on, x, 0), lpt_onnx_concat (on, 0, 2, parts));
    }
  else if (last)
    past = channels_first (on, past);
  parts[0] = past;
  parts[1] = x;
  x = lpt_onnx_concat (on, 2, 2, parts);
  node = lpt_onnx_conv_groups (on, x, w, NULL, channels);
  lpt_ints_set (&LPT_ATTRS (node, LptConvAttrs)->dilations, 1, &dilation);
  y = lpt_onnx_done (on, node);
  if (bias != NULL)
    y = lpt_onnx_emit (on, LPT_OP_ADD, 2, y, lpt_onnx_reshape (on, bias, 3, column));
  if (swish)
    y = lpt_onnx_emit (on, LPT_OP_SWISH, 2, y, lpt_onnx_like (on, y, 1));
  lpt_onnx_set (on, 0, last ? channels_last (on, y, input) : y);
  /* From where there are @pad positions to the end */
  y = lpt_onnx_emit (on, LPT_OP_SUBTRACT, 2, lpt_onnx_dim (on, x, 2), lpt_onnx_i64 (on, 1, &pad));
  y = lpt_onnx_emit (on, LPT_OP_SLICE, 5, x, y, lpt_onnx_dim (on, x, 2), lpt_onnx_i64 (on, 1, &one),
                     lpt_onnx_i64 (on, 1, &axis));
  lpt_onnx_set (on, 1, last ? channels_last (on, y, input) : y);
}

/* --- MRotaryEmbedding ----------------------------------------------------------------------------- */

/* Which position, 0 to 2, column @i of @n follows: sections one behind the other, or height and width in every third
 * column as long as theirs last */
static guint
position_of (gint64        i,
             const gint64 *section,
             gint64        layout)
{
  if (layout == 0)
    return i < section[0] ? 0 : i < section[0] + section[1] ? 1 : 2;
  return i % 3 != 0 && i < 3 * section[i % 3] ? (guint) (i % 3) : 0;
}

/* Rows of @table at @positions [3, B, S], each column by its own: [B, S, n], with an axis for the heads */
static LptValue *
section_angles (LptOnnxNode  *on,
                LptValue     *table,
                LptValue     *positions,
                const gint64 *section,
                gint64        layout,
                gint          heads_axis)
{
  LptValue *rows = lpt_onnx_emit (on, LPT_OP_GATHER, 3, table, positions, lpt_onnx_i64_scalar (on, 0));
  LptValue *y = lpt_onnx_squeeze (on, lpt_onnx_slice (on, rows, 0, 0, 1), 0);
  const gint64 n = table->shape.dims[1];
  const LptShape shape = lpt_shape_make (1, &n);

  for (guint p = 1; p < 3 && on->error == NULL; p++)
    {
      LptTensor *mine = lpt_tensor_new (LPT_DTYPE_BOOL, &shape, &on->error);

      for (gint64 i = 0; mine != NULL && i < n; i++)
        ((guint8 *) lpt_tensor_writable (mine))[i] = position_of (i, section, layout) == p;
      if (mine != NULL)
        y = lpt_onnx_emit (on, LPT_OP_SELECT, 3, lpt_onnx_tensor_value (on, mine),
                           lpt_onnx_squeeze (on, lpt_onnx_slice (on, rows, 0, p, p + 1), 0), y);
    }
  return lpt_onnx_unsqueeze (on, y, heads_axis);
}

/* Inputs: x [B, S, H * D] or [B, H, S, D], positions [3, B, S], cosines, sines */
void
lpt_onnx_map_section_rotary (LptOnnxNode *on)
{
  LptValue *input = lpt_onnx_in (on, 0), *positions = lpt_onnx_in (on, 1), *x = input;
  LptValue *table[2] = { lpt_onnx_in (on, 2), lpt_onnx_in (on, 3) };
  gint64 heads = lpt_onnx_int (on, "num_heads", 0), layout = lpt_onnx_int (on, "mrope_layout", 0);
  gint64 n = lpt_onnx_int (on, "rotary_embedding_dim", 0), dims[4] = { 0, 0, heads, -1 };
  gboolean interleaved = lpt_onnx_int (on, "interleaved", 0) != 0, flat = lpt_onnx_rank (on, input) == 3;
  double scale = lpt_onnx_float (on, "scale", 1);
  LptInts section = { 0 };

  if (lpt_onnx_int (on, "is_packed_batching", 0) != 0 || layout < 0 || layout > 1)
    lpt_onnx_unsupported (on, "is_packed_batching or mrope_layout");
  if (!lpt_onnx_ints (on, "mrope_section", &section) || section.n != 3)
    lpt_onnx_fail (on, LPT_ERROR_INVALID, "mrope_section is not three lengths");
  for (guint i = 0; i < 2 && on->error == NULL; i++)
    if (lpt_onnx_rank (on, table[i]) != 2 || table[i]->shape.dims[1] < 1 || table[i]->shape.dims[1] > MAX_LENGTH)
      lpt_onnx_unsupported (on, "tables of dynamic shape");
  for (guint i = 0; i < 3 && on->error == NULL; i++)
    if (section.v[i] < 0 || section.v[i] > MAX_LENGTH)
      lpt_onnx_fail (on, LPT_ERROR_INVALID, "mrope_section of %" G_GINT64_FORMAT, section.v[i]);
  if (on->error == NULL && flat && heads < 1)
    lpt_onnx_unsupported (on, "num_heads that is not given");
  if (on->error == NULL)
    {
      LptValue *angle[2];

      if (flat)
        x = lpt_onnx_reshape_keep (on, x, 4, dims);
      for (guint i = 0; i < 2; i++)
        {
          angle[i] = section_angles (on, table[i], positions, section.v, layout, flat ? 2 : 1);
          if (scale != 1)
            angle[i] = multiply (on, angle[i], lpt_onnx_like (on, angle[i], scale));
        }
      x = lpt_onnx_rotate (on, x, angle[0], angle[1], n > 0 ? n : 2 * table[0]->shape.dims[1], interleaved);
      lpt_onnx_set (on, 0, flat ? lpt_onnx_reshape_to (on, x, lpt_onnx_shape_of (on, input)) : x);
    }
  lpt_ints_clear (&section);
}
