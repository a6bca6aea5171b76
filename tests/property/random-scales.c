/* random-scales.c - small random graphs: one to three ops of any kind, rank and axes behind scales along any axis
 *
 * What the rules of single passes rest on, and random-graph.c never draws: constants that are equal and yet have a
 * shape, axes that are not the channels, f16, eps that shows, ops in bodies. Values lie away from the middle between
 * two codes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/random-graph.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

#define MOST 600     /* elements of a value */
typedef struct
{
  GRand    *rand;
  LptGraph *graph;
  LptDType  real;    /* element type of the real values */
} Maker;

static gint
any (Maker *m, gint lo, gint hi)      /* both included */
{
  return g_rand_int_range (m->rand, lo, hi + 1);
}

static gboolean
chance (Maker *m, double p)
{
  return g_rand_double (m->rand) < p;
}

/* NULL when inference refuses it: not every draw is an op. */
static LptValue *
done (LptNode *node)
{
  return lpt_node_infer (node, NULL) ? lpt_node_out (node) : NULL;
}

static LptNode *
add (Maker *m, LptOp op, guint opset, guint n_in, LptValue *const *in)
{
  return lpt_graph_add (m->graph, op, opset, NULL, n_in, in);
}

static void
set (LptNode *node, const char *name, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  gboolean ok = lpt_attr_parse (lpt_attrs_find (node->info, node->opset, name), node->attrs, text, NULL);
  g_assert_true (ok);
}

static void
fill (LptNode *node, const char *name, guint n, gint64 value)
{
  lpt_ints_fill (LPT_ATTR_PTR (node->attrs, lpt_attrs_find (node->info, node->opset, name)), n, value);
}

static LptValue *
binary (Maker *m, LptOp op, LptValue *a, LptValue *b)
{
  return done (add (m, op, 1, 2, (LptValue *[]) { a, b }));
}

static LptValue *
constant (Maker *m, LptDType dtype, gint rank, const gint64 *dims, const double *values)
{
  LptShape shape = lpt_shape_make (rank, dims);
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (dtype, &shape, values, NULL);
  return done (lpt_graph_add_const (m->graph, NULL, tensor));
}

static LptValue *
number (Maker *m, LptDType dtype, double value)
{
  return constant (m, dtype, 0, NULL, &value);
}

static LptValue *
indices (Maker *m, guint n, const gint64 *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 (n, values);
  return done (lpt_graph_add_const (m->graph, NULL, tensor));
}

static LptValue *
convert (Maker *m, LptValue *x, LptDType dtype)
{
  LptNode *node = add (m, LPT_OP_CONVERT, 0, 1, &x);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = dtype;
  return done (node);
}

/* Shape of a constant beside @x: one number in any number of brackets, along one axis (rarely two), with or without the
 * ones in front. */
static LptShape
shape_beside (Maker *m, LptValue *x)
{
  LptShape shape = { .rank = x->shape.rank };
  gint rank = x->shape.rank, kind = any (m, 0, 10), axis = any (m, 0, MAX (rank - 1, 0));
  for (gint d = 0; d < rank; d++)
    shape.dims[d] = 1;
  if (kind < 3 || rank == 0)
    {
      shape.rank = kind == 0 ? 0 : any (m, 0, rank);
      return shape;
    }
  if (kind < 7 && rank > 1)
    axis = 1;
  shape.dims[axis] = x->shape.dims[axis];
  if (kind == 10)
    {
      axis = MIN (axis, any (m, 0, rank - 1));
      shape.dims[axis] = x->shape.dims[axis];
    }
  if (chance (m, 0.3))
    for (gint cut = any (m, 0, axis); cut > 0 && shape.dims[0] == 1; cut--)
      {
        for (gint d = 1; d < shape.rank; d++)
          shape.dims[d - 1] = shape.dims[d];
        shape.rank--;
      }
  return shape;
}

enum { SCALES, ZEROS, OFFSETS };

