/* random-graph.c - random graphs: FakeQuantize with intervals of many kinds and the ops that LPT moves through
 *
 * All data is [N,C,H,W]. Every op reads values that are there already, so that fan-out, diamonds and regions of Concat
 * come by themselves; what nobody reads at the end becomes an output. Weights lie away from the middle between two
 * codes, so that they have one code under any rounding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/random-maker.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

const RandomSizes RANDOM_SMALL = { 1, 4, 6, 5, 3, FALSE, FALSE };
/* Several blocks of rows and columns on every kernel, and their tails. */
const RandomSizes RANDOM_WIDE = { 3, 70, 17, 70, 5, TRUE, FALSE };
/* More than tasks, blocks and tables of the kernels hold, along one axis. */
const RandomSizes RANDOM_LONG = { 2, 4, 4, 5, 3, TRUE, FALSE, 100000 };
const RandomSizes RANDOM_SCALES = { .scales = TRUE };

static LptValue *
pick (Maker *m)
{
  /* The newest ones more often: deep graphs rather than flat ones. */
  guint n = m->values->len;
  return g_ptr_array_index (m->values, chance (m, 0.6) ? n - 1 : (guint) any (m, 0, (gint) n - 1));
}

/* Weights [rows, ...] on 255 or 256 levels, per tensor or per row: FakeQuantize (Const). */
static LptValue *
weights (Maker *m, gint rank, const gint64 *dims)
{
  gint64 count = 1, levels = chance (m, 0.7) ? 255 : 256, row;
  gint n = chance (m, 0.6) ? (gint) dims[0] : 1;
  g_autofree double *low = g_new (double, n), *high = g_new (double, n);
  for (gint i = 0; i < rank; i++)
    count *= dims[i];
  row = count / n;
  for (gint i = 0; i < n; i++)
    {
      high[i] = g_rand_double_range (m->rand, 0.05, 1.0);
      low[i] = levels == 255 ? -high[i] : -high[i] * 128 / 127;
    }
  g_autofree double *values = g_new (double, count);
  for (gint64 i = 0; i < count; i++)
    values[i] = (any (m, -127, 127) + g_rand_double_range (m->rand, -0.4, 0.4)) * high[i / row] / 127;
  LptValue *raw = constant (m, rank, dims, values);
  gint64 ones[5] = { 1, 1, 1, 1, 1 };
  ones[0] = n;
  LptValue *lo = constant (m, rank, ones, low), *hi = constant (m, rank, ones, high);
  LptNode *node = add (m, LPT_OP_FAKE_QUANTIZE, 0, 5, (LptValue *[]) { raw, lo, hi, lo, hi });
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = levels;
  return done (node);
}

/* One number in four is 0, sums of many stay small. */
static LptValue *
real_weights (Maker *m, gint rank, const gint64 *dims)
{
  gint64 count = 1;
  for (gint i = 0; i < rank; i++)
    count *= dims[i];
  g_autofree double *values = g_new (double, count);
  for (gint64 i = 0; i < count; i++)
    values[i] = chance (m, 0.25) ? 0.0 : g_rand_double_range (m->rand, -0.2, 0.2);
  return constant (m, rank, dims, values);
}

/* Codes, and what they mean: Multiply (Subtract (Convert (Const), zero point), scale). */
static LptValue *
coded_weights (Maker *m, gint rank, const gint64 *dims)
{
  LptShape shape = lpt_shape_make (rank, dims);
  gint64 ones[5] = { 1, 1, 1, 1, 1 }, count, i;
  g_assert_true (lpt_shape_count (&shape, &count));
  ones[0] = chance (m, 0.6) ? dims[0] : 1;
  g_autofree double *values = g_new (double, count), *zero = g_new (double, ones[0]), *scale = g_new (double, ones[0]);
  for (i = 0; i < count; i++)
    values[i] = any (m, -127, 127);
  for (i = 0; i < ones[0]; i++)
    {
      zero[i] = any (m, -3, 3);
      scale[i] = g_rand_double_range (m->rand, 0.0005, 0.01);
    }
  g_autoptr (LptTensor) codes = lpt_tensor_from_f64 (LPT_DTYPE_I8, &shape, values, NULL);
  LptValue *w = done (lpt_graph_add_const (m->graph, NULL, codes));
  LptNode *node = add (m, LPT_OP_CONVERT, 0, 1, &w);
  LPT_ATTRS (node, LptConvertAttrs)->destination_type = LPT_DTYPE_F32;
  w = done (node);
  if (chance (m, 0.5))
    w = done (add (m, LPT_OP_SUBTRACT, 1, 2, (LptValue *[]) { w, constant (m, rank, ones, zero) }));
  return done (add (m, LPT_OP_MULTIPLY, 1, 2, (LptValue *[]) { w, constant (m, rank, ones, scale) }));
}

