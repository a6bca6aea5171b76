/* ties.c - real numbers between two codes, which one float rounding turns to the other side
 *
 * A value comes from a quantization by steps alone where FakeQuantize or Quantize makes it and nothing follows but
 * arithmetic with constants, element by element, and conversions. What is rounded there is t = (x - il) / (ih - il)
 * (levels - 1), or x / scale + zero point. A graph computes it in float32: with x, the ends of the interval and t
 * itself each off by some units in the last place, t is off by that share of the greatest of them in steps. Nearer to a
 * middle than this, both codes are right. A FakeQuantize of an integer type rounds its result once more, by the same
 * rule.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "cli/ties.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

#define MAX_CHAIN 8
#define MAX_DEPTH 8
/* Units in the last place of float32 by which what is rounded may be off: a few operations, each half a unit. */
#define UNITS (16.0 / (1 << 24))

typedef struct
{
  LptNode   *node;                   /* FakeQuantize or Quantize */
  LptTensor *in[5];                  /* its inputs */
  LptTensor *factors[MAX_CHAIN];     /* what its steps are multiplied with behind it */
  gboolean   divides[MAX_CHAIN];
  guint      n_factors;
  LptQuant  *scale;                  /* of a Dequantize behind it, or NULL */
  const LptShape *shape;
} Side;

struct _CmdTies
{
  CmdPlace place;
  Side     sides[2];
};

static gboolean
is_constant (LptValue *value, guint depth)
{
  if (lpt_node_is_const (value->producer))
    return TRUE;
  if (depth == 0 || value->producer->n_in == 0 || value->producer->op == LPT_OP_PARAMETER)
    return FALSE;
  for (guint i = 0; i < value->producer->n_in; i++)
    if (lpt_node_in (value->producer, i) != NULL && !is_constant (lpt_node_in (value->producer, i), depth - 1))
      return FALSE;
  return TRUE;
}

/* One step back along the chain: the data that @node scales and shifts; NULL: it does something else. */
static LptValue *
data_of (CmdPlaces *places, LptNode *node, Side *side)
{
  if (node->op == LPT_OP_DEQUANTIZE)
    side->scale = lpt_node_in (node, 0)->quant;
  if (node->op == LPT_OP_DEQUANTIZE || node->op == LPT_OP_CONVERT)
    return lpt_node_in (node, 0);
  if ((node->info->flags & LPT_OP_F_AFFINE) == 0)
    return NULL;
  gboolean divides = (node->info->flags & LPT_OP_F_DIVISOR) != 0;
  guint constant = is_constant (lpt_node_in (node, 1), MAX_DEPTH) ? 1 : 0;
  if (!is_constant (lpt_node_in (node, constant), MAX_DEPTH) || (constant == 0 && divides) ||
      side->n_factors == MAX_CHAIN)
    return NULL;
  if ((node->info->flags & LPT_OP_F_FACTOR) != 0)
    {
      side->divides[side->n_factors] = divides;
      side->factors[side->n_factors] = cmd_places_value (places, lpt_node_in (node, constant), NULL);
      if (side->factors[side->n_factors++] == NULL)
        return NULL;
    }
  return lpt_node_in (node, 1 - constant);
}

static gboolean
find (CmdPlaces *places, LptValue *value, LptTensor *tensor, Side *side)
{
  side->shape = lpt_tensor_shape (tensor);
  while (value != NULL && value->producer->op != LPT_OP_FAKE_QUANTIZE && value->producer->op != LPT_OP_QUANTIZE)
    value = data_of (places, value->producer, side);
  if (value == NULL)
    return FALSE;
  side->node = value->producer;
  for (guint i = 0; i < MIN (side->node->n_in, 5); i++)
    if ((side->in[i] = cmd_places_value (places, lpt_node_in (side->node, i), NULL)) == NULL)
      return FALSE;
  return lpt_shape_equal (lpt_tensor_shape (side->in[0]), side->shape) &&
         (side->node->op == LPT_OP_FAKE_QUANTIZE || side->node->out[0].quant != NULL);
}