/* Numbers along @shape, all the same or not. */
static double *
numbers (Maker *m, const LptShape *shape, gint kind, gboolean is_signed)
{
  gint64 count;
  gboolean same = chance (m, 0.4), below = chance (m, 0.1), fraction = chance (m, 0.05);
  lpt_shape_count (shape, &count);
  double *v = g_new (double, count), size = exp (g_rand_double_range (m->rand, -6.0, 0.7));
  for (gint64 i = 0; i < count; i++)
    if (i > 0 && same)
      v[i] = v[0];
    else if (kind == SCALES)
      v[i] = size * g_rand_double_range (m->rand, 0.3, 2.0) * (below && chance (m, 0.5) ? -1 : 1);
    else if (kind == ZEROS)
      v[i] = (is_signed ? any (m, -100, 100) : any (m, 0, 200)) + (fraction ? 0.32 : 0.0);
    else
      v[i] = g_rand_double_range (m->rand, -3.0, 3.0);
  return v;
}

static LptValue *
beside (Maker *m, LptValue *x, gint kind, LptDType dtype, gboolean is_signed)
{
  LptShape shape = shape_beside (m, x);
  g_autofree double *v = numbers (m, &shape, kind, is_signed);
  return constant (m, dtype, shape.rank, shape.dims, v);
}

/* --- where data comes from --- */

static LptValue *
parameter (Maker *m, LptDType dtype, gint rank, const gint64 *dims)
{
  LptNode *node = add (m, LPT_OP_PARAMETER, 0, 0, NULL);
  LPT_ATTRS (node, LptParameterAttrs)->shape = lpt_shape_make (rank, dims);
  LPT_ATTRS (node, LptParameterAttrs)->element_type = dtype;
  return done (node);
}

/* FakeQuantize of x / 100, whose codes are written as (code - zero) scale along a shape. */
static LptValue *
fake_quantize (Maker *m, LptValue *x)
{
  LptShape shape = shape_beside (m, x);
  g_autofree double *scale = numbers (m, &shape, SCALES, FALSE), *zero = numbers (m, &shape, ZEROS, FALSE);
  gboolean centred = chance (m, 0.5), unsigned_codes = chance (m, 0.4);
  gint64 count;
  int exponent;
  lpt_shape_count (&shape, &count);
  g_autofree double *low = g_new (double, count), *high = g_new (double, count);
  for (gint64 i = 0; i < count; i++)
    {
      double z = unsigned_codes ? 0 : floor (zero[i]), s = fabs (scale[i]);
      /* f16 holds all codes times such a scale. */
      if (m->real == LPT_DTYPE_F16)
        {
          double fraction = ceil (frexp (s, &exponent) * 7);
          s = ldexp (fraction, exponent - 3);
        }
      low[i] = -z * s;
      high[i] = (255 - z) * s;
    }
  LptValue *in[5] = { x, number (m, m->real, centred ? -1.28 : 0.0), number (m, m->real, centred ? 1.27 : 2.55),
                      constant (m, m->real, shape.rank, shape.dims, low),
                      constant (m, m->real, shape.rank, shape.dims, high) };
  LptNode *node = add (m, LPT_OP_FAKE_QUANTIZE, 0, 5, in);
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = 256;
  return done (node);
}

static LptValue *
source (Maker *m)
{
  static const gint64 lengths[] = { 1, 2, 3, 4, 4, 6, 8, 12 };
  gint64 dims[5], count = 1;
  gint rank = chance (m, 0.6) ? any (m, 3, 4) : any (m, 1, 5), kind = any (m, 0, 9);
  for (gint d = 0; d < rank; d++)
    {
      dims[d] = lengths[any (m, 0, d == 0 ? 2 : (gint) G_N_ELEMENTS (lengths) - 1)];
      if (count * dims[d] > MOST)
        dims[d] = 1;
      count *= dims[d];
    }
  if (kind < 4)
    return fake_quantize (m, parameter (m, m->real, rank, dims));
  if (kind == 4)      /* real, and scaled as in a network that nobody quantized */
    {
      LptValue *x = parameter (m, m->real, rank, dims), *in[2] = { x, beside (m, x, SCALES, m->real, FALSE) };
      return chance (m, 0.3) ? x : done (add (m, LPT_OP_MULTIPLY, 1, 2, in));
    }
  LptDType low = chance (m, 0.6) ? LPT_DTYPE_U8 : LPT_DTYPE_I8;
  LptValue *x = convert (m, parameter (m, low, rank, dims), m->real);
  if (chance (m, 0.4))
    x = binary (m, LPT_OP_SUBTRACT, x, beside (m, x, ZEROS, m->real, low == LPT_DTYPE_I8));
  return x == NULL ? NULL : binary (m, LPT_OP_MULTIPLY, x, beside (m, x, SCALES, m->real, FALSE));
}

