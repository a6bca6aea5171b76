/* lpt-evaluate.c - values of small constant and shape sub-graphs
 *
 * Elements are computed one by one in 64-bit integers or in doubles that are
 * rounded to the element type; an element that depends on a dynamic dimension
 * is LPT_UNKNOWN or NaN. Each value is computed once per call; the number of
 * nodes, elements and levels is limited, beyond that a value is not constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt-attrs.h>

#include "ir/lpt-evaluate.h"
#include "ir/lpt-slice.h"

#define MAX_COMPUTED 1024      /* elements of one computed value */
#define MAX_WORK     65536     /* elements of all values of one call */
#define MAX_NODES    1000
#define MAX_DEPTH    200

typedef union { gint64 i; double r; } Item;

typedef struct
{
  LptDType dtype;
  gboolean real;
  LptShape shape;
  gint64   n;
  Item     v[];
} Small;

typedef struct
{
  GHashTable *memo;      /* LptValue -> Small or NULL */
  guint       nodes, depth;
  gint64      work;
} Context;

static const Small *evaluate (Context *ctx, LptValue *value);

/* --- elements --- */

static gboolean
is_unknown (const Small *s,
            gint64       i)
{
  return s->real ? isnan (s->v[i].r) : s->v[i].i == LPT_UNKNOWN;
}

static Item
unknown (gboolean real)
{
  Item item;

  if (real)
    item.r = NAN;
  else
    item.i = LPT_UNKNOWN;

  return item;
}

/* The value as the element type holds it. */
static gint64
wrap (LptDType dtype,
      gint64   value)
{
  guint bits = lpt_dtype_bits (dtype);

  if (dtype == LPT_DTYPE_BOOL)
    return value != 0;
  if (bits == 0 || bits >= 64)
    return value;
  value = (gint64) ((guint64) value & ((G_GUINT64_CONSTANT (1) << bits) - 1));
  if (lpt_dtype_kind (dtype) == LPT_KIND_SINT && (value >> (bits - 1)) != 0)
    value -= (gint64) (G_GUINT64_CONSTANT (1) << bits);

  return value;
}

static double
round_real (LptDType dtype,
            double   value)
{
  switch (dtype)
    {
    case LPT_DTYPE_F32:
      return (float) value;
    case LPT_DTYPE_F16:
      return lpt_f16_to_f32 (lpt_f32_to_f16 ((float) value));
    case LPT_DTYPE_BF16:
      return lpt_bf16_to_f32 (lpt_f32_to_bf16 ((float) value));
    default:
      return value;
    }
}

static Item
make_int (LptDType dtype,
          gint64   value)
{
  return (Item) { .i = wrap (dtype, value) };
}

static Item
make_real (LptDType dtype,
           double   value)
{
  return (Item) { .r = round_real (dtype, value) };
}

/* Element of any kind as another type: the Convert operation, where it is defined. */
static Item
convert_item (const Small *s,
              gint64       i,
              LptDType     dtype)
{
  gboolean real = lpt_dtype_is_real (dtype);

  if (is_unknown (s, i))
    return unknown (real);
  if (real)
    return make_real (dtype, s->real ? s->v[i].r : (double) s->v[i].i);
  if (!s->real)
    return make_int (dtype, s->v[i].i);
  if (dtype == LPT_DTYPE_BOOL)
    return (Item) { .i = s->v[i].r != 0 };
  if (!(fabs (s->v[i].r) < 9.0e18))
    return unknown (FALSE);

  return make_int (dtype, (gint64) s->v[i].r);
}

/* --- containers --- */

static Small *
small_new (Context        *ctx,
           LptDType        dtype,
           const LptShape *shape)
{
  Small *s;
  gint64 n;

  if (lpt_dtype_kind (dtype) == LPT_KIND_NONE || !lpt_shape_count (shape, &n) || n > MAX_COMPUTED)
    return NULL;
  ctx->work += n + 1;
  if (ctx->work > MAX_WORK)
    return NULL;
  s = g_malloc0 (sizeof *s + (gsize) n * sizeof (Item));
  s->dtype = dtype;
  s->real = lpt_dtype_is_real (dtype);
  s->shape = *shape;
  s->n = n;

  return s;
}

static Small *
small_for (Context  *ctx,
           LptValue *value)
{
  return small_new (ctx, value->dtype, &value->shape);
}