LptValue *
random_any_weights (Maker *m, gint rank, const gint64 *dims)
{
  if (m->sizes->more && chance (m, 0.4))
    return chance (m, 0.5) ? coded_weights (m, rank, dims) : real_weights (m, rank, dims);
  return weights (m, rank, dims);
}

static LptValue *
convolution (Maker *m, LptValue *x, gboolean group)
{
  const gint64 *d = x->shape.dims, k = any (m, 1, (gint) MIN (m->sizes->kernel, MIN (d[2], d[3])));
  LptValue *w = group ? random_any_weights (m, 5, (gint64[]) { d[1], 1, 1, k, k })
                      : random_any_weights (m, 4, (gint64[]) { any (m, 1, m->sizes->channels), d[1], k, k });
  LptNode *node = add (m, group ? LPT_OP_GROUP_CONVOLUTION : LPT_OP_CONVOLUTION, 1, 2, (LptValue *[]) { x, w });
  LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  lpt_ints_fill (&attrs->strides, 2, any (m, 1, 2));
  lpt_ints_fill (&attrs->pads_begin, 2, any (m, 0, (gint) k - 1));
  lpt_ints_fill (&attrs->pads_end, 2, any (m, 0, (gint) k - 1));
  lpt_ints_fill (&attrs->dilations, 2, 1);
  return done (node);
}

static LptValue *
mat_mul (Maker *m, LptValue *x)
{
  const gint64 dims[] = { any (m, 1, m->sizes->columns), x->shape.dims[3] };
  LptNode *node = add (m, LPT_OP_MATMUL, 1, 2, (LptValue *[]) { x, random_any_weights (m, 2, dims) });
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  return done (node);
}

static LptValue *
pool (Maker *m, LptValue *x, gboolean max)
{
  gint64 k = any (m, 1, (gint) MIN (3, MIN (x->shape.dims[2], x->shape.dims[3]))), s = any (m, 1, 2),
         p = k > 1 && chance (m, 0.3);
  LptNode *node = add (m, max ? LPT_OP_MAX_POOL : LPT_OP_AVG_POOL, 1, 1, &x);
#define SET_WINDOW(attrs) \
  lpt_ints_fill (&(attrs)->kernel, 2, k); lpt_ints_fill (&(attrs)->strides, 2, s); \
  lpt_ints_fill (&(attrs)->pads_begin, 2, p); lpt_ints_fill (&(attrs)->pads_end, 2, p)
  if (max)
    {
      LptMaxPoolAttrs *attrs = LPT_ATTRS (node, LptMaxPoolAttrs);
      SET_WINDOW (attrs);
    }
  else
    {
      LptAvgPoolAttrs *attrs = LPT_ATTRS (node, LptAvgPoolAttrs);
      SET_WINDOW (attrs);
      attrs->exclude_pad = chance (m, 0.5);
    }
#undef SET_WINDOW
  return done (node);
}

LptValue *
random_binary (Maker *m, LptOp op, LptValue *x)
{
  LptValue *other = NULL;
  for (guint i = 0; i < m->values->len && chance (m, 0.8); i++)
    {
      LptValue *v = g_ptr_array_index (m->values, i);
      if (v != x && lpt_shape_equal (&v->shape, &x->shape))
        other = v;
    }
  if (other == NULL)
    {
      gint n = chance (m, 0.5) ? (gint) x->shape.dims[1] : 1;
      g_autofree double *values = g_new (double, n);
      for (gint i = 0; i < n; i++)
        values[i] = op != LPT_OP_MULTIPLY ? g_rand_double_range (m->rand, -1.0, 1.0)
                                          : g_rand_double_range (m->rand, 0.1, 2.0) * (chance (m, 0.1) ? -1 : 1);
      other = constant (m, 4, (gint64[]) { 1, n, 1, 1 }, values);
    }
  return done (add (m, op, 1, 2, (LptValue *[]) { x, other }));
}