/* --- ops --- */

/* Some axes, each once, in any order, counted from either end. */
static LptValue *
some_axes (Maker *m, gint rank)
{
  gint64 axes[5], n = 0;
  for (gint d = 0; d < rank; d++)
    if (chance (m, 0.5))
      axes[n++] = d;
  if (n == 0)
    axes[n++] = any (m, 0, rank - 1);
  if (chance (m, 0.3))
    for (gint64 i = 0; i < n; i++)
      axes[i] -= rank;
  return indices (m, (guint) n, axes);
}

static LptValue *
normalize (Maker *m, LptValue *x)
{
  gboolean last = x->producer->op == LPT_OP_MATMUL && chance (m, 0.6);      /* channels, there */
  LptValue *in[2] = { x, last ? indices (m, 1, (gint64[]) { -1 }) : some_axes (m, x->shape.rank) };
  LptNode *node = add (m, last || chance (m, 0.7) ? LPT_OP_MVN : LPT_OP_NORMALIZE_L2, 6, 2, in);
  set (node, "eps", "%.6g", exp (g_rand_double_range (m->rand, -28.0, -4.0)));
  if (node->op == LPT_OP_MVN)
    {
      LPT_ATTRS (node, LptMvnAttrs)->normalize_variance = chance (m, 0.75);
      LPT_ATTRS (node, LptMvnAttrs)->eps_mode = any (m, 0, 1);
    }
  else
    LPT_ATTRS (node, LptNormalizeL2Attrs)->eps_mode = any (m, 0, 1);
  return done (node);
}

static LptValue *
move_blocks (Maker *m, LptValue *x)
{
  gint rank = x->shape.rank;
  gint64 block[5] = { 1, 1, 1, 1, 1 }, zero[5] = { 0 }, more[5] = { 0 };
  LptNode *node;
  if (chance (m, 0.6))
    {
      node = add (m, chance (m, 0.7) ? LPT_OP_DEPTH_TO_SPACE : LPT_OP_SPACE_TO_DEPTH, 1, 1, &x);
      LPT_ATTRS (node, LptDepthToSpaceAttrs)->block_size = 2;
      set (node, "mode", chance (m, 0.5) ? "blocks_first" : "depth_first");
      return done (node);
    }
  for (gint d = 1; d < rank; d++)
    {
      block[d] = any (m, 1, 2);
      more[d] = chance (m, 0.2);
    }
  LptValue *in[4] = { x, indices (m, (guint) rank, block), indices (m, (guint) rank, zero),
                      indices (m, (guint) rank, more) };
  return done (add (m, chance (m, 0.5) ? LPT_OP_SPACE_TO_BATCH : LPT_OP_BATCH_TO_SPACE, 2, 4, in));
}

static LptValue *
reduce (Maker *m, LptValue *x)
{
  static const LptOp ops[] = { LPT_OP_REDUCE_MEAN, LPT_OP_REDUCE_MEAN, LPT_OP_REDUCE_SUM, LPT_OP_REDUCE_MAX,
                               LPT_OP_REDUCE_MIN };
  LptNode *node = add (m, ops[any (m, 0, G_N_ELEMENTS (ops) - 1)], 1, 2,
                       (LptValue *[]) { x, some_axes (m, x->shape.rank) });
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = chance (m, 0.6);
  return done (node);
}

static LptValue *
reshape (Maker *m, LptValue *x)
{
  gint64 dims[5], n = 0, join = any (m, 0, 3);
  const LptShape *shape = &x->shape;
  for (gint d = 0; d < shape->rank; d++)
    if (n > 0 && chance (m, 0.4) && join > 0)
      dims[n - 1] *= shape->dims[d];
    else if (n < 4 && shape->dims[d] % 2 == 0 && chance (m, 0.3))
      {
        dims[n++] = shape->dims[d] / 2;
        dims[n++] = 2;
      }
    else if (n < 5)
      dims[n++] = shape->dims[d];
    else
      dims[n - 1] *= shape->dims[d];
  return binary (m, LPT_OP_RESHAPE, x, indices (m, (guint) n, dims));
}