static Small *
from_tensor (Context   *ctx,
             LptTensor *tensor)
{
  Small *s = small_new (ctx, lpt_tensor_dtype (tensor), lpt_tensor_shape (tensor));

  for (gint64 i = 0; s != NULL && i < s->n; i++)
    if (s->real)
      s->v[i].r = lpt_tensor_get_f64 (tensor, i);
    else      /* the least number means unknown here */
      s->v[i].i = MAX (lpt_tensor_get_i64 (tensor, i), LPT_UNKNOWN + 1);

  return s;
}

static const Small *
input (Context *ctx,
       LptNode *node,
       guint    i)
{
  LptValue *value = lpt_node_in (node, i);

  return value != NULL ? evaluate (ctx, value) : NULL;
}

/* One known integer. */
static gboolean
int_input (Context *ctx,
           LptNode *node,
           guint    i,
           gint64  *out)
{
  const Small *s = input (ctx, node, i);

  if (s == NULL || s->real || s->n != 1 || is_unknown (s, 0))
    return FALSE;
  *out = s->v[0].i;

  return TRUE;
}

/* Index of the element of @in that broadcasting puts at element @i of @out. */
static gint64
project (const LptShape *out,
         gint64          i,
         const LptShape *in)
{
  gint64 index = 0, stride = 1;

  for (gint axis = out->rank - 1, from = in->rank - 1; from >= 0 && axis >= 0; axis--, from--)
    {
      gint64 at = i % out->dims[axis];

      i /= out->dims[axis];
      if (in->dims[from] != 1)
        index += MIN (at, in->dims[from] - 1) * stride;
      stride *= in->dims[from];
    }

  return index;
}

/* --- families --- */

static Small *
evaluate_shape_of (Context  *ctx,
                   LptNode  *node,
                   LptValue *out)
{
  LptValue *in = lpt_node_in (node, 0);
  Small *s;

  if (in == NULL || in->shape.rank == LPT_DYNAMIC)
    return NULL;
  s = small_new (ctx, out->dtype, &(LptShape) { 1, { in->shape.rank } });
  for (gint i = 0; s != NULL && i < in->shape.rank; i++)
    s->v[i] = in->shape.dims[i] == LPT_DYNAMIC ? unknown (FALSE) : make_int (out->dtype, in->shape.dims[i]);

  return s;
}

/* Convert, Reshape, Squeeze, Unsqueeze: the same elements. */
static Small *
evaluate_copy (Context  *ctx,
               LptNode  *node,
               LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  Small *s = in != NULL ? small_for (ctx, out) : NULL;

  if (s != NULL && s->n != in->n)
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    s->v[i] = convert_item (in, i, s->dtype);

  return s;
}

static gboolean
divide_ints (LptNode *node,
             gint64   a,
             gint64   b,
             gint64  *out)
{
  gint64 quotient;

  if (b == 0 || b == -1)
    {
      *out = b == -1 ? (gint64) (0 - (guint64) a) : 0;
      return b == -1;
    }
  quotient = a / b;
  if (LPT_ATTRS (node, LptDivideAttrs)->pythondiv && a % b != 0 && (a < 0) != (b < 0))
    quotient--;
  *out = quotient;

  return TRUE;
}

static gboolean
binary_ints (LptNode *node,
             gint64   a,
             gint64   b,
             gint64  *out)
{
  switch (node->op)
    {
    case LPT_OP_ADD:
      *out = (gint64) ((guint64) a + (guint64) b);
      return TRUE;
    case LPT_OP_SUBTRACT:
      *out = (gint64) ((guint64) a - (guint64) b);
      return TRUE;
    case LPT_OP_MULTIPLY:
      *out = (gint64) ((guint64) a * (guint64) b);
      return TRUE;
    case LPT_OP_DIVIDE:
      return divide_ints (node, a, b, out);
    case LPT_OP_MAXIMUM:
      *out = MAX (a, b);
      return TRUE;
    case LPT_OP_MINIMUM:
      *out = MIN (a, b);
      return TRUE;
    case LPT_OP_MOD:
    case LPT_OP_FLOOR_MOD:
      if (b == 0)
        return FALSE;
      *out = b == -1 ? 0 : a % b;
      if (node->op == LPT_OP_FLOOR_MOD && *out != 0 && (*out < 0) != (b < 0))
        *out += b;
      return TRUE;
    case LPT_OP_POWER:
      {
        double power = pow ((double) a, (double) b);

        *out = fabs (power) < 9007199254740992.0 ? (gint64) power : 0;
        return fabs (power) < 9007199254740992.0;
      }
    case LPT_OP_EQUAL:
      *out = a == b;
      return TRUE;
    case LPT_OP_NOT_EQUAL:
      *out = a != b;
      return TRUE;
    case LPT_OP_LESS:
      *out = a < b;
      return TRUE;
    case LPT_OP_LESS_EQUAL:
      *out = a <= b;
      return TRUE;
    case LPT_OP_GREATER:
      *out = a > b;
      return TRUE;
    case LPT_OP_GREATER_EQUAL:
      *out = a >= b;
      return TRUE;
    case LPT_OP_LOGICAL_AND:
      *out = a != 0 && b != 0;
      return TRUE;
    case LPT_OP_LOGICAL_OR:
      *out = a != 0 || b != 0;
      return TRUE;
    case LPT_OP_LOGICAL_XOR:
      *out = (a != 0) != (b != 0);
      return TRUE;
    default:
      return FALSE;
    }
}