static LptValue *
concat (Maker *m, LptValue *x)
{
  LptValue *in[3] = { x };
  guint n = 1;
  gint axis = chance (m, 0.8) ? 1 : 2;
  for (guint i = 0; i < m->values->len && n < 3; i++)
    {
      LptValue *v = g_ptr_array_index (m->values, i);
      if (v != x && v->shape.dims[0] == x->shape.dims[0] && v->shape.dims[3 - axis] == x->shape.dims[3 - axis] &&
          v->shape.dims[3] == x->shape.dims[3] && chance (m, 0.6))
        in[n++] = v;
    }
  if (n == 1 || x->shape.dims[axis] > 3 * m->sizes->channels)
    return NULL;
  LptNode *node = add (m, LPT_OP_CONCAT, 1, n, in);
  LPT_ATTRS (node, LptAxisAttrs)->axis = axis;
  return done (node);
}

static LptValue *
split (Maker *m, LptValue *x)
{
  if (x->shape.dims[1] % 2 != 0)
    return NULL;
  g_autoptr (LptTensor) axis = lpt_tensor_scalar (LPT_DTYPE_I64, 1);
  LptValue *in[2] = { x, done (lpt_graph_add_const (m->graph, NULL, axis)) };
  LptNode *node = lpt_graph_add_full (m->graph, lpt_op_info (LPT_OP_SPLIT), 1, NULL, 2, in, 2);
  LPT_ATTRS (node, LptSplitAttrs)->num_splits = 2;
  done (node);
  g_ptr_array_add (m->values, &node->out[1]);
  return lpt_node_out (node);
}

static LptValue *
pad (Maker *m, LptValue *x)
{
  if (x->shape.dims[2] > m->sizes->size + 2 || x->shape.dims[3] > m->sizes->size + 2)
    return NULL;
  gint64 begin[4] = { 0, 0, any (m, 0, 1), any (m, 0, 1) }, end[4] = { 0, 0, any (m, 0, 1), any (m, 0, 1) };
  LptValue *in[3] = { x, indices (m, 4, begin), indices (m, 4, end) };
  LptNode *node = add (m, LPT_OP_PAD, 1, 3, in);
  LPT_ATTRS (node, LptPadAttrs)->pad_mode = chance (m, 0.7) ? LPT_PAD_CONSTANT : LPT_PAD_EDGE;
  return done (node);
}

LptValue *
random_reduce (Maker *m, LptValue *x, LptOp op)
{
  gint64 axes[2] = { 3, 2 };
  LptNode *node = add (m, op, 1, 2, (LptValue *[]) { x, indices (m, (guint) any (m, 1, 2), axes) });
  LPT_ATTRS (node, LptReduceAttrs)->keep_dims = TRUE;
  return done (node);
}

/* Without its first or last row; every second column. */
static LptValue *
slice (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims, first = any (m, 0, 1), begin[2] = { first, 0 }, end[2] = { d[2] - 1 + first, d[3] },
               step[2] = { 1, any (m, 1, 2) };
  const gint64 axes[2] = { 2, 3 };
  if (d[2] < 2)
    return NULL;
  return done (add (m, LPT_OP_SLICE, 8, 5,
                    (LptValue *[]) { x, indices (m, 2, begin), indices (m, 2, end), indices (m, 2, step),
                                     indices (m, 2, axes) }));
}

/* Channels to another place, or into the image. */
static LptValue *
move_channels (Maker *m, LptValue *x)
{
  LptNode *node;
  if (x->shape.dims[1] % 4 == 0 && chance (m, 0.5))
    {
      node = add (m, LPT_OP_DEPTH_TO_SPACE, 1, 1, &x);
      LPT_ATTRS (node, LptDepthToSpaceAttrs)->block_size = 2;
      return done (node);
    }
  if (x->shape.dims[1] % 2 != 0)
    return NULL;
  node = add (m, LPT_OP_SHUFFLE_CHANNELS, 3, 1, &x);
  LPT_ATTRS (node, LptShuffleChannelsAttrs)->axis = 1;
  LPT_ATTRS (node, LptShuffleChannelsAttrs)->group = 2;
  return done (node);
}

