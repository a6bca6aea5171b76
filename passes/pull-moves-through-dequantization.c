/* passes/pull-moves-through-dequantization.c - what moves weights moves their codes
 *
 *     Move (Multiply (Subtract (Convert (w), z), s), ...)
 *     =>  Multiply (Subtract (Convert (Move (w)), Move (z)), Move (s))
 *
 *     Move (FakeQuantize (w, low, high, ...), ...)  =>  FakeQuantize (Move (w), Move (low), Move (high), ...)
 *
 * where w, z, s and the intervals are constants and Move only puts elements elsewhere: Reshape, Transpose, Slice,
 * Split, Concat, Gather, Broadcast, Tile and their like, whose other inputs are constants. Each constant is spread over
 * the weights, moved as they are, and shortened again along the axes along which it does not vary, so any axes may be
 * joined, cut or repeated. Elements that Pad adds are zeros: their code is the zero point, whatever stands there.
 * Concat joins weights of one type of codes, each part with its own numbers. Exact.
 *
 * Refused when
 *   - parts of a Concat have codes of different types, or are not all weights;
 *   - Pad adds other numbers than 0, or pads the data of a FakeQuantize: 0 may be no level of it;
 *   - the weights would be more than 16 times as large as they are, and more than 1 MiB;
 *   - a Reshape joins blocks of weights with what they are blocks of, and no Slice or the like follows: there would be
 *     a number for each weight, and the rules of such products see through the Reshape.
 *
 * A Reshape that a GroupConvolution reads makes its groups, and the weights code sees through it.
 *
 * Golden tests: tests/golden/pull-moves-through-dequantization/
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>

#include "eval/lpt-evaluate-node.h"
#include "ir/lpt-fold.h"
#include "passes/support/lpt-code-numbers.h"
#include "passes/support/lpt-layer.h"

/* Weights: codes and the numbers beside them. */
enum { CODES, FIRST, N_NUMBERS = 5 };

/* Of so many elements weights may always be. */
#define MAX_ELEMENTS (1 << 20)

typedef struct
{
  LptNode   *last;                   /* Multiply, Subtract or FakeQuantize */
  LptTensor *tensor[N_NUMBERS];      /* codes, zero point, scale; or data and the four ends; NULL = there is none */
} Weights;

static void
clear_weights (Weights *w)
{
  for (guint k = 0; k < N_NUMBERS; k++)
    g_clear_pointer (&w->tensor[k], lpt_tensor_unref);
}

/* The constant beside the chain, in front of @node, as numbers. */
static LptTensor *
numbers_of (LptNode *node,
            guint    index)
{
  return lpt_node_in (node, index) != NULL ? lpt_fold_value (lpt_node_in (node, index)) : NULL;
}

static gboolean
is_fake_quantize (const LptNode *node)
{
  return node->op == LPT_OP_FAKE_QUANTIZE;
}

/* The constant under the Convert of codes, or NULL (transfer none). */
static LptTensor *
codes_under (LptNode *convert)
{
  LptTensor *codes = convert->op == LPT_OP_CONVERT ? lpt_node_const_in (convert, 0) : NULL;

  return codes != NULL && lpt_dtype_is_integer (lpt_tensor_dtype (codes)) &&
         lpt_dtype_bits (lpt_tensor_dtype (codes)) <= 8 ? codes : NULL;
}

/* FALSE where @value is no such weights; @w is cleared by the caller all the same. */
static gboolean
find_weights (LptValue *value,
              Weights  *w)
{
  LptNode *node = value->producer;

  *w = (Weights) { .last = node };
  for (guint k = 0; k < N_NUMBERS && is_fake_quantize (node); k++)
    if ((w->tensor[k] = numbers_of (node, k)) == NULL)
      return FALSE;
  if (is_fake_quantize (node))
    return TRUE;
  for (guint k = 2; k >= FIRST; k--)
    if (node->op == (k == 2 ? LPT_OP_MULTIPLY : LPT_OP_SUBTRACT))
      {
        if ((w->tensor[k] = numbers_of (node, 1)) == NULL)
          return FALSE;
        node = lpt_node_src (node, 0);
      }
  if (node == value->producer || codes_under (node) == NULL)
    return FALSE;
  w->tensor[CODES] = lpt_tensor_ref (codes_under (node));
  return TRUE;
}