static double
binary_reals (LptOp  op,
              double a,
              double b)
{
  switch (op)
    {
    case LPT_OP_ADD:
      return a + b;
    case LPT_OP_SUBTRACT:
      return a - b;
    case LPT_OP_MULTIPLY:
      return a * b;
    case LPT_OP_DIVIDE:
      return a / b;
    case LPT_OP_MAXIMUM:
      return MAX (a, b);
    case LPT_OP_MINIMUM:
      return MIN (a, b);
    case LPT_OP_POWER:
      return pow (a, b);
    case LPT_OP_MOD:
      return fmod (a, b);
    default:
      return NAN;
    }
}

static gboolean
compare_reals (LptOp   op,
               double  a,
               double  b,
               gint64 *out)
{
  switch (op)
    {
    case LPT_OP_EQUAL:
      *out = a == b;
      return TRUE;
    case LPT_OP_NOT_EQUAL:
      *out = a != b;
      return TRUE;
    case LPT_OP_LESS:
      *out = a < b;
      return TRUE;
    case LPT_OP_LESS_EQUAL:
      *out = a <= b;
      return TRUE;
    case LPT_OP_GREATER:
      *out = a > b;
      return TRUE;
    case LPT_OP_GREATER_EQUAL:
      *out = a >= b;
      return TRUE;
    default:
      return FALSE;
    }
}

static Small *
evaluate_binary (Context  *ctx,
                 LptNode  *node,
                 LptValue *out)
{
  const Small *a = input (ctx, node, 0);
  const Small *b = a != NULL ? input (ctx, node, 1) : NULL;
  Small *s;

  if (b == NULL || a->real != b->real)
    return NULL;
  s = small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 ia = project (&s->shape, i, &a->shape);
      gint64 ib = project (&s->shape, i, &b->shape);
      gint64 result;

      s->v[i] = unknown (s->real);
      if (ia >= a->n || ib >= b->n || is_unknown (a, ia) || is_unknown (b, ib))
        continue;
      if (s->real && a->real)
        s->v[i] = make_real (s->dtype, binary_reals (node->op, a->v[ia].r, b->v[ib].r));
      else if (a->real ? compare_reals (node->op, a->v[ia].r, b->v[ib].r, &result)
                       : binary_ints (node, a->v[ia].i, b->v[ib].i, &result))
        {
          if (!s->real)
            s->v[i] = make_int (s->dtype, result);
        }
    }

  return s;
}

static double
unary_real (LptNode *node,
            double   x)
{
  switch (node->op)
    {
    case LPT_OP_ABS:
      return fabs (x);
    case LPT_OP_NEGATIVE:
      return -x;
    case LPT_OP_FLOOR:
      return floor (x);
    case LPT_OP_CEILING:
      return ceil (x);
    case LPT_OP_ROUND:
      return LPT_ATTRS (node, LptRoundAttrs)->mode == LPT_ROUND_MODE_HALF_TO_EVEN ? nearbyint (x) : round (x);
    case LPT_OP_SQRT:
      return sqrt (x);
    case LPT_OP_RELU:
      return MAX (x, 0);
    case LPT_OP_SIGN:
      return (x > 0) - (x < 0);
    case LPT_OP_CLAMP:
      return CLAMP (x, LPT_ATTRS (node, LptClampAttrs)->min, LPT_ATTRS (node, LptClampAttrs)->max);
    default:
      return NAN;
    }
}