CmdTies *
cmd_ties_new (CmdPlaces *places, const CmdPlace *place)
{
  g_autoptr (CmdTies) ties = g_new0 (CmdTies, 1);
  ties->place = *place;
  if (!find (places, place->before, place->was, &ties->sides[0]) ||
      !find (places, place->after, place->is, &ties->sides[1]))
    return NULL;
  return g_steal_pointer (&ties);
}

void
cmd_ties_free (CmdTies *ties)
{
  g_free (ties);
}

/* Of a tensor that broadcasts to @shape, what meets element @i. */
static double
element (LptTensor *tensor, const LptShape *shape, gint64 i)
{
  const LptShape *own = lpt_tensor_shape (tensor);
  gint64 at = 0, stride = 1;
  for (gint d = own->rank - 1, k = shape->rank - 1; d >= 0; d--, k--)
    {
      gint64 n = k >= 0 ? shape->dims[k] : 1;
      at += own->dims[d] > 1 ? i % n * stride : 0;
      stride *= own->dims[d];
      i /= n;
    }
  return lpt_tensor_get_f64 (tensor, at);
}

static gboolean
is_middle (double t, double greatest)
{
  return fabs (t - floor (t) - 0.5) <= UNITS * greatest;
}

/* By what element @i is multiplied behind the quantization. */
static double
factor_behind (const Side *side, gint64 i)
{
  double all = side->scale != NULL ? side->scale->scale[i / lpt_quant_run (side->scale, side->shape) % side->scale->n]
                                   : 1;
  for (guint k = 0; k < side->n_factors; k++)
    {
      double factor = fabs (element (side->factors[k], side->shape, i));
      all = side->divides[k] ? all / factor : all * factor;
    }
  return all;
}

/* Is the number that is rounded for element @i in the middle? Its result grows by *step from code to code. */
static gboolean
rounds_middle (const Side *side, gint64 i, double *step)
{
  double x = lpt_tensor_get_f64 (side->in[0], i);
  gboolean middle;
  if (side->node->op == LPT_OP_QUANTIZE)
    {
      const LptQuant *q = side->node->out[0].quant;
      gint64 k = i / lpt_quant_run (q, side->shape) % q->n;
      middle = is_middle (x / q->scale[k] + q->zero_point[k], fabs (x / q->scale[k]) + abs (q->zero_point[k]) + 1);
      *step = 1;
    }
  else
    {
      double il = element (side->in[1], side->shape, i), ih = element (side->in[2], side->shape, i);
      double ol = element (side->in[3], side->shape, i), oh = element (side->in[4], side->shape, i);
      double levels = (double) LPT_ATTRS (side->node, LptFakeQuantizeAttrs)->levels - 1, inner = levels / (ih - il);
      double t = (x - il) * inner, y = nearbyint (t) / levels * (oh - ol) + ol;
      middle = is_middle (t, (fabs (x) + fabs (il) + fabs (ih)) * fabs (inner) + levels);
      *step = fabs (oh - ol) / levels;
      if (lpt_dtype_is_integer (side->node->out[0].dtype))
        {
          middle |= is_middle (y, fabs (y) + fabs (ol) + fabs (oh));
          *step = fmax (1, ceil (*step));
        }
    }
  *step *= factor_behind (side, i);
  return middle;
}

gboolean
cmd_ties_has (const CmdTies *ties, gint64 i)
{
  double was, is, apart = fabs (lpt_tensor_get_f64 (ties->place.was, i) - lpt_tensor_get_f64 (ties->place.is, i));
  return rounds_middle (&ties->sides[0], i, &was) && rounds_middle (&ties->sides[1], i, &is) &&
         apart <= 1.001 * fmin (was, is);
}

double
cmd_ties_range (const CmdTies *ties, gint64 i)
{
  double range = 0;
  for (guint s = 0; s < 2; s++)
    {
      const Side *side = &ties->sides[s];
      double own;
      if (side->node->op == LPT_OP_QUANTIZE)
        own = fmax (fabs (lpt_dtype_min (side->node->out[0].dtype)), lpt_dtype_max (side->node->out[0].dtype));
      else
        own = fmax (fabs (element (side->in[3], side->shape, i)), fabs (element (side->in[4], side->shape, i)));
      range = fmax (range, own * factor_behind (side, i));
    }
  return range;
}