static LptValue *
transpose (Maker *m, LptValue *x)
{
  gint64 order[5];
  gint rank = x->shape.rank;
  for (gint i = 0; i < rank; i++)
    order[i] = i;
  for (gint i = rank - 1; i > 0; i--)
    {
      gint k = any (m, chance (m, 0.4) ? 0 : MIN (i, 2), i);
      gint64 t = order[i];
      order[i] = order[k];
      order[k] = t;
    }
  return binary (m, LPT_OP_TRANSPOSE, x, indices (m, (guint) rank, order));
}

static LptValue *
squeeze (Maker *m, LptValue *x)
{
  gint64 axis = any (m, 0, x->shape.rank);
  if (chance (m, 0.5) && x->shape.rank < 5)
    return binary (m, LPT_OP_UNSQUEEZE, x, indices (m, 1, &axis));
  for (axis = 0; axis < x->shape.rank && (x->shape.dims[axis] != 1 || chance (m, 0.3)); axis++)
    ;
  return axis == x->shape.rank ? NULL : binary (m, LPT_OP_SQUEEZE, x, indices (m, 1, &axis));
}

static LptValue *
cut (Maker *m, LptValue *x)
{
  gint rank = x->shape.rank;
  gint64 axis = any (m, 0, rank - 1), n = x->shape.dims[axis], begin[5] = { 0 }, end[5], step[5], picked[3];
  LptValue *list;
  LptNode *node;
  for (gint d = 0; d < rank; d++)
    {
      end[d] = x->shape.dims[d];
      step[d] = 1;
    }
  begin[axis] = any (m, 0, (gint) n - 1);
  end[axis] = any (m, (gint) begin[axis] + 1, (gint) n);
  step[axis] = any (m, 1, 2);
  switch (any (m, 0, 4))
    {
    case 0:
      return done (add (m, LPT_OP_SLICE, 8, 5,
                        (LptValue *[]) { x, indices (m, 1, &begin[axis]), indices (m, 1, &end[axis]),
                                         indices (m, 1, &step[axis]), indices (m, 1, &axis) }));
    case 1:
      node = add (m, LPT_OP_STRIDED_SLICE, 1, 4,
                  (LptValue *[]) { x, indices (m, (guint) rank, begin), indices (m, (guint) rank, end),
                                   indices (m, (guint) rank, step) });
      fill (node, "begin_mask", (guint) rank, 0);
      fill (node, "end_mask", (guint) rank, 0);
      if (chance (m, 0.3))
        {
          fill (node, "shrink_axis_mask", (guint) rank, 0);
          LPT_ATTRS (node, LptStridedSliceAttrs)->shrink_axis_mask.v[axis] = 1;
        }
      return done (node);
    case 2:
      for (gint i = 0; i < 3; i++)
        picked[i] = any (m, 0, (gint) n - 1);
      list = chance (m, 0.3) ? number (m, LPT_DTYPE_I64, (double) picked[0])
                             : indices (m, (guint) any (m, 1, 3), picked);
      return done (add (m, LPT_OP_GATHER, 8, 3, (LptValue *[]) { x, list, number (m, LPT_DTYPE_I64, (double) axis) }));
    case 3:
      if (n < 2)
        return NULL;
      step[0] = any (m, 1, (gint) n - 1);
      step[1] = -1;
      node = lpt_graph_add_full (m->graph, lpt_op_info (LPT_OP_VARIADIC_SPLIT), 1, NULL, 3,
                                 (LptValue *[]) { x, number (m, LPT_DTYPE_I64, (double) axis), indices (m, 2, step) },
                                 2);
      return done (node) == NULL ? NULL : &node->out[any (m, 0, 1)];
    default:
      if (n % 2 != 0)
        return NULL;
      node = lpt_graph_add_full (m->graph, lpt_op_info (LPT_OP_SPLIT), 1, NULL, 2,
                                 (LptValue *[]) { x, number (m, LPT_DTYPE_I64, (double) axis) }, 2);
      LPT_ATTRS (node, LptSplitAttrs)->num_splits = 2;
      return done (node) == NULL ? NULL : &node->out[any (m, 0, 1)];
    }
}