static gboolean
unary_int (LptNode *node,
           gint64   x,
           gint64  *out)
{
  switch (node->op)
    {
    case LPT_OP_ABS:
      *out = x < 0 ? (gint64) (0 - (guint64) x) : x;
      return TRUE;
    case LPT_OP_NEGATIVE:
      *out = (gint64) (0 - (guint64) x);
      return TRUE;
    case LPT_OP_FLOOR:
    case LPT_OP_CEILING:
    case LPT_OP_ROUND:
      *out = x;
      return TRUE;
    case LPT_OP_RELU:
      *out = MAX (x, 0);
      return TRUE;
    case LPT_OP_SIGN:
      *out = (x > 0) - (x < 0);
      return TRUE;
    case LPT_OP_LOGICAL_NOT:
      *out = x == 0;
      return TRUE;
    default:
      return FALSE;
    }
}

static Small *
evaluate_unary (Context  *ctx,
                LptNode  *node,
                LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  Small *s = in != NULL ? small_for (ctx, out) : NULL;

  if (s != NULL && (s->n != in->n || s->real != in->real))
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 result;

      if (is_unknown (in, i))
        s->v[i] = unknown (s->real);
      else if (s->real)
        s->v[i] = make_real (s->dtype, unary_real (node, in->v[i].r));
      else
        s->v[i] = unary_int (node, in->v[i].i, &result) ? make_int (s->dtype, result) : unknown (FALSE);
    }

  return s;
}

static Small *
evaluate_select (Context  *ctx,
                 LptNode  *node,
                 LptValue *out)
{
  const Small *in[3];
  Small *s;

  for (guint k = 0; k < 3; k++)
    if ((in[k] = input (ctx, node, k)) == NULL)
      return NULL;
  s = small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 at[3];
      guint pick;

      s->v[i] = unknown (s->real);
      for (guint k = 0; k < 3; k++)
        at[k] = project (&s->shape, i, &in[k]->shape);
      if (at[0] >= in[0]->n || in[0]->real || is_unknown (in[0], at[0]))
        continue;
      pick = in[0]->v[at[0]].i != 0 ? 1 : 2;
      if (at[pick] < in[pick]->n)
        s->v[i] = convert_item (in[pick], at[pick], s->dtype);
    }

  return s;
}

static Small *
evaluate_reduce (Context  *ctx,
                 LptNode  *node,
                 LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  const Small *axes = in != NULL ? input (ctx, node, 1) : NULL;
  gboolean reduced[LPT_MAX_RANK] = { FALSE };
  gint64 count = 1;
  Small *s;

  if (axes == NULL || axes->real)
    return NULL;
  for (gint64 i = 0; i < axes->n; i++)
    {
      gint axis;

      if (is_unknown (axes, i) || !lpt_axis_normalize (axes->v[i].i, in->shape.rank, &axis))
        return NULL;
      if (!reduced[axis] && in->shape.rank > 0)
        count *= in->shape.dims[axis];
      reduced[axis] = TRUE;
    }
  s = small_for (ctx, out);
  if (s == NULL || s->real != in->real || in->n == 0)
    {
      g_free (s);
      return NULL;
    }
  for (gint64 i = 0; i < s->n; i++)
    if (s->real)
      s->v[i].r = node->op == LPT_OP_REDUCE_PROD ? 1 : node->op == LPT_OP_REDUCE_MAX ? -INFINITY
                  : node->op == LPT_OP_REDUCE_MIN ? INFINITY : 0;
    else
      s->v[i].i = node->op == LPT_OP_REDUCE_PROD ? 1 : node->op == LPT_OP_REDUCE_MAX ? G_MININT64 + 1
                  : node->op == LPT_OP_REDUCE_MIN ? G_MAXINT64 : 0;
  for (gint64 i = 0; i < in->n; i++)
    {
      gint64 rest = i, at = 0, stride = 1;
      Item *sum;

      for (gint axis = in->shape.rank - 1; axis >= 0; axis--)
        {
          if (!reduced[axis])
            {
              at += rest % in->shape.dims[axis] * stride;
              stride *= in->shape.dims[axis];
            }
          rest /= in->shape.dims[axis];
        }
      if (at >= s->n)
        break;
      sum = &s->v[at];
      if (is_unknown (in, i) || is_unknown (s, at))
        *sum = unknown (s->real);
      else if (s->real)
        sum->r = node->op == LPT_OP_REDUCE_PROD ? sum->r * in->v[i].r
                 : node->op == LPT_OP_REDUCE_MAX ? MAX (sum->r, in->v[i].r)
                 : node->op == LPT_OP_REDUCE_MIN ? MIN (sum->r, in->v[i].r) : sum->r + in->v[i].r;
      else
        sum->i = node->op == LPT_OP_REDUCE_PROD ? (gint64) ((guint64) sum->i * (guint64) in->v[i].i)
                 : node->op == LPT_OP_REDUCE_MAX ? MAX (sum->i, in->v[i].i)
                 : node->op == LPT_OP_REDUCE_MIN ? MIN (sum->i, in->v[i].i)
                 : (gint64) ((guint64) sum->i + (guint64) in->v[i].i);
    }
  for (gint64 i = 0; i < s->n; i++)
    if (!is_unknown (s, i))
      {
        if (s->real)
          s->v[i] = make_real (s->dtype, node->op == LPT_OP_REDUCE_MEAN ? s->v[i].r / (double) count : s->v[i].r);
        else
          s->v[i] = make_int (s->dtype, node->op == LPT_OP_REDUCE_MEAN ? s->v[i].i / count : s->v[i].i);
      }

  return s;
}