/* --- one constant ---------------------------------------------------------------------------- */

/* @values [before, length, after] with one in place of @length where all are equal; NaN is equal to any. */
static gboolean
shorten_axis (double *values,
              gint64  before,
              gint64  length,
              gint64  after)
{
  for (gint64 b = 0; b < before; b++)
    for (gint64 a = 0; a < after; a++)
      {
        double *first = values + b * length * after + a;

        for (gint64 i = 1; i < length; i++)
          {
            if (isnan (*first))
              *first = first[i * after];
            else if (!isnan (first[i * after]) && first[i * after] != *first)
              return FALSE;
          }
      }
  for (gint64 b = 0; b < before; b++)
    for (gint64 a = 0; a < after; a++)
      values[b * after + a] = values[b * length * after + a];
  return TRUE;
}

/* @tensor along the axes along which it varies; where it is NaN anything will do, @rest in the end. */
static LptTensor *
shorten (LptTensor *tensor,
         double     rest)
{
  g_autofree double *values = lpt_tensor_to_f64 (tensor, NULL);
  LptShape shape = *lpt_tensor_shape (tensor);
  gint64 count = lpt_tensor_count (tensor);

  if (values == NULL || count == 0)
    return NULL;
  for (gint d = 0; d < shape.rank; d++)
    {
      gint64 after = 1;

      for (gint k = d + 1; k < shape.rank; k++)
        after *= shape.dims[k];
      if (shape.dims[d] > 1 && shorten_axis (values, count / shape.dims[d] / after, shape.dims[d], after))
        {
          count /= shape.dims[d];
          shape.dims[d] = 1;
        }
    }
  for (gint64 i = 0; i < count; i++)
    if (isnan (values[i]))
      values[i] = rest;
  if (count == 1)
    shape = LPT_SHAPE_SCALAR;
  return lpt_tensor_from_f64 (lpt_tensor_dtype (tensor), &shape, values, NULL);
}

/* Output 0 to n of @node, which reads @data in place of its data; NULL entries where there is no memory. */
static gboolean
evaluate (LptNode   *node,
          LptTensor *const *data,
          LptTensor **out)
{
  g_autofree LptTensor **in = g_new0 (LptTensor *, node->n_in + 1);

  for (guint i = 0; i < node->n_in; i++)
    in[i] = data[i] != NULL ? data[i] : lpt_node_const_in (node, i);
  return lpt_node_evaluate (node, in, out, NULL);
}

/* --- all constants of the weights ------------------------------------------------------------ */

static gboolean
is_grouping (const LptNode *node)
{
  const LptNode *user = lpt_value_n_uses (&node->out[0]) > 0 ? lpt_value_use (&node->out[0], 0)->node : NULL;

  return node->op == LPT_OP_RESHAPE && user != NULL &&
         (user->info->flags & (LPT_OP_F_GROUPED | LPT_OP_F_TRANSPOSED)) == LPT_OP_F_GROUPED;
}

/* Does @node put elements elsewhere, and nothing else? */
static gboolean
moves (LptNode *node)
{
  /* Tile repeats what may be summed with it; the rules of OpenVINO do not move a dequantization through it. */
  if (node->op != LPT_OP_TILE &&
      (node->info->flags & (LPT_OP_F_PRESERVES | LPT_OP_F_ELEMENTWISE | LPT_OP_F_COMPUTE | LPT_OP_F_SPATIAL)) !=
      LPT_OP_F_PRESERVES)
    return FALSE;
  for (guint o = 0; o < node->n_out; o++)
    if (!lpt_shape_is_static (&node->out[o].shape) || node->out[o].dtype != lpt_node_in (node, 0)->dtype)
      return FALSE;
  return lpt_dtype_is_real (node->out[0].dtype) && !is_grouping (node);
}

