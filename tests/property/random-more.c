/* random-more.c - ops of wide random graphs: windows of any kind, products, resizes, attention, norms, functions
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/property/random-maker.h"

/* Groups, of several channels and several results each; strides, dilations and pads of their own on each axis. */
static LptValue *
odd_convolution (Maker *m, LptValue *x)
{
  const gint64 *d = x->shape.dims, groups = d[1] % 2 == 0 ? d[1] % 4 == 0 && chance (m, 0.5) ? 4 : 2 : d[1];
  const gint64 kh = any (m, 1, (gint) MIN (m->sizes->kernel, d[2])),
               kw = any (m, 1, (gint) MIN (m->sizes->kernel, d[3]));
  gboolean group = chance (m, 0.6);
  LptValue *w = group ? random_any_weights (m, 5, (gint64[]) { groups, any (m, 1, 3), d[1] / groups, kh, kw })
                      : random_any_weights (m, 4, (gint64[]) { any (m, 1, m->sizes->channels), d[1], kh, kw });
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

/* Every row of a long image times every other would need more memory than there is. */
#define MOST_PRODUCTS 1000000

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
  if (x->shape.dims[2] * other->shape.dims[2] > MOST_PRODUCTS)
    return NULL;
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
  LptValue *w = random_any_weights (m, 4, (gint64[]) { d[1], any (m, 1, m->sizes->channels), kh, kw });
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
  LptValue *w = random_any_weights (m, 2, (gint64[]) { columns, x->shape.dims[x->shape.rank - 1] });
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
  if (t * t > MOST_PRODUCTS)
    return NULL;
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

LptValue *
random_another (Maker *m, LptValue *x)
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
    case 14: return random_reduce (m, x, LPT_OP_REDUCE_SUM);
    case 15: return random_reduce (m, x, LPT_OP_REDUCE_MIN);
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
    case 6: return quantize (m, random_binary (m, LPT_OP_ADD, quantize (m, x)));
    case 7: return quantize (m, random_binary (m, LPT_OP_MULTIPLY, quantize (m, x)));
    default:
      node = add (m, functions[any (m, 0, G_N_ELEMENTS (functions) - 1)], 0, 1, &x);
      if (node->op == LPT_OP_ELU)
        LPT_ATTRS (node, LptEluAttrs)->alpha = 1.0;
      return done (node);
    }
}