static Small *
evaluate_concat (Context  *ctx,
                 LptNode  *node,
                 LptValue *out)
{
  Small *s = small_for (ctx, out);
  gint64 inner = 1, at = 0;
  gint axis;

  if (s == NULL || !lpt_axis_normalize (LPT_ATTRS (node, LptAxisAttrs)->axis, s->shape.rank, &axis) || s->shape.rank == 0)
    {
      g_free (s);
      return NULL;
    }
  for (gint i = axis + 1; i < s->shape.rank; i++)
    inner *= s->shape.dims[i];
  for (gint64 i = 0; i < s->n; i++)
    s->v[i] = unknown (s->real);
  for (guint k = 0; k < node->n_in; k++)
    {
      const Small *in = input (ctx, node, k);
      LptShape shape = lpt_node_in (node, k) != NULL ? lpt_node_in (node, k)->shape : LPT_SHAPE_ANY;
      gint64 length;

      if (shape.rank != s->shape.rank || shape.dims[axis] == LPT_DYNAMIC)
        {
          g_free (s);
          return NULL;
        }
      length = shape.dims[axis];
      for (gint64 i = 0; in != NULL && inner > 0 && length > 0 && i < in->n; i++)
        {
          gint64 to = i / (length * inner) * s->shape.dims[axis] * inner + (at * inner + i % (length * inner));

          if (to < s->n)
            s->v[to] = convert_item (in, i, s->dtype);
        }
      at += length;
    }

  return s;
}

static Small *
evaluate_gather (Context  *ctx,
                 LptNode  *node,
                 LptValue *out)
{
  const Small *data = input (ctx, node, 0);
  const Small *indices = data != NULL ? input (ctx, node, 1) : NULL;
  gint64 wanted, inner = 1;
  Small *s;
  gint axis;

  if (indices == NULL || indices->real || !int_input (ctx, node, 2, &wanted) ||
      !lpt_axis_normalize (wanted, data->shape.rank, &axis) || data->shape.rank == 0 ||
      LPT_ATTRS (node, LptGatherAttrs)->batch_dims != 0 || (s = small_for (ctx, out)) == NULL)
    return NULL;
  for (gint i = axis + 1; i < data->shape.rank; i++)
    inner *= data->shape.dims[i];
  for (gint64 i = 0; i < s->n && indices->n > 0 && inner > 0; i++)
    {
      gint64 at = i / inner % indices->n;
      gint64 length = data->shape.dims[axis];
      gint64 index = indices->v[at].i;
      gint64 from;

      s->v[i] = unknown (s->real);
      if (is_unknown (indices, at) || index < -length || index >= length)
        continue;
      from = (i / inner / indices->n * length + (index < 0 ? index + length : index)) * inner + i % inner;
      if (from < data->n)
        s->v[i] = convert_item (data, from, s->dtype);
    }

  return s;
}

static void
list_of (const Small *s,
         LptInts     *list)
{
  if (s == NULL || s->real)
    return;
  lpt_ints_fill (list, (guint) s->n, 0);
  for (gint64 i = 0; i < s->n; i++)
    list->v[i] = s->v[i].i;
}

static Small *
evaluate_slice (Context  *ctx,
                LptNode  *node,
                LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  LptInts lists[LPT_SLICE_INPUTS] = { { 0 } };
  LptSlice slice;
  Small *s = NULL;
  gboolean ok;

  if (in == NULL)
    return NULL;
  for (guint k = 1; k < LPT_SLICE_INPUTS; k++)
    list_of (input (ctx, node, k), &lists[k]);
  ok = lpt_slice_plan_lists (node, lists, &slice, NULL);
  for (guint k = 1; k < LPT_SLICE_INPUTS; k++)
    lpt_ints_clear (&lists[k]);
  if (ok && slice.is_known && slice.rank == in->shape.rank)
    s = small_new (ctx, out->dtype, &slice.out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 rest = i, from = 0, stride = 1;

      for (gint axis = slice.rank - 1; axis >= 0; axis--)
        {
          from += (slice.first[axis] + slice.step[axis] * (rest % slice.count[axis])) * stride;
          rest /= slice.count[axis];
          stride *= in->shape.dims[axis];
        }
      s->v[i] = from >= 0 && from < in->n ? convert_item (in, from, s->dtype) : unknown (s->real);
    }

  return s;
}