/* Numbers @k of all @parts, spread over the codes, as @node reads them; an absent zero point is 0, a scale 1. */
static gboolean
move_numbers (LptNode       *node,
              const Weights *parts,
              guint          k,
              LptTensor    **out)
{
  g_autofree LptTensor **data = g_new0 (LptTensor *, node->n_in + 1);
  gboolean ok = TRUE;

  for (guint i = 0; i < node->n_in && ok; i++)
    {
      g_autoptr (LptTensor) given = NULL, real = NULL;

      if (parts[i].last == NULL)
        continue;
      given = parts[i].tensor[k] != NULL ? lpt_tensor_ref (parts[i].tensor[k])
                                         : lpt_tensor_scalar (LPT_DTYPE_F32, k == 2);
      real = given != NULL ? lpt_tensor_convert (given, node->out[0].dtype, NULL) : NULL;
      data[i] = real == NULL ? NULL
                : k == CODES ? lpt_tensor_ref (real)
                             : lpt_fold_broadcast (real, lpt_tensor_shape (parts[i].tensor[CODES]));
      ok = data[i] != NULL;
    }
  ok = ok && evaluate (node, data, out);
  for (guint i = 0; i < node->n_in; i++)
    g_clear_pointer (&data[i], lpt_tensor_unref);

  return ok;
}

/* --- zeros that Pad adds --------------------------------------------------------------------- */

/* Where Pad put zeros among the scales, which are none, the numbers are open. */
static LptTensor *
open_padding (LptTensor *moved,
              LptTensor *scales)
{
  g_autofree double *values = lpt_tensor_to_f64 (moved, NULL), *scale = lpt_tensor_to_f64 (scales, NULL);

  if (values == NULL || scale == NULL)
    return NULL;
  for (gint64 i = 0; i < lpt_tensor_count (moved); i++)
    if (scale[i] == 0)
      values[i] = NAN;
  return lpt_tensor_from_f64 (lpt_tensor_dtype (moved), lpt_tensor_shape (moved), values, NULL);
}

/* The codes, with the zero point where they are open. */
static LptTensor *
fill_padding (LptTensor *codes,
              LptTensor *scales,
              LptTensor *zero)
{
  g_autoptr (LptTensor) wide = zero != NULL ? lpt_fold_broadcast (zero, lpt_tensor_shape (codes)) : NULL;
  g_autofree double *values = lpt_tensor_to_f64 (codes, NULL), *scale = lpt_tensor_to_f64 (scales, NULL);
  g_autofree double *filled = wide != NULL ? lpt_tensor_to_f64 (wide, NULL) : NULL;

  if (values == NULL || scale == NULL || filled == NULL)
    return NULL;
  for (gint64 i = 0; i < lpt_tensor_count (codes); i++)
    if (scale[i] == 0)
      values[i] = filled[i];
  return lpt_tensor_from_f64 (lpt_tensor_dtype (codes), lpt_tensor_shape (codes), values, NULL);
}

static void
set_tensor (LptTensor **place,
            LptTensor  *tensor)
{
  lpt_tensor_unref (*place);
  *place = tensor;
}

/* --- what is read in place of an output ------------------------------------------------------ */

/* The constants of one output, in the shape that they need; FALSE where there is no memory. */
static gboolean
shorten_all (LptNode   *node,
             gboolean   quantizes,
             LptTensor *tensor[N_NUMBERS])
{
  const gboolean padded = node->op == LPT_OP_PAD && !quantizes;
  g_autoptr (LptTensor) scales = padded ? lpt_tensor_ref (tensor[2]) : NULL;

  for (guint k = FIRST; k < N_NUMBERS; k++)
    if (tensor[k] != NULL)
      {
        if (padded)
          set_tensor (&tensor[k], open_padding (tensor[k], scales));
        if (tensor[k] != NULL)
          set_tensor (&tensor[k], shorten (tensor[k], !quantizes && k == 2));
        if (tensor[k] == NULL)
          return FALSE;
      }
  if (padded)
    set_tensor (&tensor[CODES], fill_padding (tensor[CODES], scales, tensor[1]));
  return tensor[CODES] != NULL;
}