static LptValue *
widen (Maker *m, LptValue *x, LptValue *first)
{
  gint rank = x->shape.rank;
  static const char *const modes[] = { "constant", "constant", "edge", "reflect", "symmetric" };
  gint64 axis = any (m, 0, rank - 1), ones[5] = { 1, 1, 1, 1, 1 }, begin[5] = { 0 }, end[5] = { 0 }, to[5];
  LptNode *node;
  switch (any (m, 0, 3))
    {
    case 0:
      node = add (m, LPT_OP_CONCAT, 1, 2,
                  (LptValue *[]) { x, first->shape.rank == rank && chance (m, 0.5) ? first : x });
      LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
      return done (node);
    case 1:
      ones[axis] = 2;
      return binary (m, LPT_OP_TILE, x, indices (m, (guint) rank, ones));
    case 2:
      for (gint d = 0; d < rank; d++)
        to[d] = x->shape.dims[d] == 1 ? any (m, 1, 3) : x->shape.dims[d];
      node = add (m, LPT_OP_BROADCAST, 3, 2, (LptValue *[]) { x, indices (m, (guint) rank, to) });
      return done (node);
    default:
      begin[axis] = any (m, 0, 2);
      end[axis] = any (m, -1, 1);
      node = add (m, LPT_OP_PAD, 1, 4,
                  (LptValue *[]) { x, indices (m, (guint) rank, begin), indices (m, (guint) rank, end),
                                   number (m, m->real, chance (m, 0.7) ? 0.0 : 0.5) });
      set (node, "pad_mode", "%s", modes[any (m, 0, G_N_ELEMENTS (modes) - 1)]);
      return done (node);
    }
}

static LptValue *
window (Maker *m, LptValue *x)
{
  guint n = (guint) MAX (x->shape.rank - 2, 0);
  gint64 k = any (m, 1, 2), s = any (m, 1, 2), p = k > 1 && chance (m, 0.3);
  LptNode *node = add (m, chance (m, 0.5) ? LPT_OP_MAX_POOL : LPT_OP_AVG_POOL, 1, 1, &x);
  if (n == 0)
    return NULL;
  fill (node, "kernel", n, k);
  fill (node, "strides", n, s);
  fill (node, "pads_begin", n, p);
  fill (node, "pads_end", n, p);
  if (node->op == LPT_OP_AVG_POOL)
    LPT_ATTRS (node, LptAvgPoolAttrs)->exclude_pad = chance (m, 0.5);
  return done (node);
}

/* i8 weights with a scale per row or one for all. */
static LptValue *
weights (Maker *m, gint rank, const gint64 *dims)
{
  gint64 count = 1, ones[5] = { 1, 1, 1, 1, 1 };
  for (gint d = 0; d < rank; d++)
    count *= dims[d];
  g_autofree double *values = g_new (double, count), *scale = g_new (double, dims[0]);
  for (gint64 i = 0; i < count; i++)
    values[i] = any (m, -127, 127);
  ones[0] = chance (m, 0.6) ? dims[0] : 1;
  for (gint64 i = 0; i < ones[0]; i++)
    scale[i] = i > 0 && chance (m, 0.3) ? scale[0] : g_rand_double_range (m->rand, 0.002, 0.02);
  LptValue *w = convert (m, constant (m, LPT_DTYPE_I8, rank, dims, values), m->real);
  return binary (m, LPT_OP_MULTIPLY, w, constant (m, m->real, rank, ones, scale));
}

static LptValue *
product (Maker *m, LptValue *x)
{
  gint rank = x->shape.rank;
  LptNode *node;
  if (rank == 4 && chance (m, 0.4))
    {
      LptValue *w = weights (m, 4, (gint64[]) { any (m, 1, 4), x->shape.dims[1], 1, 1 });
      node = add (m, LPT_OP_CONVOLUTION, 1, 2, (LptValue *[]) { x, w });
      fill (node, "strides", 2, 1);
      fill (node, "pads_begin", 2, 0);
      fill (node, "pads_end", 2, 0);
      fill (node, "dilations", 2, 1);
      return done (node);
    }
  if (rank < 2)
    return NULL;
  node = add (m, LPT_OP_MATMUL, 1, 2,
              (LptValue *[]) { x, weights (m, 2, (gint64[]) { any (m, 1, 6), x->shape.dims[rank - 1] }) });
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  x = done (node);
  return x != NULL && chance (m, 0.5) ? normalize (m, x) : x;
}