/* Split, VariadicSplit: output @out starts where those before it end. */
static Small *
evaluate_split (Context  *ctx,
                LptNode  *node,
                LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  gint64 wanted, first = 0, inner = 1;
  Small *s;
  gint axis;

  if (in == NULL || !int_input (ctx, node, 1, &wanted) || in->shape.rank == 0 ||
      !lpt_axis_normalize (wanted, in->shape.rank, &axis))
    return NULL;
  for (guint k = 0; k <= out->index; k++)
    {
      if (node->out[k].shape.rank != in->shape.rank || node->out[k].shape.dims[axis] == LPT_DYNAMIC)
        return NULL;
      if (k < out->index)
        first += node->out[k].shape.dims[axis];
    }
  for (gint i = axis + 1; i < in->shape.rank; i++)
    inner *= in->shape.dims[i];
  s = small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 part = s->shape.dims[axis] * inner;
      gint64 from = i / part * in->shape.dims[axis] * inner + first * inner + i % part;

      s->v[i] = from < in->n ? convert_item (in, from, s->dtype) : unknown (s->real);
    }

  return s;
}

/* Broadcast (numpy, bidirectional), Tile: by the shapes alone. */
static Small *
evaluate_repeat (Context  *ctx,
                 LptNode  *node,
                 LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  Small *s;

  if (in == NULL || in->n == 0 || (node->op == LPT_OP_BROADCAST &&
                                   LPT_ATTRS (node, LptBroadcastAttrs)->mode == LPT_BROADCAST_MODE_EXPLICIT && in->n != 1))
    return NULL;
  s = small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 rest = i, from = 0, stride = 1;

      for (gint axis = s->shape.rank - 1, k = in->shape.rank - 1; axis >= 0 && k >= 0; axis--, k--)
        {
          from += rest % s->shape.dims[axis] % in->shape.dims[k] * stride;
          rest /= s->shape.dims[axis];
          stride *= in->shape.dims[k];
        }
      s->v[i] = convert_item (in, in->n == 1 ? 0 : from, s->dtype);
    }

  return s;
}

static Small *
evaluate_transpose (Context  *ctx,
                    LptNode  *node,
                    LptValue *out)
{
  const Small *in = input (ctx, node, 0);
  const Small *order = in != NULL ? input (ctx, node, 1) : NULL;
  gint64 strides[LPT_MAX_RANK], step[LPT_MAX_RANK];
  Small *s;
  gint rank;

  if (order == NULL || order->real || (order->n != 0 && order->n != in->shape.rank))
    return NULL;
  rank = in->shape.rank;
  lpt_shape_strides (&in->shape, strides);
  for (gint i = 0; i < rank; i++)
    {
      gint64 axis = order->n == 0 ? rank - 1 - i : order->v[i].i;

      if (axis < 0 || axis >= rank)
        return NULL;
      step[i] = strides[axis];
    }
  s = small_for (ctx, out);
  if (s != NULL && s->shape.rank != rank)
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    {
      gint64 rest = i, from = 0;

      for (gint axis = rank - 1; axis >= 0; axis--)
        {
          from += rest % s->shape.dims[axis] * step[axis];
          rest /= s->shape.dims[axis];
        }
      s->v[i] = from < in->n ? convert_item (in, from, s->dtype) : unknown (s->real);
    }

  return s;
}

static Small *
evaluate_range (Context  *ctx,
                LptNode  *node,
                LptValue *out)
{
  const Small *start = input (ctx, node, 0);
  const Small *step = start != NULL ? input (ctx, node, 2) : NULL;
  Small *s;

  if (step == NULL || start->n != 1 || step->n != 1 || is_unknown (start, 0) || is_unknown (step, 0))
    return NULL;
  s = small_for (ctx, out);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    if (s->real)
      s->v[i] = make_real (s->dtype, convert_item (start, 0, LPT_DTYPE_F64).r + (double) i * convert_item (step, 0, LPT_DTYPE_F64).r);
    else
      s->v[i] = make_int (s->dtype, (gint64) ((guint64) convert_item (start, 0, s->dtype).i +
                                              (guint64) i * (guint64) convert_item (step, 0, s->dtype).i));

  return s;
}