static LptValue *
rebuild (LptRewriter   *rw,
         LptNode       *node,
         const Weights *like,
         LptTensor     *tensor[N_NUMBERS])
{
  const LptDType real = node->out[0].dtype;
  LptValue *in[N_NUMBERS], *value;

  if (is_fake_quantize (like->last))
    {
      for (guint k = 0; k < N_NUMBERS; k++)
        in[k] = lpt_rewriter_const (rw, node->name, lpt_tensor_ref (tensor[k]));
      return lpt_node_out (lpt_layer_clone (rw, like->last, N_NUMBERS, in, LPT_DTYPE_UNDEFINED));
    }
  value = lpt_rewriter_const (rw, node->name,
                              lpt_tensor_convert (tensor[CODES], lpt_tensor_dtype (like->tensor[CODES]), NULL));
  value = lpt_node_out (lpt_layer_convert (rw, value, real, node->name));
  value->producer->flags |= LPT_NODE_KEEP_CONST | LPT_NODE_DEQUANTIZATION;
  for (guint k = 1; k <= 2; k++)
    if (like->tensor[k] != NULL || !lpt_tensor_all_equal_to (tensor[k], k == 2))
      {
        LptValue *numbers = lpt_rewriter_const (rw, node->name, lpt_tensor_ref (tensor[k]));
        const LptOp op = k == 1 ? LPT_OP_SUBTRACT : LPT_OP_MULTIPLY;
        LptNode *step = lpt_layer_arithmetic (rw, op, node->name, value, numbers, real, real);

        step->flags |= LPT_NODE_DEQUANTIZATION;
        value = lpt_node_out (step);
      }
  return value;
}

/* --- the pass -------------------------------------------------------------------------------- */

/* Would constant @k have a number for each weight behind @reshape, which it has not now? */
static gboolean
multiplies_numbers (LptNode       *reshape,
                    const Weights *w,
                    guint          k)
{
  const LptShape *shape = &reshape->out[0].shape;
  LptCodeNumbers numbers = { 0 };
  gint64 together = 1;
  gboolean more;

  if (w->tensor[k] == NULL || !lpt_code_numbers_spread (w->tensor[k], lpt_tensor_shape (w->tensor[CODES]), &numbers))
    return FALSE;
  for (gint d = shape->rank - 1; d >= 0 && numbers.run % (together * shape->dims[d]) == 0; d--)
    together *= shape->dims[d];
  more = numbers.n * (numbers.run / together) == lpt_tensor_count (w->tensor[CODES]) &&
         lpt_tensor_count (w->tensor[k]) < lpt_tensor_count (w->tensor[CODES]);
  g_free (numbers.v);

  return more;
}

/* Can one constant hold the codes of both, and one chain stand behind it? */
static gboolean
alike (const Weights *a,
       const Weights *b)
{
  const gboolean quantizes = is_fake_quantize (a->last);

  return quantizes == is_fake_quantize (b->last) &&
         (quantizes ? lpt_attrs_equal (a->last->info, a->last->attrs, b->last->attrs)
                    : lpt_tensor_dtype (a->tensor[CODES]) == lpt_tensor_dtype (b->tensor[CODES]));
}

/* Does Pad add zeros that codes can be? */
static gboolean
pads_zeros (LptNode       *pad,
            const Weights *w)
{
  LptTensor *value = pad->n_in > 3 ? lpt_node_const_in (pad, 3) : NULL;
  gboolean good = !is_fake_quantize (w->last) && LPT_ATTRS (pad, LptPadAttrs)->pad_mode == LPT_PAD_CONSTANT &&
                  (value == NULL || lpt_tensor_get_f64 (value, 0) == 0);

  for (gint64 i = 0; good && w->tensor[2] != NULL && i < lpt_tensor_count (w->tensor[2]); i++)
    good = lpt_tensor_get_f64 (w->tensor[2], i) != 0;
  return good;
}

