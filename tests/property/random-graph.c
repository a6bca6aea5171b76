/* random-graph.c - random graphs: FakeQuantize with intervals of many kinds and the ops that LPT moves through
 *
 * All data is [N,C,H,W]. Every op reads values that are there already, so that fan-out, diamonds and regions of Concat
 * come by themselves; what nobody reads at the end becomes an output. Weights lie away from the middle between two
 * codes, so that they have one code under any rounding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/random-graph.h"

#include <lpt/lpt-attrs.h>

#include <math.h>

typedef struct
{
  GRand     *rand;
  LptGraph  *graph;
  GPtrArray *values;     /* LptValue *: activations */
  const RandomSizes *sizes;
} Maker;

const RandomSizes RANDOM_SMALL = { 1, 4, 6, 5, 3, FALSE, FALSE };
/* Several blocks of rows and columns on every kernel, and their tails. */
const RandomSizes RANDOM_WIDE = { 3, 70, 17, 70, 5, TRUE, FALSE };
const RandomSizes RANDOM_SCALES = { .scales = TRUE };

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

static LptValue *
pick (Maker *m)
{
  /* The newest ones more often: deep graphs rather than flat ones. */
  guint n = m->values->len;
  return g_ptr_array_index (m->values, chance (m, 0.6) ? n - 1 : (guint) any (m, 0, (gint) n - 1));
}

static LptNode *
add (Maker *m, LptOp op, guint opset, guint n_in, LptValue *const *in)
{
  return lpt_graph_add (m->graph, op, opset, NULL, n_in, in);
}

static LptValue *
done (LptNode *node)
{
  g_autoptr (GError) error = NULL;
  lpt_node_infer (node, &error);
  g_assert_no_error (error);
  return lpt_node_out (node);
}

static LptValue *
constant (Maker *m, gint rank, const gint64 *dims, const double *values)
{
  LptShape shape = lpt_shape_make (rank, dims);
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);
  return done (lpt_graph_add_const (m->graph, NULL, tensor));
}

static LptValue *
indices (Maker *m, guint n, const gint64 *values)
{
  g_autoptr (LptTensor) tensor = lpt_tensor_vector_i64 (n, values);
  return done (lpt_graph_add_const (m->graph, NULL, tensor));
}

static LptValue *
fake_quantize (Maker *m, LptValue *x, gint channels, const double *low, const double *high, gint64 levels)
{
  gint64 dims[4] = { 1, 1, 1, 1 };
  dims[1] = channels;
  LptValue *lo = constant (m, x->shape.rank, dims, low), *hi = constant (m, x->shape.rank, dims, high);
  LptNode *node = add (m, LPT_OP_FAKE_QUANTIZE, 0, 5, (LptValue *[]) { x, lo, hi, lo, hi });
  LPT_ATTRS (node, LptFakeQuantizeAttrs)->levels = levels;
  return done (node);
}