/* Scatter into a list: every index replaces one element. */
static Small *
evaluate_scatter (Context  *ctx,
                  LptNode  *node,
                  LptValue *out)
{
  const Small *data = input (ctx, node, 0);
  const Small *indices = data != NULL ? input (ctx, node, 1) : NULL;
  const Small *updates = indices != NULL ? input (ctx, node, 2) : NULL;
  Small *s;

  if (updates == NULL || data->shape.rank != 1 || indices->real || updates->n != indices->n ||
      (node->op != LPT_OP_SCATTER_UPDATE && LPT_ATTRS (node, LptScatterAttrs)->reduction != LPT_REDUCTION_NONE))
    return NULL;
  for (gint64 i = 0; i < indices->n; i++)
    if (is_unknown (indices, i) || indices->v[i].i < -data->n || indices->v[i].i >= data->n)
      return NULL;
  s = small_for (ctx, out);
  if (s != NULL && s->n != data->n)
    g_clear_pointer (&s, g_free);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    s->v[i] = convert_item (data, i, s->dtype);
  for (gint64 i = 0; s != NULL && i < indices->n; i++)
    s->v[indices->v[i].i < 0 ? indices->v[i].i + data->n : indices->v[i].i] = convert_item (updates, i, s->dtype);

  return s;
}

/* --- the walk --- */

typedef Small *(*EvaluateFunc) (Context *ctx, LptNode *node, LptValue *out);

static EvaluateFunc
function_of (LptOp op)
{
  switch (op)
    {
    case LPT_OP_SHAPE_OF:
      return evaluate_shape_of;
    case LPT_OP_CONVERT:
    case LPT_OP_CONVERT_LIKE:
    case LPT_OP_RESHAPE:
    case LPT_OP_SQUEEZE:
    case LPT_OP_UNSQUEEZE:
      return evaluate_copy;
    case LPT_OP_ADD:
    case LPT_OP_SUBTRACT:
    case LPT_OP_MULTIPLY:
    case LPT_OP_DIVIDE:
    case LPT_OP_POWER:
    case LPT_OP_MAXIMUM:
    case LPT_OP_MINIMUM:
    case LPT_OP_MOD:
    case LPT_OP_FLOOR_MOD:
    case LPT_OP_EQUAL:
    case LPT_OP_NOT_EQUAL:
    case LPT_OP_LESS:
    case LPT_OP_LESS_EQUAL:
    case LPT_OP_GREATER:
    case LPT_OP_GREATER_EQUAL:
    case LPT_OP_LOGICAL_AND:
    case LPT_OP_LOGICAL_OR:
    case LPT_OP_LOGICAL_XOR:
      return evaluate_binary;
    case LPT_OP_ABS:
    case LPT_OP_NEGATIVE:
    case LPT_OP_FLOOR:
    case LPT_OP_CEILING:
    case LPT_OP_ROUND:
    case LPT_OP_SQRT:
    case LPT_OP_RELU:
    case LPT_OP_SIGN:
    case LPT_OP_CLAMP:
    case LPT_OP_LOGICAL_NOT:
      return evaluate_unary;
    case LPT_OP_SELECT:
      return evaluate_select;
    case LPT_OP_REDUCE_MAX:
    case LPT_OP_REDUCE_MIN:
    case LPT_OP_REDUCE_MEAN:
    case LPT_OP_REDUCE_SUM:
    case LPT_OP_REDUCE_PROD:
      return evaluate_reduce;
    case LPT_OP_CONCAT:
      return evaluate_concat;
    case LPT_OP_GATHER:
      return evaluate_gather;
    case LPT_OP_STRIDED_SLICE:
    case LPT_OP_SLICE:
      return evaluate_slice;
    case LPT_OP_SPLIT:
    case LPT_OP_VARIADIC_SPLIT:
      return evaluate_split;
    case LPT_OP_BROADCAST:
    case LPT_OP_TILE:
      return evaluate_repeat;
    case LPT_OP_TRANSPOSE:
      return evaluate_transpose;
    case LPT_OP_RANGE:
      return evaluate_range;
    case LPT_OP_SCATTER_UPDATE:
    case LPT_OP_SCATTER_ELEMENTS_UPDATE:
    case LPT_OP_SCATTER_ND_UPDATE:
      return evaluate_scatter;
    default:
      return NULL;
    }
}