static LptValue *
one (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims;
  LptNode *node;
  if (m->sizes->more && chance (m, 0.4))
    return random_another (m, x);
  switch (any (m, 0, 22))
    {
    case 0: case 1: return convolution (m, quantize (m, x), FALSE);
    case 2: return convolution (m, x, TRUE);
    case 3: return mat_mul (m, quantize (m, x));
    case 4: return random_binary (m, LPT_OP_ADD, x);
    case 5: return random_binary (m, LPT_OP_MULTIPLY, x);
    case 6: return done (add (m, LPT_OP_RELU, 1, 1, &x));
    case 7: return pool (m, x, TRUE);
    case 8: return pool (m, x, FALSE);
    case 9: return concat (m, x);
    case 10: return split (m, x);
    case 11: return pad (m, x);
    case 12:
      node = add (m, LPT_OP_RESHAPE, 1, 2,
                  (LptValue *[]) { x, indices (m, 4, (gint64[]) { d[0], d[1], d[2] * d[3], 1 }) });
      return done (node);
    case 13:
      return done (add (m, LPT_OP_TRANSPOSE, 1, 2, (LptValue *[]) { x, indices (m, 4, (gint64[]) { 0, 1, 3, 2 }) }));
    case 14:
      node = add (m, LPT_OP_CLAMP, 1, 1, &x);
      LPT_ATTRS (node, LptClampAttrs)->min = chance (m, 0.5) ? 0.0 : -1.0;
      LPT_ATTRS (node, LptClampAttrs)->max = g_rand_double_range (m->rand, 0.5, 6.0);
      return done (node);
    case 15: return random_binary (m, LPT_OP_SUBTRACT, x);
    case 16: return random_reduce (m, x, LPT_OP_REDUCE_MEAN);
    case 17: return random_reduce (m, x, LPT_OP_REDUCE_MAX);
    case 18: return done (add (m, chance (m, 0.5) ? LPT_OP_SIGMOID : LPT_OP_TANH, 1, 1, &x));
    case 19:
      return done (add (m, LPT_OP_PRELU, 1, 2,
                        (LptValue *[]) { x, constant (m, 1, (gint64[]) { 1 },
                                                      (double[]) { g_rand_double_range (m->rand, 0.05, 0.9) }) }));
    case 20: return slice (m, x);
    case 21: return move_channels (m, x);
    default: return quantize (m, x);
    }
}

LptGraph *
random_graph_new (GRand *rand, const RandomSizes *sizes)
{
  if (sizes->scales)
    return random_scales_new (rand);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Maker m = { rand, lpt_graph_new ("random"), values, sizes };
  gint n_in = any (&m, 1, 2), n_ops = any (&m, 3, 14);
  gint64 dims[4] = { 1, any (&m, 1, sizes->channels), any (&m, 2, sizes->size), any (&m, 2, sizes->size) };
  if (sizes->batch > 1)
    dims[0] = any (&m, 1, sizes->batch);
  if (sizes->longest > 0)
    dims[any (&m, 1, 3)] = (gint64) (exp (g_rand_double_range (rand, log (500), log (sizes->longest))));
  for (gint i = 0; i < n_in; i++)
    {
      LptNode *node = add (&m, LPT_OP_PARAMETER, 0, 0, NULL);
      LPT_ATTRS (node, LptParameterAttrs)->shape = lpt_shape_make (4, dims);
      LPT_ATTRS (node, LptParameterAttrs)->element_type = LPT_DTYPE_F32;
      LptValue *x = done (node);
      g_ptr_array_add (values, chance (&m, 0.9) ? quantize (&m, x) : x);
    }
  for (gint i = 0; i < n_ops; i++)
    {
      LptValue *value = one (&m, pick (&m));
      if (value != NULL)
        g_ptr_array_add (values, value);
    }
  for (guint i = 0, n = 0; i < values->len; i++)
    {
      LptValue *value = g_ptr_array_index (values, i);
      if (lpt_value_n_uses (value) > 0)
        continue;
      LptNode *result = add (&m, LPT_OP_RESULT, 0, 1, &value);
      g_autofree char *name = g_strdup_printf ("y%u", n++);
      lpt_attr_parse (lpt_attrs_find (result->info, 0, "output"), result->attrs, name, NULL);
    }
  return m.graph;
}