static LptValue *
each (Maker *m, LptValue *x, LptValue *first)
{
  static const LptOp unary[] = { LPT_OP_RELU, LPT_OP_RELU, LPT_OP_SIGMOID, LPT_OP_TANH, LPT_OP_ABS };
  LptNode *node;
  switch (any (m, 0, 9))
    {
    case 0:
      node = add (m, LPT_OP_CLAMP, 1, 1, &x);
      set (node, "min", "%.4g", g_rand_double_range (m->rand, -2.0, 0.0));
      set (node, "max", "%.4g", g_rand_double_range (m->rand, 0.1, 4.0));
      return done (node);
    case 1: return binary (m, LPT_OP_PRELU, x, number (m, m->real, g_rand_double_range (m->rand, 0.05, 0.9)));
    case 2: case 3: return binary (m, LPT_OP_ADD, x, beside (m, x, OFFSETS, m->real, FALSE));
    case 4: return binary (m, LPT_OP_SUBTRACT, x, beside (m, x, OFFSETS, m->real, FALSE));
    case 5: case 6: return binary (m, LPT_OP_MULTIPLY, x, beside (m, x, SCALES, m->real, FALSE));
    case 7: return binary (m, chance (m, 0.6) ? LPT_OP_ADD : LPT_OP_MULTIPLY, x, first);
    default: return done (add (m, unary[any (m, 0, G_N_ELEMENTS (unary) - 1)], 1, 1, &x));
    }
}

static LptValue *
one (Maker *m, LptValue *x, LptValue *first)
{
  LptNode *node;
  if (x->shape.rank == 0)
    return each (m, x, first);
  switch (any (m, 0, 23))
    {
    case 0: case 1: case 2: return normalize (m, x);
    case 3: case 4: return move_blocks (m, x);
    case 5: case 6: return reduce (m, x);
    case 7: return reshape (m, x);
    case 8: return transpose (m, x);
    case 9: return squeeze (m, x);
    case 10: case 11: return cut (m, x);
    case 12: case 13: return widen (m, x, first);
    case 14: return window (m, x);
    case 15: case 16: case 19: case 20: return product (m, x);
    case 17:
      node = add (m, LPT_OP_SOFTMAX, 8, 1, &x);
      LPT_ATTRS (node, LptSoftMaxAttrs)->axis = any (m, 0, x->shape.rank - 1);
      return done (node);
    case 18:
      node = add (m, LPT_OP_SHUFFLE_CHANNELS, 3, 1, &x);
      LPT_ATTRS (node, LptShuffleChannelsAttrs)->axis = any (m, 0, x->shape.rank - 1);
      LPT_ATTRS (node, LptShuffleChannelsAttrs)->group = 2;
      return x->shape.dims[LPT_ATTRS (node, LptShuffleChannelsAttrs)->axis] % 2 == 0 ? done (node) : NULL;
    default: return each (m, x, first);
    }
}

static gboolean
fits (const LptValue *value)
{
  gint64 count;
  return value->shape.rank <= 5 && lpt_shape_count (&value->shape, &count) && count > 0 && count <= 4 * MOST;
}

/* The ops, from inputs to results. */
static LptGraph *
plain (GRand *rand, LptDType real)
{
  for (;;)
    {
      Maker m = { rand, lpt_graph_new ("random"), real };
      LptValue *x = source (&m), *first = x, *inner = NULL;
      gint n = any (&m, 1, 3);
      for (gint i = 0; i < 4 * n && x != NULL && n > 0; i++)
        {
          LptValue *y = one (&m, x, first);
          if (y == NULL || !fits (y))
            continue;
          inner = chance (&m, 0.1) ? x : inner;
          x = y;
          n--;
        }
      if (x != NULL && x != first)
        {
          set (add (&m, LPT_OP_RESULT, 0, 1, &x), "output", "y");
          if (inner != NULL)
            set (add (&m, LPT_OP_RESULT, 0, 1, &inner), "output", "inner");
          lpt_graph_sweep (m.graph);
          return m.graph;
        }
      lpt_graph_free (m.graph);
    }
}

LptGraph *
random_scales_new (GRand *rand)
{
  for (;;)
    {
      LptDType real = g_rand_double (rand) < 0.25 ? LPT_DTYPE_F16 : LPT_DTYPE_F32;
      LptGraph *graph = plain (rand, real);
      if (g_rand_double (rand) < 0.06)
        graph = random_body_new (rand, graph);
      if (graph != NULL)
        return graph;
    }
}