static const Small *
evaluate (Context  *ctx,
          LptValue *value)
{
  LptNode *node = value->producer;
  EvaluateFunc func;
  gpointer found;
  Small *s = NULL;

  if (g_hash_table_lookup_extended (ctx->memo, value, NULL, &found))
    return found;
  if (ctx->depth >= MAX_DEPTH || ctx->nodes++ >= MAX_NODES)
    return NULL;
  /* In case of a cycle the value depends on itself: unknown. */
  g_hash_table_insert (ctx->memo, value, NULL);
  if (node->data != NULL)
    s = from_tensor (ctx, node->data);
  else if ((func = function_of (node->op)) != NULL && (node->flags & LPT_NODE_RELAXED) == 0 && value->quant == NULL)
    {
      ctx->depth++;
      s = func (ctx, node, value);
      ctx->depth--;
    }
  g_hash_table_insert (ctx->memo, value, s);

  return s;
}

static void
context_init (Context *ctx)
{
  *ctx = (Context) { .memo = g_hash_table_new_full (NULL, NULL, NULL, g_free) };
}

/* --- public --- */

LptTensor *
lpt_value_evaluate (LptValue *value)
{
  Context ctx;
  const Small *s;
  LptTensor *tensor = NULL;

  if (value->producer->data != NULL)
    return lpt_tensor_ref (value->producer->data);
  if (function_of (value->producer->op) == NULL)
    return NULL;

  context_init (&ctx);
  s = evaluate (&ctx, value);
  for (gint64 i = 0; s != NULL && i < s->n; i++)
    if (is_unknown (s, i))
      s = NULL;
  if (s != NULL)
    {
      LptDType wide = s->real ? LPT_DTYPE_F64 : LPT_DTYPE_I64;
      g_autoptr (LptTensor) plain = lpt_tensor_new_copy (wide, &s->shape, s->v, NULL);

      if (plain != NULL)
        tensor = lpt_tensor_convert (plain, s->dtype, NULL);
    }
  g_hash_table_unref (ctx.memo);

  return tensor;
}

gboolean
lpt_value_ints (LptValue *value,
                LptInts  *out)
{
  LptTensor *data = value->producer->data;
  Context ctx;
  const Small *s;

  if (data != NULL)
    {
      gint64 n = lpt_tensor_count (data);
      gboolean real = lpt_dtype_is_real (lpt_tensor_dtype (data));

      if (n > LPT_EVALUATE_LIMIT)
        return FALSE;
      lpt_ints_fill (out, (guint) n, LPT_UNKNOWN);
      for (gint64 i = 0; i < n; i++)
        if (!real)
          out->v[i] = MAX (lpt_tensor_get_i64 (data, i), LPT_UNKNOWN + 1);
        else if (fabs (lpt_tensor_get_f64 (data, i)) < 9.0e18)
          out->v[i] = (gint64) lpt_tensor_get_f64 (data, i);
      return TRUE;
    }
  if (function_of (value->producer->op) == NULL)
    return FALSE;

  context_init (&ctx);
  s = evaluate (&ctx, value);
  if (s != NULL)
    {
      lpt_ints_fill (out, (guint) s->n, 0);
      for (gint64 i = 0; i < s->n; i++)
        out->v[i] = convert_item (s, i, LPT_DTYPE_I64).i;
    }
  g_hash_table_unref (ctx.memo);

  return s != NULL;
}

gboolean
lpt_value_reals (LptValue  *value,
                 LptFloats *out)
{
  LptTensor *data = value->producer->data;
  Context ctx;
  const Small *s;
  g_autofree double *list = NULL;

  if (data != NULL)
    {
      gint64 n = lpt_tensor_count (data);

      if (n > LPT_EVALUATE_LIMIT)
        return FALSE;
      list = g_new (double, n + 1);
      for (gint64 i = 0; i < n; i++)
        list[i] = lpt_tensor_get_f64 (data, i);
      lpt_floats_set (out, (guint) n, list);
      return TRUE;
    }
  if (function_of (value->producer->op) == NULL)
    return FALSE;

  context_init (&ctx);
  s = evaluate (&ctx, value);
  if (s != NULL)
    {
      list = g_new (double, s->n + 1);
      for (gint64 i = 0; i < s->n; i++)
        list[i] = convert_item (s, i, LPT_DTYPE_F64).r;
      lpt_floats_set (out, (guint) s->n, list);
    }
  g_hash_table_unref (ctx.memo);

  return s != NULL;
}