/* All that @node reads: weights, or constants beside those of input 0. */
static gboolean
find_parts (LptRewriter *rw,
            LptNode     *node,
            Weights     *parts)
{
  gint64 count = 0;
  guint n = 0;

  for (guint i = 0; i < node->n_in; i++)
    {
      LptValue *value = lpt_node_in (node, i);

      if (value == NULL || (i > 0 && node->op != LPT_OP_CONCAT && lpt_node_is_const (value->producer)))
        continue;
      if ((i > 0 && node->op != LPT_OP_CONCAT) || !find_weights (value, &parts[i]))
        return i > 0 && node->op == LPT_OP_CONCAT && parts[0].last != NULL &&
               lpt_rewriter_decline (rw, node, "not all of its parts are constant weights");
      if (!alike (&parts[0], &parts[i]))
        return lpt_rewriter_decline (rw, node, "the weights that it joins have codes of different types");
      count += lpt_tensor_count (parts[i].tensor[CODES]);
      n++;
    }
  if (n == 0)
    return FALSE;
  if (node->op == LPT_OP_PAD && !pads_zeros (node, &parts[0]))
    return lpt_rewriter_decline (rw, node, "what it adds to weights is no code of theirs");
  for (guint o = 0; o < node->n_out; o++)
    {
      gint64 moved;

      if (!lpt_shape_count (&node->out[o].shape, &moved) ||
          (moved > MAX_ELEMENTS && moved / LPT_CONST_MAX_GROWTH > count))
        return lpt_rewriter_decline (rw, node, "the weights would be more than %d times as large",
                                     LPT_CONST_MAX_GROWTH);
    }
  return TRUE;
}

/* Does another move follow, which the rules of products do not see through: a Slice that cuts off what fills blocks? */
static gboolean
is_moved_on (const LptNode *reshape)
{
  for (guint i = 0; i < lpt_value_n_uses (&reshape->out[0]); i++)
    {
      LptNode *user = lpt_value_use (&reshape->out[0], i)->node;

      if (user->n_in > 0 && user->n_out > 0 && lpt_node_in (user, 0) == &reshape->out[0] && moves (user) &&
          user->op != LPT_OP_TRANSPOSE && user->op != LPT_OP_RESHAPE)
        return TRUE;
    }
  return FALSE;
}

static gboolean
keeps_numbers (LptRewriter   *rw,
               LptNode       *node,
               const Weights *parts)
{
  for (guint k = FIRST; k < N_NUMBERS && node->op == LPT_OP_RESHAPE && !is_moved_on (node); k++)
    if (multiplies_numbers (node, parts, k))
      return lpt_rewriter_decline (rw, node, "each weight would have a number of its own");
  return TRUE;
}

static gboolean
rewrite_with (LptRewriter *rw,
              LptNode     *node,
              Weights     *parts)
{
  const gboolean quantizes = is_fake_quantize (parts[0].last);
  const guint n_numbers = quantizes ? N_NUMBERS : 3;
  g_autofree LptTensor **moved = g_new0 (LptTensor *, N_NUMBERS * node->n_out);
  gboolean ok = TRUE;

  for (guint k = 0; k < n_numbers && ok; k++)
    ok = move_numbers (node, parts, k, moved + k * node->n_out);
  for (guint o = 0; o < node->n_out && ok; o++)
    {
      LptTensor *own[N_NUMBERS];

      for (guint k = 0; k < N_NUMBERS; k++)
        own[k] = g_steal_pointer (&moved[k * node->n_out + o]);
      ok = shorten_all (node, quantizes, own);
      if (ok && lpt_value_n_uses (&node->out[o]) > 0)
        {
          LptValue *value = rebuild (rw, node, &parts[0], own);

          if (node->n_out == 1)
            lpt_node_take_name (value->producer, node, "/moved");
          lpt_rewriter_replace (rw, &node->out[o], value, NULL);
        }
      for (guint k = 0; k < N_NUMBERS; k++)
        lpt_tensor_unref (own[k]);
    }
  for (guint k = 0; k < N_NUMBERS * node->n_out; k++)
    lpt_tensor_unref (moved[k]);

  return ok;
}

static gboolean
rewrite (LptRewriter *rw,
         LptNode     *node)
{
  g_autofree Weights *parts = NULL;
  gboolean changed;

  if (node->n_in == 0 || node->n_out == 0 || lpt_node_is_const (node) || !moves (node))
    return FALSE;
  parts = g_new0 (Weights, node->n_in);
  changed = find_parts (rw, node, parts) && keeps_numbers (rw, node, parts) && rewrite_with (rw, node, parts);
  for (guint i = 0; i < node->n_in; i++)
    clear_weights (&parts[i]);

  return changed;
}

const LptPass lpt_pass_pull_moves_through_dequantization = {
  .name      = "pull-moves-through-dequantization",
  .doc       = "Bring what moves weights next to their constant",
  .stage     = LPT_STAGE_PREPARE,
  .rewrite   = rewrite,
  .exactness = LPT_EXACT,
};