/* Signed, unsigned and in between, per tensor or per channel. */
static LptValue *
quantize (Maker *m, LptValue *x)
{
  gint n = chance (m, 0.15) ? (gint) x->shape.dims[1] : 1, kind = any (m, 0, 3);
  g_autofree double *low = g_new (double, n), *high = g_new (double, n);
  for (gint i = 0; i < n; i++)
    {
      double width = exp (g_rand_double_range (m->rand, -1.0, 2.5));
      low[i] = kind == 0 ? 0.0 : kind == 1 ? -width * 128 / 127 : -width * g_rand_double_range (m->rand, 0.05, 0.95);
      high[i] = kind == 0 || kind == 1 ? width : width + low[i];
    }
  return fake_quantize (m, x, n, low, high, m->sizes->more && chance (m, 0.15) ? chance (m, 0.5) ? 255 : 16 : 256);
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

static LptValue *
any_weights (Maker *m, gint rank, const gint64 *dims)
{
  if (m->sizes->more && chance (m, 0.4))
    return chance (m, 0.5) ? coded_weights (m, rank, dims) : real_weights (m, rank, dims);
  return weights (m, rank, dims);
}

static LptValue *
convolution (Maker *m, LptValue *x, gboolean group)
{
  const gint64 *d = x->shape.dims, k = any (m, 1, (gint) MIN (m->sizes->kernel, MIN (d[2], d[3])));
  LptValue *w = group ? any_weights (m, 5, (gint64[]) { d[1], 1, 1, k, k })
                      : any_weights (m, 4, (gint64[]) { any (m, 1, m->sizes->channels), d[1], k, k });
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
  LptNode *node = add (m, LPT_OP_MATMUL, 1, 2,
                       (LptValue *[]) {
                           x, any_weights (m, 2, (gint64[]) { any (m, 1, m->sizes->columns), x->shape.dims[3] }) });
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

/* By a constant (one number or one per channel), or by another value of that shape. */
static LptValue *
binary (Maker *m, LptOp op, LptValue *x)
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

/* Over the image, or its columns. */
static LptValue *
reduce (Maker *m, LptValue *x, LptOp op)
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

/* Groups, of several channels and several results each; strides, dilations and pads of their own on each axis. */
static LptValue *
odd_convolution (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims, groups = d[1] % 2 == 0 ? d[1] % 4 == 0 && chance (m, 0.5) ? 4 : 2 : d[1];
  const gint64 kh = any (m, 1, (gint) MIN (m->sizes->kernel, d[2])),
               kw = any (m, 1, (gint) MIN (m->sizes->kernel, d[3]));
  gboolean group = chance (m, 0.6);
  LptValue *w = group ? any_weights (m, 5, (gint64[]) { groups, any (m, 1, 3), d[1] / groups, kh, kw })
                      : any_weights (m, 4, (gint64[]) { any (m, 1, m->sizes->channels), d[1], kh, kw });
  LptNode *node = add (m, group ? LPT_OP_GROUP_CONVOLUTION : LPT_OP_CONVOLUTION, 1, 2, (LptValue *[]) { x, w });
  LptConvAttrs *attrs = LPT_ATTRS (node, LptConvAttrs);
  const gint64 size[2] = { d[2], d[3] }, kernel[2] = { kh, kw };
  lpt_ints_fill (&attrs->strides, 2, 1);
  lpt_ints_fill (&attrs->pads_begin, 2, 0);
  lpt_ints_fill (&attrs->pads_end, 2, 0);
  lpt_ints_fill (&attrs->dilations, 2, 1);
  for (gint i = 0; i < 2; i++)
    {
      attrs->strides.v[i] = any (m, 1, 3);
      attrs->dilations.v[i] = (kernel[i] - 1) * 2 < size[i] ? any (m, 1, 2) : 1;
      attrs->pads_begin.v[i] = any (m, 0, (gint) kernel[i]);
      attrs->pads_end.v[i] = any (m, 0, (gint) kernel[i]);
    }
  return done (node);
}

/* A row of each image times every row of another value. */
static LptValue *
product (Maker *m, LptValue *x)
{
  LptValue *other = x;
  for (guint i = 0; i < m->values->len && chance (m, 0.7); i++)
    {
      LptValue *v = g_ptr_array_index (m->values, i);
      if (v->shape.dims[0] == x->shape.dims[0] && v->shape.dims[1] == x->shape.dims[1] &&
          v->shape.dims[3] == x->shape.dims[3])
        other = v;
    }
  LptNode *node = add (m, LPT_OP_MATMUL, 1, 2,
                       (LptValue *[]) { quantize (m, x), chance (m, 0.7) ? quantize (m, other) : other });
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  return done (node);
}

static LptValue *
resize (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims, size[2] = { any (m, 1, (gint) MIN (2 * d[2], m->sizes->size)),
                                               any (m, 1, (gint) MIN (2 * d[3], m->sizes->size)) };
  LptNode *node = add (m, LPT_OP_INTERPOLATE, 4, 4,
                       (LptValue *[]) {
                           x, indices (m, 2, size),
                           constant (m, 1, (gint64[]) { 2 },
                                     (double[]) { (double) size[0] / (double) d[2], (double) size[1] / (double) d[3] }),
                           indices (m, 2, (gint64[]) { 2, 3 }) });
  LPT_ATTRS (node, LptInterpolateAttrs)->mode = chance (m, 0.7) ? LPT_INTERPOLATE_NEAREST : LPT_INTERPOLATE_LINEAR_ONNX;
  LPT_ATTRS (node, LptInterpolateAttrs)->shape_calculation_mode = LPT_INTERPOLATE_SIZES;
  return done (node);
}

static LptValue *
deconvolution (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims, kh = any (m, 1, 3), kw = any (m, 1, 3);
  LptValue *w = any_weights (m, 4, (gint64[]) { d[1], any (m, 1, m->sizes->channels), kh, kw });
  LptNode *node = add (m, LPT_OP_CONVOLUTION_BACKPROP_DATA, 1, 2, (LptValue *[]) { x, w });
  LptDeconvAttrs *attrs = LPT_ATTRS (node, LptDeconvAttrs);
  lpt_ints_fill (&attrs->strides, 2, d[2] * d[3] < 40 ? any (m, 1, 2) : 1);
  lpt_ints_fill (&attrs->pads_begin, 2, 0);
  lpt_ints_fill (&attrs->pads_end, 2, 0);
  lpt_ints_fill (&attrs->dilations, 2, 1);
  lpt_ints_fill (&attrs->output_padding, 2, 0);
  return done (node);
}

/* Rows or channels in another order, some of them twice. */
static LptValue *
gather (Maker *m, LptValue *x)
{
  gint64 axis = any (m, 1, 2), picked[4];
  guint n = (guint) any (m, 1, 4);
  for (guint i = 0; i < n; i++)
    picked[i] = any (m, 0, (gint) x->shape.dims[axis] - 1);
  g_autoptr (LptTensor) along = lpt_tensor_scalar (LPT_DTYPE_I64, axis);
  return done (add (m, LPT_OP_GATHER, 8, 3,
                    (LptValue *[]) { x, indices (m, n, picked), done (lpt_graph_add_const (m->graph, NULL, along)) }));
}

/* The first part, and a second one for others. */
static LptValue *
uneven_split (Maker *m, LptValue *x)
{
  gint64 axis = any (m, 1, 2), n = x->shape.dims[axis];
  if (n < 2)
    return NULL;
  gint64 lengths[2] = { any (m, 1, (gint) n - 1), -1 };
  g_autoptr (LptTensor) along = lpt_tensor_scalar (LPT_DTYPE_I64, axis);
  LptValue *in[3] = { x, done (lpt_graph_add_const (m->graph, NULL, along)), indices (m, 2, lengths) };
  LptNode *node = done (lpt_graph_add_full (m->graph, lpt_op_info (LPT_OP_VARIADIC_SPLIT), 1, NULL, 3, in, 2))
                      ->producer;
  g_ptr_array_add (m->values, &node->out[1]);
  return lpt_node_out (node);
}

/* An axis put in and taken out again, with something between them. */
static LptValue *
squeeze (Maker *m, LptValue *x)
{
  LptValue *wide = done (add (m, LPT_OP_UNSQUEEZE, 1, 2,
                              (LptValue *[]) { x, indices (m, 1, (gint64[]) { any (m, 0, 4) }) }));
  gint64 axis;
  wide = chance (m, 0.5) ? done (add (m, LPT_OP_RELU, 1, 1, &wide)) : wide;
  for (axis = 4; wide->shape.dims[axis] != 1; axis--)
    ;
  return done (add (m, LPT_OP_SQUEEZE, 1, 2, (LptValue *[]) { wide, indices (m, 1, &axis) }));
}

static LptValue *
normalize (Maker *m, LptValue *x)
{
  LptValue *in[2] = { x, indices (m, 2, (gint64[]) { 2, 3 }) };
  LptNode *node = add (m, chance (m, 0.5) ? LPT_OP_MVN : LPT_OP_NORMALIZE_L2, 6, 2, in);
  if (node->op == LPT_OP_MVN)
    {
      LPT_ATTRS (node, LptMvnAttrs)->eps = 1e-4;
      LPT_ATTRS (node, LptMvnAttrs)->normalize_variance = chance (m, 0.7);
      LPT_ATTRS (node, LptMvnAttrs)->eps_mode = LPT_EPS_INSIDE_SQRT;
    }
  else
    {
      LPT_ATTRS (node, LptNormalizeL2Attrs)->eps = 1e-4;
      LPT_ATTRS (node, LptNormalizeL2Attrs)->eps_mode = 0;
    }
  return done (node);
}

static LptValue *
reshape (Maker *m, LptValue *x, guint rank, const gint64 *dims)
{
  return done (add (m, LPT_OP_RESHAPE, 1, 2, (LptValue *[]) { x, indices (m, rank, dims) }));
}

static LptValue *
transpose (Maker *m, LptValue *x, const gint64 order[4])
{
  return done (add (m, LPT_OP_TRANSPOSE, 1, 2, (LptValue *[]) { x, indices (m, 4, order) }));
}

static LptValue *
dense (Maker *m, LptValue *x, gint64 columns)
{
  LptValue *w = any_weights (m, 2, (gint64[]) { columns, x->shape.dims[x->shape.rank - 1] });
  LptNode *node = add (m, LPT_OP_MATMUL, 1, 2, (LptValue *[]) { quantize (m, x), w });
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = TRUE;
  return done (node);
}

/* @x [N,T,E] as [N,heads,T,E / heads], or its last two axes the other way round. */
static LptValue *
heads_of (Maker *m, LptValue *x, gint64 heads, gboolean turned)
{
  const gint64 *d = x->shape.dims;
  LptValue *parts = reshape (m, x, 4, (gint64[]) { d[0], d[1], heads, d[2] / heads });
  if (chance (m, 0.7))
    parts = quantize (m, parts);
  parts = transpose (m, parts, turned ? (gint64[]) { 0, 2, 3, 1 } : (gint64[]) { 0, 2, 1, 3 });
  return chance (m, 0.2) ? quantize (m, parts) : parts;
}

/* Rows of the image as words: projections, heads, SoftMax (Q K') V, a last projection. */
static LptValue *
attention (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims, n = d[0], t = d[2], heads = any (m, 1, 4), width = heads * any (m, 1, 20);
  LptValue *words = reshape (m, transpose (m, x, (gint64[]) { 0, 2, 1, 3 }), 3, (gint64[]) { n, t, d[1] * d[3] });
  gboolean turned = chance (m, 0.5);
  LptValue *q = heads_of (m, dense (m, words, width), heads, FALSE),
           *k = heads_of (m, dense (m, words, width), heads, turned);
  LptValue *v = heads_of (m, dense (m, words, width), heads, FALSE), *y;
  LptNode *node = add (m, LPT_OP_MATMUL, 1, 2, (LptValue *[]) { q, k });
  LPT_ATTRS (node, LptMatMulAttrs)->transpose_b = !turned;
  y = done (node);
  if (chance (m, 0.7))
    y = done (add (m, LPT_OP_MULTIPLY, 1, 2, (LptValue *[]) { y, constant (m, 0, NULL, (double[]) { 0.25 }) }));
  node = add (m, LPT_OP_SOFTMAX, 8, 1, &y);
  LPT_ATTRS (node, LptSoftMaxAttrs)->axis = chance (m, 0.5) ? 3 : -1;
  y = done (node);
  y = chance (m, 0.8) ? quantize (m, y) : y;
  y = transpose (m, done (add (m, LPT_OP_MATMUL, 1, 2, (LptValue *[]) { y, v })), (gint64[]) { 0, 2, 1, 3 });
  y = dense (m, reshape (m, y, 3, (gint64[]) { n, t, width }), any (m, 1, 30));
  return reshape (m, y, 4, (gint64[]) { n, 1, t, y->shape.dims[2] });
}

/* Along the columns, with a gain and an offset; then GELU in its parts. */
static LptValue *
normalized_rows (Maker *m, LptValue *x)
{
  gint64 columns = x->shape.dims[3];
  g_autofree double *gain = g_new (double, columns);
  LptNode *node = add (m, LPT_OP_MVN, 6, 2, (LptValue *[]) { x, indices (m, 1, (gint64[]) { -1 }) });
  LptValue *y, *e;
  LPT_ATTRS (node, LptMvnAttrs)->eps = 1e-5;
  LPT_ATTRS (node, LptMvnAttrs)->normalize_variance = TRUE;
  for (gint64 i = 0; i < columns; i++)
    gain[i] = g_rand_double_range (m->rand, 0.3, 1.5);
  y = done (add (m, LPT_OP_MULTIPLY, 1, 2, (LptValue *[]) { done (node), constant (m, 1, &columns, gain) }));
  y = quantize (m, done (add (m, LPT_OP_ADD, 1, 2, (LptValue *[]) { y, constant (m, 1, &columns, gain) })));
  if (chance (m, 0.5))
    return y;
  e = done (add (m, LPT_OP_MULTIPLY, 1, 2,
                 (LptValue *[]) { y, constant (m, 0, NULL, (double[]) { 0.7071067811865475 }) }));
  e = done (add (m, LPT_OP_ADD, 1, 2,
                 (LptValue *[]) { done (add (m, LPT_OP_ERF, 1, 1, &e)), constant (m, 0, NULL, (double[]) { 1 }) }));
  y = done (add (m, LPT_OP_MULTIPLY, 1, 2, (LptValue *[]) { y, e }));
  return done (add (m, LPT_OP_MULTIPLY, 1, 2, (LptValue *[]) { y, constant (m, 0, NULL, (double[]) { 0.5 }) }));
}

/* What is not drawn where sizes->more is not set. */
/* A leaky ReLU as exporters decompose it: Select (x > 0, x, slope x). */
static LptValue *
leak (Maker *m, LptValue *x)
{
  LptValue *zero = constant (m, 1, (gint64[]) { 1 }, (double[]) { 0.0 }),
           *slope = constant (m, 1, (gint64[]) { 1 }, (double[]) { g_rand_double_range (m->rand, 0.05, 0.9) }),
           *positive = done (add (m, LPT_OP_GREATER, 1, 2, (LptValue *[]) { x, zero })),
           *scaled = done (add (m, LPT_OP_MULTIPLY, 1, 2, (LptValue *[]) { x, slope }));
  LptValue *y = done (add (m, LPT_OP_SELECT, 1, 3, (LptValue *[]) { positive, x, scaled }));

  return chance (m, 0.7) ? quantize (m, y) : y;
}

static LptValue *
another (Maker *m, LptValue *x)
{
  static const LptOp functions[] = { LPT_OP_HSWISH, LPT_OP_SWISH, LPT_OP_GELU,     LPT_OP_ELU,
                                     LPT_OP_EXP,    LPT_OP_ABS,   LPT_OP_SOFT_PLUS };
  LptNode *node;
  switch (any (m, 0, 20))
    {
    case 20: return leak (m, x);
    case 17: case 18: return attention (m, x);
    case 19: return normalized_rows (m, x);
    case 9: return deconvolution (m, quantize (m, x));
    case 10: return gather (m, x);
    case 11: return uneven_split (m, x);
    case 12: return squeeze (m, x);
    case 13: return normalize (m, x);
    case 14: return reduce (m, x, LPT_OP_REDUCE_SUM);
    case 15: return reduce (m, x, LPT_OP_REDUCE_MIN);
    case 16:
      return done (add (m, LPT_OP_TILE, 1, 2,
                        (LptValue *[]) { x, indices (m, 4, (gint64[]) { 1, 1, 1, any (m, 1, 2) }) }));
    case 0: case 1: return odd_convolution (m, quantize (m, x));
    case 2: return odd_convolution (m, x);
    case 3: return product (m, x);
    case 4: return resize (m, x);
    case 5:
      node = add (m, LPT_OP_SOFTMAX, 8, 1, &x);
      LPT_ATTRS (node, LptSoftMaxAttrs)->axis = any (m, 1, 3);
      return done (node);
    case 6: return quantize (m, binary (m, LPT_OP_ADD, quantize (m, x)));
    case 7: return quantize (m, binary (m, LPT_OP_MULTIPLY, quantize (m, x)));
    default:
      node = add (m, functions[any (m, 0, G_N_ELEMENTS (functions) - 1)], 0, 1, &x);
      if (node->op == LPT_OP_ELU)
        LPT_ATTRS (node, LptEluAttrs)->alpha = 1.0;
      return done (node);
    }
}

static LptValue *
one (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims;
  LptNode *node;
  if (m->sizes->more && chance (m, 0.4))
    return another (m, x);
  switch (any (m, 0, 22))
    {
    case 0: case 1: return convolution (m, quantize (m, x), FALSE);
    case 2: return convolution (m, x, TRUE);
    case 3: return mat_mul (m, quantize (m, x));
    case 4: return binary (m, LPT_OP_ADD, x);
    case 5: return binary (m, LPT_OP_MULTIPLY, x);
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
    case 15: return binary (m, LPT_OP_SUBTRACT, x);
    case 16: return reduce (m, x, LPT_OP_REDUCE_MEAN);
    case 17: return reduce (m, x, LPT_OP_REDUCE_MAX);
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
